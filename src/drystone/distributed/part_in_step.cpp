// What a step shares: world/step.cpp says when each of these is called.
#include "drystone/base/error.hpp"
#include "drystone/distributed/part.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

/// How far beyond its bounding ball a body may touch something before parts are made again: its reach, its skin
/// (collide/detect.hpp), and the way to the middle of the step where contacts are looked for there.
template <int d>
void choose_margins(const Scene<d>& scene, const StepOptions& options, double h, const StepMemory<d>& memory,
                    const Part<d>& part, std::vector<double>& margin) {
    margin.assign(scene.bodies.count(), 0.0);
    const bool middle = options.scheme == Scheme::moreau_jean;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (part.owner[i] == everywhere) continue;
        const double outer = scene.outer_radius(i);
        margin[i] = memory.reach[i] + options.skin * std::clamp(scene.inner_radius(i), 0.0, outer) +
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
void Part<d>::begin(const Scene<d>& scene, const StepOptions& stepping) {
    check_for_ranks(scene, stepping);
    if (owner.empty()) own_nothing_yet(scene, *this);
}

template <int d>
double Part<d>::least(double x) const {
    return -team->largest(-x);
}

template <int d>
void Part<d>::sum(std::span<ExactSum> sums) const {
    team->sum(sums);
}

template <int d>
bool Part<d>::move_bodies(Scene<d>& scene, const StepOptions& stepping, double h, StepMemory<d>& memory) {
    const bool cut = rebalance(*this);
    bool hold = is_cut && !cut;
    const DetectOptions detecting = detection(stepping, threads_with_work(scene, stepping), memory);
    at_detection(scene, stepping.scheme, h, detecting.threads, memory, [&] {
        hold = hold && neighbours_hold<d>(scene, memory.reach, detecting, memory.neighbours);
    });
    const TileSizes here = tile_sizes<d>(scene, memory.reach);
    std::array<double, 3> agreed = {here.radius, here.size, hold ? 0.0 : 1.0};
    team->largest(agreed);
    grid_now = TileGrid<d>(scene.domain, {agreed[0], agreed[1]}, TilingOptions{}.cell_width);
    // Cells that have moved have other contacts in them; bodies must be where their cells are.
    if (agreed[2] == 0 && !cells_have_moved(grid, grid_now)) return false;
    std::vector<double> margin;
    choose_margins(scene, stepping, h, memory, *this, margin);
    make_parts<d>(scene, margin, grid_now, *this, memory.warm);
    memory.neighbours.valid = false;
    return true;
}

template <int d>
void Part<d>::connect(const Scene<d>& scene, const StepOptions& stepping, double h,
                      const StepMemory<d>& memory) {
    std::vector<double> margin;
    choose_margins(scene, stepping, h, memory, *this, margin);
    connect_ghosts<d>(scene, margin, *this);
}

template <int d>
void Part<d>::keep_contacts(const Scene<d>& scene, int threads, StepMemory<d>& memory) {
    choose_held<d>(scene, memory.reach, grid_now, threads, *this, memory.contacts, held);
}

template <int d>
void Part<d>::share_momentum(ConeProblem& problem) {
    ghosts.start(problem.f.data(), problem.common_dim());
    ghosts.finish(problem.f.data(), problem.common_dim());
}

template <int d>
void Part<d>::tile(const Scene<d>& scene, int threads, StepMemory<d>& memory) {
    ConeProblem& problem = memory.assembled.problem;
    work_here = weigh_cells(scene, grid_now, *this);
    tile_places<d>(scene, memory.contacts, held.places, {.threads = threads, .memory = &memory.W.rooms()},
                   problem.tiling, held.ours, held.colours);
    halo.fill(scene, memory.contacts, problem, held, *this, problem.tiling);
}

template <int d>
void Part<d>::add_up(StepSums& sums, StepRecord& record) {
    team->sum(sums.sums);
    std::array<double, 5> worst = {record.overlap, record.relative_overlap, work_here,
                                   static_cast<double>(record.runaway), -record.smallest};
    team->largest(worst);
    record.overlap = worst[0];
    record.relative_overlap = worst[1];
    record.runaway = static_cast<GlobalId>(worst[3]);
    record.smallest = -worst[4];
    all_work = sums.contacts.value() + contacts_per_body * static_cast<double>(bodies);
    imbalance = all_work > 0 ? worst[2] * team->count() / all_work : 1;
    if (balance.measure) balance.reached = imbalance;
    balance.measure = false;
    ++steps;
}

template <int d>
std::vector<std::uint8_t> Part<d>::counted_bodies(const Scene<d>& scene) const {
    std::vector<std::uint8_t> here(scene.bodies.count(), 0);
    for (Index i = 0; i < scene.bodies.count(); ++i)
        here[i] = owner[i] == team->rank() || (owner[i] < 0 && team->rank() == 0);
    return here;
}

template <int d>
void Part<d>::forget(std::span<const std::uint8_t> gone) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < owner.size(); ++i)
        if (gone[i] == 0) owner[kept++] = owner[i];
    owner.resize(kept);
}

template <int d>
void Part<d>::welcome(const Scene<d>& scene) {
    owner.resize(scene.bodies.id.size(), unassigned);
}

#define DRYSTONE_PART(d)                                                \
    template void check_for_ranks(const Scene<d>&, const StepOptions&); \
    template struct Part<d>
DRYSTONE_PART(2);
DRYSTONE_PART(3);
#undef DRYSTONE_PART

}  // namespace drystone
