// Compliance in problem files: kept to the bit, in the file's order of rows, and absent from files of rigid problems.
#include "drystone/base/error.hpp"
#include "drystone/cone/judge.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/problems/problem_file.hpp"
#include "solve/compliant_problems.hpp"
#include "support/scratch.hpp"

#include <gtest/gtest.h>

using namespace drystone;
using namespace drystone::testing;

namespace {

/// Contacts, and a joint in front of and between them.
ConeProblem with_joints() {
    ConeProblem p = random_bodies({.bodies = 4, .contacts = 6, .seed = 3}, [](int k) {
        return k % 3 == 0 ? Cone::free(3) : Cone::second_order(3, 0.3);
    });
    p.compliance = random_compliance(p, 2, 1e-4, 1);
    return p;
}

/// The rows of p in the file's order: contacts first.
std::vector<Index> file_order(const ConeProblem& p) {
    std::vector<Index> rows;
    for (const bool bilateral : {false, true}) {
        for (Index i = 0; i < p.blocks(); ++i) {
            if ((p.cones[i].kind == ConeKind::free) != bilateral) continue;
            for (Index row = p.offset[i]; row < p.offset[i + 1]; ++row) rows.push_back(row);
        }
    }
    return rows;
}

Vector some_impulses(Index size) {
    Vector r(size);
    for (Index k = 0; k < size; ++k) r[k] = std::sin(1.0 + 3.7 * k);
    return r;
}

void expect_kept(const ConeProblem& p) {
    const Scratch scratch;
    ProblemFile file;
    file.problem = p;
    file.solution = Delassus(p).complete(some_impulses(p.rows()));
    write_problem(scratch.file("p.hdf5"), file);
    const ProblemFile back = read_problem(scratch.file("p.hdf5"));
    const std::vector<Index> rows = file_order(p);
    ASSERT_EQ(back.problem.compliance.size(), p.rows());
    for (Index k = 0; k < p.rows(); ++k) EXPECT_EQ(back.problem.compliance[k], p.compliance[rows[k]]);
    // The solution came with it and is as consistent as it was: u = H v + w + C r.
    for (Index k = 0; k < p.rows(); ++k)
        EXPECT_NEAR(back.solution->u[k], file.solution->u[rows[k]], 1e-13 * file.solution->u.norm());
    EXPECT_LT(judge(back.problem, *back.solution, Law::coulomb).momentum, 1e-13);
}

}  // namespace

TEST(ProblemCompliance, OfBodiesIsKept) { expect_kept(with_joints()); }

TEST(ProblemCompliance, OfADelassusMatrixIsKept) {
    ConeProblem bodies = with_joints();
    const Vector C = bodies.compliance;
    bodies.compliance.resize(0);
    const Delassus W(bodies);
    std::vector<Cone> cones;
    for (const Cone& cone : bodies.cones) {
        if (cone.kind == ConeKind::free) {
            cones.insert(cones.end(), 3, Cone::free(1));
        } else {
            cones.push_back(cone);
        }
    }
    ConeProblem p = explicit_problem(dense(W), W.b(), cones);
    p.compliance = C;
    expect_kept(p);
}

TEST(ProblemCompliance, RigidFilesHaveNone) {
    const Scratch scratch;
    ProblemFile file;
    file.problem = with_joints();
    file.problem.compliance.resize(0);
    write_problem(scratch.file("p.hdf5"), file);
    EXPECT_FALSE(hdf5::File::open(scratch.file("p.hdf5")).root().exists("fclib_global/vectors/compliance"));
    EXPECT_EQ(read_problem(scratch.file("p.hdf5")).problem.compliance.size(), 0);
}

/// The shift before the step, and pulls of cohesion.
TEST(ProblemNumbersOfContacts, AreKept) {
    for (Vector ConeProblem::*const numbers : {&ConeProblem::shift_before, &ConeProblem::pull}) {
        const Scratch scratch;
        ProblemFile file;
        file.problem = with_joints();
        Vector& ours = file.problem.*numbers;
        EXPECT_EQ(ours.size(), 0);
        write_problem(scratch.file("p.hdf5"), file);
        EXPECT_EQ((read_problem(scratch.file("p.hdf5")).problem.*numbers).size(), 0);
        ours.setZero(file.problem.blocks());
        std::vector<double> expected;
        for (Index i = 0; i < file.problem.blocks(); ++i) {
            if (file.problem.cones[i].kind == ConeKind::free) continue;
            ours[i] = 0.1 * (i + 1);
            expected.push_back(ours[i]);
        }
        write_problem(scratch.file("p.hdf5"), file);
        const ConeProblem back = read_problem(scratch.file("p.hdf5")).problem;
        ASSERT_EQ((back.*numbers).size(), back.blocks());
        expected.resize(back.blocks(), 0.0);  // joints, row by row, come last
        for (Index i = 0; i < back.blocks(); ++i) EXPECT_EQ((back.*numbers)[i], expected[i]);
        ours[1] = -1;
        EXPECT_THROW(write_problem(scratch.file("p.hdf5"), file), Error);
        ours.setZero(3);
        EXPECT_THROW(write_problem(scratch.file("p.hdf5"), file), Error);
    }
}

TEST(ProblemDilatancy, IsKeptWhereThereIsAny) {
    const Scratch scratch;
    ProblemFile file;
    file.problem = with_joints();
    write_problem(scratch.file("p.hdf5"), file);
    EXPECT_FALSE(hdf5::File::open(scratch.file("p.hdf5")).root().exists("fclib_global/vectors/dilatancy"));
    std::vector<double> expected;
    for (Cone& cone : file.problem.cones) {
        if (cone.kind == ConeKind::free) continue;
        cone.dilatancy = 0.1 * static_cast<double>(expected.size());
        expected.push_back(cone.dilatancy);
    }
    write_problem(scratch.file("p.hdf5"), file);
    const ConeProblem back = read_problem(scratch.file("p.hdf5")).problem;
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(back.cones[i].dilatancy, expected[i]);
    file.problem.cones[1].dilatancy = 1.5;
    EXPECT_THROW(write_problem(scratch.file("p.hdf5"), file), Error);
}

TEST(ProblemCompliance, BadNumbersAreRefused) {
    const Scratch scratch;
    ProblemFile file;
    file.problem = with_joints();
    file.problem.compliance[3] = -1;
    try {
        write_problem(scratch.file("p.hdf5"), file);
        FAIL() << "a negative compliance was written";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("compliance"), std::string::npos) << error.what();
    }
}
