// Settles spheres (sizes within 10 %, friction 0.5) and writes the contact problem of one more step, with no start, as
// a problem file.
//
//     make_settled FILE cube GRAINS [SEED (7)]            between walls, as high as wide
//     make_settled FILE column LAYERS [SEED (7)] [SIDE (10)]   SIDE x SIDE grains a layer, periodic sides: 25 layers
//     settle to 17 diameters
//
// Last line: contacts N.
#include "common/settled.hpp"
#include "drystone/base/error.hpp"
#include "drystone/problems/problem_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
    using namespace drystone;
    const std::string kind = argc > 3 ? argv[2] : "";
    const Index size = argc > 3 ? std::atoi(argv[3]) : 0;
    if ((kind != "cube" && kind != "column") || size < 1) {
        fmt::print("usage: make_settled FILE cube GRAINS [SEED] | FILE column LAYERS [SEED] [SIDE]\n");
        return 2;
    }
    try {
        BoxShape shape;
        shape.seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 7;
        shape.periodic = kind == "column";
        shape.side = shape.periodic ? (argc > 5 ? std::atoi(argv[5]) : 10)
                                    : static_cast<Index>(std::max(1.0, std::round(std::cbrt(size))));
        shape.layers = shape.periodic ? size : shape.side;
        const double diameter = 0.0981;  // 0.01 sqrt(d / g) is then 1e-3 s, the step
        Scene<3> scene = box_of_grains(GrainKind::spheres, shape, diameter);
        StepMemory<3> memory;
        settle(scene, memory);
        StepOptions options;
        options.h = 1e-3;
        options.account = false;
        options.solve.threads = 0;  // all
        options.solve.goal.tolerance = 1e-3;
        options.solve.solver = BriefOptions::strict();
        constexpr int steps = 20;  // friction takes hold
        for (int k = 0; k < steps; ++k) {
            // What the steps before left of overlaps (1e-7 radii and more) would be pushed out: many times the weight,
            // in a jammed packing.
            if (k == steps - 1) options.drift = Drift::clamp;
            const StepRecord record = step(scene, options, memory);
            if (k % 5 == 4)
                fmt::print("step {}: residual {:.1e}, overlap {:.1e} radii\n", k + 1,
                           record.solve.residual.value, record.relative_overlap);
        }
        ProblemFile file;
        file.problem = memory.assembled.problem;
        file.title = fmt::format("{} settled spheres, {} {}", scene.bodies.count(), kind, size);
        file.description = "made by make_settled: one step of gravity";
        write_problem(argv[1], file);
        double top = 0;
        for (Index i = 0; i < scene.bodies.count(); ++i)
            if (scene.bodies.is_free(i)) top = std::max(top, scene.bodies.position[i].z());
        fmt::print("{} bodies, {:.1f} diameters deep\ncontacts {}\n", scene.bodies.count(),
                   top / diameter + 0.5, file.problem.blocks());
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
    return 0;
}
