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

TEST(Attacks, GlueAndSlidingDoNotLoosenTheReferee) {
    for (const char* name : {"glued_boxes", "glued_block"}) {
        const nlohmann::json result = run(name, "200");
        EXPECT_EQ(result["unsolved"], 0) << name;
        EXPECT_LT(result["worst_relative_overlap"], 1e-4) << name;
        EXPECT_NEAR(result["energy_end"].get<double>() / result["energy_begin"].get<double>(), 1, 1e-6)
            << name;
        EXPECT_LT(result["iterations"], 100 * 200) << name;
    }
    const nlohmann::json slides = run("fast_slider", "200");
    EXPECT_EQ(slides["unsolved"], 0);
    EXPECT_LT(slides["worst_relative_overlap"], 1e-6);
}

TEST(Attacks, WhatIsPressedElsewhereIsNoScale) {
    const nlohmann::json result = run("pressed_elsewhere", "300");
    EXPECT_EQ(result["unsolved"], 0);
    EXPECT_LT(result["worst_relative_overlap"], 1e-4);
    EXPECT_LT(result["kinetic_end"], 1e-7);
}

TEST(Attacks, FrozenShiftsOpenNoBonds) {
    const nlohmann::json result = run("sliding_bonds", "100");
    EXPECT_EQ(result["unsolved"], 0);
    EXPECT_LT(result["kinetic_end"], 1e-10);
    EXPECT_NEAR(result["energy_end"], result["energy_begin"], 1e-8);  // it hangs; a fall would be 2e-4 J
}

TEST(Attacks, TolerancesThatAllowAnythingAreRefused) {
    const Scratch scratch;
    const Answer loose = drystone_command(scratch, {"run", attack("mask50"), "--tolerance", "0.05"});
    EXPECT_EQ(loose.code, 2);
    EXPECT_TRUE(contains(loose.err, "0.05 cannot be had; give a number above 0, at most 0.01")) << loose.err;
    std::ofstream(scratch.file("scene.toml")) << "dimension = 2\n[solver]\ntolerance = 0.05\n";
    const Answer scene = drystone_command(scratch, {"check", "scene.toml"});
    EXPECT_NE(scene.code, 0);
    EXPECT_TRUE(
        contains(scene.err + scene.out, "solver.tolerance: 0.05; give a positive number, at most 0.01"))
        << scene.err << scene.out;
}

TEST(Attacks, RoundingIsNoErrorAndNoScale) {
    for (const char* name : {"drifting", "falling_pair", "idle_motor", "redundant_loop", "joint_twice"})
        EXPECT_EQ(run(name, "100")["unsolved"], 0) << name;
}

/// Work of the contact: what the plate took from what pushed. Without a contact it would be 0.
TEST(Attacks, WhatPushesIsKnownToDetection) {
    for (const char* name : {"strong_spring", "strong_motor", "fast_motor"}) {
        const nlohmann::json result = run(name, "50");
        EXPECT_LT(result["work_contacts"], -0.1) << name;
        EXPECT_LT(result["kinetic_end"], 1e-10) << name;
        EXPECT_LT(result["worst_relative_overlap"], 1e-6) << name;
    }
    EXPECT_LT(run("piston", "200")["worst_relative_overlap"], 1e-3);
    const nlohmann::json told = run("light_piston", "200");
    EXPECT_TRUE(told["worst_relative_overlap"] < 1e-2 || told["overlap_jumps"] > 0) << told;
}

TEST(Attacks, ContactsThatYieldMayOverlap) {
    const nlohmann::json result = run("soft_landing", "100");
    EXPECT_NEAR(result["worst_overlap"].get<double>(), 10 * std::sqrt(10 / 1e5), 0.02);  // v sqrt(m / k)
    EXPECT_EQ(result["overlap_jumps"], 0);
}

TEST(Attacks, FarTurnsKeepTheirEnergy) {
    const nlohmann::json result = run("far_spin", "3000");
    EXPECT_NEAR(result["energy_end"].get<double>() / result["energy_begin"].get<double>(), 1, 1e-10);
}

TEST(Attacks, NobodyGoesThroughWholePeriods) {
    const Scratch scratch;
    const Answer answer = drystone_command(scratch, {"run", attack("through_periods")}, "timeout 20");
    EXPECT_EQ(answer.code, 1);
    EXPECT_TRUE(contains(answer.err,
                         "body 0: it moves by 10 m in a step, and the domain repeats every 1 m; "
                         "shorten [time] step"))
        << answer.err;
}

TEST(Attacks, CrushedBodiesAreFoundOutQuickly) {
    const nlohmann::json result = run("crushed_smooth", "60");
    EXPECT_EQ(result["infeasible"], 50);
    EXPECT_LT(result["iterations"], 50 * 1000);
    EXPECT_LT(result["worst_velocity_error"], 100);  // of the motion that was gone on with
}

TEST(Attacks, WithoutFrictionNoShiftIsFrozen) {
    const nlohmann::json result = run("smooth_gas", "200");
    EXPECT_EQ(result["unsolved"], 0);
    EXPECT_EQ(result["frozen_shift"], 0);
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
    for (const char* name :
         {"crush", "frust", "frust_assoc", "fs_ip", "fs_cadoux-interior-point", "st8_a", "changing_cell",
          "changing_cell_2", "changing_cell_3", "cohesion_far", "idle_torques"}) {
        const Scratch scratch;
        const std::vector<std::string> words = {"run", attack(name), "--steps", "12", "--output"};
        const auto in = [&](const std::string& folder) {
            std::vector<std::string> all = words;
            all.push_back(folder);
            return all;
        };
        drystone_command(scratch, in("first"));
        const std::string expected = bytes_of(scratch.file("first/checkpoint.h5"));
        const std::string steps = bytes_of(scratch.file("first/steps.csv"));
        ASSERT_FALSE(expected.empty() || steps.empty()) << name;
        drystone_command(scratch, in("again"));
        EXPECT_TRUE(bytes_of(scratch.file("again/checkpoint.h5")) == expected) << name << " again";
        if (std::string(DRYSTONE_MPIRUN).empty()) continue;
        for (const int ranks : {2, 3}) {
            const std::string folder = "on_" + std::to_string(ranks);
            drystone_on_ranks(scratch, ranks, in(folder));
            EXPECT_TRUE(bytes_of(scratch.file(folder + "/checkpoint.h5")) == expected)
                << name << " " << folder;
            EXPECT_EQ(bytes_of(scratch.file(folder + "/steps.csv")), steps) << name << " " << folder;
        }
    }
}

}  // namespace
}  // namespace drystone::testing
