// Words that every room uses.
#pragma once

#include "drystone/base/vector.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <limits>

namespace drystone {

using Index = std::int32_t;     ///< local index of a body, block or component on this rank
using GlobalId = std::int64_t;  ///< identity of a body or contact over all ranks

/// Largest block: a 3D contact that carries force and torque, or a symmetric tensor of 3D.
inline constexpr int max_block = 6;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Small vectors and matrices of one block: sized at run time, stored in place (no allocation).
using BlockVector = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, max_block, 1>;
using BlockMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, max_block, max_block>;

}  // namespace drystone
