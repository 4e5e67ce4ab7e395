// Forces of the elastic limit against springs (Olsen & Kamrin 2018) and in closed form. Prints JSON; validation/run
// uses it.
//
//     unique_forces beam | pyramid [ALONG] | friction [ALONG]
#include "drystone/base/error.hpp"
#include "drystone/bodies/random.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/contact/elasticity.hpp"
#include "drystone/run/simulate.hpp"
#include "drystone/solve/solve.hpp"
#include "penalty_limit.hpp"
#include "penalty_scenes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <string>

namespace drystone::validation {

namespace {

/// One step from rest of a scene of springs, as rigid contacts: the same bodies, contacts and loads.
struct RigidStep {
    double h = 1e-3;
    Scene<3> scene;  ///< bodies alone
    std::vector<PenaltyContact> springs;
    ContactSet<3> contacts;  ///< as springs
    Assembled<3> assembled;
    Elasticity elasticity;
    SpringLaw law = SpringLaw::hooke;
    double ratio = 1;
};

/// `order`: in which contacts stand, or empty.
RigidStep make_step(const PenaltyScene& from, const std::vector<Index>& order) {
    RigidStep step;
    step.law = from.law;
    step.ratio = from.ratio;
    Scene<3>& scene = step.scene;
    const auto materials = from.friction.rows();
    for (Eigen::Index a = 0; a < materials; ++a) scene.materials.add({fmt::format("material {}", a)}, {});
    for (Eigen::Index a = 0; a < materials; ++a) {
        for (Eigen::Index b = 0; b <= a; ++b) {
            PairLaw law;
            law.friction = from.friction(a, b);
            scene.materials.set(static_cast<Index>(a), static_cast<Index>(b), law);
        }
    }
    const Index ball = scene.add_shape(Ball<3>{1e-3});
    for (const PenaltyBody& body : from.bodies) {
        BodyPlan<3> plan;
        plan.shape = ball;
        plan.mass = body.mass;
        plan.inertia = body.inertia;
        plan.motion = body.fixed ? Motion::held : Motion::free;
        plan.pose.position = body.position;
        scene.add_body(plan);
    }
    // Planes are held by a body of their own, one per material.
    std::vector<Index> plane_body;
    for (const PenaltyPlane& plane : from.planes) {
        BodyPlan<3> plan;
        plan.shape = ball;
        plan.material = plane.material;
        plan.motion = Motion::held;
        plan.pose.position = plane.point;
        plane_body.push_back(scene.add_body(plan));
    }
    for (const PenaltyBall& one : from.balls) scene.bodies.material[one.body] = one.material;

    const std::vector<PenaltyContact> all = near_pairs(from);
    std::vector<Index> places = order;
    if (places.empty()) {
        places.resize(all.size());
        std::iota(places.begin(), places.end(), 0);
    }
    for (const Index k : places) {
        const PenaltyContact& spring = all[k];
        if (spring.gap > 0) continue;
        Contact<3> contact;
        contact.a = spring.a;
        contact.b = spring.b >= 0 ? spring.b : plane_body[spring.plane];
        contact.arm_a = spring.arm_a;
        contact.arm_b =
            spring.b >= 0
                ? spring.arm_b
                : Vec<3>(scene.bodies.position[contact.a] + spring.arm_a - scene.bodies.position[contact.b]);
        contact.normal = spring.normal;
        step.springs.push_back(spring);
        step.contacts.push_back(contact);
    }
    Vector v_free = Vector::Zero(6 * static_cast<Eigen::Index>(scene.bodies.count()));
    for (std::size_t j = 0; j < from.bodies.size(); ++j) {
        const PenaltyBody& body = from.bodies[j];
        if (body.fixed) continue;
        const auto at = 6 * static_cast<Eigen::Index>(j);
        v_free.segment<3>(at) = step.h * (from.gravity + body.force / body.mass);
        v_free.segment<3>(at + 3) = step.h * body.torque.cwiseQuotient(body.inertia);
        if (body.planar) {
            // A body that keeps to its plane is one that is infinitely heavy across it.
            v_free[at + 1] = v_free[at + 3] = v_free[at + 5] = 0;
        }
    }
    assemble(scene, step.contacts, v_free, {.h = step.h, .all_bodies = true}, step.assembled);
    ConeProblem& problem = step.assembled.problem;
    make_general(problem);
    auto& inverse = std::get<BlockInverseMass>(problem.only().mass).blocks;
    for (std::size_t j = 0; j < from.bodies.size(); ++j)
        if (from.bodies[j].planar)
            for (const int c : {1, 3, 5}) inverse[36 * j + static_cast<std::size_t>(7 * c)] = 0;

    step.elasticity.hertz = from.law == SpringLaw::hertz;
    step.elasticity.compliance.resize(problem.rows());
    for (Index i = 0; i < problem.blocks(); ++i) {
        const double k = step.springs[i].stiffness;
        auto rows = step.elasticity.compliance.segment(problem.offset[i], problem.cones[i].dim);
        rows.setConstant(step.elasticity.hertz ? 1 / from.ratio : 1 / (from.ratio * k));
        rows[0] = 1 / k;
    }
    return step;
}

/// Force on body a of each contact of the step, by the numbers of near_pairs (0 where it has none), N.
std::vector<Vec<3>> forces_of(const RigidStep& step, const Vector& r) {
    std::vector<Vec<3>> out;
    for (Index i = 0; i < static_cast<Index>(step.contacts.size()); ++i)
        out.emplace_back(impulse_of(step.assembled, r, step.contacts[i], i) / step.h);
    return out;
}

struct Answer {
    ConeSolution solution;
    SolveReport solve, energy;
    Vector before;
};

Answer solve_step(const RigidStep& step, SolveSettings settings, const Vector* start, Law slip) {
    Answer answer;
    if (start != nullptr) answer.solution.r = *start;
    answer.solve = solve(step.assembled.problem, settings, answer.solution);
    answer.before = answer.solution.r;
    const Delassus W(step.assembled.problem);
    LeastEnergyOptions options;
    options.tolerance = 1e-10;
    options.slip = slip;
    answer.energy = least_energy(W, settings.law, step.elasticity, options, answer.solution);
    return answer;
}

SolveSettings by(const SolverOptions& solver, Law law, double tolerance) {
    SolveSettings settings;
    settings.solver = solver;
    settings.law = law;
    settings.goal.tolerance = tolerance;
    settings.goal.time_limit = 300;
    return settings;
}

std::vector<Index> shuffled(std::size_t count, std::uint64_t seed) {
    std::vector<Index> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::pair<double, Index>> keys;
    for (std::size_t k = 0; k < count; ++k) keys.emplace_back(Random(seed)(k, 0), static_cast<Index>(k));
    std::sort(keys.begin(), keys.end());
    for (std::size_t k = 0; k < count; ++k) order[k] = keys[k].second;
    return order;
}

/// What contacts put on fixed bodies and planes, stacked: the floor's force field.
Vector floor_field(const PenaltyScene& scene, const std::vector<PenaltyContact>& contacts,
                   const std::function<Vec<3>(std::size_t)>& force_on_a) {
    const auto bodies = static_cast<Eigen::Index>(scene.bodies.size());
    Vector field = Vector::Zero(3 * (bodies + static_cast<Eigen::Index>(scene.planes.size())));
    for (std::size_t k = 0; k < contacts.size(); ++k) {
        const PenaltyContact& c = contacts[k];
        const Vec<3> force = force_on_a(k);
        if (scene.bodies[c.a].fixed) field.segment<3>(3 * static_cast<Eigen::Index>(c.a)) += force;
        const Eigen::Index other = c.b >= 0 ? c.b : bodies + c.plane;
        if (c.b < 0 || scene.bodies[c.b].fixed) field.segment<3>(3 * other) -= force;
    }
    return field;
}
Vector floor_field(const PenaltyScene& scene, const PenaltyResult& result) {
    return floor_field(scene, result.contacts, [&](std::size_t k) {
        const PenaltyContact& c = result.contacts[k];
        return Vec<3>(c.normal_force * c.normal + c.tangential_force);
    });
}
Vector floor_field(const PenaltyScene& scene, const RigidStep& step, const Vector& r) {
    const std::vector<Vec<3>> forces = forces_of(step, r);
    return floor_field(scene, step.springs, [&](std::size_t k) { return forces[k]; });
}

double relative(const Vector& a, const Vector& reference) {
    return (a - reference).norm() / reference.norm();
}
double peak(const Vector& a, const Vector& reference) {
    return a.lpNorm<Eigen::Infinity>() / reference.lpNorm<Eigen::Infinity>() - 1;
}

/// All forces by the ids of the contacts, so that answers of different orders can be compared.
Vector by_contact(const RigidStep& step, const Vector& r) {
    std::vector<std::size_t> order(step.springs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) {
        const PenaltyContact &a = step.springs[p], &b = step.springs[q];
        return std::tuple(a.ball_a, a.ball_b, a.plane) < std::tuple(b.ball_a, b.ball_b, b.plane);
    });
    const std::vector<Vec<3>> forces = forces_of(step, r);
    Vector out(3 * static_cast<Eigen::Index>(forces.size()));
    for (std::size_t k = 0; k < order.size(); ++k)
        out.segment<3>(3 * static_cast<Eigen::Index>(k)) = forces[order[k]];
    return out;
}

// --- Cases -----------------------------------------------------------------------------------------------

/// Every solver that takes the law, every order of the three contacts.
void beam() {
    std::string lines;
    for (const double middle : {1.0, 3.0}) {
        const PenaltyScene scene = make_beam(middle);
        Vector expected(3);
        expected << 10 / (2 + middle), 10 * middle / (2 + middle), 10 / (2 + middle);
        double worst = 0, worst_before = 0;
        int answers = 0;
        std::string worst_solver;
        for (const NamedSolver& solver : named_solvers()) {
            for (const Law law : {Law::coulomb, Law::associated}) {
                if (!(law == Law::coulomb ? solver.coulomb : solver.associated)) continue;
                std::vector<Index> order = {0, 1, 2};
                do {
                    const RigidStep step = make_step(scene, order);
                    const Answer answer = solve_step(step, by(solver.options, law, 1e-10), nullptr, law);
                    const Vector found = by_contact(step, answer.solution.r);
                    const Vector before = by_contact(step, answer.before);
                    for (int k = 0; k < 3; ++k) {
                        const double error = std::abs(found[3 * k + 2] - expected[k]);
                        if (error > worst) {
                            worst = error;
                            worst_solver = solver.name;
                        }
                        worst_before = std::max(worst_before, std::abs(before[3 * k + 2] - expected[k]));
                    }
                    ++answers;
                } while (std::next_permutation(order.begin(), order.end()));
            }
        }
        lines += fmt::format(
            "{}\"{:g}\": {{\"answers\": {}, \"worst\": {:.3e}, \"worst_solver\": \"{}\", \"worst_before\": "
            "{:.3e}}}",
            lines.empty() ? "" : ",\n ", middle, answers, worst, worst_solver, worst_before);
    }
    fmt::print("{{{}}}\n", lines);
}

/// How much forces on the base change under the symmetries of the square, over the largest.
double asymmetry_of(int along, const Vector& field) {
    auto at = [&](int i, int j) {
        return Vec<3>(field.segment<3>(3 * (static_cast<Eigen::Index>(i) * along + j)));
    };
    double worst = 0, largest = 0;
    for (int i = 0; i < along; ++i) {
        for (int j = 0; j < along; ++j) {
            const Vec<3> f = at(i, j), mirror = at(along - 1 - i, j), swap = at(j, i);
            largest = std::max(largest, f.norm());
            worst = std::max(worst, (f - Vec<3>(-mirror[0], mirror[1], mirror[2])).norm());
            worst = std::max(worst, (f - Vec<3>(swap[1], swap[0], swap[2])).norm());
        }
    }
    return worst / largest;
}

/// The pyramid as grains that move: dropped by 5 % of a radius, 200 steps of 1e-3 s, as in the paper.
void drop(const Pyramid& pyramid, const PenaltyScene& from, const Vector& reference, std::string& out) {
    Scene<3> scene;
    PairLaw smooth;
    smooth.friction = pyramid.friction;
    const auto materials = from.stiffness.rows();
    for (Eigen::Index a = 0; a < materials; ++a) scene.materials.add({fmt::format("material {}", a)}, smooth);
    scene.gravity = from.gravity;
    const Index ball = scene.add_shape(Ball<3>{0.5 * pyramid.diameter});
    for (std::size_t j = 0; j < from.bodies.size(); ++j) {
        BodyPlan<3> plan;
        plan.shape = ball;
        plan.material = from.balls[j].material;
        plan.mass = from.bodies[j].mass;
        plan.motion = from.bodies[j].fixed ? Motion::held : Motion::free;
        plan.pose.position = from.bodies[j].position;
        if (!from.bodies[j].fixed) plan.pose.position[2] += 0.05 * 0.5 * pyramid.diameter;
        scene.add_body(plan);
    }
    StepOptions options;
    options.h = 1e-3;
    options.solve.goal.tolerance = 1e-9;
    StepMemory<3> memory;
    Timer timer;
    const RunSummary sum = simulate<3>(scene, {options, 0.2}, memory);
    const double seconds = timer.seconds();
    auto field_of = [&](const Vector& r) {
        Vector field = Vector::Zero(reference.size());
        for (std::size_t i = 0; i < memory.contacts.size(); ++i) {
            const Contact<3>& c = memory.contacts[i];
            const Vec<3> force = impulse_of(memory.assembled, r, c, static_cast<Index>(i)) / options.h;
            if (!scene.bodies.is_free(c.a)) field.segment<3>(3 * static_cast<Eigen::Index>(c.a)) += force;
            if (!scene.bodies.is_free(c.b)) field.segment<3>(3 * static_cast<Eigen::Index>(c.b)) -= force;
        }
        return field;
    };
    const Vector before = field_of(memory.solution.r);
    const ConeProblem& problem = memory.assembled.problem;
    Elasticity elasticity;
    elasticity.hertz = from.law == SpringLaw::hertz;
    elasticity.compliance.resize(problem.rows());
    for (Index i = 0; i < problem.blocks(); ++i) {
        const Contact<3>& c = memory.contacts[i];
        const double k = from.stiffness(scene.bodies.material[c.a], scene.bodies.material[c.b]);
        auto rows = elasticity.compliance.segment(problem.offset[i], problem.cones[i].dim);
        rows.setConstant(elasticity.hertz ? 1 / from.ratio : 1 / (from.ratio * k));
        rows[0] = 1 / k;
    }
    timer = Timer();
    LeastEnergyOptions exact;
    exact.tolerance = 1e-10;
    ConeSolution solution = memory.solution;
    const SolveReport report = least_energy(Delassus(problem), Law::coulomb, elasticity, exact, solution);
    out += fmt::format(
        ", \"dropped\": {{\"error\": {:.3e}, \"error_before\": {:.3e}, \"peak_before\": {:.3e}, "
        "\"asymmetry\": {:.3e}, "
        "\"contacts\": {}, \"unsolved\": {}, \"seconds_of_run\": {:.1f}, \"seconds\": {:.3f}, \"residual\": "
        "{:.1e}}}",
        relative(field_of(solution.r), reference), relative(before, reference), peak(before, reference),
        asymmetry_of(pyramid.along, field_of(solution.r)), problem.blocks(), sum.unsolved, seconds,
        timer.seconds(), report.residual.momentum);
}

void pyramid(int along) {
    std::string lines;
    for (const int which : {0, 1, 2}) {
        Pyramid pyramid;
        pyramid.along = along;
        pyramid.law = which == 1 ? SpringLaw::hertz : SpringLaw::hooke;
        pyramid.two_materials = which == 2;
        const PenaltyScene scene = make_pyramid(pyramid);
        const RigidStep step = make_step(scene, {});
        Timer timer;
        const Answer sweeps =
            solve_step(step, by(find_solver("auto")->options, Law::coulomb, 1e-8), nullptr, Law::coulomb);
        const Answer gradient = solve_step(step, by(find_solver("apgd")->options, Law::associated, 1e-8),
                                           nullptr, Law::associated);
        const PenaltyResult limit = stiff_limit(scene);
        const Vector exact = floor_field(scene, limit);
        std::string convergence;
        Vector reference;
        for (const double scale : {1.0, 10.0, 100.0}) {
            PenaltyOptions options;
            options.scale = scale;
            const PenaltyResult springs = relax(scene, options);
            const Vector field = floor_field(scene, springs);
            if (scale == 1) reference = field;
            convergence += fmt::format("{}\"{:g}\": {:.3e}", convergence.empty() ? "" : ", ", scale,
                                       relative(floor_field(scene, step, sweeps.solution.r), field));
        }
        const Vector found = floor_field(scene, step, sweeps.solution.r);
        lines += fmt::format(
            "{}\"{}\": {{\"spheres\": {}, \"contacts\": {}, \"error\": {{{}}}, \"error_to_limit\": {:.3e}, "
            "\"asymmetry\": {:.3e}, "
            "\"solvers_differ\": {:.3e}, \"before_sweeps\": {:.3e}, \"before_sweeps_peak\": {:.3e}, "
            "\"before_gradient\": {:.3e}, "
            "\"before_gradient_peak\": {:.3e}, \"seconds_solve\": {:.3f}, \"seconds\": {:.3f}, \"residual\": "
            "{:.1e}",
            lines.empty() ? "" : ",\n ",
            which == 0   ? "hooke"
            : which == 1 ? "hertz"
                         : "two materials",
            scene.bodies.size(), step.contacts.size(), convergence, relative(found, exact),
            asymmetry_of(along, found), relative(floor_field(scene, step, gradient.solution.r), found),
            relative(floor_field(scene, step, sweeps.before), reference),
            peak(floor_field(scene, step, sweeps.before), reference),
            relative(floor_field(scene, step, gradient.before), reference),
            peak(floor_field(scene, step, gradient.before), reference), sweeps.solve.seconds,
            sweeps.energy.seconds, sweeps.energy.residual.momentum);
        drop(pyramid, scene, reference, lines);
        lines += "}";
    }
    fmt::print("{{{}}}\n", lines);
}

/// Solvers, orders and starts against each other, and the springs as they stiffen.
std::string compare(const std::string& name, const PenaltyScene& scene, bool large) {
    std::vector<Vector> answers;
    double spread_before = 0, worst_residual = 0;
    Vector first_before;
    int unsolved = 0;
    const std::vector<std::string_view> solvers =
        large ? std::vector<std::string_view>{"auto", "gauss-seidel"}
              : std::vector<std::string_view>{"auto", "gauss-seidel", "newton", "admm", "cadoux"};
    const std::size_t count = near_pairs(scene).size();
    for (const std::string_view solver : solvers) {
        const NamedSolver* found = find_solver(solver);
        if (found == nullptr || !found->coulomb) continue;
        for (const int order : {0, 1, 2}) {
            const RigidStep step =
                make_step(scene, order == 0 ? std::vector<Index>{}
                                            : shuffled(count, static_cast<std::uint64_t>(order)));
            Vector start = Vector::Zero(step.assembled.problem.rows());
            if (order == 2)
                for (Eigen::Index k = 0; k < start.size(); ++k)
                    start[k] = step.h * scene.bodies.back().mass * 9.81 *
                               Random(7)(static_cast<std::uint64_t>(k), 1);
            const Answer answer =
                solve_step(step, by(found->options, Law::coulomb, 1e-9), &start, Law::coulomb);
            if (answer.solve.status != Status::solved || answer.energy.status != Status::solved) ++unsolved;
            worst_residual = std::max(worst_residual, answer.energy.residual.momentum);
            answers.push_back(by_contact(step, answer.solution.r));
            const Vector before = by_contact(step, answer.before);
            if (first_before.size() == 0) first_before = before;
            spread_before = std::max(spread_before, relative(before, first_before));
        }
    }
    double spread = 0;
    for (const Vector& one : answers) spread = std::max(spread, relative(one, answers[0]));
    // The springs' forces in the order of by_contact, of the contacts that the rigid step has.
    const RigidStep step = make_step(scene, {});
    auto springs_by_contact = [&](const PenaltyResult& springs) {
        using Key = std::tuple<Index, Index, Index>;
        std::map<Key, Vec<3>> forces;
        for (const PenaltyContact& c : step.springs) forces[{c.ball_a, c.ball_b, c.plane}].setZero();
        for (const PenaltyContact& c : springs.contacts) {
            const auto found = forces.find({c.ball_a, c.ball_b, c.plane});
            if (found != forces.end()) found->second = c.normal_force * c.normal + c.tangential_force;
        }
        Vector out(3 * static_cast<Eigen::Index>(forces.size()));
        Eigen::Index at = 0;
        for (const auto& [key, force] : forces) {
            out.segment<3>(at) = force;
            at += 3;
        }
        return out;
    };
    std::string convergence[2];
    Index slipped = 0;
    for (const Slider slider : {Slider::proportional, Slider::history}) {
        for (const double scale : {1.0, 10.0, 100.0}) {
            PenaltyOptions options;
            options.scale = scale;
            options.slider = slider;
            const PenaltyResult springs = relax(scene, options);
            slipped = springs.slipped;
            std::string& line = convergence[slider == Slider::proportional ? 0 : 1];
            line += fmt::format("{}\"{:g}\": {:.3e}", line.empty() ? "" : ", ", scale,
                                relative(answers[0], springs_by_contact(springs)));
        }
    }
    return fmt::format(
        "\"{}\": {{\"contacts\": {}, \"answers\": {}, \"unsolved\": {}, \"spread_before\": {:.3e}, "
        "\"spread\": {:.3e}, "
        "\"residual\": {:.1e}, \"springs_slipped\": {}, \"error\": {{{}}}, \"error_history\": {{{}}}}}",
        name, answers[0].size() / 3, answers.size(), unsolved, spread_before, spread, worst_residual, slipped,
        convergence[0], convergence[1]);
}

void friction(int along) {
    std::string lines = compare("block", make_block(2, 0.5), false);
    lines += ",\n " + compare("groove 1", make_groove(1, 0.5), false);
    lines += ",\n " + compare("groove 3", make_groove(3, 0.5), false);
    for (const double mu : {0.3, 0.5}) {
        Pyramid small;
        small.along = along;
        small.friction = mu;
        lines += ",\n " + compare(fmt::format("pyramid {:g}", mu), make_pyramid(small), along > 6);
    }
    fmt::print("{{{}}}\n", lines);
}

}  // namespace

}  // namespace drystone::validation

int main(int count, char** words) {
    using namespace drystone::validation;
    const std::string what = count > 1 ? words[1] : "";
    try {
        const int along = count > 2 ? std::atoi(words[2]) : 0;
        if (what == "beam") {
            beam();
        } else if (what == "pyramid") {
            pyramid(along > 0 ? along : 20);
        } else if (what == "friction") {
            friction(along > 0 ? along : 6);
        } else {
            std::fprintf(stderr, "use: unique_forces beam | pyramid [ALONG] | friction [ALONG]\n");
            return 2;
        }
    } catch (const drystone::Error& error) {
        std::fprintf(stderr, "unique_forces: %s\n", error.what());
        return 1;
    }
    return 0;
}
