#include "drystone/distributed/step.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/grains/step_parts.hpp"
#include "drystone/run/run_loop.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// How far beyond its bounding ball a body may touch something before parts are made again: its reach, its skin (collide/detect.hpp), and the
/// way to the middle of the step where contacts are looked for there.
template <int d>
void choose_margins(const Scene<d>& scene, const StepOptions& options, double h, const StepMemory<d>& memory,
                    const Part<d>& part, std::vector<double>& margin) {
    margin.assign(scene.bodies.count(), 0.0);
    const bool middle = options.scheme == Scheme::moreau_jean;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (part.owner[i] == everywhere) continue;
        const double outer = scene.outer_radius(i);
        margin[i] = memory.reach[i] + options.detect.skin * std::clamp(scene.inner_radius(i), 0.0, outer) +
                    (middle ? 0.5 * h * scene.bodies.velocity[i].norm() : 0.0) + 1e-6 * outer;
    }
}

/// A body costs as much as so many contacts (its motion, its share of the search for neighbours).
constexpr double contacts_per_body = 0.3;

/// The work in each cell, of the contacts that this rank visits and the bodies that it owns. Answers the sum.
template <int d>
double weigh_cells(const Scene<d>& scene, const TileGrid<d>& grid, Part<d>& part) {
    double sum = 0;
    part.weights.clear();
    auto add = [&](const Image<d>& cell, double weight) {
        part.weights.add(cell, weight);
        sum += weight;
    };
    for (const TilePlace<d>& place : part.held.places)
        if (part.held.ours[place.contact] != 0) add(place.coarse, 1);
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (part.owner[i] == part.team->rank())
            add(grid.coarse_cell(scene.bodies.position[i]), contacts_per_body);
    part.weights.list(grid, part.work);
    return sum;
}

/// A number from 0.5 to 1.5 that follows from a place and a count: what throws a cut off balance in tests.
template <int d>
double any_factor(const Vec<d>& x, std::int64_t count) {
    std::uint64_t bits = static_cast<std::uint64_t>(count) * 0x9e3779b97f4a7c15U;
    for (int k = 0; k < d; ++k)
        bits = (bits ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(1e3 * x[k])))) *
               0xbf58476d1ce4e5b9U;
    return 0.5 + std::ldexp(static_cast<double>((bits ^ (bits >> 31)) >> 11), -53);
}

/// Cuts space anew where that is due; true if it did.
template <int d>
bool rebalance(Part<d>& part) {
    const bool forced = part.balancing.force_every > 0 &&
                        part.steps % part.balancing.force_every == part.balancing.force_every - 1;
    const bool due = part.steps - part.balance.last >= part.balancing.least_steps &&
                     part.imbalance > part.balancing.threshold &&
                     (part.imbalance > part.balancing.hysteresis * part.balance.reached ||
                      part.all_work > 1.5 * part.balance.work);
    if (part.team->count() == 1 || part.steps == 0 || !(forced || due)) return false;
    std::vector<WeighedCell<d>> cells = part.work;
    if (forced)
        for (WeighedCell<d>& cell : cells) cell.weight *= any_factor<d>(cell.mark, part.steps);
    part.partition.balance(cells);
    part.balance.measure = true;
    part.balance.last = part.steps;
    part.balance.work = part.all_work;
    ++part.balance.cuts;
    return true;
}

}  // namespace

template <int d>
void check_for_ranks(const Scene<d>& scene, const StepOptions& options) {
    const char* const cure = "run it on one rank";
    if (!scene.joints.empty()) fail("joint", "joints do not run on several ranks yet", cure);
    if (scene.cell.any()) fail("cell", "a cell under a stress does not run on several ranks yet", cure);
    for (const Drive<d>& drive : scene.drives)
        if (drive.guide)
            fail("drive", "a guided body (a servo wall) does not run on several ranks yet", cure);
    if (options.elastic_limit)
        fail("solver.forces", "forces of the elastic limit are not found on several ranks yet", cure);
}

template <int d>
StepRecord step(Scene<d>& scene, const StepOptions& options, StepMemory<d>& memory, Part<d>& part) {
    const Communicator& team = *part.team;
    StepRecord record;
    StepSums sums;
    StageClock stages;
    StepSeconds& seconds = record.seconds;
    SolveSettings solving = options.solve;
    solving.threads = resolve_threads(options.solve.threads);
    const int threads = solving.threads;
    const double theta = options.theta_or_default();
    ConeProblem& problem = memory.assembled.problem;
    DetectOptions detecting = options.detect;
    detecting.threads = threads;
    detecting.memory = &memory.W.rooms();

    // Shared: the shortest step that any body asks for.
    const double h = record.h = options.displacement > 0
                                    ? -team.largest(-choose_step(scene, options.h, options.displacement))
                                    : options.h;
    drive(scene, h);
    free_velocities(scene, h, theta, threads, memory.v_free);
    choose_reach(scene, options, h, memory.v_free, threads, memory.reach);
    stages.end(seconds.free);

    // Shared: how large bodies are, and whether anybody's neighbours no longer hold; then bodies go to where they belong.
    const bool cut = rebalance(part);
    bool hold = part.is_cut && !cut;
    at_detection(scene, options.scheme, h, threads, memory, [&] {
        hold = hold && neighbours_hold<d>(scene, memory.reach, detecting, memory.neighbours);
    });
    const TileSizes here = tile_sizes<d>(scene, memory.reach);
    std::array<double, 3> agreed = {here.radius, here.size, hold ? 0.0 : 1.0};
    team.largest(agreed);
    const TileGrid<d> grid(scene.domain, {agreed[0], agreed[1]}, TilingOptions{}.cell_width);
    // Cells that have moved have other contacts in them; bodies must be where their cells are.
    if (agreed[2] > 0 || cells_have_moved(part.grid, grid)) {
        std::vector<double> margin;
        choose_margins(scene, options, h, memory, part, margin);
        make_parts<d>(scene, margin, grid, part, memory.warm);
        free_velocities(scene, h, theta, threads, memory.v_free);
        choose_reach(scene, options, h, memory.v_free, threads, memory.reach);
        choose_margins(scene, options, h, memory, part, margin);
        connect_ghosts<d>(scene, margin, part);
        memory.neighbours.valid = false;
    }

    at_detection(scene, options.scheme, h, threads, memory,
                 [&] { detect<d>(scene, memory.reach, detecting, memory.neighbours, memory.contacts); });
    Held<d>& held = part.held;
    choose_held<d>(scene, memory.reach, grid, threads, part, memory.contacts, held);
    find_overlap(scene, memory.contacts, threads, record);
    stages.end(seconds.detect);

    leave_room(memory);
    assemble(scene, memory.contacts, memory.v_free,
             {options.scheme, options.drift, h, theta, threads, options.elastic, true}, memory.assembled);
    // Shared: the free momentum, where the pull of contacts is in it that only the owner knows all of.
    part.ghosts.start(problem.f.data(), problem.common_dim());
    part.ghosts.finish(problem.f.data(), problem.common_dim());
    const double work = weigh_cells(scene, grid, part);
    tile_places<d>(scene, memory.contacts, held.places, {.threads = threads, .memory = &memory.W.rooms()},
                   problem.tiling, held.ours, held.colours);
    Halo<d>& halo = part.halo;
    halo.fill(scene, memory.contacts, problem, held, part, problem.tiling);
    // Shared: what was remembered, from where it was kept.
    recall(memory.warm, memory.contacts, problem, h, memory.start, threads);
    halo.share_from_home(memory.start);
    stretch_springs(memory.contacts, memory.start, problem);
    stages.end(seconds.assemble);

    // Shared, in the solver: bodies after each colour, rows and sums at each look at the residual (cone/exchange.hpp).
    memory.W.refill(problem, threads, &halo.exchange());
    memory.W.set_arithmetic(solving.arithmetic);
    record.solve = solve(memory.W, solving, memory.start, memory.solution);
    refuse_invalid(record.solve);
    if (has_no_motion(record.solve))
        stand_in(memory.W, memory.start, solving.law, memory.solution, record.solve);
    remember(memory.contacts, problem, h, memory.solution.r, memory.warm, held.home, threads);
    memory.v_end.resize(memory.v_free.size(), memory.W.rooms());
    end_velocities(memory.assembled, memory.v_free, memory.W.v_free(), memory.solution.v, threads,
                   memory.v_end);
    stages.end(seconds.solve);

    const Counted counted{part.own, held.ours};
    for (const std::uint8_t ours : held.ours)
        if (ours != 0) sums.contacts.add(1);
    if (options.account) account_before(scene, memory, h, theta, counted, sums);
    stages.end(seconds.account);

    integrate(scene, h, theta, memory.v_end, threads);
    record.time = scene.time;
    stages.end(seconds.integrate);

    if (options.account) account_after(scene, counted, sums);
    // Shared: sums and extremes of the record.
    team.sum(sums.sums);
    sums.write(record);
    std::array<double, 5> worst = {record.overlap, record.relative_overlap, work,
                                   static_cast<double>(find_runaway(scene, threads)), -record.smallest};
    team.largest(worst);
    record.runaway = static_cast<GlobalId>(worst[3]);
    record.overlap = worst[0];
    record.relative_overlap = worst[1];
    record.smallest = -worst[4];
    record.overlap_allowance = overlap_allowance(options, record);
    part.all_work =
        static_cast<double>(record.contacts) + contacts_per_body * static_cast<double>(part.bodies);
    part.imbalance = part.all_work > 0 ? worst[2] * team.count() / part.all_work : 1;
    if (part.balance.measure) part.balance.reached = part.imbalance;
    part.balance.measure = false;
    ++part.steps;
    stages.end(seconds.account);
    return record;
}

namespace {

/// By body: 1 if this rank counts it. Before the first cut every rank has every body, and one of them counts.
template <int d>
std::vector<std::uint8_t> counted_here(const Scene<d>& scene, const Part<d>& part) {
    std::vector<std::uint8_t> counted(scene.bodies.count(), 0);
    for (Index i = 0; i < scene.bodies.count(); ++i)
        counted[i] = part.owner[i] == part.team->rank() || (part.owner[i] < 0 && part.team->rank() == 0);
    return counted;
}

/// Of the bodies of all ranks.
template <int d>
Energy energy_of_all(const Scene<d>& scene, const Part<d>& part) {
    const std::vector<std::uint8_t> counted = counted_here(scene, part);
    StepSums sums;
    account_after(scene, {counted, {}}, sums);
    part.team->sum(sums.sums);
    return {sums.kinetic.value(), sums.potential.value()};
}

/// Sinks take away what they hold on each rank. Sources need to know what is near them: all ranks borrow that, and draw the same grains;
/// parts that are made anew then keep each where it belongs.
template <int d>
void feed_before(Scene<d>& scene, const Feeds<d>& feeds, double h, StepMemory<d>& memory,
                 RunProgress& progress, Part<d>& part) {
    if (feeds.empty()) return;
    FeedChange change;
    std::vector<std::uint8_t> gone;
    std::vector<ExactSum> sums;
    find_drained<d>(scene, feeds, counted_here(scene, part), gone, sums);
    part.team->sum(sums);
    std::vector<int> left;
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (gone[i] == 0) left.push_back(part.owner[i]);
    drain(scene, gone, sums, progress.feed, change);
    part.owner = std::move(left);
    if (pours(scene, feeds, h, progress.feed)) {
        for (const Source<d>& source : feeds.sources) {
            const double radius = largest_radius(scene, source.recipe);
            borrow_near(scene, bounds_of<d>(source.region).widened(2 * radius), part);
        }
    }
    pour(scene, feeds, h, progress.feed, change);
    part.owner.resize(scene.bodies.id.size(), unassigned);
    progress.summary.fed_energy += change.energy;
    if (change.any()) memory.neighbours.valid = false;
}

}  // namespace

template <int d>
void simulate(Scene<d>& scene, const RunOptions& options, const Feeds<d>& feeds, StepMemory<d>& memory,
              RunProgress& progress, Part<d>& part, const Observer<d>& observe) {
    check_for_ranks(scene, options.step);
    if (part.owner.empty()) own_nothing_yet(scene, part);
    run_loop(
        scene, options, feeds, memory, progress, observe,
        [&](double h) { return -part.team->largest(-choose_step(scene, h, options.step.displacement)); },
        [&](double h) { feed_before(scene, feeds, h, memory, progress, part); },
        [&](const StepOptions& stepping) { return step(scene, stepping, memory, part); },
        [&] { return energy_of_all(scene, part); });
}

#define DRYSTONE_STEP(d)                                                                                \
    template void check_for_ranks(const Scene<d>&, const StepOptions&);                                 \
    template StepRecord step(Scene<d>&, const StepOptions&, StepMemory<d>&, Part<d>&);                  \
    template void simulate(Scene<d>&, const RunOptions&, const Feeds<d>&, StepMemory<d>&, RunProgress&, \
                           Part<d>&, const Observer<d>&)
DRYSTONE_STEP(2);
DRYSTONE_STEP(3);
#undef DRYSTONE_STEP

}  // namespace drystone
