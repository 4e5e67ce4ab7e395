// One simulation on several ranks: seconds and memory, messages and bytes, and the exchange of a sweep beside plain
// MPI.
//
//     mpirun -n N ranks [--spheres S] [--steps K] [--weak] [--mode exact|split] [--threads T] [--slabs] [--json FILE]
//
// The box of `growth`: S spheres (with --weak: S for each rank, in a box that grows so that parts stay cubes) on a
// lattice, nearly touching, that begin to settle. `ranks_table.py` runs this on several numbers of ranks and compares;
// docs/scaling.md says what for.
//
// Last line: seconds_per_step T bytes_per_sphere B exchange_ratio R
#include "common/noise.hpp"
#include "common/settled.hpp"
#include "drystone/base/error.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/distributed/part.hpp"
#include "drystone/run/simulate.hpp"
#include "drystone/world/stages.hpp"
#include "ranks_exchange.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <malloc.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <numeric>
#include <set>

namespace {

using namespace drystone;
using Json = nlohmann::ordered_json;

struct Settings {
    Index spheres = 100'000;
    int steps = 5, warm_up = 20, repeat = 1, threads = 1, repetitions = 200, sweeps = 20;
    bool weak = false, slabs = false;
    std::string mode = "exact", json;
};

// --- The scene -------------------------------------------------------------------------------------------

/// Sites of the lattice along x, y and z, and how many of them hold a sphere.
struct Lattice {
    std::array<Index, 3> sites;
    Index count;
};

/// Strong: the cube that `growth` fills. Weak: one cube for each rank, side by side as a bisection of the longest side
/// would cut them.
Lattice choose_lattice(const Settings& settings, int ranks) {
    const auto side = static_cast<Index>(std::max(1.0, std::round(std::cbrt(settings.spheres))));
    Lattice lattice{{side, side, side}, settings.spheres};
    if (!settings.weak) return lattice;
    int left = ranks;
    for (int k = 0, factor = 2; left > 1; ++factor)
        for (; left % factor == 0; left /= factor, k = (k + 1) % 3) lattice.sites[k] *= factor;
    lattice.count = lattice.sites[0] * lattice.sites[1] * lattice.sites[2];
    return lattice;
}

/// Spheres [first, last) of box_of_grains() (common/settled.hpp), with the ids that they have among all, and the walls
/// with the first.
Scene<3> box_of_spheres(const Lattice& lattice, Index first, Index last) {
    const Noise noise(7);
    constexpr double diameter = 0.0981, spacing = 1.11 * diameter;
    Scene<3> scene;
    scene.materials.add({"stone", 2500}, {0.5, 0, 0});
    scene.gravity = {0, 0, -9.81};
    const Index half_space = scene.add_shape(HalfSpace<3>{});
    BodyPlan<3> grain;
    grain.shape = scene.add_shape(Ball<3>{1});
    constexpr GlobalId walls = 5;
    auto add_wall = [&](const Vec<3>& point, const Vec<3>& normal) {
        BodyPlan<3> wall;
        wall.shape = half_space;
        wall.motion = Motion::held;
        wall.pose.position = point;
        wall.pose.rotation.q = Eigen::Quaterniond::FromTwoVectors(Vec<3>(Vec<3>::UnitZ()), normal);
        scene.add_body(wall);
    };
    if (first == 0) {
        add_wall(Vec<3>::Zero(), Vec<3>::UnitZ());
        for (int k = 0; k < 2; ++k) {
            add_wall(Vec<3>::Zero(), Vec<3>::Unit(k));
            add_wall(spacing * lattice.sites[k] * Vec<3>::Unit(k), -Vec<3>::Unit(k));
        }
    }
    scene.bodies.next_id = walls + first;
    const auto [nx, ny, nz] = lattice.sites;
    for (Index i = first; i < last; ++i) {
        const auto object = static_cast<std::uint64_t>(i) + 100000;
        grain.size = diameter / 2 * (1 + 0.1 * noise(object, 0));
        const Vec<3> site(i % nx, (i / nx) % ny, i / (nx * ny));
        grain.pose.position =
            spacing * (site + Vec<3>::Constant(0.5)) + 0.005 * diameter * noise.vector(object, 1);
        scene.add_body(grain);
    }
    scene.bodies.next_id = walls + lattice.count;
    return scene;
}

StepOptions step_options(const Settings& settings) {
    StepOptions options;
    options.h = 4e-3;
    options.solve.threads = settings.threads;
    options.solve.goal.tolerance = 1e-3;
    options.account = false;
    return options;
}

// --- What each rank says of itself -----------------------------------------------------------------------

/// A line of /proc/self/status, in bytes.
double memory_line(std::string_view name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name)) return 1024 * std::stod(line.substr(name.size()));
    return 0;
}

/// From here on VmHWM is the peak since this call (Linux; elsewhere it stays that of the whole run).
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5\n"; }

/// Of this process so far: what a busy machine does not change.
double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

constexpr std::size_t talks = talk_names.size();

/// One step on one rank.
struct StepFigures {
    std::array<double, 6> seconds{};  ///< by stage_names
    double total = 0;
    double cpu = 0;  ///< of all threads of the rank; what waits for others spins, and is counted
    std::array<double, talks> messages{}, bytes{};
};
constexpr std::array stage_names = {"free", "detect", "assemble", "solve", "integrate", "account"};

constexpr std::size_t most_colours = 64;

/// The plan of the last step, on one rank.
struct PlanFigures {
    double own = 0, copies = 0;               ///< bodies that this rank owns, and those of others that it has
    double shared = 0;                        ///< bodies that this rank and others visit: surface grains
    double contacts = 0, held = 0;            ///< contacts that it visits, and all that it holds
    double neighbours = 0;                    ///< ranks that it exchanges bodies with
    double sweep_messages = 0, sent = 0;      ///< of one sweep: messages, and bodies in them
    std::array<double, most_colours> work{};  ///< contacts it visits, by colour
    double peak = 0, peak_of_steps = 0, left = 0;  ///< memory, bytes
};

template <class T>
std::vector<T> gather(const Communicator& team, const T& here) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(team.rank() == 0 ? static_cast<std::size_t>(team.count()) : 0);
    MPI_Gather(&here, sizeof here, MPI_BYTE, all.data(), sizeof here, MPI_BYTE, 0, team.comm());
    return all;
}

/// Largest over ranks, mean over ranks, and sum of what f takes out of each rank's figures.
struct Spread {
    double largest = 0, mean = 0, sum = 0;
};
template <class T, class F>
Spread spread(const std::vector<T>& ranks, F&& f) {
    Spread s;
    for (const T& rank : ranks) {
        s.largest = std::max(s.largest, static_cast<double>(f(rank)));
        s.sum += f(rank);
    }
    s.mean = ranks.empty() ? 0 : s.sum / static_cast<double>(ranks.size());
    return s;
}
Json as_json(const Spread& s) { return {{"mean", s.mean}, {"largest", s.largest}}; }

// --- Timed steps -----------------------------------------------------------------------------------------

/// A step as rank 0 knows it.
struct StepLine {
    std::int64_t contacts = 0;
    int sweeps = 0;
    double residual = 0;
    std::vector<StepFigures> ranks;
    [[nodiscard]] double seconds() const {
        return spread(ranks, [](const StepFigures& r) { return r.total; }).largest;
    }
};

StepLine timed_step(Scene<3>& scene, const StepOptions& options, StepMemory<3>& memory, Part<3>& part) {
    const Communicator& team = *part.team;
    auto traffic = [&] {
        std::array<Traffic, talks> t;
        for (std::size_t k = 0; k < talks; ++k) t[k] = team.traffic(static_cast<Talk>(k));
        return t;
    };
    team.barrier();
    const std::array<Traffic, talks> before = traffic();
    const double cpu = cpu_seconds();
    const StepRecord record = step(scene, options, memory, &part);
    const std::array<Traffic, talks> after = traffic();
    const StepSeconds& s = record.seconds;
    StepFigures here{.seconds = {s.free, s.detect, s.assemble, s.solve, s.integrate, s.account},
                     .total = s.total(),
                     .cpu = cpu_seconds() - cpu};
    for (std::size_t k = 0; k < talks; ++k) {
        here.messages[k] = static_cast<double>(after[k].messages - before[k].messages);
        here.bytes[k] = static_cast<double>(after[k].bytes - before[k].bytes);
    }
    return {record.contacts, record.solve.iterations, record.solve.residual.value, gather(team, here)};
}

// --- The exchange of one sweep ---------------------------------------------------------------------------

/// What a step decides before it solves (world/step.cpp), so that its exchanges can be run alone; r is its start.
/// False where the next step would make parts anew.
bool make_plan(Scene<3>& scene, const StepOptions& options, StepMemory<3>& memory, Part<3>& part, Vector& r) {
    const int threads = resolve_threads(options.solve.threads);
    const DetectOptions detecting = detection(options, threads, memory);
    free_velocities(scene, options.h, 1.0, threads, memory.v_free);
    choose_reach(scene, options, options.h, memory.v_free, 1, memory.reach);
    const bool hold = neighbours_hold<3>(scene, memory.reach, detecting, memory.neighbours);
    const TileSizes here = tile_sizes<3>(scene, memory.reach);
    std::array<double, 3> agreed = {here.radius, here.size, hold ? 0.0 : 1.0};
    part.team->largest(agreed);
    const TileGrid<3> grid(scene.domain, {agreed[0], agreed[1]}, TilingOptions{}.cell_width);
    if (agreed[2] > 0 || grid.unit != part.grid.unit) return false;

    detect<3>(scene, memory.reach, detecting, memory.neighbours, memory.contacts);
    choose_held<3>(scene, memory.reach, grid, threads, part, memory.contacts, part.held);
    ConeProblem& problem = memory.assembled.problem;
    assemble(scene, memory.contacts, memory.v_free,
             {.h = options.h, .theta = options.theta_or_default(), .threads = threads, .all_bodies = true},
             memory.assembled);
    tile_places<3>(scene, memory.contacts, part.held.places, {.threads = threads}, problem.tiling,
                   part.held.ours, part.held.colours);
    part.halo.fill(scene, memory.contacts, problem, part.held, part, problem.tiling);
    recall(memory.warm, memory.contacts, problem, 0, options.h, r);
    part.halo.share_from_home(r);
    return true;
}

/// Seconds of one sweep, the slowest rank's.
struct ExchangeFigures {
    double channels = 0, plain = 0;  ///< exchanges of bodies, without any visit: ours, and MPI alone
    double sums = 0;                 ///< the exact sums of one sweep
    double visits = 0;               ///< visits alone, nobody told of anything
    double sweep = 0;                ///< all of it
    double fastest_visit = 0;        ///< seconds per contact, the mean over ranks
    double small_message = 0, large_bandwidth = 0;  ///< between ranks 0 and 1: s one way, bytes/s
    int stride = 0;                                 ///< numbers per body
};

ExchangeFigures time_exchange(const Settings& settings, const StepMemory<3>& memory, const Part<3>& part,
                              const Vector& start) {
    const Communicator& team = *part.team;
    const ConeProblem& problem = memory.assembled.problem;
    const Exchange& exchange = part.halo.exchange();
    const int threads = resolve_threads(settings.threads);
    ExchangeFigures figures;

    // Sweeps with everything, and with ranks that say nothing to each other (their results are of no use, their time
    // is).
    Exchange silent = exchange;
    silent.start = [&](double* /*data*/, int stride, Index /*colour*/) { figures.stride = stride; };
    silent.finish = [](double* /*data*/, int /*stride*/, Index /*colour*/) {};
    silent.sum = [](std::span<ExactSum> /*sums*/) {};
    double contacts =
        static_cast<double>(std::count(part.held.ours.begin(), part.held.ours.end(), std::uint8_t{1}));
    auto seconds_per_sweep = [&](const Exchange& with, double& per_contact) {
        const Delassus W(problem, threads, &with);
        double best = INFINITY;
        for (int k = 0; k < 3; ++k) {
            Vector r = start;
            team.barrier();
            best = std::min(best, run_sweeps(W, Law::coulomb, {}, settings.sweeps, r) / settings.sweeps);
        }
        std::array<double, 1> slowest = {best};
        per_contact = best / std::max(1.0, contacts);
        team.largest(slowest);
        return slowest[0];
    };
    double unused = 0;
    figures.visits = seconds_per_sweep(silent, figures.fastest_visit);
    figures.sweep = seconds_per_sweep(exchange, unused);
    figures.fastest_visit = -team.largest(-figures.fastest_visit);
    if (team.count() == 1) return figures;

    Vector z = Vector::Zero(static_cast<Eigen::Index>(problem.bodies()) * figures.stride);
    PlainExchange plain(team, part.halo.sweep_channels(), figures.stride);
    const auto colours = static_cast<Index>(part.halo.sweep_channels().size());
    std::array<ExactSum, 3> sums;
    const std::vector<double> seconds = medians(team, settings.repetitions,
                                                {[&] {
                                                     for (Index c = 0; c < colours; ++c) {
                                                         exchange.start(z.data(), figures.stride, c);
                                                         exchange.finish(z.data(), figures.stride, c);
                                                     }
                                                 },
                                                 plain, [&] { exchange.sum(sums); }});
    figures.channels = seconds[0];
    figures.plain = seconds[1];
    figures.sums = seconds[2];
    constexpr std::size_t large = 1 << 20;
    figures.small_message = ping_pong(team, 8, settings.repetitions);
    figures.large_bandwidth = static_cast<double>(large) / ping_pong(team, large, 30);
    return figures;
}

void describe(const StepMemory<3>& memory, const Part<3>& part, PlanFigures& here) {
    for (const int owner : part.owner) {
        here.own += owner == part.team->rank() ? 1 : 0;
        here.copies += owner >= 0 && owner != part.team->rank() ? 1 : 0;
    }
    here.shared = static_cast<double>(part.halo.shared_bodies());
    here.held = static_cast<double>(part.held.ours.size());
    const Tiling& tiling = memory.assembled.problem.tiling;
    std::set<int> neighbours;
    for (Index c = 0; c < tiling.colours(); ++c) {
        const double work =
            tiling.tile_start[tiling.colour_start[c + 1]] - tiling.tile_start[tiling.colour_start[c]];
        here.contacts += work;
        if (static_cast<std::size_t>(c) < most_colours) here.work[c] = work;
    }
    for (const Channel& channel : part.halo.sweep_channels()) {
        for (const Channel::Partner& p : channel.partners()) {
            if (!p.send.empty() || !p.receive.empty()) neighbours.insert(p.rank);
            here.sweep_messages += p.send.empty() ? 0 : 1;
            here.sent += static_cast<double>(p.send.size());
        }
    }
    here.neighbours = static_cast<double>(neighbours.size());
}

// --- The report ------------------------------------------------------------------------------------------

/// Work of the busiest rank, colour by colour, over the mean: how much longer a sweep takes if everybody waits after
/// each colour.
double colour_imbalance(const std::vector<PlanFigures>& ranks) {
    double slowest = 0, mean = 0;
    for (std::size_t c = 0; c < most_colours; ++c) {
        const Spread work = spread(ranks, [&](const PlanFigures& r) { return r.work[c]; });
        slowest += work.largest;
        mean += work.mean;
    }
    return mean > 0 ? slowest / mean : 1;
}

Json report(const Settings& settings, const Lattice& lattice, const std::vector<StepLine>& steps,
            const std::vector<PlanFigures>& ranks, const ExchangeFigures& exchange, double imbalance) {
    const auto count = static_cast<double>(steps.size());
    auto mean = [&](auto&& f) {
        double sum = 0;
        for (const StepLine& line : steps) sum += static_cast<double>(f(line));
        return sum / count;
    };
    Json out;
    out["ranks"] = ranks.size();
    out["threads"] = settings.threads;
    out["mode"] = settings.mode;
    out["weak"] = settings.weak;
    out["slabs"] = settings.slabs;
    out["spheres"] = lattice.count;
    out["sites"] = lattice.sites;
    out["steps"] = steps.size();
    out["seconds_per_step"] = mean([](const StepLine& l) { return l.seconds(); });
    out["contacts"] = mean([](const StepLine& l) { return l.contacts; });
    const double sweeps = mean([](const StepLine& l) { return l.sweeps; });
    out["sweeps"] = sweeps;
    for (const StepLine& line : steps) {
        const Spread cpu = spread(line.ranks, [](const StepFigures& r) { return r.cpu; });
        out["each_step"].push_back({{"contacts", line.contacts},
                                    {"sweeps", line.sweeps},
                                    {"residual", line.residual},
                                    {"seconds", line.seconds()},
                                    {"cpu_seconds", cpu.sum}});
    }
    fmt::print("\n{:<10} {:>12}\n", "stage", "s/step");
    for (std::size_t k = 0; k < stage_names.size(); ++k) {
        const double seconds = mean([&](const StepLine& l) {
            return spread(l.ranks, [&](const StepFigures& r) { return r.seconds[k]; }).largest;
        });
        out["stages"][stage_names[k]] = seconds;
        fmt::print("{:<10} {:>12.4g}\n", stage_names[k], seconds);
    }

    fmt::print("\n{:<10} {:>23} {:>25}   (per rank and step: mean, largest)\n", "talk", "messages", "bytes");
    for (std::size_t k = 0; k < talks; ++k) {
        Spread messages, bytes;
        for (const StepLine& line : steps) {
            const Spread m = spread(line.ranks, [&](const StepFigures& r) { return r.messages[k]; });
            const Spread b = spread(line.ranks, [&](const StepFigures& r) { return r.bytes[k]; });
            messages.mean += m.mean / count;
            bytes.mean += b.mean / count;
            messages.largest = std::max(messages.largest, m.largest);
            bytes.largest = std::max(bytes.largest, b.largest);
        }
        out["talk"][talk_names[k]] = {{"messages", as_json(messages)}, {"bytes", as_json(bytes)}};
        fmt::print("{:<10} {:>11.1f} {:>11.0f} {:>12.0f} {:>12.0f}\n", talk_names[k], messages.mean,
                   messages.largest, bytes.mean, bytes.largest);
    }

    auto of_ranks = [&](auto member) {
        return spread(ranks, [=](const PlanFigures& r) { return r.*member; });
    };
    const Spread shared = of_ranks(&PlanFigures::shared), sent = of_ranks(&PlanFigures::sent);
    Json& plan = out["plan"];
    for (const auto& [name, member] : {std::pair{"own", &PlanFigures::own},
                                       {"copies", &PlanFigures::copies},
                                       {"shared", &PlanFigures::shared},
                                       {"contacts", &PlanFigures::contacts},
                                       {"held", &PlanFigures::held},
                                       {"neighbours", &PlanFigures::neighbours},
                                       {"sweep_messages", &PlanFigures::sweep_messages},
                                       {"sent", &PlanFigures::sent}}) {
        const Spread s = of_ranks(member);
        plan[name] = as_json(s);
        fmt::print("{}{:<16} mean {:>11.1f}   largest {:>9.0f}\n",
                   name == std::string_view("own") ? "\n" : "", name, s.mean, s.largest);
    }
    Index colours = 0;
    for (std::size_t c = 0; c < most_colours; ++c)
        if (spread(ranks, [&](const PlanFigures& r) { return r.work[c]; }).sum > 0) ++colours;
    const double bytes_per_grain = shared.sum > 0 ? 8.0 * exchange.stride * sent.sum / shared.sum : 0;
    plan["colours"] = colours;
    plan["bytes_per_surface_grain_and_sweep"] = bytes_per_grain;
    plan["imbalance"] = imbalance;
    plan["colour_imbalance"] = colour_imbalance(ranks);
    fmt::print(
        "bytes per surface grain and sweep {:.1f}; {} colours; imbalance {:.3f}, colour by colour {:.3f}\n",
        bytes_per_grain, colours, imbalance, colour_imbalance(ranks));

    const double spheres = lattice.count;
    const double peak = of_ranks(&PlanFigures::peak).sum, left = of_ranks(&PlanFigures::left).sum,
                 peak_of_steps = of_ranks(&PlanFigures::peak_of_steps).sum;
    out["memory"] = {{"peak_bytes_per_sphere", peak / spheres},
                     {"peak_of_steps_bytes_per_sphere", peak_of_steps / spheres},
                     {"left_bytes_per_sphere", left / spheres},
                     {"peak_bytes_of_a_rank", of_ranks(&PlanFigures::peak).largest}};
    fmt::print("memory of all ranks, bytes per sphere: peak {:.0f}, of the timed steps {:.0f}, left {:.0f}\n",
               peak / spheres, peak_of_steps / spheres, left / spheres);

    out["exchange"] = {{"stride", exchange.stride},
                       {"visit_seconds", exchange.fastest_visit},
                       {"visits_of_a_sweep", exchange.visits},
                       {"sweep", exchange.sweep},
                       {"channels", exchange.channels},
                       {"plain_mpi", exchange.plain},
                       {"ratio", exchange.plain > 0 ? exchange.channels / exchange.plain : 1},
                       {"sums", exchange.sums},
                       {"small_message", exchange.small_message},
                       {"bandwidth", exchange.large_bandwidth}};
    fmt::print("a sweep: {:.4g} ms, visits alone {:.4g} ms ({:.3g} ns a contact)\n", 1e3 * exchange.sweep,
               1e3 * exchange.visits, 1e9 * exchange.fastest_visit);
    if (ranks.size() > 1)
        fmt::print(
            "its exchanges: bodies {:.4g} us, plain MPI {:.4g} us; exact sums {:.4g} us; message {:.3g} us, "
            "{:.3g} GB/s\n",
            1e6 * exchange.channels, 1e6 * exchange.plain, 1e6 * exchange.sums, 1e6 * exchange.small_message,
            1e-9 * exchange.large_bandwidth);
    fmt::print("seconds_per_step {:.5g} bytes_per_sphere {:.0f} exchange_ratio {:.3f}\n",
               out["seconds_per_step"].get<double>(), peak / spheres, out["exchange"]["ratio"].get<double>());
    return out;
}

int run(const Settings& settings, const Communicator& team) {
    const Lattice lattice = choose_lattice(settings, team.count());
    const StepOptions options = step_options(settings);
    std::vector<StepLine> best;
    PlanFigures here;
    ExchangeFigures exchange;
    double imbalance = 1;
    for (int round = 0; round < settings.repeat; ++round) {
        const std::int64_t all = lattice.count, rank = team.rank(), count = team.count();
        Scene<3> scene = settings.slabs ? box_of_spheres(lattice, static_cast<Index>(all * rank / count),
                                                         static_cast<Index>(all * (rank + 1) / count))
                                        : box_of_spheres(lattice, 0, lattice.count);
        Part<3> part(team);
        part.options.split_between_ranks = settings.mode == "split";
        if (settings.slabs) {
            own_rows(scene, part);
        } else {
            own_nothing_yet(scene, part);
        }
        StepMemory<3> memory;
        for (int k = 0; k < settings.warm_up; ++k) step(scene, options, memory, &part);
        here.peak = std::max(here.peak, peak_memory());
        malloc_trim(0);
        forget_peak();
        for (int k = 0; k < settings.steps; ++k) {
            StepLine line = timed_step(scene, options, memory, part);
            if (team.rank() != 0) continue;
            fmt::print("step {:2}: {:>9} contacts, {:4} sweeps, residual {:.1e}, {:.4g} s\n", k + 1,
                       line.contacts, line.sweeps, line.residual, line.seconds());
            if (round == 0) {
                best.push_back(std::move(line));
            } else if (line.seconds() < best[k].seconds()) {
                best[k] = std::move(line);
            }
        }
        here.peak_of_steps = std::max(here.peak_of_steps, peak_memory());
        here.peak = std::max(here.peak, here.peak_of_steps);
        malloc_trim(0);
        here.left = memory_line("VmRSS:");
        imbalance = part.imbalance;
        if (round + 1 < settings.repeat) continue;
        Vector start;
        // Where grains are so fast that every step makes parts anew, they are stopped: what follows is about messages
        // alone.
        for (int tries = 0; !make_plan(scene, options, memory, part, start); ++tries) {
            if (tries > 2) {
                std::fill(scene.bodies.velocity.begin(), scene.bodies.velocity.end(), Vec<3>::Zero());
                std::fill(scene.bodies.spin.begin(), scene.bodies.spin.end(), Spin<3>::Zero());
            }
            if (tries == 20) fail("ranks", "parts are made anew at every step", "take fewer --steps");
            step(scene, options, memory, &part);
        }
        describe(memory, part, here);
        exchange = time_exchange(settings, memory, part, start);
    }
    const std::vector<PlanFigures> ranks = gather(team, here);
    if (team.rank() != 0) return 0;
    const Json out = report(settings, lattice, best, ranks, exchange, imbalance);
    if (!settings.json.empty()) std::ofstream(settings.json) << out.dump(2) << "\n";
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    {
        Settings settings;
        CLI::App app("One simulation on several ranks: time, memory, messages and bytes.");
        app.add_option("--spheres", settings.spheres, "Spheres; with --weak, on each rank")
            ->capture_default_str();
        app.add_option("--steps", settings.steps, "Steps that are timed")->capture_default_str();
        app.add_option("--warm-up", settings.warm_up, "Steps before these")->capture_default_str();
        app.add_option("--repeat", settings.repeat, "Runs; of each step the fastest counts")
            ->capture_default_str();
        app.add_option("--threads", settings.threads, "Threads of each rank")->capture_default_str();
        app.add_option("--repetitions", settings.repetitions, "Of the exchanges that are timed alone")
            ->capture_default_str();
        app.add_option("--mode", settings.mode,
                       "exact, or split: faster, other bits on another number of ranks")
            ->check(CLI::IsMember({"exact", "split"}))
            ->capture_default_str();
        app.add_flag("--weak", settings.weak, "As many spheres for each rank");
        app.add_flag("--slabs", settings.slabs,
                     "Each rank makes only a slab of the box, instead of all of it");
        app.add_option("--json", settings.json, "File for all figures");
        const Communicator team(MPI_COMM_WORLD);
        try {
            app.parse(argc, argv);
            status = run(settings, team);
        } catch (const CLI::ParseError& error) {
            status = team.rank() == 0 ? app.exit(error) : error.get_exit_code();
        }
    }
    MPI_Finalize();
    return status;
}
