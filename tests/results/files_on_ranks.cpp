// Checkpoints and frames that several ranks write and read together are those of one rank, and what goes wrong on one
// goes wrong on all.
//
// Started by mpirun (ctest does that with 1 to 4 ranks): each rank has the whole scene, hands over its slab, and knows
// what must come out.

#include "drystone/results/checkpoint.hpp"
#include "drystone/results/frame_writer.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <mpi.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

namespace drystone::testing {
namespace {

/// MPI for all tests of the program.
class Mpi : public ::testing::Environment {
public:
    void SetUp() override { MPI_Init(nullptr, nullptr); }
    void TearDown() override { MPI_Finalize(); }
};
const auto* const mpi = ::testing::AddGlobalTestEnvironment(new Mpi);

/// The kind, the extents and the bytes of a dataset or an attribute.
std::string content_of(hid_t type, hid_t space, const std::function<herr_t(void*)>& read) {
    hsize_t extent[H5S_MAX_RANK] = {};
    const int dimensions = H5Sget_simple_extent_dims(space, extent, nullptr);
    const auto count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
    std::string text =
        fmt::format("class {} of {} bytes,", static_cast<int>(H5Tget_class(type)), H5Tget_size(type));
    for (int k = 0; k < dimensions; ++k) text += fmt::format(" {}", extent[k]);
    std::string bytes(count * H5Tget_size(type), '\0');
    EXPECT_GE(read(bytes.data()), 0);
    H5Tclose(type);
    H5Sclose(space);
    return text + ": " + bytes;
}

/// All that a reader of an HDF5 file sees: groups, datasets and attributes by their paths.
std::map<std::string, std::string> contents_of(const std::filesystem::path& path) {
    const auto lock = hdf5::lock();
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    EXPECT_GE(file, 0) << path;
    std::map<std::string, std::string> contents;
    const H5O_iterate_t take = [](hid_t root, const char* name, const H5O_info_t* info, void* out) -> herr_t {
        auto& found = *static_cast<std::map<std::string, std::string>*>(out);
        const hid_t object = H5Oopen(root, name, H5P_DEFAULT);
        found[name] = "group";
        if (info->type == H5O_TYPE_DATASET) {
            const hid_t type = H5Dget_type(object);
            found[name] = content_of(type, H5Dget_space(object), [&](void* to) {
                return H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
            });
        }
        for (hsize_t k = 0; k < info->num_attrs; ++k) {
            const hid_t one =
                H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, k, H5P_DEFAULT, H5P_DEFAULT);
            char attribute[100] = {};
            H5Aget_name(one, sizeof attribute, attribute);
            const hid_t type = H5Aget_type(one);
            found[std::string(name) + "@" + attribute] =
                content_of(type, H5Aget_space(one), [&](void* to) { return H5Aread(one, type, to); });
            H5Aclose(one);
        }
        return H5Oclose(object);
    };
    EXPECT_GE(H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, take, &contents), 0);
    H5Fclose(file);
    return contents;
}

void expect_same_content(const std::filesystem::path& a, const std::filesystem::path& b) {
    const auto in_a = contents_of(a), in_b = contents_of(b);
    EXPECT_GT(in_a.size(), 10U);
    EXPECT_EQ(in_a.size(), in_b.size());
    for (const auto& [name, content] : in_a) {
        const auto at = in_b.find(name);
        ASSERT_NE(at, in_b.end()) << b << " has no " << name;
        EXPECT_TRUE(at->second == content) << b << ": " << name;
    }
}

/// The ranks, and a folder of rank 0 for all of them.
class FilesOnRanks : public ::testing::Test {
protected:
    void SetUp() override {
        scratch_.emplace();
        folder_ = hdf5::text_of_first(ranks_, scratch_->folder().string());
        rank_ = hdf5::rank_of(ranks_);
        count_ = hdf5::count_of(ranks_);
    }
    void TearDown() override { MPI_Barrier(world_); }
    [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_ / name; }
    [[nodiscard]] bool first() const { return rank_ == 0; }
    /// All wait for all.
    void meet() const { MPI_Barrier(world_); }
    /// Our rows of n: few or none for the first rank, most for the last.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> cut(std::size_t n) const {
        const auto border = [&](std::int64_t k) {
            return static_cast<std::int64_t>(n) * k * k / (std::int64_t{count_} * count_);
        };
        return {border(rank_), border(rank_ + 1)};
    }
    /// What all ranks throw: it must be the same.
    template <class F>
    std::string message_of_all(F&& action) {
        const std::string here = message_of(action);
        EXPECT_EQ(here, hdf5::text_of_first(ranks_, here)) << "rank " << rank_;
        return here;
    }

    MPI_Comm world_ = MPI_COMM_WORLD;
    hdf5::Ranks ranks_{&world_};
    int rank_ = 0, count_ = 1;
    std::filesystem::path folder_;

private:
    std::optional<Scratch> scratch_;
};

/// A heap that rolls with resistance on a floor; the last body, some way off, is a piston.
template <int d>
std::string heap_text() {
    const char* const round = d == 2 ? "disk" : "sphere";
    std::string text = fmt::format(
        "dimension = {}\ngravity = {}\n[time]\nstep = 0.001\nend = 1\n[[material]]\nname = "
        "\"rough\"\nfriction = 0.5\n"
        "rolling = 0.001\n[[wall]]\npoint = {}\nnormal = {}\n",
        d, d == 2 ? "[0, -9.81]" : "[0, 0, -9.81]", d == 2 ? "[0, 0]" : "[0, 0, 0]",
        d == 2 ? "[0, 1]" : "[0, 0, 1]");
    for (int layer = 0; layer < 3; ++layer)
        for (int i = 0; i < 4 - layer; ++i)
            text += fmt::format(
                "[[body]]\nshape = {{ type = \"{}\", radius = {} }}\nposition = {}\n", round,
                layer == 1 ? 0.1 : 0.0999,
                d == 2
                    ? fmt::format("[{}, {}]", 0.2 * i + 0.1 * layer, 0.0999 + 0.173 * layer)
                    : fmt::format("[{}, {}, {}]", 0.2 * i + 0.1 * layer, 0.01 * i, 0.0999 + 0.173 * layer));
    text += fmt::format(
        "[[body]]\nshape = {{ type = \"{}\", radius = 0.1 }}\nposition = {}\nheld = true\n"
        "guide = {{ axis = {}, force = 1, mass = 2 }}\n",
        round, d == 2 ? "[2, 1]" : "[2, 0, 1]", d == 2 ? "[1, 0]" : "[1, 0, 0]");
    return text;
}

template <int d>
struct Heap {
    SceneFiles files;
    RunOverrides overrides;
    Scene<d> scene;
    StepMemory<d> memory;
    RunProgress progress;
    State observers;
    double h = 1e-3;

    Heap() {
        files.scene = "heap.toml";
        files.text = heap_text<d>();
        files.others["mesh.stl"] = std::string("solid\0\xff binary", 14);
        overrides.until = 0.1 + 0.2;
        scene = std::get<RunPlan<d>>(read_scene(files)).world.scene;
        StepOptions options;
        options.h = h;
        for (int k = 0; k < 40; ++k) step(scene, options, memory);
        scene.bodies.next_id += 5;
        progress.summary.steps = 20;
        observers.numbers = {{"frames/number", std::vector<std::int64_t>{3}},
                             {"measurements/lengths/steps.csv", std::vector<std::int64_t>{123}},
                             {"measurements/sums", std::vector{0.1}}};
    }
    [[nodiscard]] RunState<d> state() const {
        return {files, overrides, scene, scene.bodies, memory.warm, progress, observers};
    }
};

template <int d>
void keep_rows(Bodies<d>& bodies, std::int64_t begin, std::int64_t end) {
    std::vector<std::uint8_t> gone(bodies.id.size(), 1);
    for (std::int64_t i = begin; i < end; ++i) gone[i] = 0;
    bodies.remove(gone);
}

template <class T>
void keep_rows(std::vector<T>& rows, std::int64_t begin, std::int64_t end) {
    if (!rows.empty()) rows = std::vector<T>(rows.begin() + begin, rows.begin() + end);
}

template <int d>
void keep_rows(WarmStart<d>& warm, std::int64_t begin, std::int64_t end) {
    keep_rows(warm.key, begin, end);
    keep_rows(warm.impulse, begin, end);
    keep_rows(warm.torque, begin, end);
}

/// Of a state, the rows of one rank.
template <int d>
struct Part {
    Scene<d> scene;
    WarmStart<d> warm;
    StateSlabs slabs;

    Part(const Heap<d>& heap, const hdf5::Ranks& ranks, std::pair<std::int64_t, std::int64_t> bodies,
         std::pair<std::int64_t, std::int64_t> contacts)
        : scene(heap.scene), warm(heap.memory.warm) {
        slabs = {ranks, bodies.first, heap.scene.bodies.count(), contacts.first,
                 static_cast<std::int64_t>(warm.key.size())};
        keep_rows(scene.bodies, bodies.first, bodies.second);
        keep_rows(warm, contacts.first, contacts.second);
    }
    [[nodiscard]] RunState<d> state(const Heap<d>& heap) const {
        return {heap.files, heap.overrides, heap.scene, scene.bodies, warm, heap.progress, heap.observers};
    }
};

template <class T>
std::string raw(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), sizeof(T) * values.size()};
}

template <int d>
void expect_same(const Bodies<d>& a, const Bodies<d>& b) {
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.next_id, b.next_id);
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_EQ(a.material, b.material);
    EXPECT_EQ(raw(a.motion), raw(b.motion));
    EXPECT_EQ(raw(a.size), raw(b.size));
    EXPECT_EQ(raw(a.mass), raw(b.mass));
    EXPECT_EQ(raw(a.inertia), raw(b.inertia));
    EXPECT_EQ(raw(a.position), raw(b.position));
    EXPECT_EQ(raw(a.image), raw(b.image));
    EXPECT_EQ(raw(a.rotation), raw(b.rotation));
    EXPECT_EQ(raw(a.velocity), raw(b.velocity));
    EXPECT_EQ(raw(a.spin), raw(b.spin));
}

class CheckpointsOnRanks : public FilesOnRanks {
protected:
    template <int d>
    void write_and_read() {
        const Heap<d> heap;
        ASSERT_GT(heap.memory.warm.key.size(), 8U);
        ASSERT_EQ(heap.memory.warm.torque.size(), heap.memory.warm.key.size());
        const Part<d> part(heap, ranks_, cut(heap.scene.bodies.id.size()), cut(heap.memory.warm.key.size()));
        write_checkpoint(file("ranks.h5"), part.state(heap), "0.1.0", part.slabs);
        if (first()) {
            write_checkpoint(file("one.h5"), heap.state(), "0.1.0");
            expect_same_content(file("one.h5"), file("ranks.h5"));
            EXPECT_TRUE(bytes_of(file("one.h5")) == bytes_of(file("ranks.h5")));
            EXPECT_FALSE(std::filesystem::exists(file("ranks.h5.part")));
        }
        meet();
        // Even shares, of either file.
        for (const char* name : {"ranks.h5", "one.h5"}) {
            const Checkpoint back = read_checkpoint(file(name), "0.1.0", plan_without_grains, ranks_);
            const auto& run = std::get<StoppedRun<d>>(back.run);
            const auto share = [&](std::int64_t n) {
                return std::pair(n * rank_ / count_, n * (rank_ + 1) / count_);
            };
            const auto contacts = static_cast<std::int64_t>(heap.memory.warm.key.size());
            const Part<d> ours(heap, ranks_, share(heap.scene.bodies.count()), share(contacts));
            EXPECT_EQ(back.program, "0.1.0");
            expect_same(run.plan.world.scene.bodies, ours.scene.bodies);
            EXPECT_TRUE(run.warm.key == ours.warm.key);
            EXPECT_EQ(raw(run.warm.impulse), raw(ours.warm.impulse));
            EXPECT_EQ(raw(run.warm.torque), raw(ours.warm.torque));
            EXPECT_EQ(run.warm.h, ours.warm.h);
            EXPECT_EQ(run.slabs.first_body, ours.slabs.first_body);
            EXPECT_EQ(run.slabs.bodies, ours.slabs.bodies);
            EXPECT_EQ(run.slabs.first_warm, ours.slabs.first_warm);
            EXPECT_EQ(run.slabs.warm, ours.slabs.warm);
            EXPECT_EQ(run.progress.summary.steps, 20);
            EXPECT_EQ(back.observers, heap.observers);
        }
    }
};

TEST_F(CheckpointsOnRanks, AreThoseOfOneRank2) { write_and_read<2>(); }
TEST_F(CheckpointsOnRanks, AreThoseOfOneRank3) { write_and_read<3>(); }

TEST_F(CheckpointsOnRanks, ErrorsAreThoseOfAllRanks) {
    Heap<2> heap;
    const auto bodies = cut(heap.scene.bodies.id.size()), contacts = cut(heap.memory.warm.key.size());
    const Part<2> part(heap, ranks_, bodies, contacts);
    const auto write = [&](const std::string& name) {
        write_checkpoint(file(name), part.state(heap), "0.1.0", part.slabs);
    };
    EXPECT_NE(message_of_all([&] { write("no/folder.h5"); }).find("no/folder.h5: cannot be written"),
              std::string::npos);
    if (count_ > 1) {
        StateSlabs none = part.slabs;
        if (rank_ == count_ - 1) none.bodies = -1;
        EXPECT_NE(message_of_all([&] {
                      write_checkpoint(file("c.h5"), part.state(heap), "0.1.0", none);
                  }).find("are not given"),
                  std::string::npos);
        StateSlabs more = part.slabs;
        more.warm += 1;
        EXPECT_NE(message_of_all([&] {
                      write_checkpoint(file("c.h5"), part.state(heap), "0.1.0", more);
                  }).find("contacts and"),
                  std::string::npos);
        StateSlabs beyond = part.slabs;
        if (rank_ == count_ - 1) beyond.first_body += 1;
        EXPECT_NE(message_of_all([&] {
                      write_checkpoint(file("c.h5"), part.state(heap), "0.1.0", beyond);
                  }).find("/bodies/id: rows"),
                  std::string::npos);
    }
    EXPECT_FALSE(std::filesystem::exists(file("c.h5")));
    EXPECT_NE(message_of_all([&] {
                  read_checkpoint(file("none.h5"), "0.1.0", plan_without_grains, ranks_);
              }).find("cannot be opened"),
              std::string::npos);
    // A fault in the rows of the last rank, one at the border between the first two, a piston that is gone, and a byte
    // that is not as it was written.
    meet();
    if (first()) {
        std::vector<ContactKey>& keys = heap.memory.warm.key;
        const std::size_t border = keys.size() / static_cast<std::size_t>(std::max(count_, 2));
        std::swap(keys.back(), *(keys.end() - 2));
        write_checkpoint(file("faulty.h5"), heap.state(), "0.1.0");
        std::swap(keys.back(), *(keys.end() - 2));
        std::swap(keys[border - 1], keys[border]);
        write_checkpoint(file("border.h5"), heap.state(), "0.1.0");
        std::swap(keys[border - 1], keys[border]);
        std::string bytes = bytes_of(file("border.h5"));
        bytes[bytes.size() / 2] ^= 1;
        std::ofstream(file("altered.h5"), std::ios::binary) << bytes;
        keep_rows(heap.scene.bodies, 0, heap.scene.bodies.count() - 1);
        write_checkpoint(file("gone.h5"), heap.state(), "0.1.0");
    }
    meet();
    const auto message_of_reading = [&](const std::string& name) {
        return message_of_all([&] { read_checkpoint(file(name), "0.1.0", plan_without_grains, ranks_); });
    };
    EXPECT_NE(message_of_reading("faulty.h5").find("not ascending"), std::string::npos);
    EXPECT_NE(message_of_reading("border.h5").find("not ascending"), std::string::npos);
    EXPECT_NE(message_of_reading("gone.h5").find("that could be driven"), std::string::npos);
    EXPECT_NE(message_of_reading("altered.h5").find("checksum"), std::string::npos);
}

/// No file may be longer than this while it lives.
class SizeLimit {
public:
    explicit SizeLimit(std::uintmax_t bytes) {
        old_signal_ = std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &old_);
        rlimit now = old_;
        now.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &now);
    }
    SizeLimit(const SizeLimit&) = delete;
    SizeLimit& operator=(const SizeLimit&) = delete;
    ~SizeLimit() {
        setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, old_signal_);
    }

private:
    rlimit old_{};
    void (*old_signal_)(int) = nullptr;
};

TEST_F(CheckpointsOnRanks, FullDisksAreToldOfAndHarmNothing) {
    const Heap<3> heap;
    const Part<3> part(heap, ranks_, cut(heap.scene.bodies.id.size()), cut(heap.memory.warm.key.size()));
    const auto write = [&] { write_checkpoint(file("c.h5"), part.state(heap), "0.1.0", part.slabs); };
    write();
    meet();
    const std::string before = bytes_of(file("c.h5"));
    ASSERT_GT(before.size(), 1000U);
    meet();
    for (const std::uintmax_t limit : {std::uintmax_t{0}, std::uintmax_t{700}, before.size() / 2}) {
        const SizeLimit full(limit);
        EXPECT_NE(message_of_all(write).find("c.h5: cannot be written: File too large"), std::string::npos)
            << limit;
        meet();
    }
    if (count_ > 1) {
        // One rank alone cannot write.
        std::optional<SizeLimit> broken;
        if (rank_ == count_ - 1) broken.emplace(1000);
        const std::string message = message_of_all(write);
        EXPECT_NE(message.find("cannot be written"), std::string::npos) << message;
        meet();
    }
    EXPECT_TRUE(bytes_of(file("c.h5")) == before);
    EXPECT_FALSE(std::filesystem::exists(file("c.h5.part")));
    meet();
    // Nothing is left over of the failures.
    write();
    meet();
    EXPECT_TRUE(bytes_of(file("c.h5")) == before);
}

class FramesOnRanks : public FilesOnRanks {
protected:
    template <int d>
    FrameState<d> part_of(const FrameState<d>& whole) const {
        FrameState<d> part = whole;
        const auto bodies = cut(whole.bodies.id.size()), contacts = cut(whole.contacts.size());
        keep_rows(part.bodies, bodies.first, bodies.second);
        keep_rows(part.radius, bodies.first, bodies.second);
        keep_rows(part.force, bodies.first, bodies.second);
        keep_rows(part.contacts, contacts.first, contacts.second);
        return part;
    }

    /// Three frames of a run: without contacts, with them, and with an id that takes more bits.
    template <int d>
    void write_and_compare() {
        Heap<d> heap;
        if (first()) {
            std::filesystem::create_directory(file("one"));
            std::filesystem::create_directory(file("ranks"));
        }
        meet();
        std::optional<FrameWriter<d>> one;
        if (first()) one.emplace(file("one"));
        for (int k = 0; k < 3; ++k) {
            // Each writer goes on where another ended.
            FrameWriter<d> together(file("ranks"), k, ranks_);
            if (k == 2) heap.scene.bodies.id.back() = std::int64_t{1} << 40U;
            heap.scene.time += 0.125;
            FrameState<d> whole;
            copy_frame<d>(heap.scene, k == 0 ? nullptr : &heap.memory, heap.h, whole);
            ASSERT_EQ(whole.contacts.empty(), k == 0);
            together.write(part_of(whole));
            together.finish();
            EXPECT_EQ(together.next(), k + 1);
            if (first()) one->write(whole);
        }
        if (!first()) return;
        one->finish();
        for (const char* name : {"grains.hdf.series", "forces.hdf.series"})
            EXPECT_EQ(bytes_of(file("one") / name), bytes_of(file("ranks") / name));
        for (int k = 0; k < 3; ++k)
            for (const std::string& name : {grains_file_name(k), forces_file_name(k)}) {
                expect_same_content(file("one") / name, file("ranks") / name);
                EXPECT_TRUE(bytes_of(file("one") / name) == bytes_of(file("ranks") / name)) << name;
            }
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file("ranks")), {}), 8);
    }
};

TEST_F(FramesOnRanks, AreThoseOfOneRank2) { write_and_compare<2>(); }
TEST_F(FramesOnRanks, AreThoseOfOneRank3) { write_and_compare<3>(); }

TEST_F(FramesOnRanks, ErrorsAreThoseOfAllRanks) {
    const Heap<2> heap;
    FrameState<2> whole;
    copy_frame<2>(heap.scene, &heap.memory, heap.h, whole);
    const FrameState<2> part = part_of(whole);
    FrameSurfaces<2> surfaces;
    const auto write = [&](const std::string& name) {
        write_grains(file(name), part, surfaces, {ranks_});
        write_forces(file(name + "f"), part, {ranks_});
    };
    EXPECT_NE(message_of_all([&] { write("no/folder.hdf"); }).find("no/folder.hdf"), std::string::npos);
    {
        const SizeLimit full(2000);
        EXPECT_NE(
            message_of_all([&] { write("full.hdf"); }).find("full.hdf: cannot be written: File too large"),
            std::string::npos);
    }
    meet();
    EXPECT_FALSE(std::filesystem::exists(file("full.hdf")));
    EXPECT_FALSE(std::filesystem::exists(file("full.hdf.part")));
    EXPECT_EQ(message_of_all([&] { write("good.hdf"); }), "no error");
}

}  // namespace
}  // namespace drystone::testing
