// Checkpoints: every bit comes back, and nothing that is not as it was written is believed.

#include "drystone/results/checkpoint.hpp"

#include "drystone/base/error.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "results/checkpoint_scene.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

namespace drystone::testing {
namespace {

constexpr std::size_t header_size = 512;

/// The box is sheared, and there is a file beside the scene; numbers of the state are made up, as odd as allowed.
struct Sample {
    SceneFiles files;
    RunOverrides overrides;
    Scene<2> scene;
    WarmStart<2> warm;
    RunProgress progress;
    State observers;

    [[nodiscard]] RunState<2> state() const {
        return {files, overrides, scene, scene.bodies, warm, progress, observers};
    }
};

Sample sample() {
    Sample s;
    s.files.scene = "some/where/scene.toml";
    s.files.text = checkpoint_scene;
    s.files.others["mesh.stl"] = std::string("solid\0\xff binary", 14);
    s.overrides.until = 0.1 + 0.2;
    s.overrides.steps = std::int64_t{1} << 40U;
    s.scene = std::get<RunPlan<2>>(read_scene(s.files)).world.scene;
    Bodies<2>& bodies = s.scene.bodies;
    bodies.id = {0, 7, std::int64_t{1} << 40U};
    bodies.next_id = (std::int64_t{1} << 40U) + 3;
    bodies.position[1] = {-0.0, 5e-324};
    bodies.velocity[2] = {1.0 / 3, -1e29};
    bodies.image[2] = {-12345678, 0};
    bodies.rotation[1].angle = -1e9;
    s.scene.domain.lower[0] = 0.25;
    s.scene.domain.period[0] = 2.125;
    s.scene.domain.tilt = -0.7;
    s.scene.domain.rate = {1e-3, 0};
    s.scene.domain.shear_rate = 3.5;
    s.scene.gravity = {1e-17, -9.81};
    s.scene.time = 12.3456789012345678;
    s.warm.key = {{0, 7, 0, 0}, {0, 7, 3, 4294967295U}, {7, 7, 1, 0}};
    s.warm.impulse = {Vec<2>(1, -0.0), Vec<2>(0.1, 0.2), Vec<2>(1e-300, 3)};
    s.warm.h = 1e-3 / 3;
    s.progress.summary.steps = 987654321987;
    s.progress.summary.unsolved = 3;
    s.progress.summary.infeasible = 1;
    s.progress.summary.iterations = 5;
    s.progress.summary.worst_residual = infinity;
    s.progress.summary.work.held = -0.1;
    s.progress.summary.fed_energy = 0.3;
    s.progress.summary.seconds.solve = 77;
    s.progress.stop.calm_since = 1.5;
    s.progress.stop.last_mean = 0.125;
    s.progress.stopped = StopReason::steady;
    s.observers.numbers = {{"frames/number", std::vector<std::int64_t>{12}},
                           {"measurements/lengths/steps.csv", std::vector<std::int64_t>{1234567890123}},
                           {"measurements/lengths/wall force.csv", std::vector<std::int64_t>{0}},
                           {"measurements/sums", std::vector{0.1, -0.0}}};
    s.progress.balance.start({1e-300, -0.0});
    s.progress.balance.gross_work = 2.5;
    return s;
}

template <class T>
std::string raw(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), sizeof(T) * values.size()};
}

/// Equal bit for bit.
template <class T>
void expect_bits(const std::vector<T>& a, const std::vector<T>& b) {
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(raw(a), raw(b));
}

TEST(Checkpoint, EveryBitComesBack) {
    const Scratch scratch;
    const Sample s = sample();
    write_checkpoint(scratch.file("c.h5"), s.state(), "0.1.0");
    const Checkpoint c = read_checkpoint(scratch.file("c.h5"), "0.1.0", plan_without_grains);
    EXPECT_EQ(c.program, "0.1.0");
    EXPECT_EQ(c.files.scene, "scene.toml");
    EXPECT_EQ(c.files.text, s.files.text);
    EXPECT_EQ(c.files.others, s.files.others);
    EXPECT_EQ(c.overrides.until, s.overrides.until);
    EXPECT_EQ(c.overrides.steps, s.overrides.steps);
    EXPECT_FALSE(c.overrides.tolerance);
    const auto& run = std::get<StoppedRun<2>>(c.run);
    const Scene<2>& scene = run.plan.world.scene;
    EXPECT_EQ(scene.bodies.id, s.scene.bodies.id);
    EXPECT_EQ(scene.bodies.next_id, s.scene.bodies.next_id);
    EXPECT_EQ(scene.bodies.shape, s.scene.bodies.shape);
    EXPECT_EQ(scene.bodies.material, s.scene.bodies.material);
    EXPECT_EQ(scene.bodies.motion, s.scene.bodies.motion);
    expect_bits(scene.bodies.size, s.scene.bodies.size);
    expect_bits(scene.bodies.mass, s.scene.bodies.mass);
    expect_bits(scene.bodies.inertia, s.scene.bodies.inertia);
    expect_bits(scene.bodies.position, s.scene.bodies.position);
    expect_bits(scene.bodies.image, s.scene.bodies.image);
    expect_bits(scene.bodies.rotation, s.scene.bodies.rotation);
    expect_bits(scene.bodies.velocity, s.scene.bodies.velocity);
    expect_bits(scene.bodies.spin, s.scene.bodies.spin);
    EXPECT_EQ(scene.domain.lower, s.scene.domain.lower);
    EXPECT_EQ(scene.domain.period, s.scene.domain.period);
    EXPECT_EQ(scene.domain.tilt, s.scene.domain.tilt);
    EXPECT_EQ(scene.domain.rate, s.scene.domain.rate);
    EXPECT_EQ(scene.domain.shear_rate, s.scene.domain.shear_rate);
    EXPECT_EQ(scene.gravity, s.scene.gravity);
    EXPECT_EQ(scene.time, s.scene.time);
    EXPECT_EQ(run.warm.key, s.warm.key);
    expect_bits(run.warm.impulse, s.warm.impulse);
    EXPECT_EQ(run.warm.h, s.warm.h);
    EXPECT_EQ(run.progress.summary.steps, s.progress.summary.steps);
    EXPECT_EQ(run.progress.summary.infeasible, 1);
    EXPECT_EQ(run.progress.summary.worst_residual, s.progress.summary.worst_residual);
    EXPECT_EQ(run.progress.summary.work.held, -0.1);
    EXPECT_EQ(run.progress.summary.fed_energy, 0.3);
    EXPECT_EQ(run.progress.summary.seconds.solve, 0);
    EXPECT_EQ(run.progress.stop.calm_since, 1.5);
    EXPECT_EQ(run.progress.stop.last_mean, 0.125);
    EXPECT_EQ(run.progress.stopped, StopReason::steady);
    EXPECT_EQ(run.progress.balance.begin.kinetic, 1e-300);
    EXPECT_TRUE(std::signbit(run.progress.balance.begin.potential));
    EXPECT_EQ(run.progress.balance.gross_work, 2.5);
    EXPECT_TRUE(run.progress.balance.begun);
    EXPECT_EQ(c.observers, s.observers);
    expect_bits(c.observers.get<double>("measurements/sums"), s.observers.get<double>("measurements/sums"));
}

TEST(Checkpoint, TwoOfOneStateAreTheSameBytes) {
    const Scratch scratch;
    Sample s = sample();
    write_checkpoint(scratch.file("a.h5"), s.state(), "0.1.0");
    // Neither the clock nor the folder of the scene nor the computer's seconds are in it.
    ::sleep(1);
    s.files.scene = "elsewhere/scene.toml";
    s.progress.summary.seconds.solve = 78;
    write_checkpoint(scratch.file("b.h5"), s.state(), "0.1.0");
    EXPECT_TRUE(bytes_of(scratch.file("a.h5")) == bytes_of(scratch.file("b.h5")));
    EXPECT_FALSE(std::filesystem::exists(scratch.file("a.h5.part")));
}

TEST(Checkpoint, CutAtAnyLengthItIsRefused) {
    const Scratch scratch;
    write_checkpoint(scratch.file("c.h5"), sample().state(), "0.1.0");
    const std::string whole = bytes_of(scratch.file("c.h5"));
    for (std::size_t length = 0; length < whole.size(); length += length < 600 ? 1 : 97) {
        std::ofstream(scratch.file("cut.h5"), std::ios::binary) << whole.substr(0, length);
        const std::string message =
            message_of([&] { read_checkpoint(scratch.file("cut.h5"), "0.1.0", plan_without_grains); });
        const std::string expected = length == 0 ? "is empty"
                                     : length < header_size
                                         ? fmt::format("has {} of at least 512", length)
                                         : fmt::format("has {} of {} bytes", length, whole.size());
        ASSERT_NE(message.find(expected), std::string::npos) << length << ": " << message;
    }
    std::ofstream(scratch.file("cut.h5"), std::ios::binary) << whole << "x";
    EXPECT_NE(message_of([&] {
                  read_checkpoint(scratch.file("cut.h5"), "0.1.0", plan_without_grains);
              }).find("is altered"),
              std::string::npos);
}

TEST(Checkpoint, AnyAlteredByteIsNoticed) {
    const Scratch scratch;
    write_checkpoint(scratch.file("c.h5"), sample().state(), "0.1.0");
    const std::string whole = bytes_of(scratch.file("c.h5"));
    for (std::size_t at = 0; at < whole.size(); at += at < header_size ? 1 : 131) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
        std::ofstream(scratch.file("x.h5"), std::ios::binary) << bytes;
        EXPECT_THROW(read_checkpoint(scratch.file("x.h5"), "0.1.0", plan_without_grains), Error) << at;
    }
}

TEST(Checkpoint, SaysWhichVersionItIsOf) {
    const Scratch scratch;
    write_checkpoint(scratch.file("c.h5"), sample().state(), "0.9.0");
    std::string bytes = bytes_of(scratch.file("c.h5"));
    bytes.replace(bytes.find(fmt::format("version {}", checkpoint_version)), 9, "version 3");
    std::ofstream(scratch.file("c.h5"), std::ios::binary) << bytes;
    const std::string message =
        message_of([&] { read_checkpoint(scratch.file("c.h5"), "0.1.0", plan_without_grains); });
    for (const char* part : {"of version 3", "written by drystone 0.9.0", "this is drystone 0.1.0",
                             "resume it with drystone 0.9.0"})
        EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Checkpoint, OtherFilesAreNone) {
    const Scratch scratch;
    std::ofstream(scratch.file("text.h5")) << "dimension = 3\n";
    EXPECT_NE(message_of([&] {
                  read_checkpoint(scratch.file("text.h5"), "0.1.0", plan_without_grains);
              }).find("is not a checkpoint"),
              std::string::npos);
    EXPECT_FALSE(is_checkpoint(scratch.file("text.h5")));
    EXPECT_NE(message_of([&] {
                  read_checkpoint(scratch.file("none.h5"), "0.1.0", plan_without_grains);
              }).find("cannot be opened"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  read_checkpoint(scratch.folder(), "0.1.0", plan_without_grains);
              }).find("is a folder"),
              std::string::npos);
}

TEST(Checkpoint, OneThatCannotBeWrittenLeavesTheOldOne) {
    const Scratch scratch;
    write_checkpoint(scratch.file("c.h5"), sample().state(), "0.1.0");
    const std::string before = bytes_of(scratch.file("c.h5"));
    std::filesystem::create_directory(
        scratch.file("c.h5.part"));  // in the way, and no permission can change that
    const std::string message =
        message_of([&] { write_checkpoint(scratch.file("c.h5"), sample().state(), "0.1.0"); });
    EXPECT_NE(message.find("c.h5: cannot be written"), std::string::npos) << message;
    EXPECT_EQ(bytes_of(scratch.file("c.h5")), before);
    EXPECT_THROW(write_checkpoint(scratch.file("no/folder/c.h5"), sample().state(), "0.1.0"), Error);
}

/// The checks behind the checksum: states that no run could have written.
class Impossible : public ::testing::Test {
protected:
    /// What is said of the sample after `change`.
    template <class F>
    std::string message_after(F change) {
        const Scratch scratch;
        Sample s = sample();
        change(s);
        write_checkpoint(scratch.file("c.h5"), s.state(), "0.1.0");
        return message_of([&] { read_checkpoint(scratch.file("c.h5"), "0.1.0", plan_without_grains); });
    }
    static void expect_part(const std::string& message, const std::string& part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
};

TEST_F(Impossible, Bodies) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    expect_part(message_after([](Sample& s) { s.scene.bodies.shape[1] = 2; }), "/bodies/shape: holds 2");
    expect_part(message_after([](Sample& s) { s.scene.bodies.shape[1] = -1; }), "/bodies/shape: holds -1");
    expect_part(message_after([](Sample& s) { s.scene.bodies.material[0] = 1; }),
                "/bodies/material: holds 1");
    expect_part(message_after([](Sample& s) { s.scene.bodies.motion[0] = static_cast<Motion>(9); }),
                "/bodies/motion: holds 9");
    expect_part(message_after([](Sample& s) { s.scene.bodies.id[1] = 0; }),
                "/bodies/id: holds 0 as number 1");
    expect_part(message_after([](Sample& s) { s.scene.bodies.next_id = 5; }), "/bodies/id: holds 7");
    expect_part(message_after([](Sample& s) { s.scene.bodies.size[2] = 0; }), "/bodies/size: holds 0");
    expect_part(message_after([](Sample& s) { s.scene.bodies.mass[2] = 0; }), "/bodies/mass: holds 0");
    expect_part(message_after([](Sample& s) { s.scene.bodies.inertia[2][0] = -1; }),
                "/bodies/inertia: holds -1");
    expect_part(message_after([](Sample& s) { s.scene.bodies.inertia[2][0] = 0; }),
                "/bodies/inertia: is not positive");
    expect_part(message_after([&](Sample& s) { s.scene.bodies.position[1][0] = nan; }),
                "/bodies/position: holds nan");
    expect_part(message_after([](Sample& s) { s.scene.bodies.velocity[1][0] = INFINITY; }),
                "/bodies/velocity: holds inf");
    expect_part(message_after([](Sample& s) { s.scene.bodies.motion[0] = Motion::free; }), "/bodies/");
    expect_part(message_after([](Sample& s) { s.scene.bodies.motion[0] = Motion::guided; }), "guided body 0");
}

/// Numbers that no run could have reached, and what would lead out of arrays or into loops without end later.
TEST_F(Impossible, BodiesBeyondAllMeasure) {
    using Change = void (*)(Bodies<2>&);
    const std::pair<Change, const char*> cases[] = {
        {[](Bodies<2>& b) { b.position[1][1] = 1e31; }, "/bodies/position: holds 1e+31, which is not from"},
        {[](Bodies<2>& b) { b.position[1][0] = -3; },
         "/bodies/position: is outside of the periodic cell for body 7"},
        {[](Bodies<2>& b) { b.velocity[2][0] = -1e31; }, "/bodies/velocity: holds -1e+31"},
        {[](Bodies<2>& b) { b.spin[2][0] = 1e31; }, "/bodies/spin: holds 1e+31"},
        {[](Bodies<2>& b) { b.rotation[1].angle = 1e31; }, "/bodies/rotation: holds 1e+31"},
        {[](Bodies<2>& b) { b.mass[1] = 1e-150; }, "/bodies/mass: holds 1e-150 for body 7"},
        {[](Bodies<2>& b) { b.mass[1] = 1e150; },
         "/bodies/mass: holds 1e+150, which is not from 0 to 1e+100"},
        {[](Bodies<2>& b) { b.inertia[1][0] = 1e-150; }, "/bodies/inertia: is not positive"},
        {[](Bodies<2>& b) { b.size[1] = 1e-40; }, "/bodies/size: holds 1e-40"},
        {[](Bodies<2>& b) { b.image[1][0] = -2'000'000'000; }, "/bodies/image: holds -2000000000"},
        {[](Bodies<2>& b) { b.next_id = std::numeric_limits<std::int64_t>::max(); },
         "/bodies/next_id: holds 9223"},
        {[](Bodies<2>& b) {
             b.motion[0] = Motion::free;
             b.mass[0] = 1;
             b.inertia[0][0] = 1;
         },
         "/bodies/motion: lets a wall or a surface go, for body 0"},
    };
    for (const auto& [change, part] : cases)
        expect_part(message_after([change = change](Sample& s) { change(s.scene.bodies); }), part);
}

/// A held body may weigh nothing; one that a phase lets go may not.
TEST_F(Impossible, BodiesThatAreLetGo) {
    const auto message = [&](auto change) {
        return message_after([&](Sample& s) {
            s.files.text = std::string(checkpoint_scene) + R"(
                name = "ball"
                held = true
                [[phase]]
                name = "before"
                lasts = 1
                [[phase]]
                name = "after"
                lasts = 1
                free = ["ball"]
            )";
            s.files.phase = 1;
            s.scene.bodies.id = {0, 1, 2};
            s.scene.bodies.motion[2] = Motion::held;
            s.warm = {};
            change(s);
        });
    };
    EXPECT_EQ(message([](Sample&) {}), "no error");
    expect_part(message([](Sample& s) { s.scene.bodies.mass[2] = 0; }), "/bodies/mass: holds 0 for body 2");
    expect_part(message([](Sample& s) { s.files.phase = 2; }), "phase: there is none of number 2");
    expect_part(message([](Sample& s) { s.files.phase = -1; }), "/scene/phase: holds -1");
}

TEST_F(Impossible, FeedsAndJoints) {
    const auto message = [&](auto change) {
        return message_after([&](Sample& s) {
            s.files.text = std::string(checkpoint_scene) + R"(
                name = "ball"
                [[source]]
                rate = 10
                shape = { type = "disk", radius = 0.01 }
                region = { type = "box", lower = [-1, 1], upper = [1, 2] }
                [[joint]]
                name = "tie"
                type = "ball"
                bodies = ["ball"]
                point = [0.5, 0.1]
            )";
            // The body with the name has the id 2.
            s.scene.bodies.id = {0, 1, 2};
            s.warm = {};
            s.progress.feed.owed = {10};
            s.progress.feed.fed = {3};
            s.progress.feed.fed_mass = {0.1};
            s.progress.feed.missed = {0};
            change(s);
        });
    };
    EXPECT_EQ(message([](Sample&) {}), "no error");
    expect_part(message([](Sample& s) { s.progress.feed.owed = {11}; }),
                "/progress/feed/owed: holds 11, and a source owes at most 10");
    expect_part(message([](Sample& s) { s.progress.feed.owed = {NAN}; }), "/progress/feed/owed: holds nan");
    expect_part(message([](Sample& s) { s.progress.feed.fed.clear(); }),
                "/progress/feed/fed: holds 0 numbers where there should be 1");
    expect_part(message([](Sample& s) { s.progress.feed.fed_mass.clear(); }),
                "/progress/feed/fed_mass: holds 0 numbers");
    expect_part(message([](Sample& s) { s.progress.feed.drained = {1}; }),
                "/progress/feed/drained: holds 1 numbers");
    expect_part(message([](Sample& s) { s.scene.bodies.motion[2] = Motion::held; }),
                "/bodies: holds both bodies of the joint \"tie\" fast");
}

TEST_F(Impossible, TheRest) {
    expect_part(message_after([](Sample& s) { s.scene.time = NAN; }), "/time: holds nan");
    expect_part(message_after([](Sample& s) { s.scene.domain.period[0] = 0; }), "/domain/period: holds 0");
    expect_part(message_after([](Sample& s) { s.scene.domain.period[1] = 3; }), "/domain/period: holds 3");
    expect_part(message_after([](Sample& s) { std::swap(s.warm.key[0], s.warm.key[1]); }),
                "/warm/key: is not ascending");
    expect_part(message_after([](Sample& s) { s.warm.key[2].second = 3; }), "which is no contact");
    expect_part(message_after([](Sample& s) { s.warm.impulse[0][0] = NAN; }), "/warm/impulse: holds nan");
    expect_part(message_after([](Sample& s) { s.warm.impulse[0][0] = 1e150; }),
                "/warm/impulse: holds 1e+150");
    expect_part(message_after([](Sample& s) { s.warm.h = 1e-300; }), "/warm/h: holds 1e-300");
    expect_part(message_after([](Sample& s) { s.warm.h = -1; }), "/warm/h: holds -1");
    expect_part(message_after([](Sample& s) { s.warm.joints = Vector::Constant(2, NAN); }),
                "/warm/joints: holds nan");
    expect_part(message_after([](Sample& s) { s.warm.torque = {Spin<2>(1)}; }),
                "/warm/torque: holds 1 torques for 3 contacts");
    expect_part(message_after([](Sample& s) { s.scene.gravity[0] = 1e31; }), "/gravity: holds 1e+31");
    expect_part(message_after([](Sample& s) { s.scene.time = 1e31; }), "/time: holds 1e+31");
    expect_part(message_after([](Sample& s) { s.scene.domain.tilt = 1e31; }), "/domain/tilt: holds 1e+31");
    expect_part(message_after([](Sample& s) { s.scene.domain.period[0] = 1e-40; }),
                "/domain/period: holds 1e-40");
    expect_part(message_after([](Sample& s) { s.overrides.until = INFINITY; }),
                "/overrides/until: holds inf");
    expect_part(message_after([](Sample& s) { s.progress.summary.unsolved = s.progress.summary.steps + 1; }),
                "/progress/steps: is less than the number of steps of one kind");
    expect_part(message_after([](Sample& s) { s.progress.summary.worst_overlap = NAN; }),
                "/progress/worst_overlap: holds what is not a number");
    expect_part(message_after([](Sample& s) {
                    s.progress.summary.iterations = std::numeric_limits<std::int64_t>::max();
                }),
                "/progress/iterations: holds 9223");
    expect_part(message_after([](Sample& s) { s.files.others[std::string(5000, 'a')] = ""; }),
                "/name: has 5000 bytes, more than 4096");
    expect_part(message_after([](Sample& s) { s.progress.summary.steps = -1; }), "/progress/steps: holds -1");
    expect_part(message_after([](Sample& s) { s.progress.feed.owed = {1}; }),
                "/progress/feed/owed: holds 1 numbers");
    for (const char* name : {"steps.txt", ".a.csv", "a\nb.csv", "up/steps.csv"})
        expect_part(message_after([&](Sample& s) {
                        s.observers.numbers[fmt::format("measurements/lengths/{}", name)] = std::vector{1.0};
                    }),
                    "is not the name of a file");
    expect_part(message_after([](Sample& s) { s.overrides.tolerance = -1; }), "/overrides/tolerance");
    expect_part(message_after([](Sample& s) { s.files.text = "dimension = 4"; }),
                "/scene: cannot be read (scene.toml:1: dimension");
    expect_part(message_after([](Sample& s) { s.files.text = "dimension = 3"; }), "/dimension: is 2");
}

/// Files that the scene names are taken from the checkpoint, and from nowhere else.
TEST(Checkpoint, ASceneThatNamesAFileWhichIsMissingIsRefused) {
    const Scratch scratch;
    Sample s = sample();
    s.files.text = "dimension = 3\n[[shape]]\nname = \"a\"\ntype = \"mesh\"\nfile = \"/etc/hostname.obj\"\n";
    write_checkpoint(scratch.file("c.h5"), s.state(), "0.1.0");
    const std::string message =
        message_of([&] { read_checkpoint(scratch.file("c.h5"), "0.1.0", plan_without_grains); });
    EXPECT_NE(message.find("is not in the checkpoint"), std::string::npos) << message;
}

}  // namespace
}  // namespace drystone::testing
