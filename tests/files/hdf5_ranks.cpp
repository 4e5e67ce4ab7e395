// HDF5 files: what one rank writes, and what several write together, are the same bytes wherever the rows come from.
//
// The test of several ranks runs on as many as mpirun started: ctest runs it on one, by itself, and on two.

#include "drystone/base/error.hpp"
#include "drystone/files/hdf5.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

#include <mpi.h>

#include <thread>

namespace drystone::testing {
namespace {

std::vector<double> rows_from(std::int64_t first, std::int64_t end) {
    std::vector<double> values;
    for (std::int64_t k = 3 * first; k < 3 * end; ++k) values.push_back(0.1 * static_cast<double>(k));
    return values;
}

std::vector<std::int64_t> ids_from(std::int64_t first, std::int64_t end) {
    std::vector<std::int64_t> values;
    for (std::int64_t k = first; k < end; ++k) values.push_back(k * (std::int64_t{1} << 33U));
    return values;
}

TEST(Hdf5, RowsOfOneRankComeBack) {
    const Scratch scratch;
    {
        const hdf5::File file = hdf5::File::create(scratch.file("a.h5"));
        file.root().write_rows("x", rows_from(0, 7), 3, {0, 7});
        file.root().write_rows("id", ids_from(0, 7), 0, {0, 7});
        file.root().write_rows("none", std::span<const int>(), 2, {0, 0});
        file.root().write_bytes("bytes", std::string_view("a\0\xff", 3));
        file.flush();
    }
    const hdf5::File file = hdf5::File::open(scratch.file("a.h5"));
    EXPECT_EQ(file.root().read_doubles("x"), rows_from(0, 7));
    EXPECT_EQ(file.root().read_longs("id"), ids_from(0, 7));
    EXPECT_TRUE(file.root().read_ints("none").empty());
    EXPECT_EQ(file.root().read_bytes("bytes"), std::string("a\0\xff", 3));
    EXPECT_EQ(file.root().names(), (std::vector<std::string>{"bytes", "id", "none", "x"}));
}

TEST(Hdf5, RowsOutsideTheDatasetAreRefused) {
    const hdf5::File file = hdf5::File::create_image("memory");
    const std::vector<double> rows = rows_from(0, 2);
    EXPECT_NE(message_of([&] {
                  file.root().write_rows("x", rows, 3, {1, 2});
              }).find("rows 1 to 3 of 2"),
              std::string::npos);
    EXPECT_NE(message_of([&] { file.root().write_rows("x", rows, 4, {0, 2}); }), "no error");
    EXPECT_NE(message_of([&] { file.root().write_rows("x", rows, 3, {-1, 9}); }), "no error");
}

TEST(Hdf5, FilesThatCannotBeWrittenAreToldOf) {
    const Scratch scratch;
    EXPECT_NE(message_of([&] { hdf5::File::create(scratch.file("no/folder.h5")); }).find("cannot be created"),
              std::string::npos);
    const hdf5::File full = hdf5::File::create("/dev/full");
    full.root().write_rows("x", rows_from(0, 7), 3, {0, 7});
    const std::string message = message_of([&] { full.flush(); });
    EXPECT_NE(message.find("/dev/full: cannot be written: No space left on device; make room"),
              std::string::npos)
        << message;
}

// A file from outside is tried in a child of the process. The address sanitiser's allocator (of GCC 12) is not unlocked
// in a child that was made while another thread was in it, so there the child would wait for ever.
#ifdef __SANITIZE_ADDRESS__
constexpr hdf5::Source beside_threads = hdf5::Source::checked;
#else
constexpr hdf5::Source beside_threads = hdf5::Source::outside;
#endif

/// Two threads with a file each: the library would crash or mix them up without the lock.
TEST(Hdf5, ThreadsTakeTurns) {
    const Scratch scratch;
    const auto write = [&](const std::string& name, int n) {
        for (int k = 0; k < 50; ++k) {
            const hdf5::File file = hdf5::File::create(scratch.file(name));
            const hdf5::Group group = file.root().create_group("g");
            for (int i = 0; i < 10; ++i)
                group.write_rows("x" + std::to_string(i), rows_from(0, n), 3, {0, n});
            EXPECT_FALSE(group.exists("y"));
            file.flush();
            const hdf5::File again = hdf5::File::open(scratch.file(name), {}, beside_threads);
            EXPECT_EQ(again.root().read_doubles("g/x9"), rows_from(0, n));
        }
    };
    std::thread other([&] { write("a.h5", 100); });
    write("b.h5", 1000);
    other.join();
}

/// Each rank has some of the rows; one dataset is of the first alone.
TEST(Hdf5Ranks, WriteOneFileTogether) {
    MPI_Init(nullptr, nullptr);
    MPI_Comm world = MPI_COMM_WORLD;
    int rank = 0, count = 1;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &count);
    // The folder of rank 0 for all.
    const Scratch scratch;
    std::string name = scratch.file("together.h5").string();
    name.resize(4096, '\0');
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, world);
    const std::filesystem::path path = name.c_str();
    const hdf5::Ranks ranks{&world};
    constexpr std::int64_t total = 1001;
    const std::int64_t first = total * rank / count, end = total * (rank + 1) / count;
    {
        const hdf5::File file = hdf5::File::create(path, ranks);
        const hdf5::Group group = file.root().create_group("bodies");
        group.write_double("time", 0.5);
        group.write_rows("x", rows_from(first, end), 3, {first, total});
        group.write_rows("id", ids_from(first, end), 0, {first, total});
        const std::int64_t most = rank == 0 ? 5 : 0;
        group.write_rows("few", rows_from(0, most), 3, {rank == 0 ? 0 : 5, 5});
        file.flush();
    }
    MPI_Barrier(world);
    {
        const hdf5::File file = hdf5::File::open(path, ranks);
        EXPECT_EQ(file.root().read_doubles("bodies/x"), rows_from(0, total));
        EXPECT_EQ(file.root().read_longs("bodies/id"), ids_from(0, total));
        EXPECT_EQ(file.root().read_doubles("bodies/few"), rows_from(0, 5));
        EXPECT_EQ(file.root().read_double("bodies/time"), 0.5);
    }
    MPI_Barrier(world);
    MPI_Finalize();
}

}  // namespace
}  // namespace drystone::testing
