// The local contact laws of Barboteu and Dumont (2017) inside one Gauss-Seidel loop, with their one stopping test (eq.
// 42 there), on a scene of spheres without friction. Prints one line of JSON.
//
//     local_laws SCENE.toml sal|eal|sbp|ebp|pdas TOLERANCE [RHO] [STEPS]
//
// RHO: step of sal and sbp in units of 1 / W_NN (the paper does not say; 1 makes both exact for one contact).
#include "drystone/local/local.hpp"
#include "paper_step.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>

namespace {

using namespace drystone;
using namespace drystone::validation;

constexpr int most_sweeps = 100'000;

/// Gauss-Seidel over normal impulses, W formed. `holds`: the law leaves a velocity of its own at each contact (Newton,
/// active set), which must agree with that of the impulses in the end; the Uzawa steps hold none.
class Loop {
public:
    Loop(const Delassus& W, const LocalOptions& options, bool holds)
        : W_(W.matrix()),
          b_(W.b()),
          options_(options),
          holds_(holds),
          p_(Vector::Zero(b_.size())),
          held_(b_) {}

    /// Returns the paper's error after the sweep.
    double sweep() {
        const auto n = static_cast<Index>(b_.size());
        BlockMatrix Wcc(1, 1);
        BlockVector b(1), r(1);
        for (Index c = 0; c < n; ++c) {
            double u = b_[c];
            for (Index k = W_.start[c]; k < W_.start[c + 1]; ++k) {
                const double w = W_.value[W_.value_start[k]];
                u += w * p_[W_.column[k]];
                if (W_.column[k] == c) Wcc(0, 0) = w;
            }
            b[0] = u - Wcc(0, 0) * p_[c];
            r[0] = p_[c];
            solve_local(Cone::ray(), Wcc, b, Law::coulomb, options_, r);
            p_[c] = r[0];
            held_[c] = b[0] + Wcc(0, 0) * r[0];
        }
        double error = 0;
        for (Index c = 0; c < n; ++c) {
            double u = b_[c];
            for (Index k = W_.start[c]; k < W_.start[c + 1]; ++k)
                u += W_.value[W_.value_start[k]] * p_[W_.column[k]];
            const double mine = holds_ ? held_[c] : u;
            error += std::abs(mine - u) + std::abs(mine * p_[c]) + std::max(0.0, -mine);
        }
        return error / n;
    }
    [[nodiscard]] const Vector& impulses() const { return p_; }

private:
    const BlockSparse& W_;
    const Vector& b_;
    LocalOptions options_;
    bool holds_;
    Vector p_, held_;
};

void run(const char* file, const std::string& name, double tolerance, double rho, long long most_steps) {
    static const std::map<std::string, LocalSolver> laws = {{"sal", LocalSolver::sal},
                                                            {"eal", LocalSolver::eal},
                                                            {"sbp", LocalSolver::sbp},
                                                            {"ebp", LocalSolver::ebp},
                                                            {"pdas", LocalSolver::pdas}};
    const auto law = laws.find(name);
    if (law == laws.end()) fail(name, "is no law of this comparison", "sal, eal, sbp, ebp, pdas");
    const bool uzawa = name == "sal" || name == "sbp";
    RunPlan<3> plan = read_spheres(file);
    Scene<3>& scene = plan.world.scene;
    const double theta = plan.options.step.theta_or_default();
    PaperStep step;
    long long steps = 0, with_contacts = 0, sweeps = 0, contacts = 0, cut = 0;
    double seconds = 0, worst = 0;
    while (plan.options.end - scene.time > 1e-6 * plan.options.step.h && steps < most_steps) {
        prepare_overlapping(scene, plan.options.step, step);
        const Delassus W(step.assembled.problem);
        ConeSolution solution = W.complete(Vector::Zero(W.problem().rows()));
        if (W.problem().blocks() > 0) {
            ++with_contacts;
            (void)W.matrix();  // formed once and kept; the same for all laws
            const double start = cpu_seconds();
            Loop loop(W, {law->second, rho}, !uzawa);
            int here = 1;
            while (loop.sweep() > tolerance && here < most_sweeps) ++here;
            seconds += cpu_seconds() - start;
            if (here == most_sweeps) ++cut;
            sweeps += here;
            solution = W.complete(loop.impulses());
            worst = std::max(worst, judge(W, solution, Law::coulomb).value);
        }
        ++steps;
        contacts = W.problem().blocks();
        integrate(scene, step.h, theta, solution.v, 1);
    }
    fmt::print(
        "{{\"law\":\"{}\",\"rho\":{},\"time\":{:.6g},\"steps\":{},\"steps_with_contacts\":{},\"sweeps\":{},"
        "\"mean_sweeps\":{:.4g},\"contacts\":{},\"cut\":{},\"worst_residual\":{:.3g},\"seconds\":{:.4g}}}\n",
        name, rho, scene.time, steps, with_contacts, sweeps,
        static_cast<double>(sweeps) / static_cast<double>(std::max(1LL, with_contacts)), contacts, cut, worst,
        seconds);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: local_laws SCENE.toml sal|eal|sbp|ebp|pdas TOLERANCE [RHO] [STEPS]\n");
        return 2;
    }
    return guarded([&] {
        run(argv[1], argv[2], std::atof(argv[3]), argc > 4 ? std::atof(argv[4]) : 1.0,
            argc > 5 ? std::atoll(argv[5]) : 1'000'000'000);
    });
}
