// Contacts by normal and arms, and masses of rigid bodies, against the same problem with general rows.
#include "drystone/cone/delassus.hpp"
#include "drystone/cone/judge.hpp"
#include "drystone/solve/gauss_seidel.hpp"

#include <gtest/gtest.h>

#include <random>

namespace drystone {
namespace {

/// A chain of rigid bodies, each touching the next and, now and then, something that does not move. `moments`: numbers
/// of inertia per body.
template <int d>
ConeProblem chain(int moments, const std::vector<Cone>& cones) {
    constexpr int bodies = 12, n = body_velocities<d>;
    std::mt19937 engine(7);
    std::normal_distribution<double> normal;
    const auto vector = [&] {
        Vec<d> x;
        for (int k = 0; k < d; ++k) x[k] = normal(engine);
        return x;
    };
    ConeProblem p;
    RigidInverseMass mass;
    for (int j = 0; j < bodies; ++j) {
        mass.mass.push_back(0.5 + std::abs(normal(engine)));
        if (moments == 1) {
            mass.inertia.push_back(0.5 + std::abs(normal(engine)));
        } else {
            Mat<3> A;
            for (double& x : A.reshaped()) x = normal(engine);
            const Mat<3> I = A * A.transpose() + Mat<3>::Identity();
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b <= a; ++b) mass.inertia.push_back(I(a, b));
        }
    }
    p.only() = {n, bodies, mass};
    p.f = Vector(bodies * n);
    for (double& x : p.f) x = normal(engine);
    auto& contacts = contacts_of<d>(p.contacts);
    for (int i = 0; i < 3 * bodies; ++i) {
        ContactRow<d> c;
        c.a = i % bodies;
        c.b = i % 5 == 0 ? -1 : (i * 7 + 1) % bodies;
        if (c.a == c.b) c.b = (c.b + 1) % bodies;
        if (i % 11 == 0) std::swap(c.a, c.b);
        c.normal = vector().normalized();
        c.arm_a = vector();
        c.arm_b = vector();
        contacts.push_back(c);
        const Cone& cone = cones[static_cast<std::size_t>(i) % cones.size()];
        p.cones.push_back(cone);
        p.offset.push_back(p.offset.back() + cone.dim);
    }
    p.w = Vector(p.rows());
    for (double& x : p.w) x = 0.1 * normal(engine);
    return p;
}

template <int d>
void expect_same_operator(const ConeProblem& p) {
    EXPECT_TRUE(find_faults(p).empty());
    ConeProblem general = p;
    make_general(general);
    EXPECT_TRUE(find_faults(general).empty());
    EXPECT_EQ(general.contacts.size(), 0);
    const Delassus W(p), G(general);
    Vector r = Vector::Random(p.rows()), x, y;
    W.apply(r, x);
    G.apply(r, y);
    EXPECT_LT((x - y).norm(), 1e-12 * y.norm());
    EXPECT_LT((W.b() - G.b()).norm(), 1e-12 * G.b().norm());
    W.gather(r, x);
    W.spread(x, y);
    W.apply(r, x);
    EXPECT_LT((x - y).norm(), 1e-12 * y.norm());
    for (Index i = 0; i < p.blocks(); ++i) {
        EXPECT_LT((W.diagonal(i) - G.diagonal(i)).norm(), 1e-12 * G.diagonal(i).norm());
        EXPECT_NEAR(W.inverse_mass(i), G.inverse_mass(i), 1e-12 * G.inverse_mass(i));
        EXPECT_NEAR(W.length(i), G.length(i), 1e-12 * G.length(i));
    }
    const ConeSolution ours = W.complete(r), theirs = G.complete(r);
    EXPECT_LT((ours.v - theirs.v).norm(), 1e-12 * theirs.v.norm());
    EXPECT_LT((ours.u - theirs.u).norm(), 1e-12 * theirs.u.norm());
    for (const Law law : {Law::coulomb, Law::associated}) {
        const Residual a = judge(W, ours, law), b = judge(G, theirs, law);
        EXPECT_NEAR(a.law.mean, b.law.mean, 1e-10 * b.law.mean);
        EXPECT_NEAR(a.law.worst, b.law.worst, 1e-10 * b.law.worst);
        EXPECT_LT(a.momentum, 1e-14);
        // Sweeps know the contacts in both; the frames are those of the rows.
        Vector ra = Vector::Zero(p.rows()), rb = ra, rc = ra;
        GaussSeidelOptions any;
        any.kernel = SweepKernel::any;
        run_sweeps(W, law, {}, 1, ra);
        run_sweeps(G, law, {}, 1, rb);
        EXPECT_GT(ra.norm(), 0);
        EXPECT_LT((ra - rb).norm(), 1e-9 * ra.norm());
        Goal goal;
        goal.tolerance = 1e-10;
        EXPECT_EQ(gauss_seidel(W, law, {}, goal, ra).status, Status::solved);
        EXPECT_LT(judge(G, G.complete(ra), law).value, 2e-10);
        EXPECT_EQ(gauss_seidel(W, law, any, goal, rc).status, Status::solved);
    }
}

TEST(ContactRows, AreTheRowsInSpace) {
    for (const int moments : {1, 6}) {
        expect_same_operator<3>(chain<3>(moments, {Cone::second_order(3, 0.4)}));
        expect_same_operator<3>(
            chain<3>(moments, {Cone::ray(), Cone::second_order(3, 0.4), Cone::wrench(5, 0.4, 0.1, 0),
                               Cone::wrench(6, 0.4, 0.1, 0.05)}));
    }
}

TEST(ContactRows, AreTheRowsInThePlane) {
    expect_same_operator<2>(chain<2>(1, {Cone::second_order(2, 0.4)}));
    expect_same_operator<2>(
        chain<2>(1, {Cone::ray(), Cone::second_order(2, 0.4), Cone::wrench(3, 0.4, 0.1, 0)}));
}

TEST(ContactRows, GeneralRowsComeOnTop) {
    ConeProblem p = chain<3>(6, {Cone::second_order(3, 0.4)});
    // A second species, of which some contacts have rows, too: a wall that yields along one direction.
    std::vector<double> inverse(36, 0.0);
    inverse[0] = 0.3;
    p.species.push_back({6, 1, BlockInverseMass{inverse}});
    p.f.conservativeResize(p.dofs());
    p.f.tail<6>().setZero();
    p.H.start.assign(static_cast<std::size_t>(p.blocks()) + 1, 0);
    p.H.value_start.assign(static_cast<std::size_t>(p.blocks()) + 1, 0);
    for (Index i = 0; i < p.blocks(); ++i) {
        if (i % 4 == 0) {
            p.H.body.push_back(12);
            for (int k = 0; k < 18; ++k) p.H.value.push_back(k % 6 == 0 ? 1 + k : 0.0);
        }
        p.H.start[i + 1] = static_cast<Index>(p.H.body.size());
        p.H.value_start[i + 1] = static_cast<std::int64_t>(p.H.value.size());
    }
    expect_same_operator<3>(p);
}

TEST(ContactRows, FaultsAreTold) {
    const ConeProblem good = chain<3>(6, {Cone::second_order(3, 0.4)});
    const auto told = [&](auto&& change) {
        ConeProblem p = good;
        change(p);
        return !find_faults(p).empty();
    };
    EXPECT_FALSE(told([](ConeProblem&) {}));
    EXPECT_TRUE(told([](ConeProblem& p) { p.contacts.space[3].a = 99; }));
    EXPECT_TRUE(told([](ConeProblem& p) { p.contacts.space[3].a = -2; }));
    EXPECT_TRUE(told([](ConeProblem& p) { p.contacts.space[3].a = p.contacts.space[3].b = 4; }));
    EXPECT_TRUE(told([](ConeProblem& p) { p.contacts.space[3].arm_a[1] = NAN; }));
    EXPECT_TRUE(told([](ConeProblem& p) { p.contacts.space[3].normal *= 2; }));
    EXPECT_TRUE(told([](ConeProblem& p) { p.contacts.plane.resize(1); }));
    EXPECT_TRUE(told([](ConeProblem& p) { p.contacts.space.resize(100); }));
    EXPECT_TRUE(told([](ConeProblem& p) { p.cones[3] = Cone::second_order(4, 0.1); }));
    EXPECT_TRUE(told([](ConeProblem& p) { std::get<RigidInverseMass>(p.only().mass).mass.pop_back(); }));
    EXPECT_TRUE(told([](ConeProblem& p) { std::get<RigidInverseMass>(p.only().mass).mass[2] = -1; }));
    EXPECT_TRUE(told([](ConeProblem& p) { std::get<RigidInverseMass>(p.only().mass).inertia[2] = NAN; }));
    EXPECT_FALSE(numbers_in_range(
        [&] {
            ConeProblem p = good;
            std::get<RigidInverseMass>(p.only().mass).mass[2] = 1e-200;
            return p;
        }(),
        2));
    EXPECT_TRUE(numbers_in_range(good, 2));
}

}  // namespace
}  // namespace drystone
