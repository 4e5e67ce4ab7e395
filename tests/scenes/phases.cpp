// Runs in phases: what each changes, and what cannot change.
#include "drystone/scenes/phases.hpp"

#include "drystone/scenes/settings.hpp"
#include "scenes/text.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

const std::string silo = R"(dimension = 2
gravity = [0, -9.81]
[[material]]
name = "grain"
friction = 0.5
[[wall]]
name = "floor"
point = [0, 0]
normal = [0, 1]
[[wall]]
name = "gate"
point = [1, 0]
normal = [-1, 0]
motion = { velocity = [0.1, 0] }
[[body]]
name = "lid"
shape = { type = "disk", radius = 0.1 }
position = [0.5, 2]
held = true
[[phase]]
name = "settle"
lasts = 2
stop = { kinetic_below = 1e-3, earliest = 0.5 }
)";
const std::string open = R"([[phase]]
name = "open"
lasts = 3
free = ["lid"]
set.material.grain.friction = 0.1
set."time.step" = 1e-4
[[phase]]
name = "tilt"
lasts = "= 2 + 2"
remove = ["gate"]
set.gravity = [1, -9]
)";

RunPlan<2> at_phase(int phase, double begin) {
    const Scratch scratch;
    SceneFiles files = open_scene(write_scene(scratch, silo + open));
    files.phase = phase;
    files.phase_begin = begin;
    return std::get<RunPlan<2>>(read_scene(files));
}

TEST(ScenePhases, EachChangesWhatItSays) {
    const RunPlan<2> first = at_phase(0, 0), second = at_phase(1, 0.7), third = at_phase(2, 3.7);
    EXPECT_EQ(first.phases, (std::vector<std::string>{"settle", "open", "tilt"}));
    EXPECT_EQ(first.options.phase_end, 2);
    EXPECT_EQ(first.options.end, 9);
    EXPECT_EQ(first.options.stop.kinetic_below, 1e-3);
    EXPECT_EQ(first.options.stop.earliest, 0.5);
    EXPECT_EQ(first.world.scene.materials.law(0, 0).friction, 0.5);
    EXPECT_EQ(first.world.scene.drives.size(), 1U);
    EXPECT_TRUE(first.gone.empty());

    EXPECT_EQ(second.options.phase_end, 3.7);
    EXPECT_EQ(second.options.end, 7.7);  // at most
    EXPECT_FALSE(second.options.stop.kinetic_below);
    EXPECT_EQ(second.options.step.h, 1e-4);
    EXPECT_EQ(second.world.scene.materials.law(0, 0).friction, 0.1);
    EXPECT_EQ(second.freed, std::vector<GlobalId>{2});
    EXPECT_EQ(second.world.scene.gravity, Vec<2>(0, -9.81));

    EXPECT_EQ(third.world.scene.materials.law(0, 0).friction, 0.1);  // what was changed stays so
    EXPECT_EQ(third.world.scene.gravity, Vec<2>(1, -9));
    EXPECT_EQ(third.gone, std::vector<GlobalId>{1});
    EXPECT_TRUE(third.world.scene.drives.empty());
    EXPECT_EQ(third.options.phase_end, third.options.end);
}

TEST(ScenePhases, OneIsOverByTimeOrByItsRule) {
    RunPlan<2> plan = at_phase(0, 0);
    SceneFiles files;
    RunProgress progress;
    plan.world.scene.time = 1;
    EXPECT_FALSE(plan.phase_is_over(files, progress));
    progress.stopped = StopReason::calm;
    EXPECT_TRUE(plan.phase_is_over(files, progress));
    progress.stopped = StopReason::none;
    plan.world.scene.time = 2;
    EXPECT_TRUE(plan.phase_is_over(files, progress));
    EXPECT_TRUE(progress.at_end(plan.options, 2));
    plan.options.end = 2;  // --until
    EXPECT_FALSE(plan.phase_is_over(files, progress));
    plan.options.end = 9;
    files.phase = 2;  // the last
    EXPECT_FALSE(plan.phase_is_over(files, progress));
}

TEST(ScenePhases, FaultsOfLaterOnesAreToldAtOnce) {
    const auto told = [](const std::string& phase) {
        return faults(silo + "[[phase]]\nname = \"next\"\nlasts = 1\n" + phase);
    };
    EXPECT_EQ(told(""), "");
    EXPECT_TRUE(has(told("remove = [\"gat\"]"),
                    "phase[1].remove: there is no body or wall \"gat\"; did you mean 'gate'?"));
    EXPECT_TRUE(has(told("free = [\"floor\"]"), "floor has no mass and cannot move freely"));
    EXPECT_TRUE(has(told("set.material.grain.density = 1"),
                    "scene.toml:27: material.grain.density: cannot change while a run goes on"))
        << told("set.material.grain.density = 1");
    EXPECT_TRUE(has(told("set.seed = 3"), "seed: cannot change"));
    EXPECT_TRUE(has(told("set.material.grain.fricton = 1"), "did you mean 'material.grain.friction'?"));
    EXPECT_TRUE(has(told("set.materail.grain.friction = 1"), "did you mean 'material.grain.friction'?"));
    EXPECT_TRUE(has(told("set.material.grain.friction = -1"), "friction: -1"));
    EXPECT_TRUE(has(told("set.material.sand.friction = 1"), "none of material is named \"sand\""));
    EXPECT_TRUE(has(told("set = 3"), "phase[1].set: is no table"));
    EXPECT_TRUE(has(told("until = 3"), "phase[1].until: there is no such field"));
    EXPECT_TRUE(has(faults(silo + "[time]\nend = 3"), "time.end: stands beside [[phase]]"));
    EXPECT_TRUE(has(faults(silo + "[stop]\nkinetic_below = 3"), "stop: stands beside [[phase]]"));
    EXPECT_TRUE(has(faults(silo + "remove = [\"gate\"]"), "phase[0].remove: stands in the first phase"));
    EXPECT_TRUE(has(told("set.wall.gate.guide = { axis = [1, 0], force = 3, mass = 1 }"),
                    "wall.gate.guide.axis: cannot change"));
    EXPECT_TRUE(has(told("remove = [\"gate\", \"gate\"]"), "phase[1].remove: gate was named before"));
    EXPECT_TRUE(has(told("[[phase]]\nname = \"next\"\nlasts = 1"),
                    "phase[2].name: \"next\" is the name of an earlier phase"));
    EXPECT_TRUE(
        has(told("[[phase]]\nname = \"long\"\nlasts = 1e20"), "phase[2].lasts: 1e+20 s make 1e+23 steps"));
    std::string turning = silo + "[[phase]]\nname = \"next\"\nlasts = 1\nset.gravity.rate = 0";
    turning.replace(turning.find("[0, -9.81]"), 10, "{ value = [0, -9.81], rate = 90 }");
    EXPECT_TRUE(has(faults(turning), "gravity.rate: is of gravity that turns"));
    EXPECT_THROW(at_phase(3, 0), Error);
}

TEST(ScenePhases, WhatIsSaidInOneHoldsAfterItsOwnChanges) {
    const Scratch scratch;
    SceneFiles files = open_scene(write_scene(scratch, silo + open));
    files.settings = {{"material.grain.friction", "0.7", 1}};
    const auto friction = [&](int phase) {
        files.phase = phase;
        return std::get<RunPlan<2>>(read_scene(files)).world.scene.materials.law(0, 0).friction;
    };
    EXPECT_EQ(friction(0), 0.5);
    EXPECT_EQ(friction(1), 0.7);
    EXPECT_EQ(friction(2), 0.7);
}

TEST(ScenePhases, WhatARunIsMadeOfCannotChange) {
    EXPECT_NO_THROW(check_changes({{"solver.tolerance", "1e-3"},
                                   {"material[0].friction", "1"},
                                   {"wall.gate.motion.velocity", "[0, 0]"}}));
    for (const char* field : {"dimension", "material.grain.density", "body.lid.position", "phase",
                              "phase.open.set.gravity", "wall", "time", "sand.cell", ""})
        EXPECT_THROW(check_changes({{field, "1"}}), Error) << field;
}

}  // namespace
}  // namespace drystone::testing
