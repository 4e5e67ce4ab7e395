#include "drystone/grains/step.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/contact/elasticity.hpp"
#include "drystone/contact/tiling.hpp"
#include "drystone/grains/motion.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// Seconds since the last call.
class Stages {
public:
    void end(double& stage) {
        const double now = timer_.seconds();
        stage = now - last_;
        last_ = now;
    }

private:
    Timer timer_;
    double last_ = 0;
};

/// How near a pair must be to enter the problem: 0 for moreau_jean, which takes only what overlaps.
template <int d>
void choose_reach(const Scene<d>& scene, const StepOptions& options, double h, const Vector& v_free,
                  std::vector<double>& reach) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    reach.assign(bodies.count(), 0.0);
    if (options.scheme == Scheme::moreau_jean) return;
    // Images of a shrinking cell come nearer by themselves. (Those of a sheared one pass as their neighbours inside do.)
    const double cell = 0.5 * scene.domain.rate.cwiseProduct(scene.domain.period).cwiseAbs().sum();
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.yields(i) && bodies.velocity[i].isZero(0) && bodies.spin[i].isZero(0)) continue;
        const auto v = v_free.template segment<n>(static_cast<Eigen::Index>(i) * n);
        double way = v.template head<d>().norm();
        // A ball's surface does not move when it turns; a half-space or a mesh that turns is taken as slow.
        if (!std::holds_alternative<Ball<d>>(scene.shape_of(i)) && std::isfinite(scene.outer_radius(i)))
            way += v.template tail<spins<d>>().norm() * scene.outer_radius(i);
        way += cell;
        const double least = bodies.is_free(i) ? options.reach * scene.inner_radius(i) : 0;
        reach[i] = std::max(least, 2 * h * way);
    }
}

/// All contacts of the step, at the configuration in which the scheme wants them.
template <int d>
void detect_for(Scene<d>& scene, const StepOptions& options, double h, StepMemory<d>& memory) {
    choose_reach(scene, options, h, memory.v_free, memory.reach);
    DetectOptions detecting = options.detect;
    detecting.threads = options.solve.threads;
    if (options.scheme == Scheme::look_ahead) {
        detect(scene, std::span<const double>(memory.reach), detecting, memory.neighbours, memory.contacts);
        return;
    }
    memory.position = scene.bodies.position;
    memory.rotation = scene.bodies.rotation;
    drift(scene, 0.5 * h, options.solve.threads);
    detect(scene, std::span<const double>(memory.reach), detecting, memory.neighbours, memory.contacts);
    scene.bodies.position.swap(memory.position);
    scene.bodies.rotation.swap(memory.rotation);
}

template <int d>
void find_overlap(const Scene<d>& scene, const ContactSet<d>& contacts, StepRecord& record) {
    for (const Contact<d>& c : contacts) {
        if (-c.gap <= 0) continue;
        const double size =
            std::min(scene.bodies.is_free(c.a) ? scene.inner_radius(c.a) : scene.inner_radius(c.b),
                     scene.bodies.is_free(c.b) ? scene.inner_radius(c.b) : scene.inner_radius(c.a));
        record.overlap = std::max(record.overlap, -c.gap);
        record.relative_overlap = std::max(record.relative_overlap, -c.gap / size);
    }
}

/// Work of the contacts in the step, with the mean of the velocities at begin (still in the scene) and end (in the solution): then
/// kinetic energy changes by exactly the work of contacts and gravity.
template <int d>
void account_contacts(const Scene<d>& scene, const StepMemory<d>& memory, StepRecord& record) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    for (Index i = 0; i < record.contacts; ++i) {
        const Contact<d>& c = memory.contacts[i];
        const Vec<d> impulse = impulse_of(memory.assembled, memory.solution.r, c, i);
        if (impulse.isZero(0)) continue;
        const Spin<d> turning = torque_of(memory.assembled, memory.solution.r, c, i);
        ++record.active;
        auto side = [&](Index j, const Vec<d>& arm, double sign) {
            if (!bodies.is_free(j)) {
                record.work.held -= sign * (impulse.dot(bodies.velocity[j] + cross(bodies.spin[j], arm) +
                                                        belt_velocity(scene, j, c.normal)) +
                                            turning.dot(bodies.spin[j]));
                return;
            }
            const auto end = memory.solution.v.template segment<n>(static_cast<Eigen::Index>(j) * n);
            const auto free = memory.v_free.template segment<n>(static_cast<Eigen::Index>(j) * n);
            const Vec<d> velocity = 0.5 * (bodies.velocity[j] + end.template head<d>());
            // The spin that the step starts from is the free one: see free_velocities.
            const Spin<d> spin = 0.5 * (free.template tail<spins<d>>() + end.template tail<spins<d>>());
            record.work.contacts += sign * (impulse.dot(velocity + cross(spin, arm)) + turning.dot(spin));
        };
        side(c.a, c.arm_a, 1);
        side(c.b, c.arm_b, -1);
    }
}

template <int d>
void account_joints(const Scene<d>& scene, const StepMemory<d>& memory, StepRecord& record) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    Index offset = memory.assembled.joint_offset();
    for (const JointBlocks<d>& joint : memory.assembled.joints) {
        for (int k = 0; k < joint.count; ++k) {
            const JointBlock<d>& block = joint.block[k];
            const auto r = memory.solution.r.segment(offset, block.cone.dim);
            auto side = [&](Index j, const BodyRows<d>& rows) {
                if (j < 0 || !bodies.is_free(j)) return;
                const auto at = static_cast<Eigen::Index>(j) * n;
                Eigen::Matrix<double, n, 1> twice = memory.solution.v.template segment<n>(at);
                twice.template head<d>() += bodies.velocity[j];
                twice.template tail<spins<d>>() += memory.v_free.template segment<spins<d>>(at + d);
                record.work.joints += 0.5 * r.dot(rows * twice);
            };
            side(joint.a, block.rows_a);
            side(joint.b, block.rows_b);
            offset += block.cone.dim;
        }
    }
}

/// Turning energy of a body whose inertia tensor turns with it, for a given spin and the present rotation.
template <int d>
double turning_energy(const Bodies<d>& bodies, Index i, const Spin<d>& spin) {
    return 0.5 * spin.dot(inertia_in_world<d>(bodies.rotation[i], bodies.inertia[i]) * spin);
}

/// The scheme's own share of the work, before the bodies move; what is left of it stands after they have.
template <int d>
void account_scheme(const Scene<d>& scene, const StepMemory<d>& memory, double theta, StepRecord& record) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.is_free(i)) continue;
        const auto end = memory.solution.v.template segment<n>(static_cast<Eigen::Index>(i) * n);
        const auto free = memory.v_free.template segment<n>(static_cast<Eigen::Index>(i) * n);
        const Vec<d> change = end.template head<d>() - bodies.velocity[i];
        record.work.scheme += (0.5 - theta) * record.h * bodies.mass[i] * scene.gravity.dot(change);
        record.work.scheme += turning_energy<d>(bodies, i, free.template tail<spins<d>>()) -
                              turning_energy<d>(bodies, i, bodies.spin[i]) -
                              turning_energy<d>(bodies, i, end.template tail<spins<d>>());
    }
}

template <int d>
void account_turned(const Scene<d>& scene, StepRecord& record) {
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (scene.bodies.is_free(i))
            record.work.scheme += turning_energy<d>(scene.bodies, i, scene.bodies.spin[i]);
    }
}

}  // namespace

template <int d>
SolveReport find_elastic_limit(const Scene<d>& scene, const SolveSettings& settings,
                               const StepMemory<d>& memory, ConeSolution& solution) {
    const ConeProblem& problem = memory.assembled.problem;
    const Delassus W(problem, resolve_threads(settings.threads));
    LeastEnergyOptions options;
    // Forces cannot be better than the velocities they are to give.
    options.tolerance = std::clamp(10 * settings.goal.tolerance, 1e-8, 1e-3);
    return least_energy(W, settings.law, elasticity_of(scene, memory.contacts, problem), options, solution);
}

template <int d>
StepRecord step(Scene<d>& scene, const StepOptions& options, StepMemory<d>& memory) {
    StepRecord record;
    Stages stages;
    StepSeconds& seconds = record.seconds;
    SolveSettings solving = options.solve;
    solving.threads = resolve_threads(options.solve.threads);
    const int threads = solving.threads;
    const double theta = options.theta_or_default();
    const double h = record.h = choose_step(scene, options.h, options.displacement);
    ConeProblem& problem = memory.assembled.problem;

    drive(scene, h);
    free_velocities(scene, h, threads, memory.v_free);
    stages.end(seconds.free);

    detect_for(scene, options, h, memory);
    record.contacts = static_cast<Index>(memory.contacts.size());
    find_overlap(scene, memory.contacts, record);
    stages.end(seconds.detect);

    assemble(scene, memory.contacts, memory.v_free,
             {options.scheme, options.drift, h, theta, threads, options.elastic}, memory.assembled);
    tile_by_cells(scene, scene.joints.empty() ? memory.contacts : memory.assembled.links,
                  {.threads = threads}, problem.tiling);
    recall(memory.warm, memory.contacts, problem, h, memory.solution.r);
    stretch_springs(memory.contacts, memory.solution.r, problem);
    stages.end(seconds.assemble);

    record.solve = solve(problem, solving, memory.solution);
    if (record.solve.status == Status::infeasible || record.solve.status == Status::diverged) {
        // There is no solution to be near to, and impulses that grew without bound would scatter the grains: the last step's stand in.
        Vector r;
        recall(memory.warm, memory.contacts, problem, h, r);
        memory.solution = Delassus(problem, threads).complete(r);
    }
    remember(memory.contacts, problem, h, memory.solution.r, memory.warm);
    stages.end(seconds.solve);

    // Not remembered: they are balanced less well than those of the solver, from which the next solve starts.
    if (options.elastic_limit) record.forces = find_elastic_limit(scene, solving, memory, memory.solution);
    stages.end(seconds.forces);

    if (options.account) {
        account_contacts(scene, memory, record);
        account_joints(scene, memory, record);
        account_scheme(scene, memory, theta, record);
    }
    stages.end(seconds.account);

    integrate(scene, h, theta, memory.v_free, memory.solution.v, threads);
    record.time = scene.time;
    stages.end(seconds.integrate);

    if (options.account) {
        account_turned(scene, record);
        record.energy = energy_of(scene);
    }
    double rest = 0;
    stages.end(rest);
    seconds.account += rest;
    return record;
}

template SolveReport find_elastic_limit(const Scene<2>&, const SolveSettings&, const StepMemory<2>&,
                                        ConeSolution&);
template SolveReport find_elastic_limit(const Scene<3>&, const SolveSettings&, const StepMemory<3>&,
                                        ConeSolution&);
template StepRecord step(Scene<2>&, const StepOptions&, StepMemory<2>&);
template StepRecord step(Scene<3>&, const StepOptions&, StepMemory<3>&);

}  // namespace drystone
