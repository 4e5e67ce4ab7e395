// Scenes that are nested deeper than a parser's stack: refused with the line, whatever they are nested by.

#include "drystone/tables/nesting.hpp"

#include "scenes/text.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace drystone::testing {
namespace {

std::string repeated(const std::string& text, int count) {
    std::string all;
    for (int k = 0; k < count; ++k) all += text;
    return all;
}

TEST(SceneNesting, OfAnyKindIsBounded) {
    constexpr int deep = 50'000;
    const std::string cases[] = {
        repeated("a.", deep) + "a = 1",
        repeated("a . ", deep) + "a = 1",
        repeated("\"a\".", deep) + "a = 1",
        repeated("'a'.", deep) + "a = 1",
        "[" + repeated("a.", deep) + "a]",
        "[[" + repeated("a.", deep) + "a]]",
        "a = " + repeated("[", deep),
        "a = " + repeated("[[],", deep),
        "a = " + repeated("{ a = ", deep),
        "a = { " + repeated("b.", deep) + "b = 1 }",
        "a = [ '[', \"\\\"[\", '''\n]]]''', " + repeated("[", deep),
    };
    for (const std::string& text : cases) {
        const std::string told = faults("dimension = 3\n" + text + "\n");
        EXPECT_TRUE(has(told, "nested more than 32 deep; no field of a scene needs that")) << told;
        EXPECT_TRUE(has(told, "scene.toml:2: ") || has(told, "scene.toml:3: ")) << told;
    }
}

/// Brackets and dots that nest nothing, in numbers beyond the bound.
TEST(SceneNesting, OnlyWhatNestsCounts) {
    const std::string texts[] = {
        "# " + repeated("[{a.", 1000),
        "a = '" + repeated("[{a.", 1000) + "'",
        "a = \"\\\\\\\"" + repeated("[{a.", 1000) + "\"",
        "a = \"\"\"\n" + repeated("[{a.\n\\\"", 1000) + "\"\"\"",
        "a = '''\n" + repeated("[{a.\n\"", 1000) + "'''",
        "a = [" + repeated("[0.5, -1.5e-3],\n", 1000) + "]",
        repeated("[[body]]\nshape = { type = \"disk\", radius = 0.5 }\nposition = [0.1, 0.2]\n", 1000),
    };
    for (const std::string& text : texts) EXPECT_FALSE(find_deep_nesting(text)) << text.substr(0, 100);
    EXPECT_FALSE(find_deep_nesting("a = " + repeated("[", 32) + repeated("]", 32)));
    EXPECT_TRUE(find_deep_nesting("a = " + repeated("[", 33) + repeated("]", 33)));
    EXPECT_EQ(find_deep_nesting("\n'''\n\n'''\n" + repeated("a.", 40))->line, 5);
}

/// What is at the bound gets through the library, and is then told as the field that it is not.
TEST(SceneNesting, UpToTheBoundTheLibraryReads) {
    const std::string deepest = repeated("a.", 31) +
                                "a = " + repeated("{ " + repeated("b.", 31) + "b = ", 31) + "1" +
                                repeated(" }", 31);
    EXPECT_TRUE(has(faults("dimension = 3\n[" + repeated("c.", 31) + "c]\n" + deepest + "\n"),
                    "there is no such field"));
}

TEST(SceneFiles, ThatAreNoneAreRefused) {
    const Scratch scratch;
    const auto told = [](const std::filesystem::path& file) {
        try {
            read_scene(file);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(told("/dev/zero"),
              "/dev/zero: it is a device or a pipe and not a file; give a file, or /dev/stdin");
    EXPECT_TRUE(has(told(scratch.folder()), "it is a folder"));
    const std::filesystem::path pipe = scratch.file("pipe.toml");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_TRUE(has(told(pipe), "it is a device or a pipe"));
    std::filesystem::create_symlink("/dev/zero", scratch.file("zero.stl"));
    EXPECT_TRUE(
        has(faults(scratch, "dimension = 3\n[[shape]]\nname = \"a\"\ntype = \"mesh\"\nfile = \"zero.stl\"\n"),
            "zero.stl: it is a device or a pipe"));
}

/// Names as long as a file, and faults as many as lines, are told in short.
TEST(SceneFaults, AreToldInShort) {
    const std::string name(3'000'000, 'x');
    const std::string one = faults("dimension = 3\n" + name + " = 1\n" + "title = 5\n");
    EXPECT_LT(one.size(), 5000U);
    EXPECT_TRUE(has(one, "there is no such field")) << one.substr(0, 300);
    const std::string title = faults("dimension = 3\ntitle = \"" + name + "\"\n");
    EXPECT_TRUE(has(title, "...\"; give a text of at most 4096 bytes")) << title.substr(0, 300);
    std::string many = "dimension = 3\n";
    for (int k = 0; k < 5000; ++k) many += "field" + std::to_string(k) + " = 1\n";
    EXPECT_TRUE(has(faults(many), "it has 5000 faults; these are the first 1000"));
}

/// What is many times in a file takes time in proportion, and not with the square of it.
TEST(SceneFiles, WithManyNamesAreReadInTime) {
    constexpr int many = 20'000;
    std::string materials = "dimension = 2\n", names = "dimension = 2\n", shapes = names;
    for (int k = 0; k < many; ++k) materials += "[[material]]\nname = \"m" + std::to_string(k) + "\"\n";
    EXPECT_TRUE(has(faults(materials), "there are 20000 tables; give at most 1000 materials"));
    const std::string disk = "shape = { type = \"disk\", radius = 0.1 }\nposition = [0, 0]\n";
    for (int k = 0; k < many; ++k) names += "[[body]]\nname = \"n" + std::to_string(k) + "\"\n" + disk;
    for (int k = 0; k < many; ++k)
        names += "[[joint]]\ntype = \"ball\"\npoint = [0, 0]\nbodies = [\"n" + std::to_string(k) + "\"]\n";
    EXPECT_EQ(faults(names), "");
    shapes +=
        "[[shape]]\nname = \"rock\"\ntype = \"random-polygon\"\nradius = 0.1\ncount = 20000\n"
        "[[shape]]\nname = \"disk\"\ntype = \"disk\"\nradius = 0.1\n";
    for (int k = 0; k < many; ++k) shapes += "[[body]]\nshape = \"disk\"\nposition = [0, 0]\n";
    EXPECT_EQ(faults(shapes), "");
}

}  // namespace
}  // namespace drystone::testing
