// What must hold for distances of smooth shapes whatever the shapes: symmetry, invariance, the gap's derivative, closed
// forms, degenerate placements; and the distance against a search over normals that knows support functions only.
#include "collide/smooth_shapes.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

using namespace reference;

constexpr Kind others_3d[] = {Kind::ball, Kind::capsule,  Kind::ellipsoid,    Kind::superellipsoid,
                              Kind::box,  Kind::polytope, Kind::many_corners, Kind::half_space};
constexpr Kind others_2d[] = {Kind::ball,     Kind::ellipsoid,    Kind::box,
                              Kind::polytope, Kind::many_corners, Kind::half_space};

template <int d>
Kind any_smooth(Random& random) {
    return d == 3 && random.below(2) ? Kind::superellipsoid : Kind::ellipsoid;
}
template <int d>
Kind any_other(Random& random, bool half_space) {
    if constexpr (d == 2) return others_2d[random.below(half_space ? 6 : 5)];
    return others_3d[random.below(half_space ? 8 : 7)];
}

/// Two shapes near each other, apart or overlapping by a little.
template <int d>
void make_near(Random& random, Sample<d>& s, bool half_space = false) {
    const Kind kind = any_other<d>(random, half_space);
    const double relative = random.below(2) ? random.log_in(1e-6, 1) : -random.log_in(1e-6, 0.1);
    if (kind == Kind::half_space) {
        make_sample<d>(random, any_smooth<d>(random), Kind::ball, 3, relative, s);
        s.shape_b = HalfSpace<d>{};
    } else {
        make_sample<d>(random, any_smooth<d>(random), kind, 3, relative, s);
    }
}

template <int d>
void expect_finite(const Distance<d>& x) {
    EXPECT_TRUE(std::isfinite(x.gap));
    EXPECT_TRUE(x.point_a.allFinite() && x.point_b.allFinite() && x.normal.allFinite());
    EXPECT_NEAR(x.normal.norm(), 1, 1e-12);
}

template <int d>
void symmetry() {
    Random random(31);
    for (int i = 0; i < 2000; ++i) {
        SCOPED_TRACE(i);
        Sample<d> s;
        make_near<d>(random, s, true);
        const Distance<d> x = smooth_distance<d>(s.a, s.b), y = smooth_distance<d>(s.b, s.a);
        const double points = s.flat ? 5e-2 : 1e-9;  // flat parts: smooth.hpp
        EXPECT_NEAR(x.gap, y.gap, 1e-12 * s.length);
        EXPECT_LE((x.normal + y.normal).norm(), s.flat ? 1e-6 : 1e-8);
        EXPECT_LE((x.point_a - y.point_b).norm(), points * s.length);
        EXPECT_LE((x.point_b - y.point_a).norm(), points * s.length);
    }
}
TEST(SmoothProperties, SwappingTheShapesTurnsTheNormal2D) { symmetry<2>(); }
TEST(SmoothProperties, SwappingTheShapesTurnsTheNormal3D) { symmetry<3>(); }

template <int d>
Pose<d> moved(const Pose<d>& pose, const Rotation<d>& by, const Vec<d>& shift) {
    Pose<d> out;
    out.position = matrix(by) * pose.position + shift;
    if constexpr (d == 2) {
        out.rotation.angle = by.angle + pose.rotation.angle;
    } else {
        out.rotation.q = (Eigen::Quaterniond(by.q) * Eigen::Quaterniond(pose.rotation.q)).normalized();
    }
    return out;
}

template <int d>
void invariance() {
    Random random(32);
    for (int i = 0; i < 2000; ++i) {
        SCOPED_TRACE(i);
        Sample<d> s;
        make_near<d>(random, s, true);
        const Rotation<d> by = random.rotation<d>();
        const Vec<d> shift = 2 * random.direction<d>();
        Placed<d> a = s.a, b = s.b;
        a.pose = moved<d>(a.pose, by, shift);
        b.pose = moved<d>(b.pose, by, shift);
        const Distance<d> x = smooth_distance<d>(s.a, s.b), y = smooth_distance<d>(a, b);
        EXPECT_NEAR(x.gap, y.gap, 1e-12 * s.length);
        EXPECT_LE((matrix(by) * x.normal - y.normal).norm(), s.flat ? 1e-6 : 1e-8);
        EXPECT_LE((matrix(by) * x.point_a + shift - y.point_a).norm(), (s.flat ? 5e-2 : 1e-9) * s.length);
    }
}
TEST(SmoothProperties, RigidMotionsChangeNothing2D) { invariance<2>(); }
TEST(SmoothProperties, RigidMotionsChangeNothing3D) { invariance<3>(); }

// d gap / d x_a = n, and a turn of a by a rotation vector changes the gap by its moment about a's centre. Central
// differences of step 1e-5: the truncation error is the gap's third derivative, large where a tip faces a face, times
// 1e-11.
template <int d>
void derivative() {
    Random random(33);
    int compared = 0;
    for (int i = 0; i < 1500; ++i) {
        SCOPED_TRACE(i);
        Sample<d> s;
        make_near<d>(random, s, true);
        if (s.flat)
            continue;  // the second derivative jumps where polytopes change features, and is infinite on flat parts
        const Distance<d> at = smooth_distance<d>(s.a, s.b);
        constexpr double step = 1e-5;
        const Vec<d> along = random.direction<d>();
        const auto gap_at = [&](double t) {
            Placed<d> a = s.a;
            a.pose.position += t * along;
            return smooth_distance<d>(a, s.b).gap;
        };
        EXPECT_NEAR((gap_at(step) - gap_at(-step)) / (2 * step), at.normal.dot(along), 2e-4);
        Spin<d> axis;
        for (int k = 0; k < spins<d>; ++k) axis[k] = random.normal();
        const auto gap_turned = [&](double t) {
            Placed<d> a = s.a;
            a.pose.rotation = turn(a.pose.rotation, Spin<d>(t * axis));
            return smooth_distance<d>(a, s.b).gap;
        };
        const double rate = at.normal.dot(cross(axis, Vec<d>(at.point_a - s.a.pose.position)));
        EXPECT_NEAR((gap_turned(step) - gap_turned(-step)) / (2 * step), rate, 1e-3 * s.length);
        ++compared;
    }
    EXPECT_GT(compared, 500);
}
TEST(SmoothProperties, NormalIsTheDerivativeOfTheGap2D) { derivative<2>(); }
TEST(SmoothProperties, NormalIsTheDerivativeOfTheGap3D) { derivative<3>(); }

template <int d>
void round_ones() {
    Random random(34);
    for (int i = 0; i < 2000; ++i) {
        SCOPED_TRACE(i);
        const double ra = random.in(0.1, 1), rb = random.in(0.1, 1);
        const Shape<d> sa = Ellipsoid<d>{Vec<d>::Constant(ra)}, sb = Ellipsoid<d>{Vec<d>::Constant(rb)};
        Placed<d> a{&sa, 1, {}}, b{&sb, 1, {}};
        a.pose.rotation = random.rotation<d>(), b.pose.rotation = random.rotation<d>();
        const Vec<d> n = random.direction<d>();
        a.pose.position = n * (ra + rb + random.in(-0.2, 1) * std::min(ra, rb));
        const Distance<d> x = smooth_distance<d>(a, b);
        const double r = a.pose.position.norm();
        EXPECT_NEAR(x.gap, r - ra - rb, 2e-15 * (r + 1));
        EXPECT_LE((x.normal - n).norm(), 1e-14);
        EXPECT_LE((x.point_a - (a.pose.position - ra * n)).norm(), 1e-14);
        EXPECT_LE((x.point_b - rb * n).norm(), 1e-14);
    }
}
TEST(SmoothProperties, RoundEllipsesAreDisks) { round_ones<2>(); }
TEST(SmoothProperties, RoundEllipsoidsAreSpheres) { round_ones<3>(); }

TEST(SmoothProperties, SuperellipsoidOfExponentOneIsAnEllipsoid) {
    Random random(35);
    for (int i = 0; i < 500; ++i) {
        Sample<3> s;
        make_sample<3>(random, Kind::ellipsoid, any_other<3>(random, false), 5, random.log_in(1e-6, 1), s);
        // Just off one, so that the general formulae are used: the gap moves by about as much.
        const Shape<3> super = Superellipsoid{std::get<Ellipsoid<3>>(s.shape_a).semi, 1 + 1e-9, 1 - 1e-9};
        Placed<3> a = s.a;
        a.shape = &super;
        EXPECT_NEAR(smooth_distance<3>(a, s.b).gap, smooth_distance<3>(s.a, s.b).gap, 1e-8 * s.length);
    }
}

template <int d>
void search() {
    Random random(36);
    int overlaps = 0, elsewhere = 0;
    for (int i = 0; i < 250; ++i) {
        SCOPED_TRACE(i);
        Sample<d> s;
        make_near<d>(random, s);
        const Distance<d> got = smooth_distance<d>(s.a, s.b);
        // Golden sections end at 1.6 * 0.618^44 = 1e-9 rad: 1e-9 of the size on a kink, its square where smooth.
        const RVec<d> n = got.normal.template cast<Real>();
        const Real local = largest_separation<d>(s.a, s.b, n, got.gap > 0 ? 0.8L : 0.05L, 44);
        EXPECT_NEAR(static_cast<double>(local), got.gap, 5e-9 * s.length);
        // The global maximum, from 500 normals; shallow overlaps must be the global one too, or nearly always.
        const RVec<d> top = best_normal<d>(s.a, s.b, 500);
        const double global = static_cast<double>(largest_separation<d>(s.a, s.b, top, 0.2L, 44));
        if (got.gap > 0) {
            EXPECT_LE(global, got.gap + 5e-9 * s.length);
        } else {
            ++overlaps;
            if (global > got.gap + 5e-9 * s.length) ++elsewhere;
        }
    }
    EXPECT_LE(elsewhere, overlaps / 50);
}
TEST(SmoothProperties, SearchOverNormalsFindsNothingBetter2D) { search<2>(); }
TEST(SmoothProperties, SearchOverNormalsFindsNothingBetter3D) { search<3>(); }

// Whatever the placement, the answer is finite and a stationary way out; with the same centre, the shapes are parted by
// translating along the thinnest direction if they are aligned.
template <int d>
void degenerate() {
    Random random(37);
    for (int i = 0; i < 600; ++i) {
        SCOPED_TRACE(i);
        Sample<d> s;
        make_near<d>(random, s);
        Placed<d> a = s.a, b = s.b;
        if (i % 3 == 0) b.pose.rotation = a.pose.rotation = Rotation<d>{};
        a.pose.position = b.pose.position;
        if (i % 2 == 0) a.pose.position[random.below(d)] += random.in(-1, 1) * s.length;
        const Distance<d> x = smooth_distance<d>(a, b);
        expect_finite(x);
        EXPECT_NEAR(static_cast<double>(separation<d>(a, b, x.normal.template cast<Real>())), x.gap,
                    1e-8 * s.length);
    }
    const Vec<d> semi = d == 2 ? Vec<d>(Vec<d>::Constant(1) - 0.5 * Vec<d>::Unit(1))
                               : Vec<d>(Vec<d>::Constant(1) + 2 * Vec<d>::Unit(0) - 0.7 * Vec<d>::Unit(1));
    const Shape<d> one = Ellipsoid<d>{semi};
    const Placed<d> a{&one, 1, {}}, b{&one, 1, {}};
    const Distance<d> same = smooth_distance<d>(a, b);
    EXPECT_NEAR(same.gap, -2 * semi[1], 1e-12);
    EXPECT_NEAR(std::abs(same.normal[1]), 1, 1e-12);
}
TEST(SmoothProperties, DegeneratePlacements2D) { degenerate<2>(); }
TEST(SmoothProperties, DegeneratePlacements3D) { degenerate<3>(); }

TEST(SmoothProperties, FaceToFaceOfBoxLikeBodies) {
    // Parallel faces: the gap is exact though the points are known only to lie on the faces.
    for (const double e : {0.2, 0.3, 0.5, 0.9}) {
        const Shape<3> shape = Superellipsoid{Vec<3>(1, 0.8, 0.5), e, e};
        for (const double gap : {1e-6, 1e-2, -1e-6, -1e-2}) {
            Placed<3> a{&shape, 1, {}}, b{&shape, 1, {}};
            a.pose.position = Vec<3>(0, 0, 1 + gap);
            const Distance<3> x = smooth_distance<3>(a, b);
            EXPECT_NEAR(x.gap, gap, 1e-14);
            EXPECT_LE((x.normal - Vec<3>::UnitZ()).norm(), 1e-8);
            // Shifted sideways the distance shrinks or grows by the tenth power of next to nothing.
            a.pose.position += Vec<3>(0.1, 0.05, 0);
            const Distance<3> y = smooth_distance<3>(a, b);
            EXPECT_NEAR(static_cast<double>(largest_separation<3>(a, b, y.normal.cast<Real>(), 0.05L, 44)),
                        y.gap, 1e-9);
        }
    }
}

TEST(SmoothProperties, TriangleIsAFlatPolyhedron) {
    Random random(38);
    for (int i = 0; i < 2000; ++i) {
        SCOPED_TRACE(i);
        const Shape<3> shape = random_shape<3>(random, any_smooth<3>(random), 5);
        Placed<3> a{&shape, random.log_in(0.5, 2), {}};
        a.pose.rotation = random.rotation<3>();
        const Vec<3> p = random.direction<3>(), q = random.direction<3>(), r = random.direction<3>();
        const Vec<3> n = (q - p).cross(r - p).normalized();
        if ((q - p).cross(r - p).norm() < 0.1) continue;
        // On the face, at a known gap; negative ones push out on the triangle's own side.
        const double gap = random.below(2) ? random.log_in(1e-6, 1)
                                           : -random.log_in(1e-6, 0.1) * thickness<3>(shape) * a.size;
        const double u = random.in(0.1, 0.45), v = random.in(0.1, 0.45);
        const Vec<3> at = (1 - u - v) * p + u * q + v * r;
        const RVec<3> low = farthest(a, RVec<3>(-n.cast<Real>()));
        a.pose.position += at + gap * n - low.cast<double>();
        const Distance<3> x = smooth_triangle_distance(a, p, q, r);
        EXPECT_NEAR(x.gap, gap, 1e-14);
        EXPECT_LE((x.normal - n).norm(), 1e-13);
        EXPECT_LE((x.point_b - at).norm(), 1e-12);
        // Anywhere else, apart: by the search.
        if (i % 20) continue;
        a.pose.position = 3 * random.direction<3>();
        const Distance<3> y = smooth_triangle_distance(a, p, q, r);
        if (y.gap < 0) continue;
        const auto room = [&](const RVec<3>& m) {
            Real top = -1e9L;
            for (const Vec<3>& c : {p, q, r}) top = std::max(top, m.dot(c.cast<Real>()));
            return (m.dot(farthest(a, RVec<3>(-m))) - top) / m.norm();
        };
        const RVec<3> m = y.normal.cast<Real>();
        const Mat<3> E = frame_of(y.normal);
        const RVec<3> t1 = E.row(1).transpose().cast<Real>(), t2 = E.row(2).transpose().cast<Real>();
        const Real best = golden(
            [&](Real s) {
                return golden([&](Real t) { return room(m + s * t1 + t * t2); }, -0.8L, 0.8L, 44);
            },
            -0.8L, 0.8L, 44);
        EXPECT_NEAR(static_cast<double>(best), y.gap, 1e-8);
    }
}

TEST(SmoothProperties, GivingUpEarlyReturnsALowerBoundAboveTheLimit) {
    Random random(39);
    for (int i = 0; i < 2000; ++i) {
        SCOPED_TRACE(i);
        Sample<3> s;
        make_near<3>(random, s);
        const double limit = random.in(0, 0.3);
        const double gap = smooth_distance<3>(s.a, s.b).gap, bound = smooth_distance<3>(s.a, s.b, limit).gap;
        EXPECT_LE(bound, gap + 1e-12);
        EXPECT_TRUE(bound > limit || bound > gap - 1e-10);
    }
}

}  // namespace
}  // namespace drystone
