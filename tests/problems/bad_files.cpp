// Files that are damaged, not complete or not what they should be: each gives an Error that says so, and none a crash.
#include "drystone/base/error.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/problems/problem_file.hpp"
#include "support/scratch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

namespace drystone {
namespace {

using hdf5::Group;
using testing::Scratch;

std::string refusal(const std::filesystem::path& path) {
    try {
        static_cast<void>(read_problem(path));
    } catch (const Error& error) {
        return error.what();
    }
    return "read without complaint";
}

struct MatrixText {
    int m = 0, n = 0, nz = 0;
    std::vector<int> p, i;
    std::vector<double> x;
};

void write(const Group& parent, const char* name, const MatrixText& A) {
    const Group group = parent.create_group(name);
    group.write_int("nzmax", static_cast<int>(A.x.size()));
    group.write_int("m", A.m);
    group.write_int("n", A.n);
    group.write_int("nz", A.nz);
    group.write_ints("p", A.p);
    group.write_ints("i", A.i);
    group.write_doubles("x", A.x);
}

/// One body in space on one contact, as a global file, piece by piece; a test spoils one piece.
struct Pieces {
    int spacedim = 3;
    MatrixText M{6, 6, 6, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {1, 1, 1, 2, 2, 2}};
    MatrixText H{6, 3, -1, {0, 1, 3, 5}, {0, 1, 5, 2, 4}, {1, 1, -0.5, 1, 0.5}};
    std::vector<double> f = {0, 0, 0, 0, 0, 0};
    std::vector<double> w = {-1, 0.5, 0};
    std::vector<double> mu = {0.3};
    bool with_vectors = true;
    bool with_w = true;
    std::function<void(const Group& root)> extra = [](const Group&) {};
};

std::string refusal(const Pieces& pieces) {
    const Scratch scratch;
    {
        const hdf5::File file = hdf5::File::create(scratch.file("problem.hdf5"));
        const Group group = file.root().create_group("fclib_global");
        group.write_int("spacedim", pieces.spacedim);
        write(group, "M", pieces.M);
        write(group, "H", pieces.H);
        if (pieces.with_vectors) {
            const Group vectors = group.create_group("vectors");
            vectors.write_doubles("f", pieces.f);
            if (pieces.with_w) vectors.write_doubles("w", pieces.w);
            vectors.write_doubles("mu", pieces.mu);
        }
        pieces.extra(file.root());
        file.flush();
    }
    const std::string message = refusal(scratch.file("problem.hdf5"));
    EXPECT_TRUE(message == "read without complaint" || message.find("problem.hdf5") != std::string::npos)
        << message;
    return message;
}

void expect_refusal(const Pieces& pieces, const std::string& part) {
    const std::string message = refusal(pieces);
    EXPECT_NE(message.find(part), std::string::npos) << "expected: " << part << "\nmessage:  " << message;
}

TEST(BadFiles, ThePiecesAreGoodUnlessSpoilt) { EXPECT_EQ(refusal(Pieces{}), "read without complaint"); }

TEST(BadFiles, AbsentFolderTextAndEmpty) {
    const Scratch scratch;
    EXPECT_NE(refusal(scratch.file("absent.hdf5")).find("there is no such file"), std::string::npos);
    EXPECT_NE(refusal(scratch.folder()).find("is not a file"), std::string::npos);
    std::ofstream(scratch.file("text.hdf5")) << "not a problem, but a sentence\n";
    EXPECT_NE(refusal(scratch.file("text.hdf5")).find("is not an HDF5 file"), std::string::npos);
    std::ofstream(scratch.file("empty.hdf5")).close();
    EXPECT_NE(refusal(scratch.file("empty.hdf5")).find("is not an HDF5 file"), std::string::npos);
    hdf5::File::create(scratch.file("hollow.hdf5")).flush();
    EXPECT_NE(refusal(scratch.file("hollow.hdf5")).find("fclib_local"), std::string::npos);
}

TEST(BadFiles, CutShort) {
    const Scratch scratch;
    ProblemFile file;
    file.problem = testing::random_problem({6, 4, {Cone::second_order(3, 0.3), Cone::second_order(3, 0.2)}});
    write_problem(scratch.file("whole.hdf5"), file);
    std::ifstream in(scratch.file("whole.hdf5"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    ASSERT_GT(bytes.size(), 1000U);
    for (const double share : {0.01, 0.1, 0.5, 0.9, 0.999}) {
        const auto size = static_cast<std::streamsize>(share * static_cast<double>(bytes.size()));
        std::ofstream(scratch.file("cut.hdf5"), std::ios::binary).write(bytes.data(), size);
        EXPECT_NE(refusal(scratch.file("cut.hdf5")).find("cut.hdf5"), std::string::npos) << share;
    }
}

TEST(BadFiles, MissingPieces) {
    Pieces no_w;
    no_w.with_w = false;
    expect_refusal(no_w, "/fclib_global/vectors/w: is missing");
    Pieces no_vectors;
    no_vectors.with_vectors = false;
    expect_refusal(no_vectors, "/fclib_global/vectors: is missing");
    Pieces half_a_solution;
    half_a_solution.extra = [](const Group& root) {
        root.create_group("solution").write_doubles("r", std::vector<double>{0, 0, 0});
    };
    expect_refusal(half_a_solution, "/solution/u: is missing");
    Pieces fewer_guesses;
    fewer_guesses.extra = [](const Group& root) {
        root.create_group("guesses").write_int("number_of_guesses", 1);
    };
    expect_refusal(fewer_guesses, "/guesses/1: is missing");
    Pieces two_problems;
    two_problems.extra = [](const Group& root) { static_cast<void>(root.create_group("fclib_local")); };
    expect_refusal(two_problems, "several problems");
}

TEST(BadFiles, WrongSizes) {
    Pieces p;
    p.M.m = -6;
    expect_refusal(p, "/fclib_global/M: is -6 x 6");
    p = {};
    p.H.n = 2147483647;
    expect_refusal(p, "/fclib_global/H: is 6 x 2147483647");
    p = {};
    p.M.nz = -3;
    expect_refusal(p, "/fclib_global/M/nz: -3");
    p = {};
    p.M.nz = 7;
    expect_refusal(p, "/fclib_global/M/nz: 7");
    p = {};
    p.H.p = {0, 1, 3};
    expect_refusal(p, "/fclib_global/H/p: 3 numbers");
    p = {};
    p.H.p = {};
    expect_refusal(p, "/fclib_global/H/p: 0 numbers");
    p = {};
    p.spacedim = 5;
    expect_refusal(p, "spacedim: 5");
    p = {};
    p.spacedim = 2;
    expect_refusal(p, "multiple of spacedim");
    p = {};
    p.mu = {0.3, 0.3};
    expect_refusal(p, "vectors/mu: holds 2 numbers");
    p = {};
    p.f.pop_back();
    expect_refusal(p, "the vectors ask for 5 x 5");
    p = {};
    p.extra = [](const Group& root) {
        const Group solution = root.create_group("solution");
        solution.write_doubles("r", std::vector<double>{0, 0});
    };
    expect_refusal(p, "/solution/r: holds 2 numbers; must be 3");
}

TEST(BadFiles, IndicesOutOfRange) {
    Pieces p;
    p.H.i[1] = 6;
    expect_refusal(p, "/fclib_global/H/i: number 1 is 6; indices must be 0 to 5");
    p = {};
    p.M.i[0] = -1;
    expect_refusal(p, "/fclib_global/M/i: number 0 is -1");
    p = {};
    p.M.p[2] = 6;
    expect_refusal(p, "/fclib_global/M/p: number 2 is 6");
    p = {};
    p.H.p = {0, 3, 1, 5};
    expect_refusal(p, "/fclib_global/H/p: number 2 is 1");
    p = {};
    p.H.p = {0, 1, 3, 2000000000};
    expect_refusal(p, "number 3 is 2000000000");
    p = {};
    p.H.p = {-1, 1, 3, 5};
    expect_refusal(p, "must be 4 from 0");
}

TEST(BadFiles, NumbersOutOfRange) {
    Pieces p;
    p.mu = {NAN};
    expect_refusal(p, "vectors/mu: number 0 is nan");
    p.mu = {-0.1};
    expect_refusal(p, "must be 0 or more");
    p = {};
    p.w[1] = NAN;
    expect_refusal(p, "vectors/w: holds a number that is not finite");
    p = {};
    std::fill(p.f.begin(), p.f.end(), 0.0);
    std::fill(p.w.begin(), p.w.end(), 0.0);
    p.w[0] = -1e-200;  // its square is 0: nothing would be wrong with anything
    expect_refusal(p, "f and w: the largest number is 1.0e-200; use other units");
    p = {};
    p.M.x[3] = INFINITY;
    expect_refusal(p, "/fclib_global/M/x: number 3 is not finite");
    p = {};
    p.M.x[3] = -1;
    expect_refusal(p, "body 0 is not positive definite");
    p.M.x[3] = 0;
    expect_refusal(p, "body 0 is not positive definite");
    p = {};
    p.M = {6, 6, 8, {0, 1, 2, 3, 4, 5, 1, 0}, {0, 1, 2, 3, 4, 5, 0, 1}, {1, 1, 1, 2, 2, 2, 0.1, 0.2}};
    expect_refusal(p, "/fclib_global/M: is not symmetric");
    expect_refusal(p, "differ by 0.1");
}

TEST(BadFiles, MoreGuessesThanAnybodyReads) {
    Pieces p;
    p.extra = [](const Group& root) { root.create_group("guesses").write_int("number_of_guesses", 20'000); };
    expect_refusal(p, "it holds 20000 guesses; at most 100 are read");
}

TEST(BadFiles, WrongTypes) {
    Pieces p;
    p.with_vectors = false;
    p.extra = [](const Group& root) {
        const Group vectors = root.open_group("fclib_global").create_group("vectors");
        vectors.write_string("f", "six zeros");
        vectors.write_doubles("w", std::vector<double>{-1, 0, 0});
        vectors.write_doubles("mu", std::vector<double>{0.3});
    };
    expect_refusal(p, "/fclib_global/vectors/f: does not hold real numbers");
    p.extra = [](const Group& root) { root.open_group("fclib_global").write_int("vectors", 1); };
    expect_refusal(p, "/fclib_global/vectors: cannot be opened as a group");
}

}  // namespace
}  // namespace drystone
