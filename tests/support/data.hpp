// Where tests find contact problems in files.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace drystone::testing {

// The environment variable DRYSTONE_DATA if set, otherwise the folder given when the build was configured.
inline std::filesystem::path data_folder() {
    const char* from_environment = std::getenv("DRYSTONE_DATA");
    return from_environment != nullptr ? from_environment : DRYSTONE_DATA_DIR;
}

inline std::filesystem::path data_file(const std::filesystem::path& name) { return data_folder() / name; }

}  // namespace drystone::testing

// At the top of a test that reads `name` (relative to the data folder): skips the test, saying so, if it is absent.
#define DRYSTONE_NEEDS_DATA(name)                                     \
    if (!std::filesystem::exists(drystone::testing::data_file(name))) \
    GTEST_SKIP() << drystone::testing::data_file(name) << " is absent: set DRYSTONE_DATA to the data folder"
