#include "grains/sample_scenes.hpp"

#include <Eigen/Geometry>

#include <cmath>

namespace drystone::sample {

template <int d>
Scene<d> empty_scene(double friction, double restitution, double cohesion) {
    Scene<d> scene;
    scene.materials.add({"stone", 2500}, {friction, restitution, cohesion});
    return scene;
}

template <int d>
Index add_wall(Scene<d>& scene, const Vec<d>& point, const Vec<d>& normal) {
    BodyPlan<d> wall;
    wall.shape = scene.add_shape(HalfSpace<d>{});
    wall.motion = Motion::held;
    wall.pose.position = point;
    if constexpr (d == 2) {
        wall.pose.rotation.angle = std::atan2(normal[1], normal[0]) - std::numbers::pi / 2;
    } else {
        wall.pose.rotation.q = Eigen::Quaterniond::FromTwoVectors(Vec<3>(Vec<3>::UnitZ()), normal);
    }
    return scene.add_body(wall);
}

template <int d>
void add_box(Scene<d>& scene, double width) {
    add_wall<d>(scene, Vec<d>::Zero(), Vec<d>::Unit(d - 1));
    for (int k = 0; k < d - 1; ++k) {
        add_wall<d>(scene, Vec<d>::Zero(), Vec<d>::Unit(k));
        add_wall<d>(scene, Vec<d>(width * Vec<d>::Unit(k)), -Vec<d>::Unit(k));
    }
}

template <int d>
void add_balls(Scene<d>& scene, int count, double width, double height_factor) {
    const Index shape = scene.add_shape(Ball<d>{1});
    const double spacing = width / count;
    int total = 1;
    for (int k = 0; k < d; ++k) total *= count;
    for (int i = 0; i < total; ++i) {
        BodyPlan<d> plan;
        plan.shape = shape;
        plan.size = spacing / 2 * (0.8 + 0.1 * noise(i, 0));
        int rest = i;
        for (int k = 0; k < d; ++k) {
            plan.pose.position[k] =
                spacing * (rest % count + 0.5) + 0.05 * spacing * (2 * noise(i, 1 + k) - 1);
            rest /= count;
        }
        plan.pose.position[d - 1] *= height_factor;
        scene.add_body(plan);
    }
}

#define DRYSTONE_SAMPLES(d)                                           \
    template Scene<d> empty_scene(double, double, double);            \
    template Index add_wall(Scene<d>&, const Vec<d>&, const Vec<d>&); \
    template void add_box(Scene<d>&, double);                         \
    template void add_balls(Scene<d>&, int, double, double)
DRYSTONE_SAMPLES(2);
DRYSTONE_SAMPLES(3);
#undef DRYSTONE_SAMPLES

}  // namespace drystone::sample
