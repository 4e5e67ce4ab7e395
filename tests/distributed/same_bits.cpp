// The state after some steps is the same bits on one rank and on several. Run under mpirun on any number of ranks: rank
// 0 runs the scene alone, then all run it together.
#include "distributed/on_ranks.hpp"
#include "drystone/distributed/part.hpp"
#include "drystone/run/simulate.hpp"
#include "drystone/scenes/scene_file.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace drystone {
namespace {

/// What a run says of each step, but for the clock.
struct StepFigures {
    double h, time, residual, overlap, kinetic, potential, work, held, scheme;
    std::int64_t contacts, active, iterations;
    bool operator==(const StepFigures&) const = default;
};

StepFigures figures_of(const StepRecord& r) {
    return {r.h,
            r.time,
            r.solve.residual.value,
            r.overlap,
            r.energy.kinetic,
            r.energy.potential,
            r.work.contacts,
            r.work.held,
            r.work.scheme,
            r.contacts,
            r.active,
            r.solve.iterations};
}

/// Bytes of rank 0, on all ranks.
std::vector<std::byte> from_first(std::vector<std::byte> bytes) {
    if (everyone().rank() != 0) bytes.clear();
    return everyone().gather_all(bytes);
}

struct Case {
    std::string scene;
    int steps = 60;
    int force_every = 0;
    int threads = 1;
    std::string solver = "auto";
    double displacement = 0;
    Scheme scheme = Scheme::look_ahead;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.scene << " " << c.steps << " steps, forced " << c.force_every << ", threads " << c.threads
               << ", " << c.solver;
}

class SameBits : public ::testing::TestWithParam<Case> {};

template <int d>
void compare(const Case& c) {
    RunPlan<d> plan =
        std::get<RunPlan<d>>(read_scene(std::string(DRYSTONE_SCENES) + "/ranks/small/" + c.scene));
    plan.options.step.solve.threads = c.threads;
    plan.options.step.bodies_per_thread = 1;
    plan.options.step.displacement = c.displacement;
    plan.options.step.scheme = c.scheme;
    if (c.solver == "factors") {  // what a step does last, at once
        BriefOptions few;
        few.exact_sweeps = few.secant_sweeps = few.least_sweeps = 1;
        few.most_visits = 1;
        few.largest_factorisation = 1'000'000;
        plan.options.step.solve.solver = few;
    } else if (c.solver != "auto") {
        plan.options.step.solve.solver = find_solver(c.solver)->options;
    }
    int left = 0;
    std::vector<StepFigures> figures;
    const Observer<d> observe = [&](const Scene<d>&, const StepMemory<d>&, const StepRecord& record) {
        figures.push_back(figures_of(record));
        return --left > 0;
    };
    Writer alone;
    std::vector<StepFigures> alone_figures;
    if (everyone().rank() == 0) {
        Scene<d> scene = plan.world.scene;
        StepMemory<d> memory;
        RunProgress progress;
        left = c.steps;
        simulate(scene, plan.options, plan.feeds, memory, progress, observe);
        for (Index i = 0; i < scene.bodies.count(); ++i) put_body(alone, scene.bodies, i);
        alone_figures = figures;
        EXPECT_GT(figures.back().contacts, 100);
    }
    const std::vector<std::byte> bytes = from_first(alone.bytes);
    Bodies<d> expected;
    for (Reader reader(bytes); !reader.done();) take_body(reader, expected);

    figures.clear();
    Part<d> part(everyone());
    part.balancing.force_every = c.force_every;
    StepMemory<d> memory;
    RunProgress progress;
    left = c.steps;
    simulate(plan.world.scene, plan.options, plan.feeds, memory, progress, observe, &part);

    if (everyone().rank() == 0) {
        ASSERT_EQ(figures.size(), alone_figures.size());
        for (std::size_t k = 0; k < figures.size(); ++k) {
            ASSERT_EQ(figures[k].iterations, alone_figures[k].iterations) << "step " << k;
            ASSERT_EQ(figures[k].contacts, alone_figures[k].contacts) << "step " << k;
            ASSERT_TRUE(figures[k] == alone_figures[k])
                << "step " << k << " residual " << figures[k].residual << " for " << alone_figures[k].residual
                << ", kinetic " << figures[k].kinetic << " for " << alone_figures[k].kinetic;
        }
    }
    std::int64_t owned = 0, different = 0;
    for (Index i = 0; i < plan.world.scene.bodies.count(); ++i) {
        owned += part.own[i];
        const Index j = expected.index_of(plan.world.scene.bodies.id[i]);
        Writer here, there;
        put_body(here, plan.world.scene.bodies, i);
        if (j >= 0) put_body(there, expected, j);
        different += here.bytes == there.bytes ? 0 : 1;
    }
    EXPECT_EQ(different, 0) << "on rank " << everyone().rank();
    std::array<std::int64_t, 3> sums = {owned, part.moved, static_cast<std::int64_t>(part.owner.size())};
    everyone().sum(std::span<std::int64_t>(sums));
    EXPECT_EQ(sums[0], expected.count());
    if (everyone().count() > 1) {
        EXPECT_GT(sums[2], sums[0]) << "no ghosts";
        if (c.force_every > 0) {
            EXPECT_GT(part.balance.cuts, 2);
            EXPECT_GT(sums[1], 0) << "no body has moved from rank to rank";
        }
    }
}

TEST_P(SameBits, AsOnOneRank) { compare<3>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Scenes, SameBits,
    ::testing::Values(Case{"box.toml"}, Case{"box.toml", 60, 7}, Case{"drum.toml", 60, 11},
                      Case{"silo.toml", 60, 13}, Case{"shear.toml", 60, 9}, Case{"shear.toml", 40, 0, 2},
                      Case{"drum.toml", 30, 5, 1, "aspg"}, Case{"drum.toml", 30, 5, 1, "apgd-asr"},
                      Case{"box.toml", 40, 9, 1, "gauss-seidel"}, Case{"silo.toml", 30, 6, 1, "auto", 0.2},
                      Case{"drum.toml", 60, 7, 1, "auto", 0, Scheme::moreau_jean},
                      Case{"shear.toml", 3, 0, 1, "factors"}));

}  // namespace
}  // namespace drystone
