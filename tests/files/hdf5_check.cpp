// Files on which HDF5 itself crashes: the child dies of them, and not we.

#include "drystone/files/hdf5_check.hpp"

#include "drystone/base/error.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/problems/problem_file.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>
#include <thread>

namespace drystone::testing {
namespace {

const std::filesystem::path attacks = DRYSTONE_ATTACKS;

void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Hdf5Check, AFileOnWhichTheLibraryCrashesIsRefused) {
    const std::string message = message_of([] { read_problem(attacks / "wild_type.hdf5"); });
    expect_part(message, "wild_type.hdf5: is damaged: HDF5 crashes on it");
    expect_part(message, "copy or write it again");
}

/// The library gives up half way through the names; behind, there is a dataset on which it crashes.
TEST(Hdf5Check, AFileThatCannotBeListedIsRefused) {
    const std::string message = message_of([] { hdf5::check_in_child(attacks / "half_table.hdf5"); });
    expect_part(message, "half_table.hdf5: is damaged: HDF5 cannot list what is in it");
    expect_part(message, "copy or write it again");
}

TEST(Hdf5Check, NumbersOfNoSizeAreRefused) {
    expect_part(message_of([] { read_problem(attacks / "zero_type.hdf5"); }),
                "/fclib_global/vectors/mu: holds numbers of no usual type");
}

/// What is open in the parent is not touched by the child, and the parent can go on after one has died.
TEST(Hdf5Check, ThePeaceIsKept) {
    const Scratch scratch;
    const std::vector<double> numbers = {1, 2, 3};
    const hdf5::File other = hdf5::File::create(scratch.file("other.hdf5"));
    other.root().write_doubles("before", numbers);
    for (int k = 0; k < 3; ++k) EXPECT_THROW(hdf5::check_in_child(attacks / "wild_type.hdf5"), Error);
    other.root().write_doubles("after", numbers);
    other.flush();
    const hdf5::File read = hdf5::File::open(scratch.file("other.hdf5"));
    EXPECT_EQ(read.root().read_doubles("before"), numbers);
    EXPECT_EQ(read.root().read_doubles("after"), numbers);
}

/// Frames are written by a thread of their own: it waits while the process is copied, and the child does not wait for
/// it.
TEST(Hdf5Check, WhileAnotherThreadWrites) {
    const Scratch scratch;
    const std::vector<double> numbers(1000, 0.5);
    std::thread writer([&] {
        for (int k = 0; k < 200; ++k)
            hdf5::File::create_image("memory").root().write_doubles("numbers", numbers);
    });
    const hdf5::File made = hdf5::File::create(scratch.file("made.hdf5"));
    made.root().write_doubles("numbers", numbers);
    made.flush();
    for (int k = 0; k < 20; ++k) hdf5::check_in_child(scratch.file("made.hdf5"));
    writer.join();
}

/// A file of ill will could have any file of this machine read for it.
TEST(Hdf5Check, PartsInOtherFilesAreRefused) {
    const Scratch scratch;
    const std::string secret = scratch.file("secret").string();
    std::ofstream(secret) << "0123456789abcdef";
    const std::string link = scratch.file("link.hdf5").string(),
                      external = scratch.file("external.hdf5").string();
    const hid_t with_link = H5Fcreate(link.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("other.hdf5", "/", with_link, "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(with_link);
    const hid_t with_external = H5Fcreate(external.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t size = 2;
    const hid_t space = H5Screate_simple(1, &size, nullptr), properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(properties, secret.c_str(), 0, 16);
    H5Dclose(
        H5Dcreate2(with_external, "numbers", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(with_external);
    for (const std::string& file : {link, external})
        expect_part(message_of([&] { static_cast<void>(hdf5::File::open(file)); }),
                    "has parts in other files");
}

TEST(Hdf5Check, UsualTypesAreKnown) {
    for (const hid_t type : {H5T_NATIVE_INT, H5T_NATIVE_LLONG, H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT,
                             H5T_NATIVE_UCHAR, H5T_STD_I32BE, H5T_IEEE_F64BE, H5T_NATIVE_ULONG})
        EXPECT_TRUE(hdf5::is_plain_number(type));
    const hid_t odd = H5Tcopy(H5T_NATIVE_INT);
    H5Tset_precision(odd, 17);
    EXPECT_FALSE(hdf5::is_plain_number(odd));
    H5Tclose(odd);
    EXPECT_FALSE(hdf5::is_plain_number(H5T_C_S1));
}

}  // namespace
}  // namespace drystone::testing
