// Our reader and writer against FCLib's own library: what one writes, the other reads, number by number.
extern "C" {
#include <fclib.h>
}
#include "drystone/problems/problem_file.hpp"
#include "support/data.hpp"
#include "support/scratch.hpp"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace drystone {
namespace {

using testing::Dice;
using testing::random_problem;
using testing::random_solution;
using testing::Scratch;
using Dense = Eigen::MatrixXd;

struct Free {
    void operator()(fclib_global* p) const {
        fclib_delete_global(p);
        std::free(p);
    }
    void operator()(fclib_local* p) const {
        fclib_delete_local(p);
        std::free(p);
    }
};
using GlobalPointer = std::unique_ptr<fclib_global, Free>;
using LocalPointer = std::unique_ptr<fclib_local, Free>;

/// FCLib's matrix as a dense one; written apart from our reader, straight from the three storage schemes.
Dense dense(const fclib_matrix* A) {
    Dense result = Dense::Zero(A->m, A->n);
    if (A->nz >= 0) {
        for (int k = 0; k < A->nz; ++k) result(A->i[k], A->p[k]) += A->x[k];
    } else {
        for (int j = 0; j < (A->nz == -1 ? A->n : A->m); ++j) {
            for (int k = A->p[j]; k < A->p[j + 1]; ++k) {
                (A->nz == -1 ? result(A->i[k], j) : result(j, A->i[k])) += A->x[k];
            }
        }
    }
    return result;
}

/// The file's H and G side by side: our H, transposed.
Dense transposed_H(const ConeProblem& p) {
    Dense result = Dense::Zero(p.dofs(), p.rows());
    for (Index i = 0; i < p.blocks(); ++i) {
        const double* value = p.H.value.data() + p.H.value_start[i];
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
            for (int c = 0; c < p.cones[i].dim; ++c) {
                for (int a = 0; a < p.only().dim; ++a)
                    result(p.H.body[k] * p.only().dim + a, p.offset[i] + c) = *value++;
            }
        }
    }
    return result;
}

Dense dense_mass(const ConeProblem& p) {
    if (const auto* sparse = std::get_if<SparseMass>(&p.only().mass)) return sparse->M;
    Dense M = Dense::Zero(p.dofs(), p.dofs());
    const int m = p.only().dim;
    for (Index j = 0; j < p.only().count; ++j) {
        const double* block =
            std::get<BlockInverseMass>(p.only().mass).blocks.data() + static_cast<std::ptrdiff_t>(j) * m * m;
        M.block(j * m, j * m, m, m) = Eigen::Map<const Dense>(block, m, m).inverse();
    }
    return M;
}

void expect_numbers(const double* theirs, const Vector& ours) {
    ASSERT_TRUE(theirs != nullptr || ours.size() == 0);
    for (Eigen::Index k = 0; k < ours.size(); ++k) ASSERT_EQ(theirs[k], ours[k]) << k;
}

void expect_agreement(const fclib_global& theirs, const ConeProblem& ours) {
    const Eigen::Index contact_rows = theirs.H->n;
    const Dense M = dense(theirs.M);
    Dense symmetric = 0.5 * (M + M.transpose());
    if (Dense(M.triangularView<Eigen::StrictlyLower>()).isZero(0)) {
        symmetric = M + M.transpose();
        symmetric.diagonal() /= 2;
    }
    if (std::holds_alternative<SparseMass>(ours.only().mass)) {
        EXPECT_EQ(dense_mass(ours), symmetric);
    } else {
        // Two inversions: rounding.
        EXPECT_LT((dense_mass(ours) - symmetric).norm(), 1e-13 * symmetric.norm());
    }
    const Dense H = transposed_H(ours);
    EXPECT_EQ(H.leftCols(contact_rows), dense(theirs.H));
    EXPECT_EQ(theirs.G == nullptr, H.cols() == contact_rows);
    expect_numbers(theirs.f, ours.f);
    expect_numbers(theirs.w, ours.w.head(contact_rows));
    if (theirs.G != nullptr) {
        EXPECT_EQ(H.rightCols(H.cols() - contact_rows), dense(theirs.G));
        expect_numbers(theirs.b, ours.w.tail(H.cols() - contact_rows));
    }
    for (Eigen::Index i = 0; i < contact_rows / theirs.spacedim; ++i) {
        ASSERT_EQ(ours.cones[i].kind, ConeKind::second_order);
        ASSERT_EQ(ours.cones[i].dim, theirs.spacedim);
        ASSERT_EQ(ours.cones[i].mu(), theirs.mu[i]);
    }
}

void expect_agreement(const fclib_local& theirs, const ConeProblem& ours) {
    const Eigen::Index n = theirs.W->n;
    const Dense W = std::get<SparseInverseMass>(ours.only().mass).inverse;
    const Dense V = dense(theirs.W);
    EXPECT_EQ(W.topLeftCorner(n, n), Dense(0.5 * V + 0.5 * V.transpose()));
    expect_numbers(theirs.q, ours.w.head(n));
    EXPECT_EQ(theirs.V == nullptr, W.cols() == n);
    if (theirs.V != nullptr) {
        EXPECT_EQ(W.topRightCorner(n, W.cols() - n), dense(theirs.V));
        EXPECT_EQ(W.bottomLeftCorner(W.cols() - n, n), dense(theirs.V).transpose());
        EXPECT_EQ(W.bottomRightCorner(W.cols() - n, W.cols() - n), dense(theirs.R));
        expect_numbers(theirs.s, ours.w.tail(W.cols() - n));
    }
    for (Eigen::Index i = 0; i < n / theirs.spacedim; ++i) ASSERT_EQ(ours.cones[i].mu(), theirs.mu[i]);
}

void expect_agreement(const fclib_solution& theirs, const ConeSolution& ours, ProblemKind kind,
                      Eigen::Index contact_rows) {
    expect_numbers(theirs.r, ours.r.head(contact_rows));
    expect_numbers(theirs.u, ours.u.head(contact_rows));
    if (ours.r.size() > contact_rows) expect_numbers(theirs.l, ours.r.tail(ours.r.size() - contact_rows));
    if (kind == ProblemKind::global) expect_numbers(theirs.v, ours.v);
}

void expect_same_file(const std::filesystem::path& path, const ProblemFile& ours) {
    const std::string name = path.string();
    Eigen::Index contact_rows = 0;
    if (ours.kind == ProblemKind::global) {
        const GlobalPointer theirs(fclib_read_global(name.c_str()));
        ASSERT_TRUE(theirs);
        expect_agreement(*theirs, ours.problem);
        EXPECT_EQ(theirs->info->title, ours.title);
        EXPECT_EQ(theirs->info->description, ours.description);
        contact_rows = theirs->H->n;
    } else {
        const LocalPointer theirs(fclib_read_local(name.c_str()));
        ASSERT_TRUE(theirs);
        expect_agreement(*theirs, ours.problem);
        EXPECT_EQ(theirs->info->title, ours.title);
        contact_rows = theirs->W->n;
    }
    if (ours.solution) {
        fclib_solution* theirs = fclib_read_solution(name.c_str());
        ASSERT_NE(theirs, nullptr);
        expect_agreement(*theirs, *ours.solution, ours.kind, contact_rows);
        fclib_delete_solutions(theirs, 1);
    }
    if (!ours.guesses.empty()) {
        int count = 0;
        fclib_solution* theirs = fclib_read_guesses(name.c_str(), &count);
        ASSERT_EQ(count, static_cast<int>(ours.guesses.size()));
        for (int i = 0; i < count; ++i) expect_agreement(theirs[i], ours.guesses[i], ours.kind, contact_rows);
        fclib_delete_solutions(theirs, count);
    }
}

ProblemFile with_solutions(ConeProblem problem, ProblemKind kind) {
    ProblemFile file;
    file.problem = std::move(problem);
    file.kind = kind;
    file.title = "made for a test";
    file.description = "random numbers";
    file.guesses = {random_solution(file.problem), random_solution(file.problem)};
    file.solution = random_solution(file.problem);
    return file;
}

ConeProblem random_local(int contacts, int bilateral) {
    Dice dice;
    ConeProblem problem;
    problem.only().dim = 1;
    problem.only().count = 3 * contacts + bilateral;
    problem.only().mass = SparseInverseMass{dice.positive(problem.only().count).sparseView()};
    problem.f = Vector::Zero(problem.only().count);
    for (int i = 0; i < contacts + bilateral; ++i) {
        const Cone cone = i < contacts ? Cone::second_order(3, 0.1 * i) : Cone::free(1);
        const Index first = problem.rows();
        problem.add_block(cone);
        for (int c = 0; c < cone.dim; ++c) {
            const Vector unit = Vector::Unit(cone.dim, c);
            problem.add_entry(first + c, std::span(unit.data(), cone.dim));
        }
    }
    problem.w = dice.vector(problem.rows());
    return problem;
}

TEST(FclibReadsWhatWeWrite, Global) {
    const Scratch scratch;
    const Cone coulomb = Cone::second_order(3, 0.3);
    const Cone flat = Cone::second_order(2, 0.2);
    int number = 0;
    for (const testing::Recipe& recipe :
         {testing::Recipe{6, 4, {coulomb, coulomb, Cone::second_order(3, 0)}},
          testing::Recipe{6, 4, {coulomb, coulomb, Cone::free(1), Cone::free(1)}},
          testing::Recipe{3, 5, {flat, flat, flat, flat}}}) {
        const ProblemFile file = with_solutions(random_problem(recipe), ProblemKind::global);
        const auto path = scratch.file(std::to_string(number++) + ".hdf5");
        write_problem(path, file);
        expect_same_file(path, file);
    }
}

TEST(FclibReadsWhatWeWrite, Local) {
    const Scratch scratch;
    for (const int bilateral : {0, 4}) {
        const ProblemFile file = with_solutions(random_local(5, bilateral), ProblemKind::local);
        const auto path = scratch.file(std::to_string(bilateral) + ".hdf5");
        write_problem(path, file);
        expect_same_file(path, file);
    }
}

/// A matrix for FCLib in one of its storage schemes.
struct Stored {
    Stored(const Dense& A, int scheme) {
        for (int outer = 0; outer < (scheme == -2 ? A.rows() : A.cols()); ++outer) {
            if (scheme < 0) p.push_back(static_cast<int>(x.size()));
            for (int inner = 0; inner < (scheme == -2 ? A.cols() : A.rows()); ++inner) {
                const double value = scheme == -2 ? A(outer, inner) : A(inner, outer);
                if (value == 0) continue;
                if (scheme >= 0) p.push_back(outer);
                i.push_back(inner);
                x.push_back(value);
            }
        }
        if (scheme < 0) p.push_back(static_cast<int>(x.size()));
        const int entries = static_cast<int>(x.size());
        matrix = {entries,
                  static_cast<int>(A.rows()),
                  static_cast<int>(A.cols()),
                  p.data(),
                  i.data(),
                  x.data(),
                  scheme >= 0 ? entries : scheme,
                  nullptr};
    }
    Stored(const Stored&) = delete;
    Stored& operator=(const Stored&) = delete;
    std::vector<int> p, i;
    std::vector<double> x;
    fclib_matrix matrix{};
};

TEST(WeReadWhatFclibWrites, GlobalInEveryStorageScheme) {
    const Scratch scratch;
    const Cone coulomb = Cone::second_order(3, 0.3);
    ConeProblem problem = random_problem({6, 4, {coulomb, coulomb, Cone::free(1), Cone::free(1)}});
    const ConeSolution solution = random_solution(problem);
    std::string title = "t";
    std::string description = "d";
    std::string math_info = "m";
    fclib_info info{title.data(), description.data(), math_info.data()};
    for (const int scheme : {0, -1, -2}) {
        SCOPED_TRACE(scheme);
        const Dense H = transposed_H(problem);
        Dense mass = dense_mass(problem);
        mass = Dense(0.5 * (mass + mass.transpose()));
        Stored M(mass, scheme);
        Stored contacts(H.leftCols(6), scheme);
        Stored G(H.rightCols(2), scheme);
        std::vector<double> mu = {0.3, 0.3};
        std::vector<double> f(problem.f.begin(), problem.f.end());
        std::vector<double> w(problem.w.begin(), problem.w.begin() + 6);
        std::vector<double> b(problem.w.begin() + 6, problem.w.end());
        fclib_global theirs{&M.matrix, &contacts.matrix, &G.matrix, mu.data(), f.data(),
                            b.data(),  w.data(),         3,         &info};
        const auto path = scratch.file(std::to_string(scheme) + ".hdf5");
        ASSERT_EQ(fclib_write_global(&theirs, path.c_str()), 1);
        ConeSolution copy = solution;
        std::vector<double> multipliers(copy.r.begin() + 6, copy.r.end());
        fclib_solution stored{copy.v.data(), copy.u.data(), copy.r.data(), multipliers.data()};
        ASSERT_EQ(fclib_write_solution(&stored, path.c_str()), 1);
        ASSERT_EQ(fclib_write_guesses(1, &stored, path.c_str()), 1);

        const ProblemFile ours = read_problem(path);
        expect_agreement(theirs, ours.problem);
        EXPECT_EQ(ours.math_info, "m");
        ASSERT_TRUE(ours.solution);
        ASSERT_EQ(ours.guesses.size(), 1U);
        EXPECT_EQ(ours.solution->r, solution.r);
        EXPECT_EQ(ours.solution->v, solution.v);
        EXPECT_EQ(ours.solution->u.head(6), solution.u.head(6));
        EXPECT_LT(
            (ours.solution->u.tail(2) - H.rightCols(2).transpose() * solution.v - problem.w.tail(2)).norm(),
            1e-14);
        EXPECT_EQ(ours.guesses[0].r, solution.r);
    }
}

TEST(WeReadWhatFclibWrites, LocalInEveryStorageScheme) {
    const Scratch scratch;
    const ConeProblem problem = random_local(3, 2);
    const Dense A = std::get<SparseInverseMass>(problem.only().mass).inverse;
    for (const int scheme : {0, -1, -2}) {
        SCOPED_TRACE(scheme);
        Stored W(A.topLeftCorner(9, 9), scheme);
        Stored V(A.topRightCorner(9, 2), scheme);
        Stored R(A.bottomRightCorner(2, 2), scheme);
        std::vector<double> mu = {0, 0.1, 0.2};
        std::vector<double> q(problem.w.begin(), problem.w.begin() + 9);
        std::vector<double> s(problem.w.begin() + 9, problem.w.end());
        fclib_local theirs{&W.matrix, &V.matrix, &R.matrix, mu.data(), q.data(), s.data(), 3, nullptr};
        const auto path = scratch.file(std::to_string(scheme) + ".hdf5");
        ASSERT_EQ(fclib_write_local(&theirs, path.c_str()), 1);
        const ProblemFile ours = read_problem(path);
        expect_agreement(theirs, ours.problem);
        EXPECT_EQ(ours.title, "");
    }
}

TEST(BothReadTheSame, Data) {
    DRYSTONE_NEEDS_DATA("fclib");
    int compared = 0;
    for (const auto& entry : std::filesystem::directory_iterator(testing::data_file("fclib"))) {
        SCOPED_TRACE(entry.path().filename());
        const ProblemFile ours = read_problem(entry.path());
        if (ours.kind == ProblemKind::global_rolling)
            continue;                              // FCLib's library in Debian does not know these
        if (ours.problem.dofs() > 3000) continue;  // compared as dense matrices
        expect_same_file(entry.path(), ours);
        ++compared;
    }
    EXPECT_EQ(compared, 7);
}

}  // namespace
}  // namespace drystone
