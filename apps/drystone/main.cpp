// The command `drystone`: reads the command line and hands over. What is done with it is in the files of the commands.

#include "bench_command.hpp"
#include "check_command.hpp"
#include "run_command.hpp"
#include "solve_command.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>

namespace {

using namespace drystone;
using namespace drystone::command;

constexpr const char* examples =
    "Examples:\n"
    "  drystone check heap.toml                          what a scene says, and what looks wrong with it\n"
    "  drystone run heap.toml --output heap              runs it; measurements and frames go to the folder "
    "heap\n"
    "  drystone solve box.hdf5                           one problem, solver chosen by itself\n"
    "  drystone solve *.hdf5 --json                      one JSON object per problem and line\n"
    "  drystone solve box.hdf5 --compare --time-limit 5  every solver, one table\n"
    "  drystone bench problems/ --picture profile.svg    every solver on every problem\n";

constexpr const char* solve_footer =
    "Examples:\n"
    "  drystone solve box.hdf5\n"
    "  drystone solve box.hdf5 --solver newton --tolerance 1e-10\n"
    "  drystone solve box.hdf5 --compare --time-limit 5\n"
    "  drystone solve box.hdf5 --save solved.hdf5\n"
    "  drystone solve *.hdf5 --json > results.jsonl\n"
    "\n"
    "Exit code: 0 if every problem was solved (with --compare: by at least one solver), 1 if one was not,\n"
    "2 for bad options and for files that cannot be read or written.\n";

constexpr const char* bench_footer =
    "Examples:\n"
    "  drystone bench problems/\n"
    "  drystone bench problems/ --solvers auto,gauss-seidel,newton --time-limit 30\n"
    "  drystone bench problems/ --json > results.jsonl\n"
    "\n"
    "Solves below 0.05 s are timed three times and the fastest counts. Each problem is timed with its "
    "set-up.\n"
    "Exit code: 0 if everything was measured, solved or not; 2 for bad options and unreadable files.\n";

constexpr const char* run_footer =
    "Examples:\n"
    "  drystone run heap.toml\n"
    "  drystone run heap.toml --output heap --threads 0\n"
    "  drystone run heap.toml --steps 10 --strict --output heap\n"
    "\n"
    "DIR/steps.csv holds one line per step, or per output.measurements_every; DIR/frame_000000.h5 and so on "
    "hold\n"
    "the state at each output.frames_every. tools/render draws a frame. Results of an earlier run in DIR are "
    "replaced.\n"
    "Exit code: 0 if the run reached its end; with --strict 1 if a step was not solved; 2 for bad options "
    "and for\n"
    "files that cannot be read or written.\n";

constexpr const char* check_footer =
    "Prints all faults of the file, each with its line; or what was understood, overlaps at the beginning "
    "and warnings.\n"
    "Exit code: 0 if the scene can be run, 2 if it cannot.\n";

/// Options that solve and bench have. The law is kept as the word that was typed until the command runs.
void add_run_options(CLI::App& app, RunSettings& run, std::string& law) {
    app.add_option("--law", law,
                   "coulomb: exact friction; associated: its convex relaxation, where sliding contacts open")
        ->type_name("LAW")
        ->check(CLI::IsMember({"coulomb", "associated"}))
        ->capture_default_str();
    app.add_option("--tolerance", run.tolerance,
                   "Residual at which a problem counts as solved; dimensionless")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--time-limit", run.time_limit, "Wall-clock time for each solve")
        ->type_name("SECONDS")
        ->check(CLI::PositiveNumber)
        ->default_str(std::isinf(run.time_limit) ? "none" : std::to_string(std::lround(run.time_limit)));
    app.add_option("--threads", run.threads, "Number of threads; 0: all. The answer does not depend on it")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
}

Law law_of(const std::string& word) { return word == "associated" ? Law::associated : Law::coulomb; }

int run(int argc, char** argv) {
    CLI::App app(
        "drystone: simulates grains in hard contact, and solves frictional contact problems in files",
        "drystone");
    app.set_version_flag("--version", "drystone " DRYSTONE_VERSION, "Print the version");
    app.footer(examples);
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(40);

    RunSceneOptions run_options;
    CLI::App* run_scene = app.add_subcommand("run", "Run a scene");
    run_scene->footer(run_footer);
    run_scene->add_option("SCENE", run_options.scene, "Scene file (TOML; see docs/scene.md)")
        ->type_name("")
        ->required();
    run_scene
        ->add_option("--output", run_options.output, "Folder for measurements and frames; none if not given")
        ->type_name("DIR");
    run_scene->add_option("--until", run_options.until, "Time to stop at, instead of the scene's")
        ->type_name("SECONDS")
        ->check(CLI::NonNegativeNumber);
    run_scene->add_option("--steps", run_options.steps, "Stop after so many steps")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber);
    run_scene
        ->add_option("--threads", run_options.threads,
                     "Number of threads; 0: all. The result does not depend on it")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    run_scene
        ->add_option("--tolerance", run_options.tolerance,
                     "Residual at which a step counts as solved, instead of the scene's")
        ->check(CLI::PositiveNumber);
    run_scene->add_flag("--quiet", run_options.quiet, "No progress, only the summary");
    run_scene->add_flag("--json", run_options.json, "The summary as one JSON object, nothing else");
    run_scene->add_flag("--strict", run_options.strict,
                        "Stop at the first step that is not solved, and save its problem");

    CheckOptions check_options;
    CLI::App* check =
        app.add_subcommand("check", "Say what a scene file means and what looks wrong with it; run nothing");
    check->footer(check_footer);
    check->add_option("SCENE", check_options.scene, "Scene file (TOML; see docs/scene.md)")
        ->type_name("")
        ->required();

    SolveOptions solve_options;
    std::string solve_law = "coulomb", measure = "referee";
    bool list = false;
    CLI::App* solve = app.add_subcommand("solve", "Solve the contact problems in files");
    solve->footer(solve_footer);
    solve->add_option("FILE", solve_options.files, "Problems: local, global or global rolling, in HDF5")
        ->type_name("");
    CLI::Option* solver = solve->add_option("--solver", solve_options.solver, "A solver; see --list-solvers")
                              ->type_name("NAME")
                              ->capture_default_str();
    solve->add_flag("--list-solvers", list, "List the solvers and the laws they can be used with");
    add_run_options(*solve, solve_options.run, solve_law);
    solve
        ->add_option("--measure", measure,
                     "What the tolerance is held against: our referee's residual, or the measure of Siconos")
        ->type_name("NAME")
        ->check(CLI::IsMember({"referee", "siconos"}))
        ->capture_default_str();
    solve->add_flag("--warm-start", solve_options.warm_start,
                    "Begin from the first guess in the file, if it has one");
    CLI::Option* compare = solve->add_flag("--compare", solve_options.compare,
                                           "Every solver that can be used with the law, in one table");
    compare->excludes(solver);
    solve->add_option("--save", solve_options.save, "Write the problem and its solution to this file")
        ->type_name("FILE");
    solve->add_flag("--json", solve_options.json,
                    "One JSON object per problem (and solver) and line, nothing else");
    solve->add_flag("--quiet", solve_options.quiet, "Tell only what failed")->excludes(compare);

    BenchOptions bench_options;
    std::string bench_law = "coulomb";
    CLI::App* bench =
        app.add_subcommand("bench", "Run all solvers on all problems and draw the performance profile");
    bench->footer(bench_footer);
    bench
        ->add_option("DIR", bench_options.folders,
                     "Folders, searched for *.hdf5 with all below them; or files")
        ->type_name("")
        ->required();
    bench->add_option("--solvers", bench_options.solvers, "Solvers, separated by commas; all if not given")
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false);  // a folder that follows is not a solver
    add_run_options(*bench, bench_options.run, bench_law);
    bench->add_option("--picture", bench_options.picture, "Where to draw the profile, as SVG")
        ->type_name("FILE")
        ->capture_default_str();
    bench->add_flag("--json", bench_options.json,
                    "One JSON object per problem and solver and line, nothing else");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? exit_solved : exit_misuse;
    }
    if (run_scene->parsed()) return run_command(run_options);
    if (check->parsed()) return check_command(check_options);
    if (solve->parsed() && list) {
        list_solvers();
        return exit_solved;
    }
    if (solve->parsed()) {
        solve_options.run.law = law_of(solve_law);
        solve_options.run.measure = measure == "siconos" ? Measure::siconos : Measure::referee;
        return solve_command(solve_options);
    }
    if (bench->parsed()) {
        bench_options.run.law = law_of(bench_law);
        return bench_command(bench_options);
    }
    std::cerr << app.help();
    return exit_misuse;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const UsageError& error) {
        complain(error.what());
    } catch (const std::exception& error) {
        complain(error.what());
    }
    return exit_misuse;
}
