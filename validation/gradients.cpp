// Projected gradients with the variables, the step and the stopping test of Bloch and Lefebvre-Lepot (2023), section
// 3.3.1, on a scene of spheres without friction. Prints one line of JSON.
//
//     gradients SCENE.toml pgd|apgd|apgd-as|apgd-ar|apgd-asr [STEPS]
//
#include "drystone/solve/solve.hpp"
#include "paper_step.hpp"

#include <fmt/format.h>

#include <string>

namespace {

using namespace drystone;
using namespace drystone::validation;

/// The paper's unknowns are forces, r = h lambda: H and w times h turn the problem of a step into its problem.
void make_unknowns_forces(ConeProblem& problem, double h) {
    make_general(problem);
    for (double& x : problem.H.value) x *= h;
    problem.w *= h;
}

void run(const char* file, const std::string& name, long long most_steps) {
    RunPlan<3> plan = read_spheres(file);
    Scene<3>& scene = plan.world.scene;
    const NamedSolver* named = find_solver(name);
    if (!named || !std::holds_alternative<ProjectedGradientOptions>(named->options))
        fail(name, "is no projected gradient", "see drystone solve --list-solvers");
    auto options = std::get<ProjectedGradientOptions>(named->options);
    options.scaled = false;
    options.paper_stop = 1e-3;
    options.max_iterations = options.check_every = 1'000'000;  // nothing but the paper's test may end it

    PaperStep step;
    StepOptions stepping = plan.options.step;
    long long steps = 0, iterations = 0, constraints = 0, walls = 0, active = 0, loose = 0;
    double seconds = 0, worst = 0, mean = 0;
    while (plan.options.end - scene.time > 1e-6 * plan.options.step.h && steps < most_steps) {
        stepping.h = std::min(plan.options.step.h, plan.options.end - scene.time);
        prepare_neighbouring(scene, stepping, step);
        make_unknowns_forces(step.assembled.problem, step.h);
        const Delassus W(step.assembled.problem);
        options.step = 0.2 / (step.h * step.h);
        Vector lambda = Vector::Zero(W.problem().rows());
        const double start = cpu_seconds();
        const SolveReport report = projected_gradient(W, Law::coulomb, options, {}, lambda);
        seconds += cpu_seconds() - start;
        const ConeSolution solution = W.complete(lambda);
        const double residual = judge(W, solution, Law::coulomb).value;
        worst = std::max(worst, residual);
        mean += residual;
        if (residual > 1e-3) ++loose;
        iterations += report.iterations;
        constraints = W.problem().blocks();
        walls = std::count_if(step.contacts.begin(), step.contacts.end(), [&](const Contact<3>& c) {
            return !scene.bodies.is_free(c.a) || !scene.bodies.is_free(c.b);
        });
        active = (lambda.array() > 0).count();
        ++steps;
        integrate(scene, step.h, 1.0, solution.v, 1);
    }
    fmt::print(
        "{{\"solver\":\"{}\",\"time\":{:.6g},\"steps\":{},\"iterations\":{},\"constraints\":{},\"walls\":{},"
        "\"active\":{},"
        "\"seconds\":{:.4g},\"worst_residual\":{:.3g},\"mean_residual\":{:.3g},\"above\":{}}}\n",
        name, scene.time, steps, iterations, constraints, walls, active, seconds, worst,
        mean / static_cast<double>(steps), loose);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: gradients SCENE.toml pgd|apgd|apgd-as|apgd-ar|apgd-asr [STEPS]\n");
        return 2;
    }
    return guarded([&] { run(argv[1], argv[2], argc > 3 ? std::atoll(argv[3]) : 1'000'000'000); });
}
