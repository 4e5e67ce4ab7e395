// What can be measured while a run goes on, as a table: the word of scene files, columns with their units, and the
// function that finds the numbers. The physics is in grains/measure.hpp, grains/heap.hpp and continuum/measure.hpp;
// results/ writes the lines.
#pragma once

#include "drystone/continuum/sand.hpp"
#include "drystone/grains/feed.hpp"
#include "drystone/grains/heap.hpp"
#include "drystone/run/output_plan.hpp"
#include "drystone/world/step.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drystone {

/// All that a measure may look at, after a step.
template <int d>
struct Look {
    const Scene<d>& scene;
    const StepMemory<d>& memory;
    const StepRecord& record;
    const FeedState& feed;
    const Region<d>* region = nullptr;  ///< nothing: the whole scene
    double width = 0;                   ///< of the bins of a profile, m; 0: twice the mean diameter
    double last_time = 0;               ///< of the line before, s
    std::span<double> last_drained;     ///< by sink, kg, at the line before; those of now are put there
    const Sand<d>& sand;

    /// Found once, where a measure asks for them.
    const std::vector<ContactForce<d>>& forces() {
        if (!found_forces) found_forces = contact_forces(memory, record.h);
        return *found_forces;
    }
    const HeapProfile<d>& profile() {
        if (!found_profile) found_profile = heap_profile(scene, width, region);
        return *found_profile;
    }

    std::optional<std::vector<ContactForce<d>>> found_forces = {};
    std::optional<HeapProfile<d>> found_profile = {};
};

struct Column {
    std::string name, unit;  ///< a number without a unit has none
};

/// Names of things that have columns of their own.
struct ColumnNames {
    std::span<const std::string> sinks, joints;
};

template <int d>
struct MeasureKind {
    std::string_view name;  ///< the word of scene files
    std::vector<Column> (*columns)(const ColumnNames& names);
    /// Appends a number for each column.
    void (*numbers)(Look<d>& look, std::vector<double>& out);
    /// an average over a volume: it needs a region, or a cell that is periodic in all directions
    bool needs_volume = false;
};

/// In the order of Quantity. A profile has no columns: it is many lines (Look::profile).
template <int d>
std::span<const MeasureKind<d>> measures();
template <int d>
const MeasureKind<d>& measure_of(Quantity quantity) {
    return measures<d>()[static_cast<std::size_t>(quantity)];
}

}  // namespace drystone
