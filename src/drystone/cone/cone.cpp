#include "drystone/cone/cone.hpp"

#include "drystone/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

void check_dim(const char* kind, int dim, int lowest, int highest) {
    if (dim < lowest || dim > highest) {
        fail(std::string("cone ") + kind, "dimension " + std::to_string(dim),
             "use " + std::to_string(lowest) + " to " + std::to_string(highest));
    }
}

void check_coefficient(const char* name, double value) {
    if (!(value >= 0))
        fail(std::string("cone coefficient ") + name, "value " + std::to_string(value), "use a number >= 0");
}

double norm(std::span<const double> x, const ConeGroup& g) {
    if (g.size == 1) return std::abs(x[g.start]);
    if (g.size == 2) return std::sqrt(x[g.start] * x[g.start] + x[g.start + 1] * x[g.start + 1]);
    double sum = 0;
    for (int c = g.start; c < g.start + g.size; ++c) sum += x[c] * x[c];
    return std::sqrt(sum);
}

double radius(const ConeGroup& g, double normal) {
    return std::isinf(g.mu) ? infinity : g.offset + g.mu * normal;
}

}  // namespace

Cone Cone::second_order(int dim, double mu) {
    check_dim("second_order", dim, 2, max_block);
    check_coefficient("mu", mu);
    return {ConeKind::second_order, static_cast<std::uint8_t>(dim), {mu, 0, 0}};
}

Cone Cone::truncated(int dim, double mu, double offset) {
    check_dim("truncated", dim, 2, max_block);
    check_coefficient("mu", mu);
    check_coefficient("offset", offset);
    return {ConeKind::truncated, static_cast<std::uint8_t>(dim), {mu, offset, 0}};
}

Cone Cone::wrench(int dim, double mu, double rolling, double spinning) {
    if (dim != 3 && dim != 5 && dim != 6)
        fail("cone wrench", "dimension " + std::to_string(dim), "use 3, 5 or 6");
    check_coefficient("mu", mu);
    check_coefficient("rolling", rolling);
    check_coefficient("spinning", spinning);
    return {ConeKind::wrench, static_cast<std::uint8_t>(dim), {mu, rolling, spinning}};
}

Cone Cone::free(int dim) {
    check_dim("free", dim, 1, max_block);
    return {ConeKind::free, static_cast<std::uint8_t>(dim), {}};
}

Cone Cone::interval(double lower, double upper) {
    if (!(lower <= upper)) {
        fail("cone interval", "[" + std::to_string(lower) + ", " + std::to_string(upper) + "] is empty",
             "give the lower end first");
    }
    return {ConeKind::interval, 1, {lower, upper, 0}};
}

ConeGroups groups_of(const Cone& cone) {
    ConeGroups out;
    const auto& c = cone.coefficient;
    switch (cone.kind) {
        case ConeKind::second_order:
            out.group[out.count++] = {1, cone.dim - 1, c[0], 0};
            break;
        case ConeKind::truncated:
            out.group[out.count++] = {1, cone.dim - 1, c[0], c[1]};
            break;
        case ConeKind::wrench:
            if (cone.dim == 3) {
                out.group[out.count++] = {1, 1, c[0], 0};
                out.group[out.count++] = {2, 1, c[1], 0};
            } else {
                out.group[out.count++] = {1, 2, c[0], 0};
                if (cone.dim == 6) out.group[out.count++] = {3, 1, c[2], 0};
                out.group[out.count++] = {cone.dim - 2, 2, c[1], 0};
            }
            break;
        default:
            break;
    }
    return out;
}

bool dilates(const Cone& cone) {
    if (!(cone.dilatancy > 0)) return false;
    const ConeGroups groups = groups_of(cone);
    return std::any_of(groups.begin(), groups.end(),
                       [](const ConeGroup& g) { return g.mu > 0 && !std::isinf(g.mu); });
}

bool is_torque(const Cone& cone, int c) {
    return cone.kind == ConeKind::wrench && c >= (cone.dim == 3 ? 2 : 3);
}

Cone with_torques_scaled(const Cone& cone, double length) {
    Cone scaled = cone;
    if (cone.kind == ConeKind::wrench) {
        scaled.coefficient[1] /= length;
        scaled.coefficient[2] /= length;
    }
    return scaled;
}

void project(const Cone& cone, std::span<double> x) {
    if (cone.kind == ConeKind::free) return;
    if (cone.kind == ConeKind::interval) {
        x[0] = std::clamp(x[0], cone.coefficient[0], cone.coefficient[1]);
        return;
    }
    const ConeGroups groups = groups_of(cone);
    std::array<double, 3> length{};
    bool inside = x[0] >= 0;
    for (int j = 0; j < groups.count; ++j) {
        length[j] = norm(x, groups.group[j]);
        inside = inside && length[j] <= radius(groups.group[j], x[0]);
    }
    if (inside) return;
    // The normal part y of the projection is the root of the increasing, concave, piecewise linear function
    //     phi(y) = y - x_N - sum over |x_j| > radius_j(y) of mu_j (|x_j| - radius_j(y)),   clipped at y >= 0  (eq. 6).
    // Newton from the left is monotone and ends on the right piece after at most one step per group.
    double y = std::max(0.0, x[0]);
    for (int pass = 0; pass <= groups.count; ++pass) {
        double numerator = x[0];
        double denominator = 1;
        for (int j = 0; j < groups.count; ++j) {
            const ConeGroup& g = groups.group[j];
            if (length[j] > radius(g, y)) {
                numerator += g.mu * (length[j] - g.offset);
                denominator += g.mu * g.mu;
            }
        }
        const double next = std::max(y, numerator / denominator);
        if (next == y) break;
        y = next;
    }
    x[0] = y;
    for (int j = 0; j < groups.count; ++j) {
        const ConeGroup& g = groups.group[j];
        const double r = radius(g, y);
        if (length[j] > r) {
            for (int c = g.start; c < g.start + g.size; ++c) x[c] *= r / length[j];
        }
    }
}

void project_dual(const Cone& cone, std::span<double> x) {
    if (cone.kind == ConeKind::interval) {
        // Recession cone of an interval: {0}, a half line or the line; velocities: the line, a half line or {0}.
        const bool down = std::isinf(cone.coefficient[0]), up = std::isinf(cone.coefficient[1]);
        if (down) x[0] = std::min(x[0], 0.0);
        if (up) x[0] = std::max(x[0], 0.0);
        return;
    }
    // Moreau: the projection on K* is x + projection of -x on K.
    Cone recession = cone;
    if (cone.kind == ConeKind::truncated) recession = Cone::second_order(cone.dim, cone.mu());
    std::array<double, max_block> minus{};
    for (int c = 0; c < cone.dim; ++c) minus[c] = -x[c];
    project(recession, std::span(minus).first(cone.dim));
    for (int c = 0; c < cone.dim; ++c) x[c] += minus[c];
}

double distance(const Cone& cone, std::span<const double> x) {
    std::array<double, max_block> nearest{};
    std::copy(x.begin(), x.begin() + cone.dim, nearest.begin());
    project(cone, std::span(nearest).first(cone.dim));
    double sum = 0;
    for (int c = 0; c < cone.dim; ++c) sum += (x[c] - nearest[c]) * (x[c] - nearest[c]);
    return std::sqrt(sum);
}

double shift(const Cone& cone, std::span<const double> u) {
    double s = 0;
    for (const ConeGroup& g : groups_of(cone)) {
        if (g.mu > 0 && !std::isinf(g.mu)) s += g.mu * norm(u, g);
    }
    return (1 - cone.dilatancy) * s;
}

}  // namespace drystone
