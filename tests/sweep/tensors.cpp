// Blocks that are tensors, points, and rigid bodies among them, against the same problem with general rows.
#include "drystone/cone/delassus.hpp"
#include "drystone/cone/judge.hpp"
#include "drystone/solve/gauss_seidel.hpp"
#include "drystone/solve/projected_gradient.hpp"
#include "drystone/sweep/contact_sweeps.hpp"
#include "drystone/sweep/tiling.hpp"
#include "support/plane_and_space.hpp"

#include <gtest/gtest.h>

#include <random>

namespace drystone {
namespace {

template <class T>
class Tensors : public ::testing::Test {};
TYPED_TEST_SUITE(Tensors, testing::PlaneAndSpace);

TYPED_TEST(Tensors, AreVectorsWithTheirScalarProduct) {
    constexpr int d = TypeParam::value;
    for (int k = 0; k < 20; ++k) {
        const Mat<d> L = Mat<d>::Random();
        const Tensor<d> x = Tensor<d>::Random();
        Tensor<d> y;
        tensor_of(L, y.data());
        const Mat<d> strain = 0.5 * (L + L.transpose()), stress = 2 * half_matrix<d>(x.data());
        EXPECT_NEAR(x.dot(y), 0.5 * stress.cwiseProduct(strain).sum(), 1e-15);
        EXPECT_NEAR(y[0], L.trace() / std::sqrt(2.0 * d), 1e-15);
        Tensor<d> back;
        tensor_of(stress, back.data());
        EXPECT_LT((back - x).norm(), 1e-15);
        const Vec<d> v = Vec<d>::Random(), g = Vec<d>::Random();
        EXPECT_NEAR(strain_squared(v, g), (strain_rows<d>(g) * v).squaredNorm(), 1e-15);
    }
}

/// Points on a lattice, a tensor at each with the gradients of its neighbours, and rigid bodies that touch some of the
/// points.
template <int d>
ConeProblem lattice(const std::vector<Cone>& cones, int bodies) {
    constexpr int n = 4;
    std::mt19937 engine(11);
    std::normal_distribution<double> normal;
    const auto vector = [&] {
        Vec<d> x;
        for (int k = 0; k < d; ++k) x[k] = normal(engine);
        return x;
    };
    ConeProblem p;
    Index points = 1;
    for (int k = 0; k < d; ++k) points *= n;
    PointInverseMass light;
    for (Index j = 0; j < points; ++j) light.mass.push_back(std::exp(normal(engine)));
    p.species.push_back({d, points, light});
    if (bodies > 0) {
        RigidInverseMass heavy;
        for (int j = 0; j < bodies; ++j) {
            heavy.mass.push_back(0.3);
            heavy.inertia.push_back(0.8);
        }
        p.species.push_back({body_velocities<d>, bodies, heavy});
    }
    const auto add = [&](const Cone& cone) {
        p.cones.push_back(cone);
        p.offset.push_back(p.offset.back() + cone.dim);
    };
    for (int i = 0; i < 4 * bodies; ++i) {
        ContactRow<d> c;
        c.a = (i * 5) % points;
        c.b = points + i % bodies;
        if (i % 3 == 0) std::swap(c.a, c.b);
        c.normal = vector().normalized();
        c.arm_a = c.a < points ? Vec<d>::Zero() : vector();
        c.arm_b = c.b < points ? Vec<d>::Zero() : vector();
        contacts_of<d>(p.contacts).push_back(c);
        add(Cone::second_order(d, 0.4));
    }
    p.tensors.space = d;
    const auto number = [&](const std::array<int, 3>& x) { return x[0] + n * (x[1] + n * x[2]); };
    for (Index i = 0; i < points; ++i) {
        const std::array<int, 3> at = {i % n, i / n % n, i / (n * n)};
        for (int k = 0; k < (d == 2 ? 9 : 27); ++k) {
            std::array<int, 3> to = {at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1,
                                     d == 2 ? 0 : at[2] + k / 9 - 1};
            bool inside = true;
            for (int c = 0; c < d; ++c) inside = inside && to[c] >= 0 && to[c] < n;
            if (!inside) continue;
            p.tensors.body.push_back(number(to));
            const Vec<d> g = vector();
            p.tensors.gradient.insert(p.tensors.gradient.end(), g.data(), g.data() + d);
        }
        p.tensors.start.push_back(static_cast<Index>(p.tensors.body.size()));
        add(cones[static_cast<std::size_t>(i) % cones.size()]);
    }
    p.f = Vector(p.dofs());
    for (double& x : p.f) x = normal(engine);
    p.w = Vector(p.rows());
    for (double& x : p.w) x = 0.1 * normal(engine);
    return p;
}

template <int d>
std::vector<Cone> cones() {
    Cone dilating = Cone::second_order(tensor_size<d>, 0.3);
    dilating.dilatancy = 0.5;
    return {Cone::second_order(tensor_size<d>, 0.5), Cone::truncated(tensor_size<d>, 0.2, 0.1), dilating,
            Cone::second_order(tensor_size<d>, 0.0)};
}

TYPED_TEST(Tensors, AreWhatTheirRowsSay) {
    constexpr int d = TypeParam::value;
    const ConeProblem p = lattice<d>(cones<d>(), 3);
    ASSERT_EQ(find_faults(p), std::vector<std::string>{});
    EXPECT_EQ(p.space(), d);
    ConeProblem general = p;
    make_general(general);
    ASSERT_EQ(find_faults(general), std::vector<std::string>{});
    const Delassus W(p), V(general);
    EXPECT_LT((W.b() - V.b()).norm(), 1e-13 * W.b().norm());
    for (Index i = 0; i < p.blocks(); ++i) {
        EXPECT_NEAR(W.inverse_mass(i), V.inverse_mass(i), 1e-13 * V.inverse_mass(i));
        EXPECT_LT((W.diagonal(i) - V.diagonal(i)).norm(), 1e-13 * V.diagonal(i).norm());
    }
    const Vector r = Vector::Random(p.rows());
    Vector u, v;
    W.velocity(r, u);
    V.velocity(r, v);
    EXPECT_LT((u - v).norm(), 1e-13 * v.norm());
    const ConeSolution mine = W.complete(r), theirs = V.complete(r);
    EXPECT_LT((mine.v - theirs.v).norm(), 1e-13 * theirs.v.norm());
    const Residual a = judge(W, mine, Law::coulomb), b = judge(V, theirs, Law::coulomb);
    EXPECT_NEAR(a.value, b.value, 1e-12 * b.value);
    EXPECT_NEAR(a.law.worst, b.law.worst, 1e-12 * b.law.worst);
    EXPECT_LT(a.momentum, 1e-14);
}

TYPED_TEST(Tensors, AreSweptAsGeneralRowsAre) {
    constexpr int d = TypeParam::value;
    const ConeProblem p = lattice<d>(cones<d>(), 3);
    ConeProblem general = p;
    const Delassus W(p);
    make_general(general);
    const Delassus V(general);
    for (const Law law : {Law::coulomb, Law::associated}) {
        GaussSeidelOptions options;
        Vector mine = Vector::Zero(p.rows()), theirs = mine;
        run_sweeps(W, law, options, 7, mine);
        options.kernel = SweepKernel::any;
        run_sweeps(V, law, options, 7, theirs);
        EXPECT_LT((mine - theirs).norm(), 1e-9 * theirs.norm()) << static_cast<int>(law);
    }
}

/// Of each colour its tiles, of each tile its blocks, the last first.
Tiling backward(const Tiling& there) {
    Tiling back;
    for (Index colour = there.colours(); colour-- > 0;) {
        for (Index t = there.colour_start[colour]; t < there.colour_start[colour + 1]; ++t) {
            for (Index k = there.tile_start[t + 1]; k-- > there.tile_start[t];)
                back.order.push_back(there.order[k]);
            back.tile_start.push_back(static_cast<Index>(back.order.size()));
        }
        back.colour_start.push_back(back.tiles());
    }
    return back;
}

void expect_swept_backward(const ConeProblem& p, const Tiling& tiling) {
    const Delassus W(p);
    const auto swept = [&](const Tiling& order, bool opposite) {
        ContactSweeps kernel;
        const Vector from = Vector::Zero(p.rows());
        kernel.fill(W, Law::coulomb, {}, order, from);
        kernel.backward = opposite;
        Sleep awake;
        ScratchArray<SweepSums> partial(&W.rooms());
        sweep(kernel, order, 1, nullptr, nullptr, awake, nullptr, partial);
        Vector r(p.rows());
        kernel.store(r);
        return r;
    };
    EXPECT_EQ(swept(tiling, true), swept(backward(tiling), false));
    EXPECT_NE(swept(tiling, true), swept(tiling, false));
}

TYPED_TEST(Tensors, AreSweptBackwardInTheOppositeOrder) {
    constexpr int d = TypeParam::value;
    const ConeProblem sand = lattice<d>(cones<d>(), 0);
    const Tiling tiles = tile_contact_graph(Delassus(sand), 2);
    ASSERT_GT(tiles.colours(), 1);
    ASSERT_GT(tiles.tiles(), tiles.colours());
    expect_swept_backward(sand, tiles);
    // With bodies: all contacts, then all tensors.
    const ConeProblem mixed = lattice<d>(cones<d>(), 3);
    Tiling kinds;
    for (Index i = 0; i < mixed.blocks(); ++i) kinds.order.push_back(i);
    const auto contacts = static_cast<Index>(mixed.contacts.size());
    kinds.tile_start = {0, contacts, mixed.blocks()};
    kinds.colour_start = {0, 1, 2};
    expect_swept_backward(mixed, kinds);
}

TYPED_TEST(Tensors, AreSolvedByEverySolverAlike) {
    constexpr int d = TypeParam::value;
    const ConeProblem p = lattice<d>({Cone::second_order(tensor_size<d>, 0.5)}, 2);
    const Delassus W(p);
    Goal goal;
    goal.tolerance = 1e-8;
    ConeSolution by_sweeps;
    for (const Law law : {Law::associated, Law::coulomb}) {
        Vector r = Vector::Zero(p.rows());
        GaussSeidelOptions sweeps;
        sweeps.acceleration = Acceleration::momentum;
        EXPECT_EQ(gauss_seidel(W, law, sweeps, goal, r).status, Status::solved);
        const ConeSolution a = W.complete(r);
        EXPECT_LT(judge(W, a, law).value, 2e-8);
        r.setZero();
        const SolveReport report = projected_gradient(W, law, {}, goal, r);
        EXPECT_EQ(report.status, Status::solved);
        if (law == Law::associated) {
            EXPECT_LT((W.complete(r).v - a.v).norm(), 1e-5 * a.v.norm());
        }
    }
}

}  // namespace
}  // namespace drystone
