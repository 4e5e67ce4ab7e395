// For tests that are the same in the plane and in space: TypeParam::value is the dimension.
#pragma once

#include <gtest/gtest.h>

#include <type_traits>

namespace drystone::testing {

using PlaneAndSpace = ::testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;

}  // namespace drystone::testing
