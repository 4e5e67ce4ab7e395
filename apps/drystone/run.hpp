// One solve of one problem by one named solver: how it is chosen, run and told. Shared by the commands.
#pragma once

#include "drystone/solve/solve.hpp"
#include "progress.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace drystone::command {

// What the shell is told.
inline constexpr int exit_solved = 0;    ///< every problem was solved
inline constexpr int exit_unsolved = 1;  ///< at least one was not
/// a run could not go on: no room on the disk, a folder that cannot be written to
inline constexpr int exit_failed = 1;
inline constexpr int exit_misuse = 2;  ///< bad options, or a file that cannot be read or written
inline constexpr int exit_stopped =
    130;  ///< a run was stopped by a signal (interrupt.hpp), and can be resumed

/// What the user typed cannot be done; the message says what can.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct RunSettings {
    Law law = Law::coulomb;
    Measure measure = Measure::referee;
    double tolerance = 1e-8;
    double time_limit = infinity;  ///< wall-clock seconds of one solve
    int threads = 1;               ///< 0: all
};

const char* name_of(Law law);
const char* name_of(Measure measure);
bool usable(const NamedSolver& solver, Law law);

/// The solver of that name. UsageError, with the nearest name and the list of all, if there is none; also if it
/// cannot be used with the law.
const NamedSolver& choose_solver(const std::string& name, Law law);
/// All that can be used with the law, in the order of named_solvers().
std::vector<const NamedSolver*> solvers_for(Law law);

struct SolverRun {
    std::string file;       ///< as the user wrote it
    std::string requested;  ///< name of the solver that was asked for
    SolveReport report;
    bool readable = true;  ///< false: there was no problem to solve, and report.message says why
    Index blocks = 0, bodies = 0;

    [[nodiscard]] bool solved() const { return readable && report.status == Status::solved; }
    /// False if there was nothing to judge: the residuals in the report then mean nothing (they are not zero).
    [[nodiscard]] bool judged() const;
    /// One of the residuals in two digits; "-" if there are none.
    [[nodiscard]] std::string residual_text(double value) const;
    /// A word of report.hpp, or "unreadable".
    [[nodiscard]] std::string status() const;
    /// The solver that gave the answer: for `auto` the one that it ended with.
    [[nodiscard]] std::string solver() const;
};

/// Solves. `solution.r` is the start if it has the right size, and the answer afterwards. Never throws: what a solver
/// throws becomes status "invalid" with its message.
SolverRun run_solver(const std::string& file, const ConeProblem& problem, const NamedSolver& solver,
                     const RunSettings& settings, ConeSolution& solution, ProgressLine& progress);

/// The record of a file that could not be read.
SolverRun unreadable(const std::string& file, const std::string& requested, const std::string& why);

/// An object in one line of ASCII: all else is escaped, so that nothing in it can harm a terminal. Bytes that are no
/// UTF-8 become U+FFFD, a number that is none becomes null.
std::string json_text(const nlohmann::ordered_json& object);

/// One object in one line.
std::string json_line(const SolverRun& run, const RunSettings& settings);

/// Seconds with as many digits as a reader can use: 0.00123, 0.0123, 1.23, 12.3.
std::string seconds_text(double seconds);

/// UsageError if the system cannot start so many threads (0: all that it offers): OpenMP would end the program there.
void check_threads(int wanted);

/// Of several ranks all but the first are silent.
void be_rank(int rank);
// All that the command says leaves by these two, by RunLog and by ProgressLine, and is made harmless there
// (base/harmless.hpp).
/// A line on stderr that begins with the command's name. More lines may follow in it: then what is not ours has been
/// made harmless before.
void complain(const std::string& message);
/// One line on stdout, at once: others may be waiting for it at the end of a pipe.
void say(const std::string& line);

}  // namespace drystone::command
