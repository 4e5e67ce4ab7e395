// Reads many files in one process, for tests/robustness/broken: scenes, checkpoints or problems, each named on a line
// of stdin.
//
// Answers with one line each: "valid" or "refused: <first line of the message>". Anything else that happens is a fault
// of ours: another exception is told as "FAULT: ..." and makes the exit code 1.
//
// What is valid is also used, for harm may come late: scenes and checkpoints for a few steps, problems for a solve. A
// run that ends with an Error is "valid" too. "forged" is a checkpoint whose header, with length and checksum, is
// written anew before it is read: ill will can do that.

#include "drystone/base/error.hpp"
#include "drystone/problems/problem_file.hpp"
#include "drystone/results/checkpoint.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "drystone/scenes/settings.hpp"
#include "drystone/tables/table.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <fstream>
#include <iostream>
#include <string>

namespace {

using namespace drystone;

constexpr double seconds_of_a_solve = 0.5;
constexpr std::int64_t steps = 3;

/// Bodies that lattices and fills make, as far as can be told without making them.
double bodies_of(const Value& file) {
    double sum = 0;
    const auto numbers = [](const Value* list) {
        double product = 1;
        if (list == nullptr) return 1e300;
        if (list->items.empty()) return list->number;
        for (const Value& item : list->items) product *= item.number;
        return product;
    };
    for (const char* const kind : {"lattice", "fill", "source", "shape", "ring"}) {
        const Value* tables = file.find(kind);
        if (tables == nullptr) continue;
        const bool counts = kind == std::string("lattice") || kind == std::string("fill");
        for (const Value& table : tables->items) sum += counts ? numbers(table.find("count")) : 10;
    }
    return sum;
}

template <int d>
void go_on(RunPlan<d>& plan, WarmStart<d> warm, RunProgress progress) {
    plan.options.step.solve.goal.time_limit = seconds_of_a_solve;
    plan.options.step.solve.threads = 1;
    StepMemory<d> memory;
    memory.warm = std::move(warm);
    const std::int64_t last = progress.summary.steps + steps;
    simulate<d>(plan.world.scene, plan.options, plan.feeds, memory, progress,
                [&](const Scene<d>&, const StepMemory<d>&, const StepRecord&) {
                    return progress.summary.steps < last;
                });
}

/// Does f, which may end with an Error: what it worked on was valid all the same.
template <class F>
void use(F&& f) {
    try {
        f();
    } catch (const Error&) {
    }
}

void read_and_use_scene(const std::string& file) {
    SceneFiles files = open_scene(file);
    read_scene(files, false);
    // Not those that would take long because they are large.
    if (bodies_of(values_of(files)) > 2000) return;
    use([&] {
        AnyPlan plan = read_scene(files);
        std::visit([](auto& any) { go_on(any, {}, {}); }, plan);
    });
}

void read_and_use_checkpoint(const std::string& file) {
    Checkpoint checkpoint = read_checkpoint(file, "test", plan_without_grains);
    use([&] {
        std::visit(
            []<int d>(StoppedRun<d>& run) {
                run.plan.options.end = run.plan.world.scene.time + 1000 * run.plan.options.step.h;
                go_on<d>(run.plan, std::move(run.warm), std::move(run.progress));
            },
            checkpoint.run);
    });
}

void read_and_use_problem(const std::string& file) {
    const ProblemFile problem = read_problem(std::filesystem::path(file));
    use([&] {
        SolveSettings settings;
        settings.goal.time_limit = seconds_of_a_solve;
        ConeSolution solution;
        if (!problem.guesses.empty()) solution = problem.guesses.front();
        solve(problem.problem, settings, solution);
    });
}

/// The header as checkpoint.hpp describes it.
void forge(const std::string& file) {
    constexpr std::size_t header_size = 512;
    std::string bytes;
    {
        std::ifstream stream(file, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(stream), {});
    }
    if (bytes.size() < header_size) return;
    const auto header = [&](const std::string& sum) {
        std::string text = fmt::format("drystone checkpoint\nversion {}\nprogram test\nlength {}\nxxh3 {}\n",
                                       checkpoint_version, bytes.size(), sum);
        text.resize(header_size, '\n');
        return text;
    };
    bytes.replace(0, header_size, header(std::string(32, '0')));
    const XXH128_hash_t sum = XXH3_128bits(bytes.data(), bytes.size());
    bytes.replace(0, header_size, header(fmt::format("{:016x}{:016x}", sum.high64, sum.low64)));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

void read(const std::string& kind, const std::string& file) {
    if (kind == "scene") read_and_use_scene(file);
    if (kind == "problem") read_and_use_problem(file);
    if (kind == "forged") forge(file);
    if (kind == "forged" || kind == "checkpoint") read_and_use_checkpoint(file);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string kind = argc == 2 ? argv[1] : "";
    if (kind != "scene" && kind != "checkpoint" && kind != "forged" && kind != "problem") {
        std::cerr << "usage: read_files scene|checkpoint|forged|problem < names\n";
        return 2;
    }
    int code = 0;
    for (std::string file; std::getline(std::cin, file);) {
        try {
            read(kind, file);
            std::cout << "valid" << std::endl;
        } catch (const drystone::Error& error) {
            const std::string message = error.what();
            std::cout << "refused: " << message.substr(0, message.find('\n')) << std::endl;
            if (message.empty()) code = 1;
        } catch (const std::exception& error) {
            std::cout << "FAULT: " << error.what() << std::endl;
            code = 1;
        }
    }
    return code;
}
