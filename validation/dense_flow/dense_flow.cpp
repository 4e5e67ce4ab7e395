// Dense flow by finite elements held against closed forms: docs/dense_flow.md. Ends with 1 if a figure is out of its
// bounds.
//
//     dense_flow sample              small meshes: seconds
//     dense_flow channel             Bingham-Poiseuille
//     dense_flow bagnold             a layer on a rough slope
//     dense_flow cylinder [FOLDER]   a disk in a channel; writes VTK files into the folder
//     dense_flow all [FOLDER]
#include "cases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <string>

namespace drystone::validation {

void Bounds::expect(bool holds, const std::string& what) {
    if (holds) return;
    ++failed_;
    fmt::print("FAILED: {}\n", what);
}

void Bounds::expect_near(double value, double expected, double tolerance, const std::string& what) {
    expect(std::abs(value - expected) <= tolerance,
           fmt::format("{}: {:.8g}, not {:.8g} to {:.1g}", what, value, expected, tolerance));
}

void Bounds::expect_solved(const Flow& flow, const std::string& what) {
    expect(flow.solved, fmt::format("{}: not solved, residual {:.1e} after {} iterations", what,
                                    flow.residual, flow.iterations));
}

Numbers uniform_viscosity(const TriangleMesh& mesh, double viscosity) {
    return Numbers::Constant(3 * mesh.triangles(), viscosity);
}

}  // namespace drystone::validation

int main(int argc, char** argv) {
    using namespace drystone::validation;
    const std::string name = argc > 1 ? argv[1] : "", folder = argc > 2 ? argv[2] : "";
    const bool all = name == "all", sample = name == "sample";
    if (!all && !sample && name != "channel" && name != "bagnold" && name != "cylinder") {
        std::fprintf(stderr, "usage: dense_flow sample|channel|bagnold|cylinder|all [FOLDER]\n");
        return 2;
    }
    try {
        Bounds bounds;
        if (all || sample) run_checks(bounds);
        if (all || sample || name == "channel") run_channel(sample ? 2 : 5, bounds);
        if (all || sample || name == "bagnold") run_bagnold(sample ? 1 : 3, bounds);
        if (all || name == "cylinder") run_cylinder(folder, bounds);
        return bounds.failed() == 0 ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    }
}
