#include "run_command.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/io/frame_file.hpp"
#include "drystone/io/problem_file.hpp"
#include "drystone/io/scene_file.hpp"
#include "run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>

namespace drystone::command {

namespace {

namespace fs = std::filesystem;

constexpr double seconds_between_lines = 1;
/// Steps that were not solved are told one by one up to so many; all are in steps.csv and counted at the end.
constexpr std::int64_t most_failures_told = 10;

/// Makes the folder, and takes away what an earlier run left in it, so that the frames of two runs are never mixed.
void prepare_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!fs::is_directory(folder))
        fail(folder.string(), "is not a folder and cannot be made", "give another --output");
    static const std::regex ours("frame_[0-9]{6,}\\.h5|failed_step_[0-9]+\\.hdf5|steps\\.csv");
    std::vector<fs::path> old;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (std::regex_match(entry.path().filename().string(), ours)) old.push_back(entry.path());
    }
    for (const fs::path& file : old) fs::remove(file, error);
}

/// Times k * every, k = 1, 2, ...: says when one has been reached. every = 0: at every call.
class Beat {
public:
    explicit Beat(double every) : every_(every) {}
    /// `slack`: as near as this counts as reached; a sum of steps misses by rounding.
    bool reached(double time, double slack) {
        if (every_ <= 0) return true;
        if (time < every_ * static_cast<double>(next_) - slack) return false;
        next_ = static_cast<std::int64_t>(std::floor((time + slack) / every_)) + 1;
        return true;
    }

private:
    double every_;
    std::int64_t next_ = 1;
};

/// steps.csv: one line per step, or per interval with sums of work, iterations and seconds, and worst values of the rest.
class Measurements {
public:
    Measurements(const fs::path& file, double every) : file_(file), stream_(file), beat_(every) {
        stream_ << "time,h,contacts,active,iterations,residual,status,overlap,kinetic,potential,work_"
                   "contacts,work_held,"
                   "work_scheme,seconds\n";
        see();
    }
    void add(const StepRecord& record) {
        sum_.add(record);
        if (status_ == Status::solved) status_ = record.solve.status;
        last_ = record;
        if (beat_.reached(record.time, 1e-6 * record.h)) flush();
    }
    /// Writes what has been gathered since the last line.
    void flush() {
        if (sum_.steps == 0) return;
        stream_ << fmt::format(
            "{:.12g},{:.9g},{},{},{},{:.3e},{},{:.6e},{:.12e},{:.12e},{:.12e},{:.12e},{:.12e},{:.6f}\n",
            last_.time, last_.h, last_.contacts, last_.active, sum_.iterations, sum_.worst_residual,
            drystone::name_of(status_), sum_.worst_overlap, last_.energy.kinetic, last_.energy.potential,
            sum_.work.contacts, sum_.work.held, sum_.work.scheme, sum_.seconds.total());
        stream_.flush();
        see();
        sum_ = {};
        status_ = Status::solved;
    }

private:
    void see() const {
        if (!stream_)
            fail(file_.string(), "cannot be written",
                 "see that the folder can be written to and the disk has room");
    }
    fs::path file_;
    std::ofstream stream_;
    Beat beat_;
    RunSummary sum_;
    Status status_ = Status::solved;
    StepRecord last_;
};

template <int d>
class Session {
public:
    Session(const RunSceneOptions& options, RunPlan<d> plan)
        : options_(options), plan_(std::move(plan)), frames_(plan_.output.frames_every) {
        RunOptions& run = plan_.options;
        run.step.solve.threads = options.threads;
        if (options.tolerance) run.step.solve.goal.tolerance = *options.tolerance;
        if (options.until) run.end = *options.until;
        if (options.steps && *options.steps == 0) run.end = 0;
    }

    int run() {
        if (!options_.output.empty()) {
            prepare_folder(options_.output);
            measurements_.emplace(fs::path(options_.output) / "steps.csv", plan_.output.measurements_every);
            if (plan_.output.frames_every > 0) write_next_frame(nullptr, 0);
        }
        begin_ = end_ = energy_of(plan_.scene);
        largest_kinetic_ = begin_.kinetic;
        summary_ = simulate<d>(plan_.scene, plan_.options, memory_,
                               [this](const Scene<d>& /*scene*/, const StepMemory<d>& /*memory*/,
                                      const StepRecord& record) { return after_step(record); });
        if (measurements_) measurements_->flush();
        if (measurements_ && plan_.output.frames_every > 0 && !frame_is_last_)
            write_next_frame(&memory_, last_h_);
        if (options_.json) {
            say(json());
        } else {
            tell_summary();
        }
        return options_.strict && summary_.unsolved > 0 ? exit_unsolved : exit_solved;
    }

private:
    [[nodiscard]] bool talks() const { return !options_.quiet && !options_.json; }

    /// False to end the run.
    bool after_step(const StepRecord& record) {
        ++steps_;
        end_ = record.energy;
        last_h_ = record.h;
        largest_kinetic_ = std::max(largest_kinetic_, record.energy.kinetic);
        gross_work_ += std::abs(record.work.contacts) + std::abs(record.work.scheme);
        if (measurements_) measurements_->add(record);
        frame_is_last_ = false;
        if (measurements_ && plan_.output.frames_every > 0 && frames_.reached(record.time, 1e-6 * record.h))
            write_next_frame(&memory_, record.h);
        if (talks() && wall_.seconds() >= next_line_) {
            next_line_ = wall_.seconds() + seconds_between_lines;
            say(
                fmt::format("time {:<10.6g} step {:<8} contacts {:<8} iterations {:<6} residual {:.1e}  "
                            "overlap {:.1e}  kinetic {:.4e} J",
                            record.time, steps_, record.contacts, record.solve.iterations,
                            record.solve.residual.value, record.relative_overlap, record.energy.kinetic));
        }
        if (record.solve.status != Status::solved && !after_failure(record)) return false;
        return !options_.steps || steps_ < *options_.steps;
    }

    /// Tells, saves the problem where that is asked for, and answers whether to go on.
    bool after_failure(const StepRecord& record) {
        const SolveReport& report = record.solve;
        if (report.status == Status::infeasible) ++infeasible_;
        ++unsolved_;
        if (talks() && unsolved_ == most_failures_told + 1)
            complain("more steps were not solved; they are counted at the end and listed in steps.csv");
        if (options_.strict || (talks() && unsolved_ <= most_failures_told)) {
            const std::string meaning = report.status == Status::infeasible
                                            ? " (no motion satisfies all contacts: something is crushed)"
                                            : "";
            complain(fmt::format("step {} at time {:.6g} s was not solved: {}{}, residual {:.1e}; {}", steps_,
                                 record.time, drystone::name_of(report.status), meaning,
                                 report.residual.value, report.message));
        }
        if (!options_.strict) return true;
        if (options_.output.empty()) {
            complain("give --output DIR to have the problem of this step saved");
        } else {
            save_problem(record);
        }
        return false;
    }

    void save_problem(const StepRecord& record) {
        const fs::path file = fs::path(options_.output) / fmt::format("failed_step_{}.hdf5", steps_);
        ProblemFile saved;
        saved.problem = memory_.assembled.problem;
        saved.guesses = {memory_.solution};
        saved.title = plan_.title;
        saved.description =
            fmt::format("step {} of the scene {}, at time {} s", steps_, options_.scene, record.time);
        try {
            write_problem(file, saved);
        } catch (const std::exception& error) {
            complain(fmt::format("the problem could not be saved: {}", error.what()));
            return;
        }
        const SolveSettings& solve = plan_.options.step.solve;
        complain(
            fmt::format("saved; replay it with\n  drystone solve {} --solver {} --law {} --tolerance {:g}",
                        file.string(), plan_.solver, name_of(solve.law), solve.goal.tolerance));
    }

    void write_next_frame(const StepMemory<d>* memory, double h) {
        write_frame(fs::path(options_.output) / fmt::format("frame_{:06}.h5", frame_++), plan_.scene, memory,
                    h);
        frame_is_last_ = true;
    }

    /// Energy that came from nowhere, over the largest energy that moved.
    [[nodiscard]] double balance_error() const {
        const double error = end_.total() - begin_.total() - summary_.work.contacts - summary_.work.scheme;
        const double scale =
            std::max({largest_kinetic_, std::abs(end_.potential - begin_.potential), gross_work_});
        return scale > 0 ? std::abs(error) / scale : 0;
    }

    void tell_summary() const {
        const StepSeconds& seconds = summary_.seconds;
        const std::string infeasible =
            infeasible_ > 0 ? fmt::format(", {} of them infeasible", infeasible_) : "";
        say(fmt::format("{}: {} steps to {:.6g} s, {} not solved{}", plan_.title, summary_.steps,
                        plan_.scene.time, summary_.unsolved, infeasible));
        say(fmt::format("worst residual {:.1e}, worst overlap {:.2e} m ({:.1e} radii), {} iterations",
                        summary_.worst_residual, summary_.worst_overlap, summary_.worst_relative_overlap,
                        summary_.iterations));
        say(
            fmt::format("energy {:.6g} J to {:.6g} J: contacts {:.6g} J (held bodies {:.6g} J of it), scheme "
                        "{:.6g} J, balance error {:.1e}",
                        begin_.total(), end_.total(), summary_.work.contacts, summary_.work.held,
                        summary_.work.scheme, balance_error()));
        say(fmt::format(
            "seconds {}: free motion {}, detection {}, assembly {}, solving {}, integration {}, accounts {}",
            seconds_text(seconds.total()), seconds_text(seconds.free), seconds_text(seconds.detect),
            seconds_text(seconds.assemble), seconds_text(seconds.solve), seconds_text(seconds.integrate),
            seconds_text(seconds.account)));
        if (frame_ > 0) say(fmt::format("{} frames and steps.csv in {}", frame_, options_.output));
    }

    [[nodiscard]] std::string json() const {
        const StepSeconds& seconds = summary_.seconds;
        const nlohmann::ordered_json object = {
            {"scene", options_.scene},
            {"title", plan_.title},
            {"bodies", plan_.scene.bodies.count()},
            {"time", plan_.scene.time},
            {"steps", summary_.steps},
            {"unsolved", summary_.unsolved},
            {"infeasible", infeasible_},
            {"worst_residual", summary_.worst_residual},
            {"worst_overlap", summary_.worst_overlap},
            {"worst_relative_overlap", summary_.worst_relative_overlap},
            {"iterations", summary_.iterations},
            {"energy_begin", begin_.total()},
            {"energy_end", end_.total()},
            {"kinetic_end", end_.kinetic},
            {"work_contacts", summary_.work.contacts},
            {"work_held", summary_.work.held},
            {"work_scheme", summary_.work.scheme},
            {"balance_error", balance_error()},
            {"frames", frame_},
            {"threads", options_.threads},
            {"seconds", seconds.total()},
            {"seconds_free", seconds.free},
            {"seconds_detect", seconds.detect},
            {"seconds_assemble", seconds.assemble},
            {"seconds_solve", seconds.solve},
            {"seconds_integrate", seconds.integrate},
            {"seconds_account", seconds.account},
        };
        return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

    const RunSceneOptions& options_;
    RunPlan<d> plan_;
    StepMemory<d> memory_;
    std::optional<Measurements> measurements_;
    Beat frames_;
    int frame_ = 0;
    bool frame_is_last_ = false;
    RunSummary summary_;
    Energy begin_, end_;
    double largest_kinetic_ = 0, gross_work_ = 0, last_h_ = 0;
    std::int64_t steps_ = 0, unsolved_ = 0, infeasible_ = 0;
    Timer wall_;
    double next_line_ = seconds_between_lines;
};

}  // namespace

int run_command(const RunSceneOptions& options) {
    AnyPlan plan = read_scene(options.scene);
    return std::visit([&]<int d>(RunPlan<d>& one) { return Session<d>(options, std::move(one)).run(); },
                      plan);
}

}  // namespace drystone::command
