// The parts of a scene file that are not bodies, and the order in which all parts are read.
#include "drystone/scenes/scene_file.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/read_file.hpp"
#include "drystone/scenes/phases.hpp"
#include "drystone/scenes/reader.hpp"
#include "drystone/scenes/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace drystone {

namespace {

void read_time(const Table& root, RunOptions& options) {
    const auto time = root.table("time");
    if (!time) return;
    options.step.h = time->number_or("step", options.step.h);
    options.end = time->number_or("end", options.end);
    options.step.displacement = time->number_or("displacement", options.step.displacement);
    if (const double steps = options.end / options.step.h; steps > most_steps_of_a_run)
        time->fault(
            "end", fmt::format("{:g} s make {:.3g} steps of {:g} s", options.end, steps, options.step.h),
            fmt::format("give an earlier end or longer steps; {:g} is the most", most_steps_of_a_run));
    time->finish();
}

void read_scheme(const Table& root, StepOptions& step) {
    const auto scheme = root.table("scheme");
    if (!scheme) return;
    const bool moreau = scheme->choice_or("name", {"look-ahead", "moreau-jean"}, 0) == 1;
    step.scheme = moreau ? Scheme::moreau_jean : Scheme::look_ahead;
    step.theta = scheme->number("theta");
    step.drift = scheme->choice_or("drift", {"push-out", "clamp"}, 0) == 1 ? Drift::clamp : Drift::push_out;
    step.elastic = scheme->choice_or("contacts", {"rigid", "elastic"}, 0) == 1;
    if (step.elastic && (moreau || step.theta.value_or(1) != 1))
        scheme->fault("contacts", "elastic contacts need the whole step at its end",
                      "use the scheme look-ahead with theta = 1, or contacts = \"rigid\"");
    // Wider, all bodies are neighbours of all others.
    step.reach = scheme->number_or("reach", step.reach);
    step.skin = scheme->number_or("skin", step.skin);
    scheme->finish();
}

std::vector<std::string> solver_names(Law law) {
    std::vector<std::string> names;
    for (const NamedSolver& solver : named_solvers()) {
        if (law == Law::coulomb ? solver.coulomb : solver.associated) names.emplace_back(solver.name);
    }
    return names;
}

/// The stages of `auto`, by their names.
void read_stages(const Table& solver, bool strict, SolveSettings& settings) {
    const auto typed = solver.texts("stages");
    if (!typed) return;
    const auto fits = [&](const NamedStage& stage) {
        const bool frozen = stage.name.starts_with("frozen-shift");
        return (settings.law == Law::coulomb ? stage.coulomb : stage.associated) && !(strict && frozen);
    };
    std::vector<std::string> names;
    for (const NamedStage& stage : brief_stages())
        if (fits(stage)) names.emplace_back(stage.name);
    if (!std::holds_alternative<BriefOptions>(settings.solver))
        return solver.fault("stages", "only \"auto\" has stages", "leave out name, or stages");
    StageList stages;
    for (const std::string& name : *typed) {
        const auto known = brief_stages();
        const auto found =
            std::find_if(known.begin(), known.end(), [&](const NamedStage& s) { return s.name == name; });
        if (found == known.end())
            return solver.fault("stages", fmt::format("there is no stage \"{}\"", name),
                                suggestion(name, names));
        if (!fits(*found))
            return solver.fault("stages", fmt::format("\"{}\" is not for this law", name),
                                fmt::format("use some of {}", fmt::join(names, ", ")));
        if (stages.count == StageList::most)
            return solver.fault("stages", fmt::format("a list of {}", typed->size()),
                                fmt::format("name at most {}", StageList::most));
        stages.add(found->stage);
    }
    using enum BriefStage;
    if (!stages.has(momentum) && !stages.has(short_cycles) && !stages.has(frozen_shift))
        return solver.fault(
            "stages", "none of them is tried whatever the number of contacts",
            fmt::format("name one of momentum{} too", settings.law == Law::associated ? ""
                                                      : strict                        ? ", short-cycles"
                                                               : ", short-cycles, frozen-shift"));
    std::get<BriefOptions>(settings.solver).stages = stages;
}

/// The limit of a solver, in its own iterations.
void limit_sweeps(const Table& solver, int most, SolverOptions& options) {
    const auto limit = [&]<class S>(S& s) {
        if constexpr (requires { s.max_sweeps; }) {
            s.max_sweeps = most;
        } else if constexpr (requires { s.max_iterations; }) {
            s.max_iterations = most;
        } else {
            solver.fault("max_sweeps", "is not for this solver", "leave it out, or give max_seconds");
        }
    };
    std::visit(limit, options);
}

void read_solver(const Table& root, StepOptions& step, std::string& name) {
    SolveSettings& settings = step.solve;
    const auto solver = root.table("solver");
    if (!solver) return;
    const auto law = solver->choice_or("law", {"coulomb", "coulomb-strict", "associated"}, 0);
    const bool associated = law == 2;
    settings.law = associated ? Law::associated : Law::coulomb;
    if (law == 1) settings.solver = BriefOptions::strict();
    settings.goal.tolerance = solver->number_or("tolerance", settings.goal.tolerance);
    settings.goal.time_limit = solver->number_or("max_seconds", settings.goal.time_limit);
    step.elastic_limit = solver->choice_or("forces", force_names, 0) == 1;
    if (const auto typed = solver->text("name")) {
        const NamedSolver* found = find_solver(*typed);
        if (found == nullptr) {
            solver->fault("name", fmt::format("there is no solver \"{}\"", *typed),
                          suggestion(*typed, solver_names(settings.law)));
        } else if (!(associated ? found->associated : found->coulomb)) {
            solver->fault("name",
                          fmt::format("\"{}\" cannot be used with the law {}", *typed,
                                      associated ? "associated" : "coulomb"),
                          fmt::format("use one of {}", fmt::join(solver_names(settings.law), ", ")));
        } else {
            // `auto` is as a step wants it, and not as a problem in a file does.
            if (found->name != "auto") settings.solver = found->options;
            name = *typed;
        }
    }
    read_stages(*solver, law == 1, settings);
    if (const auto most = solver->integer("max_sweeps"))
        limit_sweeps(*solver, static_cast<int>(*most), settings.solver);
    solver->finish();
}

template <int d>
void read_domain(const Table& root, Domain<d>& domain) {
    const auto table = root.table("domain");
    if (!table) return;
    table->need("period", "the periods in m, 0 where there is none");
    domain.lower = table->template vector<d>("lower").value_or(Vec<d>::Zero());
    domain.period = table->template vector<d>("period").value_or(Vec<d>::Zero());
    table->finish();
}

bool has_young(const Materials& materials, Index a, Index b) {
    return materials[a].young > 0 || materials[b].young > 0;
}

/// Contacts that are to yield and nowhere can.
void check_elastic(const Table& root, const Materials& materials) {
    for (Index a = 0; a < materials.count(); ++a) {
        for (Index b = 0; b <= a; ++b) {
            if (materials.law(a, b).stiffness > 0 || has_young(materials, a, b)) return;
        }
    }
    root.table("scheme")->fault("contacts",
                                "no material has a stiffness or a modulus and no pair a stiffness, so that "
                                "all contacts would be rigid",
                                "give stiffness (N/m) or young (Pa) in a [[material]] or stiffness in a "
                                "[[pair]], or set contacts = \"rigid\"");
}

/// A solver that does not know all of the laws.
void check_solver(const Table& root, const SolveSettings& solve, const Materials& materials) {
    const auto* fixed_point = std::get_if<FixedPointSolver>(&solve.solver);
    if (fixed_point == nullptr || fixed_point->outer.map != FixedPointMap::haslinger) return;
    for (Index a = 0; a < materials.count(); ++a) {
        for (Index b = 0; b <= a; ++b) {
            const PairLaw& law = materials.law(a, b);
            if (law.rolling == 0 && law.spinning == 0) continue;
            root.table("solver")->fault("name",
                                        "Haslinger's fixed point knows no rolling or spinning friction",
                                        "take \"auto\" or \"cadoux-gauss-seidel\"");
            return;
        }
    }
}

/// How many bodies there are of each material, and how many of them are free; sources feed as many as one likes.
template <int d>
struct MaterialUse {
    std::vector<Index> all, free;

    explicit MaterialUse(const RunPlan<d>& plan)
        : all(static_cast<std::size_t>(plan.world.scene.materials.count())), free(all) {
        const Bodies<d>& bodies = plan.world.scene.bodies;
        for (Index i = 0; i < bodies.count(); ++i) {
            ++all[bodies.material[i]];
            if (bodies.is_free(i)) ++free[bodies.material[i]];
        }
        for (const Source<d>& source : plan.feeds.sources) {
            for (const auto& part : source.recipe.parts) {
                all[part.material] += 2;
                free[part.material] += 2;
            }
        }
    }
    [[nodiscard]] bool may_touch(Index a, Index b) const {
        if (free[a] == 0 && free[b] == 0) return false;
        return a == b ? all[a] > 1 : all[a] > 0 && all[b] > 0;
    }
};

/// The elastic limit shares forces out by stiffness: those of Hooke (N/m) and, in space, of Hertz (N/m^(3/2)) cannot be
/// compared.
template <int d>
void check_elastic_limit(const Table& root, const RunPlan<d>& plan) {
    if (d == 2 || !(plan.options.step.elastic_limit || plan.output.elastic_limit)) return;
    const Materials& materials = plan.world.scene.materials;
    const MaterialUse<d> use(plan);
    std::string hooke, hertz;  // the first pair of each
    for (Index a = 0; a < materials.count(); ++a) {
        for (Index b = a; b < materials.count(); ++b) {
            const bool given = materials.law(a, b).stiffness > 0;
            std::string& kind = given ? hooke : hertz;
            if (kind.empty() && (given || has_young(materials, a, b)) && use.may_touch(a, b))
                kind = fmt::format("{} with {}", materials[a].name, materials[b].name);
        }
    }
    if (hooke.empty() || hertz.empty()) return;
    const std::string what = fmt::format(
        "\"elastic-limit\" cannot weigh forces of Hooke's springs against those of Hertz': contacts "
        "of {} have a stiffness (N/m), those of {} have young (Pa) alone",
        hooke, hertz);
    const std::string cure =
        "give every pair that touches a stiffness, or leave stiffness out and give young";
    if (plan.options.step.elastic_limit) root.table("solver")->fault("forces", what, cure);
    if (plan.output.elastic_limit) root.table("output")->fault("forces", what, cure);
}

/// A free body that is thicker than a period is long, so that it overlaps its own images wherever it is; -1 if there is
/// none.
template <int d>
Index find_overlapping_itself(const Scene<d>& scene) {
    double shortest = infinity;
    for (const double period : scene.domain.period)
        if (period > 0) shortest = std::min(shortest, period);
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (scene.bodies.is_free(i) && 2 * scene.inner_radius(i) > shortest) return i;
    return -1;
}

template <int d>
RunPlan<d> read_plan(const Table& root, const Faults& faults, SceneFiles& files, bool place) {
    SceneReader<d> reader;
    reader.files = &files;
    reader.place = place;
    RunPlan<d>& plan = reader.plan;
    plan.title = root.text("title").value_or(files.scene.stem().string());
    read_gravity(plan.world.scene, root);
    reader.seed = static_cast<std::uint64_t>(root.integer_or("seed", 1));
    read_time(root, plan.options);
    read_scheme(root, plan.options.step);
    read_solver(root, plan.options.step, plan.solver);
    read_domain<d>(root, plan.world.scene.domain);
    read_cell(plan.world.scene, root);
    read_output(root, plan.output);
    read_materials(reader, root, plan.options.step.scheme == Scheme::look_ahead);
    read_shapes(reader, root);
    read_bodies(reader, root);
    read_joints(reader, root);
    read_sand(reader, root);
    read_feeds(reader, root);
    read_measures(reader, root);
    read_stop(root, plan.options.stop);
    read_phases(reader, root);
    root.finish();
    faults.throw_if_any();
    if (plan.options.step.elastic) check_elastic(root, plan.world.scene.materials);
    check_elastic_limit(root, plan);
    check_solver(root, plan.options.step.solve, plan.world.scene.materials);
    if (const Index body = find_overlapping_itself(plan.world.scene); body >= 0)
        root.table("domain")->fault(
            "period",
            fmt::format("is shorter than {} is thick, which would overlap its own images",
                        name_of_body(plan, body)),
            "choose longer periods or smaller bodies");
    faults.throw_if_any();
    return std::move(plan);
}

}  // namespace

SceneFiles open_scene(const std::filesystem::path& scene) {
    SceneFiles files;
    files.scene = scene;
    try {
        files.text = read_file(scene, most_scene_bytes, "give the path of a scene file (TOML)");
    } catch (const Error& error) {
        // The name stands before all faults of a scene anyway.
        throw SceneError(scene,
                         {{0, "", std::string(error.what()).substr(harmless(scene.string()).size() + 2)}});
    }
    if (files.text.find('\0') != std::string::npos)
        throw SceneError(scene, {{0, "",
                                  "is no text; give the path of a scene file (TOML). A checkpoint is "
                                  "resumed, not run"}});
    return files;
}

AnyPlan read_scene(const std::filesystem::path& file, bool place) {
    SceneFiles files = open_scene(file);
    return read_scene(files, place);
}

namespace {

AnyPlan read_phase(SceneFiles& files, bool place) {
    const Value value = values_of(files);
    Faults faults(files.scene);
    const Table root(value, "", faults);
    root.need("dimension", "2 (the plane) or 3 (space)");
    const auto dimension = root.integer("dimension");
    if (!dimension) faults.throw_if_any();
    if (*dimension == 2) return read_plan<2>(root, faults, files, place);
    return read_plan<3>(root, faults, files, place);
}

}  // namespace

AnyPlan read_scene(SceneFiles& files, bool place) {
    AnyPlan plan = read_phase(files, place);
    if (files.sealed || files.phase > 0) return plan;
    // What is wrong with a later phase is told before the first one has taken its hours.
    const std::size_t phases = std::visit([](const auto& one) { return one.phases.size(); }, plan);
    for (files.phase = 1; files.phase < static_cast<int>(phases); ++files.phase) read_phase(files, false);
    files.phase = 0;
    return plan;
}

template <int d>
std::string name_of_body(const RunPlan<d>& plan, Index body) {
    const GlobalId id = plan.world.scene.bodies.id[body];
    const auto found = plan.names.bodies.find(id);
    if (found != plan.names.bodies.end()) return found->second;
    return fmt::format("body {} ({})", id, plan.names.shapes[plan.world.scene.bodies.shape[body]]);
}

template std::string name_of_body(const RunPlan<2>&, Index);
template std::string name_of_body(const RunPlan<3>&, Index);

}  // namespace drystone
