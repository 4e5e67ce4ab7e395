// Vectors of space four numbers wide, and the frame of a contact: what the sweeps over spheres share.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include <cstring>

namespace drystone {

/// Four numbers at once; as a vector of space the fourth is 0. Passed by reference only: how its value is passed would
/// depend on the instruction set.
using Four [[gnu::vector_size(32)]] = double;

inline void load4(const double* from, Four& to) { std::memcpy(&to, from, sizeof to); }
inline void store4(double* to, const Four& value) { std::memcpy(to, &value, sizeof value); }

inline double dot(const Four& a, const Four& b) {
    const Four m = a * b;
    return m[0] + m[1] + m[2];
}

/// out = a x b.
inline void cross_product(const Four& a, const Four& b, Four& out) {
    const Four turned_a = __builtin_shufflevector(a, a, 1, 2, 0, 3);
    const Four m = a * __builtin_shufflevector(b, b, 1, 2, 0, 3) - turned_a * b;
    out = __builtin_shufflevector(m, m, 1, 2, 0, 3);
}

/// Rows n, t1, t2.
using ContactFrame = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

/// `tangent`: t1, and the handedness of the frame, which t2 carries.
inline ContactFrame contact_frame(const double* normal, const Eigen::Vector4d& tangent) {
    const Eigen::Map<const Eigen::Vector3d> n(normal);
    const Eigen::Vector3d t1 = tangent.head<3>();
    ContactFrame E;
    E.row(0) = n;
    E.row(1) = t1;
    E.row(2) = tangent[3] * n.cross(t1);
    return E;
}

}  // namespace drystone
