// Shapes of a scene file.
#include "drystone/base/error.hpp"
#include "drystone/scenes/reader.hpp"
#include "drystone/shapes/surface_file.hpp"
#include "drystone/shapes/vessels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drystone {

namespace {

template <int d>
using Entry = typename ShapeBook<d>::Entry;

/// What can be made of a shape, with where it lies in the user's own axes.
template <int d>
struct Made {
    Shape<d> shape;
    double size = 1;
    Pose<d> pose;
};

template <int d, class S>
Made<d> made_from(const Centred<d, S>& centred) {
    return {centred.shape, 1, centred.pose};
}

/// A ball is stored with radius 1, so that all balls are one shape; its radius is the size.
template <int d>
std::optional<Made<d>> read_ball(const Table& table) {
    table.need("radius");
    const auto radius = table.number("radius");
    if (!radius) return std::nullopt;
    return Made<d>{Ball<d>{1}, *radius, {}};
}

std::optional<Made<3>> read_capsule(const Table& table) {
    table.need("radius");
    table.need("length");
    const auto radius = table.number("radius");
    const auto length = table.number("length");
    if (!radius || !length) return std::nullopt;
    return Made<3>{Capsule{*radius, 0.5 * *length}, 1, {}};
}

template <int d>
std::optional<Made<d>> read_box(const Table& table) {
    table.need("sides");
    const auto sides = table.vector<d>("sides");
    if (!sides) return std::nullopt;
    if constexpr (d == 2) {
        return Made<2>{make_rectangle(0.5 * *sides), 1, {}};
    } else {
        return Made<3>{make_box(0.5 * *sides), 1, {}};
    }
}

template <int d>
std::optional<Made<d>> read_ellipsoid(const Table& table) {
    table.need("semi");
    const auto semi = table.vector<d>("semi");
    if (!semi) return std::nullopt;
    return Made<d>{Ellipsoid<d>{*semi}, 1, {}};
}

std::optional<Made<3>> read_superellipsoid(const Table& table) {
    // The range in which the shape is smooth enough to be collided: see Superellipsoid.
    table.need("semi");
    table.need("exponents", "2 numbers from 0.2 to 1.8");
    const auto semi = table.vector<3>("semi");
    const auto e = table.vector<2>("exponents");
    if (!semi || !e) return std::nullopt;
    return Made<3>{Superellipsoid{*semi, (*e)[0], (*e)[1]}, 1, {}};
}

/// The file of the field `file`, scaled.
std::optional<Surface<3>> read_surface_field(const Table& table, SceneFiles& files) {
    const auto name = table.text("file");
    const double scale = table.number_or("scale", 1);
    if (!name) return std::nullopt;
    try {
        Surface<3> surface = read_surface(files.path_of(*name), files.read(*name));
        for (Vec<3>& x : surface.vertices) x *= scale;
        return surface;
    } catch (const Error& error) {
        table.fault("file", error.what());
        return std::nullopt;
    }
}

std::optional<Made<3>> read_polyhedron(const Table& table, SceneFiles& files) {
    const bool by_file = table.has("file"), by_points = table.has("points");
    if (by_file == by_points) {
        table.fault("points", by_file ? "stands beside 'file'" : "is missing",
                    "give either points = [[x, y, z], ...] or file = \"name.obj\"");
        return std::nullopt;
    }
    if (by_points) {
        const auto points = table.points<3>("points");
        if (!points) return std::nullopt;
        return made_from(make_polyhedron(*points));
    }
    const auto surface = read_surface_field(table, files);
    if (!surface) return std::nullopt;
    return made_from(make_polyhedron(surface->vertices));
}

std::optional<Made<2>> read_polygon(const Table& table) {
    table.need("points", "a list of points [[x, y], ...]");
    const auto points = table.points<2>("points");
    if (!points) return std::nullopt;
    return made_from(make_polygon(*points));
}

std::optional<Made<3>> read_mesh(const Table& table, SceneFiles& files) {
    table.need("file", "the name of an OBJ or STL file");
    auto surface = read_surface_field(table, files);
    if (!surface) return std::nullopt;
    return Made<3>{make_mesh(std::move(surface->vertices), std::move(surface->elements)), 1, {}};
}

std::optional<Made<3>> read_drum(const Table& table) {
    const std::size_t before = table.faults();
    DrumPlan plan;
    table.need("radius");
    table.need("length");
    plan.radius = table.number_or("radius", 1);
    plan.length = table.number_or("length", 1);
    plan.segments = static_cast<int>(table.integer_or("segments", plan.segments));
    plan.caps = table.flag("caps").value_or(true);
    if (const auto lifters = table.table("lifters")) {
        lifters->need("count", "how many there are");
        lifters->need("height");
        plan.lifters = static_cast<int>(lifters->integer_or("count", 0));
        plan.lifter_height = lifters->number_or("height", 0);
        plan.lifter_width = lifters->number_or("width", plan.lifter_height);
        lifters->finish();
    }
    if (table.faults() != before) return std::nullopt;
    return Made<3>{make_drum(plan), 1, {}};
}

std::optional<Made<3>> read_hopper(const Table& table) {
    const std::size_t before = table.faults();
    HopperPlan plan;
    for (const char* key : {"radius", "outlet", "height"}) table.need(key);
    plan.radius = table.number_or("radius", 1);
    plan.outlet = table.number_or("outlet", 0.1);
    plan.height = table.number_or("height", 1);
    plan.rise = table.number_or("rise", 0);
    plan.pyramid = table.choice_or("form", {"cone", "pyramid"}, 0) == 1;
    if (plan.pyramid && table.has("segments"))
        table.fault("segments", "a pyramid has four sides", "leave it out, or set form = \"cone\"");
    plan.segments = static_cast<int>(table.integer_or("segments", plan.segments));
    if (table.faults() != before) return std::nullopt;
    return Made<3>{make_hopper(plan), 1, {}};
}

struct RandomGrain {
    int vertices = 20;
    double radius = 1;
    double roundness = 0.7;
    int count = 50;
};

std::optional<RandomGrain> read_random_grain(const Table& table, int default_vertices) {
    const std::size_t before = table.faults();
    RandomGrain grain;
    table.need("radius");
    grain.radius = table.number_or("radius", 1);
    grain.vertices = static_cast<int>(table.integer_or("vertices", default_vertices));
    grain.roundness = table.number_or("roundness", grain.roundness);
    grain.count = static_cast<int>(table.integer_or("count", grain.count));
    if (table.faults() != before) return std::nullopt;
    return grain;
}

/// Point i of n spread evenly over the unit circle or sphere (a spiral in the golden angle).
template <int d>
Vec<d> even_direction(int i, int n) {
    if constexpr (d == 2) {
        const double angle = 2 * std::numbers::pi * i / n;
        return {std::cos(angle), std::sin(angle)};
    } else {
        const double z = 1 - (2 * i + 1.0) / n, around = i * std::numbers::pi * (3 - std::sqrt(5.0));
        const double r = std::sqrt(1 - z * z);
        return {r * std::cos(around), r * std::sin(around), z};
    }
}

Centred<2, Polygon> hull(const std::vector<Vec<2>>& points) { return make_polygon(points); }
Centred<3, Polyhedron> hull(const std::vector<Vec<3>>& points) { return make_polyhedron(points); }

/// Even points, pushed about by up to the distance of neighbours and inwards by up to half: the less round, the
/// farther. The hull leaves out those that fall inside. Scaled so that the farthest vertex is at `radius` from the
/// centre.
template <int d>
Made<d> random_grain(const RandomGrain& grain, const Random& random, std::uint64_t variant) {
    const double rough = 1 - grain.roundness;
    const double spacing =
        d == 2 ? 2 * std::numbers::pi / grain.vertices : std::sqrt(4 * std::numbers::pi / grain.vertices);
    std::vector<Vec<d>> points;
    for (int i = 0; i < grain.vertices; ++i) {
        const std::uint64_t draw = static_cast<std::uint64_t>(i) * 4;
        Vec<d> push;
        for (int k = 0; k < d; ++k)
            push[k] = random.between(-1, 1, variant, draw + static_cast<std::uint64_t>(k));
        const double inwards = 1 - 0.5 * rough * random(variant, draw + 3);
        points.push_back(inwards *
                         (even_direction<d>(i, grain.vertices) + rough * spacing * push).normalized());
    }
    auto made = hull(points);
    double farthest = 0;
    for (const Vec<d>& x : made.shape.vertices) farthest = std::max(farthest, x.norm());
    for (Vec<d>& x : made.shape.vertices) x *= grain.radius / farthest;
    return {hull(made.shape.vertices).shape, 1, {}};
}

template <int d>
std::vector<Made<d>> read_random_grains(const Table& table, const Random& random) {
    const auto grain = read_random_grain(table, d == 2 ? 8 : 20);
    std::vector<Made<d>> all;
    if (!grain) return all;
    for (int k = 0; k < grain->count; ++k)
        all.push_back(random_grain<d>(*grain, random, static_cast<std::uint64_t>(k)));
    return all;
}

template <int d>
std::vector<Made<d>> one(std::optional<Made<d>> made) {
    if (!made) return {};
    return {std::move(*made)};
}

constexpr std::string_view types_2d[] = {"disk", "rectangle", "ellipse", "polygon", "random-polygon"};
constexpr std::string_view types_3d[] = {"sphere",         "capsule",    "box",  "ellipsoid",
                                         "superellipsoid", "polyhedron", "mesh", "random-polyhedron",
                                         "drum",           "hopper"};

/// What a type of the other dimension is called in this one.
std::string_view counterpart(std::string_view type) {
    constexpr std::pair<std::string_view, std::string_view> pairs[] = {
        {"disk", "sphere"},
        {"rectangle", "box"},
        {"ellipse", "ellipsoid"},
        {"polygon", "polyhedron"},
        {"random-polygon", "random-polyhedron"}};
    for (const auto& [plane, space] : pairs) {
        if (type == plane) return space;
        if (type == space) return plane;
    }
    return {};
}

template <int d>
std::optional<std::string_view> read_type(const Table& table) {
    if (!table.need("type", d == 2 ? "a type: disk, rectangle, ellipse, polygon or random-polygon"
                                   : "a type: sphere, capsule, box, ellipsoid, superellipsoid, polyhedron, "
                                     "random-polyhedron, mesh, drum or hopper"))
        return std::nullopt;
    std::span<const std::string_view> here = types_3d, there = types_2d;
    if (d == 2) std::swap(here, there);
    if (table.is("type", Value::Kind::text)) {
        const std::string& typed = table.value("type")->text;
        if (std::find(there.begin(), there.end(), typed) != there.end()) {
            const std::string_view other = counterpart(typed);
            table.fault("type", fmt::format("there is no {} in {}D", typed, d),
                        other.empty() ? fmt::format("use one of {}", fmt::join(here, ", "))
                                      : fmt::format("use \"{}\"", other));
            return std::nullopt;
        }
    }
    const auto which = table.choice("type", here);
    if (!which) return std::nullopt;
    return here[*which];
}

std::vector<Made<2>> read_by_type(const Table& table, std::string_view type, const Random& random,
                                  SceneFiles& /*files*/, Vec<2> /*plane*/) {
    if (type == "disk") return one(read_ball<2>(table));
    if (type == "rectangle") return one(read_box<2>(table));
    if (type == "ellipse") return one(read_ellipsoid<2>(table));
    if (type == "polygon") return one(read_polygon(table));
    return read_random_grains<2>(table, random);
}

std::vector<Made<3>> read_by_type(const Table& table, std::string_view type, const Random& random,
                                  SceneFiles& files, Vec<3> /*space*/) {
    if (type == "sphere") return one(read_ball<3>(table));
    if (type == "capsule") return one(read_capsule(table));
    if (type == "box") return one(read_box<3>(table));
    if (type == "ellipsoid") return one(read_ellipsoid<3>(table));
    if (type == "superellipsoid") return one(read_superellipsoid(table));
    if (type == "polyhedron") return one(read_polyhedron(table, files));
    if (type == "mesh") return one(read_mesh(table, files));
    if (type == "drum") return one(read_drum(table));
    if (type == "hopper") return one(read_hopper(table));
    return read_random_grains<3>(table, random);
}

/// `name` is empty for a shape described where it is used.
template <int d>
std::optional<Entry<d>> read_shape(SceneReader<d>& reader, const Table& table, const std::string& name) {
    const std::size_t before = table.faults();
    const auto type = read_type<d>(table);
    if (!type) return std::nullopt;  // without the type nobody knows which fields there are
    std::vector<Made<d>> all;
    try {
        all = read_by_type(table, *type, Random(reader.seed, stream_of(name)), *reader.files, Vec<d>());
    } catch (const Error& error) {
        table.fault("", error.what());
    }
    table.finish();
    if (table.faults() != before || all.empty()) return std::nullopt;

    const std::string label = name.empty() ? std::string(*type) : name;
    Entry<d> entry{label, {}};
    const bool ball = std::holds_alternative<Ball<d>>(all.front().shape);
    if (ball && name.empty() && reader.shapes.inline_ball) {
        entry.variants.push_back({*reader.shapes.inline_ball, all.front().size, {}});
        return entry;
    }
    try {
        for (Made<d>& made : all) {
            const Index shape = reader.plan.world.scene.add_shape(std::move(made.shape));
            entry.variants.push_back({shape, made.size, made.pose});
            reader.plan.names.shapes.push_back(
                all.size() == 1 ? label : fmt::format("{}/{}", label, entry.variants.size() - 1));
        }
    } catch (const Error& error) {
        table.fault("", error.what());
        return std::nullopt;
    }
    if (ball && name.empty()) reader.shapes.inline_ball = entry.variants.front().shape;
    return entry;
}

}  // namespace

template <int d>
void read_shapes(SceneReader<d>& reader, const Table& root) {
    ShapeBook<d>& book = reader.shapes;
    for (const Table& table : root.tables("shape")) {
        table.need("name", "a name in quotes");
        const std::string name = table.text("name").value_or("");
        const auto same = [&](const Entry<d>& entry) { return entry.name == name; };
        if (!name.empty() && std::any_of(book.entries.begin(), book.entries.end(), same))
            table.fault("name", fmt::format("\"{}\" is taken by another shape", name),
                        "give each shape a name of its own");
        auto entry = read_shape(reader, table, name);
        if (entry && !name.empty()) {
            book.entries.push_back(std::move(*entry));
        } else {
            book.faulty.push_back(name);
        }
    }
}

template <int d>
std::optional<Entry<d>> read_shape_field(SceneReader<d>& reader, const Table& table) {
    if (!table.need("shape", "the name of a [[shape]], or a shape in braces")) return std::nullopt;
    if (table.is("shape", Value::Kind::table)) {
        const auto inner = table.table("shape");
        return read_shape(reader, *inner, "");
    }
    const auto name = table.text("shape");
    if (!name) return std::nullopt;
    const ShapeBook<d>& book = reader.shapes;
    std::vector<std::string> names;
    for (const Entry<d>& entry : book.entries) {
        if (entry.name == *name) return entry;
        names.push_back(entry.name);
        // One of several that are drawn at random: rock/7.
        if (!name->starts_with(entry.name + "/")) continue;
        for (const ShapeVariant<d>& variant : entry.variants) {
            if (reader.plan.names.shapes[variant.shape] == *name) return Entry<d>{*name, {variant}};
        }
    }
    if (std::find(book.faulty.begin(), book.faulty.end(), *name) != book.faulty.end()) return std::nullopt;
    const std::string cure = names.empty() ? "describe it as [[shape]], or here: shape = { type = ... }"
                                           : suggestion(*name, names);
    table.fault("shape", fmt::format("there is no shape \"{}\"", *name), cure);
    return std::nullopt;
}

template void read_shapes(SceneReader<2>&, const Table&);
template void read_shapes(SceneReader<3>&, const Table&);
template std::optional<Entry<2>> read_shape_field(SceneReader<2>&, const Table&);
template std::optional<Entry<3>> read_shape_field(SceneReader<3>&, const Table&);

}  // namespace drystone
