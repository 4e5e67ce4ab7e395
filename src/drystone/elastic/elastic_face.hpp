// One block of the elastic network of least_energy.hpp: which impulses its law leaves it at the velocities that are
// known, and which of these a spring gives.
//
// At a solution the impulse f_i of a block is perpendicular to its (shifted) velocity. So the admissible f_i are
//     f = fixed + f_N e + sum over the groups that stick of f_j,      f_N >= 0,  |f_j| <= offset_j + mu_j f_N:
// a group that slides follows the normal component (it is in e, and in `fixed` with its offset), a block that opens has
// f_N = 0.
#pragma once

#include "drystone/cone/cone.hpp"

namespace drystone {

/// A group that sticks: free in its disc.
struct ElasticGroup {
    ConeGroup disc;
    double compliance = 1;
};

struct ElasticFace {
    ConeKind kind = ConeKind::ray;
    std::uint8_t dim = 1;
    bool normal = false;     ///< f_N may be positive; `interval`: the value is free within its bounds
    std::uint8_t count = 0;  ///< of groups that stick
    std::array<double, max_block> e = {};  ///< e[0] = 1; -mu_j u_j / |u_j| in the rows of groups that slide
    std::array<double, max_block> fixed = {};
    std::array<double, max_block> row = {};  ///< compliance of each row
    double compliance = 1;                   ///< e^T C e
    double preload = 0;                      ///< e^T C fixed
    std::array<ElasticGroup, 3> group = {};
    std::array<double, 2> bounds = {};  ///< `interval`

    [[nodiscard]] bool has_axis() const { return kind != ConeKind::free && kind != ConeKind::interval; }
};

/// What is known of a block when its face is sought. Torques are measured by `length`, impulses by `stiffness`
/// (cone/delassus.hpp).
struct FaceData {
    const double* r = nullptr;
    const double* u = nullptr;
    double stiffness = 1;
    double length = 1;
    double tolerance = 0;  ///< velocities below are noise, m/s
};

/// The face of the cone on which the solution lies. Where r and u contradict each other (both come from a solve that
/// ended somewhere), the larger of the two, as velocities, is believed: noise in u never takes away an impulse that
/// counts.
ElasticFace face_of(const Cone& cone, const FaceData& data, Law law);

/// The face of a block whose impulse is known and stays: the point r, whatever the displacement. It is no spring, so
/// its compliance is 0.
ElasticFace given_face(const Cone& cone, const double* r);

/// Sets the compliance of the rows (all rows of one group alike).
void set_compliance(ElasticFace& face, const double* compliance);

/// A point of the face near r.
void place_on_face(const ElasticFace& face, const double* r, double* f);

/// The spring's answer to the displacement x, opened by `shift` along the normal: the f of the face that minimises 1/2
/// f^T C f + f . (x + shift n). If D is given, also D = -df/dx: symmetric, positive semi-definite, row by row, and at
/// most the stiffness of `add_damping`.
void respond(const ElasticFace& face, const double* x, double shift, double* f, double* D = nullptr);

/// g -= weight D0 x, D0 the stiffness of the spring if nothing opened or slipped, in the directions of its face.
void add_damping(const ElasticFace& face, const double* x, double weight, double* g);
/// D += weight D0.
void add_damping_stiffness(const ElasticFace& face, double weight, double* D);

/// sum_j mu_j |slip_j| with the slip x + C f: the De Saxce shift of the displacements.
double slip_shift(const ElasticFace& face, const double* x, const double* f);

}  // namespace drystone
