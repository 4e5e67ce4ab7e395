#include "drystone/problems/problem_file.hpp"

#include "drystone/base/error.hpp"
#include "drystone/cone/delassus.hpp"
#include "support/data.hpp"
#include "support/scratch.hpp"

#include <Eigen/QR>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

namespace drystone {
namespace {

using testing::data_file;
using testing::random_problem;
using testing::random_solution;
using testing::Scratch;

std::vector<std::filesystem::path> data_files() {
    std::vector<std::filesystem::path> files;
    for (const char* folder : {"fclib", "packings"}) {
        if (!std::filesystem::exists(data_file(folder))) continue;
        for (const auto& entry : std::filesystem::directory_iterator(data_file(folder))) {
            if (entry.path().extension() == ".hdf5") files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

SparseMatrix delassus_matrix(const ConeProblem& problem, const Delassus& delassus) {
    const BlockSparse& W = delassus.matrix();
    std::vector<Eigen::Triplet<double>> entries;
    for (Index i = 0; i < problem.blocks(); ++i) {
        for (Index k = W.start[i]; k < W.start[i + 1]; ++k) {
            const int rows = problem.cones[i].dim;
            const int cols = problem.cones[W.column[k]].dim;
            for (int c = 0; c < rows; ++c) {
                for (int d = 0; d < cols; ++d) {
                    entries.emplace_back(problem.offset[i] + c, problem.offset[W.column[k]] + d,
                                         W.value[W.value_start[k] + c * cols + d]);
                }
            }
        }
    }
    SparseMatrix A(problem.rows(), problem.rows());
    A.setFromTriplets(entries.begin(), entries.end());
    return A;
}

template <class Numbers>
std::vector<std::uint64_t> bits(const Numbers& x) {
    std::vector<std::uint64_t> result;
    for (const double value : x) result.push_back(std::bit_cast<std::uint64_t>(value));
    return result;
}

std::vector<std::uint64_t> bits(const SparseMatrix& A) {
    SparseMatrix compressed = A;
    compressed.makeCompressed();
    std::vector<std::uint64_t> result;
    for (Eigen::Index j = 0; j < compressed.outerSize(); ++j) {
        for (SparseMatrix::InnerIterator it(compressed, j); it; ++it) {
            result.push_back(static_cast<std::uint64_t>(it.row() * compressed.cols() + it.col()));
            result.push_back(std::bit_cast<std::uint64_t>(it.value()));
        }
    }
    return result;
}

void expect_same(const ConeSolution& a, const ConeSolution& b) {
    EXPECT_EQ(bits(a.r), bits(b.r));
    EXPECT_EQ(bits(a.u), bits(b.u));
    EXPECT_EQ(bits(a.v), bits(b.v));
}

void expect_same_mass(const ConeProblem& a, const ConeProblem& b) {
    ASSERT_EQ(a.only().mass.index(), b.only().mass.index());
    if (const auto* block = std::get_if<BlockInverseMass>(&a.only().mass)) {
        // Held as inverses: the file's M is the inverse of an inverse. Two inversions of blocks with a condition number
        // up to about 100 leave at most some hundred units of rounding.
        const auto& other = std::get<BlockInverseMass>(b.only().mass).blocks;
        ASSERT_EQ(block->blocks.size(), other.size());
        const std::size_t size = static_cast<std::size_t>(a.only().dim) * a.only().dim;
        for (std::size_t first = 0; first < other.size(); first += size) {
            const Eigen::Map<const Eigen::VectorXd> x(block->blocks.data() + first,
                                                      static_cast<Eigen::Index>(size));
            const Eigen::Map<const Eigen::VectorXd> y(other.data() + first, static_cast<Eigen::Index>(size));
            ASSERT_LE((x - y).norm(), 1e-13 * x.norm()) << "body " << first / size;
        }
    } else if (const auto* sparse = std::get_if<SparseMass>(&a.only().mass)) {
        EXPECT_EQ(bits(sparse->M), bits(std::get<SparseMass>(b.only().mass).M));
    } else {
        EXPECT_EQ(bits(std::get<SparseInverseMass>(a.only().mass).inverse),
                  bits(std::get<SparseInverseMass>(b.only().mass).inverse));
    }
}

void expect_same(const ConeProblem& a, const ConeProblem& b) {
    EXPECT_EQ(a.only().dim, b.only().dim);
    EXPECT_EQ(a.bodies(), b.bodies());
    EXPECT_EQ(a.offset, b.offset);
    EXPECT_EQ(a.H.start, b.H.start);
    EXPECT_EQ(a.H.body, b.H.body);
    EXPECT_EQ(a.H.value_start, b.H.value_start);
    EXPECT_EQ(bits(a.H.value), bits(b.H.value));
    EXPECT_EQ(bits(a.f), bits(b.f));
    EXPECT_EQ(bits(a.w), bits(b.w));
    ASSERT_EQ(a.cones.size(), b.cones.size());
    for (std::size_t i = 0; i < a.cones.size(); ++i) {
        ASSERT_EQ(a.cones[i].kind, b.cones[i].kind);
        ASSERT_EQ(a.cones[i].dim, b.cones[i].dim);
        ASSERT_EQ(bits(a.cones[i].coefficient), bits(b.cones[i].coefficient));
    }
    expect_same_mass(a, b);
}

void expect_same(const ProblemFile& a, const ProblemFile& b) {
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.title, b.title);
    EXPECT_EQ(a.description, b.description);
    EXPECT_EQ(a.math_info, b.math_info);
    expect_same(a.problem, b.problem);
    ASSERT_EQ(a.guesses.size(), b.guesses.size());
    for (std::size_t i = 0; i < a.guesses.size(); ++i) expect_same(a.guesses[i], b.guesses[i]);
    ASSERT_EQ(a.solution.has_value(), b.solution.has_value());
    if (a.solution) expect_same(*a.solution, *b.solution);
}

ProblemFile write_and_read(const ProblemFile& file) {
    const Scratch scratch;
    write_problem(scratch.file("problem.hdf5"), file);
    return read_problem(scratch.file("problem.hdf5"));
}

std::string refusal(const ConeProblem& problem) {
    const Scratch scratch;
    ProblemFile file;
    file.problem = problem;
    try {
        write_problem(scratch.file("problem.hdf5"), file);
    } catch (const Error& error) {
        EXPECT_TRUE(std::filesystem::is_empty(scratch.folder())) << "a file was left behind";
        return error.what();
    }
    return "written";
}

// ------------------------------------------------------------------------------------------------ files that exist

enum Held : std::size_t { blocks, sparse, inverse };

struct Expected {
    const char* file;
    ProblemKind kind;
    Index contacts, bodies;
    int body_dim;
    Held mass;
    std::size_t guesses;
    bool solution;
};

TEST(ProblemFiles, HoldWhatTheirTableSays) {
    DRYSTONE_NEEDS_DATA("fclib");
    using enum ProblemKind;
    const Expected table[] = {
        {"fclib/Capsules-i97-269.hdf5", local, 216, 216, 3, inverse, 1, true},
        {"fclib/Capsules-i125-1213.hdf5", local, 286, 286, 3, inverse, 1, true},
        {"fclib/LMGC_100_PR_PerioBox-i00361-60-03000.hdf5", local, 60, 60, 3, inverse, 0, false},
        {"fclib/Box_Stacks-i0122-82-5.hdf5", global, 82, 75, 6, blocks, 1, true},
        {"fclib/spheres-in-a-box-98-i10000-256-10.hdf5", global, 256, 98, 6, blocks, 1, true},
        {"fclib/Spheres-i099-356-679.hdf5", global, 356, 2000, 6, blocks, 1, true},
        {"fclib/CubeH8.hdf5", global, 1, 54, 3, sparse, 0, false},
        {"fclib/LMGC_GlobalFrictionContactProblem00046.hdf5", global, 9, 54, 3, sparse, 0, false},
        {"fclib/Chute-ndof-768-nc-4-3.hdf5", global_rolling, 4, 128, 6, blocks, 0, true},
        {"packings/spheres2000_local.hdf5", local, 4697, 4697, 3, inverse, 0, false},
        {"packings/spheres2000_global.hdf5", global, 4697, 2000, 6, blocks, 0, false},
    };
    for (const Expected& expected : table) {
        SCOPED_TRACE(expected.file);
        const ProblemFile file = read_problem(data_file(expected.file));
        EXPECT_EQ(file.kind, expected.kind);
        EXPECT_EQ(kind_of(file.problem), expected.kind);
        EXPECT_EQ(file.problem.blocks(), expected.contacts);
        EXPECT_EQ(file.problem.only().count, expected.bodies);
        EXPECT_EQ(file.problem.only().dim, expected.body_dim);
        EXPECT_EQ(file.problem.only().mass.index(), expected.mass);
        EXPECT_EQ(file.guesses.size(), expected.guesses);
        EXPECT_EQ(file.solution.has_value(), expected.solution);
        const std::string name = expected.file;
        const bool rough =
            name.find("Capsules") != std::string::npos || name.find("Chute") != std::string::npos;
        EXPECT_LT(file.asymmetry, rough ? 4e-3 : 1e-15);
        EXPECT_EQ(file.asymmetry > 1e-3, rough);
    }
}

TEST(ProblemFiles, VariantsDifferFromThePackingInFrictionAndFreeVelocityOnly) {
    DRYSTONE_NEEDS_DATA("packings");
    const ProblemFile packing = read_problem(data_file("packings/spheres2000_global.hdf5"));
    int variants = 0;
    for (const auto& path : data_files()) {
        const std::string name = path.stem().string();
        const std::string head = "spheres2000_mu";
        if (name.rfind(head, 0) != 0) continue;
        SCOPED_TRACE(name);
        ++variants;
        const double mu = std::stod(name.substr(head.size()));
        const double noise = std::stod(name.substr(name.find("_p") + 2));
        ProblemFile file = read_problem(path);
        for (Cone& cone : file.problem.cones) {
            ASSERT_EQ(cone.mu(), mu);
            cone = Cone::second_order(3, 0.5);
        }
        // The noise may have been added to w or, through the bodies, to f.
        EXPECT_EQ(noise == 0, bits(file.problem.w) == bits(packing.problem.w) &&
                                  bits(file.problem.f) == bits(packing.problem.f));
        file.problem.w = packing.problem.w;
        file.problem.f = packing.problem.f;
        expect_same(file.problem, packing.problem);
    }
    EXPECT_EQ(variants, 9);
}

// Stored solutions hold the velocities u alone (r and v are zero in the file), so u = H v + w and M v = f + H^T r are
// tested with the r and v eliminated: u - b must lie in the range of W. W has a null space in four of these problems,
// so this fails if H, M, f, w or the order of rows is misread.
TEST(ProblemFiles, StoredVelocitiesAreReachableByImpulses) {
    DRYSTONE_NEEDS_DATA("fclib");
    int found = 0;
    int telling = 0;
    for (const auto& path : data_files()) {
        const ProblemFile file = read_problem(path);
        if (!file.solution) continue;
        SCOPED_TRACE(path.filename());
        ++found;
        EXPECT_EQ(file.solution->r.norm(), 0);
        const Delassus delassus(file.problem);
        const Eigen::MatrixXd W = delassus_matrix(file.problem, delassus);
        const Vector change = file.solution->u - delassus.b();
        const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factor(W);
        const Vector r = factor.solve(change);
        EXPECT_LT((W * r - change).norm(), 1e-13 * change.norm());
        telling += factor.rank() < W.rows() ? 1 : 0;
    }
    EXPECT_EQ(found, 6);
    EXPECT_EQ(telling, 4);
}

TEST(ProblemFiles, LocalAndGlobalFormsOfThePackingAgree) {
    DRYSTONE_NEEDS_DATA("packings");
    const ProblemFile local = read_problem(data_file("packings/spheres2000_local.hdf5"));
    const ProblemFile global = read_problem(data_file("packings/spheres2000_global.hdf5"));
    const Delassus from_local(local.problem);
    const Delassus from_global(global.problem);
    const SparseMatrix W = delassus_matrix(local.problem, from_local);
    const SparseMatrix difference = W - delassus_matrix(global.problem, from_global);
    // Each entry is a sum of at most 12 products of numbers near 1.
    double worst = 0;
    for (Eigen::Index j = 0; j < difference.outerSize(); ++j) {
        for (SparseMatrix::InnerIterator it(difference, j); it; ++it)
            worst = std::max(worst, std::abs(it.value()));
    }
    EXPECT_LT(worst, 1e-13 * W.diagonal().maxCoeff());
    EXPECT_LT((from_local.b() - from_global.b()).norm(), 1e-14 * from_local.b().norm());
    EXPECT_GT(from_local.b().norm(), 0);
}

// The two finite-element files hold the upper triangle of M = mass + stiffness + penalty. Stiffness does not feel a
// translation, so M e_x has no y and z parts; with the triangle alone they are of the size of the entries, 30.
TEST(ProblemFiles, FiniteElementMassIsMirroredFromItsTriangle) {
    DRYSTONE_NEEDS_DATA("fclib");
    for (const char* name : {"fclib/CubeH8.hdf5", "fclib/LMGC_GlobalFrictionContactProblem00046.hdf5"}) {
        const ProblemFile file = read_problem(data_file(name));
        const SparseMatrix& M = std::get<SparseMass>(file.problem.only().mass).M;
        Vector translation = Vector::Zero(M.rows());
        for (Eigen::Index node = 0; node < M.rows(); node += 3) translation[node] = 1;
        const Vector impulse = M * translation;
        for (Eigen::Index node = 0; node < M.rows(); node += 3) {
            EXPECT_GT(impulse[node], 40);
            EXPECT_LT(std::abs(impulse[node + 1]) + std::abs(impulse[node + 2]), 1e-13);
        }
    }
}

TEST(ProblemFiles, SurviveWritingAndReading) {
    DRYSTONE_NEEDS_DATA("fclib");
    for (const auto& path : data_files()) {
        SCOPED_TRACE(path.filename());
        const ProblemFile file = read_problem(path);
        const ProblemFile again = write_and_read(file);
        expect_same(file, again);
        EXPECT_EQ(again.asymmetry, 0);
    }
}

// ------------------------------------------------------------------------------------------------ problems made here

TEST(WriteProblem, KeepsEverythingOfEveryKind) {
    const std::vector<std::pair<testing::Recipe, ProblemKind>> recipes = {
        {{6, 4, {Cone::second_order(3, 0.3), Cone::second_order(3, 0), Cone::second_order(3, INFINITY)}},
         ProblemKind::global},
        {{3, 5, {Cone::second_order(2, 0.3), Cone::second_order(2, 0.1), Cone::free(1)}},
         ProblemKind::global},
        {{6, 4, {Cone::wrench(5, 0.3, 0.01, 0), Cone::wrench(5, 0, 0.2, 0), Cone::free(1), Cone::free(1)}},
         ProblemKind::global_rolling},
        {{6, 2, {}}, ProblemKind::global},
    };
    for (const auto& [recipe, kind] : recipes) {
        ProblemFile file;
        file.problem = random_problem(recipe);
        file.kind = kind;
        file.title = "a title";
        file.description = "two\nlines";
        if (file.problem.rows() > 0) file.problem.H.value[1] = -0.0;
        ProblemFile again = write_and_read(file);
        expect_same(file, again);

        // With guesses and a solution; u of free blocks follows from v.
        file.guesses = {random_solution(file.problem), random_solution(file.problem)};
        file.solution = file.guesses.front();
        again = write_and_read(file);
        ASSERT_EQ(again.guesses.size(), 2U);
        for (Index i = 0; i < file.problem.blocks(); ++i) {
            const Index row = file.problem.offset[i];
            if (file.problem.cones[i].kind != ConeKind::free) continue;
            EXPECT_NE(again.solution->u[row], file.solution->u[row]);
            file.solution->u[row] = again.solution->u[row];
            for (ConeSolution& guess : file.guesses) guess.u[row] = again.solution->u[row];
        }
        expect_same(file, again);
    }
}

/// The Delassus matrix and free velocity of a problem as a problem of their own.
ConeProblem local_form(const ConeProblem& problem) {
    const Delassus delassus(problem);
    ConeProblem local;
    local.only().dim = 1;
    local.only().count = problem.rows();
    SparseMatrix W = delassus_matrix(problem, delassus);
    local.only().mass = SparseInverseMass{SparseMatrix(0.5 * W + 0.5 * SparseMatrix(W.transpose()))};
    local.f = Vector::Zero(problem.rows());
    for (Index i = 0; i < problem.blocks(); ++i) {
        local.add_block(problem.cones[i]);
        for (int c = 0; c < problem.cones[i].dim; ++c) {
            const Vector unit = Vector::Unit(problem.cones[i].dim, c);
            local.add_entry(problem.offset[i] + c, std::span(unit.data(), problem.cones[i].dim));
        }
    }
    local.w = delassus.b();
    return local;
}

TEST(WriteProblem, KeepsBilateralRowsOfLocalProblems) {
    ProblemFile file;
    file.problem = local_form(random_problem({6,
                                              4,
                                              {Cone::second_order(3, 0.3), Cone::second_order(3, 0.2),
                                               Cone::free(1), Cone::free(1), Cone::free(1)}}));
    file.kind = ProblemKind::local;
    EXPECT_EQ(kind_of(file.problem), ProblemKind::local);
    expect_same(file, write_and_read(file));

    // Local files hold no v: the reader takes u - w for contacts, and W r for the bilateral rows, whose u the file
    // lacks.
    ConeSolution solution = random_solution(file.problem);
    const SparseMatrix& W = std::get<SparseInverseMass>(file.problem.only().mass).inverse;
    solution.v = solution.u - file.problem.w;
    solution.v.tail(3) = Vector(W * solution.r).tail(3);
    solution.u.tail(3) = file.problem.w.tail(3) + solution.v.tail(3);
    file.solution = solution;
    expect_same(file, write_and_read(file));
}

// Free blocks before, between and behind contacts, one of dimension 2: the file has them last and row by row.
TEST(WriteProblem, MovesFreeBlocksBehindTheContacts) {
    const std::vector<Cone> mixed = {Cone::free(2), Cone::second_order(3, 0.3), Cone::free(1),
                                     Cone::second_order(3, 0.2)};
    const ConeProblem problem = random_problem({6, 4, mixed});
    const std::vector<Index> place = {2 + 0, 2 + 1, 2 + 2, 6 + 0, 6 + 1, 6 + 2, 0, 1, 5};
    for (const ConeProblem& form : {problem, local_form(problem)}) {
        ProblemFile file;
        file.problem = form;
        file.solution = random_solution(form);
        const ProblemFile again = write_and_read(file);
        const Delassus before(form);
        const Delassus after(again.problem);
        const Eigen::MatrixXd W = delassus_matrix(form, before);
        const Eigen::MatrixXd V = delassus_matrix(again.problem, after);
        ASSERT_EQ(again.problem.blocks(), 5);
        for (Index i = 0; i < 9; ++i) {
            EXPECT_EQ(again.solution->r[i], file.solution->r[place[i]]);
            EXPECT_NEAR(after.b()[i], before.b()[place[i]], 1e-12);
            for (Index j = 0; j < 9; ++j) EXPECT_NEAR(V(i, j), W(place[i], place[j]), 1e-12 * W.norm());
        }
    }
}

// A wall (no inverse mass) and a grain that cannot turn: the layout has no infinite masses, but W and b can be kept.
TEST(WriteProblem, KeepsTheMotionOfProblemsWithFixedCoordinates) {
    ProblemFile file;
    file.problem = random_problem(
        {6, 4, {Cone::second_order(3, 0.3), Cone::second_order(3, 0.2), Cone::second_order(3, 0.1)}});
    std::vector<double>& blocks = std::get<BlockInverseMass>(file.problem.only().mass).blocks;
    std::fill(blocks.begin(), blocks.begin() + 36, 0.0);
    for (int a = 0; a < 6; ++a) {
        for (int b = 0; b < 6; ++b) {
            if (a >= 3 || b >= 3) blocks[36 + 6 * a + b] = 0;
        }
    }
    const ProblemFile again = write_and_read(file);
    const Delassus before(file.problem);
    const Delassus after(again.problem);
    const Vector r = random_solution(file.problem).r;
    EXPECT_LT((before.complete(r).v - after.complete(r).v).norm(), 1e-12);
    EXPECT_LT((before.complete(r).u - after.complete(r).u).norm(), 1e-12);
    EXPECT_EQ(after.complete(r).v.head(6).norm(), 0);
    EXPECT_EQ(after.complete(r).v.segment(9, 3).norm(), 0);
}

TEST(WriteProblem, RefusesWhatTheLayoutCannotHold) {
    const auto with = [](std::vector<Cone> cones) { return random_problem({6, 4, std::move(cones)}); };
    const Cone coulomb = Cone::second_order(3, 0.3);
    EXPECT_NE(refusal(with({coulomb, Cone::second_order(2, 0.3)})).find("block 1"), std::string::npos);
    EXPECT_NE(refusal(with({coulomb, Cone::wrench(5, 0.1, 0.1, 0)})).find("block 1"), std::string::npos);
    EXPECT_NE(refusal(with({coulomb, Cone::truncated(3, 0.1, 1)})).find("block 1"), std::string::npos);
    EXPECT_NE(refusal(with({Cone::ray()})).find("mu = 0"), std::string::npos);
    EXPECT_NE(refusal(with({Cone::interval(-1, 1)})).find("block 0"), std::string::npos);
    EXPECT_NE(refusal(with({Cone::wrench(6, 0.1, 0.1, 0.1)})).find("dimension 6"), std::string::npos);
    EXPECT_NE(refusal(with({Cone::wrench(5, 0.1, 0.1, 0.1)})).find("spinning"), std::string::npos);

    ConeProblem singular = with({coulomb});
    Eigen::Map<Eigen::MatrixXd>(std::get<BlockInverseMass>(singular.only().mass).blocks.data() + 36, 6, 6)
        .setConstant(1);
    EXPECT_NE(refusal(singular).find("body 1 is not positive definite"), std::string::npos);

    ConeProblem scaled = local_form(with({coulomb}));
    scaled.H.value[0] = 2;
    EXPECT_NE(refusal(scaled).find("H = 1"), std::string::npos);
    ConeProblem pushed = local_form(with({coulomb}));
    pushed.f[0] = 1;
    EXPECT_NE(refusal(pushed).find("f = 0"), std::string::npos);
    EXPECT_NE(refusal(local_form(with({Cone::wrench(5, 0.1, 0.1, 0)}))).find("rolling"), std::string::npos);

    ConeProblem broken = with({coulomb});
    broken.w[1] = NAN;
    EXPECT_NE(refusal(broken).find("w: holds a number that is not finite"), std::string::npos);
}

TEST(WriteProblem, LeavesTheOldFileWhenItFails) {
    const Scratch scratch;
    ProblemFile file;
    file.problem = random_problem({6, 4, {Cone::second_order(3, 0.3)}});
    file.title = "first";
    write_problem(scratch.file("problem.hdf5"), file);
    file.title = "second";
    // This is refused while the file is being written: the mass has no inverse.
    Eigen::Map<Eigen::MatrixXd>(std::get<BlockInverseMass>(file.problem.only().mass).blocks.data(), 6, 6)
        .setConstant(1);
    EXPECT_THROW(write_problem(scratch.file("problem.hdf5"), file), Error);
    EXPECT_EQ(read_problem(scratch.file("problem.hdf5")).title, "first");
    const auto entries = std::filesystem::directory_iterator(scratch.folder());
    EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);

    EXPECT_THROW(write_problem(scratch.file("no such folder") / "problem.hdf5", file), Error);
    std::filesystem::create_directory(scratch.file("folder"));
    file.problem = random_problem({6, 4, {}});
    EXPECT_THROW(write_problem(scratch.file("folder"), file), Error);
}

TEST(WriteProblem, RefusesSolutionsOfTheWrongSize) {
    const Scratch scratch;
    ProblemFile file;
    file.problem = random_problem({6, 4, {Cone::second_order(3, 0.3)}});
    file.solution = random_solution(file.problem);
    file.solution->v.conservativeResize(5);
    EXPECT_THROW(write_problem(scratch.file("problem.hdf5"), file), Error);
    file.solution = random_solution(file.problem);
    file.solution->r[0] = NAN;
    EXPECT_THROW(write_problem(scratch.file("problem.hdf5"), file), Error);
}

/// A disk on a chain of two nodes whose mass couples them.
ConeProblem disk_on_a_chain() {
    ConeProblem p;
    SparseMatrix chain(2, 2);
    chain.insert(0, 0) = chain.insert(1, 1) = 3;
    chain.insert(0, 1) = chain.insert(1, 0) = -2;
    p.species = {{3, 1, BlockInverseMass{{0.5, 0, 0, 0, 0.5, 0, 0, 0, 4}}}, {1, 2, SparseMass{chain}}};
    p.f = Vector::LinSpaced(p.dofs(), -1, 1);
    for (const Index node : {1, 2}) {
        p.add_block(Cone::second_order(2, 0.3));
        p.add_entry(0, std::array{0.0, 1.0, 0.1 * node, 1.0, 0.0, 0.5});
        p.add_entry(node, std::array{-1.0, 0.25});
    }
    p.w = Vector::Zero(p.rows());
    return p;
}

TEST(WriteProblem, SeveralSpeciesBecomeOneMass) {
    const Scratch scratch;
    ProblemFile file;
    file.problem = disk_on_a_chain();
    write_problem(scratch.file("problem.hdf5"), file);
    const ProblemFile again = read_problem(scratch.file("problem.hdf5"));
    EXPECT_EQ(again.problem.dofs(), 5);
    const Delassus before(file.problem), after(again.problem);
    EXPECT_LT((before.b() - after.b()).norm(), 1e-14 * before.b().norm());
    const SparseMatrix W = delassus_matrix(file.problem, before), V = delassus_matrix(again.problem, after);
    EXPECT_LT((W - V).norm(), 1e-14 * W.norm());
}

TEST(WriteProblem, ASparseInverseMassBesideOtherBodiesIsRefused) {
    const Scratch scratch;
    ProblemFile file;
    file.problem = disk_on_a_chain();
    file.problem.species[1].mass = SparseInverseMass{std::get<SparseMass>(file.problem.species[1].mass).M};
    EXPECT_THROW(write_problem(scratch.file("problem.hdf5"), file), Error);
}

}  // namespace
}  // namespace drystone
