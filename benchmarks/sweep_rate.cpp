// Contact updates per second and core of deterministic Gauss-Seidel, beside what the memory of this machine allows.
//
//     sweep_rate [contacts = 100000] [repetitions = 15]
//
// The memory traffic of one update is the packed contact, read once, and the impulse, read and written; bodies are
// shared by neighbours and stay in the cache. The copy bandwidth counts the bytes read and the bytes written, as STREAM
// does. It is measured twice: on arrays that no cache holds, and on arrays that together are as large as the data of a
// sweep. The second one is the fair ceiling, because with 10^5 contacts a large last-level cache holds everything, and
// is the one that bandwidth_fraction uses: (updates per second x bytes per update) / (bytes per second of the copy of
// that size). The machine may be shared, so every figure is the best of several repetitions, taken in turn.
//
// Also: a heap of 10,000 spheres of which two are tied by a hinge, beside the same heap without it. hinge_keeps is the
// rate with it over the one without.
#include "common/packing.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/solve/gauss_seidel.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace drystone;

// Sizes of the packed contacts (sweep/contact_visits.hpp).
constexpr double rigid_bytes = 192;
constexpr double sphere_bytes = 96;
constexpr double impulse_bytes = 2 * 24;  // read and written

/// Bytes per second of a copy between two arrays of together `bytes`: read plus written.
class Copy {
public:
    explicit Copy(std::size_t bytes) : from_(bytes / 16, 1.0), to_(bytes / 16, 0.0) {}

    double run() {
        const std::size_t bytes = from_.size() * sizeof(double);
        const int passes = std::max<int>(1, static_cast<int>(1e8 / static_cast<double>(bytes)));
        const Timer timer;
        for (int pass = 0; pass < passes; ++pass) {
            // Swapping the roles keeps the compiler from dropping a pass; memcpy is what the machine's makers tuned.
            std::memcpy(to_.data(), from_.data(), bytes);
            std::swap(to_, from_);
        }
        return 2.0 * static_cast<double>(bytes) * passes / timer.seconds();
    }

private:
    std::vector<double> from_, to_;
};

struct Case {
    const char* name;
    SweepKernel kernel;
    double bytes;  // per update
    ConeProblem problem;
    double updates_per_second = 0, copy_bandwidth = 0;
};

/// Ties a body to another at a point between them: three rows that bear any force, visited last.
void add_hinge(ConeProblem& problem, Index a, Index b) {
    const Eigen::Vector3d arm(0.3, -0.2, 0.5);
    const auto rows = [&](double sign) {
        std::array<double, 18> A{};
        for (int k = 0; k < 3; ++k) {
            const Eigen::Vector3d turn = (sign * arm).cross(Eigen::Vector3d::Unit(k));
            A[k * 6 + k] = sign;
            for (int c = 0; c < 3; ++c) A[k * 6 + 3 + c] = sign * turn[c];
        }
        return A;
    };
    problem.add_block(Cone::free(3));
    problem.add_entry(a, rows(1));
    problem.add_entry(b, rows(-1));
    problem.w.conservativeResize(problem.rows());
    problem.w.tail(3).setZero();
    Tiling& tiling = problem.tiling;
    tiling.order.push_back(problem.blocks() - 1);
    tiling.tile_start.push_back(static_cast<Index>(tiling.order.size()));
    tiling.colour_start.push_back(tiling.tiles());
}

/// Rate with one hinge in a heap of 10,000 spheres over the rate without.
double hinge_keeps(int repetitions) {
    PackingOptions packing;
    packing.contacts = 23'500;
    std::array<ConeProblem, 2> problem = {make_packing(packing), make_packing(packing)};
    add_hinge(problem[1], problem[1].bodies() / 2, problem[1].bodies() / 2 + 1);
    std::array<double, 2> rate{};
    std::array<Delassus, 2> W = {Delassus(problem[0], 1), Delassus(problem[1], 1)};
    for (int k = 0; k < repetitions; ++k) {
        for (int which = 0; which < 2; ++which) {
            Vector r = Vector::Zero(problem[which].rows());
            constexpr int sweeps = 60;
            const double seconds = run_sweeps(W[which], Law::coulomb, {}, sweeps, r);
            rate[which] = std::max(rate[which], problem[which].blocks() * sweeps / seconds);
        }
    }
    return rate[1] / rate[0];
}

}  // namespace

int main(int argc, char** argv) {
    PackingOptions packing;
    packing.contacts = argc > 1 ? std::atoi(argv[1]) : 100'000;
    const int repetitions = argc > 2 ? std::atoi(argv[2]) : 15;

    std::vector<Case> cases;
    packing.general = true;
    cases.push_back({"general", SweepKernel::rigid, rigid_bytes + impulse_bytes, make_packing(packing)});
    packing.general = false;
    cases.push_back({"spheres", SweepKernel::automatic, sphere_bytes + impulse_bytes, make_packing(packing)});

    constexpr std::size_t beyond_caches = std::size_t{1} << 30;
    double memory_bandwidth = 0;
    {
        Copy copy(beyond_caches);
        for (int k = 0; k < 3; ++k) memory_bandwidth = std::max(memory_bandwidth, copy.run());
    }
    for (Case& c : cases) {
        const Delassus W(c.problem, 1);
        GaussSeidelOptions options;
        options.kernel = c.kernel;
        Vector r = Vector::Zero(c.problem.rows());
        run_sweeps(W, Law::coulomb, options, 20,
                   r);  // past the first sweeps, in which everything slides or opens
        const double blocks = c.problem.blocks();
        const int sweeps = std::max(3, static_cast<int>(1e6 / blocks));
        Copy copy(static_cast<std::size_t>(blocks * c.bytes));
        for (int k = 0; k < repetitions; ++k) {
            Vector start = r;
            const double seconds = run_sweeps(W, Law::coulomb, options, sweeps, start);
            c.updates_per_second = std::max(c.updates_per_second, blocks * sweeps / seconds);
            c.copy_bandwidth = std::max(c.copy_bandwidth, copy.run());
        }
    }

    fmt::print("copy beyond caches ({} MiB): {:.2f} GB/s\n\n", beyond_caches >> 20, memory_bandwidth * 1e-9);
    fmt::print("{:<9}{:>10}{:>9}{:>16}{:>10}{:>12}{:>14}{:>12}{:>14}\n", "blocks", "contacts", "bodies",
               "bytes/update", "MB in all", "updates/s", "loop GB/s", "copy GB/s", "of the copy");
    for (const Case& c : cases) {
        const double used = c.updates_per_second * c.bytes;
        fmt::print("{:<9}{:>10}{:>9}{:>16.0f}{:>10.1f}{:>12.3g}{:>14.2f}{:>12.2f}{:>14.2f}\n", c.name,
                   c.problem.blocks(), c.problem.bodies(), c.bytes, c.problem.blocks() * c.bytes * 1e-6,
                   c.updates_per_second, used * 1e-9, c.copy_bandwidth * 1e-9, used / c.copy_bandwidth);
    }
    fmt::print("\nhinge_keeps {:.3f}\n", hinge_keeps(repetitions));
    fmt::print("spheres_updates_per_second {:.4g}\n", cases[1].updates_per_second);
    fmt::print("updates_per_second {:.4g} bandwidth_fraction {:.3f}\n", cases[0].updates_per_second,
               cases[0].updates_per_second * cases[0].bytes / cases[0].copy_bandwidth);
    return 0;
}
