#include "drystone/bodies/scene.hpp"

#include "drystone/base/error.hpp"
#include "drystone/bodies/body_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// "(1, 2, 3)"
template <class V>
std::string text(const V& v) {
    std::string s = "(";
    for (Eigen::Index k = 0; k < v.size(); ++k) s += fmt::format("{}{}", k == 0 ? "" : ", ", v[k]);
    return s + ")";
}

std::string range(Index n, const char* what) {
    return n == 0 ? fmt::format("add a {} first", what) : fmt::format("give a number from 0 to {}", n - 1);
}

template <class V>
void check_finite(const std::string& where, const V& v) {
    if (!v.allFinite()) fail(where, text(v) + " is not finite", "give finite numbers");
}

/// The rotation with a quaternion of exactly unit length, as far as rounding allows.
Rotation<2> checked(const std::string& where, const Rotation<2>& rotation) {
    if (!std::isfinite(rotation.angle))
        fail(where, fmt::format("{} is not finite", rotation.angle), "give an angle (rad)");
    return rotation;
}
Rotation<3> checked(const std::string& where, const Rotation<3>& rotation) {
    // A user types few digits; anything farther from unit length is a mistake and not rounding.
    const double norm = rotation.q.norm();
    if (!(std::abs(norm - 1) < 1e-3))
        fail(where, text(rotation.q.coeffs()) + " (x, y, z, w) is not a unit quaternion",
             "give one of length 1");
    Rotation<3> unit = rotation;
    unit.q.normalize();
    return unit;
}

}  // namespace

template <int d>
const Guide<d>& guide_of(const Scene<d>& scene, Index body) {
    const GlobalId id = scene.bodies.id[body];
    for (const Drive<d>& drive : scene.drives)  // few are driven
        if (drive.body == id && drive.guide) return *drive.guide;
    fail(fmt::format("body {}", id), "is guided but has no guide", "add a Drive with a guide for it");
}

template <int d>
Image<d> wrap(const Domain<d>& domain, Vec<d>& x) {
    Image<d> away = Image<d>::Zero();
    // The last direction first: the next cell there may be displaced along x.
    for (int k = d - 1; k >= 0; --k) {
        const double period = domain.period[k];
        if (!(period > 0)) continue;
        const double turns = std::floor((x[k] - domain.lower[k]) / period);
        if (turns != 0) {
            if (!(std::abs(turns) <= 1e9))
                fail("domain.period", fmt::format("{} m is too short for a body at {} m", period, x[k]),
                     "place bodies near the domain");
            x[k] -= turns * period;
            if (k == d - 1) x[0] -= turns * domain.tilt;
            away[k] = static_cast<std::int32_t>(turns);
        }
        // Just below the lower side, rounding can give the upper side itself, which belongs to the next image.
        if (x[k] >= domain.lower[k] + period) {
            x[k] = domain.lower[k];
            if (k == d - 1) x[0] -= domain.tilt;
            ++away[k];
        }
    }
    return away;
}

template <int d>
Index Bodies<d>::index_of(GlobalId wanted) const {
    const auto place = std::lower_bound(id.begin(), id.end(), wanted);
    return place != id.end() && *place == wanted ? static_cast<Index>(place - id.begin()) : -1;
}

template <int d>
void Bodies<d>::remove(std::span<const std::uint8_t> gone) {
    for_each_array(*this, [&](auto& values) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < gone.size(); ++i) {
            if (gone[i] == 0) values[kept++] = values[i];
        }
        values.resize(kept);
    });
}

template <int d>
Index Scene<d>::add_shape(Shape<d> shape) {
    // Everything is asked of the shape before anything is stored, so that a failure leaves the scene as it was.
    const MassProperties<d> mass = mass_properties<d>(shape);
    const double outer = bounding_radius<d>(shape), inner = drystone::inner_radius<d>(shape);
    if (!(outer > 0))
        fail(fmt::format("shape {} ({})", shapes.size(), name_of<d>(shape)), "it has no extent",
             "give lengths > 0");
    shapes.push_back(std::move(shape));
    mass_.push_back(mass);
    outer_radius_.push_back(outer);
    inner_radius_.push_back(inner);
    return static_cast<Index>(shapes.size()) - 1;
}

template <int d>
Index Scene<d>::add_body(const BodyPlan<d>& plan) {
    const Index n = bodies.count();
    const GlobalId id = bodies.next_id;
    const std::string body = fmt::format("body {}", id);

    const auto shape_count = static_cast<Index>(mass_.size());
    if (plan.shape < 0 || plan.shape >= shape_count)
        fail(body + ".shape", fmt::format("there is no shape number {}", plan.shape),
             range(shape_count, "shape"));
    if (plan.material < 0 || plan.material >= materials.count())
        fail(body + ".material", fmt::format("there is no material number {}", plan.material),
             range(materials.count(), "material"));
    if (!(plan.size > 0 && std::isfinite(plan.size)))
        fail(body + ".size", fmt::format("{} is not a size", plan.size), "give a finite factor > 0");
    check_finite(body + ".position", plan.pose.position);
    check_finite(body + ".velocity", plan.velocity);
    check_finite(body + ".spin", plan.spin);
    const Rotation<d> rotation = checked(body + ".rotation", plan.pose.rotation);

    const Shape<d>& shape = shapes[plan.shape];
    const bool is_plane = std::holds_alternative<HalfSpace<d>>(shape);
    const MassProperties<d>& unit = mass_[plan.shape];
    const bool has_volume = unit.volume > 0 && std::isfinite(unit.volume);
    const bool is_free = plan.motion == Motion::free;
    if (is_free && !has_volume)
        fail(body + ".motion", fmt::format("a {} has no mass and cannot move freely", name_of<d>(shape)),
             "let it be held");
    if (plan.mass) {
        const double mass = *plan.mass;
        if (!std::isfinite(mass) || mass < 0 || (is_free && mass == 0))
            fail(body + ".mass",
                 fmt::format("{} is not the mass of a {} body", mass, is_free ? "free" : "held"),
                 is_free ? "give a finite number > 0 (kg)"
                         : "give a finite number >= 0 (kg), or leave it out");
    }
    if (is_plane) {
        const Vec<d> normal = matrix(rotation).col(d - 1);
        for (int k = 0; k < d; ++k)
            // Turned by hand (few digits), the plane still counts as parallel; a slope that shows does not.
            if (domain.period[k] > 0 && std::abs(normal[k]) > 1e-6)
                fail(body + ".rotation",
                     fmt::format("the half-space with normal {} ends the periodic direction {}", text(normal),
                                 k),
                     "turn it so that its surface runs along every periodic direction, or use no period "
                     "there");
    }

    // Mass m and density rho = m / (s^d volume): moments rho s^(d+2) inertia = m s^2 inertia / volume.
    double mass = plan.mass.value_or(0);
    if (!plan.mass && has_volume)
        mass = materials[plan.material].density * std::pow(plan.size, d) * unit.volume;
    Spin<d> inertia = Spin<d>::Zero();
    if (plan.inertia) {
        if (!plan.inertia->allFinite() || !(plan.inertia->array() > 0).all())
            fail(body + ".inertia", "the moments are not all positive", "give positive numbers (kg m^2)");
        inertia = *plan.inertia;
        if (2 * inertia.maxCoeff() > (1 + 1e-9) * inertia.sum() && d == 3)
            fail(body + ".inertia", fmt::format("no body has the moments {}", text(inertia)),
                 "the largest is at most the sum of the other two");
    } else if (has_volume)
        inertia = (mass * plan.size * plan.size / unit.volume) * unit.inertia;
    const bool weighs = mass >= least_mass && mass <= most_mass && (inertia.array() >= least_mass).all() &&
                        (inertia.array() <= most_mass).all();
    if (is_free && !weighs)
        fail(body + ".size",
             fmt::format("size {} makes a mass of {} kg and moments {} kg m^2", plan.size, mass,
                         text(inertia)),
             fmt::format("choose a size and a density that make {:g} to {:g} kg, and as many kg m^2",
                         least_mass, most_mass));

    Vec<d> position = plan.pose.position;
    const Image<d> image = wrap(domain, position);

    bodies.id.push_back(id);
    bodies.shape.push_back(plan.shape);
    bodies.size.push_back(plan.size);
    bodies.material.push_back(plan.material);
    bodies.motion.push_back(plan.motion);
    bodies.mass.push_back(mass);
    bodies.inertia.push_back(inertia);
    bodies.position.push_back(position);
    bodies.image.push_back(image);
    bodies.rotation.push_back(rotation);
    bodies.velocity.push_back(plan.velocity);
    bodies.spin.push_back(plan.spin);
    ++bodies.next_id;
    return n;
}

template <>
Eigen::Matrix<double, 1, 1> inertia_in_world<2>(const Rotation<2>& /*rotation*/, const Spin<2>& moments) {
    return moments;
}

template <>
Eigen::Matrix<double, 3, 3> inertia_in_world<3>(const Rotation<3>& rotation, const Spin<3>& moments) {
    if (moments[0] == moments[1] && moments[1] == moments[2])
        return moments.asDiagonal();  // without rounding
    const Mat<3> R = matrix(rotation);
    // Six products, mirrored: symmetric to the last bit, which a product of matrices is not.
    const Mat<3> scaled = R * moments.asDiagonal();
    Mat<3> I;
    for (int i = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j) I(i, j) = I(j, i) = scaled.row(i).dot(R.row(j));
    return I;
}

template const Guide<2>& guide_of(const Scene<2>&, Index);
template const Guide<3>& guide_of(const Scene<3>&, Index);
template Image<2> wrap(const Domain<2>&, Vec<2>&);
template Image<3> wrap(const Domain<3>&, Vec<3>&);
template struct Bodies<2>;
template struct Bodies<3>;
template struct Scene<2>;
template struct Scene<3>;

}  // namespace drystone
