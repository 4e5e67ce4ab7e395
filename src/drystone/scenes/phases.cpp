#include "drystone/scenes/phases.hpp"

#include "drystone/base/edit_distance.hpp"
#include "drystone/scenes/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace drystone {

namespace {

/// Fields that may change, word by word. "*": any word; a row may go on below what it names.
struct Changeable {
    std::string_view words[4];
};
constexpr Changeable changeable[] = {
    {{"gravity"}},
    {{"time", "step"}},
    {{"time", "displacement"}},
    {{"solver"}},
    {{"material", "*", "friction"}},
    {{"material", "*", "restitution"}},
    {{"material", "*", "cohesion"}},
    {{"material", "*", "rolling"}},
    {{"material", "*", "spinning"}},
    {{"material", "*", "stiffness"}},
    {{"material", "*", "young"}},
    {{"material", "*", "poisson"}},
    {{"pair"}},
    {{"cell"}},
    {{"wall", "*", "motion"}},
    {{"wall", "*", "guide", "force"}},
    {{"wall", "*", "guide", "pressure"}},
    {{"wall", "*", "guide", "damping"}},
    {{"body", "*", "motion"}},
    {{"body", "*", "guide", "force"}},
    {{"body", "*", "guide", "pressure"}},
    {{"body", "*", "guide", "damping"}},
    {{"joint", "*", "effort"}},
    {{"joint", "*", "speed"}},
    {{"joint", "*", "friction"}},
    {{"joint", "*", "limit"}},
    {{"source", "*", "rate"}},
    {{"source", "*", "mass_rate"}},
    {{"stop"}},
    {{"phase", "*", "lasts"}},
    {{"phase", "*", "stop"}},
};
constexpr const char* what_may_change =
    "change gravity, [solver], [cell], [stop], time.step, time.displacement, laws of a [[material]] or "
    "[[pair]], the "
    "motion of a [[wall]] or [[body]] and the force of its guide, a motor of a [[joint]] or the rate of a "
    "[[source]]; "
    "the end is that of --until";

bool allows(const Changeable& row, const std::vector<std::string>& words) {
    for (std::size_t k = 0; k < std::size(row.words) && !row.words[k].empty(); ++k) {
        if (k >= words.size()) return false;
        if (row.words[k] != "*" && row.words[k] != words[k]) return false;
    }
    return true;
}

/// The field that may change and is like this one but for a slip of the pen in one word; empty if there is none.
std::string nearest_changeable(const std::vector<std::string>& words) {
    for (const Changeable& row : changeable) {
        for (std::size_t k = 0; k < std::min(std::size(row.words), words.size()); ++k) {
            std::vector<std::string> mended = words;
            if (row.words[k].empty() || row.words[k] == "*") continue;
            if (2 * edit_distance(words[k], row.words[k]) >= std::max(words[k].size(), std::size_t{3}))
                continue;
            mended[k] = row.words[k];
            if (allows(row, mended)) return fmt::format("{}", fmt::join(mended, "."));
        }
    }
    return "";
}

/// "solver.tolerance" and its value, whether the file has it as one name in quotes or as tables in tables.
void flatten(const Value& table, const std::string& path,
             std::vector<std::pair<std::string, const Value*>>& out) {
    for (std::size_t k = 0; k < table.names.size(); ++k) {
        const std::string name = path + (path.empty() ? "" : ".") + table.names[k];
        if (table.items[k].kind == Value::Kind::table) {
            flatten(table.items[k], name, out);
        } else {
            out.emplace_back(name, &table.items[k]);
        }
    }
}

/// The bodies that a list names.
template <int d>
std::vector<GlobalId> read_names(const SceneReader<d>& reader, const Table& table, std::string_view key) {
    std::vector<GlobalId> ids;
    for (const std::string& name : table.texts(key).value_or(std::vector<std::string>())) {
        const auto found = reader.bodies_by_name.find(name);
        if (found != reader.bodies_by_name.end()) {
            ids.push_back(found->second);
            continue;
        }
        std::vector<std::string> names;
        for (const auto& [one, id] : reader.bodies_by_name) names.push_back(one);
        table.fault(key, fmt::format("there is no body or wall \"{}\"", name),
                    names.empty() ? std::string("give it a name") : suggestion(name, names));
    }
    return ids;
}

/// From this phase on they move freely.
template <int d>
void check_freed(const SceneReader<d>& reader, const Table& table, const std::vector<GlobalId>& ids) {
    const Bodies<d>& bodies = reader.plan.world.scene.bodies;
    for (const GlobalId id : ids) {
        const Index i = bodies.index_of(id);
        if (i < 0) continue;  // not placed, or its table has faults of its own
        if (bodies.is_free(i))
            table.fault("free", fmt::format("{} is free from the beginning", name_of_body(reader.plan, i)),
                        "leave it out");
        const double volume = mass_properties<d>(reader.plan.world.scene.shape_of(i)).volume;
        const bool weighs = bodies.mass[i] >= least_mass && bodies.inertia[i].minCoeff() >= least_mass;
        if (!(volume > 0 && std::isfinite(volume)) || !weighs)
            table.fault("free",
                        fmt::format("{} has no mass and cannot move freely", name_of_body(reader.plan, i)),
                        "take it away with `remove`, or give a body with a volume");
    }
}

/// What is taken away or let go was not before.
template <int d>
void check_once(const SceneReader<d>& reader, const Table& table, std::string_view key,
                const std::vector<GlobalId>& ids, std::vector<GlobalId> before) {
    for (const GlobalId id : ids) {
        if (std::find(before.begin(), before.end(), id) != before.end())
            table.fault(key, fmt::format("{} was named before", reader.plan.names.bodies.at(id)),
                        "name it once");
        before.push_back(id);
    }
}

}  // namespace

void check_changes(const std::vector<SceneSetting>& settings) {
    Faults faults("--set");
    for (const SceneSetting& setting : settings) check_change(setting.field, 0, faults);
    faults.throw_if_any();
}

void check_change(const std::string& field, int line, Faults& faults) {
    const std::vector<std::string> words = words_of(field);
    const auto fits = [&](const Changeable& row) { return allows(row, words); };
    if (std::any_of(std::begin(changeable), std::end(changeable), fits)) return;
    if (const std::string meant = nearest_changeable(words); !meant.empty())
        return faults.add(line, field, "is no field that may change while a run goes on",
                          fmt::format("did you mean '{}'?", meant));
    faults.add(line, field, "cannot change while a run goes on", what_may_change);
}

void change_for_phase(Value& root, int phase, Faults& faults) {
    const Value* phases = root.find("phase");
    if (phases == nullptr || phases->kind != Value::Kind::list) return;
    if (static_cast<std::size_t>(phase) >= phases->items.size()) return;
    const Value* found = phases->items[static_cast<std::size_t>(phase)].find("set");
    if (found == nullptr || found->kind != Value::Kind::table) return;
    const Value set = *found;  // what it changes are values beside it
    std::vector<std::pair<std::string, const Value*>> fields;
    flatten(set, "", fields);
    for (const auto& [field, value] : fields) {
        check_change(field, value->line, faults);
        const Value* gravity = root.find("gravity");
        if (words_of(field)[0] == "gravity" && gravity != nullptr && gravity->kind == Value::Kind::table)
            faults.add(value->line, field, "is of gravity that turns",
                       "give a vector from the beginning, and turn the scene by motions");
        set_value(root, field, *value, faults);
    }
}

template <int d>
void read_phases(SceneReader<d>& reader, const Table& root) {
    RunPlan<d>& plan = reader.plan;
    const std::vector<Table> tables = root.tables("phase");
    if (tables.empty()) return;
    if (const auto time = root.table("time"); time && time->has("end"))
        time->fault("end", "stands beside [[phase]]", "leave it out: the phases say how long the run lasts");
    if (root.has("stop"))
        root.fault("stop", "stands beside [[phase]]", "give the phase that is to end early a [phase.stop]");
    const int present = reader.files->phase;
    const double begin = reader.files->phase_begin;
    plan.options.end = begin;
    std::vector<GlobalId> all_removed, all_freed;
    for (const Table& table : tables) {
        const auto p = static_cast<int>(plan.phases.size());
        table.need("name");
        const std::string name = table.text("name").value_or("");
        if (std::find(plan.phases.begin(), plan.phases.end(), name) != plan.phases.end())
            table.fault("name", fmt::format("\"{}\" is the name of an earlier phase", name),
                        "give each a name of its own");
        plan.phases.push_back(name);
        table.need("lasts");
        const double lasts = table.number_or("lasts", 1);
        if (p >= present) plan.options.end += lasts;
        if (const double steps = lasts / plan.options.step.h; steps > most_steps_of_a_run)
            table.fault("lasts",
                        fmt::format("{:g} s make {:.3g} steps of {:g} s", lasts, steps, plan.options.step.h),
                        fmt::format("give less, or longer steps; {:g} is the most", most_steps_of_a_run));
        StopRule stop;
        read_stop(table, stop);
        if (p == present) {
            plan.options.phase_end = begin + lasts;
            plan.options.stop = stop;
            plan.options.stop.earliest += begin;
        }
        if (table.has("set") && !table.is("set", Value::Kind::table))
            table.fault("set", "is no table", "give fields and values: set.solver.tolerance = 1e-4");
        const std::vector<GlobalId> removed = read_names(reader, table, "remove"),
                                    freed = read_names(reader, table, "free");
        check_freed(reader, table, freed);
        check_once(reader, table, "remove", removed, all_removed);
        all_removed.insert(all_removed.end(), removed.begin(), removed.end());
        check_once(reader, table, "free", freed, all_freed);
        all_freed.insert(all_freed.end(), freed.begin(), freed.end());
        for (const std::string_view key : {"remove", "free"})
            if (p == 0 && table.has(key))
                table.fault(key, "stands in the first phase, which is the beginning",
                            "leave the body out, or let it be free from there on");
        if (const Value* set = table.value("set"); set != nullptr && p == present) {
            std::vector<std::pair<std::string, const Value*>> fields;
            flatten(*set, "", fields);
            for (const auto& [field, value] : fields) plan.changed.push_back(field);
        }
        table.finish();
        if (p > present) continue;
        plan.gone.insert(plan.gone.end(), removed.begin(), removed.end());
        plan.freed.insert(plan.freed.end(), freed.begin(), freed.end());
    }
    if (present >= static_cast<int>(plan.phases.size()))
        root.fault("phase", fmt::format("there is none of number {}", present),
                   "resume with the scene of the run");
    const auto not_driven = [&](const Drive<d>& drive) {
        return std::find(plan.gone.begin(), plan.gone.end(), drive.body) != plan.gone.end() ||
               std::find(plan.freed.begin(), plan.freed.end(), drive.body) != plan.freed.end();
    };
    std::erase_if(plan.world.scene.drives, not_driven);
}

template void read_phases(SceneReader<2>&, const Table&);
template void read_phases(SceneReader<3>&, const Table&);

}  // namespace drystone
