#include "solve_command.hpp"

#include "drystone/base/harmless.hpp"
#include "drystone/problems/problem_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace drystone::command {

namespace {

/// Matrices further from symmetric than this were not merely rounded when the file was saved.
constexpr double noted_asymmetry = 1e-9;

class Session {
public:
    explicit Session(const SolveOptions& options) : options_(options), progress_(!options.quiet) {
        if (options.compare) {
            solvers_ = solvers_for(options.run.law);
        } else {
            solvers_ = {&choose_solver(options.solver, options.run.law)};
        }
        for (const std::string& file : options.files) file_width_ = std::max(file_width_, shown_width(file));
        for (const NamedSolver* solver : solvers_)
            solver_width_ = std::max(solver_width_, solver->name.size());
        if (!options.compare && options.solver == "auto")
            solver_width_ = 27;  // "auto: gauss-seidel-momentum"
    }

    int run() {
        for (const std::string& file : options_.files) solve_file(file);
        if (misuse_) return exit_misuse;
        return all_solved_ ? exit_solved : exit_unsolved;
    }

private:
    void solve_file(const std::string& file) {
        std::optional<ProblemFile> read;
        try {
            read = read_problem(file);
        } catch (const std::exception& error) {
            misuse_ = true;
            complain(error.what());
            if (options_.json) {
                say(json_line(unreadable(file, options_.compare ? "none" : options_.solver, error.what()),
                              options_.run));
            }
            return;
        }
        if (read->asymmetry > noted_asymmetry) {
            note(
                fmt::format("{}: its matrix is not symmetric (relative difference {:.1e}); solved with its "
                            "symmetric part",
                            file, read->asymmetry));
        }
        const ConeSolution start = starting_point(file, *read);
        if (options_.compare) {
            compare(file, *read, start);
            return;
        }
        ConeSolution solution = start;
        const SolverRun run =
            run_solver(file, read->problem, *solvers_.front(), options_.run, solution, progress_);
        progress_.clear();
        all_solved_ = all_solved_ && run.solved();
        tell(run);
        if (!options_.save.empty()) save(std::move(*read), run, std::move(solution));
    }

    ConeSolution starting_point(const std::string& file, const ProblemFile& read) {
        if (!options_.warm_start) return {};
        if (read.guesses.empty()) {
            note(fmt::format("{}: holds no guess; --warm-start does nothing", file));
            return {};
        }
        const ConeSolution& guess = read.guesses.front();
        if (guess.r.size() != read.problem.rows() || guess.r.isZero(0)) {
            note(fmt::format("{}: its first guess has no impulses; --warm-start does nothing", file));
            return {};
        }
        return guess;
    }

    void compare(const std::string& file, const ProblemFile& read, const ConeSolution& start) {
        const ConeProblem& problem = read.problem;
        if (!options_.json) {
            if (!first_table_) say("");
            say(fmt::format("{}  (blocks {}, bodies {}, law {}, tolerance {:.0e} by {})", file,
                            problem.blocks(), problem.bodies(), name_of(options_.run.law),
                            options_.run.tolerance, name_of(options_.run.measure)));
            say(fmt::format("  {:<{}}  {:<15}  {:>8}  {:>8}  {:>8}  {:>10}  {:>9}", "solver", solver_width_,
                            "status", "residual", "siconos", "so-bogus", "iterations", "seconds"));
            first_table_ = false;
        }
        bool solved = false;
        std::string story;
        for (const NamedSolver* solver : solvers_) {
            ConeSolution solution = start;
            const SolverRun run = run_solver(file, problem, *solver, options_.run, solution, progress_);
            progress_.clear();
            solved = solved || run.solved();
            if (options_.json) {
                say(json_line(run, options_.run));
                continue;
            }
            const SolveReport& report = run.report;
            say(fmt::format("  {:<{}}  {:<15}  {:>8}  {:>8}  {:>8}  {:>10}  {:>9}", run.requested,
                            solver_width_, run.status(), run.residual_text(report.residual.value),
                            run.residual_text(report.residual.siconos),
                            run.residual_text(report.residual.bogus), report.iterations,
                            seconds_text(report.seconds)));
            if (worth_a_story(run)) story = report.message;
        }
        if (!story.empty()) tell_story("auto: ", story);
        all_solved_ = all_solved_ && solved;
    }

    /// `auto` fell back, or it failed.
    static bool worth_a_story(const SolverRun& run) {
        const std::string& message = run.report.message;
        return run.requested == "auto" && !message.empty() &&
               (!run.solved() || message.find("; ") != std::string::npos);
    }

    void tell(const SolverRun& run) {
        if (options_.json) {
            say(json_line(run, options_.run));
            return;
        }
        if (options_.quiet && run.solved()) return;
        const SolveReport& report = run.report;
        const bool referee = options_.run.measure == Measure::referee;
        const std::string solver = run.requested == "auto" ? "auto: " + run.solver() : run.requested;
        say(fmt::format("{:<6}  {}  {:<15}  {:<{}}  {} {:>7}  {:>7} iterations  {:>8} s",
                        run.solved() ? "ok" : "FAILED", padded(run.file, file_width_), run.status(), solver,
                        solver_width_, referee ? "residual" : "siconos",
                        run.residual_text(referee ? report.residual.value : report.residual.siconos),
                        report.iterations, seconds_text(report.seconds)));
        if (worth_a_story(run) || !run.solved()) tell_story("", report.message);
    }

    /// The stages of a message, one to a line.
    static void tell_story(const std::string& prefix, const std::string& message) {
        std::string indent = "        " + prefix;
        for (std::size_t begin = 0; begin < message.size();) {
            const std::size_t end = std::min(message.find("; ", begin), message.size());
            say(indent + message.substr(begin, end - begin));
            indent.assign(indent.size(), ' ');
            begin = end + 2;
        }
    }

    /// A file's `solution` must be one: a solve that failed is kept as the first guess instead.
    void save(ProblemFile read, const SolverRun& run, ConeSolution solution) {
        if (solution.r.size() != read.problem.rows()) {
            note(fmt::format("{}: there is nothing to save", run.file));
            return;
        }
        if (run.solved()) {
            read.solution = std::move(solution);
        } else {
            note(fmt::format("{}: not solved, so the best iterate is saved in {} as the first guess",
                             run.file, options_.save));
            read.guesses.insert(read.guesses.begin(), std::move(solution));
        }
        try {
            write_problem(options_.save, read);
        } catch (const std::exception& error) {
            misuse_ = true;
            complain(error.what());
        }
    }

    void note(const std::string& text) {
        if (!options_.quiet) complain(harmless("note: " + text));
    }

    const SolveOptions& options_;
    ProgressLine progress_;
    std::vector<const NamedSolver*> solvers_;
    std::size_t file_width_ = 0, solver_width_ = 0;
    bool first_table_ = true;
    bool all_solved_ = true;
    bool misuse_ = false;
};

}  // namespace

int solve_command(const SolveOptions& options) {
    if (options.files.empty()) throw UsageError("no file was given; drystone solve FILE...");
    if (!options.save.empty() && (options.files.size() > 1 || options.compare)) {
        throw UsageError("--save writes one solution; give it one file and one solver");
    }
    return Session(options).run();
}

void list_solvers() {
    std::size_t width = 0;
    for (const NamedSolver& solver : named_solvers()) width = std::max(width, solver.name.size());
    say(fmt::format("{:<{}}  {:<19}  {}", "solver", width, "laws", "meaning"));
    for (const NamedSolver& solver : named_solvers()) {
        const std::string laws = solver.coulomb && solver.associated ? "coulomb, associated"
                                 : solver.coulomb                    ? "coulomb"
                                                                     : "associated";
        say(fmt::format("{:<{}}  {:<19}  {}", solver.name, width, laws, solver.meaning));
    }
}

}  // namespace drystone::command
