// The operator with compliance, the faults of compliance and the referee's view of it.
#include "drystone/cone/judge.hpp"
#include "solve/compliant_problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace drystone;
using namespace drystone::testing;

namespace {

ConeProblem sample() {
    ConeProblem p = random_bodies({.bodies = 5, .contacts = 9, .seed = 4}, [](int k) {
        return k % 3 == 0   ? Cone::wrench(6, 0.5, 0.2, 0.1)
               : k % 3 == 1 ? Cone::second_order(3, 0.3)
                            : Cone::ray();
    });
    p.compliance = random_compliance(p, 3, 1e-2, 10);
    p.compliance[2] = 0;
    return p;
}

Vector some_impulses(const ConeProblem& p) {
    Vector r(p.rows());
    for (Index k = 0; k < p.rows(); ++k) r[k] = std::sin(1.0 + 3.7 * k);
    return r;
}

/// The problem with its inverse mass as a sparse matrix.
ConeProblem with_sparse_inverse(const ConeProblem& p) {
    ConeProblem out = p;
    const int m = p.only().dim;
    const auto& blocks = std::get<BlockInverseMass>(p.only().mass).blocks;
    std::vector<Eigen::Triplet<double>> entries;
    for (Index j = 0; j < p.dofs(); ++j) {
        for (int c = 0; c < m; ++c)
            entries.emplace_back(j, j / m * m + c, blocks[static_cast<std::size_t>(j) * m + c]);
    }
    SparseMatrix A(p.dofs(), p.dofs());
    A.setFromTriplets(entries.begin(), entries.end());
    out.only().mass = SparseInverseMass{A};
    return out;
}

}  // namespace

TEST(Compliance, IsInAllThatTheOperatorSays) {
    const ConeProblem bodies = sample();
    for (const ConeProblem& p : {bodies, with_sparse_inverse(bodies)}) {
        ConeProblem rigid = p;
        rigid.compliance.resize(0);
        const Delassus W(p), R(rigid);
        const Vector r = some_impulses(p), Cr = p.compliance.cwiseProduct(r);
        Vector soft, hard;
        W.apply(r, soft);
        R.apply(r, hard);
        const double size = soft.norm();
        EXPECT_LT((soft - hard - Cr).norm(), 1e-14 * size);
        W.velocity(r, soft);
        EXPECT_LT((soft - hard - Cr - W.b()).norm(), 1e-14 * size);
        EXPECT_EQ((W.b() - R.b()).norm(), 0);
        const Eigen::MatrixXd A = dense(W), B = dense(R);
        EXPECT_LT((A - B - Eigen::MatrixXd(p.compliance.asDiagonal())).norm(), 1e-14 * A.norm());
        for (Index i = 0; i < p.blocks(); ++i) {
            const int d = p.cones[i].dim;
            EXPECT_LT((W.diagonal(i) - A.block(p.offset[i], p.offset[i], d, d)).norm(), 1e-13 * A.norm());
            const double mean = W.diagonal(i).diagonal().head(std::min(d, 3)).mean();
            EXPECT_NEAR(W.inverse_mass(i), mean, 1e-14 * mean);
        }
        const ConeSolution s = W.complete(r), t = R.complete(r);
        EXPECT_EQ((s.v - t.v).norm(), 0);  // compliance is between the bodies, not in their motion
        EXPECT_LT((s.u - soft).norm(), 1e-13 * size);
    }
}

TEST(Compliance, OfZeroIsRigid) {
    ConeProblem rigid = sample();
    rigid.compliance.resize(0);
    ConeProblem zero = rigid;
    zero.compliance = Vector::Zero(rigid.rows());
    const Delassus W(zero), R(rigid);
    EXPECT_FALSE(R.compliant());
    EXPECT_TRUE(find_faults(zero).empty());
    EXPECT_EQ((dense(W) - dense(R)).norm(), 0);
}

TEST(Compliance, FaultsAreNamed) {
    const ConeProblem good = sample();
    EXPECT_TRUE(find_faults(good).empty());
    const auto fault = [&](const std::function<void(Vector&)>& spoil) {
        ConeProblem p = good;
        spoil(p.compliance);
        const std::vector<std::string> faults = find_faults(p);
        return faults.size() == 1 && faults[0].rfind("compliance", 0) == 0;
    };
    EXPECT_TRUE(fault([](Vector& c) { c.conservativeResize(c.size() - 1); }));
    EXPECT_TRUE(fault([](Vector& c) { c[1] = -1e-9; }));
    EXPECT_TRUE(fault([](Vector& c) { c[1] = infinity; }));
    EXPECT_TRUE(fault([](Vector& c) { c[1] = std::nan(""); }));
}

// One contact: b = -2, W = 1/2, C = 3/2, so r = 1 and the body moves at -1.5 into the contact that yields.
TEST(Compliance, TheRefereeKnowsIt) {
    ConeProblem p;
    p.only().dim = 1;
    p.only().count = 1;
    p.only().mass = BlockInverseMass{{0.5}};
    p.f = vector_of({-4});
    p.w = vector_of({0});
    p.compliance = vector_of({1.5});
    p.add_block(Cone::ray());
    p.add_entry(0, std::array{1.0});
    const ConeSolution exact = {vector_of({1}), vector_of({0}), vector_of({-1.5})};
    for (Law law : {Law::coulomb, Law::associated}) {
        EXPECT_EQ(judge(p, exact, law).value, 0);
        ConeSolution wrong = exact;
        wrong.u[0] = -1.5;  // H v + w alone
        EXPECT_GT(judge(p, wrong, law).momentum, 0.1);
        EXPECT_GT(judge(p, wrong, law).law.mean, 0.1);
        wrong = Delassus(p).complete(vector_of({4}));  // the rigid answer
        EXPECT_LT(judge(p, wrong, law).momentum, 1e-15);
        EXPECT_GT(judge(p, wrong, law).law.mean, 0.1);
    }
}

// The operator of a frozen shift has an admissible u of its own, and the referee judges that one.
TEST(Compliance, AFrozenShiftIsPartOfTheVelocity) {
    const ConeProblem p = sample();
    const Delassus W(p);
    const Vector s = Vector::LinSpaced(p.blocks(), 0.1, 0.9), r = some_impulses(p);
    const Delassus shifted = W.with_frozen_shift(s), twice = shifted.with_frozen_shift(s);
    Vector u;
    shifted.velocity(r, u);
    EXPECT_LT((shifted.complete(r).u - u).norm(), 1e-13 * u.norm());
    EXPECT_LT(judge(shifted, shifted.complete(r), Law::associated).momentum, 1e-14);
    EXPECT_GT(judge(shifted, W.complete(r), Law::associated).momentum, 1e-3);
    twice.velocity(r, u);
    EXPECT_LT((twice.complete(r).u - u).norm(), 1e-13 * u.norm());
}
