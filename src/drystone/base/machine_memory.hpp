// How much memory the machine has: what asks for more than all of it is a mistake, and better told than tried.
#pragma once

#include <unistd.h>

#include <limits>

namespace drystone {

/// Bytes; without an end where the system does not say.
inline double machine_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || size <= 0) return std::numeric_limits<double>::infinity();
    return static_cast<double>(pages) * static_cast<double>(size);
}

}  // namespace drystone
