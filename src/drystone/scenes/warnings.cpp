#include "drystone/scenes/warnings.hpp"

#include "drystone/base/error.hpp"
#include "drystone/scenes/settings.hpp"
#include "drystone/shapes/surface_file.hpp"
#include "drystone/tables/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace drystone {

namespace {

// What is taken for meant. Beyond, a unit was mistaken more often than not.
constexpr double least_grain = 1e-6, most_grain = 100;       // m, outer radius
constexpr double least_density = 10, most_density = 25'000;  // kg/m^3
constexpr double least_gravity = 0.1, most_gravity = 100;    // m/s^2
constexpr double most_friction = 2;
constexpr double most_moved = 0.5, well_moved = 0.1;  // inner radii in a step
constexpr double most_turned = 0.5;                   // rad in a step
constexpr double most_overlap = 0.01;                 // inner radii
constexpr double most_steps = 1e7, most_frames = 1e4;
constexpr double most_filled = 1.01;  // volume of a hull to that of its mesh
constexpr double level = 0.05;        // of a direction along gravity: what bears grains slopes by more

/// Value at a path of fields; nullptr if one of them is absent.
const Value* at(const Value& root, std::initializer_list<std::string_view> path) {
    const Value* value = &root;
    for (const std::string_view key : path) {
        value = value->kind == Value::Kind::table ? value->find(key) : nullptr;
        if (value == nullptr) return nullptr;
    }
    return value;
}

int line_at(const Value& root, std::initializer_list<std::string_view> path) {
    const Value* value = at(root, path);
    return value == nullptr ? 0 : value->line;
}

/// What a surface encloses, m^3; nothing where it has an edge of its own, and so no inside.
std::optional<double> enclosed_volume(const Surface<3>& surface) {
    // Each edge once in either direction.
    std::map<std::pair<Index, Index>, int> edges;
    double volume = 0;
    for (const auto& [a, b, c] : surface.elements) {
        for (const auto& [from, to] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)})
            edges[std::minmax(from, to)] += from < to ? 1 : -1;
        const auto& x = surface.vertices;
        volume += (x[a] - x[0]).dot((x[b] - x[0]).cross(x[c] - x[0])) / 6;
    }
    const bool closed =
        std::all_of(edges.begin(), edges.end(), [](const auto& edge) { return edge.second == 0; });
    return closed && !surface.elements.empty() ? std::optional(std::abs(volume)) : std::nullopt;
}

/// Down to 1, 2 or 5 times a power of ten.
double round_down(double x) {
    const double power = std::pow(10, std::floor(std::log10(x)));
    const double lead = x / power;
    return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

/// Names that fields called `key` have as their values anywhere in the file.
void collect_names(const Value& value, std::string_view key, std::set<std::string>& names) {
    for (std::size_t k = 0; k < value.items.size(); ++k) {
        const Value& item = value.items[k];
        const bool here = value.kind == Value::Kind::table && value.names[k] == key;
        // A variant of a random shape is its use.
        if (here && item.kind == Value::Kind::text) names.insert(item.text.substr(0, item.text.find('/')));
        collect_names(item, key, names);
    }
}

template <int d>
bool is_wall(const Scene<d>& scene, Index i) {
    return std::holds_alternative<HalfSpace<d>>(scene.shape_of(i));
}

template <int d>
class Warner {
public:
    Warner(const RunPlan<d>& plan, SceneFiles& files)
        : plan_(plan), scene_(plan.world.scene), files_(files), file_(values_of(files)) {}

    std::vector<SceneFault> all(const std::vector<StartOverlap>& overlaps) {
        look_at_sizes();
        look_at_materials();
        look_at_gravity();
        look_at_floor();
        look_at_hulls(file_, "");
        look_at_steps();
        look_at_overlaps(overlaps);
        look_at_use("material");
        look_at_use("shape");
        look_at_motion();
        std::stable_sort(found_.begin(), found_.end(),
                         [](const SceneFault& a, const SceneFault& b) { return a.line < b.line; });
        return found_;
    }

private:
    /// The same of several bodies is told once, of the first.
    struct Many {
        std::size_t count = 0;
        Index first = 0;
        double worst = 0;
        void add(Index body, double value) {
            if (count++ == 0 || value > worst) {
                first = body;
                worst = value;
            }
        }
        [[nodiscard]] std::string others() const {
            return count <= 1 ? std::string() : fmt::format(" (and {} more)", count - 1);
        }
    };

    void warn(int line, std::string field, std::string message) {
        found_.push_back({line, std::move(field), std::move(message)});
    }
    /// With the line and the table that the body comes from.
    void warn_of_body(Index body, const std::string& message) {
        const auto& origins = plan_.names.origins;
        const GlobalId id = scene_.bodies.id[body];
        const auto after =
            std::upper_bound(origins.begin(), origins.end(), id,
                             [](GlobalId wanted, const BodyOrigin& o) { return wanted < o.first; });
        if (after == origins.begin()) return warn(0, "", message);
        warn(std::prev(after)->line, std::prev(after)->table, message);
    }

    void look_at_sizes() {
        Many small, large;
        for (Index i = 0; i < scene_.bodies.count(); ++i) {
            if (!scene_.bodies.is_free(i)) continue;
            const double radius = scene_.outer_radius(i);
            if (radius < least_grain) small.add(i, -radius);
            if (radius > most_grain) large.add(i, radius);
        }
        const auto tell = [&](const Many& many) {
            if (many.count > 0)
                warn_of_body(many.first, fmt::format("{}{} has a radius of {:.4g} m; lengths are in m",
                                                     name_of_body(plan_, many.first), many.others(),
                                                     std::abs(many.worst)));
        };
        tell(small);
        tell(large);
    }

    void look_at_materials() {
        const Value* tables = at(file_, {"material"});
        for (std::size_t k = 0; tables != nullptr && k < tables->items.size(); ++k) {
            const Value& table = tables->items[k];
            const std::string path = fmt::format("material[{}]", k);
            const Value* density = at(table, {"density"});
            if (density != nullptr && (density->number < least_density || density->number > most_density))
                warn(density->line, path + ".density",
                     fmt::format(
                         "{:.6g} kg/m^{}; stone has {}", density->number, d,
                         d == 3 ? "2500 kg/m^3: is it in g/cm^3?" : "2500 kg/m^2 where it is 1 m thick"));
            look_at_friction(table, path);
        }
        const Value* pairs = at(file_, {"pair"});
        for (std::size_t k = 0; pairs != nullptr && k < pairs->items.size(); ++k)
            look_at_friction(pairs->items[k], fmt::format("pair[{}]", k));
    }

    void look_at_friction(const Value& table, const std::string& path) {
        const Value* friction = at(table, {"friction"});
        if (friction != nullptr && friction->number > most_friction)
            warn(
                friction->line, path + ".friction",
                fmt::format("{:.4g} is an angle of {:.0f} degrees; it is a coefficient, for stone 0.3 to 0.8",
                            friction->number, std::atan(friction->number) * 180 / std::numbers::pi));
    }

    void look_at_gravity() {
        const double g = scene_.gravity.norm();
        if (g != 0 && (g < least_gravity || g > most_gravity))
            warn(line_at(file_, {"gravity"}), "gravity", fmt::format("{:.4g} m/s^2; on Earth it is 9.81", g));
    }

    /// Whether what is free can come to rest: something must reach farther down than all of it.
    void look_at_floor() {
        const double g = scene_.gravity.norm();
        const Domain<d>& domain = scene_.domain;
        if (g == 0 || scene_.gravity_turn || !plan_.feeds.sinks.empty() || !scene_.joints.empty()) return;
        for (Index a = 0; a < scene_.materials.count(); ++a)  // what is glued may hang
            for (Index b = 0; b <= a; ++b)
                if (scene_.materials.law(a, b).cohesion > 0) return;
        const Vec<d> down = scene_.gravity / g;
        for (int k = 0; k < d; ++k)
            if (domain.period[k] > 0 && std::abs(down[k]) > level) return;
        double held = -infinity, deepest = -infinity;
        Index falling = -1;
        for (Index i = 0; i < scene_.bodies.count(); ++i) {
            if (is_wall(scene_, i)) {
                if (matrix(scene_.bodies.rotation[i]).col(d - 1).dot(down) < -level) return;
                continue;
            }
            const double depth = down.dot(scene_.bodies.position[i]);
            if (!scene_.bodies.is_free(i)) {
                held = std::max(held, depth + scene_.outer_radius(i));
            } else if (depth > deepest) {
                deepest = depth;
                falling = i;
            }
        }
        bool sand_falls = false;
        for (const Vec<d>& x : plan_.world.sand.particles.position) {
            sand_falls = sand_falls || down.dot(x) > deepest;
            deepest = std::max(deepest, down.dot(x));
        }
        const bool poured_into_nothing = !plan_.feeds.sources.empty() && held == -infinity;
        if (deepest <= held && !poured_into_nothing) return;
        warn(line_at(file_, {"gravity"}), "gravity",
             fmt::format(
                 "no wall and no held body is below {}, which will fall for ever; add a [[wall]] whose "
                 "normal points against gravity, or a [[sink]] where grains may go",
                 sand_falls     ? std::string("sand")
                 : falling >= 0 ? name_of_body(plan_, falling)
                                : "what source " + plan_.feeds.sources.front().name + " puts in"));
    }

    /// Polyhedra from files whose surface is not convex: the hull is what moves.
    void look_at_hulls(const Value& value, const std::string& path) {
        if constexpr (d == 3) {
            if (value.kind == Value::Kind::table) look_at_hull(value, path);
            for (std::size_t k = 0; k < value.items.size(); ++k) {
                const bool named = value.kind == Value::Kind::table;
                look_at_hulls(value.items[k], !named         ? fmt::format("{}[{}]", path, k)
                                              : path.empty() ? value.names[k]
                                                             : path + "." + value.names[k]);
            }
        }
    }
    void look_at_hull(const Value& table, const std::string& path) {
        const Value *type = table.find("type"), *file = table.find("file");
        if (type == nullptr || file == nullptr || type->text != "polyhedron") return;
        if (!hulls_.insert(file->text).second) return;
        try {
            const Surface<3> surface = read_surface(files_.path_of(file->text), files_.read(file->text));
            const std::optional<double> enclosed = enclosed_volume(surface);
            const double hull = mass_properties<3>(make_polyhedron(surface.vertices).shape).volume;
            if (enclosed && hull > most_filled * *enclosed)
                warn(file->line, path + ".file",
                     fmt::format("the surface in {} is not convex; its hull is taken, of {:.3g} times its "
                                 "volume and mass. Give a convex one, or a held body as type = \"mesh\"",
                                 file->text, hull / *enclosed));
        } catch (const Error&) {  // the plan was made of it: it is told elsewhere
        }
    }

    void look_at_steps() {
        const StepOptions& step = plan_.options.step;
        const double h = step.h, end = plan_.options.end, g = scene_.gravity.norm();
        if (end / h > most_steps)
            warn(line_at(file_, {"time", "step"}), "time.step",
                 fmt::format("{:.3g} steps of {:.3g} s up to {:.4g} s; is that meant?", std::ceil(end / h), h,
                             end));
        const double every = plan_.output.frames_every;
        if (every > 0 && end / every > most_frames)
            warn(line_at(file_, {"output", "frames_every"}), "output.frames_every",
                 fmt::format("makes {:.3g} frames; {:.3g} s makes a hundred", end / every, end / 100));
        if (step.displacement > 0) return;  // steps are shortened where need be
        if (end > 0 && h > end)
            warn(
                line_at(file_, {"time", "step"}), "time.step",
                fmt::format(
                    "{:.3g} s, longer than the run: its one step ends {:.3g} times as late as time.end says; "
                    "take at most {:.3g}",
                    h, h / end, end));
        Many falling, flying, turning;
        for (Index i = 0; i < scene_.bodies.count(); ++i) {
            if (!scene_.bodies.is_free(i)) continue;
            const double radius = scene_.inner_radius(i);
            const double fall = g * h * h / radius, flight = scene_.bodies.velocity[i].norm() * h / radius;
            if (fall > most_moved) falling.add(i, fall);
            if (flight > most_moved) flying.add(i, flight);
            const double turn = scene_.bodies.spin[i].norm() * h;
            if (turn > most_turned && !std::holds_alternative<Ball<d>>(scene_.shape_of(i)))
                turning.add(i, turn);
        }
        const int line = line_at(file_, {"time", "step"});
        if (falling.count > 0)
            warn(line, "time.step",
                 fmt::format("a step of {:.3g} s lets {}{} fall by {:.2g} radii; take {:.3g}", h,
                             name_of_body(plan_, falling.first), falling.others(), falling.worst,
                             round_down(h * std::sqrt(well_moved / falling.worst))));
        if (flying.count > 0)
            warn(line, "time.step",
                 fmt::format("in a step of {:.3g} s {}{} moves by {:.2g} radii with the velocity that is "
                             "given; take {:.3g}",
                             h, name_of_body(plan_, flying.first), flying.others(), flying.worst,
                             round_down(h * well_moved / flying.worst)));
        if (turning.count > 0)
            warn(line, "time.step",
                 fmt::format(
                     "in a step of {:.3g} s {}{} turns by {:.2g} radians, past what is in its way; take "
                     "{:.3g}",
                     h, name_of_body(plan_, turning.first), turning.others(), turning.worst,
                     round_down(h * most_turned / turning.worst)));
    }

    void look_at_overlaps(const std::vector<StartOverlap>& overlaps) {
        const StartOverlap *deepest = nullptr, *farthest = nullptr;
        std::size_t overlapping = 0, outside = 0;
        for (const StartOverlap& pair : overlaps) {
            if (pair.outside) {
                ++outside;
                if (farthest == nullptr || pair.depth > farthest->depth) farthest = &pair;
            } else if (pair.radii > most_overlap) {
                ++overlapping;
                if (deepest == nullptr || pair.radii > deepest->radii) deepest = &pair;
            }
        }
        if (farthest != nullptr) {
            const bool a_is_wall = is_wall(scene_, farthest->a);
            const Index grain = a_is_wall ? farthest->b : farthest->a,
                        wall = a_is_wall ? farthest->a : farthest->b;
            warn_of_body(grain, fmt::format("{}{} is outside, {:.3g} m behind {}; move it to the free side",
                                            name_of_body(plan_, grain),
                                            outside == 1 ? "" : fmt::format(" (and {} more)", outside - 1),
                                            farthest->depth, name_of_body(plan_, wall)));
        }
        if (deepest != nullptr)
            warn_of_body(
                deepest->b,
                fmt::format("{} and {} overlap by {:.3g} m, {:.2g} radii{}; {}",
                            name_of_body(plan_, deepest->a), name_of_body(plan_, deepest->b), deepest->depth,
                            deepest->radii,
                            overlapping == 1 ? "" : fmt::format(" (and {} pairs more)", overlapping - 1),
                            deepest->radii > 1 ? "is one inside the other?" : "move them apart"));
    }

    /// Of all [[kind]] with a name, those that no field `kind` names.
    void look_at_use(std::string_view kind) {
        const Value* tables = file_.find(kind);
        if (tables == nullptr || (kind == "material" && tables->items.size() == 1)) return;
        std::set<std::string> used;
        collect_names(file_, kind, used);
        for (std::size_t k = 0; k < tables->items.size(); ++k) {
            const Value* name = at(tables->items[k], {"name"});
            if (name != nullptr && !used.contains(name->text))
                warn(tables->items[k].line, fmt::format("{}[{}]", kind, k),
                     fmt::format("nobody uses \"{}\"", name->text));
        }
    }

    void look_at_motion() {
        const Bodies<d>& bodies = scene_.bodies;
        const std::vector<Vec<d>>& flows = plan_.world.sand.particles.velocity;
        bool any_free = !plan_.feeds.sources.empty() || !flows.empty();
        const bool any_flow =
            std::any_of(flows.begin(), flows.end(), [](const Vec<d>& v) { return !v.isZero(0); });
        bool any_motion = !scene_.gravity.isZero(0) || !plan_.feeds.sources.empty() || any_flow ||
                          !scene_.drives.empty() || scene_.domain.changes() || scene_.cell.any() ||
                          !scene_.joints.empty();
        for (Index i = 0; i < bodies.count(); ++i) {
            any_free = any_free || bodies.is_free(i);
            any_motion = any_motion || !bodies.velocity[i].isZero(0) || !bodies.spin[i].isZero(0);
        }
        if (!plan_.phases.empty()) return;  // a later one may let go, or push
        if (!any_free) warn(0, "", "no body is free to move");
        if (!any_motion) warn(0, "", "there is no gravity and no velocity: nothing will move");
    }

    const RunPlan<d>& plan_;
    const Scene<d>& scene_;
    SceneFiles& files_;
    const Value file_;
    std::set<std::string> hulls_;  // files that have been looked at
    std::vector<SceneFault> found_;
};

}  // namespace

template <int d>
std::vector<StartOverlap> start_overlaps(const RunPlan<d>& plan, std::size_t& count) {
    const Scene<d>& scene = plan.world.scene;
    const std::vector<double> reach(static_cast<std::size_t>(scene.bodies.count()), 0.0);
    Neighbours<d> neighbours;
    ContactSet<d> contacts;
    detect(scene, std::span<const double>(reach), {.skin = plan.options.step.skin}, neighbours, contacts);
    count = contacts.size();

    std::map<std::pair<Index, Index>, StartOverlap> deepest;  // of each pair
    for (const Contact<d>& c : contacts) {
        const double radius = std::min(scene.inner_radius(c.a), scene.inner_radius(c.b)), depth = -c.gap;
        // Rounding makes overlaps of what was meant to touch.
        if (depth <= 1e-9 * radius) continue;
        StartOverlap& known = deepest[{c.a, c.b}];
        if (depth <= known.depth) continue;
        known = {c.a, c.b, depth, depth / radius, false};
    }
    std::vector<StartOverlap> pairs;
    for (auto& [key, pair] : deepest) {
        for (const auto& [wall, grain] : {std::pair(pair.a, pair.b), std::pair(pair.b, pair.a)}) {
            if (!is_wall(scene, wall) || is_wall(scene, grain)) continue;
            const Vec<d> normal = matrix(scene.bodies.rotation[wall]).col(d - 1);
            pair.outside = normal.dot(scene.bodies.position[grain] - scene.bodies.position[wall]) < 0;
        }
        pairs.push_back(pair);
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const StartOverlap& x, const StartOverlap& y) { return x.depth > y.depth; });
    return pairs;
}

template <int d>
std::vector<SceneFault> warnings_of(const RunPlan<d>& plan, SceneFiles& files,
                                    const std::vector<StartOverlap>& overlaps) {
    return Warner<d>(plan, files).all(overlaps);
}

template std::vector<StartOverlap> start_overlaps(const RunPlan<2>&, std::size_t&);
template std::vector<StartOverlap> start_overlaps(const RunPlan<3>&, std::size_t&);
template std::vector<SceneFault> warnings_of(const RunPlan<2>&, SceneFiles&,
                                             const std::vector<StartOverlap>&);
template std::vector<SceneFault> warnings_of(const RunPlan<3>&, SceneFiles&,
                                             const std::vector<StartOverlap>&);

}  // namespace drystone
