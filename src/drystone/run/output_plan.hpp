// What a run leaves behind, and how often: the tables [output] and [[measure]] of a scene.
#pragma once

#include "drystone/bodies/region.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drystone {

/// The folder is given where the run is started.
struct OutputPlan {
    double frames_every = 0;        ///< s of simulated time; 0: none
    double measurements_every = 0;  ///< s of simulated time; 0: every step
    double checkpoints_every = 0;   ///< s of simulated time; 0: at the end, and every 10 minutes of the clock
    /// frames and measurements have the forces of the elastic limit (contact/elasticity.hpp)
    bool elastic_limit = false;
};

/// What can be measured (run/measures.hpp), in the order of its columns.
enum class Quantity : std::uint8_t {
    energy,
    mass,
    velocity,
    temperature,
    packing,
    coordination,
    fabric,
    stress,
    inertial,
    flux,
    overlap,
    repose,
    runout,
    discharge,
    joint,
    sand,
    profile,
};

/// A table [[measure]]: one file of lines.
template <int d>
struct MeasureTable {
    std::string name;                      ///< of the file: <name>.csv
    double every = 0;                      ///< s of simulated time; 0: every step
    std::vector<Quantity> what;            ///< sorted, each once
    std::optional<Region<d>> region = {};  ///< nothing: the whole scene
    double width = 0;  ///< of the bins of profile and repose, m; 0: twice the mean diameter
};

/// Names of the files of lines that a table makes, in the order in which they are kept.
template <int d>
std::vector<std::string> files_of(const MeasureTable<d>& table) {
    const bool profile = !table.what.empty() && table.what.back() == Quantity::profile;
    std::vector<std::string> files;
    if (table.what.size() > (profile ? 1U : 0U)) files.push_back(table.name + ".csv");
    if (profile) files.push_back(table.name + "_profile.csv");
    return files;
}

}  // namespace drystone
