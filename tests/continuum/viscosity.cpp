// The viscous stress of a step.
#include "drystone/continuum/viscosity.hpp"

#include "continuum/random_sand.hpp"
#include "drystone/continuum/fill.hpp"
#include "drystone/continuum/rows.hpp"
#include "drystone/continuum/sites.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace drystone {
namespace {

template <class T>
class Viscosity : public ::testing::Test {};
TYPED_TEST_SUITE(Viscosity, testing::PlaneAndSpace);

template <int d>
void prepare(const Sand<d>& sand, SandMemory<d>& m) {
    to_grid(sand, 1, m.grid, m.state);
    Octants<d> whole;
    whole.fill(sand.cell_volume() / corners<d>);
    m.space.assign(m.grid.nodes.size(), whole);
    find_sites(sand, 1, m);
    fill_gradients(sand, 1, m);
}

TYPED_TEST(Viscosity, KeepsMomentumAndRigidMotionAndTakesEnergy) {
    constexpr int d = TypeParam::value;
    for (const StressSpace space : {StressSpace::nodes, StressSpace::cells, StressSpace::particles}) {
        Sand<d> sand = testing::random_sand<d>(300, 4);
        sand.options.stress = space;
        sand.material.viscosity = 50;
        SandMemory<d> m;
        prepare(sand, m);
        const auto before = m.state.velocity;
        damp(sand, 1e-2, 1, m);
        Vec<d> momentum = Vec<d>::Zero();
        double size = 0, energy = 0;
        for (Index j = 0; j < m.grid.node_count(); ++j) {
            momentum += m.state.volume[j] * (m.state.velocity[j] - before[j]);
            size += m.state.volume[j] * before[j].norm();
            energy += m.state.volume[j] * (m.state.velocity[j].squaredNorm() - before[j].squaredNorm());
        }
        EXPECT_LT(momentum.norm(), 1e-12 * size);
        EXPECT_LT(energy, 0);
        // Nothing strains in rigid motion.
        Mat<d> spin = Mat<d>::Random();
        spin = (spin - spin.transpose()).eval();
        for (Index j = 0; j < m.grid.node_count(); ++j)
            m.state.velocity[j] = spin * m.grid.node_position(j) + Vec<d>::Ones();
        const auto rigid = m.state.velocity;
        damp(sand, 1e-2, 1, m);
        for (Index j = 0; j < m.grid.node_count(); ++j)
            EXPECT_LT((m.state.velocity[j] - rigid[j]).norm(), 1e-8);
    }
}

/// A shear wave decays as exp(-viscosity k^2 t / density), inside, before the surface is felt there; but for what 16
/// cells a wave leave to wish.
TYPED_TEST(Viscosity, AShearWaveDecaysAtItsRate) {
    constexpr int d = TypeParam::value;
    Sand<d> sand;
    sand.cell.setConstant(0.1);
    sand.material.density = 1000;
    sand.material.viscosity = 300;
    SandFill<d> plan;
    Vec<d> upper = Vec<d>::Constant(0.8);
    upper[0] = 3.2;
    plan.region = BoxRegion<d>{Vec<d>::Zero(), upper};
    fill(plan, sand);
    SandMemory<d> m;
    prepare(sand, m);
    constexpr double waves = 2 * std::numbers::pi / 1.6, h = 1e-4;
    const auto wave = [&](Index j) { return std::sin(waves * m.grid.node_position(j)[0]); };
    for (Index j = 0; j < m.grid.node_count(); ++j) m.state.velocity[j] = wave(j) * Vec<d>::Unit(d - 1);
    damp(sand, h, 1, m);
    const double decay = 300 * waves * waves * h / 1000;
    int inside = 0;
    for (Index j = 0; j < m.grid.node_count(); ++j) {
        const Vec<d> x = m.grid.node_position(j);
        if (x[0] < 0.75 || x[0] > 2.45 || (x.template tail<d - 1>().array() - 0.4).abs().maxCoeff() > 0.05)
            continue;
        ++inside;
        EXPECT_NEAR(m.state.velocity[j][d - 1] - wave(j), -decay * wave(j), 0.12 * decay) << x.transpose();
    }
    EXPECT_GT(inside, 10);
}

TYPED_TEST(Viscosity, IsTheSameOnAnyThreads) {
    constexpr int d = TypeParam::value;
    Sand<d> sand = testing::random_sand<d>(500, 5);
    sand.material.viscosity = 5;
    SandMemory<d> m;
    prepare(sand, m);
    const auto before = m.state.velocity;
    damp(sand, 1e-2, 1, m);
    const auto one = m.state.velocity;
    for (const int threads : {2, 3, 8}) {
        m.state.velocity = before;
        damp(sand, 1e-2, threads, m);
        EXPECT_EQ(m.state.velocity, one);
    }
}

}  // namespace
}  // namespace drystone
