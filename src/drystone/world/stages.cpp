#include "drystone/world/stages.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/parallel_sum.hpp"
#include "drystone/cone/judge.hpp"
#include "drystone/grains/motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace drystone {

namespace {

/// Adds what guides, springs and motors do in a step to the speeds of their bodies, and lets joints carry them: of
/// bodies that are tied together all may be as fast as the fastest.
template <int d>
void add_known_pushes(const Scene<d>& scene, double h, std::vector<double>& speed) {
    const Bodies<d>& bodies = scene.bodies;
    for (const Drive<d>& drive : scene.drives) {
        const Index i = drive.guide ? bodies.index_of(drive.body) : -1;
        if (i >= 0) speed[i] += h * std::abs(drive.guide->force) / drive.guide->mass;
    }
    if (scene.joints.empty()) return;
    std::vector<Index> tied(bodies.count());  // towards the smallest number of those tied together
    std::iota(tied.begin(), tied.end(), 0);
    const auto root_of = [&](Index i) {
        while (tied[i] != i) i = tied[i] = tied[tied[i]];
        return i;
    };
    for (const Joint<d>& joint : scene.joints) {
        const Index a = bodies.index_of(joint.a), b = joint.b ? bodies.index_of(*joint.b) : -1;
        if (a < 0 || (joint.b && b < 0)) continue;
        double force = 0, torque = 0, pace = 0, turning = 0;
        if (joint.kind == JointKind::spring || joint.kind == JointKind::distance) {
            const auto place = [&](Index i, const Vec<d>& point) -> Vec<d> {
                return scene.unwrapped(i) + matrix(bodies.rotation[i]) * point;
            };
            const Vec<d> place_b = b >= 0 ? place(b, joint.point_b) : joint.point_b;
            const double stretch = std::abs((place(a, joint.point_a) - place_b).norm() - joint.length);
            if (joint.kind == JointKind::spring)
                force = joint.stiffness * stretch;
            else
                pace = stretch / h;
        } else if (joint.kind == JointKind::slider) {
            force = std::abs(joint.effort);
            pace = std::abs(joint.speed.value_or(0));
        } else {
            torque = std::abs(joint.effort);
            turning = std::abs(joint.speed.value_or(0));
        }
        for (const Index i : {a, b}) {
            if (i < 0) continue;
            const double arm = (i == a ? joint.point_a : joint.point_b).norm();
            const double size = std::isfinite(scene.outer_radius(i)) ? scene.outer_radius(i) + arm : arm;
            speed[i] += bodies.spin[i].norm() * arm;
            if (!bodies.is_free(i)) continue;
            speed[i] += pace + turning * size + h * force / bodies.mass[i] +
                        h * (torque + force * arm) / bodies.inertia[i].minCoeff() * size;
        }
        if (b < 0) continue;
        if (bodies.yields(a) && bodies.yields(b)) {
            const auto [first, second] = std::minmax({root_of(a), root_of(b)});
            tied[second] = first;
        } else {
            for (const Index i : {a, b})
                if (bodies.yields(i)) speed[i] = std::max(speed[a], speed[b]);
        }
    }
    for (Index i = 0; i < bodies.count(); ++i) speed[root_of(i)] = std::max(speed[root_of(i)], speed[i]);
    for (Index i = 0; i < bodies.count(); ++i) speed[i] = speed[root_of(i)];
}

/// A body that goes through a whole period in a step meets every body, and all of their images.
template <int d>
void refuse_whole_periods(const Scene<d>& scene, double h, double cell, const std::vector<double>& speed) {
    double shortest = infinity;
    for (int k = 0; k < d; ++k)
        if (scene.domain.period[k] > 0) shortest = std::min(shortest, scene.domain.period[k]);
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        const double way = h * (speed[i] + cell);
        if (way <= shortest) continue;
        fail(fmt::format("body {}", scene.bodies.id[i]),
             fmt::format("it moves by {:.3g} m in a step, and the domain repeats every {:.3g} m", way,
                         shortest),
             "shorten [time] step, or look for a wrong velocity");
    }
}

}  // namespace

template <int d>
void choose_reach(const Scene<d>& scene, const StepOptions& options, double h, const Vector& v_free,
                  int threads, std::vector<double>& reach) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    reach.assign(bodies.count(), 0.0);
    if (options.scheme == Scheme::moreau_jean) return;
    // Images of a shrinking cell come nearer by themselves. (Those of a sheared one pass as their neighbours inside
    // do.)
    const double cell = 0.5 * scene.domain.rate.cwiseProduct(scene.domain.period).cwiseAbs().sum();
    parallel_for(threads, bodies.count(), [&](Index i) {
        const auto v = v_free.template segment<n>(static_cast<Eigen::Index>(i) * n);
        reach[i] = v.template head<d>().norm();
        // A ball's surface does not move when it turns; a half-space or a mesh that turns is taken as slow.
        if (!std::holds_alternative<Ball<d>>(scene.shape_of(i)) && std::isfinite(scene.outer_radius(i)))
            reach[i] += v.template tail<spins<d>>().norm() * scene.outer_radius(i);
    });
    add_known_pushes(scene, h, reach);
    if (scene.domain.periodic()) refuse_whole_periods(scene, h, cell, reach);
    parallel_for(threads, bodies.count(), [&](Index i) {
        if (!bodies.yields(i) && bodies.velocity[i].isZero(0) && bodies.spin[i].isZero(0)) {
            reach[i] = 0;
            return;
        }
        const double least = bodies.is_free(i) ? options.reach * scene.inner_radius(i) : 0;
        reach[i] = std::max(least, 2 * h * (reach[i] + cell));
    });
}

void check_problem([[maybe_unused]] const ConeProblem& problem,
                   [[maybe_unused]] std::span<const std::uint8_t> visited) {
#ifndef NDEBUG
    const std::vector<std::string> faults = find_faults(problem, visited);
    // Numbers that are out of range are the user's, and are told of by the solve.
    if (!faults.empty() && numbers_in_range(problem, 1))
        fail("the contact problem of the step", faults.front(), "report this");
#endif
}

void refuse_invalid(const SolveReport& report) {
    if (report.status == Status::invalid)
        fail("the contact problem of the step", "it cannot be solved: " + report.message,
             "look for masses, velocities, stiffnesses or steps that are far too small or too large");
}

void stand_in(const Delassus& W, const Vector& start, Law law, ConeSolution& solution, SolveReport& report) {
    solution.r.resize(start.size(), W.rooms());
    solution.r = start;
    W.complete(std::move(solution.r), solution);
    report.residual = judge(W, solution, law);
}

template <int d>
GlobalId find_runaway(const Scene<d>& scene, int threads) {
    const Bodies<d>& bodies = scene.bodies;
    struct Found {
        GlobalId id = -1;
        void add(const Found& other) { id = std::max(id, other.id); }
    };
    return parallel_merge<Found>(threads, bodies.count(),
                                 [&](Index i, Found& found) {
                                     const double sum = bodies.position[i].squaredNorm() +
                                                        bodies.velocity[i].squaredNorm() +
                                                        bodies.spin[i].squaredNorm();
                                     // Not a number is not below anything.
                                     if (!(sum < most_number * most_number))
                                         found.id = std::max(found.id, bodies.id[i]);
                                 })
        .id;
}

template <int d>
void find_overlap(const Scene<d>& scene, const ContactSet<d>& contacts, int threads, StepRecord& record) {
    struct Found {
        double smallest = infinity, overlap = 0, relative = 0;
        void add(const Found& other) {
            smallest = std::min(smallest, other.smallest);
            overlap = std::max(overlap, other.overlap);
            relative = std::max(relative, other.relative);
        }
    };
    const Found all =
        parallel_merge<Found>(threads, static_cast<Index>(contacts.size()), [&](Index k, Found& found) {
            const Contact<d>& c = contacts[k];
            const double size =
                std::min(scene.bodies.is_free(c.a) ? scene.inner_radius(c.a) : scene.inner_radius(c.b),
                         scene.bodies.is_free(c.b) ? scene.inner_radius(c.b) : scene.inner_radius(c.a));
            found.add({size, std::max(0.0, -c.gap), std::max(0.0, -c.gap / size)});
        });
    record.smallest = std::min(record.smallest, all.smallest);
    record.overlap = std::max(record.overlap, all.overlap);
    record.relative_overlap = std::max(record.relative_overlap, all.relative);
}

double overlap_allowance(const StepOptions& options, const StepRecord& record) {
    if (options.scheme == Scheme::moreau_jean || options.elastic) return INFINITY;
    // Where much is at stake the residual may allow more than anybody wants, radii.
    constexpr double most_allowed = 0.01;
    const double speed = record.solve.residual.law.velocity + record.solve.shift_error.closing;
    return speed > 0 ? std::min(record.h * speed / record.smallest, most_allowed) : 0;
}

namespace {

/// With the mean of the velocities at begin and end.
template <int d>
void account_contacts(const Scene<d>& scene, const StepMemory<d>& memory, const Counted& counted,
                      StepSums& sums) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    for (Index i = 0; i < memory.assembled.contacts; ++i) {
        if (!counted.contact(i)) continue;
        const Contact<d>& c = memory.contacts[i];
        const Vec<d> impulse = impulse_of(memory.assembled, memory.solution.r, c, i);
        if (impulse.isZero(0)) continue;
        const Spin<d> turning = torque_of(memory.assembled, memory.solution.r, c, i);
        sums.active.add(1);
        double work = 0;
        auto side = [&](Index j, const Vec<d>& arm, double sign) {
            if (!bodies.is_free(j)) {
                sums.work_held.add(-sign * (impulse.dot(bodies.velocity[j] + cross(bodies.spin[j], arm) +
                                                        belt_velocity(scene, j, c.normal)) +
                                            turning.dot(bodies.spin[j])));
                return;
            }
            const auto end = memory.v_end.template segment<n>(static_cast<Eigen::Index>(j) * n);
            const auto free = memory.v_free.template segment<n>(static_cast<Eigen::Index>(j) * n);
            const Vec<d> velocity = 0.5 * (bodies.velocity[j] + end.template head<d>());
            // The spin that the step starts from is the free one: see free_velocities.
            const Spin<d> spin = 0.5 * (free.template tail<spins<d>>() + end.template tail<spins<d>>());
            work += sign * (impulse.dot(velocity + cross(spin, arm)) + turning.dot(spin));
        };
        side(c.a, c.arm_a, 1);
        side(c.b, c.arm_b, -1);
        sums.work_contacts.add(work);
    }
}

template <int d>
void account_joints(const Scene<d>& scene, const StepMemory<d>& memory, StepSums& sums) {
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
                Eigen::Matrix<double, n, 1> twice = memory.v_end.template segment<n>(at);
                twice.template head<d>() += bodies.velocity[j];
                twice.template tail<spins<d>>() += memory.v_free.template segment<spins<d>>(at + d);
                sums.work_joints.add(0.5 * r.dot(rows * twice));
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

/// The scheme's own share of the work. Free turning has none: it keeps its energy (bodies/free_rotation.hpp).
template <int d>
void account_scheme(const Scene<d>& scene, const StepMemory<d>& memory, double h, double theta,
                    const Counted& counted, StepSums& sums) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.is_free(i) || !counted.body(i)) continue;
        const auto end = memory.v_end.template segment<n>(static_cast<Eigen::Index>(i) * n);
        const Vec<d> change = end.template head<d>() - bodies.velocity[i];
        sums.work_scheme.add((0.5 - theta) * h * bodies.mass[i] * scene.gravity.dot(change));
    }
}

}  // namespace

template <int d>
void account_before(const Scene<d>& scene, const StepMemory<d>& memory, double h, double theta,
                    const Counted& counted, StepSums& sums) {
    account_contacts(scene, memory, counted, sums);
    account_joints(scene, memory, sums);
    account_scheme(scene, memory, h, theta, counted, sums);
}

template <int d>
void account_after(const Scene<d>& scene, const Counted& counted, StepSums& sums) {
    const Bodies<d>& bodies = scene.bodies;
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.is_free(i) || !counted.body(i)) continue;
        const double turning = turning_energy<d>(bodies, i, bodies.spin[i]);
        sums.kinetic.add(0.5 * bodies.mass[i] * bodies.velocity[i].squaredNorm() + turning);
        sums.potential.add(-bodies.mass[i] * scene.gravity.dot(scene.unwrapped(i)));
    }
}

void StepSums::write(StepRecord& record) const {
    record.contacts = static_cast<std::int64_t>(contacts.value());
    record.active = static_cast<std::int64_t>(active.value());
    record.work = {work_contacts.value(), work_joints.value(), work_held.value(),
                   work_scheme.value(),   work_stress.value(), work_transfer.value()};
    record.energy = {kinetic.value(), potential.value()};
}

#define DRYSTONE_STEP_PARTS(d)                                                                          \
    template void choose_reach(const Scene<d>&, const StepOptions&, double, const Vector&, int,         \
                               std::vector<double>&);                                                   \
    template GlobalId find_runaway(const Scene<d>&, int);                                               \
    template void find_overlap(const Scene<d>&, const ContactSet<d>&, int, StepRecord&);                \
    template void account_before(const Scene<d>&, const StepMemory<d>&, double, double, const Counted&, \
                                 StepSums&);                                                            \
    template void account_after(const Scene<d>&, const Counted&, StepSums&)
DRYSTONE_STEP_PARTS(2);
DRYSTONE_STEP_PARTS(3);
#undef DRYSTONE_STEP_PARTS

}  // namespace drystone
