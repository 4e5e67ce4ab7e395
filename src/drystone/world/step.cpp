#include "drystone/world/step.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/contact/elasticity.hpp"
#include "drystone/contact/tiling.hpp"
#include "drystone/continuum/motion.hpp"
#include "drystone/continuum/rows.hpp"
#include "drystone/world/sand_stages.hpp"
#include "drystone/world/share.hpp"

#include <algorithm>

namespace drystone {

template <int d>
SolveReport find_elastic_limit(const Scene<d>& scene, const SolveSettings& settings,
                               const StepMemory<d>& memory, ConeSolution& solution) {
    const ConeProblem& problem = memory.assembled.problem;
    const Delassus& W = memory.W;
    LeastEnergyOptions options;
    // Forces cannot be better than the velocities they are to give.
    options.tolerance = std::clamp(10 * settings.goal.tolerance, 1e-8, 1e-3);
    const Elasticity elasticity = elasticity_of(scene, memory.contacts, problem);
    if (solution.shift.size() == 0) return least_energy(W, settings.law, elasticity, options, solution);
    // What slides is told by the law that was solved.
    const Delassus frozen = W.with_frozen_shift(solution.shift);
    ConeSolution shifted = frozen.complete(solution.r);
    const SolveReport report = least_energy(frozen, Law::associated, elasticity, options, shifted);
    solution.r = shifted.r;
    return report;
}

// What ranks share is in the lines that begin with `if (share)`: on one rank they do nothing. So do those that begin
// with `if (sand)` where there is none.
template <int d>
StepRecord step(Scene<d>& scene, const StepOptions& options, StepMemory<d>& memory, Share<d>* share,
                SandPart<d> sand) {
    StepRecord record;
    StepSums sums;
    StageClock stages;
    StepSeconds& seconds = record.seconds;
    SolveSettings solving = options.solve;
    solving.threads = threads_with_work(scene, options, sand ? sand.sand->particles.id.size() : 0);
    const int threads = solving.threads;
    const double theta = options.theta_or_default();
    ConeProblem& problem = memory.assembled.problem;

    double h = choose_step(scene, options.h, options.displacement);
    if (sand) h = longest_step(scene, *sand.sand, h);
    if (share && options.displacement > 0) h = share->least(h);
    record.h = h;
    drive(scene, h);
    const auto free_motion = [&] {
        free_velocities(scene, h, theta, threads, memory.v_free);
        choose_reach(scene, options, h, memory.v_free, threads, memory.reach);
    };
    free_motion();
    if (sand) drystone::free_motion(scene, *sand.sand, h, threads, *sand.memory);
    stages.end(seconds.free);

    if (share && share->move_bodies(scene, options, h, memory)) {
        free_motion();
        share->connect(scene, options, h, memory);
    }
    at_detection(scene, options.scheme, h, threads, memory, [&] {
        detect<d>(scene, memory.reach, detection(options, threads, memory), memory.neighbours,
                  memory.contacts);
    });
    if (share) share->keep_contacts(scene, threads, memory);
    const Counted counted = share ? share->counted() : Counted{};
    sums.contacts.add(static_cast<double>(counted.number_of(memory.contacts.size())));
    find_overlap(scene, memory.contacts, threads, record);
    stages.end(seconds.detect);

    leave_room(memory);
    assemble(scene, memory.contacts, memory.v_free,
             assemble_options(options, h, threads, share != nullptr, scene, sand), memory.assembled);
    if (sand) add_sand(scene, sand, h, threads, memory.assembled);
    if (share) {
        share->share_momentum(problem);
        share->tile(scene, threads, memory);
    } else {
        tile_by_cells(scene, scene.joints.empty() ? memory.contacts : memory.assembled.links,
                      memory.assembled.contacts, memory.reach,
                      {.threads = threads, .memory = &memory.W.rooms()}, problem.tiling);
    }
    if (sand) add_sand_tiles(sand, memory.assembled);
    const auto joints = problem.rows() - memory.assembled.joint_offset();
    recall(memory.warm, memory.contacts, problem, joints, h, memory.start, threads);
    if (sand) recall(scene, *sand.sand, h, threads, *sand.memory, problem, memory.start);
    if (share) share->recall(memory.start);
    stretch_springs(memory.contacts, memory.start, problem);
    stages.end(seconds.assemble);

    check_problem(problem,
                  share ? std::span(share->exchange().visits_block) : std::span<const std::uint8_t>());
    memory.W.refill(problem, threads, share ? &share->exchange() : nullptr);
    memory.W.set_arithmetic(solving.arithmetic);
    record.solve = solve(memory.W, solving, memory.start, memory.solution);
    refuse_invalid(record.solve);
    if (has_no_motion(record.solve))
        stand_in(memory.W, memory.start, solving.law, memory.solution, record.solve);
    remember(memory.contacts, problem, joints, h, memory.solution.r, memory.warm,
             share ? share->remembered_here() : std::span<const std::uint8_t>(), threads);
    if (sand)
        remember(scene, *sand.sand, h, threads, memory.solution.r, memory.solution.u, problem, *sand.memory);
    memory.v_end.resize(memory.v_free.size(), memory.W.rooms());
    end_velocities(memory.assembled, memory.v_free, memory.W.v_free(), memory.solution.v, threads,
                   memory.v_end);
    stages.end(seconds.solve);

    // Not remembered: they are balanced less well than those of the solver, from which the next solve starts.
    if (options.elastic_limit) record.forces = find_elastic_limit(scene, solving, memory, memory.solution);
    stages.end(seconds.forces);

    if (options.account) account_before(scene, memory, h, theta, counted, sums);
    if (sand && options.account) account_before(scene, memory, sand, h, sums);
    stages.end(seconds.account);

    if (sand)
        integrate(h, memory.solution.v, first_velocity(memory.assembled), threads, *sand.memory, *sand.sand);
    integrate(scene, h, theta, memory.v_end, threads);
    record.time = scene.time;
    record.runaway = find_runaway(scene, threads);
    stages.end(seconds.integrate);

    if (options.account) account_after(scene, counted, sums);
    if (sand && options.account) account_after(scene, sand, sums);
    if (sand) record.nodes = sand.memory->grid.node_count();
    if (share) share->add_up(sums, record);
    sums.write(record);
    record.overlap_allowance = overlap_allowance(options, record);
    stages.end(seconds.account);
    return record;
}

template SolveReport find_elastic_limit(const Scene<2>&, const SolveSettings&, const StepMemory<2>&,
                                        ConeSolution&);
template SolveReport find_elastic_limit(const Scene<3>&, const SolveSettings&, const StepMemory<3>&,
                                        ConeSolution&);
template StepRecord step(Scene<2>&, const StepOptions&, StepMemory<2>&, Share<2>*, SandPart<2>);
template StepRecord step(Scene<3>&, const StepOptions&, StepMemory<3>&, Share<3>*, SandPart<3>);

}  // namespace drystone
