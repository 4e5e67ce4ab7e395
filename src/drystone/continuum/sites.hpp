// Where the law is asked for, and how one step's stresses are found again in the next.
#pragma once

#include "drystone/continuum/memory.hpp"

namespace drystone {

/// Keys in the order of the grid: blocks by their last coordinate first, and what is in a block likewise.
template <int d>
bool comes_before(const Lattice<d>& a, const Lattice<d>& b) {
    for (int k = d - 1; k >= 0; --k)
        if (a[k] >> 2 != b[k] >> 2) return a[k] >> 2 < b[k] >> 2;
    for (int k = d - 1; k >= 0; --k)
        if (a[k] != b[k]) return a[k] < b[k];
    return false;
}
template <int d>
bool key_before(const StressKey<d>& a, const StressKey<d>& b) {
    return a.at == b.at ? a.part < b.part : comes_before<d>(a.at, b.at);
}

template <int d>
StressKey<d> key_of(const Sand<d>& sand, const SandMemory<d>& m, Index site);

/// The place of a stress in a warm start; -1: it is not there.
template <int d>
Index find(const SandWarmStart<d>& warm, const StressKey<d>& key);

/// Sets m.sites, with the friction that the last step's flow left there (mu(I)), or the material's.
template <int d>
void find_sites(const Sand<d>& sand, int threads, SandMemory<d>& m);

/// The pressure (Pa) at each particle: the mean of those around or in its cell in the last step. A mean, since
/// pressures that differ from one to the next in turn do nothing, and so may be any.
template <int d>
std::vector<double> pressures(const Sand<d>& sand, const SandWarmStart<d>& warm);

}  // namespace drystone
