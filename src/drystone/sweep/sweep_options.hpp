// How the blocks of a sweep are packed and visited.
#pragma once

#include "drystone/local/local.hpp"

namespace drystone {

enum class SweepKernel : std::uint8_t {
    automatic,  ///< the fastest that fits, run by run
    /// any cone, any local solver; blocks through body vectors, or through W where the mass couples bodies
    any,
    explicit_matrix,  ///< the same with W formed
    rigid,            ///< as automatic, but contacts of balls are visited like any others
};

struct SweepOptions {
    LocalOptions local;
    SweepKernel kernel = SweepKernel::automatic;
    /// Proximal term, in units of each block's stiffness: W_ii + proximal * stiffness_i. 0 where all blocks are
    /// definite; a block that is not gets 1e-8 whatever is asked.
    double proximal = 0;
};

}  // namespace drystone
