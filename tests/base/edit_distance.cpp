#include "drystone/base/edit_distance.hpp"

#include <gtest/gtest.h>

namespace drystone {
namespace {

TEST(EditDistance, CountsLettersToChange) {
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("radius", "radius"), 0U);
    EXPECT_EQ(edit_distance("raduis", "radius"), 2U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
    EXPECT_EQ(edit_distance("frction", "friction"), 1U);
}

}  // namespace
}  // namespace drystone
