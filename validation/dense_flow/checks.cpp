// Small meshes: what must hold of the algebra, and flows whose solution is known without solving.
#include "cases.hpp"
#include "drystone/solve/solve.hpp"

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace drystone::validation {

namespace {

constexpr FlowOptions precise{.tolerance = 1e-9, .max_iterations = 100000};

/// A material in the unit square, viscosity 1, with 0 velocity at the sides that `held` names.
struct Square {
    TriangleMesh mesh;
    FlowSetup setup;
};

void fill_square(int rows, const Material& material, std::function<Vec<2>(const Vec<2>&)> force, bool closed,
                 Square& square) {
    square.mesh = rectangle({0, 0}, {1, 1}, rows, rows);
    FlowSetup& s = square.setup;
    s.mesh = &square.mesh;
    s.material = material;
    s.viscosity = uniform_viscosity(square.mesh, 1);
    s.force = std::move(force);
    s.held = [closed](Side side) {
        const bool rough = closed || side == Side::bottom;
        return std::array<bool, 2>{rough, rough};
    };
}

Vec<2> slanting(const Vec<2>& /*x*/) { return {0.7, -0.6}; }

/// W is symmetric, and a projector: as many eigenvalues 1 as there are velocities, all others 0.
void check_delassus(Bounds& bounds) {
    Square square;
    fill_square(2, {.mu = 0.5}, slanting, false, square);
    // Viscosities from 1 to 100: the scales must take them out.
    for (Index q = 0; q < square.setup.viscosity.size(); ++q) square.setup.viscosity[q] = std::pow(10, q % 3);
    const FlowProblem problem = assemble(square.setup);
    const Eigen::MatrixXd W = dense_delassus(problem);
    const double asymmetry = (W - W.transpose()).cwiseAbs().maxCoeff();
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(0.5 * (W + W.transpose()));
    const Numbers& values = eigen.eigenvalues();
    const Index velocities = static_cast<Index>(problem.A.rows()),
                zeros = static_cast<Index>(W.rows()) - velocities;
    const double from_zero = values.head(zeros).cwiseAbs().maxCoeff(),
                 from_one = (values.tail(velocities).array() - 1).abs().maxCoeff();
    fmt::print(
        "| W of {} points, {} velocities: asymmetry | {:.1e} |\n"
        "| its least eigenvalue | {:.1e} |\n"
        "| its eigenvalues, from 0 or 1 | {:.1e} |\n",
        problem.points(), velocities, asymmetry, values.minCoeff(), std::max(from_zero, from_one));
    bounds.expect(asymmetry < 1e-12, "W is not symmetric");
    bounds.expect(values.minCoeff() > -1e-12, "W is not positive semi-definite");
    bounds.expect(from_zero < 1e-12 && from_one < 1e-12, "W is no projector");
}

/// The same flow by the library, from the same data: its referee judges ours, its solvers find the same velocities.
void check_library(Bounds& bounds) {
    Square square;
    fill_square(3, {.mu = 0.3, .yield = 0.02}, slanting, false, square);
    const FlowProblem problem = assemble(square.setup);
    Flow flow;
    solve(problem, precise, flow);
    bounds.expect_solved(flow, "square");
    const ConeProblem cone = as_cone_problem(problem);
    const Delassus W(cone);
    const ConeSolution ours = W.complete(Vector(problem.scaled(flow.stress)));
    const double judged = judge(W, ours, Law::coulomb).value;
    fmt::print("| our flow, by the library's referee | {:.1e} |\n", judged);
    bounds.expect(judged < 1e-7, fmt::format("the referee calls our flow wrong by {:.1e}", judged));
    for (const char* name : {"aspg", "newton"}) {
        SolveSettings settings;
        settings.solver = find_solver(name)->options;
        settings.goal.tolerance = 1e-8;
        ConeSolution theirs;
        const SolveReport report = solve(W, settings, theirs);
        const double difference =
            (theirs.v - ours.v).lpNorm<Eigen::Infinity>() / ours.v.lpNorm<Eigen::Infinity>();
        fmt::print("| the library's {}: status, largest difference of velocity | {}, {:.1e} |\n", name,
                   name_of(report.status), difference);
        bounds.expect(report.status == Status::solved, fmt::format("{}: {}", name, report.message));
        bounds.expect(difference < 1e-6, fmt::format("{}: another velocity, by {:.1e}", name, difference));
    }
}

/// psi = (x (1 - x) y (1 - y))^2 as a stream function.
struct Stokes {
    static double hump(double x) { return x * x * (1 - x) * (1 - x); }
    static double hump1(double x) { return 2 * x - 6 * x * x + 4 * x * x * x; }
    static double hump2(double x) { return 2 - 12 * x + 12 * x * x; }
    static double hump3(double x) { return -12 + 24 * x; }
    static Vec<2> velocity(const Vec<2>& x) { return {hump(x[0]) * hump1(x[1]), -hump1(x[0]) * hump(x[1])}; }
    /// -laplacian of the velocity + grad(x^2 y).
    static Vec<2> force(const Vec<2>& x) {
        const double a = x[0], b = x[1];
        return {-hump2(a) * hump1(b) - hump(a) * hump3(b) + 2 * a * b,
                hump3(a) * hump(b) + hump1(a) * hump2(b) + a * a};
    }
};

double largest_speed(const Flow& flow) { return flow.velocity.lpNorm<Eigen::Infinity>(); }

/// Velocity 0 on the whole boundary: nothing can open anywhere.
void check_closed(Bounds& bounds) {
    const auto potential = [](const Vec<2>& x) { return Vec<2>(2 * x[0] * x[1], x[0] * x[0]); };
    {
        Square square;
        fill_square(4, {}, potential, true, square);
        Flow flow;
        solve(assemble(square.setup), precise, flow);
        fmt::print("| closed box, mu = 0, potential force: largest velocity | {:.1e} |\n",
                   largest_speed(flow));
        bounds.expect_solved(flow, "closed box, mu = 0");
        bounds.expect(largest_speed(flow) < 1e-9, "closed box: a potential force moves it");
    }
    double before = 0;
    for (const int rows : {4, 8, 16}) {
        Square square;
        fill_square(rows, {}, Stokes::force, true, square);
        Flow flow;
        solve(assemble(square.setup), precise, flow);
        double error = 0, speed = 0;
        for (Index k = 0; k < square.mesh.nodes(); ++k) {
            const Vec<2> exact = Stokes::velocity(square.mesh.node[k]);
            error = std::max(error, (flow.velocity.segment<2>(2 * k) - exact).norm());
            speed = std::max(speed, exact.norm());
        }
        error /= speed;
        fmt::print("| closed box, mu = 0, {} rows: Stokes flow, largest relative error | {:.1e}{} |\n", rows,
                   error, before > 0 ? fmt::format(" (order {:.2f})", std::log2(before / error)) : "");
        bounds.expect_solved(flow, "Stokes");
        if (before > 0) bounds.expect(std::log2(before / error) > 2.4, "Stokes: order below 2.4");
        before = error;
    }
    for (const double mu : {0.1, 0.5}) {
        Square square;
        fill_square(4, {.mu = mu}, Stokes::force, true, square);
        Flow flow;
        FlowOptions options = precise;
        options.pass_fraction =
            0;  // passes end precisely: with half a solution the first would leave this solution
        solve(assemble(square.setup), options, flow);
        bounds.expect_solved(flow, fmt::format("closed box, mu = {:g}", mu));
        fmt::print("| closed box, mu = {:g}, the same force: largest velocity | {:.1e} (mu = 0: {:.1e}) |\n",
                   mu, largest_speed(flow), Stokes::velocity({0.5, 0.21}).norm());
        bounds.expect(largest_speed(flow) < 1e-6, fmt::format("closed box, mu = {:g}: flows", mu));
    }
}

/// zeta = mu: one convex problem, and a stress that does no work.
void check_associated(Bounds& bounds) {
    Square square;
    fill_square(4, {.mu = 0.5, .dilatancy = 1}, slanting, false, square);
    Flow flow;
    solve(assemble(square.setup), precise, flow);
    double power = 0, size = 0;
    for (Index t = 0; t < square.mesh.triangles(); ++t) {
        for (Index q = 3 * t; q < 3 * t + 3; ++q) {
            const Vec<3> rate = flow.strain.segment<3>(3 * q), stress = flow.stress.segment<3>(3 * q);
            power += square.mesh.area(t) * rate.dot(stress);
            size += square.mesh.area(t) * rate.norm() * stress.norm();
        }
    }
    fmt::print("| associated law: passes | {} |\n| its power over the sum of |rate| |stress| | {:.1e} |\n",
               flow.passes, std::abs(power) / size);
    bounds.expect_solved(flow, "associated law");
    bounds.expect(flow.passes == 1, fmt::format("associated law: {} passes", flow.passes));
    bounds.expect(size > 0 && std::abs(power) < 1e-7 * size, "associated law: the stress works");
    bounds.expect(largest_speed(flow) > 1e-3, "associated law: nothing flows");
}

}  // namespace

void run_checks(Bounds& bounds) {
    fmt::print("\n| small meshes | |\n|---|---|\n");
    check_delassus(bounds);
    check_library(bounds);
    check_closed(bounds);
    check_associated(bounds);
}

}  // namespace drystone::validation
