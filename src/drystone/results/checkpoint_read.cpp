// What stands behind the header of a checkpoint: read and checked against the scene that its text makes.
//
// The checksum has told accidents apart from what was written; these checks are for files that were made by hand or by
// a faulty program: no number that could lead out of an array, or to a state that cannot be, gets into a run.
#include "drystone/base/read_file.hpp"
#include "drystone/fields/fields.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/results/checked_read.hpp"
#include "drystone/results/checkpoint.hpp"
#include "drystone/results/sand_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace drystone {

namespace {

using namespace checked;

/// Bytes, not more than would be read from a file.
std::string read_text(const hdf5::Group& group, const std::string& name, std::uintmax_t most) {
    if (const auto size = static_cast<std::uintmax_t>(group.size(name)); size > most)
        refuse(group, name, fmt::format("has {} bytes, more than {}", size, most));
    return group.read_bytes(name);
}

SceneFiles read_files(const hdf5::Group& group) {
    constexpr std::uintmax_t most_letters = 4096;  // of a path
    SceneFiles files;
    files.scene = read_text(group, "name", most_letters);
    files.text = read_text(group, "text", most_scene_bytes);
    const hdf5::Group others = group.open_group("others");
    for (const std::string& k : others.names()) {
        const hdf5::Group one = others.open_group(k);
        files.others[read_text(one, "name", most_letters)] = read_text(one, "content", most_surface_bytes);
    }
    constexpr std::int64_t most_phases = 1'000'000;
    files.phase = static_cast<int>(read_within(group, "phase", 1, 0, most_phases)[0]);
    files.phase_begin = read_finite(group, "phase_begin", from_zero);
    const hdf5::Group settings = group.open_group("settings");
    for (const std::string& s : settings.names()) {  // in the order of their numbers
        const hdf5::Group one = settings.open_group(s);
        files.settings.push_back({read_text(one, "field", most_letters),
                                  read_text(one, "value", most_scene_bytes),
                                  static_cast<int>(read_within(one, "phase", 1, -1, most_phases)[0])});
    }
    files.sealed = true;
    return files;
}

RunOverrides read_overrides(const hdf5::Group& group) {
    RunOverrides overrides;
    if (group.exists("until")) overrides.until = read_finite(group, "until", from_zero);
    if (group.exists("steps")) overrides.steps = read_count(group, "steps");
    if (group.exists("tolerance")) {
        overrides.tolerance = read_finite(group, "tolerance", from_zero);
        if (!(*overrides.tolerance > 0 && *overrides.tolerance <= loosest_tolerance))
            refuse(group, "tolerance", "is none that a run may have");
    }
    return overrides;
}

void read_rotations(const hdf5::Group& group, const RowRange& rows, std::vector<Rotation<2>>& rotations) {
    for (const double angle : read_finite(group, "rotation", rows)) rotations.push_back({angle});
}

void read_rotations(const hdf5::Group& group, const RowRange& rows, std::vector<Rotation<3>>& rotations) {
    const std::vector<double> values = read_finite(group, "rotation", rows, 4);
    for (std::size_t i = 0; i < values.size() / 4; ++i) {
        const double* q = values.data() + 4 * i;
        rotations.emplace_back();
        // Bit for bit: not made a unit again. Steps keep it so to rounding.
        rotations.back().q = Eigen::Quaternion<double, Eigen::DontAlign>(q[0], q[1], q[2], q[3]);
        if (std::abs(rotations.back().q.norm() - 1) > 1e-6)
            refuse(group, "rotation",
                   fmt::format("holds a quaternion of length {}", rotations.back().q.norm()));
    }
}

/// What Scene::add_body sees to when a scene is made, and what steps rely on. `has_volume`: of the body's shape; walls
/// and surfaces have none.
template <int d>
void check_body(const hdf5::Group& group, const Domain<d>& domain, const Bodies<d>& bodies, std::size_t i,
                bool has_volume) {
    const auto told = [&](const std::string& name, const std::string& what) {
        refuse(group, name, fmt::format("{} for body {}", what, bodies.id[i]));
    };
    if (!(bodies.size[i] >= 1 / most_number)) told("size", fmt::format("holds {}", bodies.size[i]));
    if (bodies.motion[i] != Motion::free) return;
    if (!(bodies.mass[i] >= least_mass)) told("mass", fmt::format("holds {}", bodies.mass[i]));
    if (!(bodies.inertia[i].minCoeff() >= least_mass)) told("inertia", "is not positive");
    if (!has_volume) told("motion", "lets a wall or a surface go,");
    // Brought into the cell after every step.
    for (int k = 0; k < d; ++k)
        if (domain.period[k] > 0 &&
            !(std::abs(bodies.position[i][k] - domain.lower[k] - 0.5 * domain.period[k]) <= domain.period[k]))
            told("position", "is outside of the periodic cell");
}

bool among(const std::vector<GlobalId>& ids, GlobalId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// `freed`: held bodies that have been let go by now; they must be able to move.
template <int d>
Bodies<d> read_bodies(const hdf5::Group& group, const Scene<d>& scene, const RowRange& rows,
                      const std::vector<GlobalId>& freed) {
    Bodies<d> bodies;
    bodies.id = read_rows<std::int64_t>(group, "id", rows, 1);
    const std::size_t count = bodies.id.size();
    bodies.next_id = read_count(group, "next_id");
    // Of the rank before us.
    std::int64_t last = rows.first > 0 ? group.read_longs("id", rows.first - 1, 1).at(0) : -1;
    for (std::size_t i = 0; i < count; ++i) {
        const bool ascends = bodies.id[i] > std::exchange(last, bodies.id[i]);
        if (bodies.id[i] < 0 || bodies.id[i] >= bodies.next_id || !ascends)
            refuse(group, "id",
                   fmt::format("holds {} as number {}, which is not above the one before and below {}",
                               bodies.id[i], rows.first + static_cast<std::int64_t>(i), bodies.next_id));
    }
    const auto shapes = static_cast<std::int64_t>(scene.shapes.size());
    for (const std::int64_t k : read_within(group, "shape", rows, 1, 0, shapes - 1))
        bodies.shape.push_back(static_cast<Index>(k));
    for (const std::int64_t k : read_within(group, "material", rows, 1, 0, scene.materials.count() - 1))
        bodies.material.push_back(static_cast<Index>(k));
    for (const std::int64_t k : read_within(group, "motion", rows, 1, 0, static_cast<int>(Motion::guided)))
        bodies.motion.push_back(static_cast<Motion>(k));
    bodies.size = read_finite(group, "size", rows, 1, from_zero);
    bodies.mass = read_finite(group, "mass", rows, 1, masses);
    bodies.inertia = read_vectors<Spin<d>>(group, "inertia", rows, masses);
    bodies.position = read_vectors<Vec<d>>(group, "position", rows);
    bodies.velocity = read_vectors<Vec<d>>(group, "velocity", rows);
    bodies.spin = read_vectors<Spin<d>>(group, "spin", rows);
    read_rotations(group, rows, bodies.rotation);
    // Half of what its numbers hold: they are counted on from here.
    constexpr std::int64_t far = std::int64_t{1} << 30U;
    const std::vector<std::int64_t> image = read_within(group, "image", rows, d, -far, far);
    bodies.image.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < d; ++k)
            bodies.image[i][static_cast<Eigen::Index>(k)] = static_cast<std::int32_t>(image[d * i + k]);
    std::vector<bool> has_volume;
    for (const Shape<d>& shape : scene.shapes) {
        const double volume = mass_properties<d>(shape).volume;
        has_volume.push_back(volume > 0 && std::isfinite(volume));
    }
    for (std::size_t i = 0; i < count; ++i)
        if (among(freed, bodies.id[i])) bodies.motion[i] = Motion::free;
    for (std::size_t i = 0; i < count; ++i)
        check_body(group, scene.domain, bodies, i, has_volume[static_cast<std::size_t>(bodies.shape[i])]);
    return bodies;
}

template <int d>
Domain<d> read_domain(const hdf5::Group& group, const Domain<d>& planned) {
    Domain<d> domain;
    domain.lower = read_vector<d>(group, "lower");
    domain.period = read_vector<d>(group, "period");
    domain.tilt = read_finite(group, "tilt");
    domain.rate = read_vector<d>(group, "rate");
    domain.shear_rate = read_finite(group, "shear_rate");
    for (int k = 0; k < d; ++k) {
        const bool periodic = domain.period[k] >= 1 / most_number;
        if ((!periodic && domain.period[k] != 0) || periodic != (planned.period[k] > 0))
            refuse(group, "period",
                   fmt::format("holds {} where the scene says {}", domain.period[k], planned.period[k]));
    }
    return domain;
}

template <int d>
WarmStart<d> read_warm(const hdf5::Group& group, GlobalId next_id, const hdf5::Ranks& ranks, RowRange& rows) {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    const std::int64_t numbers = group.size("key");
    if (numbers % 4 != 0) refuse(group, "key", "does not hold 4 numbers for each contact");
    rows = share_of(ranks, numbers / 4);
    const std::vector<std::int64_t> keys = read_rows<std::int64_t>(group, "key", rows, 4);
    const std::size_t count = keys.size() / 4;
    WarmStart<d> warm;
    std::array<std::int64_t, 4> last = {-1, -1, -1, -1};
    if (rows.first > 0) std::ranges::copy(group.read_longs("key", rows.first - 1, 1), last.begin());
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t* k = keys.data() + 4 * i;
        if (k[0] < 0 || k[0] > k[1] || k[1] >= next_id || k[2] < 0 || k[2] > most || k[3] < 0 || k[3] > most)
            refuse(group, "key",
                   fmt::format("holds ({}, {}, {}, {}), which is no contact", k[0], k[1], k[2], k[3]));
        warm.key.push_back({k[0], k[1], static_cast<std::uint32_t>(k[2]), static_cast<std::uint32_t>(k[3])});
        const std::array<std::int64_t, 4> now = {k[0], k[1], k[2], k[3]};
        if (!(std::exchange(last, now) < now))
            refuse(group, "key",
                   fmt::format("is not ascending at {}", rows.first + static_cast<std::int64_t>(i)));
    }
    warm.impulse = read_vectors<Vec<d>>(group, "impulse", rows, impulses);
    const std::int64_t torques = group.size("torque") / spins<d>;
    if (torques != 0 && torques != rows.total)
        refuse(group, "torque", fmt::format("holds {} torques for {} contacts", torques, rows.total));
    warm.torque = read_vectors<Spin<d>>(group, "torque", torques == 0 ? RowRange{} : rows, impulses);
    const std::vector<double> joints =
        read_finite(group, "joints", static_cast<std::size_t>(group.size("joints")), impulses);
    warm.joints = Eigen::Map<const Eigen::VectorXd>(joints.data(), static_cast<Eigen::Index>(joints.size()));
    warm.h = read_finite(group, "h", from_zero);
    if (warm.h != 0 && warm.h < 1 / most_number) refuse(group, "h", fmt::format("holds {}", warm.h));
    return warm;
}

/// What write_state wrote. Which numbers there should be is known by those who recall them.
State read_state(const hdf5::Group& group, int depth = 0) {
    constexpr int deepest = 8;
    if (depth > deepest) refuse(group, "", "has groups in groups without end");
    State state;
    state.origin = group.where();
    for (const std::string& name : group.names()) {
        switch (group.kind(name)) {
            case hdf5::Group::Kind::group:
                state.put(name, read_state(group.open_group(name), depth + 1));
                break;
            case hdf5::Group::Kind::integers:
                state.numbers[name] = group.read_longs(name);
                break;
            case hdf5::Group::Kind::reals:
                state.numbers[name] = group.read_doubles(name);
                break;
            case hdf5::Group::Kind::other:
                refuse(group, name, "is neither numbers nor a group");
        }
    }
    return state;
}

/// One number per source or sink, or none before the first step.
template <int d>
void check_feed(const State& kept, const Feeds<d>& feeds, const FeedState& state) {
    const std::size_t sources = state.owed.empty() ? 0 : feeds.sources.size(),
                      sinks = state.drained.empty() ? 0 : feeds.sinks.size();
    const std::tuple<const char*, std::size_t, std::size_t> sizes[] = {
        {"owed", state.owed.size(), sources},         {"fed", state.fed.size(), sources},
        {"fed_mass", state.fed_mass.size(), sources}, {"missed", state.missed.size(), sources},
        {"drained", state.drained.size(), sinks},     {"drained_mass", state.drained_mass.size(), sinks}};
    for (const auto& [name, found, expected] : sizes)
        if (found != expected)
            kept.refuse(name, fmt::format("holds {} numbers where there should be {}", found, expected));
    for (std::size_t s = 0; s < state.owed.size(); ++s)
        if (const double most = most_owed(feeds.sources[s]); !(state.owed[s] <= most * (1 + 1e-9)))
            kept.refuse("owed", fmt::format("holds {}, and a source owes at most {}", state.owed[s], most));
}

template <int d>
RunProgress read_progress(const hdf5::Group& group, const Feeds<d>& feeds) {
    const State state = read_state(group);
    RunProgress progress;
    recall(state, progress);
    check_feed(state.part("feed"), feeds, progress.feed);
    return progress;
}

State read_observers(const hdf5::Group& group) {
    const State state = read_state(group);
    // Files of these names are cut when the run is resumed: they lie in the folder of the run and are ours.
    for (const auto& [name, numbers] : state.part("measurements/lengths").numbers)
        if (name.size() < 5 || !name.ends_with(".csv") || name[0] == '.' ||
            name.find_first_of("/\n") != std::string::npos)
            state.refuse("measurements/lengths/" + name, "is not the name of a file of measurements");
    return state;
}

/// What moves bodies comes from the scene's text: it must find them, and as it left them.
template <int d>
void check_drives(const hdf5::Group& root, const Scene<d>& scene, const hdf5::Ranks& ranks) {
    std::vector<GlobalId> guided;
    std::vector<std::int64_t> found;
    hdf5::together(ranks, [&] {
        for (const Drive<d>& drive : scene.drives) {
            const Index body = scene.bodies.index_of(drive.body);
            found.push_back(body >= 0 && !scene.bodies.is_free(body) ? 1 : 0);
            if (drive.guide) guided.push_back(drive.body);
        }
    });
    hdf5::add_up(ranks, found);
    hdf5::together(ranks, [&] {
        for (std::size_t k = 0; k < found.size(); ++k)
            if (found[k] == 0)
                refuse(root, "bodies",
                       fmt::format("holds no body {} that could be driven as the scene says",
                                   scene.drives[k].body));
        for (Index i = 0; i < scene.bodies.count(); ++i) {
            if (scene.bodies.motion[i] == Motion::guided &&
                std::find(guided.begin(), guided.end(), scene.bodies.id[i]) == guided.end())
                refuse(root, "bodies",
                       fmt::format("holds the guided body {}, for which the scene has no guide",
                                   scene.bodies.id[i]));
        }
    });
}

/// A joint of which a body has been drained does nothing; but one must not tie what cannot move.
template <int d>
void check_joints(const hdf5::Group& root, const Scene<d>& scene) {
    for (const Joint<d>& joint : scene.joints) {
        const Index a = scene.bodies.index_of(joint.a), b = joint.b ? scene.bodies.index_of(*joint.b) : -1;
        const bool gone = a < 0 || (joint.b && b < 0);
        if (!gone && !scene.bodies.yields(a) && (b < 0 || !scene.bodies.yields(b)))
            refuse(root, "bodies", fmt::format("holds both bodies of the joint \"{}\" fast", joint.name));
    }
}

/// Takes away the bodies that are gone by now. Answers how many rows of all ranks are left, and where ours begin.
template <int d>
RowRange take_away(const std::vector<GlobalId>& ids, const hdf5::Ranks& ranks, Bodies<d>& bodies) {
    std::vector<std::uint8_t> gone(bodies.id.size());
    for (Index i = 0; i < bodies.count(); ++i) gone[i] = among(ids, bodies.id[i]) ? 1 : 0;
    bodies.remove(gone);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(hdf5::count_of(ranks)));
    const auto rank = static_cast<std::size_t>(hdf5::rank_of(ranks));
    counts[rank] = bodies.count();
    hdf5::add_up(ranks, counts);
    RowRange rows{0, bodies.count(), 0};
    for (std::size_t k = 0; k < counts.size(); ++k) {
        rows.first += k < rank ? counts[k] : 0;
        rows.total += counts[k];
    }
    return rows;
}

/// True if one of the fields is this one, or below it.
bool touches(const std::vector<std::string>& fields, std::string_view what) {
    return std::any_of(fields.begin(), fields.end(), [&](const std::string& field) {
        return field.starts_with(what) && (field.size() == what.size() || field[what.size()] == '.');
    });
}

template <int d>
StoppedRun<d> read_run(const hdf5::Group& root, RunPlan<d> plan, const hdf5::Ranks& ranks,
                       const RunChanges& changes) {
    StoppedRun<d> run;
    Scene<d>& scene = plan.world.scene;
    std::vector<std::string> changed;
    for (const SceneSetting& setting : changes.settings) changed.push_back(setting.field);
    if (changes.next_phase) changed.insert(changed.end(), plan.changed.begin(), plan.changed.end());
    const Vec<d> gravity = scene.gravity;
    const Domain<d> domain = scene.domain;
    hdf5::together(ranks, [&] {
        const hdf5::Group bodies = root.open_group("bodies");
        const RowRange rows = share_of(ranks, bodies.size("id"));
        scene.domain = read_domain(root.open_group("domain"), scene.domain);
        scene.bodies = read_bodies(bodies, scene, rows, plan.freed);
        scene.gravity = read_vector<d>(root, "gravity");
        scene.time = read_finite(root, "time", from_zero);
        if (touches(changed, "gravity")) scene.gravity = gravity;
        // Rates that follow a stress are state; those that are kept may be given anew.
        if (touches(changed, "cell.rate")) scene.domain.rate = domain.rate;
        if (touches(changed, "cell.shear_rate")) scene.domain.shear_rate = domain.shear_rate;
    });
    const RowRange left = take_away(plan.gone, ranks, scene.bodies);
    run.slabs.first_body = left.first;
    run.slabs.bodies = left.total;
    check_drives(root, scene, ranks);
    if (ranks.alone()) check_joints(root, scene);  // several ranks know none
    hdf5::together(ranks, [&] {
        RowRange rows;
        run.warm = read_warm<d>(root.open_group("warm"), scene.bodies.next_id, ranks, rows);
        run.progress = read_progress(root.open_group("progress"), plan.feeds);
        if (changes.next_phase) {
            run.progress.stop = {};
            run.progress.stopped = StopReason::none;
        }
        run.slabs.first_warm = rows.first;
        run.slabs.warm = rows.total;
        if (plan.world.sand.cell.isZero(0)) return;
        read_sand(root.open_group("sand"), scene.bodies.next_id, plan.world.sand, run.sand_warm);
    });
    run.slabs.ranks = ranks;
    run.plan = std::move(plan);
    return run;
}

}  // namespace

SceneFiles read_files_of_checkpoint(const hdf5::Group& root) { return read_files(root.open_group("scene")); }

Checkpoint read_checkpoint_content(const hdf5::Group& root, const PlanReader& read_plan,
                                   const hdf5::Ranks& ranks, const RunChanges& changes) {
    Checkpoint checkpoint;
    std::optional<AnyPlan> plan;
    hdf5::together(ranks, [&] {
        SceneFiles& files = checkpoint.files;
        files = read_files(root.open_group("scene"));
        if (changes.next_phase) {
            ++files.phase;
            files.phase_begin = read_finite(root, "time", from_zero);
        }
        for (const SceneSetting& setting : changes.settings)
            files.settings.push_back({setting.field, setting.value, files.phase});
        checkpoint.overrides = read_overrides(root.open_group("overrides"));
        checkpoint.observers = read_observers(root.open_group("observers"));
        const std::int64_t dimension = read_within(root, "dimension", 1, 2, 3)[0];
        try {
            plan = read_plan(checkpoint.files);
        } catch (const Error& error) {
            if (!changes.settings.empty()) throw;  // what was asked for is at fault
            // The first fault of perhaps many.
            const std::string all = error.what();
            fail(root.where("scene"), fmt::format("cannot be read ({})", all.substr(0, all.find('\n'))),
                 cure);
        }
        if ((dimension == 2) != std::holds_alternative<RunPlan<2>>(*plan))
            refuse(root, "dimension", fmt::format("is {}, but not that of the scene", dimension));
    });
    std::visit(
        [&]<int d>(RunPlan<d>& one) { checkpoint.run = read_run<d>(root, std::move(one), ranks, changes); },
        *plan);
    return checkpoint;
}

}  // namespace drystone
