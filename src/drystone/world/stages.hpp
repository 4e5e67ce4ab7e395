// Parts of a step: what step.cpp calls, and what ranks need of it.
#pragma once

#include "drystone/base/exact_sum.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/grains/motion.hpp"
#include "drystone/world/step.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace drystone {

/// Seconds since the last call.
class StageClock {
public:
    void end(double& stage) {
        const double now = timer_.seconds();
        stage += now - last_;
        last_ = now;
    }

private:
    Timer timer_;
    double last_ = 0;
};

/// How near a pair must be to enter the problem: 0 for moreau_jean, which takes only what overlaps.
template <int d>
void choose_reach(const Scene<d>& scene, const StepOptions& options, double h, const Vector& v_free,
                  int threads, std::vector<double>& reach);

/// Of the threads that are asked for, those that bodies and particles of sand keep busy (bodies_per_thread).
template <int d>
int threads_with_work(const Scene<d>& scene, const StepOptions& options, std::size_t particles = 0) {
    const std::size_t size = scene.bodies.id.size() + particles / 10;
    const std::size_t busy = size / static_cast<std::size_t>(std::max(1, options.bodies_per_thread));
    return std::min(resolve_threads(options.solve.threads),
                    static_cast<int>(std::clamp<std::size_t>(busy, 1, most_threads)));
}

/// How detection is to work in a step.
template <int d>
DetectOptions detection(const StepOptions& options, int threads, StepMemory<d>& memory) {
    return {options.skin, threads, &memory.W.rooms()};
}

/// Calls f with the bodies where the scheme wants its contacts: at the beginning of the step, or in its middle.
template <int d, class F>
void at_detection(Scene<d>& scene, Scheme scheme, double h, int threads, StepMemory<d>& memory, F&& f) {
    if (scheme == Scheme::look_ahead) {
        f();
        return;
    }
    memory.position = scene.bodies.position;
    memory.rotation = scene.bodies.rotation;
    drift(scene, 0.5 * h, threads);
    f();
    scene.bodies.position.swap(memory.position);
    scene.bodies.rotation.swap(memory.rotation);
}

/// What the last step has found goes: its room is needed now.
template <int d>
void leave_room(StepMemory<d>& memory) {
    memory.solution.give_to(memory.W.rooms());
    memory.v_end.give_to(memory.W.rooms());
}

/// Which bodies and which contacts are counted: all where a span is empty. Ranks count their own.
struct Counted {
    std::span<const std::uint8_t> bodies, contacts;
    [[nodiscard]] bool body(Index i) const { return bodies.empty() || bodies[i] != 0; }
    [[nodiscard]] bool contact(Index i) const { return contacts.empty() || contacts[i] != 0; }
    /// Of so many contacts.
    [[nodiscard]] std::ptrdiff_t number_of(std::size_t all) const {
        return static_cast<std::ptrdiff_t>(all) - std::count(contacts.begin(), contacts.end(), 0);
    }
};

/// What a step adds up, in exact sums: the same on any number of ranks.
struct StepSums {
    std::array<ExactSum, 10> sums;
    ExactSum &contacts = sums[0], &active = sums[1];
    ExactSum &work_contacts = sums[2], &work_joints = sums[3], &work_held = sums[4], &work_scheme = sums[5];
    ExactSum &kinetic = sums[6], &potential = sums[7];
    ExactSum &work_stress = sums[8], &work_transfer = sums[9];

    StepSums() = default;
    StepSums(const StepSums&) = delete;
    StepSums& operator=(const StepSums&) = delete;
    void write(StepRecord& record) const;
};

/// In builds with assertions: that what was assembled is a problem. `visited`: see find_faults.
void check_problem(const ConeProblem& problem, std::span<const std::uint8_t> visited);

/// Throws Error with the faults where the solver was given data that are no problem: of the solution nothing may be
/// used then. For one rank and several.
void refuse_invalid(const SolveReport& report);

/// True if there is no solution to be near to: impulses that grew without bound would scatter the grains.
inline bool has_no_motion(const SolveReport& report) {
    return report.status == Status::infeasible || report.status == Status::diverged;
}
/// The impulses that the step started from stand in then, and are what is judged.
void stand_in(const Delassus& W, const Vector& start, Law law, ConeSolution& solution, SolveReport& report);

/// For record.runaway, after bodies have moved.
template <int d>
GlobalId find_runaway(const Scene<d>& scene, int threads);

/// Largest overlaps, to record.overlap and record.relative_overlap, and the smallest body with a contact.
template <int d>
void find_overlap(const Scene<d>& scene, const ContactSet<d>& contacts, int threads, StepRecord& record);

/// Of a step that was solved: see StepRecord::overlap_allowance.
double overlap_allowance(const StepOptions& options, const StepRecord& record);

/// Work of contacts, joints and the scheme, before the bodies move: the velocities at the beginning are in the scene,
/// those at the end in the solution. Kinetic energy changes by exactly this and the work of gravity.
template <int d>
void account_before(const Scene<d>& scene, const StepMemory<d>& memory, double h, double theta,
                    const Counted& counted, StepSums& sums);
/// The rest, after they have moved, and the energies.
template <int d>
void account_after(const Scene<d>& scene, const Counted& counted, StepSums& sums);

}  // namespace drystone
