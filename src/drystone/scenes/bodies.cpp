// Bodies of a scene file, one by one and many at once.
#include "drystone/base/error.hpp"
#include "drystone/base/machine_memory.hpp"
#include "drystone/grains/fill.hpp"
#include "drystone/scenes/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace drystone {

namespace {

constexpr double degree = std::numbers::pi / 180;

/// The rotation that turns the last axis into `normal` (unit).
Rotation<2> facing(const Vec<2>& normal) { return {std::atan2(-normal[0], normal[1])}; }
Rotation<3> facing(const Vec<3>& normal) {
    Rotation<3> rotation;
    // About an axis in the plane of x and y; straight down is a half turn about x.
    const double w = std::sqrt(0.5 * (1 + normal[2]));
    rotation.q = w < 1e-8 ? Eigen::Quaterniond(0, 1, 0, 0)
                          : Eigen::Quaterniond(w, -normal[1] / (2 * w), normal[0] / (2 * w), 0).normalized();
    return rotation;
}

Rotation<2> read_rotation(const Table& table, Vec<2> /*plane*/) {
    return {degree * table.number_or("angle", 0)};
}

Rotation<3> read_rotation(const Table& table, Vec<3> /*space*/) {
    Rotation<3> rotation;
    if (table.has("rotation") && table.has("quaternion"))
        table.fault("rotation", "stands beside 'quaternion'", "give one of the two");
    if (const auto turned = table.table("rotation")) {
        turned->need("axis", "3 numbers, a direction");
        turned->need("angle");
        const auto axis = turned->vector<3>("axis");
        const auto angle = turned->number("angle");
        turned->finish();
        if (axis && axis->isZero(0)) {
            turned->fault("axis", "has no length", "give a direction");
        } else if (axis && angle) {
            rotation.q = Eigen::Quaterniond(Eigen::AngleAxisd(degree * *angle, axis->normalized()));
        }
    }
    if (const auto q = table.numbers("quaternion", 4)) {
        const Eigen::Quaterniond given((*q)[0], (*q)[1], (*q)[2], (*q)[3]);
        // Users type few digits.
        if (std::abs(given.norm() - 1) > 1e-3) {
            table.fault("quaternion", fmt::format("has the length {}", given.norm()),
                        "give w, x, y, z of length 1");
        } else {
            rotation.q = given.normalized();
        }
    }
    return rotation;
}

Spin<2> read_spin(const Table& table, Vec<2> /*plane*/) { return Spin<2>(table.number_or("spin", 0)); }
Spin<3> read_spin(const Table& table, Vec<3> /*space*/) {
    return table.vector<3>("spin").value_or(Vec<3>::Zero());
}

template <int d>
GlobalId next_id(const SceneReader<d>& reader) {
    return reader.plan.world.scene.bodies.next_id;
}

/// Adds the body; what the scene refuses becomes a fault of the table. False then.
template <int d>
bool add(SceneReader<d>& reader, const Table& table, const BodyPlan<d>& body) {
    try {
        reader.plan.world.scene.add_body(body);
        return true;
    } catch (const Error& error) {
        table.fault("", error.what());
        return false;
    }
}

template <int d>
void name_next(SceneReader<d>& reader, const Table& table) {
    const auto name = table.text("name");
    if (!name) return;
    if (!reader.bodies_by_name.emplace(*name, next_id(reader)).second)
        table.fault("name", fmt::format("\"{}\" is taken by another body", *name),
                    "give each a name of its own");
    reader.plan.names.bodies[next_id(reader)] = *name;
}

/// Adds a body that may be driven.
template <int d>
bool add(SceneReader<d>& reader, const Table& table, BodyPlan<d> body, std::optional<Drive<d>> drive) {
    if (drive) {
        drive->body = reader.plan.world.scene.bodies.next_id;
        if (drive->guide) body.motion = Motion::guided;
        if (!table.has("motion")) drive->spin = body.spin;
        reader.plan.world.scene.drives.push_back(std::move(*drive));
    }
    return add(reader, table, body);
}

template <int d>
void read_body(SceneReader<d>& reader, const Table& table) {
    const std::size_t before = table.faults();
    const auto shape = read_shape_field(reader, table);
    const auto material = read_material_field(reader, table);
    table.need("position", d == 2 ? "2 numbers, coordinates in m" : "3 numbers, coordinates in m");
    const auto position = table.template vector<d>("position");
    const Rotation<d> rotation = read_rotation(table, Vec<d>());
    BodyPlan<d> body;
    body.velocity = table.template vector<d>("velocity").value_or(Vec<d>::Zero());
    body.spin = read_spin(table, Vec<d>());
    body.motion = table.flag("held").value_or(false) ? Motion::held : Motion::free;
    body.mass = table.number("mass");
    if constexpr (d == 2) {
        if (const auto inertia = table.number("inertia")) body.inertia = Spin<2>(*inertia);
    } else {
        body.inertia = table.vector<3>("inertia");
    }
    const double size = table.number_or("size", 1);
    auto drive = read_drive<d>(table, body.motion == Motion::held);
    name_next(reader, table);
    table.finish();
    if (table.faults() != before || !shape || !material || !position) return;

    const auto& variant = draw_variant(shape->variants, Random(reader.seed), next_id(reader));
    body.shape = variant.shape;
    body.size = variant.size * size;
    body.material = *material;
    body.pose.position = *position + matrix(rotation) * (size * variant.pose.position);
    body.pose.rotation = after(rotation, variant.pose.rotation);
    add(reader, table, body, std::move(drive));
}

/// The scene's one half-space.
template <int d>
Index half_space(SceneReader<d>& reader) {
    auto& scene = reader.plan.world.scene;
    for (std::size_t k = 0; k < scene.shapes.size(); ++k) {
        if (std::holds_alternative<HalfSpace<d>>(scene.shapes[k])) return static_cast<Index>(k);
    }
    reader.plan.names.shapes.emplace_back("wall");
    return scene.add_shape(HalfSpace<d>{});
}

template <int d>
bool add_wall(SceneReader<d>& reader, const Table& table, const Vec<d>& point, const Vec<d>& normal,
              Index material, const Vec<d>& velocity, std::optional<Drive<d>> drive = {}) {
    BodyPlan<d> wall;
    wall.shape = half_space(reader);
    wall.material = material;
    wall.motion = Motion::held;
    wall.pose = {point, facing(normal)};
    wall.velocity = velocity;
    return add(reader, table, wall, std::move(drive));
}

template <int d>
void read_wall(SceneReader<d>& reader, const Table& table) {
    const std::size_t before = table.faults();
    table.need("point",
               d == 2 ? "2 numbers, a point of the wall in m" : "3 numbers, a point of the wall in m");
    table.need("normal", "a direction, into the free side");
    const auto point = table.template vector<d>("point");
    const auto normal = table.template vector<d>("normal");
    const auto material = read_material_field(reader, table);
    const Vec<d> velocity = table.template vector<d>("velocity").value_or(Vec<d>::Zero());
    if (normal && normal->isZero(0))
        table.fault("normal", "has no length", "give a direction, into the free side");
    auto drive = read_drive<d>(table, true);
    if (table.has("spin"))
        table.fault("spin", "a wall has no end and cannot turn", "use a held body of another shape");
    name_next(reader, table);
    table.finish();
    if (table.faults() != before || !point || !normal || !material) return;
    add_wall<d>(reader, table, *point, normal->normalized(), *material, velocity, std::move(drive));
}

/// Sides of a box, two per direction; floor and top are of the last.
template <int d>
constexpr auto side_names() {
    if constexpr (d == 2) {
        return std::array<std::string_view, 4>{"left", "right", "floor", "top"};
    } else {
        return std::array<std::string_view, 6>{"left", "right", "front", "back", "floor", "top"};
    }
}

template <int d>
std::array<bool, 2 * d> read_sides(const Table& table, const Domain<d>& domain) {
    constexpr auto names = side_names<d>();
    std::array<bool, 2 * d> sides{};
    const auto given = table.texts("sides");
    if (!table.has("sides")) {
        for (int s = 0; s < 2 * d - 1; ++s) sides[static_cast<std::size_t>(s)] = !(domain.period[s / 2] > 0);
    }
    for (const std::string& word : given.value_or(std::vector<std::string>())) {
        const auto found = std::find(names.begin(), names.end(), word);
        if (found != names.end()) {
            sides[static_cast<std::size_t>(found - names.begin())] = true;
        } else {
            const std::vector<std::string> all(names.begin(), names.end());
            table.fault("sides", fmt::format("there is no side \"{}\" in {}D", word, d),
                        suggestion(word, all));
        }
    }
    return sides;
}

template <int d>
void read_box(SceneReader<d>& reader, const Table& table) {
    const std::size_t before = table.faults();
    constexpr auto names = side_names<d>();
    table.need("lower", "the lower corner, coordinates in m");
    table.need("upper", "the upper corner, coordinates in m");
    const auto lower = table.template vector<d>("lower");
    const auto upper = table.template vector<d>("upper");
    const auto material = read_material_field(reader, table);
    const auto sides = read_sides<d>(table, reader.plan.world.scene.domain);
    table.finish();
    if (lower && upper && !(lower->array() < upper->array()).all())
        table.fault("upper", "is not above 'lower' in every direction",
                    "give the corner with the larger coordinates");
    if (table.faults() != before || !lower || !upper || !material) return;
    for (int s = 0; s < 2 * d; ++s) {
        if (!sides[static_cast<std::size_t>(s)]) continue;
        const bool low = s % 2 == 0;
        const Vec<d> normal = (low ? 1.0 : -1.0) * Vec<d>::Unit(s / 2);
        const std::string name(names[static_cast<std::size_t>(s)]);
        reader.plan.names.bodies[next_id(reader)] = name;
        reader.bodies_by_name.emplace(name, next_id(reader));
        if (!add_wall<d>(reader, table, low ? *lower : *upper, normal, *material, Vec<d>::Zero())) return;
    }
}

template <int d>
struct Lattice {
    std::array<std::int64_t, 3> count = {1, 1, 1};
    Vec<d> origin = Vec<d>::Zero();
    Vec<d> spacing = Vec<d>::Ones();
    bool hexagonal = false;
    double rows_shifted = 0;
    double shift = 0;
    std::optional<Span> mass;
    bool held = false;
};

/// Where the place (i, j, k) of the lattice is.
template <int d>
Vec<d> place(const Lattice<d>& lattice, std::array<std::int64_t, 3> at) {
    Vec<d> x = lattice.origin;
    if (lattice.hexagonal) {
        // Rows along x; each next row half a spacing over, each next layer over the hollows of the one below (ABAB).
        const double a = lattice.spacing[0];
        const auto i = static_cast<double>(at[0]), j = static_cast<double>(at[1]),
                   k = static_cast<double>(at[2]);
        x[0] += a * (i + 0.5 * static_cast<double>((at[1] + at[2]) % 2));
        x[1] += a * std::sqrt(3.0) / 2 * (j + (at[2] % 2 == 1 ? 1.0 / 3 : 0.0));
        if constexpr (d == 3) x[2] += a * std::sqrt(6.0) / 3 * k;
    } else {
        for (int k = 0; k < d; ++k)
            x[k] += lattice.spacing[k] * static_cast<double>(at[static_cast<std::size_t>(k)]);
    }
    if ((at[1] + at[2]) % 2 == 1) x[0] += lattice.rows_shifted;
    return x;
}

template <int d>
Lattice<d> read_lattice_fields(const Table& table) {
    Lattice<d> lattice;
    table.need("count", d == 2 ? "2 whole numbers" : "3 whole numbers");
    table.need("origin", "the centre of the first grain, coordinates in m");
    table.need("spacing", "the distance of neighbours in m: one number, or one per direction");
    const auto count = table.integers("count", d);
    if (count) std::copy(count->begin(), count->end(), lattice.count.begin());
    const double total = static_cast<double>(lattice.count[0]) * static_cast<double>(lattice.count[1]) *
                         static_cast<double>(lattice.count[2]);
    if (const double most = std::min(1e9, machine_memory() / bytes_per_body); total > most)
        table.fault("count", fmt::format("makes {:.3g} bodies", total),
                    fmt::format("give at most {:.3g} in all: this machine has no memory for more", most));
    lattice.origin = table.template vector<d>("origin").value_or(Vec<d>::Zero());
    lattice.hexagonal = table.choice_or("arrangement", {"cubic", "hexagonal"}, 0) == 1;
    if (table.is("spacing", Value::Kind::list)) {
        if (lattice.hexagonal)
            table.fault("spacing", "a hexagonal arrangement has one distance", "give one number in m");
        lattice.spacing = table.template vector<d>("spacing").value_or(Vec<d>::Ones());
    } else {
        lattice.spacing.setConstant(table.number_or("spacing", 1));
    }
    lattice.rows_shifted = table.number_or("rows_shifted", 0);
    lattice.shift = table.number_or("shift", 0);
    lattice.mass = read_span(table, "mass");
    lattice.held = table.flag("held").value_or(false);
    return lattice;
}

template <int d>
void read_lattice(SceneReader<d>& reader, const Table& table) {
    const std::size_t before = table.faults();
    const auto recipe = read_recipe(reader, table, false);
    const Lattice<d> lattice = read_lattice_fields<d>(table);
    table.finish();
    if (table.faults() != before || !recipe || !reader.place) return;

    const Random random(reader.seed);
    std::array<std::int64_t, 3> at{};
    for (at[2] = 0; at[2] < lattice.count[2]; ++at[2]) {
        for (at[1] = 0; at[1] < lattice.count[1]; ++at[1]) {
            for (at[0] = 0; at[0] < lattice.count[0]; ++at[0]) {
                const auto id = static_cast<std::uint64_t>(next_id(reader));
                BodyPlan<d> body = draw_body(*recipe, random, next_id(reader));
                body.motion = lattice.held ? Motion::held : Motion::free;
                if (lattice.mass)
                    body.mass = random.between(lattice.mass->low, lattice.mass->high, id, draws::mass);
                body.pose.position = place(lattice, at);
                for (int k = 0; k < d && lattice.shift > 0; ++k) {
                    const std::uint64_t draw = draws::shift + static_cast<std::uint64_t>(k);
                    body.pose.position[k] += random.between(-lattice.shift, lattice.shift, id, draw);
                }
                if (!add(reader, table, body)) return;
            }
        }
    }
}

}  // namespace

template <int d>
void read_bodies(SceneReader<d>& reader, const Table& root) {
    if (const auto box = root.table("box")) {
        note_origin(reader, *box);
        read_box(reader, *box);
    }
    for (const Table& table : root.tables("wall")) {
        note_origin(reader, table);
        read_wall(reader, table);
    }
    for (const Table& table : root.tables("body")) {
        note_origin(reader, table);
        read_body(reader, table);
    }
    read_rings(reader, root);
    for (const Table& table : root.tables("lattice")) {
        note_origin(reader, table);
        read_lattice(reader, table);
    }
    read_body_tables(reader, root);
    read_fills(reader, root);
}

template void read_bodies(SceneReader<2>&, const Table&);
template void read_bodies(SceneReader<3>&, const Table&);

}  // namespace drystone
