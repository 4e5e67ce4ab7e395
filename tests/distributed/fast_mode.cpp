// The faster mode of several ranks, in which the mass of shared bodies is split between them: not the bits of one rank,
// but the same problem solved to the same tolerance. Run under mpirun on any number of ranks.
#include "distributed/on_ranks.hpp"
#include "drystone/distributed/part.hpp"
#include "drystone/run/simulate.hpp"
#include "drystone/scenes/scene_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace drystone {
namespace {

RunPlan<3> plan_of(const std::string& scene) {
    return std::get<RunPlan<3>>(read_scene(std::string(DRYSTONE_SCENES) + "/ranks/small/" + scene));
}

double sum_over_ranks(std::vector<double> terms) {
    ExactSum sum;
    for (const double x : terms) sum.add(x);
    everyone().sum({&sum, 1});
    return sum.value();
}

/// Contacts that carry an impulse between bodies of two ranks. Where there are none, the modes have nothing to differ
/// in.
std::int64_t loaded_between_ranks(const StepMemory<3>& memory, const Part<3>& part) {
    const ConeProblem& p = memory.assembled.problem;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < memory.contacts.size(); ++i) {
        const int a = part.owner[memory.contacts[i].a], b = part.owner[memory.contacts[i].b];
        // Both owners hold it; the lower one counts it.
        if (a < 0 || b < 0 || a == b || std::min(a, b) != everyone().rank()) continue;
        count += memory.solution.r[p.offset[i]] > 0 ? 1 : 0;
    }
    everyone().sum(std::span<std::int64_t>(&count, 1));
    return count;
}

struct Outcome {
    std::vector<StepRecord> records;
    std::vector<std::byte> bodies;  ///< of this rank
    double height = 0;              ///< mean over grains, m
    double kinetic = 0;             ///< mean over steps, J
    std::int64_t sweeps = 0, messages = 0, bytes = 0;
    std::int64_t unsolved = 0;
    std::int64_t loaded = 0;  ///< contacts between ranks, summed over steps
};

/// `settle` steps in the exact mode, then `steps` in one of the two.
Outcome run(const std::string& name, int settle, int steps, bool split) {
    RunPlan<3> plan = plan_of(name);
    Part<3> part(everyone());
    StepMemory<3> memory;
    RunProgress progress;
    Outcome result;
    Traffic before;
    int done = 0;
    simulate<3>(
        plan.world.scene, plan.options, plan.feeds, memory, progress,
        [&](const Scene<3>&, const StepMemory<3>&, const StepRecord& record) {
            if (done >= settle) {
                result.records.push_back(record);
                result.loaded += loaded_between_ranks(memory, part);
            }
            if (++done == settle) {
                part.options.split_between_ranks = split;
                before = everyone().traffic(Talk::sweep);
            }
            return done < settle + steps;
        },
        &part);
    const Traffic& after = everyone().traffic(Talk::sweep);
    std::array<std::int64_t, 2> sent = {after.messages - before.messages, after.bytes - before.bytes};
    everyone().sum(std::span<std::int64_t>(sent));
    result.messages = sent[0];
    result.bytes = sent[1];
    for (const StepRecord& r : result.records) {
        result.sweeps += r.solve.iterations;
        result.kinetic += r.energy.kinetic / steps;
        result.unsolved += is_met(r.solve.status) ? 0 : 1;
    }
    std::vector<double> heights, owned;
    Writer out;
    for (Index i = 0; i < plan.world.scene.bodies.count(); ++i) {
        put_body(out, plan.world.scene.bodies, i);
        if (part.own[i] == 0 || part.owner[i] == everywhere) continue;
        heights.push_back(plan.world.scene.bodies.position[i][2]);
        owned.push_back(1);
    }
    result.bodies = std::move(out.bytes);
    result.height = sum_over_ranks(heights) / sum_over_ranks(owned);
    return result;
}

/// Steps until much rests on much, also where ranks meet: in the box that takes until the last grains have come down.
struct SceneCase {
    std::string scene;
    int settle;
};

std::ostream& operator<<(std::ostream& out, const SceneCase& c) { return out << c.scene; }

class FastMode : public ::testing::TestWithParam<SceneCase> {};

TEST_P(FastMode, SolvesWhatTheExactModeSolvesAndRepeatsItself) {
    constexpr int steps = 20;
    const auto& [scene, settle] = GetParam();
    const Outcome exact = run(scene, settle, steps, false), fast = run(scene, settle, steps, true),
                  again = run(scene, settle, steps, true);
    EXPECT_EQ(fast.sweeps, again.sweeps);
    EXPECT_TRUE(fast.bodies == again.bodies) << "two runs on the same ranks differ";
    ASSERT_EQ(exact.records.size(), static_cast<std::size_t>(steps));
    ASSERT_EQ(fast.records.size(), static_cast<std::size_t>(steps));
    EXPECT_GT(exact.records.back().contacts, 1000);
    const double tolerance = plan_of(scene).options.step.solve.goal.tolerance;
    for (int k = 0; k < steps; ++k) {
        if (!is_met(exact.records[k].solve.status)) continue;
        EXPECT_TRUE(is_met(fast.records[k].solve.status))
            << "step " << k << ": " << fast.records[k].solve.message;
        EXPECT_LE(fast.records[k].solve.residual.value, tolerance * (1 + 1e-6)) << "step " << k;
    }
    EXPECT_LE(static_cast<double>(fast.sweeps), 2.5 * static_cast<double>(exact.sweeps));
    // Grains collide, so that single ones soon go other ways; means do not.
    EXPECT_NEAR(fast.height, exact.height, 0.01 * std::abs(exact.height));
    EXPECT_NEAR(fast.kinetic, exact.kinetic, 0.03 * exact.kinetic);
    if (everyone().count() > 1) {
        EXPECT_GT(fast.loaded, 20 * steps) << "ranks hardly touch each other: this tests nothing";
        // At most one message from each rank to each other one in a sweep, instead of one for each colour that has
        // anything to say.
        const std::int64_t pairs = static_cast<std::int64_t>(everyone().count()) * (everyone().count() - 1);
        EXPECT_LE(fast.messages, pairs * fast.sweeps);
        EXPECT_LT(static_cast<double>(fast.messages) / static_cast<double>(fast.sweeps),
                  static_cast<double>(exact.messages) / static_cast<double>(exact.sweeps));
        const bool same = everyone().largest(fast.bodies == exact.bodies ? 0 : 1) == 0;
        EXPECT_FALSE(same) << "the mode makes no difference: is it on?";
    } else {
        EXPECT_TRUE(fast.bodies == exact.bodies);
    }
    if (everyone().rank() == 0) {
        auto say = [&](const char* mode, const Outcome& r) {
            fmt::print(
                "{} {} on {} ranks: {:.1f} sweeps a step, {:.0f} messages a step, {:.2f} a sweep, {:.0f} "
                "bytes a sweep, "
                "{} of {} steps not solved, {:.0f} loaded contacts between ranks, height {:.6g} m, kinetic "
                "{:.6g} J\n",
                scene, mode, everyone().count(), static_cast<double>(r.sweeps) / steps,
                static_cast<double>(r.messages) / steps,
                static_cast<double>(r.messages) / static_cast<double>(r.sweeps),
                static_cast<double>(r.bytes) / static_cast<double>(r.sweeps), r.unsolved, steps,
                static_cast<double>(r.loaded) / steps, r.height, r.kinetic);
        };
        say("exact", exact);
        say("split", fast);
    }
}

INSTANTIATE_TEST_SUITE_P(Scenes, FastMode,
                         ::testing::Values(SceneCase{"box.toml", 130}, SceneCase{"drum.toml", 100},
                                           SceneCase{"shear.toml", 170}));

/// Velocities after a last step to 1e-8 with the associated law, whose velocities are unique.
struct LastStep {
    Vector v;
    std::vector<GlobalId> id;
    SolveReport report;
    std::int64_t loaded = 0;
};

LastStep last_step(const std::string& name, int settle, SweepKernel kernel, bool split) {
    RunPlan<3> plan = plan_of(name);
    Part<3> part(everyone());
    StepMemory<3> memory;
    RunProgress progress;
    int left = settle;
    simulate<3>(
        plan.world.scene, plan.options, plan.feeds, memory, progress,
        [&](const Scene<3>&, const StepMemory<3>&, const StepRecord&) { return --left > 0; }, &part);
    StepOptions options = plan.options.step;
    part.options.split_between_ranks = split;
    GaussSeidelOptions sweeps;
    sweeps.acceleration = Acceleration::momentum;
    sweeps.kernel = kernel;
    options.solve.solver = sweeps;
    options.solve.law = Law::associated;
    options.solve.goal.tolerance = 1e-8;
    LastStep result;
    result.report = step<3>(plan.world.scene, options, memory, &part).solve;
    result.loaded = loaded_between_ranks(memory, part);
    result.v = memory.v_end;
    result.id = plan.world.scene.bodies.id;
    return result;
}

struct KernelCase {
    std::string scene;
    int settle;
    SweepKernel kernel;
};

std::ostream& operator<<(std::ostream& out, const KernelCase& c) { return out << c.scene; }

class UniqueVelocities : public ::testing::TestWithParam<KernelCase> {};

TEST_P(UniqueVelocities, AreFoundByBothModes) {
    const LastStep exact = last_step(GetParam().scene, GetParam().settle, GetParam().kernel, false),
                   fast = last_step(GetParam().scene, GetParam().settle, GetParam().kernel, true);
    ASSERT_EQ(exact.report.status, Status::solved) << exact.report.message;
    ASSERT_EQ(fast.report.status, Status::solved) << fast.report.message;
    ASSERT_EQ(exact.id, fast.id);
    // Velocities and spins, each against the largest of its kind.
    double difference = 0;
    for (const int first : {0, 3}) {
        double most = 0, largest = 0;
        for (Eigen::Index j = 0; j < exact.v.size(); j += 6) {
            largest = std::max(largest, exact.v.segment<3>(j + first).norm());
            most = std::max(most, (exact.v - fast.v).segment<3>(j + first).norm());
        }
        EXPECT_LE(most, 1e-5 * largest) << "on rank " << everyone().rank();
        difference = std::max(difference, most / largest);
    }
    if (everyone().count() > 1) {
        EXPECT_GT(fast.loaded, 20) << "ranks hardly touch each other: this tests nothing";
        EXPECT_GT(everyone().largest(difference), 0) << "the mode makes no difference: is it on?";
    }
    if (everyone().rank() == 0)
        fmt::print(
            "{} on {} ranks: {} sweeps exact, {} split; velocities differ by {:.2g} of the largest, {} "
            "loaded contacts between ranks\n",
            GetParam().scene, everyone().count(), exact.report.iterations, fast.report.iterations, difference,
            fast.loaded);
}

INSTANTIATE_TEST_SUITE_P(Kernels, UniqueVelocities,
                         ::testing::Values(KernelCase{"shear.toml", 170, SweepKernel::any},
                                           KernelCase{"drum.toml", 75, SweepKernel::automatic},
                                           KernelCase{"shear.toml", 170, SweepKernel::automatic}));

}  // namespace
}  // namespace drystone
