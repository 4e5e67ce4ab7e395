#include "drystone/shapes/vessels.hpp"

#include "drystone/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drystone {

namespace {

constexpr double full_turn = 2 * std::numbers::pi;

Vec<2> polar(double radius, double angle) { return {radius * std::cos(angle), radius * std::sin(angle)}; }

}  // namespace

std::vector<Vec<2>> drum_section(const DrumPlan& plan) {
    const double half = 0.5 * plan.lifter_width / plan.radius;  // angle at the wall
    if (plan.lifters > 0 && !(plan.lifter_height < plan.radius))
        fail("lifters", "reach the middle of the drum", "give a height below its radius");
    if (plan.lifters > 0 && !(2 * half * plan.lifters < full_turn))
        fail("lifters", "leave no wall between them", "give fewer, or a smaller width");
    std::vector<Vec<2>> loop;
    if (plan.lifters == 0) {
        for (int k = 0; k < plan.segments; ++k)
            loop.push_back(polar(plan.radius, full_turn * k / plan.segments));
        return loop;
    }
    // Between two ridges the wall has as many parts as come nearest to the wanted ones. Half the angle at the top keeps
    // all of the section in sight of its middle, so that the caps can be fans.
    const int parts =
        std::max(1, static_cast<int>(std::lround(static_cast<double>(plan.segments) / plan.lifters)));
    const double pitch = full_turn / plan.lifters, wall = pitch - 2 * half;
    for (int i = 0; i < plan.lifters; ++i) {
        const double middle = pitch * i;
        loop.push_back(polar(plan.radius - plan.lifter_height, middle - 0.5 * half));
        loop.push_back(polar(plan.radius - plan.lifter_height, middle + 0.5 * half));
        for (int k = 0; k <= parts; ++k) loop.push_back(polar(plan.radius, middle + half + wall * k / parts));
    }
    return loop;
}

TriangleMesh make_drum(const DrumPlan& plan) {
    const std::vector<Vec<2>> loop = drum_section(plan);
    const auto n = static_cast<Index>(loop.size());
    std::vector<Vec<3>> x;
    for (const double y : {-0.5 * plan.length, 0.5 * plan.length}) {
        for (const Vec<2>& p : loop) x.emplace_back(p[0], y, p[1]);
    }
    for (const double y : {-0.5 * plan.length, 0.5 * plan.length}) x.emplace_back(0, y, 0);
    std::vector<std::array<Index, 3>> triangles;
    for (Index k = 0; k < n; ++k) {
        const Index next = (k + 1) % n;
        triangles.push_back({k, next, n + next});
        triangles.push_back({k, n + next, n + k});
        if (!plan.caps) continue;
        triangles.push_back({2 * n, next, k});
        triangles.push_back({2 * n + 1, n + k, n + next});
    }
    return make_mesh(std::move(x), std::move(triangles));
}

TriangleMesh make_hopper(const HopperPlan& plan) {
    if (!(plan.outlet < plan.radius)) fail("outlet", "is as wide as the top", "give less than the radius");
    const Index n = plan.pyramid ? 4 : plan.segments;
    const double corner = plan.pyramid ? std::numbers::sqrt2 : 1.0,
                 start = plan.pyramid ? full_turn / 8 : 0.0;
    std::vector<Vec<3>> x;
    const auto add_level = [&](double radius, double z) {
        for (Index k = 0; k < n; ++k) {
            const Vec<2> p = polar(corner * radius, start + full_turn * k / n);
            x.emplace_back(p[0], p[1], z);
        }
    };
    add_level(plan.outlet, 0);
    add_level(plan.radius, plan.height);
    if (plan.rise > 0) add_level(plan.radius, plan.height + plan.rise);
    std::vector<std::array<Index, 3>> triangles;
    for (Index below = 0; below + n < static_cast<Index>(x.size()); below += n) {
        for (Index k = 0; k < n; ++k) {
            const Index next = (k + 1) % n;
            triangles.push_back({below + k, below + n + k, below + n + next});
            triangles.push_back({below + k, below + n + next, below + next});
        }
    }
    return make_mesh(std::move(x), std::move(triangles));
}

}  // namespace drystone
