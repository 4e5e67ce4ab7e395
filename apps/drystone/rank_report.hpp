// How several ranks shared a run: balance, messages, bytes.
#pragma once

#include "drystone/distributed/part.hpp"
#include "drystone/run/simulate.hpp"

#include <string>
#include <vector>

namespace drystone::command {

/// Lines for people; the same on all ranks. Collective.
template <int d>
std::vector<std::string> report_on_ranks(const Part<d>& part, const RunSummary& summary);

}  // namespace drystone::command
