// Joints of a scene file.
#include "drystone/scenes/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace drystone {

namespace {

/// By name; nothing if there is none, which is noted.
template <int d>
std::optional<GlobalId> find_body(const SceneReader<d>& reader, const Table& table, const std::string& name) {
    const auto found = reader.bodies_by_name.find(name);
    if (found != reader.bodies_by_name.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [one, id] : reader.bodies_by_name) names.push_back(one);
    table.fault("bodies", fmt::format("there is no body \"{}\"", name),
                names.empty() ? std::string("give the bodies of the joint names") : suggestion(name, names));
    return std::nullopt;
}

template <int d>
void read_joined(const SceneReader<d>& reader, const Table& table, Joint<d>& joint) {
    table.need("bodies", "one name (joined to the world) or two");
    const auto names = table.texts("bodies");
    if (!names) return;
    if (names->empty() || names->size() > 2) {
        table.fault("bodies", fmt::format("names {} bodies", names->size()),
                    "give one (joined to the world) or two");
        return;
    }
    if (const auto a = find_body(reader, table, (*names)[0])) joint.a = *a;
    if (names->size() == 2) joint.b = find_body(reader, table, (*names)[1]);
    if (joint.b && *joint.b == joint.a) table.fault("bodies", "joins a body to itself", "give two bodies");
}

/// Points, axes and lengths as they are now, in the axes of the bodies.
template <int d>
void read_places(const SceneReader<d>& reader, const Table& table, Joint<d>& joint) {
    const Scene<d>& scene = reader.plan.world.scene;
    const Bodies<d>& bodies = scene.bodies;
    const Index a = bodies.index_of(joint.a), b = joint.b ? bodies.index_of(*joint.b) : -1;
    const Mat<d> R_a = matrix(bodies.rotation[a]);
    const Mat<d> R_b = b >= 0 ? matrix(bodies.rotation[b]) : Mat<d>::Identity();
    const Vec<d> x_a = bodies.position[a], x_b = b >= 0 ? bodies.position[b] : Vec<d>(Vec<d>::Zero());
    const bool along_line = joint.kind == JointKind::distance || joint.kind == JointKind::spring;
    Vec<d> from = x_a, to = b >= 0 ? x_b : x_a;
    if (along_line) {
        table.need("points", "the two points between which it acts, in m: [[x, y], [x, y]]");
        const auto points = table.template points<d>("points");
        if (points && points->size() != 2)
            table.fault("points", fmt::format("holds {} points", points->size()), "give two");
        if (points && points->size() == 2) {
            from = (*points)[0];
            to = (*points)[1];
            if (!((from - to).norm() > 0))
                table.fault("points", "coincide, so that there is no line", "give two different points");
        }
        joint.length = table.number_or("length", (from - to).norm());
    } else {
        table.need("point", "where the bodies are joined, in m");
        from = to = table.template vector<d>("point").value_or(from);
    }
    joint.point_a = R_a.transpose() * (from - x_a);
    joint.point_b = R_b.transpose() * (to - x_b);
    Mat<d> axes = Mat<d>::Identity();
    const bool wants_axis = joint.kind == JointKind::slider || (d == 3 && joint.kind == JointKind::hinge);
    if (wants_axis) {
        table.need("axis", "the direction along which it slides or about which it turns");
        if (const auto axis = table.template vector<d>("axis")) {
            if (axis->norm() > 0)
                axes = frame_of(Vec<d>(axis->normalized()));
            else
                table.fault("axis", "has no length", "give a direction");
        }
    }
    joint.axes_a = axes * R_a;
    joint.axes_b = axes * R_b;
}

template <int d>
void read_axial(const Table& table, Joint<d>& joint) {
    if (joint.kind == JointKind::spring) {
        joint.stiffness = table.number_or("stiffness", 0);
        joint.damping = table.number_or("damping", 0);
        if (joint.stiffness == 0 && joint.damping == 0)
            table.fault("stiffness", "neither this nor a damping is given, so that the spring does nothing",
                        "give stiffness = N/m");
    }
    if (!has_axis(joint.kind)) return;
    joint.friction = table.number_or("friction", 0);
    joint.effort = table.number_or("effort", 0);
    joint.speed = table.number("speed");
    joint.limit = table.number_or("limit", joint.limit);
    if (joint.speed && table.has("effort"))
        table.fault("effort", "stands beside 'speed'",
                    "give either the force of the motor or its speed (and its largest force as 'limit')");
    if (!joint.speed && table.has("limit"))
        table.fault("limit", "is given without a speed", "give speed, or leave it out");
}

}  // namespace

template <int d>
void read_joints(SceneReader<d>& reader, const Table& root) {
    static constexpr std::array<std::string_view, 6> kinds = {"ball", "hinge",    "slider",
                                                              "weld", "distance", "spring"};
    std::set<std::string> taken;
    for (const Table& table : root.tables("joint")) {
        const std::size_t before = table.faults();
        Joint<d> joint;
        joint.name =
            table.text("name").value_or(fmt::format("joint {}", reader.plan.world.scene.joints.size() + 1));
        if (!taken.insert(joint.name).second)
            table.fault("name", fmt::format("\"{}\" is taken by another joint", joint.name),
                        "give each a name of its own: it stands over its columns");
        table.need("type", fmt::format("one of {}", fmt::join(kinds, ", ")));
        joint.kind = static_cast<JointKind>(table.choice_or("type", kinds, 0));
        joint.collide = table.flag("collide").value_or(false);
        read_joined(reader, table, joint);
        read_axial(table, joint);
        // Where there are no bodies at all, there are no axes to read places in; that the bodies are missing has been
        // said.
        if (reader.plan.world.scene.bodies.index_of(joint.a) < 0) continue;
        read_places(reader, table, joint);
        if (table.faults() == before) {
            const Bodies<d>& bodies = reader.plan.world.scene.bodies;
            const Index a = bodies.index_of(joint.a), b = joint.b ? bodies.index_of(*joint.b) : -1;
            if (!bodies.yields(a) && (b < 0 || !bodies.yields(b)))
                table.fault("bodies", "joins what cannot move", "let one of the bodies move freely");
        }
        table.finish();
        if (table.faults() == before) reader.plan.world.scene.joints.push_back(std::move(joint));
    }
}

template void read_joints(SceneReader<2>&, const Table&);
template void read_joints(SceneReader<3>&, const Table&);

}  // namespace drystone
