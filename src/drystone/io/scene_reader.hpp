// What the parts of the scene reader share. Not for use outside scene_*.cpp.
#pragma once

#include "drystone/io/random.hpp"
#include "drystone/io/scene_file.hpp"
#include "drystone/io/scene_table.hpp"

namespace drystone {

/// What each random number of a body is for. Numbers are never reused, so that a new field changes no old scene.
enum BodyDraw : std::uint64_t {
    draw_size = 0,
    draw_mass = 1,
    draw_shift = 2,      // 2, 3, 4
    draw_direction = 5,  // 5, 6
    draw_rotation = 7,   // 7, 8, 9
    draw_variant = 10,
};

/// A shape as the user named it: one or several of the scene's, one of which each body gets by its id.
template <int d>
struct ShapeBook {
    struct Variant {
        Index shape = 0;  ///< in Scene::shapes
        double size = 1;  ///< factor that makes the scene's shape the user's
        Pose<d> pose;     ///< the scene's shape in the user's own axes
    };
    struct Entry {
        std::string name;
        std::vector<Variant> variants;
    };
    std::vector<Entry> entries;
    std::optional<Index> inline_ball;  ///< shared by all balls that are described where they are used
    std::vector<std::string> faulty;   ///< named in the file, but not readable: not to be complained of again
};

template <int d>
struct SceneReader {
    RunPlan<d> plan;
    ShapeBook<d> shapes;
    std::vector<std::string> faulty_materials;
    std::uint64_t seed = 1;
    std::filesystem::path folder;  ///< of the scene file: other files are looked for there
};

// scene_shapes.cpp
/// All [[shape]].
template <int d>
void read_shapes(SceneReader<d>& reader, const Table& root);
/// The field `shape` of a body or lattice: a name or an inline table. Nothing if faulty.
template <int d>
std::optional<typename ShapeBook<d>::Entry> read_shape_field(SceneReader<d>& reader, const Table& table);

// scene_materials.cpp
/// All [[material]] and [[pair]]. `inelastic`: the scheme knows no restitution.
template <int d>
void read_materials(SceneReader<d>& reader, const Table& root, bool inelastic);
/// The field `material`, which may be absent where there is only one. Nothing if faulty.
template <int d>
std::optional<Index> read_material_field(SceneReader<d>& reader, const Table& table);

// scene_bodies.cpp
/// The box, walls, bodies and lattices, in this order, which is that of their ids.
template <int d>
void read_bodies(SceneReader<d>& reader, const Table& root);

}  // namespace drystone
