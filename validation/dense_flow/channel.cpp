// Bingham-Poiseuille flow: a yield-stress material under its weight between two walls, mu = 0.
//
// Lengths are of half the width, stresses of its weight: u_x = Re/2 [(1 - Bi)^2 - max(|y| - Bi, 0)^2].
#include "cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace drystone::validation {

namespace {

constexpr double reynolds = 1;
/// On both ends alike. Without it the pressure is 0, and whether the material may also open is undecided everywhere.
constexpr double end_pressure = 1;

struct Channel {
    TriangleMesh mesh;
    FlowSetup setup;
};

/// Rows of quadrilaterals across. The yield surface cuts all these meshes at the same part of a row: orders would not
/// show otherwise, and where it ran along an edge the velocity would be exact.
const std::vector<int> rows_half{5, 9, 17, 33, 65}, rows_narrow{15, 35, 55, 75};

/// One unit long.
void fill_channel(double bingham, int rows, Channel& channel) {
    channel.mesh = rectangle({0, -1}, {1, 1}, (rows + 1) / 2, rows);
    FlowSetup& s = channel.setup;
    s.mesh = &channel.mesh;
    s.material.yield = bingham;
    s.viscosity = uniform_viscosity(channel.mesh, 1 / reynolds);
    s.force = [](const Vec<2>&) { return Vec<2>(1, 0); };
    s.traction = [](Side side, const Vec<2>&) {
        return Vec<2>(side == Side::left ? end_pressure : side == Side::right ? -end_pressure : 0, 0);
    };
    s.held = [](Side side) {
        const bool wall = side == Side::bottom || side == Side::top;
        return std::array<bool, 2>{wall, true};
    };
}

double speed(double bingham, double y) {
    const double beyond = std::max(std::abs(y) - bingham, 0.0);
    return reynolds / 2 * ((1 - bingham) * (1 - bingham) - beyond * beyond);
}

double shear(double bingham, double y) {
    return -reynolds * std::copysign(std::max(std::abs(y) - bingham, 0.0), y);
}

struct Errors {
    double largest = 0;   ///< of velocities at nodes
    double gradient = 0;  ///< L2 norm of the gradient's error
};

Errors errors_of(const TriangleMesh& mesh, const Flow& flow, double bingham) {
    Errors e;
    for (Index k = 0; k < mesh.nodes(); ++k) {
        const Vec<2> exact(speed(bingham, mesh.node[k][1]), 0);
        e.largest = std::max(e.largest, (flow.velocity.segment<2>(2 * k) - exact).norm());
    }
    for (Index t = 0; t < mesh.triangles(); ++t) {
        for (const QuadraturePoint& q : fine_points()) {
            Mat<2> difference = velocity_gradient_at(mesh, flow, t, q.at);
            difference(0, 1) -= shear(bingham, mesh.point(t, q.at)[1]);
            e.gradient += q.weight * mesh.area(t) * difference.squaredNorm();
        }
    }
    e.gradient = std::sqrt(e.gradient);
    return e;
}

/// The largest |y| of a point that shears less than a thousandth of the fastest shear.
double plug_half_width(const TriangleMesh& mesh, const Flow& flow) {
    double fastest = 0, width = 0;
    for (Index q = 0; q < 3 * mesh.triangles(); ++q) fastest = std::max(fastest, flow.shear_rate(q));
    for (Index q = 0; q < 3 * mesh.triangles(); ++q) {
        const double y = std::abs(mesh.point(q / 3, gauss_points()[q % 3].at)[1]);
        if (flow.shear_rate(q) < 1e-3 * fastest) width = std::max(width, y);
    }
    return width;
}

}  // namespace

void run_channel(int meshes, Bounds& bounds) {
    for (const double bingham : {0.5, 0.9}) {
        const double plug = speed(bingham, 0), mean = plug * (2 + bingham) / 3;
        fmt::print(
            "\nBingham-Poiseuille, Bi = {:g}: plug velocity {:.6g}, plug half width {:g}, mean {:.6g}\n\n",
            bingham, plug, bingham, mean);
        fmt::print(
            "| rows | triangles | plug velocity | plug half width | mean | error, largest | order | "
            "error, gradient | order | passes | iterations | residual |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
        Errors before;
        int rows_before = 0;
        // The narrow flow begins with a finer mesh.
        const bool narrow = bingham == 0.9;
        for (int k = 0; k < (narrow ? meshes - 1 : meshes); ++k) {
            const int rows = narrow ? rows_narrow[k] : rows_half[k];
            Channel channel;
            fill_channel(bingham, rows, channel);
            const FlowProblem problem = assemble(channel.setup);
            Flow flow;
            solve(problem, {.tolerance = 1e-8, .max_iterations = 100000}, flow);
            const Errors e = errors_of(channel.mesh, flow, bingham);
            double fastest = 0;
            for (Index n = 0; n < channel.mesh.nodes(); ++n)
                fastest = std::max(fastest, flow.velocity[2 * n]);
            const double found_mean = mean_outflow(channel.mesh, flow, Side::right),
                         width = plug_half_width(channel.mesh, flow);
            const auto order = [&](double now, double then) {
                return rows_before == 0 ? std::string("-")
                                        : fmt::format("{:.2f}", std::log(then / now) /
                                                                    std::log(double(rows) / rows_before));
            };
            fmt::print(
                "| {} | {} | {:.6g} | {:.3f} | {:.6g} | {:.2e} | {} | {:.2e} | {} | {} | {} | {:.1e} |\n",
                rows, channel.mesh.triangles(), fastest, width, found_mean, e.largest,
                order(e.largest, before.largest), e.gradient, order(e.gradient, before.gradient), flow.passes,
                flow.iterations, flow.residual);
            std::fflush(stdout);
            bounds.expect_solved(flow, fmt::format("channel Bi = {:g}, {} rows", bingham, rows));
            if (rows_before > 0) {
                const double finer = std::log(double(rows) / rows_before);
                bounds.expect_near(std::log(before.largest / e.largest) / finer, 2, 0.1,
                                   "order of velocities");
                bounds.expect_near(std::log(before.gradient / e.gradient) / finer, 1.5, 0.1,
                                   "order of gradients");
            }
            // All these figures are off by the yield surface's row of triangles.
            const double row = 2.0 / rows;
            bounds.expect_near(fastest, plug, 0.05 * row * row, "plug velocity");
            bounds.expect_near(found_mean, mean, 0.05 * row * row, "mean velocity");
            bounds.expect_near(width, bingham, 0.3 * row, "plug half width");
            before = e;
            rows_before = rows;
        }
    }
}

}  // namespace drystone::validation
