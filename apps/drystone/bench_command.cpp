#include "bench_command.hpp"

#include "drystone/base/harmless.hpp"
#include "drystone/problems/problem_file.hpp"
#include "profile_picture.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace drystone::command {

namespace {

namespace fs = std::filesystem;

/// Solves shorter than this are done again, up to `most_repeats` times in all, and the fastest counts: the first may
/// have paid for cold caches, and a profile shows factors.
constexpr double short_solve = 0.05;
constexpr int most_repeats = 3;

constexpr double never = infinity;

struct Row {
    std::string file;
    std::vector<SolverRun> runs;  // one per solver
};

std::vector<std::string> find_problems(const std::vector<std::string>& folders) {
    std::vector<std::string> files;
    for (const std::string& folder : folders) {
        if (fs::is_regular_file(folder)) {
            files.push_back(folder);
            continue;
        }
        if (!fs::is_directory(folder))
            throw UsageError(harmless(fmt::format("there is no folder '{}'", folder)));
        const auto options =
            fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied;
        std::vector<std::string> found;
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, options)) {
            if (entry.is_regular_file() && entry.path().extension() == ".hdf5")
                found.push_back(entry.path().string());
        }
        std::sort(found.begin(), found.end());
        files.insert(files.end(), found.begin(), found.end());
    }
    if (files.empty()) throw UsageError("there is no *.hdf5 in the folders given");
    return files;
}

std::vector<const NamedSolver*> chosen_solvers(const BenchOptions& options) {
    static const NamedSolver step{"step", "as in a run", BriefOptions{}, true, true};
    if (options.steps) return {&step};
    if (options.solvers.empty()) return solvers_for(options.run.law);
    std::vector<const NamedSolver*> chosen;
    for (const std::string& name : options.solvers) {
        const NamedSolver* solver = &choose_solver(name, options.run.law);
        if (std::find(chosen.begin(), chosen.end(), solver) == chosen.end()) chosen.push_back(solver);
    }
    return chosen;
}

SolverRun measure(const std::string& file, const ConeProblem& problem, const NamedSolver& solver,
                  const RunSettings& settings, const ConeSolution& start, ProgressLine& progress) {
    SolverRun best;
    for (int repeat = 0; repeat < most_repeats; ++repeat) {
        ConeSolution solution = start;
        SolverRun run = run_solver(file, problem, solver, settings, solution, progress);
        if (repeat == 0 || run.report.seconds < best.report.seconds) best = std::move(run);
        if (best.report.seconds >= short_solve) break;
    }
    return best;
}

/// What stands in the table: seconds, or why there are none.
std::string cell(const SolverRun& run, bool best) {
    if (run.solved()) return seconds_text(run.report.seconds) + (best ? "*" : " ");
    switch (run.report.status) {
        case Status::frozen_shift:
            return "frozen ";
        case Status::iteration_limit:
            return "iterations ";
        case Status::time_limit:
            return "time ";
        default:
            return run.status() + " ";
    }
}

/// gauss-seidel-momentum -> gauss, seidel, momentum: names stand upright over narrow columns.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (const char c : name) {
        if (c == '-') {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

/// Problems down, solvers across, as many as fit; the others follow below.
void print_table(const std::vector<Row>& rows, const std::vector<const NamedSolver*>& solvers) {
    std::size_t file_width = 7;
    std::vector<std::string> labels;
    for (const Row& row : rows) {
        labels.push_back(fs::path(row.file).filename().string());
        file_width = std::max(file_width, shown_width(labels.back()));
    }
    constexpr std::size_t column = 12;
    const auto width = static_cast<std::size_t>(terminal_columns(STDOUT_FILENO, 120));
    const std::size_t across = width > file_width + column ? (width - file_width) / column : 1;
    for (std::size_t begin = 0; begin < solvers.size(); begin += across) {
        const std::size_t end = std::min(begin + across, solvers.size());
        std::size_t height = 0;
        for (std::size_t s = begin; s < end; ++s)
            height = std::max(height, words_of(solvers[s]->name).size());
        for (std::size_t h = 0; h < height; ++h) {
            std::string line = padded(h + 1 == height ? "seconds" : "", file_width);
            for (std::size_t s = begin; s < end; ++s) {
                const std::vector<std::string> words = words_of(solvers[s]->name);
                const std::size_t empty = height - words.size();
                line += fmt::format("{:>{}}", h < empty ? "" : words[h - empty] + " ", column);
            }
            say(line);
        }
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const std::vector<SolverRun>& runs = rows[r].runs;
            double best = never;
            for (const SolverRun& run : runs) {
                if (run.solved()) best = std::min(best, run.report.seconds);
            }
            std::string line = padded(labels[r], file_width);
            for (std::size_t s = begin; s < end; ++s) {
                line += fmt::format("{:>{}}", cell(runs[s], runs[s].report.seconds <= best), column);
            }
            say(line);
        }
        say("");
    }
}

void print_summary(const std::vector<Row>& rows, const std::vector<const NamedSolver*>& solvers) {
    struct Sum {
        std::string_view name;
        std::size_t solved = 0;
        double seconds = 0, seconds_solved = 0;
    };
    std::vector<Sum> sums;
    for (std::size_t s = 0; s < solvers.size(); ++s) {
        Sum& sum = sums.emplace_back(Sum{solvers[s]->name});
        for (const Row& row : rows) {
            const SolverRun& run = row.runs[s];
            sum.seconds += run.report.seconds;
            if (!run.solved()) continue;
            ++sum.solved;
            sum.seconds_solved += run.report.seconds;
        }
    }
    std::stable_sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
        return a.solved != b.solved ? a.solved > b.solved : a.seconds < b.seconds;
    });
    std::size_t width = 0;
    for (const Sum& sum : sums) width = std::max(width, sum.name.size());
    say(fmt::format("{:<{}}  {:>9}  {:>13}  {:>17}", "solver", width, "solved", "total seconds",
                    "of these, solving"));
    for (const Sum& sum : sums) {
        say(fmt::format("{:<{}}  {:>4} / {:<2}  {:>13}  {:>17}", sum.name, width, sum.solved, rows.size(),
                        seconds_text(sum.seconds), seconds_text(sum.seconds_solved)));
    }
}

/// How steps ended, and in how many sweeps.
void print_steps(const std::vector<Row>& rows) {
    std::vector<int> exact, frozen;
    for (const Row& row : rows) {
        const SolveReport& report = row.runs.front().report;
        if (report.status == Status::solved) exact.push_back(report.iterations);
        if (report.status == Status::frozen_shift) frozen.push_back(report.iterations);
    }
    const auto sweeps = [](std::vector<int>& counts) {
        if (counts.empty()) return std::string();
        std::sort(counts.begin(), counts.end());
        return fmt::format(" in {} sweeps (median; at most {})", counts[counts.size() / 2], counts.back());
    };
    say("");
    say(fmt::format("exact law: {} of {}{}", exact.size(), rows.size(), sweeps(exact)));
    say(fmt::format("with a frozen shift: {}{}", frozen.size(), sweeps(frozen)));
    say(fmt::format("not solved: {}", rows.size() - exact.size() - frozen.size()));
}

Profile profile_of(const std::vector<Row>& rows, const std::vector<const NamedSolver*>& solvers,
                   const RunSettings& settings) {
    Profile profile;
    profile.title = "Performance profile";
    profile.subtitle = fmt::format("{} problem{}, law {}, tolerance {:.0e}, at most {:.4g} s each, {}",
                                   rows.size(), rows.size() == 1 ? "" : "s", name_of(settings.law),
                                   settings.tolerance, settings.time_limit,
                                   settings.threads == 0   ? std::string("all threads")
                                   : settings.threads == 1 ? std::string("1 thread")
                                                           : fmt::format("{} threads", settings.threads));
    for (std::size_t s = 0; s < solvers.size(); ++s) {
        ProfileLine line;
        line.name = solvers[s]->name;
        for (const Row& row : rows) {
            line.seconds.push_back(row.runs[s].solved() ? row.runs[s].report.seconds : never);
        }
        profile.lines.push_back(std::move(line));
    }
    return profile;
}

}  // namespace

int bench_command(const BenchOptions& options) {
    const std::vector<const NamedSolver*> solvers = chosen_solvers(options);
    const std::vector<std::string> files = find_problems(options.folders);
    ProgressLine progress(true);
    std::vector<Row> rows;
    int code = exit_solved;
    for (const std::string& file : files) {
        ProblemFile read;
        try {
            read = read_problem(file);
        } catch (const std::exception& error) {
            code = exit_misuse;
            progress.clear();
            complain(error.what());
            if (options.json) say(json_line(unreadable(file, "none", error.what()), options.run));
            continue;
        }
        Row& row = rows.emplace_back(Row{file, {}});
        for (const NamedSolver* solver : solvers) {
            const ConeSolution start =
                options.steps && !read.guesses.empty() ? read.guesses.front() : ConeSolution{};
            row.runs.push_back(measure(file, read.problem, *solver, options.run, start, progress));
            if (!options.json) continue;
            progress.clear();
            say(json_line(row.runs.back(), options.run));
        }
    }
    progress.clear();
    if (rows.empty()) throw UsageError("none of the files could be read");
    if (!options.json) {
        print_table(rows, solvers);
        print_summary(rows, solvers);
        if (options.steps) print_steps(rows);
    }
    try {
        write_profile(options.picture, profile_of(rows, solvers, options.run));
    } catch (const std::exception& error) {
        complain(error.what());
        return exit_misuse;
    }
    const std::string where =
        "performance profile: " + fs::absolute(options.picture).lexically_normal().string();
    if (options.json) {
        complain(where);
    } else {
        say("");
        say(where);
    }
    return code;
}

}  // namespace drystone::command
