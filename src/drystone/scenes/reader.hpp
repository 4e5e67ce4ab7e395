// What the parts of the scene reader share. Not for use outside scene_*.cpp.
#pragma once

#include "drystone/bodies/random.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "drystone/tables/table.hpp"

#include <array>
#include <map>

namespace drystone {

/// A shape as the user named it: one or several of the scene's, one of which each body gets by its id.
template <int d>
struct ShapeBook {
    struct Entry {
        std::string name;
        std::vector<ShapeVariant<d>> variants;
    };
    std::vector<Entry> entries;
    std::optional<Index> inline_ball;  ///< shared by all balls that are described where they are used
    std::vector<std::string> faulty;   ///< named in the file, but not readable: not to be complained of again
};

/// Which forces where rigid ones are not unique: of `forces` in [solver] and [output].
inline constexpr std::array<std::string_view, 2> force_names = {"any", "elastic-limit"};

template <int d>
struct SceneReader {
    RunPlan<d> plan;
    ShapeBook<d> shapes;
    std::vector<std::string> faulty_materials;
    std::map<std::string, GlobalId, std::less<>> bodies_by_name;  ///< those of plan.names the other way round
    std::uint64_t seed = 1;
    bool place = true;            ///< false: grains of lattices and fills are left out; a checkpoint has them
    SceneFiles* files = nullptr;  ///< never null while reading: files that the scene names are had from here
};

// shapes.cpp
/// All [[shape]].
template <int d>
void read_shapes(SceneReader<d>& reader, const Table& root);
/// The field `shape` of a body or lattice: a name or an inline table. Nothing if faulty.
template <int d>
std::optional<typename ShapeBook<d>::Entry> read_shape_field(SceneReader<d>& reader, const Table& table);

// materials.cpp
/// All [[material]] and [[pair]]. `inelastic`: the scheme knows no restitution.
template <int d>
void read_materials(SceneReader<d>& reader, const Table& root, bool inelastic);
/// The field `material`, which may be absent where there is only one. Nothing if faulty.
template <int d>
std::optional<Index> read_material_field(SceneReader<d>& reader, const Table& table);

// motion.cpp
/// The fields `motion`, `belt` and `guide` of a body or wall; nothing if it has none. The body it belongs to is left to
/// the caller.
template <int d>
std::optional<Drive<d>> read_drive(const Table& table, bool held);
/// The field `gravity`: a vector, or a table for one that turns.
template <int d>
void read_gravity(Scene<d>& scene, const Table& root);
/// [cell]: how the periodic cell changes.
template <int d>
void read_cell(Scene<d>& scene, const Table& root);

// joints.cpp
/// All [[joint]]; after the bodies.
template <int d>
void read_joints(SceneReader<d>& reader, const Table& root);

// ring.cpp
/// All [[ring]]; none in space.
template <int d>
void read_rings(SceneReader<d>& reader, const Table& root);

// grains.cpp
struct Span {
    double low = 1, high = 1;
};
/// One number, or the two ends of a range.
std::optional<Span> read_span(const Table& table, std::string_view key);
/// The fields shape, material and size, or mix, and rotation and velocity. `turned`: what holds where `rotation` is
/// absent. Nothing if faulty.
template <int d>
std::optional<Recipe<d>> read_recipe(SceneReader<d>& reader, const Table& table, bool turned);
/// A part of space in the field `region`. Nothing if faulty.
template <int d>
std::optional<Region<d>> read_region(SceneReader<d>& reader, const Table& table);
/// All [[fill]].
template <int d>
void read_fills(SceneReader<d>& reader, const Table& root);
/// All [[source]] and [[sink]].
template <int d>
void read_feeds(SceneReader<d>& reader, const Table& root);
/// [stop]
void read_stop(const Table& root, StopRule& rule);

// sand.cpp
/// [sand]; after the materials, the scheme and the domain.
template <int d>
void read_sand(SceneReader<d>& reader, const Table& root);

// output.cpp
/// [output]
void read_output(const Table& root, OutputPlan& output);
/// All [[measure]]; after the domain has been read.
template <int d>
void read_measures(SceneReader<d>& reader, const Table& root);

/// A line of a table in a file with its words between spaces: in it commas, semicolons and tabs may stand between them.
inline std::string with_spaces(std::string line) {
    for (char& c : line)
        if (c == ',' || c == ';' || c == '\t' || c == '\r') c = ' ';
    return line;
}

// body_table.cpp
/// All [[table]]: bodies from files.
template <int d>
void read_body_tables(SceneReader<d>& reader, const Table& root);

// bodies.cpp
/// One turn after another.
inline Rotation<2> after(const Rotation<2>& second, const Rotation<2>& first) {
    return {second.angle + first.angle};
}
inline Rotation<3> after(const Rotation<3>& second, const Rotation<3>& first) {
    Rotation<3> both;
    both.q = (Eigen::Quaterniond(second.q) * Eigen::Quaterniond(first.q)).normalized();
    return both;
}
/// Notes that the bodies that follow are made from this table.
template <int d>
void note_origin(SceneReader<d>& reader, const Table& table) {
    reader.plan.names.origins.push_back({reader.plan.world.scene.bodies.next_id, table.line(), table.path()});
}
/// The box, walls, bodies, rings, lattices, tables and fills, in this order, which is that of their ids.
template <int d>
void read_bodies(SceneReader<d>& reader, const Table& root);

}  // namespace drystone
