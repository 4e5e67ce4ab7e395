#include "drystone/cone/judge.hpp"

#include "solve/sample_problems.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cmath>

using namespace drystone;
using drystone::testing::random_bodies;

namespace {

ConeProblem mixed(unsigned seed) {
    return random_bodies({.bodies = 10, .contacts = 20, .seed = seed}, [](int k) {
        return k % 4 == 0   ? Cone::wrench(6, 0.5, 0.1, 0.05)
               : k % 4 == 1 ? Cone::ray()
                            : Cone::second_order(3, 0.4);
    });
}

/// Impulses that are not a solution, the same in all tests.
Vector some_impulses(const ConeProblem& p) {
    Vector r(p.rows());
    for (Index k = 0; k < p.rows(); ++k) r[k] = std::sin(1.0 + k);
    return r;
}

double value(const ConeProblem& p, const Vector& r, Law law) {
    const Delassus W(p);
    return judge(W, W.complete(r), law).value;
}

}  // namespace

TEST(Delassus, MatrixFreeAndExplicitAgreeToRounding) {
    const ConeProblem p = mixed(3);
    const Delassus W(p);
    const BlockSparse& A = W.matrix();
    const Vector r = some_impulses(p);
    Vector free, formed = Vector::Zero(p.rows());
    W.apply(r, free);
    for (Index i = 0; i < p.blocks(); ++i) {
        for (Index k = A.start[i]; k < A.start[i + 1]; ++k) {
            const Index j = A.column[k];
            const Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> block(
                A.value.data() + A.value_start[k], p.cones[i].dim, p.cones[j].dim);
            formed.segment(p.offset[i], p.cones[i].dim) += block * r.segment(p.offset[j], p.cones[j].dim);
            if (j == i) {
                EXPECT_LT((block - W.diagonal(i)).norm(), 1e-14 * block.norm());
                EXPECT_LT((block - block.transpose()).norm(), 1e-14 * block.norm());
            }
        }
    }
    EXPECT_LT((formed - free).norm(), 1e-14 * free.norm());
    // u = H v + w from the velocities is the same u.
    const ConeSolution s = W.complete(r);
    EXPECT_LT((s.u - (free + W.b())).norm(), 1e-13 * s.u.norm());
    EXPECT_LT((s.v - W.velocity_by_momentum(r)).norm(), 1e-13 * s.v.norm());
}

TEST(Delassus, CoupledMassesGiveTheSameOperatorAsSeparateOnes) {
    const ConeProblem p = random_bodies({.bodies = 6, .contacts = 12, .seed = 5},
                                        [](int) { return Cone::second_order(3, 0.4); });
    ConeProblem sparse = p, inverse = p;
    const auto& blocks = std::get<BlockInverseMass>(p.only().mass).blocks;
    std::vector<Eigen::Triplet<double>> M, W;
    for (Index j = 0; j < p.only().count; ++j) {
        Eigen::Matrix<double, 6, 6> B = Eigen::Map<const Eigen::Matrix<double, 6, 6>>(blocks.data() + 36 * j);
        if (B.isZero(0.0))
            B = 1e-14 * Eigen::Matrix<double, 6, 6>::Identity();  // the floor: a mass that hardly moves
        const Eigen::Matrix<double, 6, 6> mass = B.inverse();
        for (int a = 0; a < 6; ++a) {
            for (int c = 0; c < 6; ++c) {
                M.emplace_back(6 * j + a, 6 * j + c, 0.5 * (mass(a, c) + mass(c, a)));
                W.emplace_back(6 * j + a, 6 * j + c, B(a, c));
            }
        }
    }
    SparseMatrix A(p.dofs(), p.dofs()), B(p.dofs(), p.dofs());
    A.setFromTriplets(M.begin(), M.end());
    B.setFromTriplets(W.begin(), W.end());
    sparse.only().mass = SparseMass{A};
    inverse.only().mass = SparseInverseMass{B};
    const Vector r = some_impulses(p);
    Vector expected, got;
    Delassus(p).velocity(r, expected);
    Delassus(sparse).velocity(r, got);
    EXPECT_LT((got - expected).norm(), 1e-10 * expected.norm());
    Delassus(inverse).velocity(r, got);
    EXPECT_LT((got - expected).norm(), 1e-10 * expected.norm());
}

// The promise of the referee: rescaling masses, lengths, time or the number of contacts changes nothing.
TEST(Judge, DoesNotChangeWithUnitsNorWithTheNumberOfContacts) {
    for (Law law : {Law::coulomb, Law::associated}) {
        const ConeProblem p = mixed(7);
        const Vector r = some_impulses(p);
        const double expected = value(p, r, law);
        EXPECT_GT(expected, 1e-3);
        {  // masses times 1000: impulses too
            ConeProblem q = p;
            for (double& x : std::get<BlockInverseMass>(q.only().mass).blocks) x /= 1000;
            q.f *= 1000;
            EXPECT_NEAR(value(q, 1000 * r, law), expected, 1e-12 * expected);
        }
        {  // time step 1/50: velocities and impulses times 50
            ConeProblem q = p;
            q.f *= 50;
            q.w *= 50;
            EXPECT_NEAR(value(q, 50 * r, law), expected, 1e-12 * expected);
        }
        {
            // Lengths in millimetres: linear velocities and arms times 1000, spins as they are, torques times 1e6,
            // impulses times 1000.
            const double L = 1000;
            ConeProblem q = p;
            Vector rq = r;
            for (Index i = 0; i < q.blocks(); ++i) {
                for (int a = 0; a < q.cones[i].dim; ++a) {
                    const double unit = is_torque(q.cones[i], a) ? 1 : L;  // of u
                    rq[q.offset[i] + a] *= is_torque(q.cones[i], a) ? L * L : L;
                    q.w[q.offset[i] + a] *= unit;
                    for (Index k = 0; k < q.H.start[i + 1] - q.H.start[i]; ++k) {
                        for (int c = 0; c < 6; ++c) {
                            double& h = q.H.value[q.H.value_start[i] + (k * q.cones[i].dim + a) * 6 + c];
                            h *= unit / (c < 3 ? L : 1);
                        }
                    }
                }
                if (q.cones[i].kind == ConeKind::wrench) {
                    q.cones[i].coefficient[1] *= L;
                    q.cones[i].coefficient[2] *= L;
                }
            }
            for (Index j = 0; j < q.only().count; ++j) {
                for (int a = 0; a < 6; ++a) {
                    q.f[6 * j + a] *= a < 3 ? L : L * L;
                    for (int c = 0; c < 6; ++c) {
                        std::get<BlockInverseMass>(q.only().mass).blocks[36 * j + 6 * a + c] /=
                            (a < 3 ? 1 : L) * (c < 3 ? 1 : L);
                    }
                }
            }
            EXPECT_NEAR(value(q, rq, law), expected, 1e-11 * expected);
        }
        {  // the same scene twice
            ConeProblem q = p;
            q.only().count *= 2;
            auto& blocks = std::get<BlockInverseMass>(q.only().mass).blocks;
            const std::vector<double> once = blocks;
            blocks.insert(blocks.end(), once.begin(), once.end());
            q.f = Vector(q.dofs());
            q.f << p.f, p.f;
            for (Index i = 0; i < p.blocks(); ++i) {
                q.add_block(p.cones[i]);
                const std::size_t size = static_cast<std::size_t>(p.cones[i].dim) * 6;
                for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
                    q.add_entry(p.H.body[k] + p.only().count,
                                {p.H.value.data() + p.H.value_start[i] + (k - p.H.start[i]) * size, size});
                }
            }
            q.w = Vector(q.rows());
            q.w << p.w, p.w;
            Vector rq(q.rows());
            rq << r, r;
            EXPECT_NEAR(value(q, rq, law), expected, 1e-12 * expected);
        }
    }
}

TEST(Judge, DoingNothingScoresOneAtMostAndOpenContactsDoNotSetTheScale) {
    const ConeProblem p = mixed(11);
    const double nothing = value(p, Vector::Zero(p.rows()), Law::coulomb);
    EXPECT_LE(nothing, 1);
    EXPECT_GT(nothing, 0.1);
    ConeProblem q = p;  // one more contact, far away: a wide gap is a large w_N
    q.add_block(Cone::second_order(3, 0.5));
    const std::vector<double> rows = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    q.add_entry(0, rows);
    q.w.conservativeResize(q.rows());
    q.w.tail(3) << 1e9, 0, 0;
    EXPECT_NEAR(value(q, Vector::Zero(q.rows()), Law::coulomb), nothing, 1e-14);
}

TEST(Judge, SeesVelocitiesThatDoNotBelongToTheImpulses) {
    const ConeProblem p = mixed(13);
    const Delassus W(p);
    ConeSolution s = W.complete(Vector::Zero(p.rows()));
    EXPECT_LT(judge(W, s, Law::coulomb).momentum, 1e-14);
    s.v[3] += 0.1;
    EXPECT_GT(judge(W, s, Law::coulomb).momentum, 1e-3);
    s = W.complete(Vector::Zero(p.rows()));
    s.u[5] += 0.1;
    EXPECT_GT(judge(W, s, Law::coulomb).momentum, 1e-3);
    s.r[0] = std::nan("");
    EXPECT_TRUE(std::isnan(judge(W, s, Law::coulomb).value));
}

namespace {

/// Balls that fall on a floor, each by itself: masses, and speeds that the floor must stop.
ConeProblem falling(const std::vector<std::pair<double, double>>& balls) {
    ConeProblem p;
    p.only().dim = 1;
    p.only().count = static_cast<Index>(balls.size());
    p.f.resize(p.only().count);
    p.w = Vector::Zero(p.only().count);
    BlockInverseMass inverse;
    const double one = 1;
    for (Index j = 0; j < p.only().count; ++j) {
        inverse.blocks.push_back(1 / balls[j].first);
        p.f[j] = -balls[j].first * balls[j].second;
        p.add_block(Cone::ray());
        p.add_entry(j, std::span(&one, 1));
    }
    p.only().mass = std::move(inverse);
    return p;
}

Residual judged(const ConeProblem& p, const Vector& r) {
    const Delassus W(p);
    return judge(W, W.complete(r), Law::coulomb);
}

}  // namespace

TEST(Judge, NoBodyHidesFromItBehindOthers) {
    // The first is stopped, the second falls through the floor: heavy beside light, fast beside slow, and one among
    // many.
    for (const std::pair<double, double>& first :
         {std::pair(1e9, 1.0), std::pair(1.0, 1e4), std::pair(1e6, 1e5)}) {
        const Residual r =
            judged(falling({first, {1e-3, 1.0}}), Vector(Eigen::Vector2d(first.first * first.second, 0.0)));
        EXPECT_DOUBLE_EQ(r.law.worst, 1);
        EXPECT_DOUBLE_EQ(r.law.velocity, 1);
        EXPECT_GE(r.value, 0.05);
        EXPECT_LT(r.law.mean, 0.04);                     // what the energy of the whole says
        EXPECT_NEAR(r.law.local, std::sqrt(0.5), 1e-6);  // one block of two is as wrong as can be
        EXPECT_DOUBLE_EQ(r.law.value(), r.law.local / 2);
    }
    std::vector<std::pair<double, double>> many(100'000, {1.0, 1.0});
    Vector impulses = Vector::Ones(100'000);
    impulses[500] = 0;
    EXPECT_GE(judged(falling(many), impulses).value, 0.05);
}

TEST(Judge, WhatFallsWithoutAnyBlockHavingToStopItHasAVelocityAtStake) {
    // A billionth of a velocity is all that the blocks have to stop: nothing done about it is all wrong, unless what
    // the bodies do besides is known.
    ConeProblem p = falling({{1.0, 1e-9}, {1.0, 1e-9}});
    const Vector nothing = Vector::Zero(2);
    EXPECT_DOUBLE_EQ(judged(p, nothing).law.worst, 1);
    p.only().at_stake = 0.01;
    EXPECT_NEAR(judged(p, nothing).law.worst, 1e-7, 1e-12);
    EXPECT_NEAR(judged(p, nothing).law.local, 1e-7, 1e-12);
    EXPECT_DOUBLE_EQ(judged(p, nothing).law.velocity, 1e-9);
    // Less than what there is changes nothing.
    p.only().at_stake = 1e-10;
    EXPECT_DOUBLE_EQ(judged(p, nothing).law.worst, 1);
    for (const double wrong : {-1.0, HUGE_VAL, std::nan("")}) {
        p.only().at_stake = wrong;
        EXPECT_EQ(find_faults(p).size(), 1U) << wrong;
    }
}

TEST(Judge, PullsOfCohesionAreNotAtStake) {
    // As many times its weight as one likes: glue does not change by how much a fall is wrong.
    for (const double glue : {0.0, 1.0, 1e3, 1e9}) {
        ConeProblem p = falling({{1.0, 0.01}, {1.0, 0.01}});
        p.f.array() -= glue;
        p.pull = Vector::Constant(2, glue);
        const Residual r = judged(p, Vector(Eigen::Vector2d(0.01 + glue, 0.009 + glue)));
        EXPECT_NEAR(r.law.worst, 0.1, 1e-7 * (1 + 1e-6 * glue)) << glue;
        EXPECT_NEAR(r.law.velocity, 0.001, 1e-9 * (1 + 1e-6 * glue)) << glue;
    }
}

TEST(Judge, SlidingIsNotAtStake) {
    // At 0.01 m/s into the floor and 1 to 10^6 m/s along it: the impulse of a smooth floor, and none.
    for (const double speed : {1.0, 1e3, 1e6}) {
        ConeProblem p;
        p.only().dim = 2;
        p.only().count = 1;
        p.f = Vector(Eigen::Vector2d(-0.01, speed));
        p.w = Vector::Zero(2);
        p.only().mass = BlockInverseMass{{1, 0, 0, 1}};
        p.add_block(Cone::second_order(2, 0.5));
        p.add_entry(0, std::vector<double>{1, 0, 0, 1});
        EXPECT_LT(judged(p, Vector(Eigen::Vector2d(0.01, -0.005))).value, 1e-9) << speed;
        EXPECT_GT(judged(p, Vector(Eigen::Vector2d(0.0, 0.0))).value, 0.05) << speed;
        EXPECT_GT(judged(p, Vector(Eigen::Vector2d(0.01, 0.0))).value, 0.01) << speed;
    }
}

TEST(Judge, RoundingIsNoError) {
    // Two that drift together at 100 m/s have a relative velocity of rounding; a motor that holds against a wall, a sum
    // of rounding.
    ConeProblem p;
    p.only().dim = 1;
    p.only().count = 2;
    p.f = Vector(Eigen::Vector2d(100.0, 100.0 + 2e-14));
    p.w = Vector::Zero(1);
    p.only().mass = BlockInverseMass{{1, 1}};
    const double one = 1, minus = -1;
    p.add_block(Cone::ray());
    p.add_entry(0, std::span(&one, 1));
    p.add_entry(1, std::span(&minus, 1));
    EXPECT_EQ(judged(p, Vector::Zero(1)).value, 0);
    p.f[1] = 100.0 + 1e-9;
    EXPECT_GE(judged(p, Vector::Zero(1)).value, 0.05);
}

TEST(Judge, NumbersThatUnderOrOverflowAreNoSolution) {
    for (const double mass : {1e-160, 1e-300, 1e200})
        EXPECT_GE(judged(falling({{mass, 1.0}, {mass, 1.0}}), Vector::Zero(2)).value, 0.05) << mass;
    // Impulses that have run away: whatever they are, not a small residual.
    for (const double size : {1e152, 1e160, 1e300})
        EXPECT_FALSE(judged(falling({{1.0, 1.0}, {1.0, 1.0}}), Vector::Constant(2, size)).value < 0.05)
            << size;
}

TEST(Problem, FaultsAreNamed) {
    ConeProblem p = mixed(1);
    EXPECT_TRUE(find_faults(p).empty());
    p.w[2] = std::nan("");
    p.f.conservativeResize(3);
    p.H.body[0] = 99;
    p.cones[2].coefficient[0] = -1;
    std::get<BlockInverseMass>(p.only().mass).blocks[1] += 1;
    const auto faults = find_faults(p);
    EXPECT_EQ(faults.size(), 5U);
    ConeProblem q = mixed(1);  // two tiles of one colour that share a body
    q.tiling.order.resize(q.blocks());
    for (Index i = 0; i < q.blocks(); ++i) q.tiling.order[i] = i;
    q.tiling.tile_start = {0, 10, q.blocks()};
    q.tiling.colour_start = {0, 2};
    EXPECT_FALSE(find_faults(q).empty());
    q.tiling.colour_start = {0, 1, 2};
    EXPECT_TRUE(find_faults(q).empty());
}
