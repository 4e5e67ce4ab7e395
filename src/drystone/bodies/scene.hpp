// Where grains are: bodies as a structure of arrays, the domain, the scene.
#pragma once

#include "drystone/bodies/drive.hpp"
#include "drystone/bodies/joint.hpp"
#include "drystone/bodies/materials.hpp"
#include "drystone/shapes/shape.hpp"

#include <optional>
#include <span>

namespace drystone {

enum class Motion : std::uint8_t {
    free,    ///< moves by forces and contacts
    held,    ///< moves with its velocity and spin as they are, whatever touches it (0: fixed)
    guided,  ///< as held, but free along one axis: see Guide
};

/// Images of a periodic domain: how many periods to add, per direction.
template <int d>
using Image = Eigen::Matrix<std::int32_t, d, 1>;

/// Local index for speed, global id for identity. All arrays have count() elements. Bodies are in the order of their
/// ids.
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
    /// of the next body that is added: ids of bodies that are gone are not given again
    GlobalId next_id = 0;

    [[nodiscard]] Index count() const { return static_cast<Index>(id.size()); }
    [[nodiscard]] Pose<d> pose(Index i) const { return {position[i], rotation[i]}; }
    [[nodiscard]] bool is_free(Index i) const { return motion[i] == Motion::free; }
    [[nodiscard]] bool is_guided(Index i) const { return motion[i] == Motion::guided; }
    /// True if contacts change its velocity.
    [[nodiscard]] bool yields(Index i) const { return motion[i] != Motion::held; }
    /// Local index of a body; -1 if there is none with this id.
    [[nodiscard]] Index index_of(GlobalId wanted) const;
    /// Takes away the bodies with gone[i] != 0; the others keep their ids and their order.
    void remove(std::span<const std::uint8_t> gone);
};

/// Space: periodic in some directions. The periods may change and the cell may be sheared (grains/motion.hpp), so that
/// all of it is state.
template <int d>
struct Domain {
    Vec<d> lower = Vec<d>::Zero();
    Vec<d> period = Vec<d>::Zero();  ///< 0: not periodic in this direction
    double tilt = 0;                 ///< m along x by which the next cell in the last direction is displaced
    Vec<d> rate = Vec<d>::Zero();    ///< at which periods grow, relative to themselves, 1/s
    double shear_rate = 0;           ///< at which the tilt grows, relative to the last period, 1/s

    [[nodiscard]] bool periodic() const { return (period.array() > 0).any(); }
    [[nodiscard]] bool changes() const { return shear_rate != 0 || !rate.isZero(0); }
    /// Of the cell, m^3; only where all directions are periodic.
    [[nodiscard]] double volume() const { return period.prod(); }
    /// From a place to its image so many periods away.
    [[nodiscard]] Vec<d> translation(const Image<d>& periods) const {
        Vec<d> way = periods.template cast<double>().cwiseProduct(period);
        way[0] += periods[d - 1] * tilt;
        return way;
    }
    /// Velocity of the image so many periods away relative to the place itself.
    [[nodiscard]] Vec<d> translation_velocity(const Image<d>& periods) const {
        Vec<d> v = periods.template cast<double>().cwiseProduct(period).cwiseProduct(rate);
        v[0] += periods[d - 1] * (shear_rate * period[d - 1]);
        return v;
    }
};

/// Masses (kg) and moments of inertia (kg m^2) beyond these are mistakes, and their inverses and squares are near the
/// ends of what doubles hold: a grain of 1e-300 kg falls through a floor without anybody noticing.
inline constexpr double least_mass = 1e-100, most_mass = 1e100;
/// So is a place (m), velocity (m/s), spin (rad/s), angle (rad) or time (s) beyond this.
inline constexpr double most_number = 1e30;

/// What one body of a scene is made from.
template <int d>
struct BodyPlan {
    Index shape = 0;
    double size = 1;
    Index material = 0;
    Motion motion = Motion::free;
    std::optional<double> mass = {};  ///< kg; otherwise from the material's density
    /// principal moments in the body's axes, kg m^2; otherwise of an even mass
    std::optional<Spin<d>> inertia = {};
    Pose<d> pose = {};
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
    // What moves what is not free. Given once; they change velocities, gravity and the domain, not themselves.
    std::vector<Drive<d>> drives;
    std::optional<GravityTurn<d>> gravity_turn = {};
    CellControl<d> cell;
    std::vector<Joint<d>> joints;

    Index add_shape(Shape<d> shape);
    /// Adds a body with the next id; throws Error on a plan that makes no sense (names the field).
    Index add_body(const BodyPlan<d>& plan);

    /// Where the centre would be if it had never been wrapped around the periodic domain.
    [[nodiscard]] Vec<d> unwrapped(Index body) const {
        return bodies.position[body] + domain.translation(bodies.image[body]);
    }
    [[nodiscard]] const Shape<d>& shape_of(Index body) const { return shapes[bodies.shape[body]]; }
    /// Radius of the ball about the centre that holds the body.
    [[nodiscard]] double outer_radius(Index body) const {
        return outer_radius(bodies.shape[body], bodies.size[body]);
    }
    [[nodiscard]] double outer_radius(Index shape, double size) const { return size * outer_radius_[shape]; }
    /// Radius of a ball inside the body: what lengths are measured in.
    [[nodiscard]] double inner_radius(Index body) const {
        return bodies.size[body] * inner_radius_[bodies.shape[body]];
    }

private:
    std::vector<MassProperties<d>> mass_;  // by shape
    std::vector<double> outer_radius_, inner_radius_;
};

/// The guide of a guided body.
template <int d>
const Guide<d>& guide_of(const Scene<d>& scene, Index body);

/// Brings a place into the periodic domain and answers how many periods were taken away. Throws Error on a place that
/// is absurdly far.
template <int d>
Image<d> wrap(const Domain<d>& domain, Vec<d>& x);

/// World inertia tensor R diag(moments) R^T of a body, or its inverse.
template <int d>
Eigen::Matrix<double, spins<d>, spins<d>> inertia_in_world(const Rotation<d>& rotation,
                                                           const Spin<d>& moments);

}  // namespace drystone
