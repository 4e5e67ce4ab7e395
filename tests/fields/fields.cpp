// The register of fields: every field that a reader asks for is described, and the reference is printed from it.

#include "drystone/fields/fields.hpp"

#include "drystone/base/error.hpp"
#include "drystone/tables/table.hpp"
#include "scenes/text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace drystone::testing {
namespace {

const std::filesystem::path root = std::filesystem::path(DRYSTONE_SCENES).parent_path();

std::string text_of_file(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// A scene with one of every table, and every kind of shape, region and law of sizes.
std::string everything(int d) {
    const std::string zero = d == 2 ? "[0, 0]" : "[0, 0, 0]", ones = d == 2 ? "[1, 1]" : "[1, 1, 1]";
    const std::string ball = d == 2 ? "disk" : "sphere";
    std::string text = fmt::format("dimension = {}\ntitle = \"all\"\nseed = 1\n", d);
    text += fmt::format("gravity = {{ value = {}, {}rate = 1, limit = 2 }}\n", zero,
                        d == 3 ? "axis = [1, 1, 1], " : "");
    for (const TableText& table : table_texts()) {
        if (!table.heading.starts_with('[') || table.path == "shape") continue;
        if (table.path == "ring" && d == 3) continue;
        text += fmt::format("{}\n", table.heading);
        if (table.path == "material") text += "name = \"default\"\n";
        if (table.path == "cell") text += fmt::format("pressure = 1\nrate = {}\nstress = {}\n", zero, ones);
        if (table.path == "body") {
            text += fmt::format("shape = {{ type = \"{}\", radius = 1 }}\nposition = {}\nheld = true\n", ball,
                                zero);
            text += fmt::format("motion = {{ velocity = {} }}\nbelt = {}\n", zero, zero);
            text += fmt::format("guide = {{ axis = {}, mass = 1, pressure = 1 }}\n", ones);
            if (d == 3) text += "rotation = { axis = [1, 0, 0], angle = 1 }\n";
        }
        if (table.path == "ring") text += "motion = { spin = 1 }\n";
        if (table.path == "fill" || table.path == "lattice")
            text += fmt::format("mix = [{{ shape = {{ type = \"{}\", radius = 1 }} }}]\n", ball);
    }
    for (const char* path : {"shape", "region", "size"}) {
        const TableText& table = *find_table_text(path);
        for (const KindText& kind : table.kinds) {
            if (kind.only != 0 && kind.only != d) continue;
            const std::string inner = fmt::format("{{ {} = \"{}\"", table.selector, kind.name);
            if (table.path == "shape") {
                text += fmt::format("[[shape]]\nname = \"{0}\"\ntype = \"{0}\"\n", kind.name);
                if (kind.name == "drum") text += "lifters = { count = 1, height = 0.1 }\n";
            } else if (table.path == "region") {
                text += fmt::format("[[sink]]\nregion = {} }}\n", inner);
            } else {
                text += fmt::format("[[source]]\nshape = {{ type = \"{}\", radius = 1 }}\nsize = {}{} }}\n",
                                    ball, inner, kind.name == "table" ? ", size = [1], share = [1]" : "");
            }
        }
    }
    return text;
}

TEST(SceneFields, EveryFieldThatIsReadIsDescribed) {
    int scenes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "scenes")) {
        if (entry.path().extension() != ".toml") continue;
        ++scenes;
        try {
            read_scene(entry.path(), false);
        } catch (const Error& error) {
            ADD_FAILURE() << error.what();
        }
    }
    EXPECT_GT(scenes, 15);
    // Faults are no matter here: what is asked for is asked for.
    for (const int d : {2, 3}) (void)faults(everything(d));
    for (const std::string& field : undescribed_fields())
        ADD_FAILURE() << field << " is read and not described; describe it in src/drystone/fields/fields.cpp";
    for (const std::string& field : wrong_defaults()) ADD_FAILURE() << field;
}

/// What a table takes where nothing is said is what its struct has, and a wrong statement is found.
TEST(SceneFields, StatedDefaultsAreThoseThatAreTaken) {
    Value nothing;
    nothing.kind = Value::Kind::table;
    Faults faults("scene.toml");
    const Table time(nothing, "time", faults);
    EXPECT_EQ(time.number_or("step", StepOptions{}.h), 1e-3);
    EXPECT_TRUE(wrong_defaults().empty());
    EXPECT_EQ(time.number_or("end", 7), 7);  // the register says 1
    ASSERT_EQ(wrong_defaults().size(), 1u);
    EXPECT_EQ(wrong_defaults()[0], "time.end: states 1, takes 7");
}

/// Every number has a range, which the reader takes from the register.
TEST(SceneFields, EveryNumberHasARange) {
    const std::set<std::string_view> no_numbers = {"text", "texts", "name",   "names",
                                                   "flag", "table", "tables", "true/false"};
    for (const TableText& table : table_texts())
        for (const FieldText* field : fields_of(table, ""))
            EXPECT_TRUE(no_numbers.contains(field->unit) || field->fallback.empty() ||
                        !field->range.words.empty() || field->range.least > -1e300)
                << table.path << "." << field->key;
    EXPECT_EQ(find_field_text(*find_table_text("material"), "", "restitution")->range.most, 1);
}

/// And what is printed is what is accepted.
TEST(SceneFields, RangesAreStated) {
    EXPECT_EQ(want::restitution.text(), "0 to 1");
    EXPECT_EQ(want::length.text(), "> 0");
    EXPECT_EQ(want::friction.text(), ">= 0");
    EXPECT_EQ(want::tolerance.text(), "> 0, <= 0.01");
    EXPECT_EQ(want::packing.text(), "> 0, < 1");
    EXPECT_EQ(want::coordinates.text(), "");
    EXPECT_EQ(want::whole(4, 200).text(), "4 to 200");
    EXPECT_FALSE(want::packing.accepts(1) || want::packing.accepts(0));
    EXPECT_TRUE(want::rolling.accepts(1e6));
    EXPECT_FALSE(want::rolling.accepts(1.1e6));
    EXPECT_NE(fields_text("material", 100).find("[m, 0 to 1e+06] largest torque against rolling"),
              std::string::npos);
    EXPECT_NE(fields_markdown().find("| `restitution` | - | 0 to 1 | "), std::string::npos);
}

/// What stands in the register and is never asked for is a promise that nobody keeps.
TEST(SceneFields, EveryDescribedTableIsRead) {
    for (const int d : {2, 3}) {
        const Scratch scratch;
        try {
            read_scene(write_scene(scratch, everything(d)));
        } catch (const SceneError& error) {
            for (const SceneFault& fault : error.faults)
                EXPECT_EQ(fault.message.find("no such field"), std::string::npos) << text_of("", fault);
        }
    }
}

TEST(SceneFields, DocumentIsUpToDate) {
    const std::string document = text_of_file(root / "docs" / "scene.md");
    EXPECT_EQ(with_fields(document), document) << "renew it with: drystone fields --renew docs/scene.md";
}

TEST(SceneFields, EveryFieldHasAUnitAndAMeaning) {
    std::set<std::string_view> paths;
    for (const TableText& table : table_texts()) {
        EXPECT_TRUE(paths.insert(table.path).second) << table.path;
        for (const FieldText* field : fields_of(table, "")) {
            EXPECT_FALSE(field->unit.empty()) << table.path << "." << field->key;
            // Lengths that their name explains need no more words.
            EXPECT_TRUE(!field->meaning.empty() || field->unit != "-" || field->key == "mean" ||
                        field->key == "median")
                << table.path << "." << field->key;
        }
        for (const KindText& kind : table.kinds) {
            std::set<std::string_view> keys;
            for (const FieldText* field : fields_of(table, kind.name))
                EXPECT_TRUE(keys.insert(field->key).second)
                    << table.path << " " << kind.name << " " << field->key;
        }
    }
}

TEST(SceneFields, TablesAreFoundByTheirPath) {
    EXPECT_EQ(find_table_text("")->heading, "Top");
    EXPECT_EQ(find_table_text("body[3]")->path, "body");
    EXPECT_EQ(find_table_text("body[3].shape")->path, "shape");
    EXPECT_EQ(find_table_text("fill[0].mix[12].size")->path, "size");
    EXPECT_EQ(find_table_text("nothing"), nullptr);
    const TableText& shape = *find_table_text("shape");
    EXPECT_NE(find_field_text(shape, "capsule", "length"), nullptr);
    EXPECT_EQ(find_field_text(shape, "sphere", "length"), nullptr);
    EXPECT_NE(find_field_text(shape, "sphere", "name"), nullptr);
}

TEST(SceneFields, OneTableIsPrintedForATerminal) {
    const std::string text = fields_text("lattice", 80);
    EXPECT_NE(text.find("spacing"), std::string::npos);
    EXPECT_NE(text.find("[m, > 0] one number, or one per direction (required)"), std::string::npos) << text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
    try {
        (void)fields_text("latice", 80);
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "latice: there is no such table; did you mean 'lattice'?");
    }
}

}  // namespace
}  // namespace drystone::testing
