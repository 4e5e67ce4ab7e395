// Where grains are: bodies as a structure of arrays, the domain, the scene.
#pragma once

#include "drystone/bodies/materials.hpp"
#include "drystone/shapes/shape.hpp"

#include <optional>

namespace drystone {

enum class Motion : std::uint8_t {
    free,  ///< moves by forces and contacts
    held,  ///< moves with its velocity and spin as they are, whatever touches it (0: fixed)
};

/// Images of a periodic domain: how many periods to add, per direction.
template <int d>
using Image = Eigen::Matrix<std::int32_t, d, 1>;

/// Local index for speed, global id for identity. All arrays have count() elements. Bodies are in the order of their ids.
template <int d>
struct Bodies {
    std::vector<GlobalId> id;
    std::vector<Index> shape;     ///< in Scene::shapes
    std::vector<double> size;     ///< factor on the shape
    std::vector<Index> material;  ///< in Scene::materials
    std::vector<Motion> motion;
    std::vector<double> mass;      ///< kg; 0 for a held body that has none
    std::vector<Spin<d>> inertia;  ///< principal moments, kg m^2
    std::vector<Vec<d>> position;  ///< centre of mass, m; inside the periodic domain
    std::vector<Image<d>> image;   ///< periods travelled: the unwrapped position is position + image * period
    std::vector<Rotation<d>> rotation;
    std::vector<Vec<d>> velocity;  ///< m/s
    std::vector<Spin<d>> spin;     ///< rad/s, world axes

    [[nodiscard]] Index count() const { return static_cast<Index>(id.size()); }
    [[nodiscard]] Pose<d> pose(Index i) const { return {position[i], rotation[i]}; }
    [[nodiscard]] bool is_free(Index i) const { return motion[i] == Motion::free; }
};

/// Space: periodic in some directions.
template <int d>
struct Domain {
    Vec<d> lower = Vec<d>::Zero();
    Vec<d> period = Vec<d>::Zero();  ///< 0: not periodic in this direction
    [[nodiscard]] bool periodic() const { return (period.array() > 0).any(); }
};

/// What one body of a scene is made from.
template <int d>
struct BodyPlan {
    Index shape = 0;
    double size = 1;
    Index material = 0;
    Motion motion = Motion::free;
    std::optional<double> mass;  ///< kg; otherwise from the material's density
    Pose<d> pose;
    Vec<d> velocity = Vec<d>::Zero();
    Spin<d> spin = Spin<d>::Zero();
};

template <int d>
struct Scene {
    std::vector<Shape<d>> shapes;
    Materials materials;
    Bodies<d> bodies;
    Domain<d> domain;
    Vec<d> gravity = Vec<d>::Zero();  ///< m/s^2
    double time = 0;                  ///< s

    Index add_shape(Shape<d> shape);
    /// Adds a body with the next id; throws Error on a plan that makes no sense (names the field).
    Index add_body(const BodyPlan<d>& plan);

    [[nodiscard]] const Shape<d>& shape_of(Index body) const { return shapes[bodies.shape[body]]; }
    /// Radius of the ball about the centre that holds the body.
    [[nodiscard]] double outer_radius(Index body) const {
        return bodies.size[body] * outer_radius_[bodies.shape[body]];
    }
    /// Radius of a ball inside the body: what lengths are measured in.
    [[nodiscard]] double inner_radius(Index body) const {
        return bodies.size[body] * inner_radius_[bodies.shape[body]];
    }

private:
    std::vector<MassProperties<d>> mass_;  // by shape
    std::vector<double> outer_radius_, inner_radius_;
};

/// World inertia tensor R diag(moments) R^T of a body, or its inverse.
template <int d>
Eigen::Matrix<double, spins<d>, spins<d>> inertia_in_world(const Rotation<d>& rotation,
                                                           const Spin<d>& moments);

}  // namespace drystone
