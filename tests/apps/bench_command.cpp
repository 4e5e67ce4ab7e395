// drystone bench, seen from a shell.

#include "apps/command.hpp"
#include "drystone/solve/solve.hpp"
#include "support/data.hpp"

namespace drystone::testing {
namespace {

/// What is wrong with the XML: tags that do not match, attributes without quotes, a bare & or <; empty if nothing is.
std::string xml_fault(const std::string& xml) {
    std::vector<std::string> open;
    bool had_root = false;
    for (std::size_t at = 0; at < xml.size();) {
        if (xml[at] == '&') {
            const std::string entity = xml.substr(at, xml.find(';', at) - at + 1);
            if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;")
                return "bare &";
        }
        if (xml[at] != '<') {
            if (open.empty() && had_root && std::isspace(static_cast<unsigned char>(xml[at])) == 0)
                return "text at the end";
            ++at;
            continue;
        }
        const std::size_t end = xml.find('>', at);
        if (end == std::string::npos) return "unclosed tag";
        std::string tag = xml.substr(at + 1, end - at - 1);
        at = end + 1;
        if (tag.find('<') != std::string::npos) return "bare <";
        if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "quotes in " + tag;
        if (tag[0] == '?') continue;
        const std::string name =
            tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
        if (tag[0] == '/') {
            if (open.empty() || open.back() != tag.substr(1)) return "unexpected </" + tag.substr(1);
            open.pop_back();
        } else if (tag.back() != '/') {
            if (open.empty() && had_root) return "second root " + name;
            had_root = true;
            open.push_back(name);
        }
    }
    if (!open.empty()) return open.back() + " is never closed";
    return had_root ? "" : "no root";
}

TEST(BenchCommand, TheXmlCheckFindsFaults) {
    EXPECT_EQ(xml_fault("<?xml version=\"1.0\"?>\n<svg a=\"b\"><g/><text x=\"1\">a &lt; b</text></svg>\n"),
              "");
    for (const char* bad :
         {"", "<svg>", "<svg><g></svg>", "<svg>a & b</svg>", "<svg a=\"b></svg>", "<svg/ ></svg>x"}) {
        EXPECT_NE(xml_fault(bad), "") << bad;
    }
}

class Bench : public ::testing::Test {
protected:
    void SetUp() override {
        std::filesystem::create_directories(scratch_.file("problems/below"));
        write_small(scratch_, "problems/one.hdf5", small_problem(1));
        write_small(scratch_, "problems/below/two.hdf5", small_problem(2));
        std::ofstream(scratch_.file("problems/notes.txt")) << "not a problem\n";
    }
    Scratch scratch_;
};

TEST_F(Bench, PrintsTableAndSummaryAndDrawsThePicture) {
    const std::vector<std::string> solvers = {"auto", "gauss-seidel", "newton"};
    const Answer answer =
        drystone_command(scratch_, {"bench", "--solvers", "auto,gauss-seidel,newton", "problems"});
    EXPECT_EQ(answer.code, 0) << answer.err;
    for (const char* word : {"one.hdf5", "two.hdf5", "2 / 2", "performance_profile.svg"}) {
        EXPECT_TRUE(contains(answer.out, word)) << word << "\n" << answer.out;
    }
    const std::string svg = bytes_of(scratch_.file("performance_profile.svg"));
    EXPECT_EQ(xml_fault(svg), "");
    EXPECT_TRUE(contains(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\""));
    for (const std::string& solver : solvers) EXPECT_TRUE(contains(svg, ">" + solver + " (2/2)<")) << solver;
    EXPECT_TRUE(contains(svg, "fraction of problems solved"));
    std::size_t paths = 0;
    for (std::size_t at = svg.find("<path"); at != std::string::npos; at = svg.find("<path", at + 1)) ++paths;
    EXPECT_EQ(paths, solvers.size());
}

TEST_F(Bench, AllSolversOfTheLawIfNoneIsNamed) {
    const Answer answer =
        drystone_command(scratch_, {"bench", "problems/one.hdf5", "--law", "associated", "--json",
                                    "--tolerance", "1e-4", "--time-limit", "1", "--picture", "p.svg"});
    EXPECT_EQ(answer.code, 0) << answer.err;
    std::size_t expected = 0;
    for (const NamedSolver& solver : named_solvers()) expected += solver.associated ? 1 : 0;
    EXPECT_EQ(answer.objects().size(), expected);
    EXPECT_EQ(xml_fault(bytes_of(scratch_.file("p.svg"))), "");
    EXPECT_TRUE(contains(answer.err, "p.svg")) << "where the picture is: " << answer.err;
}

TEST_F(Bench, StepsAreSolvedAsInARun) {
    const Answer answer = drystone_command(scratch_, {"bench", "problems", "--steps", "--tolerance", "1e-4"});
    EXPECT_EQ(answer.code, 0) << answer.err;
    for (const char* word : {"exact law: 2 of 2 in ", "with a frozen shift: 0", "not solved: 0"})
        EXPECT_TRUE(contains(answer.out, word)) << word << "\n" << answer.out;
    const Answer both = drystone_command(scratch_, {"bench", "problems", "--steps", "--solvers", "auto"});
    EXPECT_EQ(both.code, 2);
}

TEST_F(Bench, AStepThatStallsEndsWithAFrozenShift) {
    const std::string stalled = "slow-flow/a_s60_failed_step_145.hdf5";
    DRYSTONE_NEEDS_DATA(stalled);
    const Answer step =
        drystone_command(scratch_, {"bench", data_file(stalled).string(), "--steps", "--tolerance", "1e-4"});
    EXPECT_TRUE(contains(step.out, "with a frozen shift: 1 in ")) << step.out;
}

TEST_F(Bench, TroubleGivesCodeTwo) {
    std::ofstream(scratch_.file("problems/broken.hdf5")) << "not HDF5\n";
    const Answer broken = drystone_command(scratch_, {"bench", "problems", "--solvers", "auto"});
    EXPECT_EQ(broken.code, 2);
    EXPECT_TRUE(contains(broken.err, "broken.hdf5")) << broken.err;
    EXPECT_TRUE(contains(broken.out, "2 / 2")) << "the others are measured: " << broken.out;
    EXPECT_EQ(drystone_command(scratch_, {"bench", "absent"}).code, 2);
    EXPECT_EQ(drystone_command(scratch_, {"bench", "problems/below", "--solvers", "fast"}).code, 2);
    const Answer nowhere = drystone_command(
        scratch_, {"bench", "problems/below", "--solvers", "auto", "--picture", "absent/p.svg"});
    EXPECT_EQ(nowhere.code, 2);
    EXPECT_TRUE(contains(nowhere.err, "absent/p.svg")) << nowhere.err;
    std::filesystem::create_directories(scratch_.file("empty"));
    const Answer empty = drystone_command(scratch_, {"bench", "empty"});
    EXPECT_EQ(empty.code, 2);
    EXPECT_TRUE(contains(empty.err, "no *.hdf5")) << empty.err;
}

}  // namespace
}  // namespace drystone::testing
