// Rings of held blocks in the plane, where no shape is concave.
#include "drystone/base/error.hpp"
#include "drystone/scenes/reader.hpp"

#include <cmath>
#include <numbers>

namespace drystone {

namespace {

/// The block whose inner face is to the right of the ring's centre. Neighbours share a face: there is no gap between
/// them.
Centred<2, Polygon> ring_block(double radius, double thickness, int segments) {
    const double half = std::numbers::pi / segments;
    const double x = radius * std::cos(half), y = radius * std::sin(half),
                 grown = (radius + thickness) / radius;
    return make_polygon({{x, -y}, {grown * x, -grown * y}, {grown * x, grown * y}, {x, y}});
}

void read_ring(SceneReader<2>& reader, const Table& table) {
    const std::size_t before = table.faults();
    table.need("centre", "2 numbers, coordinates in m");
    table.need("radius");
    const auto centre = table.vector<2>("centre");
    const auto radius = table.number("radius");
    const auto thickness = table.number("thickness");
    const auto segments = static_cast<int>(table.integer_or("segments", 64));
    const double spin = table.number_or("spin", 0);
    const auto material = read_material_field(reader, table);
    const auto name = table.text("name");
    auto drive = read_drive<2>(table, true);
    if (table.has("velocity"))
        table.fault("velocity", "a ring has none", "use motion = { velocity = [x, y] }");
    if (table.has("guide"))
        table.fault("guide", "the blocks of a ring move together", "use a body, or a wall");
    table.finish();
    if (table.faults() != before || !centre || !radius || !material) return;

    if (spin != 0) {
        if (!drive) drive.emplace();
        drive->spin = Spin<2>(spin);
    }
    if (drive && !drive->pivot) drive->pivot = *centre;
    RunPlan<2>& plan = reader.plan;
    const auto block = ring_block(*radius, thickness.value_or(0.1 * *radius), segments);
    BodyPlan<2> body;
    body.shape = plan.world.scene.add_shape(block.shape);
    plan.names.shapes.push_back(name.value_or("ring"));
    body.material = *material;
    body.motion = Motion::held;
    for (int k = 0; k < segments; ++k) {
        const Rotation<2> turned{2 * std::numbers::pi * k / segments};
        body.pose.position = *centre + matrix(turned) * block.pose.position;
        body.pose.rotation = {turned.angle + block.pose.rotation.angle};
        const Index index = plan.world.scene.add_body(body);
        if (!drive) continue;
        drive->body = plan.world.scene.bodies.id[index];
        plan.world.scene.drives.push_back(*drive);
    }
}

}  // namespace

template <int d>
void read_rings(SceneReader<d>& reader, const Table& root) {
    if constexpr (d == 2) {
        for (const Table& table : root.tables("ring")) {
            note_origin(reader, table);
            try {
                read_ring(reader, table);
            } catch (const Error& error) {
                table.fault("", error.what());
            }
        }
    }
}

template void read_rings(SceneReader<2>&, const Table&);
template void read_rings(SceneReader<3>&, const Table&);

}  // namespace drystone
