// Problems whose numbers are beyond what residuals can be computed of are refused: a mass of 1e-300 kg once was
// "solved" with a residual of 0.

#include "drystone/cone/problem.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace drystone {
namespace {

/// A point that rests on the ground.
ConeProblem one_point() {
    ConeProblem p;
    p.only().dim = 3;
    p.only().count = 1;
    p.only().mass = BlockInverseMass{{0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5}};
    p.f = Vector::Zero(3);
    p.add_block(Cone::second_order(3, 0.3));
    p.add_entry(0, std::array<double, 9>{1, 0, 0, 0, 1, 0, 0, 0, 1});
    p.w = Vector::Zero(3);
    p.compliance = Vector::Zero(3);
    return p;
}

std::string faults_of(const ConeProblem& p) {
    std::string all;
    for (const std::string& fault : find_faults(p)) all += fault + "\n";
    return all;
}

template <class F>
std::string faults_after(F change) {
    ConeProblem p = one_point();
    change(p);
    return faults_of(p);
}

void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Faults, NothingAtAllHasNone) {
    ConeProblem p;
    p.only().dim = 1;
    p.only().mass = SparseMass{};
    EXPECT_EQ(faults_of(p), "");
}

TEST(Faults, BlocksThatAreVisitedElsewhereComeAfterTheLastTile) {
    ConeProblem p = one_point();
    p.add_block(Cone::second_order(3, 0.3));
    p.add_entry(0, std::array<double, 9>{1, 0, 0, 0, 1, 0, 0, 0, 1});
    p.w = p.compliance = Vector::Zero(6);
    p.tiling = {{1, 0}, {0, 1}, {0, 1}};
    EXPECT_EQ(find_faults(p, std::array<std::uint8_t, 2>{0, 1}).size(), 0U);
    EXPECT_EQ(find_faults(p, std::array<std::uint8_t, 2>{1, 0}).size(), 1U);
    EXPECT_EQ(find_faults(p, std::array<std::uint8_t, 2>{1, 1}).size(), 1U);
    expect_part(faults_of(p), "tiling: order");
    p.tiling = {{1, 1}, {0, 1}, {0, 1}};
    EXPECT_EQ(find_faults(p, std::array<std::uint8_t, 2>{0, 1}).size(), 1U);
    p.tiling = {{1, 0}, {0, 2}, {0, 1}};
    EXPECT_EQ(faults_of(p), "");
}

TEST(Faults, ThereAreNoneInWhatIsSensible) {
    EXPECT_EQ(faults_of(one_point()), "");
    for (const double x : {1e-90, 1.0, 1e90}) {
        EXPECT_EQ(faults_after([&](ConeProblem& p) {
                      std::get<BlockInverseMass>(p.only().mass).blocks = {x, 0, 0, 0, x, 0, 0, 0, 0};
                      p.f[0] = p.w[1] = p.compliance[2] = x;
                  }),
                  "");
    }
}

TEST(Faults, MassesBeyondAllMeasure) {
    for (const double x : {1e-110, 1e-300, 5e-324, 1e101, 1e300}) {
        expect_part(
            faults_after([&](ConeProblem& p) { std::get<BlockInverseMass>(p.only().mass).blocks[4] = x; }),
            "of body 0; must be 0, or 1e-100 to 1e100");
        for (const bool inverse : {false, true}) {
            expect_part(faults_after([&](ConeProblem& p) {
                            SparseMatrix A(3, 3);
                            A.setIdentity();
                            A.coeffRef(1, 1) = x;
                            if (inverse)
                                p.only().mass = SparseInverseMass{A};
                            else
                                p.only().mass = SparseMass{A};
                        }),
                        "mass: a number is above 1e100, or one of the diagonal below 1e-100");
        }
    }
    expect_part(
        faults_after([&](ConeProblem& p) { std::get<BlockInverseMass>(p.only().mass).blocks[4] = NAN; }),
        "mass: inverse mass of body 0 is not symmetric");
}

TEST(Faults, OtherNumbersBeyondAllMeasure) {
    expect_part(faults_after([](ConeProblem& p) { p.f[1] = -1e101; }), "f: holds a number above 1e100");
    expect_part(faults_after([](ConeProblem& p) { p.w[1] = 1e300; }), "w: holds a number above 1e100");
    expect_part(faults_after([](ConeProblem& p) { p.compliance[1] = 1e200; }),
                "compliance: holds a number above 1e100");
    expect_part(faults_after([](ConeProblem& p) { p.H.value[4] = 1e200; }),
                "H: holds a number that is not finite, or");
    expect_part(faults_after([](ConeProblem& p) { p.f[1] = INFINITY; }),
                "f: holds a number that is not finite");
    expect_part(faults_after([](ConeProblem& p) { p.H.value[4] = NAN; }),
                "H: holds a number that is not finite");
}

}  // namespace
}  // namespace drystone
