// Volumes and moments, all in closed form.
#include "drystone/shapes/moments.hpp"

#include <numbers>

namespace drystone {

namespace {

using std::numbers::pi;

double beta(double x, double y) { return std::tgamma(x) * std::tgamma(y) / std::tgamma(x + y); }

/// Principal moments from the integrals of x^2, y^2, z^2.
Spin<3> about_axes(double xx, double yy, double zz) { return {yy + zz, zz + xx, xx + yy}; }

MassProperties<2> properties(const Ball<2>& s) {
    const double r2 = s.radius * s.radius;
    return {pi * r2, Spin<2>(pi * r2 * r2 / 2)};
}

MassProperties<2> properties(const Ellipsoid<2>& s) {
    const double area = pi * s.semi.prod();
    return {area, Spin<2>(area * s.semi.squaredNorm() / 4)};
}

MassProperties<2> properties(const Polygon& s) {
    const Moments<2> m = moments_of(s);
    return {m.volume, Spin<2>(m.second.trace())};
}

MassProperties<2> properties(const HalfSpace<2>&) { return {infinity, Spin<2>(infinity)}; }

MassProperties<3> properties(const Ball<3>& s) {
    const double r2 = s.radius * s.radius, volume = 4 * pi / 3 * r2 * s.radius;
    return {volume, Spin<3>::Constant(0.4 * volume * r2)};
}

/// A cylinder and two half balls, whose centres of mass stand 3/8 r beyond the cylinder's ends.
MassProperties<3> properties(const Capsule& s) {
    const double r = s.radius, h = s.half_length;
    const double cylinder = 2 * pi * r * r * h, ball = 4 * pi / 3 * r * r * r;
    const double xx = cylinder * r * r / 4 + ball * r * r / 5;
    const double zz = cylinder * h * h / 3 + ball * (r * r / 5 + h * h + 2 * h * (3 * r / 8));
    return {cylinder + ball, about_axes(xx, xx, zz)};
}

MassProperties<3> properties(const Ellipsoid<3>& s) {
    const double volume = 4 * pi / 3 * s.semi.prod();
    const Vec<3> second = volume / 5 * s.semi.cwiseAbs2();
    return {volume, about_axes(second[0], second[1], second[2])};
}

/// A. Jaklic, A. Leonardis, F. Solina, Segmentation and Recovery of Superquadrics (2000), sections 2.6
/// and 2.7.
MassProperties<3> properties(const Superellipsoid& s) {
    const double e1 = s.e1, e2 = s.e2, scale = s.semi.prod() * e1 * e2;
    const double ring = 0.5 * scale * beta(1.5 * e2, 0.5 * e2) * beta(0.5 * e1, 2 * e1 + 1);
    const double axis = 2 * scale * beta(0.5 * e2, 0.5 * e2 + 1) * beta(1.5 * e1, e1 + 1);
    const Vec<3> square = s.semi.cwiseAbs2();
    return {2 * scale * beta(0.5 * e1 + 1, e1) * beta(0.5 * e2, 0.5 * e2),
            about_axes(ring * square[0], ring * square[1], axis * square[2])};
}

MassProperties<3> properties(const Polyhedron& s) {
    const Moments<3> m = moments_of(s);
    return {m.volume, about_axes(m.second(0, 0), m.second(1, 1), m.second(2, 2))};
}

MassProperties<3> properties(const HalfSpace<3>&) { return {infinity, Spin<3>::Constant(infinity)}; }

MassProperties<3> properties(const TriangleMesh&) { return {}; }

/// Sums over simplices (0, corners), 0 being a point of the shape so that no digits are lost far from the
/// true origin. Over a simplex of volume V with corners c_i (one of them 0) the integral of x is V sum c_i /
/// (d + 1), and that of x x^T is V (sum c_i c_i^T + s s^T) / ((d + 1)(d + 2)), s = sum c_i.
template <int d>
class SimplexSum {
public:
    void add(const Mat<d>& corners) {
        const double volume = corners.determinant() / (d == 2 ? 2 : 6);
        const Vec<d> s = corners.rowwise().sum();
        volume_ += volume;
        first_ += volume / (d + 1) * s;
        second_ += volume / ((d + 1) * (d + 2)) * (corners * corners.transpose() + s * s.transpose());
    }
    [[nodiscard]] Moments<d> about(const Vec<d>& origin) const {
        const Vec<d> centre = first_ / volume_;
        return {volume_, origin + centre, second_ - volume_ * centre * centre.transpose()};
    }

private:
    double volume_ = 0;
    Vec<d> first_ = Vec<d>::Zero();
    Mat<d> second_ = Mat<d>::Zero();
};

}  // namespace

Moments<2> moments_of(const Polygon& polygon) {
    const std::vector<Vec<2>>& v = polygon.vertices;
    SimplexSum<2> sum;
    Mat<2> corners;
    for (std::size_t i = 1; i + 1 < v.size(); ++i) {
        corners << v[i] - v[0], v[i + 1] - v[0];
        sum.add(corners);
    }
    return sum.about(v[0]);
}

Moments<3> moments_of(const Polyhedron& polyhedron) {
    const std::vector<Vec<3>>& v = polyhedron.vertices;
    Vec<3> origin = Vec<3>::Zero();
    for (const Vec<3>& x : v) origin += x / static_cast<double>(v.size());
    SimplexSum<3> sum;
    Mat<3> corners;
    for (const Polyhedron::Face& face : polyhedron.faces) {
        const Index* loop = &polyhedron.face_vertices[face.start];
        for (Index k = 1; k + 1 < face.size; ++k) {
            corners << v[loop[0]] - origin, v[loop[k]] - origin, v[loop[k + 1]] - origin;
            sum.add(corners);
        }
    }
    return sum.about(origin);
}

template <int d>
MassProperties<d> mass_properties(const Shape<d>& shape) {
    return std::visit([](const auto& s) { return properties(s); }, shape);
}
template MassProperties<2> mass_properties<2>(const Shape<2>&);
template MassProperties<3> mass_properties<3>(const Shape<3>&);

}  // namespace drystone
