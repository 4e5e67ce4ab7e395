#include "run.hpp"

#include "drystone/base/edit_distance.hpp"
#include "drystone/base/harmless.hpp"
#include "drystone/base/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <future>
#include <thread>

namespace drystone::command {

namespace {

/// First letters of the words of a name: gauss-seidel-momentum is known to many as gsm.
std::string initials(std::string_view name) {
    std::string letters;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (i == 0 || name[i - 1] == '-') letters += name[i];
    }
    return letters;
}

/// Initials, or a part of a name, are meant more often than another name with as many letters in common.
std::string_view nearest_name(const std::string& typed) {
    const auto distance = [&](const NamedSolver& solver) {
        if (typed.size() > 1 && initials(solver.name) == typed) return 0.0;
        const bool part = !typed.empty() && solver.name.find(typed) != std::string_view::npos;
        return part ? 0.5 + 0.01 * static_cast<double>(solver.name.size())
                    : static_cast<double>(edit_distance(typed, solver.name));
    };
    const auto& all = named_solvers();
    const auto nearer = [&](const NamedSolver& a, const NamedSolver& b) { return distance(a) < distance(b); };
    return std::min_element(all.begin(), all.end(), nearer)->name;
}

std::string names_for(Law law) {
    std::string names;
    for (const NamedSolver* solver : solvers_for(law)) {
        names += (names.empty() ? "" : ", ") + std::string(solver->name);
    }
    return names;
}

}  // namespace

const char* name_of(Law law) { return law == Law::coulomb ? "coulomb" : "associated"; }

const char* name_of(Measure measure) { return measure == Measure::referee ? "referee" : "siconos"; }

bool usable(const NamedSolver& solver, Law law) {
    return law == Law::coulomb ? solver.coulomb : solver.associated;
}

const NamedSolver& choose_solver(const std::string& name, Law law) {
    const NamedSolver* solver = find_solver(name);
    if (solver == nullptr) {
        std::string names;
        for (const NamedSolver& known : named_solvers()) names += fmt::format("\n  {}", known.name);
        throw UsageError(fmt::format("there is no solver '{}'; did you mean '{}'? The solvers are:{}",
                                     harmless(name), nearest_name(name), names));
    }
    if (usable(*solver, law)) return *solver;
    const Law other = law == Law::coulomb ? Law::associated : Law::coulomb;
    // A convex solver serves the exact law from inside a fixed point.
    const NamedSolver* around = law == Law::coulomb ? find_solver("cadoux-" + name) : nullptr;
    const std::string cure = around != nullptr
                                 ? fmt::format("use --solver {}, or --law {}", around->name, name_of(other))
                                 : fmt::format("use --law {}, or one of {}", name_of(other), names_for(law));
    throw UsageError(
        fmt::format("the solver '{}' cannot be used with --law {}; {}", name, name_of(law), cure));
}

std::vector<const NamedSolver*> solvers_for(Law law) {
    std::vector<const NamedSolver*> chosen;
    for (const NamedSolver& solver : named_solvers()) {
        if (usable(solver, law)) chosen.push_back(&solver);
    }
    return chosen;
}

std::string SolverRun::status() const { return readable ? drystone::name_of(report.status) : "unreadable"; }

std::string SolverRun::solver() const {
    return requested == "auto" && !report.solver.empty() ? std::string(report.solver) : requested;
}

bool SolverRun::judged() const { return readable && report.status != Status::invalid; }

std::string SolverRun::residual_text(double value) const {
    return judged() ? fmt::format("{:.1e}", value) : "-";
}

SolverRun run_solver(const std::string& file, const ConeProblem& problem, const NamedSolver& solver,
                     const RunSettings& settings, ConeSolution& solution, ProgressLine& progress) {
    SolverRun run;
    run.file = file;
    run.requested = solver.name;
    run.blocks = problem.blocks();
    run.bodies = problem.bodies();
    SolveSettings how;
    how.solver = solver.options;
    how.law = settings.law;
    how.threads = settings.threads;
    how.goal.tolerance = settings.tolerance;
    how.goal.measure = settings.measure;
    how.goal.time_limit = settings.time_limit;
    how.goal.progress = [&progress](const HistoryPoint& point) { progress.show(point); };
    progress.begin(fmt::format("{}  {}", solver.name, std::filesystem::path(file).filename().string()));
    try {
        run.report = solve(problem, how, solution);
    } catch (const std::exception& error) {
        run.report = {};
        run.report.status = Status::invalid;
        run.report.message = error.what();
    }
    return run;
}

SolverRun unreadable(const std::string& file, const std::string& requested, const std::string& why) {
    SolverRun run;
    run.file = file;
    run.requested = requested;
    run.readable = false;
    run.report.message = why;
    return run;
}

std::string json_line(const SolverRun& run, const RunSettings& settings) {
    const SolveReport& report = run.report;
    const bool judged = run.judged();
    const auto number = [&](double value) {
        return judged ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
    };
    const nlohmann::ordered_json object = {
        {"file", run.file},
        {"status", run.status()},
        {"solver", run.solver()},
        {"residual", number(report.residual.value)},
        {"iterations", report.iterations},
        {"seconds", report.seconds},
        {"requested", run.requested},
        {"message", report.message},
        {"law", name_of(settings.law)},
        {"blocks", run.blocks},
        {"bodies", run.bodies},
        {"tolerance", settings.tolerance},
        {"measure", name_of(settings.measure)},
        {"threads", settings.threads},
        {"residual_law", number(report.residual.law.mean)},
        {"residual_worst", number(report.residual.law.worst)},
        {"residual_momentum", number(report.residual.momentum)},
        {"residual_siconos", number(report.residual.siconos)},
        {"residual_bogus", number(report.residual.bogus)},
    };
    return json_text(object);
}

std::string json_text(const nlohmann::ordered_json& object) {
    return object.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string seconds_text(double seconds) {
    if (seconds < 1) return fmt::format("{:.{}f}", seconds, seconds < 0.01 ? 5 : 4);
    return fmt::format("{:.{}f}", seconds, seconds < 10 ? 2 : 1);
}

void check_threads(int wanted) {
    // All that it offers are what OMP_NUM_THREADS says, if it says something.
    const char* const field = wanted > 0 ? "--threads" : "OMP_NUM_THREADS";
    const int count = wanted > 0 ? wanted : offered_threads();
    if (count > most_threads)
        throw UsageError(fmt::format("{}: {}; give at most {}", field, count, most_threads));
    // Limits on processes and memory differ from system to system: the only way to know is to try. A thread costs 20
    // microseconds.
    std::promise<void> end;
    const std::shared_future<void> ended(end.get_future());
    std::vector<std::thread> others;
    bool refused = false;
    try {
        while (static_cast<int>(others.size()) + 1 < count) others.emplace_back([ended] { ended.wait(); });
    } catch (const std::exception&) {
        refused = true;
    }
    end.set_value();
    for (std::thread& other : others) other.join();
    if (refused)
        throw UsageError(fmt::format("{}: {}; the system starts no more than {}, give fewer", field, count,
                                     others.size() + 1));
}

namespace {

/// The one thing of the process that its output depends on.
bool& is_silent() {
    static bool silent = false;
    return silent;
}

}  // namespace

void be_rank(int rank) { is_silent() = rank != 0; }

void complain(const std::string& message) {
    if (!is_silent()) fmt::print(stderr, "drystone: {}\n", harmless_lines(message));
}

void say(const std::string& line) {
    if (is_silent()) return;
    fmt::print("{}\n", harmless(line));
    std::fflush(stdout);
}

}  // namespace drystone::command
