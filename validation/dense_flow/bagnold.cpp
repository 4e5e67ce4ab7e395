// A layer of thickness 1 on a rough slope, cohesionless, friction mu: it flows if tan(slope) > mu, with the viscosity
// constant as a parabola, with the viscosity |D(u)| = u'/2 as Bagnold's profile.
//
//     S = sin(slope) - mu cos(slope):   u = S / eta (y - y^2/2),   u = 2/3 sqrt(2 S) (1 - (1 - y)^(3/2))
#include "cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace drystone::validation {

namespace {

constexpr double friction = 0.5;

struct Slope {
    TriangleMesh mesh;
    FlowSetup setup;
    double sine = 0, cosine = 0;
};

/// A square patch of the layer; the layer's stress acts on the cuts at its ends.
void fill_slope(double tangent, int rows, Slope& slope) {
    slope.mesh = rectangle({0, 0}, {1, 1}, rows, rows);
    slope.cosine = 1 / std::sqrt(1 + tangent * tangent);
    slope.sine = tangent * slope.cosine;
    FlowSetup& s = slope.setup;
    s.mesh = &slope.mesh;
    s.material.mu = friction;
    s.viscosity = uniform_viscosity(slope.mesh, 1);
    s.force = [g = Vec<2>(slope.sine, -slope.cosine)](const Vec<2>&) { return g; };
    s.traction = [g = Vec<2>(slope.cosine, -slope.sine)](Side side, const Vec<2>& x) -> Vec<2> {
        if (side == Side::left) return (1 - x[1]) * g;
        if (side == Side::right) return -(1 - x[1]) * g;
        return Vec<2>::Zero();
    };
    s.held = [](Side side) { return std::array<bool, 2>{side == Side::bottom, side == Side::bottom}; };
}

struct Profile {
    double top = 0;       ///< mean velocity along x at the free surface
    double slope = 0;     ///< mean du/dy at the bottom
    double exponent = 0;  ///< of 1 - y in u(1) - u(y), from what is at least 0.1 below the surface
    double largest = 0;   ///< largest difference of a node's velocity from the closed form
    double pressure = 0;  ///< of a point's pressure from hydrostatic
};

template <class Exact>
Profile profile_of(const Slope& layer, const Flow& flow, Exact&& exact) {
    const TriangleMesh& mesh = layer.mesh;
    Profile p;
    double top = 0, bottom = 0;
    for (const BoundaryEdge& edge : mesh.boundary) {
        const double length = (mesh.node[edge.end] - mesh.node[edge.begin]).norm();
        if (edge.side == Side::top) {
            p.top += length * flow.velocity[2 * edge.middle];
            top += length;
        } else if (edge.side == Side::bottom) {
            Vec<3> at = Vec<3>::Zero();
            for (int k = 0; k < 3; ++k) {
                const Index corner = mesh.triangle[edge.triangle][k];
                if (corner == edge.begin || corner == edge.end) at[k] = 0.5;
            }
            p.slope += length * velocity_gradient_at(mesh, flow, edge.triangle, at)(0, 1);
            bottom += length;
        }
    }
    p.top /= top;
    p.slope /= bottom;
    // A straight line through the logarithms, by least squares.
    double count = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (Index k = 0; k < mesh.nodes(); ++k) {
        const double depth = 1 - mesh.node[k][1];
        const Vec<2> v = flow.velocity.segment<2>(2 * k);
        p.largest = std::max(p.largest, (v - Vec<2>(exact(mesh.node[k][1]), 0)).norm());
        if (depth < 0.1 - 1e-9 || v[0] >= p.top) continue;
        const double a = std::log(depth), b = std::log(p.top - v[0]);
        count += 1;
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    p.exponent = (count * xy - x * y) / (count * xx - x * x);
    for (Index q = 0; q < 3 * mesh.triangles(); ++q) {
        const double depth = 1 - mesh.point(q / 3, gauss_points()[q % 3].at)[1];
        p.pressure = std::max(p.pressure, std::abs(flow.pressure(q) - depth * layer.cosine));
    }
    return p;
}

void print_profile(int rows, const Profile& p, const Flow& flow, int picard, int iterations) {
    fmt::print("| {} | {:.6f} | {:.5f} | {:.4f} | {:.1e} | {:.1e} | {} | {} | {:.1e} |\n", rows, p.top,
               p.slope, p.exponent, p.largest, p.pressure, picard, iterations, flow.residual);
    std::fflush(stdout);
}

constexpr const char* header =
    "| rows | u(1) | u'(0) | exponent | error, largest | error of pressure | solves | iterations | residual "
    "|\n"
    "|---|---|---|---|---|---|---|---|---|\n";
constexpr FlowOptions precise{.tolerance = 1e-8, .max_passes = 1000, .max_iterations = 100000};
/// At tan(slope) = mu the whole layer is at its yield and friction alone decides: the fixed point creeps.
constexpr FlowOptions critical{.tolerance = 1e-8, .max_passes = 200, .max_iterations = 100000};

void constant_viscosity(const std::vector<int>& meshes, Bounds& bounds) {
    fmt::print(
        "\nLayer on a slope, constant viscosity 1: u(1) = 0.021905, u'(0) = 0.043810, exponent 2\n\n{}",
        header);
    for (const int rows : meshes) {
        Slope layer;
        fill_slope(0.55, rows, layer);
        const double drive = layer.sine - friction * layer.cosine;
        Flow flow;
        solve(assemble(layer.setup), precise, flow);
        const Profile p = profile_of(layer, flow, [&](double y) { return drive * (y - y * y / 2); });
        print_profile(rows, p, flow, 1, flow.iterations);
        bounds.expect_solved(flow, "parabola");
        bounds.expect_near(p.top, 0.021905, 1e-6, "parabola: velocity at the surface");
        bounds.expect_near(p.exponent, 2, 1e-3, "parabola: exponent");
        bounds.expect(p.largest < 1e-6 && p.pressure < 1e-4, "parabola: velocities or pressures");
    }
}

/// What happens to the fixed point without damping (FlowOptions::relaxation).
void undamped() {
    Slope layer;
    fill_slope(0.55, 4, layer);
    FlowOptions options = critical;
    options.relaxation = 1;
    Flow flow;
    solve(assemble(layer.setup), options, flow);
    fmt::print("\nUndamped, 4 rows: residual {:.1e} after {} passes\n", flow.residual, flow.passes);
}

/// Viscosity and flow in turns. eta' = |D| itself would go to and fro for ever, as |D| = c / eta; the mean of both is
/// Newton's iteration for the root of c.
void bagnold(const std::vector<int>& meshes, Bounds& bounds) {
    fmt::print("\nBagnold, viscosity |D(u)|: u(1) = 0.19734, u'(0) = 0.29601, exponent 1.5\n\n{}", header);
    for (const int rows : meshes) {
        Slope layer;
        fill_slope(0.55, rows, layer);
        const double drive = layer.sine - friction * layer.cosine;
        Flow flow;
        int solves = 0, iterations = 0;
        for (double change = 1; change > 1e-6 && solves < 50; ++solves) {
            solve(assemble(layer.setup), precise, flow);
            iterations += flow.iterations;
            change = 0;
            for (Index q = 0; q < layer.setup.viscosity.size(); ++q) {
                double& viscosity = layer.setup.viscosity[q];
                const double next = 0.5 * (viscosity + flow.shear_rate(q));
                change = std::max(change, std::abs(next - viscosity));
                viscosity = next;
            }
        }
        const Profile p = profile_of(layer, flow, [&](double y) {
            return 2.0 / 3 * std::sqrt(2 * drive) * (1 - std::pow(1 - y, 1.5));
        });
        print_profile(rows, p, flow, solves, iterations);
        bounds.expect_solved(flow, "Bagnold");
        // The surface, where u'' is infinite, costs h^(3/2) there.
        const double close = std::pow(rows, -1.5);
        bounds.expect_near(p.top, 0.19734, 0.004 * close, "Bagnold: velocity at the surface");
        bounds.expect_near(p.slope, 0.29601, 0.005 * close, "Bagnold: shear at the bottom");
        bounds.expect_near(p.exponent, 1.5, 0.1 * close, "Bagnold: exponent");
    }
}

void no_flow(int rows, const std::vector<double>& tangents, Bounds& bounds) {
    fmt::print(
        "\nThe same slope where tan(slope) <= mu = 0.5, constant viscosity 1\n\n"
        "| tan(slope) | largest velocity | passes | iterations | residual |\n|---|---|---|---|---|\n");
    for (const double tangent : tangents) {
        Slope layer;
        fill_slope(tangent, rows, layer);
        Flow flow;
        const bool is_critical = tangent == friction;
        solve(assemble(layer.setup), is_critical ? critical : precise, flow);
        const double largest = flow.velocity.lpNorm<Eigen::Infinity>();
        fmt::print("| {:g} | {:.1e} | {} | {} | {:.1e} |\n", tangent, largest, flow.passes, flow.iterations,
                   flow.residual);
        std::fflush(stdout);
        if (!is_critical) bounds.expect_solved(flow, fmt::format("slope of {:g}", tangent));
        bounds.expect(largest < (is_critical ? 1e-3 : 1e-6),
                      fmt::format("slope of {:g}: flows at {:.1e}", tangent, largest));
    }
}

}  // namespace

void run_bagnold(int meshes, Bounds& bounds) {
    std::vector<int> rows;
    for (int k = 0; k < meshes; ++k) rows.push_back(4 << k);
    constant_viscosity(rows, bounds);
    bagnold(rows, bounds);
    if (meshes == 1) return no_flow(4, {0.49, 0.2}, bounds);
    undamped();
    no_flow(8, {0.5, 0.49, 0.45, 0.4, 0.2}, bounds);
}

}  // namespace drystone::validation
