// drystone new and drystone fields, and all that drystone check can be asked for, seen from a shell.

#include "apps/command.hpp"

namespace drystone::testing {
namespace {

const std::filesystem::path root = std::filesystem::path(DRYSTONE_SCENES).parent_path();

std::vector<std::string> template_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root / "scenes" / "templates"))
        names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

TEST(NewCommand, ListsTheTemplates) {
    const Scratch scratch;
    const Answer answer = drystone_command(scratch, {"new"});
    EXPECT_EQ(answer.code, 0);
    std::istringstream lines(answer.out);
    for (const std::string& name : template_names()) {
        std::string line;
        std::getline(lines, line);
        EXPECT_EQ(line.substr(0, name.size() + 1), name + " ") << answer.out;
        EXPECT_GT(line.size(), name.size() + 20) << "a template begins with a line that says what it is";
    }
}

TEST(NewCommand, EachTemplateIsFineAndRuns) {
    ASSERT_GE(template_names().size(), 4U);
    for (const std::string& name : template_names()) {
        const Scratch scratch;
        const Answer made = drystone_command(scratch, {"new", name});
        EXPECT_EQ(made.code, 0) << made.err;
        EXPECT_TRUE(contains(made.out, "drystone run " + name + ".toml --output " + name)) << made.out;
        EXPECT_TRUE(contains(made.out, "tools/render " + name + " -o")) << made.out;
        EXPECT_TRUE(contains(made.out, " -o " + name + ".png")) << made.out;
        EXPECT_EQ(bytes_of(scratch.file(name + ".toml")),
                  bytes_of(root / "scenes" / "templates" / (name + ".toml")));
        const Answer checked = drystone_command(scratch, {"check", "--strict", name + ".toml"});
        EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
        const Answer run = drystone_command(scratch, {"run", name + ".toml", "--steps", "5", "--json"});
        EXPECT_EQ(run.code, 0) << run.err;
        EXPECT_EQ(run.objects().at(0)["unsolved"].get<int>(), 0) << name << run.out;
    }
}

TEST(NewCommand, DoesNotReplaceAFile) {
    const Scratch scratch;
    std::ofstream(scratch.file("mine.toml")) << "dear to me";
    const Answer refused = drystone_command(scratch, {"new", "pile", "mine.toml"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(contains(refused.err, "mine.toml exists; give another name, or --force")) << refused.err;
    EXPECT_EQ(bytes_of(scratch.file("mine.toml")), "dear to me");
    const Answer forced = drystone_command(scratch, {"new", "pile", "mine.toml", "--force"});
    EXPECT_EQ(forced.code, 0);
    EXPECT_TRUE(contains(forced.out, "tools/render mine -o mine.png\n")) << forced.out;
    EXPECT_TRUE(contains(bytes_of(scratch.file("mine.toml")), "dimension = 3"));
    // A link stays one: what it leads to is written.
    std::filesystem::create_symlink("mine.toml", scratch.file("link.toml"));
    EXPECT_EQ(drystone_command(scratch, {"new", "silo", "link.toml", "--force"}).code, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(scratch.file("link.toml")));
    EXPECT_TRUE(contains(bytes_of(scratch.file("mine.toml")), "dimension = 2"));
    const Answer unknown = drystone_command(scratch, {"new", "pille"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_TRUE(contains(unknown.err, "did you mean 'pile'?")) << unknown.err;
}

TEST(FieldsCommand, PrintsAllOrOneAndRenewsADocument) {
    const Scratch scratch;
    const Answer all = drystone_command(scratch, {"fields"});
    EXPECT_EQ(all.code, 0);
    EXPECT_TRUE(contains(all.out, "## [[lattice]]")) << all.out;
    EXPECT_TRUE(contains(bytes_of(root / "docs" / "scene.md"), all.out));
    EXPECT_TRUE(contains(drystone_command(scratch, {"fields", "wall"}).out, "direction into the free side"));
    EXPECT_EQ(drystone_command(scratch, {"fields", "walll"}).code, 2);

    const std::string document = bytes_of(root / "docs" / "scene.md");
    const std::size_t at = document.find("## [time]");
    std::ofstream(scratch.file("doc.md")) << document.substr(0, at) << "old" << document.substr(at);
    EXPECT_EQ(drystone_command(scratch, {"fields", "--renew", "doc.md"}).code, 0);
    EXPECT_EQ(bytes_of(scratch.file("doc.md")), document);
}

TEST(CheckCommand, SeveralFilesAsJsonAndStrictly) {
    const Scratch scratch;
    const std::string grain =
        "[[body]]\nshape = { type = \"sphere\", radius = 0.1 }\nposition = [0, 0, 0]\n"
        "[[wall]]\npoint = [0, 0, -1]\nnormal = [0, 0, 1]\n";
    std::ofstream(scratch.file("fine.toml")) << "dimension = 3\ngravity = [0, 0, -9.81]\n" << grain;
    std::ofstream(scratch.file("odd.toml")) << "dimension = 3\ngravity = [0, 0, -9.81e-3]\n" << grain;
    std::ofstream(scratch.file("bad.toml")) << "dimension = 3\n[time]\nstep = 0\nsteps = 1\n" << grain;
    EXPECT_EQ(drystone_command(scratch, {"check", "--strict", "fine.toml"}).code, 0);
    EXPECT_EQ(drystone_command(scratch, {"check", "fine.toml", "odd.toml"}).code, 0);
    EXPECT_EQ(drystone_command(scratch, {"check", "--strict", "fine.toml", "odd.toml"}).code, 1);
    EXPECT_EQ(drystone_command(scratch, {"check", "nothing.toml"}).code, 1);
    const Answer answer = drystone_command(scratch, {"check", "--json", "fine.toml", "odd.toml", "bad.toml"});
    EXPECT_EQ(answer.code, 1);
    const auto objects = answer.objects();
    ASSERT_EQ(objects.size(), 3U);
    EXPECT_TRUE(objects[0]["fine"].get<bool>());
    EXPECT_EQ(objects[0]["scene"]["free"], 1);
    EXPECT_TRUE(objects[0]["warnings"].empty());
    EXPECT_EQ(objects[1]["warnings"].at(0)["line"], 2);
    EXPECT_EQ(objects[1]["warnings"].at(0)["field"], "gravity");
    EXPECT_FALSE(objects[2]["fine"].get<bool>());
    ASSERT_EQ(objects[2]["faults"].size(), 2U);
    EXPECT_EQ(objects[2]["faults"].at(0)["field"], "time.step");
    EXPECT_EQ(objects[2]["faults"].at(0)["line"], 3);
    EXPECT_EQ(objects[2]["faults"].at(0)["message"], "0; give a positive time in s");
    EXPECT_TRUE(objects[2]["scene"].is_null());
}

}  // namespace
}  // namespace drystone::testing
