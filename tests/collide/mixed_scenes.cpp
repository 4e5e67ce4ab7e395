// Detection of random scenes of every shape against all pairs, without a broad phase and with distances of another
// method.
//
// A pair must be found if it is within reach, and must not be if it is not; what is found must have the distance and
// the normal of the reference. With surfaces of triangles there is room between "must" and "must not": a body behind a
// surface may be pushed out or not.
#include "collide/min_norm.hpp"
#include "collide/narrow_brute.hpp"
#include "drystone/collide/detect.hpp"

#include <gtest/gtest.h>

#include <map>

namespace drystone {
namespace {

using reference::Bracket;
using reference::Core;
using reference::min_norm;
using reference::Random;
using reference::Real;
using reference::RVec;

template <int d>
bool is_half_space(const Shape<d>& shape) {
    return std::holds_alternative<HalfSpace<d>>(shape);
}
template <int d>
const TriangleMesh* mesh_of(const Shape<d>& shape) {
    if constexpr (d == 3) return std::get_if<TriangleMesh>(&shape);
    return nullptr;
}
template <int d>
bool is_smooth(const Shape<d>& shape) {
    if constexpr (d == 3)
        if (std::holds_alternative<Superellipsoid>(shape)) return true;
    return std::holds_alternative<Ellipsoid<d>>(shape);
}
/// Parts of it are flat to rounding: normals are known less well there (smooth.hpp).
template <int d>
bool is_squarish(const Shape<d>& shape) {
    if constexpr (d == 3)
        if (const auto* s = std::get_if<Superellipsoid>(&shape)) return s->e1 < 1 || s->e2 < 1;
    return false;
}

/// A sheet of 32 triangles over [-1, 1]^2 with bumps.
TriangleMesh bumpy_sheet(Random& random) {
    std::vector<Vec<3>> x;
    std::vector<std::array<Index, 3>> t;
    for (int i = 0; i <= 4; ++i)
        for (int j = 0; j <= 4; ++j) x.emplace_back(0.5 * i - 1, 0.5 * j - 1, random.in(-0.08, 0.08));
    for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 4; ++j) {
            const Index p = i * 5 + j, q = p + 5;
            t.push_back({p, q, q + 1});
            t.push_back({p, q + 1, p + 1});
        }
    return make_mesh(x, t);
}
/// The surface of a polyhedron.
TriangleMesh skin_of(const Polyhedron& shape) {
    std::vector<std::array<Index, 3>> t;
    for (const auto& f : shape.faces)
        for (Index k = 1; k + 1 < f.size; ++k)
            t.push_back({shape.face_vertices[f.start], shape.face_vertices[f.start + k],
                         shape.face_vertices[f.start + k + 1]});
    return make_mesh(shape.vertices, t);
}

template <int d>
std::vector<Shape<d>> all_shapes(Random& random) {
    std::vector<Shape<d>> shapes = {Ball<d>{1}};
    shapes.push_back(Ellipsoid<d>{random.semi<d>(4)});
    std::vector<Vec<d>> points(8 + random.below(8));
    for (Vec<d>& p : points) p = random.direction<d>() * random.in(0.7, 1);
    if constexpr (d == 2) {
        shapes.push_back(make_polygon(points).shape);
        shapes.push_back(make_rectangle(random.semi<2>(5)));
        shapes.push_back(make_polygon({{1, 0}, {-0.5, 0.8}, {-0.5, -0.8}}).shape);
    } else {
        shapes.push_back(Capsule{random.in(0.15, 0.5), random.in(0.1, 0.8)});
        shapes.push_back(Superellipsoid{random.semi<3>(2), random.in(0.3, 1.6), random.in(0.3, 1.6)});
        shapes.push_back(make_polyhedron(points).shape);
        shapes.push_back(make_box(random.semi<3>(4)));
        shapes.push_back(
            make_polyhedron({{1, 0, -0.3}, {-0.5, 0.8, -0.3}, {-0.5, -0.8, -0.3}, {0, 0, 1}}).shape);
    }
    return shapes;
}

template <int d>
Scene<d> mixed_scene(unsigned seed) {
    Random random(seed);
    Scene<d> scene;
    scene.materials.add({"stone", 2500}, {});
    std::vector<Index> shapes;
    for (Shape<d>& shape : all_shapes<d>(random)) shapes.push_back(scene.add_shape(std::move(shape)));
    const int count = 10 + random.below(31);
    std::vector<double> sizes(count);
    double volume = 0;
    for (double& size : sizes) {
        size = random.log_in(0.1, 1);
        volume += (d == 3 ? 4.2 : 3.1) * std::pow(size, d);
    }
    // Denser than grains can be, so that there is overlap; never narrower than the largest body, which would meet
    // itself twice.
    const double side = std::max(2.5, std::pow(volume / random.in(0.3, 0.8), 1.0 / d));
    const int periodic = seed % 3 == 0 ? 1 + random.below(d) : 0;
    for (int k = 0; k < periodic; ++k) {
        scene.domain.lower[k] = -0.2 * side;
        scene.domain.period[k] = side;
    }
    const auto place = [&](BodyPlan<d>& plan) {
        for (int k = 0; k < d; ++k) plan.pose.position[k] = random.in(0, side);
        plan.pose.rotation = random.rotation<d>();
    };
    BodyPlan<d> plan;
    plan.motion = Motion::held;
    if (periodic < d && random.below(2)) {
        plan.shape = scene.add_shape(HalfSpace<d>{});
        for (int wall = random.below(2); wall < 2; ++wall) {
            place(plan);
            // Along the periods, where there are any.
            if (periodic) plan.pose.rotation = {};
            scene.add_body(plan);
        }
    }
    if constexpr (d == 3) {
        if (random.below(2)) {
            std::vector<Vec<3>> points(12);
            for (Vec<3>& p : points) p = random.direction<3>();
            for (const Index shape : {scene.add_shape(bumpy_sheet(random)),
                                      scene.add_shape(skin_of(make_polyhedron(points).shape))}) {
                plan.shape = shape;
                plan.size = random.in(0.3, 1) * (periodic ? 1 : 0.5 * side);
                place(plan);
                scene.add_body(plan);
            }
        }
    }
    for (const double size : sizes) {
        plan.shape = shapes[random.below(static_cast<int>(shapes.size()))];
        plan.size = size;
        plan.motion = random.below(8) ? Motion::free : Motion::held;
        place(plan);
        scene.add_body(plan);
    }
    return scene;
}

/// What the reference says of a pair.
template <int d>
struct Verdict {
    bool must = false, must_not = false;
    std::optional<double> gap;  ///< where it is well defined
    std::optional<Vec<d>> normal;
};

template <int d>
Verdict<d> against_half_space(const Placed<d>& body, const Placed<d>& plane, double reach) {
    const RVec<d> n = reference::rotation(plane.pose.rotation).col(d - 1);
    const Core<d> core(body);
    const Real gap =
        n.dot(core.farthest_along(RVec<d>(-n)) - plane.pose.position.template cast<Real>()) - core.radius;
    return {gap <= reach, gap > reach, static_cast<double>(gap), Vec<d>(n.template cast<double>())};
}

/// A convex body and a surface, triangle by triangle. In front of the nearest triangle the distance is all there is to
/// say. A body that goes through by less than its own size must be pushed out; one that has gone through altogether may
/// be or not.
Verdict<3> against_mesh(const Placed<3>& body, const Placed<3>& placed, const TriangleMesh& mesh,
                        double reach, double inner, double outer) {
    const Core<3> core(body);
    const reference::RMat<3> R = reference::rotation(placed.pose.rotation);
    Real least = std::numeric_limits<Real>::infinity();
    RVec<3> normal = RVec<3>::Zero();
    bool front = true, over = false;
    for (const auto& triangle : mesh.triangles) {
        std::vector<RVec<3>> p;
        for (const Index v : triangle)
            p.push_back(placed.pose.position.cast<Real>() +
                        static_cast<Real>(placed.size) * (R * mesh.vertices[v].cast<Real>()));
        const RVec<3> n = (p[1] - p[0]).cross(p[2] - p[0]).normalized();
        const RVec<3> middle = (p[0] + p[1] + p[2]) / 3;
        const Real wide = std::max({(p[0] - middle).norm(), (p[1] - middle).norm(), (p[2] - middle).norm()});
        if ((core.x - middle).norm() > 3 * outer + wide + reach) continue;
        const Bracket<3> x = min_norm<3>(core, Core<3>(p), least + 1e-6L);
        if (x.lower > least + 1e-9L) continue;
        if (x.upper < least - 1e-9L) front = true;
        if (x.upper < least) least = x.upper, normal = x.normal;
        front = front && x.core > 0 && x.normal.dot(n) > 1e-3L;
        const Real low = n.dot(core.farthest_along(RVec<3>(-n)) - p[0]) - core.radius;
        bool above = x.upper < 0 && low > -1.9L * inner && n.dot(core.x - p[0]) > 0;
        for (int k = 0; k < 3; ++k) above = above && n.cross(p[(k + 1) % 3] - p[k]).dot(core.x - p[k]) > 0;
        over = over || above;
    }
    Verdict<3> out;
    out.must_not = least > reach && front;
    out.must = least <= reach && (least > 0 ? front : over);
    if (out.must && least > 0) {
        out.gap = static_cast<double>(least);
        if (least > 1e-2L * outer) out.normal = normal.cast<double>();
    }
    return out;
}

/// Ball, capsule or polyhedron as a polyhedron, perhaps without volume, and a radius.
struct Swollen {
    Shape<3> shape;
    Placed<3> placed;
    double radius = 0;
    explicit Swollen(const Placed<3>& body) : shape(*body.shape), placed(body) {
        Polyhedron core;
        if (const auto* ball = std::get_if<Ball<3>>(body.shape)) {
            core.vertices = {Vec<3>::Zero()};
            radius = ball->radius * body.size;
        } else if (const auto* c = std::get_if<Capsule>(body.shape)) {
            core.vertices = {Vec<3>(0, 0, -c->half_length), Vec<3>(0, 0, c->half_length)};
            core.edges = {{{0, 1}, {0, 0}}};
            radius = c->radius * body.size;
        }
        if (radius > 0) shape = core;
        placed.shape = &shape;
    }
    Swollen(const Swollen&) = delete;
    Swollen& operator=(const Swollen&) = delete;
};

/// The signed distance over all features; only for pairs of which one is a polytope and none is smooth.
std::optional<double> over_features(const Placed<3>& a, const Placed<3>& b) {
    if (!std::holds_alternative<Polyhedron>(*a.shape) && !std::holds_alternative<Polyhedron>(*b.shape))
        return {};
    const Swollen p(a), q(b);
    return testing_narrow::brute_distance(p.placed, q.placed) - p.radius - q.radius;
}
std::optional<double> over_features(const Placed<2>& a, const Placed<2>& b) {
    if (!std::holds_alternative<Polygon>(*a.shape) || !std::holds_alternative<Polygon>(*b.shape)) return {};
    return testing_narrow::brute_distance(a, b);
}

template <int d>
Verdict<d> against_convex(const Placed<d>& a, const Placed<d>& b, double reach, double length) {
    const Core<d> core_a(a), core_b(b);
    const bool smooth = is_smooth<d>(*a.shape) || is_smooth<d>(*b.shape);
    Verdict<d> out;
    const Bracket<d> x = min_norm<d>(core_a, core_b, static_cast<Real>(reach));
    out.must_not = x.lower > reach;
    out.must = x.upper <= reach;
    if (!out.must) return out;
    if (x.core > 1e-3L * length) {
        out.gap = static_cast<double>(x.upper);
        if (x.core > 1e-2L * length) out.normal = x.normal.template cast<double>();
    }
    if (!smooth)
        if (const auto gap = over_features(a, b)) {
            if (out.gap) {
                EXPECT_NEAR(*out.gap, *gap, 1e-12 * length) << "the two references";
            }
            out.gap = gap;
        }
    return out;
}

struct Tally {
    int pairs = 0, within = 0, distances = 0, normals = 0, overlaps = 0, longer = 0, parallel = 0;
    int missed = 0, invented = 0;
    double worst_flat = 0, worst_smooth = 0, worst_normal = 0, worst_squarish = 0, worst_overlap = 0;
    std::map<std::string, int> kinds;
};

template <int d>
class Check {
public:
    Check(const Scene<d>& scene, std::vector<double> reach, Tally& tally)
        : scene_(scene), bodies_(scene.bodies), reach_(std::move(reach)), tally_(tally) {
        Neighbours<d> neighbours;
        detect<d>(scene, reach_, {}, neighbours, contacts_);
        for (std::size_t i = 0; i < contacts_.size(); ++i) {
            const Contact<d>& c = contacts_[i];
            const bool plane = is_half_space<d>(scene.shape_of(c.a)) || is_half_space<d>(scene.shape_of(c.b));
            Image<d> shift = plane ? Image<d>(Image<d>::Zero())
                                   : periods_between<d>(c.key.image, image_code<d>(bodies_.image[c.a]),
                                                        image_code<d>(bodies_.image[c.b]));
            found_[key(c.a, c.b, shift)].push_back(&c);
        }
    }
    void run() {
        for (Index a = 0; a < bodies_.count(); ++a)
            for (Index b = a; b < bodies_.count(); ++b) {
                if (!bodies_.is_free(a) && !bodies_.is_free(b)) continue;
                const bool plane =
                    is_half_space<d>(scene_.shape_of(a)) || is_half_space<d>(scene_.shape_of(b));
                int turns[3] = {0, 0, 0};
                for (int k = 0; k < d; ++k) turns[k] = scene_.domain.period[k] > 0 && !plane ? 2 : 0;
                Image<d> shift;
                for (int i = -turns[0]; i <= turns[0]; ++i)
                    for (int j = -turns[1]; j <= turns[1]; ++j)
                        for (int k = -turns[2]; k <= turns[2]; ++k) {
                            shift[0] = i, shift[1] = j;
                            if constexpr (d == 3) shift[2] = k;
                            // A body and its own image: of a shift and its opposite, one.
                            if (a == b && !(key(a, b, shift) < key(a, b, Image<d>(-shift)))) continue;
                            pair(a, b, shift);
                        }
            }
        for (const auto& [k, contacts] : found_) {
            ++tally_.invented;
            ADD_FAILURE() << "reported, but not within two periods: " << contacts[0]->a << ", "
                          << contacts[0]->b;
        }
    }

private:
    using Key = std::array<int, 2 + d>;
    static Key key(Index a, Index b, const Image<d>& shift) {
        Key k{};
        k[0] = a, k[1] = b;
        for (int i = 0; i < d; ++i) k[2 + i] = shift[i];
        return k;
    }

    Verdict<d> judge(const Placed<d>& a, const Placed<d>& b, double reach, double length, Index ia,
                     Index ib) {
        const auto turned = [](Verdict<d> x) {
            if (x.normal) *x.normal = -*x.normal;
            return x;
        };
        if (is_half_space<d>(*b.shape)) return against_half_space<d>(a, b, reach);
        if (is_half_space<d>(*a.shape)) return turned(against_half_space<d>(b, a, reach));
        if constexpr (d == 3) {
            if (const auto* mesh = mesh_of<d>(*b.shape))
                return against_mesh(a, b, *mesh, reach, scene_.inner_radius(ia), scene_.outer_radius(ia));
            if (const auto* mesh = mesh_of<d>(*a.shape))
                return turned(
                    against_mesh(b, a, *mesh, reach, scene_.inner_radius(ib), scene_.outer_radius(ib)));
        }
        (void)ia, (void)ib;
        return against_convex<d>(a, b, reach, length);
    }

    void pair(Index ia, Index ib, const Image<d>& shift) {
        ++tally_.pairs;
        const Vec<d> x_b =
            bodies_.position[ib] + shift.template cast<double>().cwiseProduct(scene_.domain.period);
        const Placed<d> a{&scene_.shape_of(ia), bodies_.size[ia], bodies_.pose(ia)};
        const Placed<d> b{&scene_.shape_of(ib), bodies_.size[ib], {x_b, bodies_.rotation[ib]}};
        auto at = found_.find(key(ia, ib, shift));
        double sign = 1;
        if (at == found_.end() && ia == ib) {
            at = found_.find(key(ia, ib, Image<d>(-shift)));
            sign = -1;
        }
        const double reach = reach_[ia] + reach_[ib];
        const double ra = scene_.outer_radius(ia), rb = scene_.outer_radius(ib);
        const double length = std::isinf(ra) ? rb : std::isinf(rb) ? ra : std::max(ra, rb);
        // Balls that hold the bodies: far beyond reach there is nothing to measure. Not where a contact was reported.
        if (at == found_.end() && (a.pose.position - x_b).norm() > ra + rb + reach + 1e-6) return;
        const Verdict<d> x = judge(a, b, reach, length, ia, ib);
        const std::string kinds = std::string(name_of<d>(*a.shape)) + " and " + name_of<d>(*b.shape);
        const auto where = [&] {
            return kinds + ", bodies " + std::to_string(ia) + " and " + std::to_string(ib);
        };
        if (at == found_.end()) {
            if (x.must && !(x.gap && *x.gap > reach - 1e-10 * length)) {
                ++tally_.missed;
                ADD_FAILURE() << "missed: " << where() << ", gap " << x.gap.value_or(-1) << ", reach "
                              << reach;
            }
            return;
        }
        const std::vector<const Contact<d>*> contacts = at->second;
        found_.erase(at);
        double gap = infinity;
        const Contact<d>* nearest = nullptr;
        for (const auto* c : contacts)
            if (c->gap < gap) gap = c->gap, nearest = c;
        if (x.must_not && gap < reach - 1e-10 * length) {
            ++tally_.invented;
            ADD_FAILURE() << "not within reach: " << where() << ", gap " << gap << ", reach " << reach;
            return;
        }
        ++tally_.within;
        ++tally_.kinds[kinds];
        compare(a, b, x, gap, sign * nearest->normal, length, where());
    }

    void compare(const Placed<d>& a, const Placed<d>& b, const Verdict<d>& x, double gap,
                 const Vec<d>& normal, double length, const std::string& where) {
        const bool smooth = is_smooth<d>(*a.shape) || is_smooth<d>(*b.shape);
        const bool squarish = is_squarish<d>(*a.shape) || is_squarish<d>(*b.shape);
        EXPECT_NEAR(normal.norm(), 1, 1e-14) << where;
        if (x.gap) {
            ++tally_.distances;
            const double error = std::abs(gap - *x.gap) / length;
            double& worst = smooth ? tally_.worst_smooth : tally_.worst_flat;
            worst = std::max(worst, error);
            EXPECT_LE(error, smooth ? 1e-8 : 1e-10) << where << ": gap " << gap << ", reference " << *x.gap;
        } else if (smooth && !mesh_of<d>(*a.shape) && !mesh_of<d>(*b.shape)) {
            overlap(a, b, gap, normal, length, where);
        }
        if (x.normal) {
            ++tally_.normals;
            const double error = (normal - *x.normal).norm();
            // Faces that are parallel to within parallel_angle set the normal (polytopes.hpp).
            if (!smooth && error > 1e-8 && error < 1.5e-5) {
                ++tally_.parallel;
                return;
            }
            double& worst = squarish ? tally_.worst_squarish : tally_.worst_normal;
            worst = std::max(worst, error);
            EXPECT_LE(error, squarish ? 1e-6 : 1e-8) << where << ": gap " << gap;
        }
    }

    /// Smooth shapes that overlap: no normal near the one given leaves more room between the bodies.
    void overlap(const Placed<d>& a, const Placed<d>& b, double gap, const Vec<d>& normal, double length,
                 const std::string& where) {
        const RVec<d> n = normal.template cast<Real>();
        const double room = static_cast<double>(reference::separation<d>(a, b, n));
        EXPECT_NEAR(room, gap, 1e-8 * length) << where;
        if (d == 3 && tally_.overlaps >= 400) return;  // a few milliseconds each
        ++tally_.overlaps;
        const double local = static_cast<double>(reference::largest_separation<d>(a, b, n, 0.02L, 36));
        tally_.worst_overlap = std::max(tally_.worst_overlap, (local - gap) / length);
        tally_.longer += local > gap + 1e-8 * length ? 1 : 0;
    }

    const Scene<d>& scene_;
    const Bodies<d>& bodies_;
    std::vector<double> reach_;
    Tally& tally_;
    ContactSet<d> contacts_;
    std::map<Key, std::vector<const Contact<d>*>> found_;
};

template <int d>
void check_scenes(int scenes, unsigned seed, int kinds) {
    Tally tally;
    for (int i = 0; i < scenes; ++i) {
        SCOPED_TRACE("scene " + std::to_string(seed + i));
        const Scene<d> scene = mixed_scene<d>(seed + i);
        Random random(7 * seed + i);
        std::vector<double> reach(scene.bodies.count());
        for (double& r : reach) r = random.log_in(0.001, 0.1);
        Check<d>(scene, reach, tally).run();
        if (::testing::Test::HasFailure() && tally.missed + tally.invented > 20) break;
    }
    EXPECT_EQ(tally.missed, 0);
    EXPECT_EQ(tally.invented, 0);
    // A local maximum has been missed in about one overlap in 10^4, by 1e-6 (smooth.hpp).
    EXPECT_LE(tally.longer, tally.overlaps / 200);
    EXPECT_LE(tally.worst_overlap, 1e-5);
    EXPECT_LE(tally.parallel, tally.normals / 1000);
    EXPECT_EQ(static_cast<int>(tally.kinds.size()), kinds) << "ordered pairs of shapes that met";
    EXPECT_GT(tally.distances, 5 * scenes);
    EXPECT_GT(tally.normals, scenes);
    printf(
        "%d pairs, %d within reach, %d missed, %d invented; %d distances to %.1e (flat), %.1e (smooth), %d "
        "normals to %.1e "
        "(squarish superellipsoids %.1e), %d overlaps to %.1e (%d over 1e-8)\n",
        tally.pairs, tally.within, tally.missed, tally.invented, tally.distances, tally.worst_flat,
        tally.worst_smooth, tally.normals, tally.worst_normal, tally.worst_squarish, tally.overlaps,
        tally.worst_overlap, tally.longer);
}

TEST(MixedScenes, ThousandInThePlane) { check_scenes<2>(1000, 1, 12); }
TEST(MixedScenes, TwoThousandInSpace) { check_scenes<3>(2000, 13001, 35); }

}  // namespace
}  // namespace drystone
