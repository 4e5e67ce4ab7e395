// What is possible in a scene file, but seldom meant.
#pragma once

#include "drystone/scenes/scene_file.hpp"
#include "drystone/tables/table.hpp"

namespace drystone {

/// Two bodies that overlap at the beginning.
struct StartOverlap {
    Index a = 0, b = 0;
    double depth = 0;      ///< m
    double radii = 0;      ///< the same in inner radii of the smaller one
    bool outside = false;  ///< b (or a) has its centre behind the wall that the other one is
};

/// One per pair, deepest first, without what is rounding. `contacts`: how many were found in all.
template <int d>
std::vector<StartOverlap> start_overlaps(const RunPlan<d>& plan, std::size_t& contacts);

/// In the order of the file's lines. `files`: those that the plan was read from, for lines, for names that nobody uses,
/// and for what the plan has made of them.
template <int d>
std::vector<SceneFault> warnings_of(const RunPlan<d>& plan, SceneFiles& files,
                                    const std::vector<StartOverlap>& overlaps);

}  // namespace drystone
