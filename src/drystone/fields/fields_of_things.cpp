// The texts of the register for materials, shapes, bodies and grains (fields.cpp has the others).
#include "drystone/fields/fields.hpp"

namespace drystone {

namespace {

// Of joints.
constexpr FieldText joint_point{"point", 0, "m", required, "where the bodies are joined", want::coordinates};
constexpr FieldText joint_points{
    "points",
    0,
    "m",
    required,
    "`[[...], [...]]`: one on the first body, one on the second (or in the world)",
    want::coordinates};
constexpr FieldText joint_length{
    "length", 0, "m", "the present distance", "between the points, without force", want::length_or_zero};
constexpr FieldText joint_friction{
    "friction", 0, "N (hinge: N m)", "0", "dry friction: holds up to this much", want::dry_friction};
constexpr FieldText joint_effort{
    "effort", 0, "N (hinge: N m)", "0", "of a motor: acts on the first body, whatever moves", want::effort};
constexpr FieldText joint_speed{"speed",
                                0,
                                "m/s (hinge: rad/s)",
                                "none",
                                "of a motor: of the first body relative to the second; kept",
                                want::motor_speed};
constexpr FieldText joint_limit{
    "limit", 0, "N (hinge: N m)", "none", "largest force of a motor that keeps a speed", want::dry_friction};

// What bodies, lattices and all others that are made of something have.
constexpr FieldText shape_field{"shape", 0, "name", required, "a `[[shape]]`, or a shape in braces"};
constexpr FieldText material_field{"material", 0, "name", "the only one", "a `[[material]]`"};
constexpr FieldText name_field{"name", 0, "text", "none", "for messages and measurements"};

std::vector<TableText> matter_tables() {
    constexpr FieldText friction{"friction", 0, "-", "0.5", "Coulomb's coefficient", want::friction};
    return {
        {"material",
         "[[material]]",
         "A scene without materials has one, called `default`. With several, all that is made of something "
         "says of which.",
         {{"name", 0, "text", required, "by which others refer to it"},
          {"density", 0, "kg/m^3 (2D: kg/m^2)", "2500", "mass over volume (2D: area)", want::density},
          {"young", 0, "Pa", "rigid",
           "Young's modulus: contacts yield as Hertz has it (where `[scheme] contacts` or `forces` ask for "
           "it)",
           want::modulus},
          {"poisson", 0, "-", "0.3", "Poisson's ratio", want::poisson},
          friction,
          {"restitution", 0, "-", "0", "Newton's coefficient; above 0 needs the scheme moreau-jean",
           want::restitution},
          {"cohesion", 0, "N", "0", "largest pull that a contact bears", want::cohesion},
          {"rolling", 0, "m", "0", "largest torque against rolling over the normal force", want::rolling},
          {"spinning", 3, "m", "0", "largest torque against turning about the normal over the normal force",
           want::rolling},
          {"stiffness", 0, "N/m", "none",
           "of a contact of the material with itself along its normal (Hooke); instead of `young`",
           want::stiffness}}},
        {"pair",
         "[[pair]]",
         "The law between two materials has the smaller friction, restitution, cohesion, rolling and "
         "spinning of "
         "the two, and their stiffnesses in series, unless a pair says otherwise.",
         {{"materials", 0, "names", required, "two; the same twice for the material with itself"},
          {"friction", 0, "-", "the smaller of the two", "as of a material", want::friction},
          {"restitution", 0, "-", "the smaller of the two", "as of a material", want::restitution},
          {"cohesion", 0, "N", "the smaller of the two", "as of a material", want::cohesion},
          {"rolling", 0, "m", "the smaller of the two", "as of a material", want::rolling},
          {"spinning", 3, "m", "the smaller of the two", "as of a material", want::rolling},
          {"stiffness", 0, "N/m", "in series", "of the contact", want::stiffness}}},
        {"shape",
         "[[shape]]",
         "A shape has a name and is used by bodies, lattices and others. It can also stand where it is used, "
         "without a name: `shape = { type = \"sphere\", radius = 0.1 }`.",
         {{"name", 0, "text", required, "by which others refer to it"},
          {"type", 0, "text", required, "one of the types below, each with fields of its own"}},
         "type",
         {{"disk", 2, "", {{"radius", 0, "m", required, "", want::length}}},
          {"rectangle", 2, "", {{"sides", 0, "m", required, "2 full lengths", want::lengths}}},
          {"ellipse", 2, "", {{"semi", 0, "m", required, "2 half axes", want::lengths}}},
          {"polygon",
           2,
           "a convex hull",
           {{"points", 0, "m", required, "`[[x, y], ...]`", want::coordinates}}},
          {"random-polygon",
           2,
           "`count` different ones",
           {{"radius", 0, "m", required, "of the farthest vertex", want::length},
            {"vertices", 0, "-", "8", "at most so many", want::whole(3, 200)},
            {"roundness", 0, "-", "0.7", "1: as round as so many vertices can be", want::fraction},
            {"count", 0, "-", "50", "how many different ones", want::whole(1, 100'000)}}},
          {"sphere", 3, "", {{"radius", 0, "m", required, "", want::length}}},
          {"capsule",
           3,
           "a cylinder with half balls at its ends, along z",
           {{"radius", 0, "m", required, "", want::length},
            {"length", 0, "m", required, "of the part between the two half balls", want::length}}},
          {"box", 3, "", {{"sides", 0, "m", required, "3 full lengths", want::lengths}}},
          {"ellipsoid", 3, "", {{"semi", 0, "m", required, "3 half axes", want::lengths}}},
          {"superellipsoid",
           3,
           "",
           {{"semi", 0, "m", required, "3 half axes", want::lengths},
            {"exponents", 0, "-", required,
             "`[e1, e2]`, each 0.2 to 1.8: e1 rounds or squares along z, e2 across; `[1, 1]` is an "
             "ellipsoid",
             want::exponents}}},
          {"polyhedron",
           3,
           "a convex hull",
           {{"points", 0, "m", "or `file`", "`[[x, y, z], ...]`", want::coordinates},
            {"file", 0, "name", "or `points`",
             "an OBJ or STL file, looked for from the folder of the scene file"},
            {"scale", 0, "-", "1", "factor on the lengths of the file", want::factor}}},
          {"random-polyhedron",
           3,
           "`count` different ones",
           {{"radius", 0, "m", required, "of the farthest vertex", want::length},
            {"vertices", 0, "-", "20", "at most so many", want::whole(4, 200)},
            {"roundness", 0, "-", "0.7", "1: as round as so many vertices can be", want::fraction},
            {"count", 0, "-", "50", "how many different ones", want::whole(1, 100'000)}}},
          {"mesh",
           3,
           "a surface of triangles, counter-clockwise from outside; cannot move freely, so `held = true`",
           {{"file", 0, "name", required, "an OBJ or STL file, looked for from the folder of the scene file"},
            {"scale", 0, "-", "1", "factor on the lengths of the file", want::factor}}},
          {"drum",
           3,
           "the inside of a cylinder along y, its middle at the origin; `held = true`, and `spin = [0, w, "
           "0]` turns it",
           {{"radius", 0, "m", required, "of the corners of its cross-section", want::length},
            {"length", 0, "m", required, "along y", want::length},
            {"segments", 0, "-", "64", "sides of the cross-section", want::whole(3, 10'000)},
            {"caps", 0, "flag", "true", "closed at both ends"},
            {"lifters", 0, "table", "none",
             "ridges along the wall that lift grains: see `lifters = { ... }`"}}},
          {"hopper",
           3,
           "the inside of a funnel about z, its outlet at z = 0; `held = true`",
           {{"radius", 0, "m", required, "at the top: of the corners (cone), half the side (pyramid)",
             want::length},
            {"outlet", 0, "m", required, "radius of the outlet, in the same way; less than `radius`",
             want::length},
            {"height", 0, "m", required, "of the sloping part", want::length},
            {"rise", 0, "m", "0", "height of the upright wall above it", want::length_or_zero},
            {"form", 0, "text", "\"cone\"", "`\"pyramid\"`: four sides, across x and y"},
            {"segments", 0, "-", "64", "sides of a cone", want::whole(3, 10'000)}}}},
         "A random shape is `count` different ones, called `name/0`, `name/1` and so on; a body that names "
         "it gets one of them by its id, or names one itself (`\"rock/3\"`). Its points are spread evenly "
         "over a sphere, pushed about and inwards the more the less round it is, and the hull is taken. They "
         "depend on the seed and the name alone."},
        {"lifters",
         "lifters = { ... }",
         "Of a drum: ridges along its whole length, evenly spread.",
         {{"count", 0, "-", required, "how many", want::whole(0, 1000)},
          {"height", 0, "m", required, "from the wall inwards; less than the radius", want::length},
          {"width", 0, "m", "`height`", "at the wall; half of it at the top", want::length}}},
    };
}

std::vector<TableText> body_tables() {
    constexpr FieldText motion{"motion", 0, "table", "none",
                               "moves it as prescribed: see `motion = { ... }`"};
    constexpr FieldText belt{"belt",
                             0,
                             "m/s",
                             "0",
                             "surface velocity of a conveyor: it stays, and what lies on it is carried",
                             want::velocity};
    constexpr FieldText guide{"guide", 0, "table", "none",
                              "free along one direction and pushed by a force: see `guide = { ... }`"};
    return {
        {"body",
         "[[body]]",
         "",
         {shape_field,
          material_field,
          {"position", 0, "m", required, "of the centre of mass; for `points` and `file`, of their origin",
           want::coordinates},
          {"angle", 2, "degrees", "0", "counter-clockwise", want::angle},
          {"rotation", 3, "table", "none", "`{ axis = [x, y, z], angle = degrees }`"},
          {"quaternion", 3, "-", "none", "instead of `rotation`: `[w, x, y, z]` of length 1",
           want::quaternion},
          {"velocity", 0, "m/s", "0", "of the centre of mass", want::velocity},
          {"spin", 0, "rad/s", "0", "a number in 2D, a vector of the world's axes in 3D", want::spin},
          {"held", 0, "flag", "false",
           "true: moves with its velocity and spin as they are, whatever touches it"},
          {"mass", 0, "kg", "from the density", "", want::mass},
          {"inertia", 0, "kg m^2", "of an even mass",
           "a moment; in space the three principal ones, in the axes of the shape", want::moments},
          {"size", 0, "-", "1", "factor on the shape", want::factor},
          name_field,
          motion,
          belt,
          guide}},
        {"rotation",
         "rotation = { ... }",
         "Of a body in space.",
         {{"axis", 3, "-", required, "direction about which it is turned; of any length", want::direction},
          {"angle", 3, "degrees", required, "counter-clockwise about the axis", want::angle}}},
        {"wall",
         "[[wall]]",
         "A half-space, held.",
         {{"point", 0, "m", required, "a point of its surface", want::coordinates},
          {"normal", 0, "-", required, "direction into the free side; of any length", want::direction},
          material_field,
          {"velocity", 0, "m/s", "0", "", want::velocity},
          {"spin", 0, "rad/s", "", "refused: a wall has no end and cannot turn"},
          name_field,
          motion,
          belt,
          guide}},
        {"box",
         "[box]",
         "Walls on the sides of a box, seen from inside.",
         {{"lower", 0, "m", required, "corner with the smaller coordinates", want::coordinates},
          {"upper", 0, "m", required, "corner with the larger coordinates", want::coordinates},
          {"sides", 0, "names", "all but `\"top\"`, and none across a period",
           "of `\"left\"` and `\"right\"` (x), `\"front\"` and `\"back\"` (y; 3D), `\"floor\"` and `\"top\"` "
           "(the last)"},
          material_field}},
        {"joint",
         "[[joint]]",
         "Ties two bodies together, or one to the world, where they are at the beginning. The bodies of a "
         "joint do "
         "not touch each other.",
         {{"type", 0, "text", required, "one of the types below, each with fields of its own"},
          {"bodies", 0, "names", required, "of two bodies, or of one that is tied to the world"},
          {"collide", 0, "true/false", "false", "the bodies touch each other all the same"},
          name_field},
         "type",
         {{"ball", 0, "the bodies share a point", {joint_point}},
          {"hinge",
           0,
           "and turn about an axis alone",
           {joint_point,
            {"axis", 3, "-", required, "about which they turn", want::direction},
            joint_friction,
            joint_effort,
            joint_speed,
            joint_limit}},
          {"slider",
           0,
           "the bodies move along an axis alone",
           {joint_point,
            {"axis", 0, "-", required, "along which the first slides, fixed to the second", want::direction},
            joint_friction,
            joint_effort,
            joint_speed,
            joint_limit}},
          {"weld", 0, "the bodies move as one", {joint_point}},
          {"distance", 0, "two points keep their distance", {joint_points, joint_length}},
          {"spring",
           0,
           "a force along the line between two points",
           {joint_points,
            joint_length,
            {"stiffness", 0, "N/m", "0", "force per stretch", want::stiffness_or_zero},
            {"damping", 0, "kg/s", "0", "force per rate of stretch", want::damping}}}},
         "Forces of joints are measured with `what = [\"joint\"]` of a `[[measure]]`: the force on the first "
         "body, and "
         "that along (hinge: the torque about) the axis, of friction and motor."},
        {"ring",
         "[[ring]]",
         "A ring of held blocks in the plane: the wall of a drum, seen along its axis.",
         {{"centre", 2, "m", required, "", want::coordinates},
          {"radius", 2, "m", required, "of the corners of its inside", want::length},
          {"thickness", 2, "m", "a tenth of the radius", "of the wall, outwards", want::length},
          {"segments", 2, "-", "64", "blocks around", want::whole(3, 10'000)},
          material_field,
          {"spin", 2, "rad/s", "0", "of the whole ring about its centre", want::spin},
          name_field,
          {"motion", 2, "table", "none",
           "instead of `spin`: see `motion = { ... }`; its pivot is the centre unless given"},
          {"velocity", 2, "m/s", "", "refused: see `motion`"},
          {"belt", 2, "m/s", "0", "as of a body, the same for all blocks", want::velocity},
          {"guide", 2, "table", "none", "refused: the blocks move together"}}},
        {"motion",
         "motion = { ... }",
         "How a held body or a wall moves. Velocities, spins and swings add up; the factors multiply all of "
         "it.",
         {{"velocity", 0, "m/s", "0", "a vector", want::velocity},
          {"spin", 0, "rad/s", "0", "a number in 2D, a vector in 3D", want::spin},
          {"swing", 0, "m/s", "0", "a vector: amplitude of a velocity that swings as a cosine",
           want::velocity},
          {"swing_spin", 0, "rad/s", "0", "amplitude of a spin that swings as a cosine", want::spin},
          {"frequency", 0, "Hz", "0", "of the swings", want::frequency},
          {"phase", 0, "degrees", "0", "of the swings at time 0", want::angle},
          {"pivot", 0, "m", "the centre", "point about which it turns", want::coordinates},
          {"times", 0, "s", "none",
           "rising: when the factors hold; linear between, constant before and after", want::times},
          {"factors", 0, "-", "none", "one per time, on all of the motion", want::factors}}},
        {"guide",
         "guide = { ... }",
         "A held body or a wall that is free along one direction, as a piston is, and pushed along it. "
         "Gravity does not act on it, and other held bodies and walls do not stop it.",
         {{"axis", 0, "-", required, "direction in which it is pushed; of any length", want::direction},
          {"force", 0, "N", "or `pressure`", "along the axis", want::force},
          {"pressure", 0, "Pa (2D: N/m)", "or `force`", "force over area", want::pressure},
          {"area", 0, "m^2 (2D: m)", "required with `pressure`", "on which the pressure acts", want::area},
          {"mass", 0, "kg", required, "that is moved", want::mass},
          {"damping", 0, "kg/s", "0", "force against its velocity, over the velocity", want::damping}}},
    };
}

std::vector<TableText> grain_tables() {
    constexpr FieldText mix{
        "mix", 0, "tables", "none",
        "instead of `shape`, `material` and `size`: `[{ shape = ..., weight = ... }, ...]`"};
    constexpr FieldText size{"size",
                             0,
                             "-",
                             "1",
                             "factor on the shape; `[min, max]`: uniform; or a law: see `size = { ... }`",
                             want::factor};
    constexpr FieldText velocity{"velocity",
                                 0,
                                 "m/s",
                                 "0",
                                 "a number is a speed in a random direction, a vector is the same for all",
                                 want::velocity};
    constexpr FieldText region{"region", 0, "table", required, "where: see `region = { ... }`"};
    constexpr FieldText turned{"rotation", 0, "text", "\"none\"",
                               "`\"random\"`: all orientations are equally likely"};
    // Fields of its own, and then what the grains are that come to random places.
    const auto of_grains = [&](std::vector<FieldText> fields) {
        const FieldText any_way{"rotation", 0, "text", "\"random\"", "`\"none\"`: as the shape stands"};
        fields.insert(fields.end(), {shape_field, material_field, size, mix, any_way, velocity});
        return fields;
    };
    return {
        {"lattice",
         "[[lattice]]",
         "Many bodies in rows, first along x, then y, then z.",
         {shape_field,
          material_field,
          mix,
          {"count", 0, "-", required, "how many in each direction", want::whole(1, 1'000'000'000)},
          {"origin", 0, "m", required, "centre of the first", want::coordinates},
          {"spacing", 0, "m", required, "one number, or one per direction", want::lengths},
          {"arrangement", 0, "text", "\"cubic\"",
           "`\"hexagonal\"`: closest packing for spheres or disks of diameter `spacing`, which is one number "
           "then"},
          {"rows_shifted", 0, "m", "0", "every other row is shifted by this much along x, as bricks are",
           want::distance},
          {"shift", 0, "m", "0", "each body is shifted at random by at most this much in each direction",
           want::length_or_zero},
          size,
          {"mass", 0, "kg", "from the density", "`[min, max]`: uniform", want::mass},
          velocity,
          turned,
          {"held", 0, "flag", "false", "as of a body"}}},
        {"table",
         "[[table]]",
         "Many bodies from a file, a line for each, in which numbers stand between commas, semicolons, tabs "
         "or spaces. The "
         "first line names the columns: `x`, `y`, in space `z` (m); where wanted `size` (1), `vx`, `vy`, "
         "`vz` (m/s), in "
         "the plane `angle` (degrees) and `spin` (rad/s), in space `qw`, `qx`, `qy`, `qz` (a quaternion) and "
         "`wx`, `wy`, "
         "`wz` (rad/s). Of a sphere of radius 1 the size is its radius in m. Lines that begin with `#` are "
         "remarks.",
         {shape_field,
          material_field,
          {"file", 0, "text", required, "the table, beside the scene"},
          {"held", 0, "flag", "false", "as of a body"}}},
        {"fill", "[[fill]]",
         "Random grains that do not overlap in a region, to a packing fraction or a number.",
         of_grains({region,
                    {"fraction", 0, "-", "or `count`", "volume of the grains over that of the region",
                     want::packing},
                    {"count", 0, "-", "or `fraction`", "how many grains", want::whole(1, 1'000'000'000)}})},
        {"source", "[[source]]",
         "Grains that come in while the run goes on, at random places of a region where there is room.",
         of_grains({name_field,
                    region,
                    {"rate", 0, "1/s", "or `mass_rate`", "grains per second", want::grains_per_second},
                    {"mass_rate", 0, "kg/s", "or `rate`", "mass per second", want::mass_per_second},
                    {"begin", 0, "s", "0", "when it opens", want::interval},
                    {"end", 0, "s", "never", "when it closes", want::interval},
                    {"most", 0, "-", "no limit", "grains in all", want::whole(0)}})},
        {"sink",
         "[[sink]]",
         "Takes away the free bodies and the sand whose centre is in a region, and counts them (of sand, its "
         "mass).",
         {name_field, region}},
        {"region",
         "region = { ... }",
         "A part of space.",
         {{"type", 0, "text", required, "one of the types below"}},
         "type",
         {{"box",
           0,
           "",
           {{"lower", 0, "m", required, "a corner; of a sink also `-inf`", want::coordinates},
            {"upper", 0, "m", required, "the opposite corner; of a sink also `inf`", want::coordinates}}},
          {"disk",
           2,
           "",
           {{"centre", 0, "m", required, "", want::coordinates},
            {"radius", 0, "m", required, "", want::length}}},
          {"cylinder",
           3,
           "",
           {{"centre", 0, "m", required, "of its bottom", want::coordinates},
            {"axis", 0, "-", "up (z)", "direction from the bottom to the top; of any length",
             want::direction},
            {"radius", 0, "m", required, "", want::length},
            {"length", 0, "m", required, "along the axis", want::length}}},
          {"mesh",
           3,
           "inside a closed surface of triangles",
           {{"file", 0, "name", required, "an OBJ or STL file, looked for from the folder of the scene file"},
            {"scale", 0, "-", "1", "factor on the lengths of the file", want::factor},
            {"position", 0, "m", "zeros", "of the origin of the file", want::coordinates}}}}},
        {"mix",
         "mix = [{ ... }, ...]",
         "Grains of several kinds.",
         {shape_field,
          material_field,
          {"weight", 0, "-", "1", "share of the grains by number, relative to the others' weights",
           want::factor},
          size}},
        {"size",
         "size = { ... }",
         "How the sizes of grains are spread; the numbers are factors on the shape, so that a shape of size "
         "1 m makes them lengths in m.",
         {{"law", 0, "text", required, "one of the laws below"}},
         "law",
         {{"normal",
           0,
           "",
           {{"mean", 0, "-", required, "", want::factor},
            {"deviation", 0, "-", required, "standard deviation", want::factor},
            {"min", 0, "-", required, "cut off below", want::factor},
            {"max", 0, "-", required, "cut off above", want::factor}}},
          {"log-normal",
           0,
           "the logarithm is normal",
           {{"median", 0, "-", required, "", want::factor},
            {"spread", 0, "-", required, "geometric standard deviation, above 1", want::factor},
            {"min", 0, "-", required, "cut off below", want::factor},
            {"max", 0, "-", required, "cut off above", want::factor}}},
          {"table",
           0,
           "a measured grading curve, linear between its points",
           {{"size", 0, "-", "or `file`", "rising", want::factor},
            {"share", 0, "-", "or `file`", "share of the grains below each size, rising from 0 to 1",
             want::shares},
            {"file", 0, "name", "or `size` and `share`", "a text file of two columns: size, share"},
            {"by", 0, "text", "\"number\"", "`\"mass\"`: shares are of the mass, as a sieve gives them"}}}}},
    };
}

}  // namespace

std::vector<TableText> tables_of_things() {
    std::vector<TableText> all;
    for (auto part : {matter_tables(), body_tables(), grain_tables()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace drystone
