#include "penalty_scenes.hpp"

#include "drystone/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace drystone::validation {

namespace {

constexpr double g = 9.81;

PenaltyBody solid_sphere(double radius, double mass, const Vec<3>& position) {
    PenaltyBody body;
    body.position = position;
    body.mass = mass;
    body.inertia.setConstant(0.4 * mass * radius * radius);
    return body;
}

void one_material(PenaltyScene& scene, double stiffness, double friction) {
    scene.stiffness.setConstant(1, 1, stiffness);
    scene.friction.setConstant(1, 1, friction);
}

}  // namespace

Index spheres_of(int along) { return along * (along + 1) * (2 * along + 1) / 6; }

PenaltyScene make_pyramid(const Pyramid& pyramid) {
    if (pyramid.along < 2)
        fail("pyramid: along", "is " + std::to_string(pyramid.along),
             "give 2 spheres or more along the base");
    PenaltyScene scene;
    const double d = pyramid.diameter, radius = 0.5 * d;
    const double mass = pyramid.density * std::numbers::pi / 6 * d * d * d;
    for (int layer = 0; layer < pyramid.along; ++layer) {
        const int along = pyramid.along - layer;
        for (int i = 0; i < along; ++i)
            for (int j = 0; j < along; ++j) {
                const double half = 0.5 * (along - 1);
                const auto body = static_cast<Index>(scene.bodies.size());
                scene.bodies.push_back(solid_sphere(
                    radius, mass, Vec<3>((i - half) * d, (j - half) * d, layer * d / std::numbers::sqrt2)));
                scene.bodies.back().fixed = layer == 0;
                scene.balls.push_back(
                    {.body = body, .radius = radius, .material = pyramid.two_materials ? body % 2 : 0});
            }
    }
    const double k_n = 2 * pyramid.young / (1 - pyramid.poisson * pyramid.poisson);
    // 4/3 E* (R/2)^(1/2) with E* = k_n / 4.
    const double k = pyramid.law == SpringLaw::hooke ? k_n * radius : k_n / 3 * std::sqrt(0.5 * radius);
    scene.law = pyramid.law;
    scene.ratio = pyramid.ratio;
    one_material(scene, k, pyramid.friction);
    if (pyramid.two_materials) {
        scene.stiffness.resize(2, 2);
        scene.stiffness << k / 5, k / 3, k / 3, k;
        scene.friction.setConstant(2, 2, pyramid.friction);
    }
    return scene;
}

double asymmetry(const Pyramid& pyramid, const PenaltyResult& result) {
    const int n = pyramid.along;
    const auto force = [&](int i, int j) { return result.force[static_cast<std::size_t>(i * n + j)]; };
    double largest = 0, worst = 0;
    // Two mirrors make all 8; a third costs nothing and keeps the sum of errors short.
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const Vec<3> f = force(i, j), x = force(n - 1 - i, j), y = force(i, n - 1 - j),
                         swapped = force(j, i);
            largest = std::max(largest, f.norm());
            worst = std::max({worst, (f - Vec<3>(-x.x(), x.y(), x.z())).norm(),
                              (f - Vec<3>(y.x(), -y.y(), y.z())).norm(),
                              (f - Vec<3>(swapped.y(), swapped.x(), swapped.z())).norm()});
        }
    return worst / largest;
}

double lost_weight(const PenaltyScene& scene, const PenaltyResult& result) {
    const Vec<3> down = scene.gravity.normalized();
    double weight = 0, borne = 0;
    for (std::size_t i = 0; i < scene.bodies.size(); ++i)
        if (scene.bodies[i].fixed)
            borne += result.force[i].dot(down);
        else
            weight += scene.bodies[i].mass * scene.gravity.norm();
    for (const PenaltyContact& c : result.contacts)
        if (c.b < 0) borne -= (c.normal_force * c.normal + c.tangential_force).dot(down);
    return (weight - borne) / weight;
}

PenaltyScene make_beam(double middle) {
    PenaltyScene scene;
    PenaltyBody bar;
    bar.mass = 10 / g;
    bar.inertia.setConstant(bar.mass / 12);  // of a thin bar of 1 m
    bar.planar = true;
    bar.position.z() = 0.05;
    scene.bodies.push_back(bar);
    for (const double x : {-0.5, 0.0, 0.5})
        scene.balls.push_back({.body = 0, .offset = {x, 0, 0}, .radius = 0.05, .material = x == 0 ? 1 : 0});
    scene.planes.push_back({.material = 0});
    scene.stiffness.resize(2, 2);
    scene.stiffness << 1e6, middle * 1e6, middle * 1e6, middle * 1e6;
    scene.friction.setZero(2, 2);
    return scene;
}

PenaltyScene make_block(double push, double friction) {
    PenaltyScene scene;
    PenaltyBody block;
    block.mass = 10 / g;
    block.inertia = block.mass * Vec<3>(0.005, 0.008, 0.01);
    block.position.z() = 0.06;
    const double height = 0.03;  // of the push above the centre of mass
    block.force = Vec<3>(push, 0.2 * push, 0);
    block.torque = Vec<3>(0, 0, height).cross(block.force);
    scene.bodies.push_back(block);
    for (const Vec<3>& foot :
         {Vec<3>(-0.1, -0.06, -0.05), Vec<3>(-0.08, 0.07, -0.05), Vec<3>(0.12, 0.01, -0.05)})
        scene.balls.push_back({.body = 0, .offset = foot, .radius = 0.01});
    scene.planes.push_back({});
    one_material(scene, 1e6, friction);
    return scene;
}

PenaltyScene make_groove(int balls, double friction) {
    if (balls != 1 && balls != 3)
        fail("groove: balls", "is " + std::to_string(balls), "there are grooves with 1 and with 3");
    PenaltyScene scene;
    const double radius = 0.01, c = std::numbers::sqrt2 / 2;
    const Vec<3> up_right(c, 0, c), up_left(-c, 0, c);  // along the slopes; each is the other's normal
    scene.planes.push_back({.normal = up_left});
    scene.planes.push_back({.normal = up_right});
    const Vec<3> bottom = radius * (up_left + up_right);
    scene.bodies.push_back(solid_sphere(radius, 1 / g, bottom));
    if (balls == 3)
        for (const Vec<3>& along : {up_left, up_right})
            scene.bodies.push_back(solid_sphere(radius, 1 / g, bottom + 2 * radius * along));
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        scene.bodies[i].planar = true;
        scene.balls.push_back({.body = static_cast<Index>(i), .radius = radius});
    }
    one_material(scene, 1e6, friction);
    return scene;
}

}  // namespace drystone::validation
