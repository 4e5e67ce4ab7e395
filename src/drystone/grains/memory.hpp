// What a step of grains leaves for the next.
#pragma once

#include "drystone/collide/detect.hpp"
#include "drystone/contact/warm_start.hpp"
#include "drystone/solve/solve.hpp"

namespace drystone {

/// And room that it reuses.
template <int d>
struct StepMemory {
    WarmStart<d> warm;
    Neighbours<d> neighbours;
    ContactSet<d> contacts;  ///< of the last step
    Assembled<d> assembled;  ///< of the last step
    Delassus W;              ///< of its problem
    ConeSolution solution;   ///< of the last step
    Vector start;            ///< impulses from which it was sought
    Vector v_free;           ///< of the scene's bodies, at the end of the step, without contacts
    Vector v_end;            ///< and with them
    std::vector<double> reach;
    std::vector<Vec<d>> position;  ///< at the begin, while moreau_jean looks half a step ahead
    std::vector<Rotation<d>> rotation;
};

}  // namespace drystone
