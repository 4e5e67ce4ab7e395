// The cases of dense flow by finite elements, and how they are held against what is known.
#pragma once

#include "flow.hpp"

#include <string>

namespace drystone::validation {

/// Says whether figures are within their bounds; main ends with 1 if one is not.
class Bounds {
public:
    void expect(bool holds, const std::string& what);
    void expect_near(double value, double expected, double tolerance, const std::string& what);
    /// Every solve must end by its tolerance.
    void expect_solved(const Flow& flow, const std::string& what);
    [[nodiscard]] int failed() const { return failed_; }

private:
    int failed_ = 0;
};

/// One viscosity at all points.
Numbers uniform_viscosity(const TriangleMesh& mesh, double viscosity);

/// Small meshes: the algebra, the library's solvers and its referee, closed boxes, the associated law.
void run_checks(Bounds& bounds);
/// Bingham-Poiseuille on so many meshes, the coarsest first.
void run_channel(int meshes, Bounds& bounds);
/// A layer on a rough slope.
void run_bagnold(int meshes, Bounds& bounds);
/// A disk in a channel. `folder`: where VTK files go; empty: none.
void run_cylinder(const std::string& folder, Bounds& bounds);

}  // namespace drystone::validation
