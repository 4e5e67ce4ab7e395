// Visits to spheres and disks with rolling and spinning friction: against the general kernel's, and whole solves.
#include "drystone/cone/complementarity.hpp"
#include "drystone/solve/solve.hpp"
#include "solve/sphere_pile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace drystone;
using namespace drystone::testing;

namespace {

constexpr Law laws[] = {Law::coulomb, Law::associated};

/// Cones in which each coefficient is 0 now and then; in 3D of all dimensions that occur, rays and Coulomb cones among
/// them.
template <int d>
std::function<Cone(int)> mixed_cones(double size, int every_kind = 1) {
    return [size, every_kind](int k) {
        const double mu = k % 11 == 0 ? 0 : 0.1 + 0.3 * (k % 7);
        const double rolling = size * (k % 13 == 0 ? 0 : 0.03 * (1 + k % 5));
        const double spinning = size * (k % 17 == 0 ? 0 : 0.02 * (1 + k % 3));
        if (every_kind != 0 && k % 19 == 3) return Cone::ray();
        if (every_kind != 0 && k % 19 == 7) return Cone::second_order(d, mu);
        if constexpr (d == 2) return Cone::wrench(3, mu, rolling, 0);
        return k % 4 == 1 ? Cone::wrench(5, mu, rolling, 0) : Cone::wrench(6, mu, rolling, spinning);
    };
}

/// Impulses in the interior, on the boundary and outside of the cones, as momentum and warm starts hand them over.
Vector some_impulses(const ConeProblem& p, double size, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal(0, size);
    Vector r(p.rows());
    for (Index i = 0; i < p.blocks(); ++i) {
        for (Index c = p.offset[i]; c < p.offset[i + 1]; ++c) r[c] = normal(engine);
        if (i % 3 != 0)
            project(p.cones[i], std::span(r.data() + p.offset[i], static_cast<std::size_t>(p.cones[i].dim)));
    }
    return r;
}

/// Error of each block after one visit: the natural map over the impulses at stake, of which the start is one, since it
/// leaves its rounding in the velocities; with torques measured by the block's length. The largest of all blocks.
double worst_block(const Delassus& W, const Vector& start, const Vector& r, Law law) {
    const ConeProblem& p = W.problem();
    Vector u;
    W.velocity(r, u);
    double worst = 0;
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        const double length = W.length(i), xi = 1 / W.inverse_mass(i);
        const Cone cone = with_torques_scaled(p.cones[i], length);
        BlockVector ri = r.segment(p.offset[i], d), ui = u.segment(p.offset[i], d);
        BlockVector bi = W.b().segment(p.offset[i], d), si = start.segment(p.offset[i], d);
        for (int c = 0; c < d; ++c) {
            if (!is_torque(cone, c)) continue;
            ri[c] /= length;
            si[c] /= length;
            ui[c] *= length;
            bi[c] *= length;
        }
        const double scale = std::max({ri.norm(), si.norm(), xi * bi.norm()});
        if (scale > 0) worst = std::max(worst, natural_map(cone, ui, ri, xi, law).norm() / scale);
    }
    return worst;
}

Vector swept(const Delassus& W, Law law, SweepKernel kernel, int sweeps, Vector r, double proximal = 0) {
    GaussSeidelOptions options;
    options.kernel = kernel;
    options.proximal = proximal;
    run_sweeps(W, law, options, sweeps, r);
    return r;
}

/// How many contacts of a solution have both the sliding and the rolling limit reached: the case without closed form.
int count_both_limits(const ConeProblem& p, const Vector& r) {
    int count = 0;
    for (Index i = 0; i < p.blocks(); ++i) {
        const ConeGroups groups = groups_of(p.cones[i]);
        if (p.cones[i].kind != ConeKind::wrench || !(r[p.offset[i]] > 0)) continue;
        const auto at_limit = [&](const ConeGroup& g) {
            const double limit = g.mu * r[p.offset[i]];
            return limit > 0 && r.segment(p.offset[i] + g.start, g.size).norm() > (1 - 1e-12) * limit;
        };
        count += at_limit(groups.group[0]) && at_limit(groups.group[groups.count - 1]) ? 1 : 0;
    }
    return count;
}

template <int d>
void one_visit_solves_the_block(Law law) {
    const ConeProblem p = separate_contacts<d>(20'000, 7, mixed_cones<d>(0.3));
    const Delassus W(p);
    const double size = W.b().norm() / std::sqrt(static_cast<double>(p.rows()));
    const Vector starts[] = {Vector::Zero(p.rows()), some_impulses(p, 0.1 * size, 1),
                             some_impulses(p, 10 * size, 2)};
    const Vector cold = swept(W, law, SweepKernel::automatic, 1, starts[0]);
    EXPECT_GT(count_both_limits(p, cold), 1000);
    for (const Vector& start : starts) {
        const Vector r = swept(W, law, SweepKernel::automatic, 1, start);
        EXPECT_LT(worst_block(W, start, r, law), 1e-14);
        // Where the solution is unique, as it is for spheres under both laws, the start must not matter.
        EXPECT_LT((r - cold).norm(), 1e-13 * std::max(cold.norm(), start.norm()));
        // A second visit finds nothing to do.
        EXPECT_LT((swept(W, law, SweepKernel::automatic, 1, cold) - cold).norm(), 1e-14 * cold.norm());
    }
    const Vector general = swept(W, law, SweepKernel::any, 1, starts[0]);
    EXPECT_LT((cold - general).norm(), 1e-13 * general.norm());
}

}  // namespace

TEST(WrenchKernel, OneVisitSolvesTheBlockOfSpheres) {
    for (const Law law : laws) one_visit_solves_the_block<3>(law);
}

TEST(WrenchKernel, OneVisitSolvesTheBlockOfDisks) {
    for (const Law law : laws) one_visit_solves_the_block<2>(law);
}

TEST(WrenchKernel, GivesTheSweepsOfTheGeneralKernel) {
    for (const Law law : laws) {
        for (const double speed : {0.0, 1.0}) {
            // Of one kind: others would be visited in another order.
            const ConeProblem p = pile<3>({.across = 5, .high = 5, .speed = speed, .slope = 20, .seed = 3},
                                          mixed_cones<3>(0.1, 0));
            ASSERT_GT(p.blocks(), 200);
            const Delassus W(p);
            const Vector zero = Vector::Zero(p.rows());
            for (const double proximal : {0.0, 0.1}) {
                const Vector general = swept(W, law, SweepKernel::any, 15, zero, proximal);
                const Vector special = swept(W, law, SweepKernel::automatic, 15, zero, proximal);
                EXPECT_GT(general.norm(), 0);
                // Rounding, and the general local solver's 1e-13 per visit.
                EXPECT_LT((general - special).norm(), 1e-11 * general.norm());
            }
        }
        const ConeProblem p =
            pile<2>({.across = 20, .high = 10, .speed = 0.3, .slope = 20}, mixed_cones<2>(0.1, 0));
        const Delassus W(p);
        const Vector general = swept(W, law, SweepKernel::any, 15, Vector::Zero(p.rows()));
        const Vector special = swept(W, law, SweepKernel::automatic, 15, Vector::Zero(p.rows()));
        EXPECT_LT((general - special).norm(), 1e-11 * general.norm());
    }
}

TEST(WrenchKernel, CompliantContactsGiveTheSweepsOfTheGeneralKernel) {
    ConeProblem p = pile<3>({.across = 4, .high = 4, .speed = 0.3}, mixed_cones<3>(0.1, 0));
    const double softness = Delassus(p).inverse_mass(0);
    p.compliance.setZero(p.rows());
    for (Index i = 0; i < p.blocks(); ++i) {
        p.compliance[p.offset[i]] = softness * (0.1 + 0.01 * (i % 7));
        for (int c = 1; c < std::min<int>(3, p.cones[i].dim); ++c)
            p.compliance[p.offset[i] + c] = softness * 0.02 * (i % 5);
    }
    const Delassus W(p);
    for (const Law law : laws) {
        const Vector start = some_impulses(p, 0.1, 4);
        const Vector general = swept(W, law, SweepKernel::any, 10, start);
        EXPECT_LT((general - swept(W, law, SweepKernel::automatic, 10, start)).norm(),
                  1e-11 * general.norm());
    }
}

TEST(WrenchKernel, BodiesThatCannotTurn) {
    ConeProblem p = pile<3>({.across = 4, .high = 4, .speed = 0.3}, mixed_cones<3>(0.1, 0));
    auto& inverse = std::get<BlockInverseMass>(p.only().mass).blocks;
    for (Index j = 0; j < p.only().count; j += 1) {
        for (int c = 3; c < 6; ++c) inverse[j * 36 + c * 7] = j % 2 == 0 ? 0 : inverse[j * 36 + c * 7];
    }
    const Delassus W(p);
    for (const Law law : laws) {
        const Vector general = swept(W, law, SweepKernel::any, 5, Vector::Zero(p.rows()));
        const Vector special = swept(W, law, SweepKernel::automatic, 5, Vector::Zero(p.rows()));
        Vector u_general, u_special;
        W.velocity(general, u_general);
        W.velocity(special, u_special);
        EXPECT_LT((u_general - u_special).norm(), 1e-9 * u_general.norm());
    }
}

// What has no kernel of its own among what has: all of it is solved, block by block.
TEST(ContactSweeps, EveryKindOfBlockAmongTheOthers) {
    ConeProblem p = pile<3>({.across = 3, .high = 3, .speed = 0.2}, mixed_cones<3>(0.1));
    const auto refused = [](const ConeProblem& problem) {
        const Delassus W(problem);
        for (const Law law : laws) {
            Vector r = Vector::Zero(problem.rows());
            Goal goal;
            goal.tolerance = 1e-9;
            EXPECT_EQ(gauss_seidel(W, law, {}, goal, r).status, Status::solved);
            EXPECT_LE(judge(W, W.complete(r), law).value, 1e-9);
        }
    };
    refused(p);
    ConeProblem arm = p;  // a lever arm that is not along the normal
    arm.H.value[5] += 0.01;
    refused(arm);
    ConeProblem inertia = p;  // not a sphere's
    std::get<BlockInverseMass>(inertia.only().mass).blocks[3 * 7] *= 1.01;
    refused(inertia);
    ConeProblem infinite = p;
    infinite.cones[0].coefficient[0] = infinity;
    refused(infinite);
    ConeProblem soft = p;  // torques give way
    soft.compliance = Vector::Constant(p.rows(), 0.1 * Delassus(p).inverse_mass(0));
    refused(soft);
}

TEST(WrenchKernel, SameBitsOnAnyNumberOfThreads) {
    const ConeProblem p = pile<3>({.across = 8, .high = 8, .speed = 0.3}, mixed_cones<3>(0.1));
    for (const Law law : laws) {
        for (const Acceleration a : {Acceleration::none, Acceleration::momentum, Acceleration::conjugate}) {
            Vector first;
            for (const int threads : {1, 2, 8}) {
                const Delassus W(p, threads);
                GaussSeidelOptions options;
                options.acceleration = a;
                options.kernel = SweepKernel::automatic;
                options.max_iterations = 25;
                Vector r = Vector::Zero(p.rows());
                Goal goal;
                goal.tolerance = 1e-12;
                gauss_seidel(W, law, options, goal, r);
                if (threads == 1) first = r;
                EXPECT_TRUE(r == first) << threads << " threads";
            }
        }
    }
}

// The associated law's energy falls at every sweep, which only exact minimisers of the blocks guarantee.
TEST(WrenchKernel, EnergyFallsMonotonically) {
    const ConeProblem p = pile<3>({.across = 5, .high = 5, .speed = 0.5, .slope = 20}, mixed_cones<3>(0.1));
    const Delassus W(p);
    Vector r = Vector::Zero(p.rows()), Wr;
    double energy = 0;
    for (int k = 0; k < 60; ++k) {
        r = swept(W, Law::associated, SweepKernel::automatic, 1, r);
        W.apply(r, Wr);
        const double next = 0.5 * r.dot(Wr) + r.dot(W.b());
        EXPECT_LE(next, energy + 1e-14 * std::abs(energy));
        energy = next;
    }
    EXPECT_LT(energy, 0);
}

TEST(WrenchKernel, WholeSolvesReachTheReferee) {
    const auto cones = [](int) { return Cone::wrench(6, 0.4, 0.005, 0.002); };
    const ConeProblem p = pile<3>({.across = 7, .high = 7, .slope = 10}, cones);
    ASSERT_GT(p.blocks(), 600);
    const Delassus W(p);
    for (const Law law : laws) {
        GaussSeidelOptions momentum;
        momentum.acceleration = Acceleration::momentum;
        for (const SolverOptions& solver :
             {SolverOptions(AutoOptions{}), SolverOptions(GaussSeidelOptions{}), SolverOptions(momentum)}) {
            SolveSettings settings;
            settings.law = law;
            settings.goal.tolerance = 1e-8;
            settings.solver = solver;
            ConeSolution solution;
            const SolveReport report = solve(W, settings, solution);
            EXPECT_EQ(report.status, Status::solved) << report.message;
            EXPECT_LE(judge(p, solution, law).value, 1.01e-8);
        }
    }
}
