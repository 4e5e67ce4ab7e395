#include "drystone/run/measures.hpp"

#include "drystone/base/error.hpp"
#include "drystone/continuum/measure.hpp"

#include <algorithm>

namespace drystone {

namespace {

using Columns = std::vector<Column>;
using Names = ColumnNames;
using Numbers = std::vector<double>;

constexpr const char* axes = "xyz";

template <int d>
void name_vector(Columns& columns, const std::string& name, const char* unit) {
    for (int k = 0; k < d; ++k) columns.push_back({name + "_" + axes[k], unit});
}
template <int d>
Columns vector_columns(const char* name, const char* unit) {
    Columns columns;
    name_vector<d>(columns, name, unit);
    return columns;
}

template <int d>
void append(Numbers& out, const Vec<d>& x) {
    out.insert(out.end(), x.data(), x.data() + d);
}

/// A name as it may stand at the head of a column, in programs too that take what begins with = + - @ for a formula and
/// compute it.
std::string in_a_cell(const std::string& name) {
    std::string safe = harmless(name);
    std::replace_if(
        safe.begin(), safe.end(), [](char c) { return c == ',' || c == '"'; }, '_');
    return safe.find_first_of("=+-@") == 0 ? "_" + safe : safe;
}

/// Energies of the grains in a region: of translation, of rotation, of gravity.
template <int d>
std::array<double, 3> energies_in(const Scene<d>& scene, const Region<d>* region) {
    const Bodies<d>& bodies = scene.bodies;
    std::array<double, 3> sum = {0, 0, 0};
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.is_free(i) || (region != nullptr && !contains<d>(*region, bodies.position[i]))) continue;
        const Spin<d> momentum = inertia_in_world<d>(bodies.rotation[i], bodies.inertia[i]) * bodies.spin[i];
        sum[0] += 0.5 * bodies.mass[i] * bodies.velocity[i].squaredNorm();
        sum[1] += 0.5 * bodies.spin[i].dot(momentum);
        sum[2] -= bodies.mass[i] * scene.gravity.dot(scene.unwrapped(i));
    }
    return sum;
}

template <int d>
Columns columns_of_mass(const Names& /*names*/) {
    Columns columns = {{"grains", ""}, {"mass", "kg"}};
    name_vector<d>(columns, "centre", "m");
    return columns;
}
template <int d>
void measure_mass(Look<d>& look, Numbers& out) {
    const FlowField<d> field = flow_field(look.scene, look.region);
    out.insert(out.end(), {static_cast<double>(field.grains), field.mass});
    append<d>(out, field.centre);
}

template <int d>
Columns columns_of_velocity(const Names& /*names*/) {
    Columns columns = vector_columns<d>("velocity", "m/s");
    columns.push_back({"shear_rate", "1/s"});
    return columns;
}
template <int d>
void measure_velocity(Look<d>& look, Numbers& out) {
    const FlowField<d> field = flow_field(look.scene, look.region);
    append<d>(out, field.mean);
    out.push_back(field.shear_rate());
}

template <int d>
void measure_coordination(Look<d>& look, Numbers& out) {
    const Coordination z = coordination(look.scene, look.forces(), look.region);
    out.insert(out.end(),
               {z.contacts, z.neighbours, static_cast<double>(z.grains), static_cast<double>(z.rattlers)});
}

template <int d>
Columns columns_of_fabric(const Names& /*names*/) {
    Columns columns;
    for (int i = 0; i < d; ++i)
        for (int j = i; j < d; ++j) columns.push_back({std::string("fabric_") + axes[i] + axes[j], ""});
    return columns;
}
template <int d>
void measure_fabric(Look<d>& look, Numbers& out) {
    const Mat<d> F = fabric(look.scene, look.forces(), look.region);
    for (int i = 0; i < d; ++i)
        for (int j = i; j < d; ++j) out.push_back(F(i, j));
}

template <int d>
Columns columns_of_stress(const Names& /*names*/) {
    const char* unit = d == 2 ? "N/m" : "Pa";
    Columns columns;
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) columns.push_back({std::string("stress_") + axes[i] + axes[j], unit});
    columns.push_back({"pressure", unit});
    columns.push_back({"kinetic_pressure", unit});
    return columns;
}
template <int d>
void measure_stress(Look<d>& look, Numbers& out) {
    const Stress<d> sigma = stress(look.scene, look.forces(), look.region);
    const Mat<d> total = sigma.total();
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) out.push_back(total(i, j));
    out.insert(out.end(), {sigma.pressure(), sigma.kinetic.trace() / d});
}

template <int d>
void measure_repose(Look<d>& look, Numbers& out) {
    const Repose angle = angle_of_repose(look.profile());
    out.insert(out.end(), {angle.mean, angle.left, angle.right, look.profile().height});
}

template <int d>
void measure_run_out(Look<d>& look, Numbers& out) {
    const RunOut<d> far = run_out(look.scene, look.memory, look.region);
    out.insert(out.end(), {static_cast<double>(far.connected_grains), far.connected_left, far.connected_right,
                           far.connected_radius, far.left, far.right, far.radius});
}

Columns columns_of_discharge(const Names& names) {
    Columns columns;
    for (const std::string& sink : names.sinks) {
        const std::string name = in_a_cell(sink);
        columns.insert(columns.end(),
                       {{name + " grains", ""}, {name + " mass", "kg"}, {name + " rate", "kg/s"}});
    }
    return columns;
}
template <int d>
void measure_discharge(Look<d>& look, Numbers& out) {
    const FeedState& feed = look.feed;
    for (std::size_t k = 0; k < look.last_drained.size(); ++k) {
        const double grains = k < feed.drained.size() ? static_cast<double>(feed.drained[k]) : 0;
        const double mass = k < feed.drained_mass.size() ? feed.drained_mass[k] : 0;
        const double passed = look.record.time - look.last_time;
        const double rate = passed > 0 ? (mass - look.last_drained[k]) / passed : 0;
        out.insert(out.end(), {grains, mass, rate});
        look.last_drained[k] = mass;
    }
}

template <int d>
Columns columns_of_joints(const Names& names) {
    Columns columns;
    for (const std::string& joint : names.joints) {
        const std::string name = in_a_cell(joint);
        columns.push_back({name + " axial", "N or N m"});
        name_vector<d>(columns, name + " force", "N");
    }
    return columns;
}
template <int d>
void measure_joints(Look<d>& look, Numbers& out) {
    const StepMemory<d>& memory = look.memory;
    Index offset = memory.assembled.joint_offset();
    for (const JointBlocks<d>& joint : memory.assembled.joints) {
        Index rows = 0;
        for (int k = 0; k < joint.count; ++k) rows += joint.block[k].cone.dim;
        const JointImpulse<d> impulse = impulse_of(joint, memory.solution.r.segment(offset, rows));
        out.push_back(impulse.axial / look.record.h);
        append<d>(out, impulse.force / look.record.h);
        offset += rows;
    }
}

template <int d>
Columns columns_of_sand(const Names& /*names*/) {
    Columns columns = {{"sand_mass", "kg"}};
    name_vector<d>(columns, "sand_centre", "m");
    name_vector<d>(columns, "sand_velocity", "m/s");
    columns.insert(columns.end(),
                   {{"sand_kinetic", "J"}, {"sand_left", "m"}, {"sand_right", "m"}, {"sand_top", "m"}});
    return columns;
}
template <int d>
void numbers_of_sand(Look<d>& look, Numbers& out) {
    const SandTotals<d> sand = measure_sand(look.sand, look.region);
    out.push_back(sand.mass);
    append<d>(out, sand.centre);
    append<d>(out, sand.velocity);
    out.insert(out.end(), {sand.kinetic, sand.left, sand.right, sand.top});
}

// A row: the word of scene files, its columns, its numbers, and whether it needs a volume.
template <int d>
constexpr MeasureKind<d> rows[] = {
    {"energy",
     [](const Names&) -> Columns {
         return {{"kinetic_translation", "J"}, {"kinetic_rotation", "J"}, {"potential", "J"}};
     },
     [](Look<d>& look, Numbers& out) {
         for (const double e : energies_in(look.scene, look.region)) out.push_back(e);
     }},
    {"mass", columns_of_mass<d>, measure_mass<d>},
    {"velocity", columns_of_velocity<d>, measure_velocity<d>},
    {"temperature",
     [](const Names&) -> Columns {
         return {{"granular_temperature", "m^2/s^2"}};
     },
     [](Look<d>& look, Numbers& out) { out.push_back(granular_temperature(look.scene, look.region)); }},
    {"packing",
     [](const Names&) -> Columns {
         return {{"packing_fraction", ""}};
     },
     [](Look<d>& look, Numbers& out) { out.push_back(packing_fraction(look.scene, look.region)); }, true},
    {"coordination",
     [](const Names&) -> Columns {
         return {{"contacts_per_grain", ""},
                 {"neighbours_per_grain", ""},
                 {"grains_counted", ""},
                 {"rattlers", ""}};
     },
     measure_coordination<d>},
    {"fabric", columns_of_fabric<d>, measure_fabric<d>},
    {"stress", columns_of_stress<d>, measure_stress<d>, true},
    {"inertial",
     [](const Names&) -> Columns {
         return {{"inertial_number", ""}};
     },
     [](Look<d>& look, Numbers& out) {
         out.push_back(inertial_number(look.scene, look.forces(), look.region));
     },
     true},
    {"flux", [](const Names&) { return vector_columns<d>("flux", d == 2 ? "kg/m/s" : "kg/m^2/s"); },
     [](Look<d>& look, Numbers& out) { append<d>(out, mass_flux(look.scene, look.region)); }, true},
    {"overlap",
     [](const Names&) -> Columns {
         return {{"overlap", "m"}};
     },
     [](Look<d>& look, Numbers& out) { out.push_back(largest_overlap(look.memory)); }},
    {"repose",
     [](const Names&) -> Columns {
         return {
             {"repose", "degrees"}, {"repose_left", "degrees"}, {"repose_right", "degrees"}, {"height", "m"}};
     },
     measure_repose<d>},
    {"runout",
     [](const Names&) -> Columns {
         return {{"connected_grains", ""},
                 {"connected_left", "m"},
                 {"connected_right", "m"},
                 {"connected_radius", "m"},
                 {"left", "m"},
                 {"right", "m"},
                 {"radius", "m"}};
     },
     measure_run_out<d>},
    {"discharge", columns_of_discharge, measure_discharge<d>},
    {"joint", columns_of_joints<d>, measure_joints<d>},
    {"sand", columns_of_sand<d>, numbers_of_sand<d>},
    {"profile", [](const Names&) { return Columns(); }, [](Look<d>&, Numbers&) {}},
};
static_assert(std::size(rows<3>) == static_cast<std::size_t>(Quantity::profile) + 1);

}  // namespace

template <int d>
std::span<const MeasureKind<d>> measures() {
    return rows<d>;
}

template std::span<const MeasureKind<2>> measures();
template std::span<const MeasureKind<3>> measures();

}  // namespace drystone
