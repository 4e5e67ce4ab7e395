// The texts of the register. Add a field here when a reader asks for it; renew docs/scene.md with `drystone fields --renew docs/scene.md`.
#include "drystone/scenes/fields.hpp"

namespace drystone {

namespace {

constexpr std::string_view required = "required";

// Of joints.
constexpr FieldText joint_point{"point", 0, "m", required, "where the bodies are joined"};
constexpr FieldText joint_points{
    "points", 0, "m", required,
    "`[[...], [...]]`: one on the first body, one on the second (or in the world)"};
constexpr FieldText joint_length{"length", 0, "m", "the present distance",
                                 "between the points, without force"};
constexpr FieldText joint_friction{"friction", 0, "N (hinge: N m)", "0",
                                   "dry friction: holds up to this much"};
constexpr FieldText joint_effort{"effort", 0, "N (hinge: N m)", "0",
                                 "of a motor: acts on the first body, whatever moves"};
constexpr FieldText joint_speed{"speed", 0, "m/s (hinge: rad/s)", "none",
                                "of a motor: of the first body relative to the second; kept"};
constexpr FieldText joint_limit{"limit", 0, "N (hinge: N m)", "none",
                                "largest force of a motor that keeps a speed"};

// What bodies, lattices and all others that are made of something have.
constexpr FieldText shape_field{"shape", 0, "name", required, "a `[[shape]]`, or a shape in braces"};
constexpr FieldText material_field{"material", 0, "name", "the only one", "a `[[material]]`"};
constexpr FieldText name_field{"name", 0, "text", "none", "for messages and measurements"};

std::vector<TableText> general_tables() {
    return {
        {"",
         "Top",
         "These stand above the first table.",
         {{"dimension", 0, "-", required, "2 (the plane) or 3 (space)"},
          {"title", 0, "text", "the file's name", "for people"},
          {"gravity", 0, "m/s^2", "0",
           "a vector; or a table, for gravity that turns: see `gravity = { ... }`"},
          {"seed", 0, "-", "1", "of all random numbers: whole, 0 or more"},
          {"time", 0, "table", "", "`[time]`"},
          {"scheme", 0, "table", "", "`[scheme]`"},
          {"solver", 0, "table", "", "`[solver]`"},
          {"domain", 0, "table", "", "`[domain]`"},
          {"cell", 0, "table", "", "`[cell]`"},
          {"output", 0, "table", "", "`[output]`"},
          {"stop", 0, "table", "", "`[stop]`"},
          {"material", 0, "tables", "", "`[[material]]`"},
          {"pair", 0, "tables", "", "`[[pair]]`"},
          {"shape", 0, "tables", "", "`[[shape]]`"},
          {"box", 0, "table", "", "`[box]`"},
          {"wall", 0, "tables", "", "`[[wall]]`"},
          {"body", 0, "tables", "", "`[[body]]`"},
          {"ring", 2, "tables", "", "`[[ring]]`"},
          {"joint", 0, "tables", "", "`[[joint]]`"},
          {"lattice", 0, "tables", "", "`[[lattice]]`"},
          {"fill", 0, "tables", "", "`[[fill]]`"},
          {"source", 0, "tables", "", "`[[source]]`"},
          {"sink", 0, "tables", "", "`[[sink]]`"},
          {"measure", 0, "tables", "", "`[[measure]]`"}}},
        {"gravity",
         "gravity = { ... }",
         "Gravity that turns, as seen from a box that is tilted.",
         {{"value", 0, "m/s^2", required, "a vector: gravity at the beginning"},
          {"axis", 3, "-", "required with `rate`", "direction about which gravity turns; of any length"},
          {"rate", 0, "degrees/s", "0", "how fast it turns, counter-clockwise (about the axis)"},
          {"begin", 0, "s", "0", "when it begins to turn"},
          {"limit", 0, "degrees", "none", "the angle at which it stays"}}},
        {"time",
         "[time]",
         "",
         {{"step", 0, "s", "1e-3", "length of a step; the longest one where steps adapt"},
          {"end", 0, "s", "1", "when the run ends"},
          {"displacement", 0, "inner radii", "0",
           "steps are shortened so that no grain moves by more than this many of its inner radii; 0: all "
           "steps are equal"}}},
        {"scheme",
         "[scheme]",
         "",
         {{"name", 0, "text", "\"look-ahead\"",
           "`\"look-ahead\"`: no overlap at the end of a step, nothing rebounds; `\"moreau-jean\"`: "
           "restitution, small overlaps"},
          {"theta", 0, "-", "1 (moreau-jean: 0.5)",
           "weight of the end of the step in the motion, above 0, at most 1"},
          {"drift", 0, "text", "\"push-out\"",
           "of an overlap that is there (look-ahead): `\"push-out\"` ends it within the step, `\"clamp\"` "
           "keeps it from growing"},
          {"contacts", 0, "text", "\"rigid\"",
           "`\"elastic\"`: contacts yield by the `stiffness` of their pair, or by the moduli of their "
           "materials "
           "(look-ahead, theta = 1)"},
          {"reach", 0, "inner radii", "0.02", "look-ahead: pairs nearer than this take part"},
          {"skin", 0, "inner radii", "0.1",
           "extra distance of the search for neighbours: speed only, not the result"}}},
        {"solver",
         "[solver]",
         "",
         {{"name", 0, "text", "\"auto\"", "one of `drystone solve --list-solvers`"},
          {"stages", 0, "texts", "all",
           "what `auto` tries in a step, one after the other until one solves it: `\"momentum\"` and "
           "`\"anderson\"` (sweeps), "
           "`\"frozen-shift\"` (sweeps under the convex law with a frozen shift), "
           "`\"frozen-shift-interior-point\"` (up to 3000 contacts), "
           "`\"short-cycles\"` (sweeps where much slides), `\"proof\"` (that there is no solution: without "
           "it what is crushed is not solved) and "
           "`\"plain\"` (many sweeps), both up to 200 contacts; "
           "law associated: `\"momentum\"`, `\"interior-point\"`, `\"proof\"`, `\"plain\"`"},
          {"law", 0, "text", "\"coulomb\"",
           "exact friction, and where a step resists, the convex law with the shift frozen near the step "
           "before: such "
           "steps are counted apart; `\"coulomb-strict\"`: never that; `\"associated\"`: the convex "
           "relaxation, where "
           "sliding contacts open"},
          {"tolerance", 0, "-", "1e-4",
           "residual at which a step counts as solved, at most 0.01; 1e-4 leaves nothing to see, 1e-6 gives "
           "forces to four digits"},
          {"forces", 0, "text", "\"any\"",
           "where rigid forces are not unique: `\"any\"` that the solver finds, or those of the stiff "
           "`\"elastic-limit\"`, at about the cost of a second solve; also in `[output]`, for frames alone"},
          {"max_seconds", 0, "s", "none",
           "wall-clock limit of the solve of one step. With a limit, results depend on the machine"}}},
        {"domain",
         "[domain]",
         "Space that repeats itself: what leaves on one side comes in on the other.",
         {{"period", 0, "m", required, "one per direction; 0: not periodic in this direction"},
          {"lower", 0, "m", "zeros", "where the periodic box begins"}}},
        {"cell",
         "[cell]",
         "The periodic box of `[domain]` changes: it grows, shrinks or is sheared at a given rate, or "
         "follows a given stress.",
         {{"rate", 0, "1/s", "0", "relative growth of each period; negative: it shrinks"},
          {"shear_rate", 0, "1/s", "0",
           "growth of the shear: layers move along x, the more the higher in the last direction"},
          {"pressure", 0, "Pa (2D: N/m)", "none", "all periods follow this pressure; instead of `stress`"},
          {"stress", 0, "Pa (2D: N/m)", "none",
           "one per direction, positive in compression: the period follows it; `\"rate\"` where it is the "
           "rate that is kept"},
          {"shear_stress", 0, "Pa (2D: N/m)", "none",
           "instead of `shear_rate`: the shear follows this stress"},
          {"mass", 0, "kg", "that of the grains", "inertia of what follows a stress"}}},
    };
}

std::vector<TableText> matter_tables() {
    constexpr FieldText friction{"friction", 0, "-", "0.5", "Coulomb's coefficient, 0 or more"};
    return {
        {"material",
         "[[material]]",
         "A scene without materials has one, called `default`. With several, all that is made of something "
         "says of which.",
         {{"name", 0, "text", required, "by which others refer to it"},
          {"density", 0, "kg/m^3 (2D: kg/m^2)", "2500", "positive"},
          {"young", 0, "Pa", "rigid",
           "Young's modulus: contacts yield as Hertz has it (where `[scheme] contacts` or `forces` ask for "
           "it)"},
          {"poisson", 0, "-", "0.3", "Poisson's ratio, above -1, at most 0.5"},
          friction,
          {"restitution", 0, "-", "0", "Newton's coefficient, 0 to 1; above 0 needs the scheme moreau-jean"},
          {"cohesion", 0, "N", "0", "largest pull that a contact bears"},
          {"rolling", 0, "m", "0", "largest torque against rolling over the normal force"},
          {"spinning", 3, "m", "0", "largest torque against turning about the normal over the normal force"},
          {"stiffness", 0, "N/m", "none",
           "of a contact of the material with itself along its normal (Hooke); instead of `young`"}}},
        {"pair",
         "[[pair]]",
         "The law between two materials has the smaller friction, restitution, cohesion, rolling and "
         "spinning of "
         "the two, and their stiffnesses in series, unless a pair says otherwise.",
         {{"materials", 0, "names", required, "two; the same twice for the material with itself"},
          {"friction", 0, "-", "the smaller of the two", "as of a material"},
          {"restitution", 0, "-", "the smaller of the two", "as of a material"},
          {"cohesion", 0, "N", "the smaller of the two", "as of a material"},
          {"rolling", 0, "m", "the smaller of the two", "as of a material"},
          {"spinning", 3, "m", "the smaller of the two", "as of a material"},
          {"stiffness", 0, "N/m", "in series", "of the contact"}}},
        {"shape",
         "[[shape]]",
         "A shape has a name and is used by bodies, lattices and others. It can also stand where it is used, "
         "without a name: `shape = { type = \"sphere\", radius = 0.1 }`.",
         {{"name", 0, "text", required, "by which others refer to it"},
          {"type", 0, "text", required, "one of the types below, each with fields of its own"}},
         "type",
         {{"disk", 2, "", {{"radius", 0, "m", required, ""}}},
          {"rectangle", 2, "", {{"sides", 0, "m", required, "2 full lengths"}}},
          {"ellipse", 2, "", {{"semi", 0, "m", required, "2 half axes"}}},
          {"polygon", 2, "a convex hull", {{"points", 0, "m", required, "`[[x, y], ...]`"}}},
          {"random-polygon",
           2,
           "`count` different ones",
           {{"radius", 0, "m", required, "of the farthest vertex"},
            {"vertices", 0, "-", "8", "at most so many"},
            {"roundness", 0, "-", "0.7", "0 to 1"},
            {"count", 0, "-", "50", "how many different ones"}}},
          {"sphere", 3, "", {{"radius", 0, "m", required, ""}}},
          {"capsule",
           3,
           "a cylinder with half balls at its ends, along z",
           {{"radius", 0, "m", required, ""},
            {"length", 0, "m", required, "of the part between the two half balls"}}},
          {"box", 3, "", {{"sides", 0, "m", required, "3 full lengths"}}},
          {"ellipsoid", 3, "", {{"semi", 0, "m", required, "3 half axes"}}},
          {"superellipsoid",
           3,
           "",
           {{"semi", 0, "m", required, "3 half axes"},
            {"exponents", 0, "-", required,
             "`[e1, e2]`, each 0.2 to 1.8: e1 rounds or squares along z, e2 across; `[1, 1]` is an "
             "ellipsoid"}}},
          {"polyhedron",
           3,
           "a convex hull",
           {{"points", 0, "m", "or `file`", "`[[x, y, z], ...]`"},
            {"file", 0, "name", "or `points`",
             "an OBJ or STL file, looked for from the folder of the scene file"},
            {"scale", 0, "-", "1", "factor on the lengths of the file"}}},
          {"random-polyhedron",
           3,
           "`count` different ones",
           {{"radius", 0, "m", required, "of the farthest vertex"},
            {"vertices", 0, "-", "20", "at most so many"},
            {"roundness", 0, "-", "0.7", "0 to 1"},
            {"count", 0, "-", "50", "how many different ones"}}},
          {"mesh",
           3,
           "a surface of triangles, counter-clockwise from outside; cannot move freely, so `held = true`",
           {{"file", 0, "name", required, "an OBJ or STL file, looked for from the folder of the scene file"},
            {"scale", 0, "-", "1", "factor on the lengths of the file"}}},
          {"drum",
           3,
           "the inside of a cylinder along y, its middle at the origin; `held = true`, and `spin = [0, w, "
           "0]` turns it",
           {{"radius", 0, "m", required, "of the corners of its cross-section"},
            {"length", 0, "m", required, "along y"},
            {"segments", 0, "-", "64", "sides of the cross-section"},
            {"caps", 0, "flag", "true", "closed at both ends"},
            {"lifters", 0, "table", "none",
             "ridges along the wall that lift grains: see `lifters = { ... }`"}}},
          {"hopper",
           3,
           "the inside of a funnel about z, its outlet at z = 0; `held = true`",
           {{"radius", 0, "m", required, "at the top: of the corners (cone), half the side (pyramid)"},
            {"outlet", 0, "m", required, "radius of the outlet, in the same way; less than `radius`"},
            {"height", 0, "m", required, "of the sloping part"},
            {"rise", 0, "m", "0", "height of the upright wall above it"},
            {"form", 0, "text", "\"cone\"", "`\"pyramid\"`: four sides, across x and y"},
            {"segments", 0, "-", "64", "sides of a cone"}}}},
         "A random shape is `count` different ones, called `name/0`, `name/1` and so on; a body that names "
         "it gets one of them by its id, or names one itself (`\"rock/3\"`). Its points are spread evenly "
         "over a sphere, pushed about and inwards the more the less round it is, and the hull is taken. They "
         "depend on the seed and the name alone."},
        {"lifters",
         "lifters = { ... }",
         "Of a drum: ridges along its whole length, evenly spread.",
         {{"count", 0, "-", required, "how many"},
          {"height", 0, "m", required, "from the wall inwards; less than the radius"},
          {"width", 0, "m", "`height`", "at the wall; half of it at the top"}}},
    };
}

std::vector<TableText> body_tables() {
    constexpr FieldText motion{"motion", 0, "table", "none",
                               "moves it as prescribed: see `motion = { ... }`"};
    constexpr FieldText belt{"belt", 0, "m/s", "0",
                             "surface velocity of a conveyor: it stays, and what lies on it is carried"};
    constexpr FieldText guide{"guide", 0, "table", "none",
                              "free along one direction and pushed by a force: see `guide = { ... }`"};
    return {
        {"body",
         "[[body]]",
         "",
         {shape_field,
          material_field,
          {"position", 0, "m", required, "of the centre of mass; for `points` and `file`, of their origin"},
          {"angle", 2, "degrees", "0", "counter-clockwise"},
          {"rotation", 3, "table", "none", "`{ axis = [x, y, z], angle = degrees }`"},
          {"quaternion", 3, "-", "none", "instead of `rotation`: `[w, x, y, z]` of length 1"},
          {"velocity", 0, "m/s", "0", "of the centre of mass"},
          {"spin", 0, "rad/s", "0", "a number in 2D, a vector of the world's axes in 3D"},
          {"held", 0, "flag", "false",
           "true: moves with its velocity and spin as they are, whatever touches it"},
          {"mass", 0, "kg", "from the density", ""},
          {"inertia", 0, "kg m^2", "of an even mass",
           "a moment; in space the three principal ones, in the axes of the shape"},
          {"size", 0, "-", "1", "factor on the shape"},
          name_field,
          motion,
          belt,
          guide}},
        {"rotation",
         "rotation = { ... }",
         "Of a body in space.",
         {{"axis", 3, "-", required, "direction about which it is turned; of any length"},
          {"angle", 3, "degrees", required, "counter-clockwise about the axis"}}},
        {"wall",
         "[[wall]]",
         "A half-space, held.",
         {{"point", 0, "m", required, "a point of its surface"},
          {"normal", 0, "-", required, "direction into the free side; of any length"},
          material_field,
          {"velocity", 0, "m/s", "0", ""},
          {"spin", 0, "rad/s", "", "refused: a wall has no end and cannot turn"},
          name_field,
          motion,
          belt,
          guide}},
        {"box",
         "[box]",
         "Walls on the sides of a box, seen from inside.",
         {{"lower", 0, "m", required, "corner with the smaller coordinates"},
          {"upper", 0, "m", required, "corner with the larger coordinates"},
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
            {"axis", 3, "-", required, "about which they turn"},
            joint_friction,
            joint_effort,
            joint_speed,
            joint_limit}},
          {"slider",
           0,
           "the bodies move along an axis alone",
           {joint_point,
            {"axis", 0, "-", required, "along which the first slides, fixed to the second"},
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
            {"stiffness", 0, "N/m", "0", "force per stretch"},
            {"damping", 0, "kg/s", "0", "force per rate of stretch"}}}},
         "Forces of joints are measured with `what = [\"joint\"]` of a `[[measure]]`: the force on the first "
         "body, and "
         "that along (hinge: the torque about) the axis, of friction and motor."},
        {"ring",
         "[[ring]]",
         "A ring of held blocks in the plane: the wall of a drum, seen along its axis.",
         {{"centre", 2, "m", required, ""},
          {"radius", 2, "m", required, "of the corners of its inside"},
          {"thickness", 2, "m", "a tenth of the radius", "of the wall, outwards"},
          {"segments", 2, "-", "64", "blocks around"},
          material_field,
          {"spin", 2, "rad/s", "0", "of the whole ring about its centre"},
          name_field,
          {"motion", 2, "table", "none",
           "instead of `spin`: see `motion = { ... }`; its pivot is the centre unless given"},
          {"velocity", 2, "m/s", "", "refused: see `motion`"},
          {"belt", 2, "m/s", "0", "as of a body, the same for all blocks"},
          {"guide", 2, "table", "none", "refused: the blocks move together"}}},
        {"motion",
         "motion = { ... }",
         "How a held body or a wall moves. Velocities, spins and swings add up; the factors multiply all of "
         "it.",
         {{"velocity", 0, "m/s", "0", "a vector"},
          {"spin", 0, "rad/s", "0", "a number in 2D, a vector in 3D"},
          {"swing", 0, "m/s", "0", "a vector: amplitude of a velocity that swings as a cosine"},
          {"swing_spin", 0, "rad/s", "0", "amplitude of a spin that swings as a cosine"},
          {"frequency", 0, "Hz", "0", "of the swings"},
          {"phase", 0, "degrees", "0", "of the swings at time 0"},
          {"pivot", 0, "m", "the centre", "point about which it turns"},
          {"times", 0, "s", "none",
           "rising: when the factors hold; linear between, constant before and after"},
          {"factors", 0, "-", "none", "one per time, on all of the motion"}}},
        {"guide",
         "guide = { ... }",
         "A held body or a wall that is free along one direction, as a piston is, and pushed along it. "
         "Gravity does not act on it, and other held bodies and walls do not stop it.",
         {{"axis", 0, "-", required, "direction in which it is pushed; of any length"},
          {"force", 0, "N", "or `pressure`", "along the axis"},
          {"pressure", 0, "Pa (2D: N/m)", "or `force`", "force over area"},
          {"area", 0, "m^2 (2D: m)", "required with `pressure`", "on which the pressure acts"},
          {"mass", 0, "kg", required, "that is moved"},
          {"damping", 0, "kg/s", "0", "force against its velocity, over the velocity"}}},
    };
}

std::vector<TableText> grain_tables() {
    constexpr FieldText mix{
        "mix", 0, "tables", "none",
        "instead of `shape`, `material` and `size`: `[{ shape = ..., weight = ... }, ...]`"};
    constexpr FieldText size{"size", 0, "-", "1",
                             "factor on the shape; `[min, max]`: uniform; or a law: see `size = { ... }`"};
    constexpr FieldText velocity{"velocity", 0, "m/s", "0",
                                 "a number is a speed in a random direction, a vector is the same for all"};
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
          {"count", 0, "-", required, "how many in each direction"},
          {"origin", 0, "m", required, "centre of the first"},
          {"spacing", 0, "m", required, "one number, or one per direction"},
          {"arrangement", 0, "text", "\"cubic\"",
           "`\"hexagonal\"`: closest packing for spheres or disks of diameter `spacing`, which is one number "
           "then"},
          {"rows_shifted", 0, "m", "0", "every other row is shifted by this much along x, as bricks are"},
          {"shift", 0, "m", "0", "each body is shifted at random by at most this much in each direction"},
          size,
          {"mass", 0, "kg", "from the density", "`[min, max]`: uniform"},
          velocity,
          turned,
          {"held", 0, "flag", "false", "as of a body"}}},
        {"fill", "[[fill]]",
         "Random grains that do not overlap in a region, to a packing fraction or a number.",
         of_grains({region,
                    {"fraction", 0, "-", "or `count`",
                     "volume of the grains over that of the region, above 0, below 1"},
                    {"count", 0, "-", "or `fraction`", "how many grains"}})},
        {"source", "[[source]]",
         "Grains that come in while the run goes on, at random places of a region where there is room.",
         of_grains({name_field,
                    region,
                    {"rate", 0, "1/s", "or `mass_rate`", "grains per second"},
                    {"mass_rate", 0, "kg/s", "or `rate`", "mass per second"},
                    {"begin", 0, "s", "0", "when it opens"},
                    {"end", 0, "s", "never", "when it closes"},
                    {"most", 0, "-", "no limit", "grains in all"}})},
        {"sink",
         "[[sink]]",
         "Takes away the free bodies whose centre is in a region, and counts them.",
         {name_field, region}},
        {"region",
         "region = { ... }",
         "A part of space.",
         {{"type", 0, "text", required, "one of the types below"}},
         "type",
         {{"box",
           0,
           "",
           {{"lower", 0, "m", required, "a corner; of a sink also `-inf`"},
            {"upper", 0, "m", required, "the opposite corner; of a sink also `inf`"}}},
          {"disk", 2, "", {{"centre", 0, "m", required, ""}, {"radius", 0, "m", required, ""}}},
          {"cylinder",
           3,
           "",
           {{"centre", 0, "m", required, "of its bottom"},
            {"axis", 0, "-", "up (z)", "direction from the bottom to the top; of any length"},
            {"radius", 0, "m", required, ""},
            {"length", 0, "m", required, "along the axis"}}},
          {"mesh",
           3,
           "inside a closed surface of triangles",
           {{"file", 0, "name", required, "an OBJ or STL file, looked for from the folder of the scene file"},
            {"scale", 0, "-", "1", "factor on the lengths of the file"},
            {"position", 0, "m", "zeros", "of the origin of the file"}}}}},
        {"mix",
         "mix = [{ ... }, ...]",
         "Grains of several kinds.",
         {shape_field,
          material_field,
          {"weight", 0, "-", "1", "share of the grains by number, relative to the others' weights"},
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
           {{"mean", 0, "-", required, ""},
            {"deviation", 0, "-", required, "standard deviation"},
            {"min", 0, "-", required, "cut off below"},
            {"max", 0, "-", required, "cut off above"}}},
          {"log-normal",
           0,
           "the logarithm is normal",
           {{"median", 0, "-", required, ""},
            {"spread", 0, "-", required, "geometric standard deviation, above 1"},
            {"min", 0, "-", required, "cut off below"},
            {"max", 0, "-", required, "cut off above"}}},
          {"table",
           0,
           "a measured grading curve, linear between its points",
           {{"size", 0, "-", "or `file`", "rising"},
            {"share", 0, "-", "or `file`", "share of the grains below each size, rising from 0 to 1"},
            {"file", 0, "name", "or `size` and `share`", "a text file of two columns: size, share"},
            {"by", 0, "text", "\"number\"", "`\"mass\"`: shares are of the mass, as a sieve gives them"}}}}},
    };
}

std::vector<TableText> outcome_tables() {
    return {
        {"stop",
         "[stop]",
         "Ends the run before `time.end`.",
         {{"kinetic_below", 0, "J", "none", "when the kinetic energy stays below this"},
          {"calm", 0, "s", "0", "how long it must stay so"},
          {"steady_window", 0, "s", "none",
           "when nothing has changed from one such window of time to the next"},
          {"steady_change", 0, "-", "0.01", "relative change that counts as none"},
          {"earliest", 0, "s", "0", "not before this time"}}},
        {"output",
         "[output]",
         "Used with `drystone run --output DIR`. Times are of the simulation.",
         {{"frames_every", 0, "s", "0",
           "between frames `DIR/grains_000000.hdf`, ...; the first is the beginning, the last the end. 0: "
           "none"},
          {"measurements_every", 0, "s", "0", "between lines of `DIR/steps.csv`; 0: every step"},
          {"checkpoints_every", 0, "s", "0",
           "between checkpoints; 0: one at the end, and one every 10 minutes of the clock"},
          {"forces", 0, "text", "\"any\"",
           "of frames: `\"elastic-limit\"` as in `[solver]`, but found for frames alone; the run itself does "
           "not "
           "change"}},
         {},
         {},
         "A line of `steps.csv` stands for the steps since the line before: iterations and works "
         "are sums, residual and overlap the worst, status the first that is not `solved`, before all those "
         "that "
         "solved no law; the rest is of the last step. Columns: `time` (s), `h` (s), `contacts` (in the "
         "problem), `active` (that carry an "
         "impulse), `iterations`, `residual`, `status`, `overlap` (m), `kinetic`, `potential` (J), "
         "`work_contacts` (J, on the free bodies), `work_held` (J, the part of it that held bodies put in), "
         "`work_scheme` (J), `work_joints` (J), `shift_error` (of steps with a frozen shift, the worst "
         "residual by "
         "the exact law; 0 without), and nothing of the clock. What is in a frame is said at the "
         "head of "
         "`src/drystone/results/frame_file.hpp`."},
        {"measure",
         "[[measure]]",
         "A file `DIR/<name>.csv` of measurements, in a region or of the whole scene. Grains are the free "
         "bodies; a grain is in a region if its centre is.",
         {{"name", 0, "text", required, "of the file: letters, digits, `-` and `_`"},
          {"every", 0, "s", "0", "between lines; 0: every step"},
          {"what", 0, "texts", required,
           "a list of `energy`, `mass`, `velocity`, `temperature`, `packing`, `coordination`, `fabric`, "
           "`stress`, `inertial`, `flux`, `overlap`, `repose`, `runout`, `discharge`, `joint`, `profile`"},
          {"region", 0, "table", "everywhere",
           "`region = { ... }`; required for `packing`, `stress`, `inertial` and `flux` unless the domain is "
           "periodic in all directions"},
          {"width", 0, "m", "2 mean diameters", "of the bins of `profile` and `repose`"}},
         {},
         {},
         "The first line names the columns and their units. Stress is positive in compression; heights are "
         "along the last axis; `profile` has a file `<name>_profile.csv` of its own. What each is exactly is "
         "said in `src/drystone/grains/measure.hpp` and `heap.hpp`."},
    };
}

std::vector<TableText> all_tables() {
    std::vector<TableText> all;
    for (auto part : {general_tables(), matter_tables(), body_tables(), grain_tables(), outcome_tables()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace

std::span<const TableText> table_texts() {
    static const std::vector<TableText> all = all_tables();
    return all;
}

}  // namespace drystone
