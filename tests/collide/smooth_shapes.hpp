// Random shapes, and random points of them with a normal, for the tests of smooth distances.
#pragma once

#include "collide/smooth_reference.hpp"

namespace drystone::reference {

enum class Kind { ball, capsule, ellipsoid, superellipsoid, box, polytope, many_corners, half_space };

template <int d>
Shape<d> random_shape(Random& random, Kind kind, double aspect) {
    const Vec<d> semi = random.semi<d>(aspect);
    if (kind == Kind::ball) return Ball<d>{random.log_in(1 / aspect, 1)};
    if (kind == Kind::half_space) return HalfSpace<d>{};
    if (kind == Kind::ellipsoid) return Ellipsoid<d>{semi};
    std::vector<Vec<d>> points(
        static_cast<std::size_t>(kind == Kind::many_corners ? 100 : random.below(8) + 4));
    for (Vec<d>& x : points) x = semi.cwiseProduct(random.direction<d>());
    if constexpr (d == 2) {
        if (kind == Kind::box) return make_rectangle(semi);
        return make_polygon(points).shape;
    } else {
        if (kind == Kind::capsule) return Capsule{random.log_in(1 / aspect, 1), random.log_in(1 / aspect, 1)};
        if (kind == Kind::superellipsoid)
            return Superellipsoid{semi, random.in(0.2, 1.8), random.in(0.2, 1.8)};
        if (kind == Kind::box) return make_box(semi);
        return make_polyhedron(points).shape;
    }
}

/// Half the thickness of a shape at size 1, about.
template <int d>
double thickness(const Shape<d>& shape) {
    if (const auto* ball = std::get_if<Ball<d>>(&shape)) return ball->radius;
    if (const auto* e = std::get_if<Ellipsoid<d>>(&shape)) return e->semi.minCoeff();
    double least = 1;
    if constexpr (d == 2) {
        if (const auto* p = std::get_if<Polygon>(&shape)) {
            for (std::size_t i = 0; i < p->normals.size(); ++i) {
                least = std::min(least, p->normals[i].dot(p->vertices[i]));
            }
        }
    } else {
        if (const auto* c = std::get_if<Capsule>(&shape)) return c->radius;
        if (const auto* s = std::get_if<Superellipsoid>(&shape)) return s->semi.minCoeff();
        if (const auto* p = std::get_if<Polyhedron>(&shape)) {
            for (const auto& face : p->faces) least = std::min(least, face.offset);
        }
    }
    return least;
}

template <int d>
struct SurfacePoint {
    RVec<d> x;
    Vec<d> normal;
    int feature = 0;  ///< polytopes: 0 a vertex, 1 an edge, 2 a face
};

/// A point of the surface and a normal there, in body axes at size 1. All features of a polytope have their turn.
template <int d>
SurfacePoint<d> random_point(Random& random, const Shape<d>& shape) {
    SurfacePoint<d> at;
    const double t = random.in(0.05, 0.95);
    if constexpr (d == 2) {
        if (const auto* p = std::get_if<Polygon>(&shape)) {
            const int n = static_cast<int>(p->vertices.size());
            const int i = random.below(n), next = (i + 1) % n;
            at.feature = random.below(2);
            if (at.feature == 1) {
                at.x = ((1 - t) * p->vertices[i] + t * p->vertices[next]).template cast<Real>();
                at.normal = p->normals[i];
            } else {
                at.x = p->vertices[next].template cast<Real>();
                at.normal = ((1 - t) * p->normals[i] + t * p->normals[next]).normalized();
            }
            return at;
        }
    } else {
        if (const auto* p = std::get_if<Polyhedron>(&shape)) {
            at.feature = random.below(3);
            if (at.feature == 0) {
                const int v = random.below(static_cast<int>(p->vertices.size()));
                at.x = p->vertices[v].template cast<Real>();
                at.normal.setZero();
                for (Index k = p->vertex_edge_start[v]; k < p->vertex_edge_start[v + 1]; ++k) {
                    for (const Index f : p->edges[p->vertex_edges[k]].face) {
                        at.normal += random.in(0.05, 1) * p->faces[f].normal;
                    }
                }
            } else if (at.feature == 1) {
                const auto& edge = p->edges[random.below(static_cast<int>(p->edges.size()))];
                at.x = ((1 - t) * p->vertices[edge.vertex[0]] + t * p->vertices[edge.vertex[1]])
                           .template cast<Real>();
                const double s = random.in(0.05, 0.95);
                at.normal = (1 - s) * p->faces[edge.face[0]].normal + s * p->faces[edge.face[1]].normal;
            } else {
                const auto& face = p->faces[random.below(static_cast<int>(p->faces.size()))];
                at.x.setZero();
                Real total = 0;
                for (Index k = 0; k < face.size; ++k) {
                    const Real w = random.in(0.05, 1);
                    at.x += w * p->vertices[p->face_vertices[face.start + k]].template cast<Real>();
                    total += w;
                }
                at.x /= total;
                at.normal = face.normal;
            }
            at.normal.normalize();
            return at;
        }
    }
    at.normal = random.direction<d>();
    if constexpr (d == 3) {
        // Capsules: the middle, whose normals are a set of measure zero, as often as the ends.
        if (const auto* c = std::get_if<Capsule>(&shape); c && random.below(2)) {
            at.normal[2] = 0;
            at.normal.normalize();
            at.x = (c->radius * at.normal + Vec<3>(0, 0, (2 * t - 1) * c->half_length)).template cast<Real>();
            return at;
        }
        // Superellipsoids: points spread over the surface, so that the flat parts are met, half of the time.
        if (const auto* s = std::get_if<Superellipsoid>(&shape); s && random.below(2)) {
            const double p1 = 2 / s->e1, p2 = 2 / s->e2;
            Vec<3> x(random.in(-1, 1), random.in(-1, 1), random.in(-1, 1));
            const double rho = std::pow(std::pow(std::abs(x[0]), p2) + std::pow(std::abs(x[1]), p2), 1 / p2);
            x /= std::pow(std::pow(rho, p1) + std::pow(std::abs(x[2]), p1), 1 / p1);
            const double r = std::hypot(x[0], x[1]);
            const double X =
                std::pow(std::pow(std::abs(x[0]) / r, p2) + std::pow(std::abs(x[1]) / r, p2), 1 / p2) * r;
            const double outer = std::pow(X, p1 - 1);
            at.normal[0] = outer * std::copysign(std::pow(std::abs(x[0]) / X, p2 - 1), x[0]);
            at.normal[1] = outer * std::copysign(std::pow(std::abs(x[1]) / X, p2 - 1), x[1]);
            at.normal[2] = std::copysign(std::pow(std::abs(x[2]), p1 - 1), x[2]);
            at.normal = at.normal.cwiseQuotient(s->semi).normalized();
        }
    }
    at.x = farthest<d>(shape, at.normal.template cast<Real>().normalized());
    return at;
}

/// A rotation that takes one unit vector to another, with any twist about it.
inline Rotation<2> turning(Random&, const Vec<2>& from, const Vec<2>& to) {
    return {std::atan2(to[1], to[0]) - std::atan2(from[1], from[0])};
}
inline Rotation<3> turning(Random& random, const Vec<3>& from, const Vec<3>& to) {
    Rotation<3> r;
    const Eigen::AngleAxisd twist(random.below(3) ? random.in(0, 2 * M_PI) : 0, to);
    r.q = (twist * Eigen::Quaterniond::FromTwoVectors(from, to)).normalized();
    return r;
}

template <int d>
struct Sample {
    Shape<d> shape_a, shape_b;
    Placed<d> a, b;
    Distance<d> known;
    double length;      ///< size of the larger one
    double thickness;   ///< half that of the thinner one
    bool flat = false;  ///< a superellipsoid with e < 1 is there: points are not as well known as the gap
    int feature = 0;
};

/// a is smooth. Two points with normals are drawn, a is turned so that they face each other, and moved so that they are
/// `gap` apart: `relative` times the length (apart) or the thickness (overlap).
template <int d>
void make_sample(Random& random, Kind kind_a, Kind kind_b, double aspect, double relative, Sample<d>& s) {
    s.shape_a = random_shape<d>(random, kind_a, aspect);
    s.shape_b = random_shape<d>(random, kind_b, aspect);
    s.a = {&s.shape_a, random.log_in(0.5, 2), {}};
    s.b = {&s.shape_b, random.log_in(0.5, 2), {}};
    s.b.pose.rotation = random.rotation<d>();
    for (int i = 0; i < d; ++i) s.b.pose.position[i] = random.in(-3, 3);
    s.length = std::max(s.a.size, s.b.size);
    s.thickness = std::min(s.a.size * thickness<d>(s.shape_a), s.b.size * thickness<d>(s.shape_b));
    const double gap = relative * (relative > 0 ? s.length : s.thickness);

    const SurfacePoint<d> on_a = random_point<d>(random, s.shape_a);
    const SurfacePoint<d> on_b = random_point<d>(random, s.shape_b);
    s.feature = on_b.feature;
    // A polytope's normal must be kept to the last digit: a is turned by half its freedom, and its own point follows
    // from n.
    const RMat<d> R = rotation(s.b.pose.rotation);
    const RVec<d> n = (R * on_b.normal.template cast<Real>()).normalized();
    s.a.pose.rotation = turning(random, on_a.normal, Vec<d>(-n.template cast<double>()));
    const RVec<d> x = s.b.pose.position.template cast<Real>() + static_cast<Real>(s.b.size) * (R * on_b.x);
    const bool smooth_b = std::holds_alternative<Ellipsoid<d>>(s.shape_b) || kind_b == Kind::superellipsoid;
    s.known = place<d>(s.a, s.b, n, gap, smooth_b ? nullptr : &x);
    s.flat = false;
    if constexpr (d == 3) {
        for (const Shape<d>* shape : {&s.shape_a, &s.shape_b}) {
            if (const auto* e = std::get_if<Superellipsoid>(shape)) s.flat = s.flat || e->e1 < 1 || e->e2 < 1;
        }
    }
}

}  // namespace drystone::reference
