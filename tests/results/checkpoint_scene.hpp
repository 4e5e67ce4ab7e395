// The scene of the checkpoints that tests and the fuzzer write.
#pragma once

namespace drystone::testing {

/// A periodic box of disks on a wall. Its last table is a list of bodies, so that more can be added behind it.
inline const char* const checkpoint_scene = R"(
    dimension = 2
    gravity = [0, -9.81]
    [domain]
    lower = [-1, 0]
    period = [2, 0]
    [[material]]
    name = "glass"
    [[wall]]
    point = [0, 0]
    normal = [0, 1]
    [[body]]
    shape = { type = "disk", radius = 0.1 }
    position = [0, 0.1]
    [[body]]
    shape = { type = "disk", radius = 0.1 }
    position = [0.5, 0.1]
)";

}  // namespace drystone::testing
