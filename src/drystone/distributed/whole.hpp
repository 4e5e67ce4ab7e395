// The problem of all ranks on each of them, as one rank would have it: for what ranks cannot share, and for small
// problems.
//
// Bodies are in the order of their ids, blocks in that of their keys, tiles in that of colour and cell: the order of
// one rank, so that whatever is solved here has the bits that it has there.
#pragma once

#include "drystone/distributed/part.hpp"

namespace drystone {

/// Collective. `problem` with its tiling, and `r`, are of this rank; `held.places` sorted as the tiling leaves them.
template <int d>
WholeProblem gather_whole(const Scene<d>& scene, const ContactSet<d>& contacts, const ConeProblem& problem,
                          const Held<d>& held, const Part<d>& part, const Vector& r);

}  // namespace drystone
