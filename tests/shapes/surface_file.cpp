// OBJ and STL: round trips, and errors that name the place.
#include "drystone/shapes/surface_file.hpp"

#include "drystone/base/error.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <fstream>

using namespace drystone;
namespace fs = std::filesystem;

namespace {

class SurfaceFile : public ::testing::Test {
protected:
    void SetUp() override {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() /
                  ("drystone_surface_" + std::string(info->name()) + "_" + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    fs::path write(const std::string& name, const std::string& bytes) const {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
        return folder_ / name;
    }
    /// The message, or nothing where the file is read without complaint.
    std::string error_of(const std::string& name, const std::string& bytes) const {
        const fs::path file = write(name, bytes);
        try {
            read_surface(file);
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos) << "names the file";
            return error.what();
        }
        return "";
    }

    fs::path folder_;
};

std::string number(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
}

std::string obj_of(const Surface<3>& surface) {
    std::string text = "# a comment\no thing\n";
    for (const Vec<3>& x : surface.vertices)
        text += "v " + number(x[0]) + " " + number(x[1]) + " " + number(x[2]) + "\n";
    for (const auto& t : surface.elements)
        text += "f " + std::to_string(t[0] + 1) + " " + std::to_string(t[1] + 1) + " " +
                std::to_string(t[2] + 1) + "\n";
    return text;
}

std::string stl_text_of(const Surface<3>& surface) {
    std::string text = "solid thing\n";
    for (const auto& t : surface.elements) {
        text += "  facet normal 0 0 0\n    outer loop\n";
        for (const Index v : t) {
            const Vec<3>& x = surface.vertices[v];
            text += "      vertex " + number(x[0]) + " " + number(x[1]) + " " + number(x[2]) + "\n";
        }
        text += "    endloop\n  endfacet\n";
    }
    return text + "endsolid thing\n";
}

void append(std::string& bytes, std::uint32_t value) {
    for (int k = 0; k < 4; ++k) bytes += static_cast<char>(value >> (8 * k) & 255);
}

std::string stl_binary_of(const Surface<3>& surface) {
    std::string bytes = "solid is how some binary files begin";
    bytes.resize(80, ' ');
    append(bytes, static_cast<std::uint32_t>(surface.elements.size()));
    for (const auto& t : surface.elements) {
        for (int k = 0; k < 3; ++k) append(bytes, 0);
        for (const Index v : t)
            for (int k = 0; k < 3; ++k)
                append(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(surface.vertices[v][k])));
        bytes += std::string(2, '\0');
    }
    return bytes;
}

/// The same triangles at the same places, whatever the numbers of the vertices.
void expect_same(const Surface<3>& found, const Surface<3>& expected, double tolerance) {
    EXPECT_EQ(found.vertices.size(), expected.vertices.size());
    ASSERT_EQ(found.elements.size(), expected.elements.size());
    for (std::size_t t = 0; t < found.elements.size(); ++t)
        for (int k = 0; k < 3; ++k)
            EXPECT_LE(
                (found.vertices[found.elements[t][k]] - expected.vertices[expected.elements[t][k]]).norm(),
                tolerance);
}

Surface<3> capsule() { return surface_of<3>(Capsule{0.5, 1}, 16); }

const std::string triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

}  // namespace

TEST_F(SurfaceFile, round_trips) {
    expect_same(read_surface(write("a.obj", obj_of(capsule()))), capsule(), 0);
    expect_same(read_surface(write("a.stl", stl_text_of(capsule()))), capsule(), 0);
    expect_same(read_surface(write("A.STL", stl_binary_of(capsule()))), capsule(), 1e-7);
}

TEST_F(SurfaceFile, a_round_trip_through_a_mesh_keeps_neighbours) {
    const Surface<3> read = read_surface(write("a.stl", stl_binary_of(capsule())));
    for (const auto& across : make_mesh(read.vertices, read.elements).neighbours)
        for (const Index t : across) EXPECT_GE(t, 0) << "corners at one place were joined";
}

TEST_F(SurfaceFile, obj_ways_to_write_a_face) {
    const std::string square =
        "v 0 0 0\r\nv 1 0 0\r\nv 1 1 0 1.0\r\n  v +0 1e0 0 # last\r\nvt 0 0\nvn 0 0 1\n\n";
    for (const char* face :
         {"f 1 2 3 4", "f 1/1 2/1 3/1 4/1", "f 1//1 2//1 3//1 4//1", "f 1/1/1 2/1/1 3/1/1 4/1/1",
          "f -4 -3 -2 -1", "f 1 2 \\\n 3 4", "usemtl stone\ns off\nf\t1 2\t3 4\r\ng top"}) {
        const Surface<3> read = read_surface(write("a.obj", square + face));
        ASSERT_EQ(read.vertices.size(), 4u);
        EXPECT_EQ(read.vertices[3], Vec<3>(0, 1, 0));
        EXPECT_EQ(read.elements, (std::vector<std::array<Index, 3>>{{0, 1, 2}, {0, 2, 3}})) << face;
    }
}

TEST_F(SurfaceFile, stl_with_two_solids_and_capitals) {
    const std::string facet =
        "FACET NORMAL 0 0 1\nOUTER LOOP\nVERTEX 0 0 0\nVERTEX 1 0 0\nVERTEX 0 1 -0\nENDLOOP\nENDFACET\n";
    const Surface<3> read =
        read_surface(write("a.stl", "SOLID a\n" + facet + "ENDSOLID a\nSOLID b\n" + facet + "ENDSOLID\n"));
    EXPECT_EQ(read.elements.size(), 2u);
    EXPECT_EQ(read.vertices.size(), 3u);
}

TEST_F(SurfaceFile, bad_obj_names_the_line) {
    const auto names = [&](const std::string& bytes, const std::string& line, const std::string& what) {
        const std::string error = error_of("bad.obj", bytes);
        EXPECT_NE(error.find(line), std::string::npos) << error;
        EXPECT_NE(error.find(what), std::string::npos) << error;
    };
    names("v 0 0 0\nv 1 zero 0\n", "line 2:", "'zero' is not a number");
    names("v 0 0\n", "line 1:", "missing");
    names("v 0 0 nan\n", "line 1:", "not finite");
    names("v 0 0 1e999\n", "line 1:", "range");
    names(triangle + "f 1 2\n", "line 4:", "fewer than 3");
    names(triangle + "f 1 2 4\n", "line 4:", "vertex 4, and 3");
    names(triangle + "f 0 1 2\n", "line 4:", "vertex 0");
    names(triangle + "f 1 2 -4\n", "line 4:", "vertex -4");
    names(triangle + "f 1 2 x\n", "line 4:", "'x' is not a vertex");
    names(triangle + "\n\nf 1 \\\n2 3\ncurv 0 1 1 2\n", "line 8:", "'curv' is not read");
    names(triangle, "", "has no face");
    names("", "", "has no face");
    names(std::string("\x01\x02\xff junk\n"), "line 1:", "'\?\?\?' is not read");
}

TEST_F(SurfaceFile, bad_stl_names_the_place) {
    const std::string text = stl_text_of(capsule()), binary = stl_binary_of(capsule());
    const auto names = [&](const std::string& bytes, const std::string& place, const std::string& what) {
        const std::string error = error_of("bad.stl", bytes);
        EXPECT_NE(error.find(place), std::string::npos) << error;
        EXPECT_NE(error.find(what), std::string::npos) << error;
    };
    names("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n", "line 4:", "missing");
    names("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n",
          "line 6:", "'vertex'");
    names("solid a\nfacet normal 0 0 1\nvertex 0 0 0\n", "line 3:", "'outer loop'");
    names("solid a\nnonsense\n", "line 2:", "'facet'");
    names("solid a\nendsolid a\n", "", "has no facet");
    names("solid a\nendsolid a\nmore\n", "line 3:", "after 'endsolid'");
    names(text.substr(0, text.find("endfacet")), "line", "ends where 'endfacet'");
    names(binary.substr(0, binary.size() - 7), "byte 80:", "facets of 50 bytes");
    names("rubbish", "byte 7:", "does not begin with 'solid'");
    names("", "byte 0:", "ends before");
    std::string not_finite = binary;
    for (int k = 0; k < 4; ++k) not_finite[84 + 12 + static_cast<std::size_t>(k)] = '\xff';
    names(not_finite, "byte 96:", "not finite");
}

TEST_F(SurfaceFile, bad_paths) {
    EXPECT_THROW(read_surface(folder_ / "absent.obj"), Error);
    EXPECT_THROW(read_surface(write("a.ply", "ply")), Error);
    fs::create_directories(folder_ / "folder.obj");
    EXPECT_THROW(read_surface(folder_ / "folder.obj"), Error);
}
