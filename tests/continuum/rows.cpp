// Stresses at nodes as blocks of the cone problem, against sums over particles.
#include "drystone/continuum/rows.hpp"

#include "continuum/random_sand.hpp"
#include "drystone/cone/delassus.hpp"
#include "drystone/continuum/sites.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

using testing::hat;
using testing::random_sand;

template <class T>
class RowsOfSand : public ::testing::Test {};
TYPED_TEST_SUITE(RowsOfSand, testing::PlaneAndSpace);

/// A problem of sand alone.
template <int d>
struct Made {
    static constexpr double h = 1e-3;
    Sand<d> sand;
    SandMemory<d> m;
    ConeProblem problem;
    const Grid<d>& grid = m.grid;
    const GridState<d>& state = m.state;

    explicit Made(Sand<d> from) : sand(std::move(from)) {
        to_grid(sand, 1, m.grid, m.state);
        m.begin = m.state.velocity;
        Octants<d> whole;
        whole.fill(sand.cell_volume() / corners<d>);
        m.space.assign(m.grid.nodes.size(), whole);
        find_sites(sand, 1, m);
        fill_gradients(sand, 1, m);
        add_nodes(sand, 0, 1, m, problem);
        for (Index i = 0; i < m.sites.count(); ++i) {
            problem.cones.push_back(Cone::second_order(tensor_size<d>, 0));
            problem.offset.push_back(problem.offset.back() + tensor_size<d>);
        }
        problem.w.resize(problem.rows());
        problem.shift_before.setZero(problem.blocks());
        fill_tensors(sand, h, 1, m, problem);
    }
};

/// What a particle counts for in the mean strain rate of a stress.
template <int d>
double share_of(const Sand<d>& sand, const SandMemory<d>& m, Index site, Index particle) {
    const Particles<d>& p = sand.particles;
    const Index of = m.sites.of[site];
    switch (sand.options.stress) {
        case StressSpace::nodes:
            return p.volume[particle] * hat<d>(m.grid.node_position(of), sand.cell, p.position[particle]);
        case StressSpace::particles:
            return particle == of ? p.volume[particle] : 0.0;
        case StressSpace::cells:
            break;
    }
    const Vec<d> x = p.position[particle] - m.grid.cell_origin(of);
    if ((x.array() < 0).any() || (x.array() >= sand.cell.array()).any()) return 0;
    Vec<d> corner;
    for (int k = 0; k < d; ++k) corner[k] = (m.sites.corner[site] >> k & 1) * sand.cell[k];
    return p.volume[particle] * hat<d>(corner, sand.cell, x);
}

TYPED_TEST(RowsOfSand, AreMeanStrainRatesOfTheParticlesAround) {
    constexpr int d = TypeParam::value;
    for (const StressSpace space : {StressSpace::nodes, StressSpace::cells, StressSpace::particles}) {
        Sand<d> from = random_sand<d>(300);
        from.options.stress = space;
        const Made<d> made(std::move(from));
        const auto& sand = made.sand;
        const auto& grid = made.grid;
        const auto& problem = made.problem;
        ASSERT_EQ(find_faults(problem), std::vector<std::string>{});
        const Vector v = Vector::Random(problem.dofs());
        const auto& p = sand.particles;
        // Of each particle, the gradient of the velocity there.
        std::vector<Mat<d>> rate(static_cast<std::size_t>(p.count()), Mat<d>::Zero());
        for (Index q = 0; q < p.count(); ++q) {
            for (Index j = 0; j < grid.node_count(); ++j) {
                Vec<d> g;
                if (hat<d>(grid.node_position(j), sand.cell, p.position[q], &g) == 0) continue;
                rate[q] += v.segment<d>(static_cast<Eigen::Index>(j) * d) * g.transpose();
            }
        }
        ASSERT_GT(made.m.sites.count(), 0);
        for (Index i = 0; i < made.m.sites.count(); ++i) {
            Mat<d> mean = Mat<d>::Zero();
            double volume = 0;
            for (Index q = 0; q < p.count(); ++q) {
                const double part = share_of<d>(sand, made.m, i, q);
                volume += part;
                mean += part * rate[q];
            }
            EXPECT_NEAR(volume, made.m.sites.volume[i], 1e-12 * volume);
            mean *= sand.length() / volume;
            Tensor<d> expected, u = Tensor<d>::Zero();
            tensor_of(mean, expected.data());
            for_each_entry(problem, i, [&](Index, auto place, const BodyRowsOf& A) {
                u += A * v.segment<d>(place.first);
            });
            EXPECT_LT((u - expected).norm(), 1e-9 * (1 + expected.norm())) << i;
        }
    }
}

TYPED_TEST(RowsOfSand, RigidMotionStrainsNothingAndStressMovesNoMomentum) {
    constexpr int d = TypeParam::value;
    const Made<d> made(random_sand<d>(300, 2));
    const ConeProblem& problem = made.problem;
    Mat<d> spin = Mat<d>::Random();
    spin = (spin - spin.transpose()).eval();
    Vec<d> v0 = Vec<d>::Random();
    for (Index i = 0; i < problem.blocks(); ++i) {
        Tensor<d> u = Tensor<d>::Zero();
        Vec<d> sum = Vec<d>::Zero();
        double size = 0;
        for_each_entry(problem, i, [&](Index body, auto, const BodyRowsOf& A) {
            u += A * (v0 + spin * made.grid.node_position(body));
            sum += A.transpose() * Tensor<d>::Ones();
            size += A.norm();
        });
        EXPECT_LT(u.norm(), 1e-13 * size);
        EXPECT_LT(sum.norm(), 1e-13 * size);
    }
}

TYPED_TEST(RowsOfSand, LetLooseSandComeTogetherUntilItIsDense) {
    constexpr int d = TypeParam::value;
    const Made<d> made(random_sand<d>(300, 3));
    const auto& sand = made.sand;
    const auto& grid = made.grid;
    const auto& state = made.state;
    const auto& problem = made.problem;
    int loose = 0, dense = 0;
    for (Index i = 0; i < grid.node_count(); ++i) {
        const double fraction = state.volume[i] / sand.cell_volume();
        // An even strain that takes the fraction to its limit in one step: the part of the space that is left empty.
        const double rate = (1 - fraction / sand.material.max_fraction) / made.h;
        const double expected = rate <= 0 ? 0.0 : sand.length() * rate / std::sqrt(2.0 * d);
        EXPECT_NEAR(problem.w[problem.offset[i]], expected, 1e-12 * expected);
        (rate > 0 ? loose : dense) += 1;
        for (Index c = problem.offset[i] + 1; c < problem.offset[i + 1]; ++c) EXPECT_EQ(problem.w[c], 0);
    }
    EXPECT_GT(loose, 0);
}

TYPED_TEST(RowsOfSand, PressureIsWhatAnImpulseMeans) {
    constexpr int d = TypeParam::value;
    const Made<d> made(random_sand<d>(50, 4));
    const auto& sand = made.sand;
    const auto& grid = made.grid;
    const auto& state = made.state;
    const auto& problem = made.problem;
    // An even pressure p at all nodes: its impulse on node j is h p grad(volume), which is what particles add up to.
    constexpr double pressure = 1234;
    Vector r = Vector::Zero(problem.rows());
    for (Index i = 0; i < grid.node_count(); ++i) {
        Tensor<d> stress = Tensor<d>::Zero();
        stress[0] = std::sqrt(0.5 * d) * pressure;
        EXPECT_NEAR(pressure_of<d>(stress), pressure, 1e-12 * pressure);
        r[problem.offset[i]] = impulse_per_stress(sand, state.volume[i], made.h) * stress[0];
    }
    const Delassus W(problem);
    Vector change;
    W.push(r, change);
    for (Index j = 0; j < grid.node_count(); ++j) {
        Vec<d> expected = Vec<d>::Zero();
        for (Index q = 0; q < sand.particles.count(); ++q) {
            Vec<d> g;
            hat<d>(grid.node_position(j), sand.cell, sand.particles.position[q], &g);
            expected += sand.particles.volume[q] * g;
        }
        expected *= made.h * pressure;
        const Vec<d> impulse =
            sand.material.density * state.volume[j] * change.segment<d>(static_cast<Eigen::Index>(j) * d);
        EXPECT_LT((impulse - expected).norm(), 1e-12 * (expected.norm() + 1e-6));
    }
}

TEST(SandMaterial, FrictionOfAnAngle) {
    const double angle = std::atan(0.32);
    EXPECT_NEAR(std::sqrt(2.0 / 3) * friction_of_angle<3>(angle), 0.2608, 5e-5);
    EXPECT_NEAR(friction_of_angle<2>(0.5), std::sin(0.5), 1e-15);
    EXPECT_LT(friction_of_angle<3>(angle, AngleMatch::inscribed), friction_of_angle<3>(angle));
    EXPECT_LT(friction_of_angle<3>(angle), friction_of_angle<3>(angle, AngleMatch::circumscribed));
}

/// In the plane Drucker-Prager with mu = sin(angle) is Mohr-Coulomb; in space they agree in triaxial compression
/// (circumscribed) and extension (middle).
TEST(SandMaterial, YieldsAsMohrAndCoulombSay) {
    const double angle = 0.6, s = std::sin(angle);
    // Pressures, larger first, on the verge of yield by Mohr-Coulomb: (p1 - p3) = (p1 + p3) sin(angle).
    const double p1 = 1 + s, p3 = 1 - s;
    const auto ratio = [](auto pressures) {  // |Dev| / p with |t|^2 = 1/2 t : t
        const double mean = pressures.mean();
        return std::sqrt(0.5 * (pressures.array() - mean).square().sum()) / mean;
    };
    EXPECT_NEAR(ratio(Vec<2>(p1, p3)), friction_of_angle<2>(angle), 1e-15);
    EXPECT_NEAR(ratio(Vec<3>(p1, p3, p3)), friction_of_angle<3>(angle, AngleMatch::circumscribed), 1e-15);
    EXPECT_NEAR(ratio(Vec<3>(p1, p1, p3)), friction_of_angle<3>(angle, AngleMatch::middle), 1e-15);
}

TEST(SandMaterial, FrictionGrowsWithTheInertialNumber) {
    SandMaterial m;
    m.friction = 0.3;
    EXPECT_EQ(m.friction_at(10), 0.3);
    m.friction_fast = 0.6;
    m.inertial_number = 0.4;
    EXPECT_EQ(m.friction_at(0), 0.3);
    EXPECT_NEAR(m.friction_at(0.4), 0.45, 1e-15);
    EXPECT_NEAR(m.friction_at(1e9), 0.6, 1e-8);
}

}  // namespace
}  // namespace drystone
