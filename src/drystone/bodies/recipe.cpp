#include "drystone/bodies/recipe.hpp"

#include "drystone/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drystone {

namespace {

/// Part of a standard normal distribution below z; exact in the lower tail.
double normal_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

/// From what lies between low and high, in the tail where differences of probabilities keep their digits.
double draw_normal(double mean, double deviation, double low, double high, double u) {
    double a = (low - mean) / deviation, b = (high - mean) / deviation;
    const bool mirrored = a > 0;
    if (mirrored) {
        std::swap(a, b);
        a = -a;
        b = -b;
        u = 1 - u;
    }
    const double below_a = normal_below(a), below_b = normal_below(b);
    const double p = std::clamp(below_a + u * (below_b - below_a), 1e-300, 1 - 0x1p-53);
    const double z = (mirrored ? -1 : 1) * normal_quantile(p);
    return std::clamp(mean + deviation * z, low, high);
}

/// Number of grains per mass in a class of sizes a to b of which the mass is spread evenly over the size: the mean of
/// size^-d.
double grains_per_mass(double a, double b, int d) {
    return d == 2 ? 1 / (a * b) : (a + b) / (2 * a * a * b * b);
}

/// The size below which a part u of the grains of such a class is.
double within_class(double a, double b, double u, int d) {
    if (d == 2) return 1 / (1 / a - u * (1 / a - 1 / b));
    const double low = 1 / (a * a), high = 1 / (b * b);
    return 1 / std::sqrt(low - u * (low - high));
}

double draw_from(const TableSize& table, double u, int d) {
    const std::size_t classes = table.size.size() - 1;
    auto grains = [&](std::size_t i) {
        const double share = table.share[i + 1] - table.share[i];
        return table.by_mass ? share * grains_per_mass(table.size[i], table.size[i + 1], d) : share;
    };
    double total = 0;
    for (std::size_t i = 0; i < classes; ++i) total += grains(i);
    double wanted = u * total;
    std::size_t last = 0;
    for (std::size_t i = 0; i < classes; ++i) {
        const double here = grains(i);
        if (!(here > 0)) continue;
        last = i;
        if (wanted < here) break;
        wanted -= here;
    }
    // Rounding may leave a trace beyond the last class.
    const double part = std::min(wanted / grains(last), 1.0);
    const double a = table.size[last], b = table.size[last + 1];
    return std::clamp(table.by_mass ? within_class(a, b, part, d) : a + part * (b - a), a, b);
}

void check_ends(double low, double high, const std::string& where) {
    if (!(low > 0 && low < high && std::isfinite(high)))
        fail(where, fmt::format("from {} to {} is no range of sizes", low, high),
             "give min > 0 and a larger max");
}

/// Where next to nothing of the distribution lies between the ends, its inverse has no digits left.
void check_reached(double mean, double deviation, double low, double high, const std::string& where) {
    if (low > mean + 8 * deviation || high < mean - 8 * deviation)
        fail(where, "hardly any of the distribution lies between min and max",
             "choose them nearer to its centre");
}

struct Check {
    const std::string& where;

    void operator()(const UniformSize& law) const {
        if (!(law.low > 0 && law.low <= law.high && std::isfinite(law.high)))
            fail(where, fmt::format("[{}, {}] is no range of sizes", law.low, law.high),
                 "give two positive factors, the smaller first");
    }
    void operator()(const NormalSize& law) const {
        check_ends(law.low, law.high, where);
        if (!(law.deviation > 0 && std::isfinite(law.deviation) && std::isfinite(law.mean)))
            fail(where, fmt::format("a deviation of {} about {} is no distribution", law.deviation, law.mean),
                 "give a finite mean and a deviation > 0");
        check_reached(law.mean, law.deviation, law.low, law.high, where);
    }
    void operator()(const LogNormalSize& law) const {
        check_ends(law.low, law.high, where);
        if (!(law.median > 0 && law.spread > 1 && std::isfinite(law.spread) && std::isfinite(law.median)))
            fail(where, fmt::format("a spread of {} about {} is no distribution", law.spread, law.median),
                 "give a median > 0 and a spread (geometric standard deviation) > 1");
        check_reached(std::log(law.median), std::log(law.spread), std::log(law.low), std::log(law.high),
                      where);
    }
    void operator()(const TableSize& law) const {
        if (law.size.size() != law.share.size() || law.size.size() < 2)
            fail(where,
                 fmt::format("has {} sizes and {} shares, which make no curve", law.size.size(),
                             law.share.size()),
                 "give two or more sizes and as many shares");
        for (std::size_t i = 0; i < law.size.size(); ++i) {
            const bool rises = i == 0 || (law.size[i] > law.size[i - 1] && law.share[i] >= law.share[i - 1]);
            if (!(law.size[i] > 0 && std::isfinite(law.size[i]) && rises))
                fail(where,
                     fmt::format("at point {} the size is {} and the share {}", i, law.size[i], law.share[i]),
                     "give positive sizes that rise, and shares that do not fall");
        }
        if (std::abs(law.share.front()) > 1e-9 || std::abs(law.share.back() - 1) > 1e-9)
            fail(where, fmt::format("the shares go from {} to {}", law.share.front(), law.share.back()),
                 "give the shares below each size, from 0 to 1");
    }
};

Vec<2> random_direction(const Random& random, std::uint64_t id, Vec<2> /*plane*/) {
    const double angle = 2 * std::numbers::pi * random(id, draws::direction);
    return {std::cos(angle), std::sin(angle)};
}
Vec<3> random_direction(const Random& random, std::uint64_t id, Vec<3> /*space*/) {
    const double z = random.between(-1, 1, id, draws::direction),
                 angle = 2 * std::numbers::pi * random(id, draws::direction + 1);
    const double r = std::sqrt(1 - z * z);
    return {r * std::cos(angle), r * std::sin(angle), z};
}

Rotation<2> random_rotation(const Random& random, std::uint64_t id, Vec<2> /*plane*/) {
    return {2 * std::numbers::pi * random(id, draws::rotation)};
}
/// Uniform over all rotations (Shoemake 1992, "Uniform random rotations").
Rotation<3> random_rotation(const Random& random, std::uint64_t id, Vec<3> /*space*/) {
    const double u = random(id, draws::rotation);
    const double a = 2 * std::numbers::pi * random(id, draws::rotation + 1),
                 b = 2 * std::numbers::pi * random(id, draws::rotation + 2);
    Rotation<3> rotation;
    rotation.q = Eigen::Quaterniond(std::sqrt(u) * std::cos(b), std::sqrt(1 - u) * std::sin(a),
                                    std::sqrt(1 - u) * std::cos(a), std::sqrt(u) * std::sin(b))
                     .normalized();
    return rotation;
}

template <int d>
const typename Recipe<d>::Part& draw_part(const Recipe<d>& recipe, const Random& random, std::uint64_t id) {
    if (recipe.parts.size() == 1) return recipe.parts.front();
    double total = 0;
    for (const auto& part : recipe.parts) total += part.weight;
    double wanted = total * random(id, draws::part);
    for (const auto& part : recipe.parts) {
        if (wanted < part.weight) return part;
        wanted -= part.weight;
    }
    return recipe.parts.back();
}

}  // namespace

double normal_quantile(double p) {
    if (p > 0.5) return -normal_quantile(1 - p);
    // Start: Abramowitz and Stegun 26.2.23, to 4.5e-4. Then Halley's method on the lower tail, whose relative error a
    // step cubes.
    const double t = std::sqrt(-2 * std::log(p));
    double z =
        (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
    for (int k = 0; k < 2; ++k) {
        const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
        const double newton = (normal_below(z) - p) / density;
        z -= newton / (1 + 0.5 * z * newton);
    }
    return z;
}

void check(const SizeLaw& law, const std::string& where) { std::visit(Check{where}, law); }

double draw_size(const SizeLaw& law, double u, int d) {
    if (const auto* uniform = std::get_if<UniformSize>(&law))
        return uniform->low + (uniform->high - uniform->low) * u;
    if (const auto* normal = std::get_if<NormalSize>(&law))
        return draw_normal(normal->mean, normal->deviation, normal->low, normal->high, u);
    if (const auto* log_normal = std::get_if<LogNormalSize>(&law)) {
        const double x = draw_normal(std::log(log_normal->median), std::log(log_normal->spread),
                                     std::log(log_normal->low), std::log(log_normal->high), u);
        return std::clamp(std::exp(x), log_normal->low, log_normal->high);
    }
    return draw_from(std::get<TableSize>(law), u, d);
}

double largest_size(const SizeLaw& law) {
    if (const auto* table = std::get_if<TableSize>(&law)) return table->size.back();
    if (const auto* normal = std::get_if<NormalSize>(&law)) return normal->high;
    if (const auto* log_normal = std::get_if<LogNormalSize>(&law)) return log_normal->high;
    return std::get<UniformSize>(law).high;
}

template <int d>
const ShapeVariant<d>& draw_variant(const std::vector<ShapeVariant<d>>& variants, const Random& random,
                                    GlobalId id) {
    const std::size_t count = variants.size();
    if (count == 1) return variants.front();
    const double u = random(static_cast<std::uint64_t>(id), draws::variant);
    return variants[std::min(static_cast<std::size_t>(u * static_cast<double>(count)), count - 1)];
}

template <int d>
BodyPlan<d> draw_body(const Recipe<d>& recipe, const Random& random, GlobalId id) {
    const auto object = static_cast<std::uint64_t>(id);
    const auto& part = draw_part(recipe, random, object);
    const ShapeVariant<d>& variant = draw_variant(part.variants, random, id);
    BodyPlan<d> body;
    body.shape = variant.shape;
    body.material = part.material;
    body.size = variant.size * draw_size(part.size, random(object, draws::size), d);
    body.pose.rotation = recipe.turned ? random_rotation(random, object, Vec<d>()) : variant.pose.rotation;
    body.velocity = recipe.velocity;
    if (recipe.speed > 0) body.velocity += recipe.speed * random_direction(random, object, Vec<d>());
    return body;
}

template <int d>
double largest_radius(const Scene<d>& scene, const Recipe<d>& recipe) {
    double largest = 0;
    for (const auto& part : recipe.parts) {
        for (const ShapeVariant<d>& variant : part.variants)
            largest = std::max(largest, largest_size(part.size) * variant.size *
                                            bounding_radius<d>(scene.shapes[variant.shape]));
    }
    return largest;
}

#define DRYSTONE_INSTANTIATE(d)                                                                      \
    template const ShapeVariant<d>& draw_variant(const std::vector<ShapeVariant<d>>&, const Random&, \
                                                 GlobalId);                                          \
    template BodyPlan<d> draw_body(const Recipe<d>&, const Random&, GlobalId);                       \
    template double largest_radius(const Scene<d>&, const Recipe<d>&);
DRYSTONE_INSTANTIATE(2)
DRYSTONE_INSTANTIATE(3)
#undef DRYSTONE_INSTANTIATE

}  // namespace drystone
