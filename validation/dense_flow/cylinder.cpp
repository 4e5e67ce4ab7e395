// A material that falls through a channel of width 1 past a disk at rest: the fields around the disk, and its drag.
//
// Lengths are of the channel's width, velocities of sqrt(g width), stresses of density g width; Re = 100. Gravity along
// x; no outside pressure upstream, and one downstream by which the flow is made slower.
#include "cases.hpp"
#include "drystone/base/error.hpp"
#include "drystone/base/timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace drystone::validation {

namespace {

constexpr double reynolds = 100, length = 2;

struct Channel {
    TriangleMesh mesh;
    FlowSetup setup;
    double diameter = 0;
};

void fill_channel(double diameter, double mu, bool rough_walls, int around, Channel& channel) {
    channel.diameter = diameter;
    channel.mesh = channel_around_disk(length, 1, diameter, around);
    FlowSetup& s = channel.setup;
    s.mesh = &channel.mesh;
    s.material.mu = mu;
    s.viscosity = uniform_viscosity(channel.mesh, 1 / reynolds);
    s.force = [](const Vec<2>&) { return Vec<2>(1, 0); };
    s.held = [rough_walls](Side side) {
        if (side == Side::left || side == Side::right) return std::array<bool, 2>{false, false};
        return std::array<bool, 2>{rough_walls || side == Side::obstacle, true};
    };
}

void press(double downstream, FlowSetup& setup) {
    setup.traction = [downstream](Side side, const Vec<2>&) {
        return Vec<2>(side == Side::right ? -downstream : 0, 0);
    };
}

/// Upstream, over the channel's width.
double mean_speed(const Channel& channel, const Flow& flow) {
    return -mean_outflow(channel.mesh, flow, Side::left);
}

// ---- fields ----

struct Fields {
    double least = infinity;  ///< pressure at any point
    double mean = 0;          ///< pressure, over the area
    double wake = 0;      ///< largest pressure within half a diameter behind the disk, as wide as half of it
    double ahead = 0;     ///< mean pressure likewise before it
    double at_front = 0;  ///< mean speed in a quarter of a diameter before it, as wide
    double front_shear = 0;        ///< mean shear rate there
    double flank_shear = 0;        ///< mean shear rate in a quarter of a diameter beside the disk
    Vec<2> peak = Vec<2>::Zero();  ///< where the mean pressure of a triangle is largest
};

Fields fields_of(const Channel& channel, const Flow& flow) {
    const TriangleMesh& mesh = channel.mesh;
    const double D = channel.diameter;
    Fields f;
    double all = 0, ahead = 0, front = 0, flank = 0, largest = 0;
    for (Index t = 0; t < mesh.triangles(); ++t) {
        const Vec<2> x = mesh.point(t, Vec<3>::Constant(1.0 / 3));
        const double area = mesh.area(t);
        double pressure = 0, shear = 0, most = 0;
        for (Index q = 3 * t; q < 3 * t + 3; ++q) {
            f.least = std::min(f.least, flow.pressure(q));
            most = std::max(most, flow.pressure(q));
            pressure += flow.pressure(q) / 3;
            shear += flow.shear_rate(q) / 3;
        }
        f.mean += area * pressure;
        all += area;
        if (pressure > largest && x[0] < 0) {
            largest = pressure;
            f.peak = x;
        }
        if (std::abs(x[1]) < D / 4 && x[0] > 0 && x[0] < D) f.wake = std::max(f.wake, most);
        if (std::abs(x[1]) < D / 4 && x[0] < 0 && x[0] > -D) {
            f.ahead += area * pressure;
            ahead += area;
        }
        if (std::abs(x[1]) < D / 8 && x[0] < 0 && x[0] > -0.75 * D) {
            f.at_front += area * velocity_at(mesh, flow, t, Vec<3>::Constant(1.0 / 3)).norm();
            f.front_shear += area * shear;
            front += area;
        }
        if (std::abs(x[0]) < D / 8 && std::abs(x[1]) < 0.75 * D) {
            f.flank_shear += area * shear;
            flank += area;
        }
    }
    f.mean /= all;
    f.ahead /= ahead;
    f.at_front /= front;
    f.front_shear /= front;
    f.flank_shear /= flank;
    return f;
}

/// Between walls without friction the disk bears what the outside does not.
void fields(const std::string& folder, Bounds& bounds) {
    const double diameter = 0.25;
    Channel channel;
    fill_channel(diameter, 0.3, false, 60, channel);
    double weight = 0;
    for (Index t = 0; t < channel.mesh.triangles(); ++t) weight += channel.mesh.area(t);
    fmt::print(
        "\nDisk in a channel without wall friction: diameter {:g}, mu = 0.3, weight {:.6f}, {} triangles\n\n"
        "| pressure downstream | mean speed | drag | weight less pressure | least pressure | mean pressure | "
        "largest in the wake | mean ahead | peak at x | its radius over the disk's | speed at the front over "
        "the mean | shear rate at the front over the flank's | iterations | residual |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        diameter, weight, channel.mesh.triangles());
    Flow flow;
    for (const double downstream : {0.0, 0.5, 1.0}) {
        press(downstream, channel.setup);
        solve(assemble(channel.setup), {.tolerance = 1e-6, .max_iterations = 50000}, flow);
        const SideForce drag = force_on(channel.setup, flow, Side::obstacle);
        const Fields f = fields_of(channel, flow);
        const double speed = mean_speed(channel, flow);
        fmt::print(
            "| {:g} | {:.4g} | {:.6f} | {:.6f} | {:.1e} | {:.3f} | {:.1e} | {:.3f} | {:.3f} | {:.2f} | "
            "{:.3f} "
            "| {:.3f} | {} | {:.1e} |\n",
            downstream, speed, drag.whole[0], weight - downstream, f.least, f.mean, f.wake, f.ahead,
            f.peak[0], f.peak.norm() / (diameter / 2), f.at_front / speed, f.front_shear / f.flank_shear,
            flow.iterations, flow.residual);
        std::fflush(stdout);
        const std::string what = fmt::format("disk, pressure {:g} downstream", downstream);
        bounds.expect_solved(flow, what);
        bounds.expect_near(drag.whole[0], weight - downstream, 1e-9, what + ": drag");
        bounds.expect(f.least > -1e-12, what + ": a pressure below 0");
        bounds.expect(f.wake < 0.02 * f.ahead, what + ": pressure in the wake");
        bounds.expect(f.peak[0] < -0.3 * diameter, what + ": the peak of the pressure is not ahead");
        bounds.expect(f.at_front < 0.15 * speed, what + ": the front is not stagnant");
        if (!folder.empty())
            write_vtk(channel.mesh, flow, fmt::format("{}/disk_{:g}.vtk", folder, downstream).c_str());
    }
}

// ---- drag ----

struct Line {
    double slope = 0, at_one = 0;  ///< y = at_one + slope x
    double off = 0;                ///< largest |y - line|
};

Line fit(const std::vector<Vec<2>>& points) {
    Vec<2> mean = Vec<2>::Zero();
    for (const Vec<2>& p : points) mean += p / static_cast<double>(points.size());
    double xx = 0, xy = 0;
    for (const Vec<2>& p : points) {
        xx += (p[0] - mean[0]) * (p[0] - mean[0]);
        xy += (p[0] - mean[0]) * (p[1] - mean[1]);
    }
    Line line{xy / xx, mean[1] - xy / xx * mean[0], 0};
    for (const Vec<2>& p : points)
        line.off = std::max(line.off, std::abs(p[1] - line.at_one - line.slope * p[0]));
    return line;
}

void drag(Bounds& bounds) {
    fmt::print(
        "\nDrag between rough walls, mu = 0.5: C = 2 F / (U^2 D), F whole and of the stress lambda alone\n\n"
        "| D | triangles | pressure downstream | U | F | C | F of lambda | C of lambda | passes | iterations "
        "| "
        "residual | seconds |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    std::vector<Vec<2>> all;
    std::vector<Line> lines, stress_lines;
    const std::vector<double> diameters{1.0 / 16, 1.0 / 8, 1.0 / 4};
    for (const double diameter : diameters) {
        Channel channel;
        fill_channel(diameter, 0.5, true, 30, channel);
        Flow flow;
        std::vector<Vec<2>> points, of_stress;
        for (const double downstream : {0.0, 0.2, 0.3, 0.4, 0.45, 0.48}) {
            const Timer timer;
            press(downstream, channel.setup);
            solve(assemble(channel.setup), {.tolerance = 1e-5, .max_passes = 1000, .max_iterations = 8000},
                  flow);
            const SideForce force = force_on(channel.setup, flow, Side::obstacle);
            const double U = mean_speed(channel, flow), per = 2 / (U * U * diameter);
            fmt::print(
                "| {:g} | {} | {:g} | {:.4f} | {:.4f} | {:.4g} | {:.4f} | {:.4g} | {} | {} | {:.1e} | {:.0f} "
                "|\n",
                diameter, channel.mesh.triangles(), downstream, U, force.whole[0], per * force.whole[0],
                force.of_stress[0], per * force.of_stress[0], flow.passes, flow.iterations, flow.residual,
                timer.seconds());
            std::fflush(stdout);
            bounds.expect(flow.residual < 2e-4,
                          fmt::format("drag, D = {:g}, {:g} downstream: residual {:.1e}", diameter,
                                      downstream, flow.residual));
            bounds.expect(flow.stress.reshaped(3, flow.stress.size() / 3).row(0).minCoeff() > -1e-12,
                          "drag: a pressure below 0");
            points.emplace_back(std::log10(U), std::log10(per * force.whole[0]));
            of_stress.emplace_back(std::log10(U), std::log10(per * force.of_stress[0]));
        }
        all.insert(all.end(), points.begin(), points.end());
        lines.push_back(fit(points));
        stress_lines.push_back(fit(of_stress));
    }
    fmt::print(
        "\n| D | slope of log C over log U | largest distance from the line, factor | C at U = 1 | F at U = "
        "1 | the "
        "same of lambda: slope | factor | F at U = 1 |\n|---|---|---|---|---|---|---|---|\n");
    std::vector<Vec<2>> by_diameter, stress_by_diameter;
    for (std::size_t k = 0; k < lines.size(); ++k) {
        const double D = diameters[k], C = std::pow(10, lines[k].at_one);
        const double F = C * D / 2, of_stress = std::pow(10, stress_lines[k].at_one) * D / 2;
        fmt::print("| {:g} | {:.3f} | {:.3f} | {:.2f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n", D,
                   lines[k].slope, std::pow(10, lines[k].off), C, F, stress_lines[k].slope,
                   std::pow(10, stress_lines[k].off), of_stress);
        by_diameter.emplace_back(std::log10(D), std::log10(F));
        stress_by_diameter.emplace_back(std::log10(D), std::log10(of_stress));
        bounds.expect_near(lines[k].slope, -1.9, 0.15, fmt::format("D = {:g}: slope of the drag", D));
        bounds.expect(lines[k].off < std::log10(1.1),
                      fmt::format("D = {:g}: the drag is no straight line", D));
    }
    const Line together = fit(all);
    const double power = fit(by_diameter).slope;
    fmt::print(
        "\nAll diameters by one line: slope {:.3f}, largest distance from it a factor {:.2f}.\n"
        "Power of the diameter in F at U = 1: {:.3f}, of lambda's part {:.3f}.\n",
        together.slope, std::pow(10, together.off), power, fit(stress_by_diameter).slope);
    bounds.expect(power > 0.2 && power < 1, fmt::format("power of the diameter {:.3f}", power));
}

}  // namespace

void run_cylinder(const std::string& folder, Bounds& bounds) {
    fields(folder, bounds);
    drag(bounds);
}

}  // namespace drystone::validation
