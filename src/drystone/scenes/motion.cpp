// What moves in a scene file without being free: driven bodies, conveyors, walls under a force, cells, gravity that
// turns.
#include "drystone/scenes/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

namespace drystone {

namespace {

constexpr double radians = std::numbers::pi / 180;

template <int d>
Spin<d> read_spin_field(const Table& table, std::string_view key) {
    if constexpr (d == 2) {
        return Spin<2>(table.number_or(key, 0));
    } else {
        return table.vector<3>(key).value_or(Spin<3>::Zero());
    }
}

template <int d>
std::optional<Vec<d>> read_axis(const Table& table, std::string_view key) {
    const auto axis = table.template vector<d>(key);
    if (!axis) return std::nullopt;
    if (!(axis->norm() > 0)) {
        table.fault(key, "has no length", "give a direction");
        return std::nullopt;
    }
    return axis->normalized();
}

template <int d>
void read_motion(const Table& table, Drive<d>& drive) {
    drive.velocity = table.template vector<d>("velocity").value_or(Vec<d>::Zero());
    drive.spin = read_spin_field<d>(table, "spin");
    drive.swing = table.template vector<d>("swing").value_or(Vec<d>::Zero());
    drive.swing_spin = read_spin_field<d>(table, "swing_spin");
    drive.frequency = table.number_or("frequency", 0);
    for (const std::string_view key : {"swing", "swing_spin"})
        if (table.has(key) && !table.has("frequency"))
            table.fault(key, "is given without a frequency, and would not swing", "give frequency = Hz");
    drive.phase = radians * table.number_or("phase", 0);
    drive.pivot = table.template vector<d>("pivot");
    drive.times = table.numbers("times", 0).value_or(std::vector<double>());
    drive.factors = table.numbers("factors", 0).value_or(std::vector<double>());
    if (drive.times.size() != drive.factors.size())
        table.fault("factors",
                    fmt::format("{} factors for {} times", drive.factors.size(), drive.times.size()),
                    "give as many of the one as of the other");
    if (std::adjacent_find(drive.times.begin(), drive.times.end(), std::greater_equal<>()) !=
        drive.times.end())
        table.fault("times", "do not rise", "give each time once, in order");
    table.finish();
}

template <int d>
std::optional<Guide<d>> read_guide(const Table& table) {
    Guide<d> guide;
    table.need("axis", "the direction in which it is free, into which the force pushes");
    table.need("mass");
    const auto axis = read_axis<d>(table, "axis");
    if (axis) guide.axis = *axis;
    guide.mass = table.number_or("mass", 1);
    guide.damping = table.number_or("damping", 0);
    if (table.has("force") == table.has("pressure"))
        table.fault("force", table.has("force") ? "stands beside 'pressure'" : "is missing",
                    "give either force = N or pressure = Pa with area = m^2");
    guide.force = table.number_or("force", 0);
    if (const auto p = table.number("pressure")) {
        table.need("area");
        guide.force = *p * table.number_or("area", 1);
    }
    table.finish();
    return guide;
}

}  // namespace

template <int d>
std::optional<Drive<d>> read_drive(const Table& table, bool held) {
    std::optional<Drive<d>> drive;
    for (const std::string_view key : {"motion", "belt", "guide"}) {
        if (!table.has(key)) continue;
        if (!held) table.fault(key, "is given for a body that moves freely", "add held = true");
        drive.emplace();
    }
    if (!drive) return std::nullopt;
    if (table.has("motion") && (table.has("velocity") || table.has("spin")))
        table.fault("velocity", "stands beside 'motion'", "put velocity and spin into motion = { ... }");
    drive->velocity = table.template vector<d>("velocity").value_or(Vec<d>::Zero());
    if (const auto motion = table.table("motion")) read_motion(*motion, *drive);
    drive->belt = table.template vector<d>("belt").value_or(Vec<d>::Zero());
    if (const auto guide = table.table("guide")) drive->guide = read_guide<d>(*guide);
    return drive;
}

template <int d>
void read_gravity(Scene<d>& scene, const Table& root) {
    if (!root.is("gravity", Value::Kind::table)) {
        scene.gravity = root.template vector<d>("gravity").value_or(Vec<d>::Zero());
        return;
    }
    const auto table = root.table("gravity");
    GravityTurn<d> turn;
    table->need("value", "a vector in m/s^2");
    turn.start = table->template vector<d>("value").value_or(Vec<d>::Zero());
    if (d == 3 && table->has("rate")) table->need("axis", "the axis about which gravity turns");
    if constexpr (d == 3) turn.axis = read_axis<3>(*table, "axis").value_or(turn.axis);
    turn.rate = radians * table->number_or("rate", 0);
    turn.begin = table->number_or("begin", 0);
    if (const auto limit = table->number("limit")) turn.limit = radians * std::abs(*limit);
    table->finish();
    scene.gravity = turn.start;
    if (turn.rate != 0) scene.gravity_turn = turn;
}

template <int d>
void read_cell(Scene<d>& scene, const Table& root) {
    const auto table = root.table("cell");
    if (!table) return;
    Domain<d>& domain = scene.domain;
    CellControl<d>& cell = scene.cell;
    if (!(domain.period.array() > 0).all())
        table->fault("", "the cell is not periodic in all directions",
                     "give [domain] a period > 0 in every direction");
    domain.rate = table->template vector<d>("rate").value_or(Vec<d>::Zero());
    domain.shear_rate = table->number_or("shear_rate", 0);
    if (const auto p = table->number("pressure")) cell.stress.fill(*p);
    if (const Value* list = table->value("stress")) {
        if (table->has("pressure")) table->fault("stress", "stands beside 'pressure'", "give one of the two");
        bool good = list->kind == Value::Kind::list && list->items.size() == d;
        for (int k = 0; good && k < d; ++k) {
            const Value& item = list->items[static_cast<std::size_t>(k)];
            if (item.kind == Value::Kind::number && table->range("stress").accepts(item.number)) {
                cell.stress[k] = item.number;
            } else {
                good = item.kind == Value::Kind::text && item.text == "rate";
            }
        }
        if (!good)
            table->fault(
                "stress", "is not a list of stresses",
                fmt::format("give {} entries, each a stress in Pa or \"rate\" where the rate is kept", d));
    }
    for (int k = 0; k < d; ++k)
        if (cell.stress[k] && domain.rate[k] != 0 && table->has("stress"))
            table->fault("rate", fmt::format("direction {} follows a stress", k),
                         "give 0 there, or \"rate\" in 'stress'");
    cell.shear_stress = table->number("shear_stress");
    if (cell.shear_stress && domain.shear_rate != 0)
        table->fault("shear_stress", "stands beside 'shear_rate'", "give one of the two");
    cell.mass = table->number_or("mass", 0);
    table->finish();
}

template std::optional<Drive<2>> read_drive(const Table&, bool);
template std::optional<Drive<3>> read_drive(const Table&, bool);
template void read_gravity(Scene<2>&, const Table&);
template void read_gravity(Scene<3>&, const Table&);
template void read_cell(Scene<2>&, const Table&);
template void read_cell(Scene<3>&, const Table&);

}  // namespace drystone
