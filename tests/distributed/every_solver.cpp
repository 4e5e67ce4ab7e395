// Every solver that a scene can name gives the same bits: run again, on other numbers of threads, and on several ranks.
// Run under mpirun on any number of ranks: rank 0 runs the scene alone, several times, then all run it together.
#include "distributed/on_ranks.hpp"
#include "drystone/distributed/part.hpp"
#include "drystone/run/simulate.hpp"
#include "scenes/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace drystone {
namespace {

/// Grains on a lattice in a box that leans, and is wider than they are. Shape, count, origin, spacing, shift: fields of
/// [[lattice]].
std::string scene_of(int dimension, const std::string& upper, const std::array<std::string, 5>& lattice) {
    const bool plane = dimension == 2;
    std::string text = "dimension = " + std::to_string(dimension) +
                       "\ngravity = " + (plane ? "[1, -9.81]" : "[1, 0, -9.81]") +
                       "\n[time]\nstep = 5e-3\n[box]\nlower = " + (plane ? "[0, 0]" : "[0, 0, 0]") +
                       "\nupper = " + upper + "\n[[lattice]]\n";
    constexpr std::array fields = {"shape", "count", "origin", "spacing", "shift"};
    for (std::size_t k = 0; k < fields.size(); ++k)
        text += fields[k] + std::string(" = ") + lattice[k] + "\n";
    return text;
}

const std::string spheres =
    scene_of(3, "[0.2, 0.2, 1]",
             {R"({ type = "sphere", radius = 0.05 })", "[2, 2, 4]", "[0.05, 0.05, 0.05]", "0.0995", "0.002"});
const std::string boxes = scene_of(3, "[0.3, 0.3, 1]",
                                   {R"({ type = "box", sides = [0.1, 0.09, 0.05] })", "[1, 1, 4]",
                                    "[0.08, 0.08, 0.0251]", "0.0502", "0.002"});
const std::string disks = scene_of(
    2, "[0.6, 2]", {R"({ type = "disk", radius = 0.05 })", "[5, 4]", "[0.06, 0.05]", "0.0998", "0.004"});

struct Case {
    const char* name;
    std::string scene;
};

/// Memory at other places than before.
void stir() {
    static std::mt19937 engine(1);
    static std::vector<std::vector<char>> kept;
    for (int k = 0; k < 200; ++k) kept.emplace_back(16 * (1 + engine() % 40));
    for (auto& block : kept)
        if (engine() % 2 == 0) block = {};
}

template <int d>
std::vector<std::byte> bytes_of(const Scene<d>& scene, const std::vector<std::uint8_t>* own = nullptr) {
    Writer out;
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (own == nullptr || (*own)[i] != 0) put_body(out, scene.bodies, i);
    return out.bytes;
}

template <int d>
void compare(const Case& c, const NamedSolver& solver, Law law) {
    const RunPlan<d> plan = testing::read<d>(c.scene);
    RunOptions options = plan.options;
    options.step.solve.law = law;
    options.step.solve.goal.tolerance = 1e-3;
    if (solver.name != "auto") options.step.solve.solver = solver.options;
    // Sweeps that do not end alone take the time of a test: on 8 threads they wait more than they work.
    if (auto* sweeps = std::get_if<GaussSeidelOptions>(&options.step.solve.solver))
        sweeps->max_iterations = 300;
    int left = 0;
    std::int64_t contacts = 0;
    const Observer<d> observe = [&](const Scene<d>&, const StepMemory<d>&, const StepRecord& record) {
        contacts = std::max(contacts, record.contacts);
        return --left > 0;
    };
    constexpr int steps = 4;
    std::vector<std::byte> expected;
    if (everyone().rank() == 0) {
        for (const int threads : {1, 1, 2, 8}) {
            stir();
            Scene<d> scene = plan.world.scene;
            StepMemory<d> memory;
            RunProgress progress;
            options.step.solve.threads = threads;
            options.step.bodies_per_thread = 1;
            left = steps;
            simulate(scene, options, plan.feeds, memory, progress, observe);
            const std::vector<std::byte> found = bytes_of(scene);
            if (expected.empty()) expected = found;
            EXPECT_TRUE(found == expected) << solver.name << ", " << c.name << ", " << threads << " threads";
        }
        EXPECT_GT(contacts, 10) << c.name;
    }
    Part<d> part(everyone());
    Scene<d> scene = plan.world.scene;
    StepMemory<d> memory;
    RunProgress progress;
    options.step.solve.threads = 1;
    left = steps;
    simulate(scene, options, plan.feeds, memory, progress, observe, &part);
    // Bodies that a rank owns are among those of rank 0 alone, and all are owned.
    const std::vector<std::byte> all = everyone().gather_all(expected);
    Bodies<d> alone;
    for (Reader reader(all); !reader.done();) take_body(reader, alone);
    std::array<std::int64_t, 2> sums = {0, 0};
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (part.own[i] == 0) continue;
        ++sums[0];
        Writer here, there;
        put_body(here, scene.bodies, i);
        if (const Index j = alone.index_of(scene.bodies.id[i]); j >= 0) put_body(there, alone, j);
        sums[1] += here.bytes == there.bytes ? 0 : 1;
    }
    everyone().sum(std::span<std::int64_t>(sums));
    EXPECT_EQ(sums[0], alone.count());
    EXPECT_EQ(sums[1], 0) << solver.name << ", " << c.name << ", on " << everyone().count() << " ranks";
}

class EverySolver : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySolver, GivesTheSameBitsWhateverRunsIt) {
    const NamedSolver& solver = *find_solver(GetParam());
    const Law law = solver.coulomb ? Law::coulomb : Law::associated;
    compare<3>({"spheres", spheres}, solver, law);
    compare<3>({"boxes", boxes}, solver, law);
    compare<2>({"disks", disks}, solver, law);
}

std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const NamedSolver& solver : named_solvers()) out.emplace_back(solver.name);
    return out;
}

INSTANTIATE_TEST_SUITE_P(Names, EverySolver, ::testing::ValuesIn(names()));

}  // namespace
}  // namespace drystone
