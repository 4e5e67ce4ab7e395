#include "drystone/grains/measure.hpp"

#include "drystone/base/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drystone {

namespace {

constexpr double negligible_force = 1e-6;  // of the mean
using std::numbers::pi;

template <int d>
bool inside(const Region<d>* region, const Vec<d>& x) {
    return region == nullptr || contains<d>(*region, x);
}

/// Calls f for the images next to the cell, and for the cell itself, with the way to each.
template <int d, class F>
void for_each_image(const Domain<d>& domain, F&& f) {
    Image<d> k;
    for (k[0] = -1; k[0] <= 1; ++k[0])
        for (k[1] = -1; k[1] <= 1; ++k[1]) {
            const auto visit = [&] {
                for (int i = 0; i < d; ++i)
                    if (k[i] != 0 && !(domain.period[i] > 0)) return;
                f(domain.translation(k));
            };
            if constexpr (d == 2) {
                visit();
            } else {
                for (k[2] = -1; k[2] <= 1; ++k[2]) visit();
            }
        }
}

// --- How much of a line lies in a region -----------------------------------------------------------------

/// The part of [0, 1] left of what is already in [begin, end].
struct Span {
    double begin = 0, end = 1;
    /// Keeps what satisfies value + slope t >= 0.
    void keep(double value, double slope) {
        if (slope == 0) {
            if (value < 0) end = begin;
        } else if (slope > 0) {
            begin = std::max(begin, -value / slope);
        } else {
            end = std::min(end, -value / slope);
        }
    }
    /// Keeps what satisfies |p + t q| <= radius.
    template <class V>
    void keep_disk(const V& p, const V& q, double radius) {
        const double a = q.squaredNorm(), b = p.dot(q), c = p.squaredNorm() - radius * radius;
        if (a == 0) {
            if (c > 0) end = begin;
            return;
        }
        const double root = b * b - a * c;
        if (root <= 0) {
            end = begin;
            return;
        }
        begin = std::max(begin, (-b - std::sqrt(root)) / a);
        end = std::min(end, (-b + std::sqrt(root)) / a);
    }
    [[nodiscard]] double length() const { return std::max(0.0, end - begin); }
};

template <int d>
double share_of_line(const BoxRegion<d>& box, const Vec<d>& from, const Vec<d>& way) {
    Span span;
    for (int k = 0; k < d; ++k) {
        span.keep(from[k] - box.lower[k], way[k]);
        span.keep(box.upper[k] - from[k], -way[k]);
    }
    return span.length();
}

template <int d>
double share_of_line(const CylinderRegion<d>& cylinder, const Vec<d>& from, const Vec<d>& way) {
    Span span;
    Vec<d> p = from - cylinder.centre, q = way;
    if constexpr (d == 3) {
        const double along = cylinder.axis.dot(p), rate = cylinder.axis.dot(q);
        span.keep(along, rate);
        span.keep(cylinder.length - along, -rate);
        p -= along * cylinder.axis;
        q -= rate * cylinder.axis;
    }
    span.keep_disk(p, q, cylinder.radius);
    return span.length();
}

double share_of_line(const MeshRegion& mesh, const Vec<3>& from, const Vec<3>& way) {
    constexpr int points = 64;
    const Region<3> region = mesh;
    int found = 0;
    for (int i = 0; i < points; ++i)
        found += contains<3>(region, Vec<3>(from + (i + 0.5) / points * way)) ? 1 : 0;
    return static_cast<double>(found) / points;
}

template <int d>
double share_inside(const Scene<d>& scene, const Region<d>* region, const Vec<d>& from, const Vec<d>& way) {
    if (region == nullptr) return 1;
    const auto share = [&](const Vec<d>& begin) {
        return std::visit([&](const auto& one) { return share_of_line(one, begin, way); }, *region);
    };
    if (!scene.domain.periodic()) return share(from);
    // A line that leaves the cell comes in on the other side.
    Vec<d> end = from + way;
    if (wrap<d>(scene.domain, end).isZero()) return share(from);
    double sum = 0;
    for_each_image(scene.domain, [&](const Vec<d>& shift) { sum += share(from + shift); });
    return sum;
}

// --- How much of a grain lies in a region ----------------------------------------------------------------

/// Volumes of all shapes at size 1; 0 for those that have none.
template <int d>
std::vector<double> volumes_of(const Scene<d>& scene) {
    std::vector<double> volumes;
    for (const Shape<d>& shape : scene.shapes) {
        const double volume = mass_properties<d>(shape).volume;
        volumes.push_back(std::isfinite(volume) ? volume : 0.0);
    }
    return volumes;
}

template <int d>
double volume_of_body(const Scene<d>& scene, const std::vector<double>& volumes, Index i) {
    return volumes[scene.bodies.shape[i]] * std::pow(scene.bodies.size[i], d);
}

/// Volume of the part of a ball beyond a plane at a distance from its centre, negative where the centre is beyond it.
template <int d>
double cap(double radius, double distance) {
    if (distance >= radius) return 0;
    if constexpr (d == 2)
        return radius * radius * std::acos(distance / radius) -
               distance * std::sqrt(radius * radius - distance * distance);
    else
        return pi / 3 * (radius - distance) * (radius - distance) * (2 * radius + distance);
}

/// Volume of a ball in a box, where no two caps that the faces cut off meet.
template <int d>
std::optional<double> ball_in_box(const BoxRegion<d>& box, const Vec<d>& centre, double radius,
                                  double volume) {
    double cut = 0;
    double sides[d];  // distance of the nearer face in each direction
    for (int k = 0; k < d; ++k) {
        const double low = centre[k] - box.lower[k], high = box.upper[k] - centre[k];
        if (low <= -radius || high <= -radius) return 0;
        cut += cap<d>(radius, low) + cap<d>(radius, high);
        sides[k] = std::max(0.0, std::min(low, high));
    }
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < i; ++j) {
            if (sides[i] * sides[i] + sides[j] * sides[j] < radius * radius) return std::nullopt;
        }
    return volume - cut;
}

/// Element i of the sequence of van der Corput in a base: the digits of i mirrored at the point.
double mirrored(int i, int base) {
    double value = 0, digit = 1.0 / base;
    for (; i > 0; i /= base, digit /= base) value += digit * (i % base);
    return value;
}

/// Evenly spread points inside a shape at size 1 (Halton).
template <int d>
std::vector<Vec<d>> points_inside(const Shape<d>& shape) {
    constexpr int wanted = 2000, most = 40 * wanted;
    constexpr int bases[] = {2, 3, 5};
    const Bounds<d> box = bounds<d>(shape, 1, Pose<d>{});
    std::vector<Vec<d>> points;
    for (int i = 1; i < most && static_cast<int>(points.size()) < wanted; ++i) {
        Vec<d> x;
        for (int k = 0; k < d; ++k)
            x[k] = box.lower[k] + (box.upper[k] - box.lower[k]) * mirrored(i, bases[k]);
        if (inside_function<d>(shape, x) <= 0) points.push_back(x);
    }
    return points;
}

template <int d>
class CutGrains {
public:
    CutGrains(const Scene<d>& scene, const Region<d>& region)
        : scene_(scene), region_(region), bounds_(bounds_of<d>(region)), points_(scene.shapes.size()) {}

    /// Volume of body i, with its centre there, inside the region.
    double volume(Index i, const Vec<d>& centre, double whole) {
        const double radius = scene_.outer_radius(i);
        Bounds<d> around;
        around.include(centre);
        if (!around.widened(radius).overlaps(bounds_)) return 0;
        if (contains<d>(region_, centre, radius)) return whole;
        if (const auto* ball = std::get_if<Ball<d>>(&scene_.shape_of(i))) {
            if (const auto* box = std::get_if<BoxRegion<d>>(&region_)) {
                if (const auto exact =
                        ball_in_box<d>(*box, centre, ball->radius * scene_.bodies.size[i], whole))
                    return *exact;
            }
        }
        std::vector<Vec<d>>& points = points_[scene_.bodies.shape[i]];
        if (points.empty()) points = points_inside<d>(scene_.shape_of(i));
        if (points.empty()) return 0;
        const Mat<d> R = scene_.bodies.size[i] * matrix(scene_.bodies.rotation[i]);
        const auto found = std::count_if(points.begin(), points.end(), [&](const Vec<d>& x) {
            return contains<d>(region_, Vec<d>(centre + R * x));
        });
        return whole * static_cast<double>(found) / static_cast<double>(points.size());
    }

private:
    const Scene<d>& scene_;
    const Region<d>& region_;
    Bounds<d> bounds_;
    std::vector<std::vector<Vec<d>>> points_;  // by shape
};

/// The inverse of a positive semidefinite matrix where it has one, 0 elsewhere.
template <int d>
Mat<d> pseudo_inverse(const Mat<d>& S) {
    Vec<d> values, inverse;
    Mat<d> vectors;
    symmetric_eigen(d, S.data(), values.data(), vectors.data());
    const double least = 1e-9 * S.trace();
    for (int k = 0; k < d; ++k) inverse[k] = values[k] > least ? 1 / values[k] : 0;
    return vectors * inverse.asDiagonal() * vectors.transpose();
}

/// Sum of m v v^T over the grains of a region, of velocities about the mean field.
template <int d>
Mat<d> agitation(const Scene<d>& scene, const FlowField<d>& field, const Region<d>* region) {
    Mat<d> sum = Mat<d>::Zero();
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (!grain_in(scene, i, region)) continue;
        const Vec<d> v = scene.bodies.velocity[i] - field.mean -
                         field.gradient * (scene.bodies.position[i] - field.centre);
        sum += scene.bodies.mass[i] * v * v.transpose();
    }
    return sum;
}

}  // namespace

template <int d>
std::vector<ContactForce<d>> contact_forces(const StepMemory<d>& memory, double h) {
    std::vector<ContactForce<d>> forces;
    if (!(h > 0)) return forces;
    double sum = 0;
    for (std::size_t i = 0; i < memory.contacts.size(); ++i) {
        const Contact<d>& c = memory.contacts[i];
        const Vec<d> impulse = impulse_of(memory.assembled, memory.solution.r, c, static_cast<Index>(i));
        if (impulse.isZero(0)) continue;
        forces.push_back({c.a, c.b, c.key.image, c.arm_a, c.arm_b, c.normal, impulse / h});
        sum += forces.back().force.norm();
    }
    const double least = forces.empty() ? 0 : negligible_force * sum / static_cast<double>(forces.size());
    std::erase_if(forces, [&](const ContactForce<d>& f) { return f.force.norm() < least; });
    return forces;
}

template <int d>
Coordination coordination(const Scene<d>& scene, const std::vector<ContactForce<d>>& forces,
                          const Region<d>* region) {
    const Bodies<d>& bodies = scene.bodies;
    const std::size_t n = bodies.id.size();
    std::vector<int> contacts(n, 0);
    std::vector<char> frictional(n, 0), rattles(n, 0);
    std::vector<std::vector<Index>> touching(n);
    for (std::size_t i = 0; i < forces.size(); ++i) {
        const ContactForce<d>& f = forces[i];
        const bool rough = scene.materials.law(bodies.material[f.a], bodies.material[f.b]).friction > 0;
        for (const Index j : {f.a, f.b}) {
            ++contacts[j];
            if (rough) frictional[j] = 1;
            touching[j].push_back(static_cast<Index>(i));
        }
    }
    std::vector<char> gone(forces.size(), 0);
    std::vector<Index> doubtful;
    for (Index i = bodies.count() - 1; i >= 0; --i)
        if (bodies.is_free(i)) doubtful.push_back(i);
    while (!doubtful.empty()) {
        const Index i = doubtful.back();
        doubtful.pop_back();
        if (rattles[i] || contacts[i] >= (frictional[i] ? 2 : d + 1)) continue;
        rattles[i] = 1;
        for (const Index k : touching[i]) {
            if (gone[k]) continue;
            gone[k] = 1;
            const Index other = forces[k].a == i ? forces[k].b : forces[k].a;
            --contacts[i];
            --contacts[other];
            if (bodies.is_free(other)) doubtful.push_back(other);
        }
    }
    Coordination result;
    std::int64_t ends = 0, pairs = 0;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!grain_in(scene, i, region)) continue;
        ++result.grains;
        if (rattles[i]) ++result.rattlers;
        const ContactForce<d>* last = nullptr;
        for (const Index k : touching[i]) {
            if (gone[k]) continue;
            const ContactForce<d>& f = forces[k];
            ++ends;
            // Contacts of a pair follow each other. A body that touches its own image is there twice, and has two
            // neighbours.
            if (f.a == f.b || last == nullptr || last->a != f.a || last->b != f.b || last->image != f.image)
                ++pairs;
            last = &f;
        }
    }
    const double held = static_cast<double>(result.grains - result.rattlers);
    if (held > 0) {
        result.contacts = static_cast<double>(ends) / held;
        result.neighbours = static_cast<double>(pairs) / held;
    }
    return result;
}

template <int d>
double mean_diameter(const Scene<d>& scene, const Region<d>* region) {
    const std::vector<double> volumes = volumes_of(scene);
    double sum = 0;
    std::int64_t grains = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (!grain_in(scene, i, region)) continue;
        const double volume = volume_of_body(scene, volumes, i);
        sum += d == 2 ? std::sqrt(4 * volume / pi) : std::cbrt(6 * volume / pi);
        ++grains;
    }
    return grains > 0 ? sum / static_cast<double>(grains) : 0;
}

template <int d>
double volume_in(const Scene<d>& scene, const Region<d>* region) {
    if (region != nullptr) return volume_of<d>(*region);
    const Vec<d>& period = scene.domain.period;
    return (period.array() > 0).all() ? period.prod() : std::numeric_limits<double>::quiet_NaN();
}

template <int d>
double solid_volume(const Scene<d>& scene, const Region<d>* region) {
    const std::vector<double> volumes = volumes_of(scene);
    std::optional<CutGrains<d>> cut;
    if (region != nullptr) cut.emplace(scene, *region);
    double sum = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (!scene.bodies.is_free(i)) continue;
        const double whole = volume_of_body(scene, volumes, i);
        if (!cut) {
            sum += whole;
        } else if (scene.domain.periodic()) {
            for_each_image(scene.domain, [&](const Vec<d>& shift) {
                sum += cut->volume(i, scene.bodies.position[i] + shift, whole);
            });
        } else {
            sum += cut->volume(i, scene.bodies.position[i], whole);
        }
    }
    return sum;
}

template <int d>
double packing_fraction(const Scene<d>& scene, const Region<d>* region) {
    return solid_volume(scene, region) / volume_in(scene, region);
}

template <int d>
double FlowField<d>::shear_rate() const {
    Mat<d> D = 0.5 * (gradient + gradient.transpose());
    D -= D.trace() / d * Mat<d>::Identity();
    return std::sqrt(2 * D.squaredNorm());
}

template <int d>
FlowField<d> flow_field(const Scene<d>& scene, const Region<d>* region) {
    const Bodies<d>& bodies = scene.bodies;
    FlowField<d> field;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!grain_in(scene, i, region)) continue;
        ++field.grains;
        field.mass += bodies.mass[i];
        field.centre += bodies.mass[i] * bodies.position[i];
        field.mean += bodies.mass[i] * bodies.velocity[i];
    }
    if (field.mass > 0) {
        field.centre /= field.mass;
        field.mean /= field.mass;
    }
    const Domain<d>& domain = scene.domain;
    Mat<d> own = Mat<d>::Zero();  // of the cell
    own.diagonal() = domain.rate;
    own(0, d - 1) += domain.shear_rate;
    if (region == nullptr && !own.isZero(0)) {
        field.gradient = own;
        return field;
    }
    if (field.grains < d + 2) return field;
    Mat<d> S = Mat<d>::Zero(), B = Mat<d>::Zero();
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!grain_in(scene, i, region)) continue;
        Vec<d> x = bodies.position[i] - field.centre;
        // Along a period the velocity must repeat itself, so that it has no slope.
        if (region == nullptr) x = (domain.period.array() > 0).select(0.0, x.array()).matrix();
        S += bodies.mass[i] * x * x.transpose();
        B += bodies.mass[i] * (bodies.velocity[i] - field.mean) * x.transpose();
    }
    field.gradient = B * pseudo_inverse<d>(S);
    return field;
}

template <int d>
double granular_temperature(const Scene<d>& scene, const Region<d>* region) {
    const FlowField<d> field = flow_field(scene, region);
    return field.mass > 0 ? agitation(scene, field, region).trace() / (d * field.mass) : 0;
}

template <int d>
Stress<d> stress(const Scene<d>& scene, const std::vector<ContactForce<d>>& forces, const Region<d>* region) {
    const Bodies<d>& bodies = scene.bodies;
    const double volume = volume_in(scene, region);
    Stress<d> result;
    const auto add = [&](const Vec<d>& from, const Vec<d>& way, const Vec<d>& force_at_from) {
        const double share = share_inside(scene, region, from, way);
        // Compression: the force on the body at the beginning points away from the other end.
        if (share > 0) result.contact -= share / volume * force_at_from * way.transpose();
    };
    for (const ContactForce<d>& f : forces) {
        const bool free_a = bodies.is_free(f.a), free_b = bodies.is_free(f.b);
        if (free_a && free_b) {
            add(bodies.position[f.a], f.arm_a - f.arm_b, f.force);
        } else if (free_a) {
            add(bodies.position[f.a], f.arm_a, f.force);
        } else if (free_b) {
            add(bodies.position[f.b], f.arm_b, -f.force);
        }
    }
    result.kinetic = agitation(scene, flow_field(scene, region), region) / volume;
    return result;
}

template <int d>
Mat<d> fabric(const Scene<d>& scene, const std::vector<ContactForce<d>>& forces, const Region<d>* region) {
    Mat<d> sum = Mat<d>::Zero();
    std::int64_t count = 0;
    for (const ContactForce<d>& f : forces) {
        // The contact of a half-space is near the other body, not near its own centre.
        const bool from_a = scene.bodies.is_free(f.a);
        Vec<d> point = from_a ? scene.bodies.position[f.a] + f.arm_a : scene.bodies.position[f.b] + f.arm_b;
        if (scene.domain.periodic()) wrap<d>(scene.domain, point);
        if (!inside(region, point)) continue;
        sum += f.normal * f.normal.transpose();
        ++count;
    }
    return count > 0 ? Mat<d>(sum / static_cast<double>(count)) : sum;
}

template <int d>
double inertial_number(const Scene<d>& scene, const std::vector<ContactForce<d>>& forces,
                       const Region<d>* region) {
    const FlowField<d> field = flow_field(scene, region);
    const std::vector<double> volumes = volumes_of(scene);
    double solid = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (grain_in(scene, i, region)) solid += volume_of_body(scene, volumes, i);
    const double pressure = stress(scene, forces, region).pressure();
    const double rate = field.shear_rate();
    if (!(solid > 0) || rate == 0) return 0;
    if (!(pressure > 0)) return std::isnan(pressure) ? pressure : infinity;
    return rate * mean_diameter(scene, region) * std::sqrt(field.mass / solid / pressure);
}

template <int d>
Vec<d> mass_flux(const Scene<d>& scene, const Region<d>* region) {
    const FlowField<d> field = flow_field(scene, region);
    return field.mass * field.mean / volume_in(scene, region);
}

template <int d>
double largest_overlap(const StepMemory<d>& memory) {
    double overlap = 0;
    for (const Contact<d>& c : memory.contacts) overlap = std::max(overlap, -c.gap);
    return overlap;
}

#define DRYSTONE_INSTANTIATE(d)                                                                              \
    template std::vector<ContactForce<d>> contact_forces(const StepMemory<d>&, double);                      \
    template Coordination coordination(const Scene<d>&, const std::vector<ContactForce<d>>&,                 \
                                       const Region<d>*);                                                    \
    template double mean_diameter(const Scene<d>&, const Region<d>*);                                        \
    template double volume_in(const Scene<d>&, const Region<d>*);                                            \
    template double solid_volume(const Scene<d>&, const Region<d>*);                                         \
    template double packing_fraction(const Scene<d>&, const Region<d>*);                                     \
    template struct FlowField<d>;                                                                            \
    template FlowField<d> flow_field(const Scene<d>&, const Region<d>*);                                     \
    template double granular_temperature(const Scene<d>&, const Region<d>*);                                 \
    template Stress<d> stress(const Scene<d>&, const std::vector<ContactForce<d>>&, const Region<d>*);       \
    template Mat<d> fabric(const Scene<d>&, const std::vector<ContactForce<d>>&, const Region<d>*);          \
    template double inertial_number(const Scene<d>&, const std::vector<ContactForce<d>>&, const Region<d>*); \
    template Vec<d> mass_flux(const Scene<d>&, const Region<d>*);                                            \
    template double largest_overlap(const StepMemory<d>&);
DRYSTONE_INSTANTIATE(2)
DRYSTONE_INSTANTIATE(3)
#undef DRYSTONE_INSTANTIATE

}  // namespace drystone
