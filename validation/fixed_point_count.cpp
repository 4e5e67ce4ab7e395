// Passes of the fixed point around the convex problem, counted with the stopping test of Bloch and Lefebvre-Lepot
// (2023), sections 2.4 and 3.3.2: |s' - s| / (|s| + 1) <= 1e-2 for the vector s of the tangential speeds of all
// constraints. Prints one line of JSON.
//
//     fixed_point_count SCENE.toml zero|before all|each [STEPS]
//
// The paper says neither where s starts nor how the test, written for one contact, reads for many. zero, before: s
// starts each step from zero or from that of the step before. all, each: Euclidean norms of the whole s, or the test
// for each constraint by itself.
#include "drystone/base/timer.hpp"
#include "drystone/contact/tiling.hpp"
#include "drystone/contact/warm_start.hpp"
#include "drystone/solve/solve.hpp"
#include "paper_step.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace {

using namespace drystone;
using namespace drystone::validation;

constexpr int most_passes = 200;

/// s of the constraints that were there in the step before; 0 for new ones. Both lists are sorted by key.
Vector carry(const std::vector<ContactKey>& key, const Vector& s, const ContactSet<3>& contacts) {
    Vector start = Vector::Zero(static_cast<Eigen::Index>(contacts.size()));
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const auto at = std::lower_bound(key.begin(), key.end(), contacts[i].key);
        if (at != key.end() && *at == contacts[i].key)
            start[static_cast<Eigen::Index>(i)] = s[at - key.begin()];
    }
    return start;
}

/// The number that must fall to 1e-2.
double change(const Vector& s, const Vector& next, bool each) {
    if (each) return ((next - s).array().abs() / (s.array() + 1)).maxCoeff();
    return (next - s).norm() / (s.norm() + 1);
}

void run(const char* file, bool from_before, bool each, long long most_steps) {
    RunPlan<3> plan = read_spheres(file);
    Scene<3>& scene = plan.world.scene;
    const auto sweeps = std::get<GaussSeidelOptions>(find_solver("gauss-seidel-momentum")->options);
    Goal goal;
    goal.tolerance = 1e-4;  // a hundredth of the outer test's

    PaperStep step;
    WarmStart<3> warm;
    std::vector<ContactKey> key;
    Vector s;
    Vector r, u;
    long long steps = 0, passes = 0, unsolved = 0, cut = 0, most = 0;
    std::size_t constraints = 0;
    double worst = 0, mean = 0;
    const Timer timer;
    while (plan.options.end - scene.time > 1e-6 * plan.options.step.h && steps < most_steps) {
        prepare_neighbouring(scene, plan.options.step, step);
        ConeProblem& problem = step.assembled.problem;
        tile_by_cells(scene, step.contacts, static_cast<Index>(step.contacts.size()), step.reach, {},
                      problem.tiling);
        const Delassus W(problem);
        recall(warm, step.contacts, problem, 0, step.h, r);
        s = from_before ? carry(key, s, step.contacts) : Vector::Zero(problem.blocks());
        long long here = 0;
        for (bool again = true; again;) {
            ++here;
            Vector frozen(problem.blocks());
            for (Index i = 0; i < problem.blocks(); ++i) frozen[i] = problem.cones[i].mu() * s[i];
            const SolveReport report =
                gauss_seidel(W.with_frozen_shift(frozen), Law::associated, sweeps, goal, r);
            if (report.status != Status::solved) ++unsolved;
            W.velocity(r, u);
            Vector next(problem.blocks());
            for (Index i = 0; i < problem.blocks(); ++i) next[i] = u.segment(problem.offset[i] + 1, 2).norm();
            again = problem.blocks() > 0 && change(s, next, each) > 1e-2 && here < most_passes;
            s = next;
        }
        if (here == most_passes) ++cut;
        passes += here;
        most = std::max(most, here);
        ++steps;
        remember(step.contacts, problem, 0, step.h, r, warm);
        key.clear();
        for (const Contact<3>& c : step.contacts) key.push_back(c.key);
        const ConeSolution solution = W.complete(r);
        const double residual = judge(W, solution, Law::coulomb).value;
        worst = std::max(worst, residual);
        mean += residual;
        constraints = step.contacts.size();
        integrate(scene, step.h, 1.0, solution.v, 1);
    }
    fmt::print(
        "{{\"start\":\"{}\",\"test\":\"{}\",\"time\":{:.6g},\"steps\":{},\"passes\":{},\"mean_passes\":{:.4g}"
        ",\"most_"
        "passes\":{},"
        "\"cut\":{},\"unsolved\":{},\"constraints\":{},\"worst_residual\":{:.3g},\"mean_residual\":{:.3g},"
        "\"seconds\":{:.4g}}}\n",
        from_before ? "before" : "zero", each ? "each" : "all", scene.time, steps, passes,
        static_cast<double>(passes) / static_cast<double>(steps), most, cut, unsolved, constraints, worst,
        mean / static_cast<double>(steps), timer.seconds());
}

}  // namespace

int main(int argc, char** argv) {
    const std::string start = argc > 2 ? argv[2] : "", test = argc > 3 ? argv[3] : "";
    if ((start != "zero" && start != "before") || (test != "all" && test != "each")) {
        std::fprintf(stderr, "usage: fixed_point_count SCENE.toml zero|before all|each [STEPS]\n");
        return 2;
    }
    return guarded([&] {
        run(argv[1], start == "before", test == "each", argc > 4 ? std::atoll(argv[4]) : 1'000'000'000);
    });
}
