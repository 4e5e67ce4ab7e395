// What a run says at its end: lines for people, or one object for programs.
#pragma once

#include "drystone/results/run_folder.hpp"

#include <string>
#include <vector>

namespace drystone::command {

/// What is known of a run beside the run itself.
struct RunEnd {
    std::int64_t bodies = 0;  ///< of all ranks
    int ranks = 1;
    double fall = 0;  ///< energy_of_a_fall
    bool split_between_ranks = false;
};

/// `folder`: nullptr: it left nothing.
template <int d>
std::vector<std::string> summary_lines(const Run<d>& run, const RunFolder<d>* folder, const RunEnd& ends);
template <int d>
std::string summary_json(const Run<d>& run, const RunFolder<d>* folder, const RunEnd& ends);

}  // namespace drystone::command
