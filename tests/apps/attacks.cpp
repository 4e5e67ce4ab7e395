// Scenes that broke a promise (tests/attacks/README.md), run as a user would.
#include "apps/command.hpp"

namespace drystone::testing {
namespace {

std::string attack(const std::string& name) { return std::string(DRYSTONE_ATTACKS) + "/" + name + ".toml"; }

nlohmann::json run(const std::string& name, const std::string& steps) {
    const Scratch scratch;
    const Answer answer =
        drystone_command(scratch, {"run", attack(name), "--steps", steps, "--threads", "1", "--json"});
    EXPECT_EQ(answer.code, 0) << answer.err;
    return answer.objects().at(0);
}

TEST(Attacks, HeavyBodiesDoNotHideLightOnes) {
    for (const char* name : {"mask50", "ma_1", "mk1"}) {
        const nlohmann::json result = run(name, "100");
        EXPECT_EQ(result["unsolved"], 0) << name;
        EXPECT_LT(result["worst_relative_overlap"], 1e-2) << name;
    }
}

TEST(Attacks, FreeSpinKeepsItsEnergy) {
    const nlohmann::json alone = run("fsp3", "10000");
    EXPECT_NEAR(alone["energy_end"].get<double>() / alone["energy_begin"].get<double>(), 1, 1e-3);
    EXPECT_LT(alone["balance_error"], 1e-9);
    // A bar at 10^4 rad/s beside a ball: it hits and loses, and gains nothing.
    const nlohmann::json hits = run("f_fastspin", "100");
    EXPECT_LE(hits["energy_end"], hits["energy_begin"]);
    EXPECT_LT(hits["balance_error"], 1e-9);
}

TEST(Attacks, WhatCannotBeSolvedIsSaidAndNotGoneOnFrom) {
    for (const char* name : {"inv1", "inv3", "x_dens1e-300"}) {
        const Scratch scratch;
        const Answer answer = drystone_command(scratch, {"run", attack(name), "--steps", "50", "--json"});
        if (answer.code == 0) {
            const nlohmann::json result = answer.objects().at(0);
            EXPECT_TRUE(result["unsolved"] > 0 || result["worst_relative_overlap"] < 1e-2)
                << name << answer.out;
        } else {
            EXPECT_TRUE(answer.code == 1 || answer.code == 2) << name << ": " << answer.code;
            EXPECT_FALSE(answer.err.empty()) << name;
        }
    }
}

TEST(Attacks, BytesAreTheSameFromRunToRunAndOnRanks) {
    for (const char* name : {"crush", "frust", "frust_assoc", "fs_ip", "fs_cadoux-interior-point", "st8_a"}) {
        const Scratch scratch;
        const std::vector<std::string> words = {"run", attack(name), "--steps", "12", "--output"};
        const auto in = [&](const std::string& folder) {
            std::vector<std::string> all = words;
            all.push_back(folder);
            return all;
        };
        drystone_command(scratch, in("first"));
        const std::string expected = text_of(scratch.file("first/checkpoint.h5"));
        ASSERT_FALSE(expected.empty()) << name;
        drystone_command(scratch, in("again"));
        EXPECT_TRUE(text_of(scratch.file("again/checkpoint.h5")) == expected) << name << " again";
        if (std::string(DRYSTONE_MPIRUN).empty()) continue;
        for (const int ranks : {2, 3}) {
            const std::string folder = "on_" + std::to_string(ranks);
            drystone_on_ranks(scratch, ranks, in(folder));
            EXPECT_TRUE(text_of(scratch.file(folder + "/checkpoint.h5")) == expected)
                << name << " " << folder;
        }
    }
}

}  // namespace
}  // namespace drystone::testing
