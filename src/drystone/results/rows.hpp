// Arrays of bodies as rows of a dataset: what frames and checkpoints share.
#pragma once

#include "drystone/base/geometry.hpp"

#include <span>
#include <vector>

namespace drystone {

/// Vectors one after another. Eigen's fixed vectors of doubles have no padding.
template <class V>
std::span<const double> flat(const std::vector<V>& vectors) {
    static_assert(sizeof(V) == sizeof(double) * V::SizeAtCompileTime);
    return {reinterpret_cast<const double*>(vectors.data()), vectors.size() * V::SizeAtCompileTime};
}

/// Angles, rad.
inline std::vector<double> rotations_of(const std::vector<Rotation<2>>& rotations) {
    std::vector<double> angles;
    angles.reserve(rotations.size());
    for (const Rotation<2>& rotation : rotations) angles.push_back(rotation.angle);
    return angles;
}

/// Quaternions: w, x, y, z.
inline std::vector<double> rotations_of(const std::vector<Rotation<3>>& rotations) {
    std::vector<double> parts;
    parts.reserve(4 * rotations.size());
    for (const Rotation<3>& rotation : rotations)
        parts.insert(parts.end(), {rotation.q.w(), rotation.q.x(), rotation.q.y(), rotation.q.z()});
    return parts;
}

}  // namespace drystone
