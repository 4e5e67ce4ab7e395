// Frames: what is written is read back, and the background writer does what the immediate one does.

#include "drystone/base/timer.hpp"
#include "drystone/results/frame_writer.hpp"
#include "grains/sample_scenes.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

#include <Eigen/Dense>

#include <fstream>
#include <numbers>
#include <numeric>
#include <set>
#include <sstream>

namespace drystone::testing {
namespace {

using sample::noise;
using std::numbers::pi;

/// The cells of a file as ParaView would read them.
struct Cells {
    std::vector<Vec<3>> points;
    std::vector<int> connectivity, offsets;
    hdf5::Group group;

    explicit Cells(const std::filesystem::path& path)
        : group(hdf5::File::open(path).root().open_group("VTKHDF")) {
        const std::vector<double> numbers = group.read_doubles("Points");
        for (std::size_t i = 0; i < numbers.size(); i += 3) points.emplace_back(&numbers[i]);
        connectivity = group.read_ints("Connectivity");
        offsets = group.read_ints("Offsets");
    }
    [[nodiscard]] std::size_t count() const { return offsets.size() - 1; }
    [[nodiscard]] std::span<const int> cell(std::size_t i) const {
        return std::span(connectivity).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
    /// Area and enclosed volume; the latter is positive only where all triangles are wound counter-clockwise seen from
    /// outside.
    [[nodiscard]] std::pair<double, double> measure(std::size_t i) const {
        double area = 0, volume = 0;
        for (const auto& [a, b, c] : triangles_of_strip(cell(i))) {
            const Vec<3> normal = (points[b] - points[a]).cross(points[c] - points[a]);
            area += normal.norm() / 2;
            volume += normal.dot(points[a]) / 6;
        }
        return {area, volume};
    }
};

template <int d>
Index add(Scene<d>& scene, Shape<d> shape, double size, const Vec<d>& position, Rotation<d> rotation = {}) {
    BodyPlan<d> plan;
    plan.shape = scene.add_shape(std::move(shape));
    plan.size = size;
    plan.pose = {position, rotation};
    plan.velocity = Vec<d>::LinSpaced(d, 1, d);
    return scene.add_body(plan);
}

TEST(Strips, HoldEveryTriangleOnceAndKeepItsWinding) {
    for (int level = 0; level <= finest_level; ++level) {
        const CellShape<3> sphere = cell_shape<3>(Ball<3>{1}, level);
        const auto triangles = triangles_of_strip(sphere.corners);
        ASSERT_EQ(triangles.size(), 20U << (2 * level));
        EXPECT_EQ(sphere.vertices.size(), 2 + triangles.size() / 2);  // Euler
        std::set<std::pair<int, int>> edges;
        for (const auto& t : triangles)
            for (int k = 0; k < 3; ++k) EXPECT_TRUE(edges.emplace(t[k], t[(k + 1) % 3]).second);
        // Closed: each edge is there in both directions.
        for (const auto& [a, b] : edges) EXPECT_TRUE(edges.contains({b, a}));
        for (const auto& [a, b, c] : triangles) {
            const Vec<3>&p = sphere.vertices[a], &q = sphere.vertices[b], &r = sphere.vertices[c];
            EXPECT_GT((q - p).cross(r - p).dot(p), 0);
        }
        // The joints cost less than half an index a triangle.
        EXPECT_LT(sphere.corners.size(), 1.5 * triangles.size() + 3);
    }
}

TEST(Frames, SurfacesAreWhereTheBodiesAre) {
    const Scratch scratch;
    Scene<3> scene = sample::empty_scene<3>(0.5);
    sample::add_wall<3>(scene, Vec<3>::Zero(), Vec<3>::UnitZ());
    Rotation<3> turned;
    turned.q = Eigen::Quaterniond(Eigen::AngleAxisd(pi / 2, Vec<3>::UnitX()));
    add<3>(scene, Ball<3>{1}, 0.5, {5, 1, 2});
    add<3>(scene, make_box({1, 2, 3}), 0.1, {-1, 0, 1}, turned);
    add<3>(scene, Capsule{0.2, 0.5}, 1, {0, 3, 1});
    add<3>(scene, Ellipsoid<3>{{1, 1, 0.5}}, 1, {0, 6, 1});
    write_frame<3>(scratch.file("grains_000000.hdf"), scene, nullptr, 0);
    EXPECT_FALSE(std::filesystem::exists(scratch.file("grains_000000.hdf.part")));

    const Cells cells(scratch.file("grains_000000.hdf"));
    ASSERT_EQ(cells.count(), 4U);  // the wall has no surface that ends
    EXPECT_EQ(cells.group.read_ints("CellData/id"), (std::vector<int>{1, 2, 3, 4}));
    EXPECT_EQ(cells.group.read_ints("NumberOfCells"), std::vector<int>{4});
    const std::vector<double> velocity = cells.group.read_doubles("CellData/velocity");
    EXPECT_EQ(velocity, (std::vector<double>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}));
    EXPECT_NEAR(cells.group.read_doubles("CellData/speed")[0], std::sqrt(14.0), 1e-6);
    EXPECT_NEAR(cells.group.read_doubles("CellData/radius")[0], 0.5, 1e-7);

    // Facets of round shapes are inside them: 642 vertices lose 0.9 % of the area and the volume, 24 meridians of a
    // capsule 2 %.
    const double box[] = {2 * 4 * (2 + 3 + 6) * 0.01, 8 * 6 * 0.001};
    const double expected[4][3] = {
        {pi, pi / 6, 0.012},
        {box[0], box[1], 1e-6},
        {2 * pi * 0.2 * 1 + 4 * pi * 0.04, pi * 0.04 + 4 * pi / 3 * 0.008, 0.03},
        {8.6719, 4 * pi / 3 * 0.5,
         0.015}};  // oblate spheroid, c = a / 2: 2 pi (1 + atanh(e) / (4 e)), e^2 = 3/4
    for (std::size_t i = 0; i < 4; ++i) {
        const auto [area, volume] = cells.measure(i);
        EXPECT_NEAR(area, expected[i][0], expected[i][2] * expected[i][0]) << i;
        EXPECT_NEAR(volume, expected[i][1], expected[i][2] * expected[i][1]) << i;
    }
    // The box has been turned about x: its longest side lies along y.
    Bounds<3> bounds;
    for (const int corner : cells.cell(1)) bounds.include(cells.points[corner]);
    EXPECT_LT((bounds.lower - Vec<3>(-1.1, -0.3, 0.8)).norm(), 1e-6);
    EXPECT_LT((bounds.upper - Vec<3>(-0.9, 0.3, 1.2)).norm(), 1e-6);
}

TEST(Frames, PolygonsOfThePlaneLieInThePlane) {
    const Scratch scratch;
    Scene<2> scene = sample::empty_scene<2>(0.5);
    add<2>(scene, Ball<2>{1}, 2, {5, 1});
    add<2>(scene, make_rectangle({1, 2}), 1, {0, 0}, Rotation<2>{pi / 2});
    write_frame<2>(scratch.file("f.hdf"), scene, nullptr, 0);
    const Cells cells(scratch.file("f.hdf"));
    ASSERT_EQ(cells.count(), 2U);
    const double area[] = {4 * pi, 8};
    for (std::size_t i = 0; i < 2; ++i) {
        const auto loop = cells.cell(i);
        double sum = 0;
        for (std::size_t k = 0; k < loop.size(); ++k) {
            const Vec<3>&p = cells.points[loop[k]], &q = cells.points[loop[(k + 1) % loop.size()]];
            EXPECT_EQ(p[2], 0);
            sum += (p[0] * q[1] - p[1] * q[0]) / 2;
        }
        EXPECT_NEAR(sum, area[i], i == 0 ? 0.002 * area[i] : 1e-6) << i;  // a polygon of 72 corners in a disk
    }
}

/// A ball on a ball on the floor, settled.
Scene<3> tower(StepMemory<3>& memory, double h) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    scene.gravity = {0, 0, -sample::g};
    sample::add_wall<3>(scene, Vec<3>::Zero(), Vec<3>::UnitZ());
    add<3>(scene, Ball<3>{1}, 0.1, {0, 0, 0.1});
    add<3>(scene, Ball<3>{1}, 0.1, {0, 0, 0.3});
    for (Vec<3>& v : scene.bodies.velocity) v.setZero();
    for (int k = 0; k < 5; ++k) step(scene, sample::options(h, 1e-10), memory);
    return scene;
}

TEST(Frames, ForcesAreLinesBetweenTheCentres) {
    const Scratch scratch;
    StepMemory<3> memory;
    const Scene<3> scene = tower(memory, 1e-3);
    const double weight = scene.bodies.mass[1] * sample::g;
    FrameWriter<3> writer(scratch.folder());
    writer.write(scene, &memory, 1e-3);
    writer.finish();
    const Cells cells(scratch.file("forces_000000.hdf"));
    ASSERT_EQ(cells.count(), 2U);
    const std::vector<double> force = cells.group.read_doubles("CellData/force");
    // Sorted by key: floor and lower ball, then the two balls. float32.
    EXPECT_NEAR(force[0], 2 * weight, 1e-6 * weight);
    EXPECT_NEAR(force[1], weight, 1e-6 * weight);
    EXPECT_NEAR(cells.group.read_doubles("CellData/normal_force")[1], weight, 1e-6 * weight);
    const auto ends = [&](std::size_t i) {
        return (cells.points[cells.cell(i)[1]] - cells.points[cells.cell(i)[0]]).norm();
    };
    EXPECT_NEAR(ends(0), 0.1, 1e-6);  // to the floor
    EXPECT_NEAR(ends(1), 0.2, 1e-6);  // from centre to centre

    const auto file = hdf5::File::open(scratch.file("grains_000000.hdf"));
    const std::vector<double> on_balls = file.root().read_doubles("VTKHDF/CellData/force");
    EXPECT_NEAR(on_balls.at(0), 2 * weight, 1e-6 * weight);
    EXPECT_NEAR(on_balls.at(1), weight, 1e-6 * weight);
    EXPECT_EQ(file.root().read_doubles("contacts/impulse").size(), 6U);
    EXPECT_NEAR(file.root().read_double("time"), scene.time, 0);
    EXPECT_TRUE(file.root().exists("shapes/1/elements"));
}

TEST(Frames, BackgroundWriterWritesAllAndTheTimes) {
    const Scratch scratch;
    StepMemory<3> memory;
    Scene<3> scene = tower(memory, 1e-3);
    std::filesystem::create_directory(scratch.file("whole"));
    std::filesystem::create_directory(scratch.file("halves"));
    FrameWriter<3> whole(scratch.file("whole"));
    for (int k = 0; k < 6; ++k) {
        scene.time = 0.125 * k;
        scene.bodies.position[1][0] = k;
        whole.write(scene, &memory, 1e-3);
    }
    whole.finish();
    EXPECT_EQ(whole.next(), 6);
    {
        // A writer that starts where another ended leaves the same files.
        for (int half = 0; half < 2; ++half) {
            FrameWriter<3> writer(scratch.file("halves"), 3 * half);
            for (int k = 3 * half; k < 3 * half + 3; ++k) {
                scene.time = 0.125 * k;
                scene.bodies.position[1][0] = k;
                writer.write(scene, &memory, 1e-3);
            }
            writer.finish();
        }
    }
    std::vector<std::string> names = {"grains.hdf.series", "forces.hdf.series"};
    for (int k = 0; k < 6; ++k) {
        names.push_back(grains_file_name(k));
        names.push_back(forces_file_name(k));
        const auto file = hdf5::File::open(scratch.file("whole") / grains_file_name(k));
        EXPECT_EQ(file.root().read_double("time"), 0.125 * k);
        EXPECT_EQ(file.root().read_doubles("bodies/position")[3], k);
    }
    for (const std::string& name : names)
        EXPECT_TRUE(bytes_of(scratch.file("whole") / name) == bytes_of(scratch.file("halves") / name))
            << name;
    EXPECT_NE(bytes_of(scratch.file("whole/grains.hdf.series"))
                  .find(R"({"name": "grains_000005.hdf", "time": 0.625})"),
              std::string::npos);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.file("whole")), {}), 14);
}

TEST(Frames, BackgroundErrorsComeBackWithTheFilesName) {
    const Scratch scratch;
    StepMemory<3> memory;
    const Scene<3> scene = tower(memory, 1e-3);
    FrameWriter<3> writer(scratch.file("nowhere"));
    writer.write(scene, &memory, 1e-3);
    EXPECT_NE(message_of([&] { writer.finish(); }).find("grains_000000.hdf"), std::string::npos);
    EXPECT_NO_THROW(writer.finish());  // told once
    writer.write(scene, &memory, 1e-3);
    bool thrown = false;
    for (int k = 0; k < 1000 && !thrown; ++k) {
        try {
            writer.write(scene, &memory, 1e-3);
        } catch (const Error& error) {
            thrown = std::string(error.what()).find("nowhere") != std::string::npos;
        }
    }
    EXPECT_TRUE(thrown);
}

/// n balls on a lattice with about as many contacts as a packing has.
Scene<3> lattice(int n) {
    Scene<3> scene = sample::empty_scene<3>(0.5);
    const Index shape = scene.add_shape(Ball<3>{1});
    for (int i = 0; i < n * n * n; ++i) {
        BodyPlan<3> plan;
        plan.shape = shape;
        plan.size = 0.01 * (0.9 + 0.1 * noise(i, 0));
        plan.pose.position = 0.02 * Vec<3>(i % n, i / n % n, i / (n * n));
        scene.add_body(plan);
    }
    return scene;
}

TEST(Frames, StaySmall) {
    const Scratch scratch;
    for (const auto& [n, most] : {std::pair(22, 15e6), std::pair(46, 60e6)}) {
        const Scene<3> scene = lattice(n);
        FrameState<3> state;
        copy_frame<3>(scene, nullptr, 1e-3, state);
        // Contacts as of a packing of spheres with friction: 2.4 a grain.
        for (Index i = 0; i < static_cast<Index>(2.4 * scene.bodies.count()); ++i) {
            Contact<3> c;
            c.a = i % (scene.bodies.count() - 1);
            c.b = c.a + 1;
            c.arm_a = Vec<3>(0.01, 0, 0), c.arm_b = -c.arm_a, c.normal = Vec<3>::UnitX();
            state.contacts.push_back(placed<3>(scene, c, Vec<3>::UnitX()));
        }
        FrameSurfaces<3> surfaces;
        const Timer timer;
        write_grains(scratch.file("f.hdf"), state, surfaces);
        const double size = static_cast<double>(std::filesystem::file_size(scratch.file("f.hdf")));
        std::printf("%d grains: level %d, %.1f MB, %.3f s\n", n * n * n, surfaces.choose_level(state),
                    size / 1e6, timer.seconds());
        EXPECT_LT(size, most * n * n * n / (n == 22 ? 10e3 : 97e3));
    }
}

}  // namespace
}  // namespace drystone::testing
