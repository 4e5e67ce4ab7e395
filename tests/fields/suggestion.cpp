#include "drystone/fields/suggestion.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace drystone::testing {
namespace {

const std::vector<std::string> names = {"friction", "restitution", "density"};

TEST(Suggestion, NamesWhatWasMeant) {
    EXPECT_EQ(suggestion("fricton", names), "did you mean 'friction'?");
    EXPECT_EQ(suggestion("rest", names), "did you mean 'restitution'?");  // a part of it
    EXPECT_EQ(nearest_name("densty", names), "density");
}

TEST(Suggestion, AndOtherwiseAll) {
    EXPECT_EQ(suggestion("colour", names), "use one of friction, restitution, density");
    EXPECT_EQ(suggestion("", names), "use one of friction, restitution, density");
    EXPECT_EQ(suggestion("colour", std::vector<std::string>{"density"}), "use density");
    EXPECT_EQ(suggestion("colour", {}), "leave it out");
    EXPECT_EQ(nearest_name("colour", {}), "");
}

TEST(Suggestion, ALongWordTakesNoTime) {
    const std::string much(10'000'000, 'f');
    EXPECT_EQ(suggestion(much, names), "use one of friction, restitution, density");
}

}  // namespace
}  // namespace drystone::testing
