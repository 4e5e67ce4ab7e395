// The command `drystone`: reads the command line and hands over. What is done with it is in the files of the commands.

#include "bench_command.hpp"
#include "check_command.hpp"
#include "drystone/base/error.hpp"
#include "drystone/base/harmless.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/fields/fields.hpp"
#include "drystone/fields/suggestion.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/run/simulate.hpp"
#include "info_command.hpp"
#include "new_command.hpp"
#include "resume_command.hpp"
#include "run.hpp"
#include "run_command.hpp"
#include "solve_command.hpp"
#include "sweep_command.hpp"
#include "team.hpp"

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

using namespace drystone;
using namespace drystone::command;

constexpr const char* examples =
    "Examples:\n"
    "  drystone new pile                                 writes pile.toml, a scene to begin from\n"
    "  drystone fields body                              what can be said of a body in a scene\n"
    "  drystone check heap.toml                          what a scene says, and what looks wrong with it\n"
    "  drystone run heap.toml --output heap              runs it; measurements and frames go to the folder "
    "heap\n"
    "  drystone resume heap                              goes on with it after Ctrl-C\n"
    "  drystone info heap                                how far it is\n"
    "  drystone sweep heap.toml --over material.stone.friction=0.2,0.4 --output heaps\n"
    "                                                    a run for each value, and a table of results\n"
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
    "  mpirun -n 4 drystone run heap.toml --output heap --ranks-report\n"
    "\n"
    "DIR/steps.csv holds one line per step, or per output.measurements_every; frames show the state at each\n"
    "output.frames_every. Results of an earlier run in DIR are kept, and replaced only with --force.\n"
    "DIR/checkpoint.h5 is written at the beginning and at the end, on Ctrl-C, every 10 minutes, and at each "
    "output.checkpoints_every; drystone resume DIR "
    "goes on\n"
    "from it. The problems of the first 10 steps that are not solved are saved as DIR/failed_step_N.hdf5.\n"
    "Exit code: 0 if the run reached its end; 1 if something could not be written, or, with --strict, if a "
    "step was\n"
    "not solved; 2 for bad options and scenes with faults; 130 if it was stopped by Ctrl-C, SIGTERM,\n"
    "SIGUSR1 or SIGHUP.\n";

constexpr const char* resume_footer =
    "Examples:\n"
    "  drystone resume heap\n"
    "  drystone resume heap --until 20\n"
    "  drystone resume heap/checkpoint.h5 --output longer --until 20\n"
    "  mpirun -n 3 drystone resume heap\n"
    "\n"
    "A checkpoint holds the scene and all files that it names. What comes out is the same to the byte as "
    "without\n"
    "the stop. --until, --steps (of the whole run) and --tolerance are remembered from the run; given here, "
    "they\n"
    "count instead.\n"
    "Exit code: as for drystone run; 2 for a checkpoint that is cut short, altered or of another version.\n";

constexpr const char* sweep_footer =
    "Examples:\n"
    "  drystone sweep silo.toml --over material.stone.friction=0.2,0.4,0.6 --output frictions\n"
    "  drystone sweep silo.toml --over let.opening=0.1,0.15,0.2 seed=1,2,3 --set time.end=20 --output silos "
    "--jobs 2\n"
    "\n"
    "Each case is a run in a folder of its own, DIR/FIELD=VALUE,...; DIR/table.csv has a line for each that "
    "is done:\n"
    "its values, its summary, and the last line of each of its measures. The same command goes on with what "
    "was\n"
    "stopped or killed, and adds cases with values that are new.\n"
    "Exit code: 0 if all cases are done; 1 if one failed; 2 for bad options and scenes with faults; 130 if "
    "it was\n"
    "stopped by Ctrl-C, SIGTERM, SIGUSR1 or SIGHUP.\n";

constexpr const char* info_footer =
    "Examples:\n"
    "  drystone info heap\n"
    "  drystone info heap.toml heap/checkpoint.h5 --json\n"
    "Exit code: 0, or 2 if one of the paths is not known or damaged.\n";

constexpr const char* check_footer =
    "Prints all faults of a file, each with its line; or what was understood, overlaps at the beginning and "
    "warnings.\n"
    "Exit code: 0 if all scenes can be run, 1 if one cannot (with --strict: or is warned of), 2 for bad "
    "options.\n";

constexpr const char* new_footer =
    "Examples:\n"
    "  drystone new                   lists the templates\n"
    "  drystone new silo              writes silo.toml\n"
    "  drystone new silo my.toml      writes my.toml\n";

/// A command, and what stands at the end of its help.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& what,
                      const std::string& footer) {
    CLI::App* command = app.add_subcommand(name, what);
    command->footer(footer);
    return command;
}

/// What is given without dashes: in the help its word says enough, without a type.
template <class T>
CLI::Option* add_word(CLI::App& command, const std::string& word, T& value, const std::string& what) {
    return command.add_option(word, value, what)->type_name("");
}

/// A number as a scene may hold it, too (Wanted in tables/table.hpp). CLI11's own check lets nan pass and tells a range
/// of 300 digits.
CLI::Validator number(bool zero, double most = most_number) {
    const auto check = [zero, most](const std::string& word) {
        double x = 0;
        const bool good = CLI::detail::lexical_cast(word, x) && x <= most && (zero ? x >= 0 : x > 0);
        return good ? std::string()
                    : fmt::format("{} cannot be had; give a number {} 0, at most {:g}", word,
                                  zero ? "not below" : "above", most);
    };
    return {check, zero ? "NONNEGATIVE" : "POSITIVE"};
}
const CLI::Validator positive = number(false), not_negative = number(true),
                     thread_count = number(true, most_threads),
                     step_count = number(true, most_steps_of_a_run), small_count = number(true, 1e9);

/// Options that solve and bench have. The law is kept as the word that was typed until the command runs.
void add_run_options(CLI::App& app, RunSettings& run, std::string& law) {
    app.add_option("--law", law,
                   "coulomb: exact friction; associated: its convex relaxation, where sliding contacts open")
        ->type_name("LAW")
        ->check(CLI::IsMember({"coulomb", "associated"}))
        ->capture_default_str();
    app.add_option("--tolerance", run.tolerance,
                   "Residual at which a problem counts as solved; dimensionless")
        ->check(positive)
        ->capture_default_str();
    app.add_option("--time-limit", run.time_limit, "Wall-clock time for each solve")
        ->type_name("SECONDS")
        ->check(positive)
        ->default_str(std::isinf(run.time_limit) ? "none" : std::to_string(std::lround(run.time_limit)));
    app.add_option("--threads", run.threads, "Number of threads; 0: all. The answer does not depend on it")
        ->check(thread_count)
        ->capture_default_str();
}

/// Fields of the scene that are given other values (setting_of looks at each).
void add_settings(CLI::App& app, std::vector<std::string>& settings) {
    app.add_option("--set", settings,
                   "Fields of the scene and their values instead of the file's: --set time.end=3 "
                   "material.stone.friction=0.4")
        ->type_name("FIELD=VALUE");
}

/// Options that run and resume have.
void add_sitting_options(CLI::App& app, SittingOptions& sitting, RunOverrides& overrides,
                         const std::string& otherwise) {
    app.add_option("--output", sitting.output,
                   "Folder for measurements, frames and checkpoints; " + otherwise)
        ->type_name("DIR")
        ->check(
            [](const std::string& name) { return name.empty() ? "the name is empty; give a folder" : ""; });
    app.add_option("--until", overrides.until, "Time to stop at, instead of the scene's")
        ->type_name("SECONDS")
        ->check(not_negative);
    app.add_option("--steps", overrides.steps, "Stop after so many steps of the whole run")
        ->type_name("N")
        ->check(step_count);
    app.add_option("--checkpoint-every", sitting.checkpoint_every,
                   "Simulated time between checkpoints, instead of the scene's")
        ->type_name("SECONDS")
        ->check(positive);
    app.add_option("--log", sitting.log, "File for progress and failures as plain lines")->type_name("FILE");
    app.add_option("--threads", sitting.threads,
                   "Number of threads; 0: all. The result does not depend on it")
        ->check(thread_count)
        ->capture_default_str();
    app.add_option("--tolerance", overrides.tolerance,
                   "Residual at which a step counts as solved, instead of the scene's")
        ->check(number(false, loosest_tolerance));
    app.add_flag("--force", sitting.force, "Replace the results of an earlier run in the folder");
    app.add_flag("--quiet", sitting.quiet, "No progress and no warnings, only the summary");
    app.add_flag("--json", sitting.json, "The summary as one JSON object, nothing else");
    app.add_flag("--ranks-report", sitting.ranks_report,
                 "With several ranks: their balance, and messages and bytes by purpose, at the end");
    app.add_flag(
        "--split-between-ranks", sitting.split_between_ranks,
        "With several ranks: fewer messages, by splitting the mass of bodies between them. Results then "
        "depend on the number of ranks; not remembered by checkpoints");
    app.add_option("--rebalance-every", sitting.rebalance_every,
                   "With several ranks: cut space anew, off balance, at every so many steps. For tests: the "
                   "result is "
                   "the same")
        ->type_name("N")
        ->check(small_count);
    app.add_flag("--strict", sitting.strict,
                 "Stop at the first step that is not solved, and save its problem");
}

Law law_of(const std::string& word) { return word == "associated" ? Law::associated : Law::coulomb; }

int run(int argc, char** argv, const Communicator* ranks) {
    CLI::App app(
        "drystone: simulates grains in hard contact, and solves frictional contact problems in files",
        "drystone");
    app.set_version_flag("--version", "drystone " DRYSTONE_VERSION, "Print the version");
    app.footer(examples);
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(40);

    RunSceneOptions run_options;
    CLI::App* run_scene = add_command(app, "run", "Run a scene", run_footer);
    add_word(*run_scene, "SCENE", run_options.scene, "Scene file (TOML; see docs/scene.md)")->required();
    add_settings(*run_scene, run_options.settings);
    add_sitting_options(*run_scene, run_options.sitting, run_options.overrides, "none if not given");

    ResumeOptions resume_options;
    CLI::App* resume = add_command(app, "resume", "Go on with a run that was stopped", resume_footer);
    add_word(*resume, "DIR", resume_options.from, "Folder of the run, or a checkpoint")->required();
    add_settings(*resume, resume_options.settings);
    add_sitting_options(*resume, resume_options.sitting, resume_options.overrides,
                        "that of the checkpoint if not given");

    InfoOptions info_options;
    CLI::App* info = add_command(app, "info", "Say what a file or the folder of a run holds", info_footer);
    add_word(*info, "PATH", info_options.paths, "Scenes, checkpoints, frames, problems or folders of runs")
        ->required();
    info->add_flag("--json", info_options.json, "One JSON object per path and line, nothing else");

    CheckOptions check_options;
    CLI::App* check = add_command(
        app, "check", "Say what a scene file means and what looks wrong with it; run nothing", check_footer);
    add_word(*check, "SCENE", check_options.scenes, "Scene files (TOML; see docs/scene.md)")->required();
    add_settings(*check, check_options.settings);
    check->add_flag("--json", check_options.json, "One JSON object per scene and line, nothing else");
    check->add_flag("--strict", check_options.strict, "Warnings count as faults");

    NewOptions new_options;
    CLI::App* begin = add_command(app, "new", "Write a scene to begin from; list what there is", new_footer);
    add_word(*begin, "NAME", new_options.name, "A template; all are listed if not given");
    add_word(*begin, "FILE", new_options.file, "File to write; NAME.toml if not given");
    begin->add_flag("--force", new_options.force, "Replace the file if it exists");

    FieldsOptions fields_options;
    CLI::App* fields = app.add_subcommand(
        "fields", "Print the reference of all fields of a scene (Markdown), or of one table");
    add_word(*fields, "TABLE", fields_options.table, "A table: top, time, body, wall, shape, ...");
    fields
        ->add_option("--renew", fields_options.renew,
                     "Write the reference into this document, between its markers")
        ->type_name("FILE");

    SweepCommandOptions sweep_options;
    CLI::App* sweep =
        add_command(app, "sweep", "Run a scene with several values of a few fields", sweep_footer);
    add_word(*sweep, "SCENE", sweep_options.scene, "Scene file (TOML; see docs/scene.md)")->required();
    sweep
        ->add_option(
            "--over", sweep_options.over,
            "A field and its values; of several fields every value of one with every value of the others")
        ->type_name("FIELD=VALUE,...")
        ->required();
    add_settings(*sweep, sweep_options.settings);
    sweep->add_option("--output", sweep_options.output, "Folder for the folders of all cases, and table.csv")
        ->type_name("DIR")
        ->required();
    sweep->add_option("--jobs", sweep_options.jobs, "Runs at a time; 0: as many as there are cores for")
        ->type_name("N")
        ->check(thread_count)
        ->capture_default_str();
    sweep->add_option("--threads", sweep_options.threads, "Number of threads of each run")
        ->check(number(false, most_threads))
        ->capture_default_str();
    sweep->add_flag("--force", sweep_options.force, "Replace what the folder holds of another sweep");

    SolveOptions solve_options;
    std::string solve_law = "coulomb", measure = "referee";
    bool list = false;
    CLI::App* solve = add_command(app, "solve", "Solve the contact problems in files", solve_footer);
    add_word(*solve, "FILE", solve_options.files, "Problems: local, global or global rolling, in HDF5");
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
    CLI::App* bench = add_command(
        app, "bench", "Run all solvers on all problems and draw the performance profile", bench_footer);
    add_word(*bench, "DIR", bench_options.folders,
             "Folders, searched for *.hdf5 with all below them; or files")
        ->required();
    CLI::Option* solvers =
        bench
            ->add_option("--solvers", bench_options.solvers, "Solvers, separated by commas; all if not given")
            ->type_name("NAME,...")
            ->delimiter(',')
            ->allow_extra_args(false);  // a folder that follows is not a solver
    bench
        ->add_flag("--steps", bench_options.steps,
                   "The problems are steps that runs have saved (failed_step_*.hdf5): solve them as a run "
                   "does, from their first guess, and count those with a frozen shift")
        ->excludes(solvers);
    add_run_options(*bench, bench_options.run, bench_law);
    bench->add_option("--picture", bench_options.picture, "Where to draw the profile, as SVG")
        ->type_name("FILE")
        ->capture_default_str();
    bench->add_flag("--json", bench_options.json,
                    "One JSON object per problem and solver and line, nothing else");

    // The parser would only say that the word was not expected.
    std::vector<std::string> commands;
    for (const CLI::App* const command : app.get_subcommands({})) commands.push_back(command->get_name());
    if (argc > 1 && argv[1][0] != '-' &&
        std::find(commands.begin(), commands.end(), argv[1]) == commands.end())
        fail(harmless(argv[1]), "is no command",
             std::string_view(argv[1]).ends_with(".toml")
                 ? fmt::format("did you mean 'drystone run {}'?", harmless(shell_word(argv[1])))
                 : suggestion(argv[1], commands));
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const bool good = error.get_exit_code() == 0;  // help and version
        if (ranks != nullptr && ranks->rank() > 0) return good ? exit_solved : exit_misuse;
        if (good) return app.exit(error);
        // Words of the command line may be names of files that somebody else has given.
        std::cerr << harmless(error.what()) << "\nRun with --help for more information.\n";
        return exit_misuse;
    }
    for (const auto& [command, threads] :
         {std::pair(run_scene, run_options.sitting.threads),
          std::pair(resume, resume_options.sitting.threads), std::pair(solve, solve_options.run.threads),
          std::pair(bench, bench_options.run.threads)})
        if (command->parsed()) check_threads(threads);
    run_options.sitting.ranks = resume_options.sitting.ranks = ranks;
    if (run_scene->parsed()) return run_command(run_options);
    if (sweep->parsed() && ranks != nullptr)
        fail("drystone sweep", "is for one process, which starts the others",
             "leave out mpirun, and give --jobs");
    if (sweep->parsed()) return sweep_command(sweep_options);
    if (resume->parsed()) return resume_command(resume_options);
    // All other commands are for one.
    if (ranks != nullptr && ranks->rank() > 0) return exit_solved;
    if (info->parsed()) return info_command(info_options);
    if (check->parsed()) return check_command(check_options);
    if (begin->parsed()) return new_command(new_options);
    if (fields->parsed()) return fields_command(fields_options);
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

/// Of the three files that a program begins with, one that is closed would be opened again as a file of ours, and what
/// is printed would go there.
void open_standard_files() {
    for (int file = 0; file <= 2; ++file)
        if (fcntl(file, F_GETFD) == -1 && open("/dev/null", O_RDWR) != file) std::abort();
}

/// Threads that wait for each other at full speed take a core from other programs, which makes all of them wait: on a
/// busy machine a step took fifty times as long. The thread library reads whether to wait so when it is loaded, hence
/// the program begins again. Without other programs it costs a tenth; who wants that sets OMP_WAIT_POLICY=active.
void wait_with_patience(char** argv) {
    bool threads = false;
    for (char** word = argv; *word != nullptr; ++word)
        threads = threads || std::string_view(*word).starts_with("--threads");
    if (!threads || std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr)
        return;
    char self[4096] = {};
    if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return;
    if (std::string_view(self).find("/ld-") != std::string_view::npos)
        return;  // a loader was told to load us
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);  // where there is no such file it goes on as it is
}

/// Whether all that was printed has arrived.
bool printed() {
    std::cout.flush();
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
}

}  // namespace

int main(int argc, char** argv) {
    wait_with_patience(argv);
    open_standard_files();
    hdf5::close_nothing_at_exit();
    const Team team(argc, argv);
    std::signal(SIGXFSZ, SIG_IGN);  // the write fails then, which is told
    try {
        const int code = run(argc, argv, team.ranks());
        if (printed()) return code;
        complain("standard output: what was printed is lost; see that there is room where it goes");
    } catch (const std::exception& error) {
        stop_together(team.ranks(), error);
        complain(error.what());
    }
    return exit_misuse;
}
