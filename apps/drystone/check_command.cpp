#include "check_command.hpp"

#include "drystone/cone/tensor_row.hpp"
#include "drystone/continuum/transfer.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "drystone/scenes/settings.hpp"
#include "drystone/scenes/warnings.hpp"
#include "run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace drystone::command {

namespace {

constexpr std::size_t most_listed = 5;  // of overlaps

void row(const char* what, const std::string& text) { say(fmt::format("{:<12}{}", what, text)); }

std::string plural(std::size_t count, std::string_view noun) {
    const bool body = noun == "body";
    return fmt::format("{} {}", count,
                       count == 1 ? std::string(noun)
                       : body     ? std::string("bodies")
                                  : std::string(noun) + "s");
}

template <int d>
bool is_wall(const Scene<d>& scene, Index i) {
    return std::holds_alternative<HalfSpace<d>>(scene.shape_of(i));
}

template <class V>
std::string vector_text(const V& v) {
    std::string text = "(";
    for (Eigen::Index k = 0; k < v.size(); ++k) text += fmt::format("{}{:.6g}", k == 0 ? "" : ", ", v[k]);
    return text + ")";
}

/// Bodies by the name of their shape; variants of a random shape count together.
template <int d>
void tell_bodies(const RunPlan<d>& plan) {
    struct Kind {
        std::size_t free = 0, held = 0;
        double mass = 0, least = infinity, most = 0;
    };
    const Scene<d>& scene = plan.world.scene;
    std::map<std::string, Kind> kinds;
    std::size_t walls = 0, moving_walls = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (is_wall(scene, i)) {
            ++walls;
            if (!scene.bodies.velocity[i].isZero(0)) ++moving_walls;
            continue;
        }
        const std::string& name = plan.names.shapes[scene.bodies.shape[i]];
        Kind& kind = kinds[name.substr(0, name.find('/'))];
        ++(scene.bodies.is_free(i) ? kind.free : kind.held);
        if (scene.bodies.is_free(i)) kind.mass += scene.bodies.mass[i];
        kind.least = std::min(kind.least, scene.outer_radius(i));
        kind.most = std::max(kind.most, scene.outer_radius(i));
    }
    std::size_t width = 0;
    for (const auto& [name, kind] : kinds) width = std::max(width, name.size());
    const char* label = "bodies";
    for (const auto& [name, kind] : kinds) {
        std::string radius = fmt::format("{:.4g}", kind.least);
        if (const std::string most = fmt::format("{:.4g}", kind.most); most != radius)
            radius += " to " + most;
        row(label, fmt::format("{:<{}}  {} free, {} held, {:.6g} kg free, outer radius {} m", name, width,
                               kind.free, kind.held, kind.mass, radius));
        label = "";
    }
    if (kinds.empty()) row("bodies", "none");
    row("walls", walls == 0
                     ? "none"
                     : fmt::format("{}{}", walls,
                                   moving_walls > 0 ? fmt::format(", {} of them moving", moving_walls) : ""));
}

/// Sand as the first step finds it on its grid.
struct SandCount {
    std::size_t particles = 0, cells = 0, nodes = 0;
    double mass = 0;  ///< kg
};

template <int d>
SandCount count_sand(const Sand<d>& sand) {
    if (sand.empty()) return {};
    Grid<d> grid;
    GridState<d> state;
    to_grid(sand, 1, grid, state);
    SandCount count{sand.particles.id.size(), grid.cells.size(), grid.nodes.size()};
    for (const double volume : sand.particles.volume) count.mass += sand.material.density * volume;
    return count;
}

template <int d>
void tell_sand(const Sand<d>& sand, const SandCount& count) {
    if (count.particles == 0) return;
    row("sand",
        fmt::format(
            "{} particles, {:.6g} kg, on {} nodes of a grid of cells {} m wide, friction {:.4g}{}",
            count.particles, count.mass, count.nodes, vector_text(sand.cell), sand.material.friction,
            sand.material.cohesion > 0 ? fmt::format(", cohesion {:.4g} Pa", sand.material.cohesion) : ""));
}

template <int d>
void tell_materials(const Materials& materials) {
    const char* label = "materials";
    for (Index i = 0; i < materials.count(); ++i) {
        const PairLaw& law = materials.law(i, i);
        row(label, fmt::format("{}: {:.6g} kg/m^{}, friction {:.4g}, restitution {:.4g}, cohesion {:.4g} N",
                               materials[i].name, materials[i].density, d, law.friction, law.restitution,
                               law.cohesion));
        label = "";
    }
}

/// What comes, goes, is driven and is written.
template <int d>
void tell_rest(const RunPlan<d>& plan) {
    for (const Drive<d>& drive : plan.world.scene.drives)
        row("driven", name_of_body(plan, plan.world.scene.bodies.index_of(drive.body)) +
                          (drive.guide ? fmt::format(", by a force of {:.4g} N", drive.guide->force) : ""));
    for (const Source<d>& source : plan.feeds.sources)
        row("source", fmt::format("{}: {:.4g} {} from {:.4g} s on", source.name, source.rate,
                                  source.by_mass ? "kg/s" : "grains/s", source.begin));
    for (const Sink<d>& sink : plan.feeds.sinks) row("sink", sink.name);
    for (const MeasureTable<d>& table : plan.measures)
        row("measure",
            fmt::format("{}.csv, every {:.4g} s, {} quantities", table.name, table.every, table.what.size()));
    row("frames", plan.output.frames_every > 0 ? fmt::format("every {:.4g} s", plan.output.frames_every)
                                               : "none: [output] frames_every is not given");
}

/// Those of a scene that names them.
std::string stages_in_words(const SolveSettings& solve) {
    const auto* brief = std::get_if<BriefOptions>(&solve.solver);
    if (brief == nullptr || brief->stages == BriefOptions{}.stages ||
        brief->stages == BriefOptions::strict().stages)
        return "";
    std::vector<std::string_view> names;
    for (const BriefStage stage : brief->stages)
        names.push_back(brief_stages()[static_cast<std::size_t>(stage)].name);
    return fmt::format(" ({})", fmt::join(names, ", "));
}

template <int d>
void tell_plan(const RunPlan<d>& plan, const SandCount& sand) {
    const StepOptions& step = plan.options.step;
    const Domain<d>& domain = plan.world.scene.domain;
    row("title", plan.title);
    row("dimension", std::to_string(d));
    row("gravity", vector_text(plan.world.scene.gravity) + " m/s^2");
    if (domain.periodic())
        row("domain",
            fmt::format("from {} m, periods {} m", vector_text(domain.lower), vector_text(domain.period)));
    tell_bodies(plan);
    tell_sand(plan.world.sand, sand);
    tell_materials<d>(plan.world.scene.materials);
    const std::string adapted =
        step.displacement > 0
            ? fmt::format(", shorter where a grain would move by {:.4g} radii", step.displacement)
            : "";
    tell_rest(plan);
    if (!plan.phases.empty()) row("phases", fmt::format("{}", fmt::join(plan.phases, ", ")));
    row("time", fmt::format("to {:.6g} s in steps of {:.4g} s{} ({:.0f} steps)", plan.options.end, step.h,
                            adapted, std::ceil(plan.options.end / step.h - 1e-6)));
    row("scheme",
        fmt::format("{}, theta {:.4g}{}", step.scheme == Scheme::look_ahead ? "look-ahead" : "moreau-jean",
                    step.theta_or_default(),
                    step.scheme == Scheme::moreau_jean ? ""
                    : step.drift == Drift::clamp       ? ", drift clamp"
                                                       : ", drift push-out"));
    row("solver", fmt::format("{}{}, law {}, tolerance {:.1e}", plan.solver, stages_in_words(step.solve),
                              name_of(step.solve.law), step.solve.goal.tolerance));
}

/// Bytes of a run without its sand: bodies, and as many contacts as a dense packing has (6 per grain in space, 4 in the
/// plane, each shared by two) or as there are now, with their candidates, blocks and warm start.
template <int d>
double estimated_bytes(const Scene<d>& scene, std::size_t contacts_now) {
    constexpr double n = body_velocities<d>;
    const double body = 8 + 4 + 8 + 4 + 1 + 8 + sizeof(Spin<d>) + 3 * sizeof(Vec<d>) + sizeof(Image<d>) +
                        2 * sizeof(Rotation<d>) + 2 * sizeof(Spin<d>) + 8 * (n * n + 6 * n);
    const double contact =
        sizeof(Contact<d>) + 3 * sizeof(Candidate<d>) + 8 * (2 * d * n) * 2 + 8 * (8 * d + d * d) + 64;
    const double contacts =
        std::max(static_cast<double>(contacts_now), (d == 3 ? 3.0 : 2.0) * scene.bodies.count());
    return body * scene.bodies.count() + contact * contacts;
}

/// Of sand: its particles, and nodes with the blocks of their stresses.
template <int d>
double estimated_bytes(const SandCount& sand) {
    constexpr double particle = 3 * 8 + 2 * sizeof(Vec<d>) + 2 * sizeof(Mat<d>) + 4 * sizeof(Index);
    constexpr double cell = 2 * sizeof(CellMoments<d>);
    constexpr int n = tensor_size<d>;
    constexpr double node = around<d> * 3 * (8 * d + sizeof(Index)) + 8 * (2 * n * n + 20 * n + 20 * d);
    return particle * static_cast<double>(sand.particles) + cell * static_cast<double>(sand.cells) +
           node * static_cast<double>(sand.nodes);
}

template <int d>
void tell_overlaps(const RunPlan<d>& plan, const std::vector<StartOverlap>& pairs) {
    if (pairs.empty()) return row("overlaps", "none");
    row("overlaps",
        fmt::format("{}, the deepest {:.4g} m", plural(pairs.size(), "pair"), pairs.front().depth));
    for (std::size_t i = 0; i < std::min(pairs.size(), most_listed); ++i) {
        const StartOverlap& c = pairs[i];
        row("", fmt::format("{} and {}: {:.4g} m, {:.3g} radii", name_of_body(plan, c.a),
                            name_of_body(plan, c.b), c.depth, c.radii));
    }
    if (pairs.size() > most_listed) row("", fmt::format("and {} more", pairs.size() - most_listed));
}

/// What was found in one file.
struct Finding {
    std::vector<SceneFault> faults, warnings;
    nlohmann::ordered_json understood;  ///< null if there are faults
};

template <int d>
nlohmann::ordered_json understood(const RunPlan<d>& plan, const SandCount& sand, std::size_t overlaps,
                                  double bytes) {
    std::size_t free = 0;
    for (Index i = 0; i < plan.world.scene.bodies.count(); ++i)
        free += plan.world.scene.bodies.is_free(i) ? 1 : 0;
    const double steps = std::ceil(plan.options.end / plan.options.step.h - 1e-6);
    return {{"title", plan.title},
            {"dimension", d},
            {"bodies", plan.world.scene.bodies.count()},
            {"free", free},
            {"particles", sand.particles},
            {"nodes", sand.nodes},
            {"steps", steps},
            {"overlaps", overlaps},
            {"bytes", bytes}};
}

template <int d>
void look_at(const RunPlan<d>& plan, SceneFiles& files, bool silent, Finding& finding) {
    std::size_t contacts = 0;
    const std::vector<StartOverlap> overlaps = start_overlaps(plan, contacts);
    const SandCount sand = count_sand(plan.world.sand);
    const double bytes = estimated_bytes(plan.world.scene, contacts) + estimated_bytes<d>(sand);
    finding.warnings = warnings_of(plan, files, overlaps);
    finding.understood = understood(plan, sand, overlaps.size(), bytes);
    if (silent) return;
    tell_plan(plan, sand);
    tell_overlaps(plan, overlaps);
    row("memory", fmt::format("about {:.3g} MB", bytes / 1e6));
}

Finding look_at(const std::string& name, const std::vector<SceneSetting>& settings, bool silent) {
    Finding finding;
    try {
        SceneFiles files = open_scene(name);
        files.settings = settings;
        const AnyPlan plan = read_scene(files);
        std::visit([&](const auto& any) { look_at(any, files, silent, finding); }, plan);
    } catch (const SceneError& error) {
        finding.faults = error.faults;
    } catch (const Error& error) {
        finding.faults.push_back({0, "", error.what()});
    }
    return finding;
}

nlohmann::ordered_json list_of(const std::vector<SceneFault>& faults) {
    auto list = nlohmann::ordered_json::array();
    for (const SceneFault& fault : faults) {
        const auto line = fault.line > 0 ? nlohmann::ordered_json(fault.line) : nlohmann::ordered_json();
        list.push_back({{"line", line}, {"field", fault.field}, {"message", fault.message}});
    }
    return list;
}

void tell_json(const std::string& name, const Finding& finding) {
    const nlohmann::ordered_json object = {{"file", name},
                                           {"fine", finding.faults.empty()},
                                           {"faults", list_of(finding.faults)},
                                           {"warnings", list_of(finding.warnings)},
                                           {"scene", finding.understood}};
    say(json_text(object));
}

}  // namespace

int check_command(const CheckOptions& options) {
    std::size_t faults = 0, warnings = 0;
    std::vector<SceneSetting> settings;
    for (const std::string& text : options.settings) settings.push_back(setting_of(text));
    for (const std::string& name : options.scenes) {
        if (options.scenes.size() > 1 && !options.json) {
            if (&name != options.scenes.data()) say("");
            say(name);
        }
        const Finding finding = look_at(name, settings, options.json);
        faults += finding.faults.size();
        warnings += finding.warnings.size();
        if (options.json) {
            tell_json(name, finding);
            continue;
        }
        for (const SceneFault& fault : finding.faults) complain(text_of(name, fault));
        for (const SceneFault& warning : finding.warnings) say("warning: " + text_of(name, warning));
    }
    return faults > 0 || (options.strict && warnings > 0) ? exit_unsolved : exit_solved;
}

}  // namespace drystone::command
