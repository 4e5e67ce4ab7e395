// Random grains of a scene file: what they are made of, where they are put, where they come from and go to, and when a
// run may end.
#include "drystone/base/error.hpp"
#include "drystone/grains/fill.hpp"
#include "drystone/scenes/reader.hpp"
#include "drystone/shapes/surface_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace drystone {

std::optional<Span> read_span(const Table& table, std::string_view key) {
    if (!table.is(key, Value::Kind::list)) {
        const auto one = table.number(key);
        if (!one) return std::nullopt;
        return Span{*one, *one};
    }
    const auto ends = table.numbers(key, 2);
    if (!ends) return std::nullopt;
    if ((*ends)[0] > (*ends)[1]) {
        table.fault(key, fmt::format("[{}, {}] falls", (*ends)[0], (*ends)[1]), "give the smaller end first");
        return std::nullopt;
    }
    return Span{(*ends)[0], (*ends)[1]};
}

namespace {

/// Two columns of numbers; what stands before the first line of numbers is a heading, and lines that begin with # are
/// remarks. Shares that end at 100 are in per cent.
std::optional<TableSize> read_grading(const Table& table, const std::string& name, const std::string& text) {
    TableSize grading;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        line = with_spaces(std::move(line));
        std::istringstream words(line);
        std::string first, rest;
        if (!(words >> first) || first.front() == '#') continue;
        double size = 0, share = 0;
        std::istringstream numbers(line);
        if (numbers >> size >> share && !(numbers >> rest)) {
            grading.size.push_back(size);
            grading.share.push_back(share);
        } else if (!grading.size.empty()) {
            table.fault("file", fmt::format("{}:{}: is not two numbers", name, number),
                        "give a size and a share in each line");
            return std::nullopt;
        }
    }
    if (!grading.share.empty() && std::abs(grading.share.back() - 100) < 1e-6) {
        for (double& share : grading.share) share /= 100;
    }
    return grading;
}

std::optional<SizeLaw> read_table_law(const Table& table, SceneFiles& files) {
    TableSize law;
    if (table.has("file") == (table.has("size") || table.has("share"))) {
        table.fault("file", table.has("file") ? "stands beside 'size' and 'share'" : "is missing",
                    "give either size = [...] and share = [...], or file = \"grading.csv\"");
        return std::nullopt;
    }
    if (const auto name = table.text("file")) {
        try {
            auto grading = read_grading(table, *name, files.read(*name));
            if (!grading) return std::nullopt;
            law = std::move(*grading);
        } catch (const Error& error) {
            table.fault("file", error.what());
            return std::nullopt;
        }
    } else {
        table.need("size", "rising sizes");
        table.need("share");
        law.size = table.numbers("size", 0).value_or(std::vector<double>());
        law.share = table.numbers("share", 0).value_or(std::vector<double>());
    }
    law.by_mass = table.choice_or("by", {"number", "mass"}, 0) == 1;
    return law;
}

/// The laws in braces.
std::optional<SizeLaw> read_law(const Table& table, SceneFiles& files) {
    const std::size_t before = table.faults();
    table.need("law", "\"normal\", \"log-normal\" or \"table\"");
    const auto which = table.choice("law", {"normal", "log-normal", "table"});
    if (!which) return std::nullopt;  // without it nobody knows which fields there are
    auto needed = [&](const char* key) {
        table.need(key);
        return table.number_or(key, 1);
    };
    std::optional<SizeLaw> law;
    if (*which == 0) {
        const double mean = needed("mean"), deviation = needed("deviation");
        law = NormalSize{mean, deviation, needed("min"), needed("max")};
    } else if (*which == 1) {
        const double median = needed("median"), spread = needed("spread");
        law = LogNormalSize{median, spread, needed("min"), needed("max")};
    } else {
        law = read_table_law(table, files);
    }
    table.finish();
    if (table.faults() != before || !law) return std::nullopt;
    try {
        check(*law, "size");
    } catch (const Error& error) {
        table.fault("", error.what());
        return std::nullopt;
    }
    return law;
}

std::optional<SizeLaw> read_size(const Table& table, SceneFiles& files) {
    if (!table.has("size")) return UniformSize{};
    if (table.is("size", Value::Kind::table)) return read_law(*table.table("size"), files);
    const auto span = read_span(table, "size");
    if (!span) return std::nullopt;
    return UniformSize{span->low, span->high};
}

template <int d>
std::optional<typename Recipe<d>::Part> read_part(SceneReader<d>& reader, const Table& table) {
    const auto shape = read_shape_field(reader, table);
    const auto material = read_material_field(reader, table);
    const auto size = read_size(table, *reader.files);
    if (!shape || !material || !size) return std::nullopt;
    return typename Recipe<d>::Part{1, shape->variants, *material, *size};
}

/// Corners of a region may be infinite: inf of TOML, or the word in quotes.
template <int d>
std::optional<Vec<d>> read_corner(const Table& table, std::string_view key) {
    table.need(key, "a corner, coordinates in m");
    const Value* list = table.value(key);
    if (list == nullptr) return std::nullopt;
    Vec<d> corner;
    bool good = list->kind == Value::Kind::list && list->items.size() == d;
    for (int k = 0; k < d && good; ++k) {
        const Value& item = list->items[static_cast<std::size_t>(k)];
        if (item.kind == Value::Kind::number &&
            (table.range(key).accepts(item.number) || std::isinf(item.number))) {
            corner[k] = item.number;
        } else if (item.kind == Value::Kind::text && (item.text == "inf" || item.text == "+inf")) {
            corner[k] = infinity;
        } else if (item.kind == Value::Kind::text && item.text == "-inf") {
            corner[k] = -infinity;
        } else {
            good = false;
        }
    }
    if (good) return corner;
    table.fault(key, "is no corner", fmt::format("give {} coordinates in m; inf and -inf have no end", d));
    return std::nullopt;
}

template <int d>
std::optional<Region<d>> read_box_region(const Table& table) {
    const auto lower = read_corner<d>(table, "lower"), upper = read_corner<d>(table, "upper");
    if (!lower || !upper) return std::nullopt;
    if (!(lower->array() < upper->array()).all()) {
        table.fault("upper", "is not above 'lower' in every direction",
                    "give the corner with the larger coordinates");
        return std::nullopt;
    }
    return BoxRegion<d>{*lower, *upper};
}

template <int d>
std::optional<Region<d>> read_cylinder_region(const Table& table) {
    CylinderRegion<d> region;
    table.need("centre");
    table.need("radius");
    const auto centre = table.template vector<d>("centre");
    const auto radius = table.number("radius");
    if constexpr (d == 3) {
        table.need("length");
        const auto length = table.number("length");
        const Vec<d> axis = table.template vector<d>("axis").value_or(Vec<d>::Unit(2));
        if (axis.isZero(0)) {
            table.fault("axis", "has no length", "give a direction");
            return std::nullopt;
        }
        if (!length) return std::nullopt;
        region.length = *length;
        region.axis = axis.normalized();
    }
    if (!centre || !radius) return std::nullopt;
    region.centre = *centre;
    region.radius = *radius;
    return region;
}

std::optional<Region<3>> read_mesh_region(const Table& table, SceneFiles& files) {
    table.need("file", "the name of an OBJ or STL file");
    const auto name = table.text("file");
    const double scale = table.number_or("scale", 1);
    const Vec<3> position = table.vector<3>("position").value_or(Vec<3>::Zero());
    if (!name) return std::nullopt;
    try {
        Surface<3> surface = read_surface(files.path_of(*name), files.read(*name));
        for (Vec<3>& x : surface.vertices) x *= scale;
        return make_mesh_region(std::move(surface), {position, {}});
    } catch (const Error& error) {
        table.fault("file", error.what());
        return std::nullopt;
    }
}

/// What is put into a region needs one with ends, in which the largest grain has room.
template <int d>
bool has_room(const SceneReader<d>& reader, const Table& table, const Region<d>& region,
              const Recipe<d>& recipe) {
    const Bounds<d> box = bounds_of<d>(region);
    if (!box.lower.allFinite() || !box.upper.allFinite()) {
        table.fault("region", "has no end", "give finite corners");
        return false;
    }
    const double radius = largest_radius(reader.plan.world.scene, recipe);
    const double room = widest_ball<d>(without_periodic_sides<d>(region, reader.plan.world.scene.domain));
    if (room >= radius) return true;
    table.fault("region",
                fmt::format("has no room for a grain of radius {:.4g} m: a ball in it has at most {:.4g} m",
                            radius, room),
                "make the region larger or the grains smaller");
    return false;
}

template <int d>
void read_fill(SceneReader<d>& reader, const Table& table) {
    const std::size_t before = table.faults();
    const auto region = read_region(reader, table);
    const auto recipe = read_recipe(reader, table, true);
    const auto fraction = table.number("fraction");
    const auto count = table.integer("count");
    if (table.has("fraction") == table.has("count"))
        table.fault("fraction", table.has("count") ? "stands beside 'count'" : "is missing",
                    "give either a packing fraction or a count of grains");
    table.finish();
    if (table.faults() != before || !region || !recipe) return;
    if (!has_room(reader, table, *region, *recipe) || !reader.place) return;
    FillTarget target = fraction ? FillTarget(FillFraction{*fraction}) : FillTarget(FillCount{*count});
    note_origin(reader, table);
    try {
        fill(reader.plan.world.scene, *region, *recipe, target, Random(reader.seed));
    } catch (const Error& error) {
        table.fault("", error.what());
    }
}

std::string name_or_number(const Table& table) { return table.text("name").value_or(table.path()); }

template <int d>
void read_source(SceneReader<d>& reader, const Table& table) {
    const std::size_t before = table.faults();
    Source<d> source;
    source.name = name_or_number(table);
    const auto region = read_region(reader, table);
    const auto recipe = read_recipe(reader, table, true);
    const auto rate = table.number("rate"), mass = table.number("mass_rate");
    if (table.has("rate") == table.has("mass_rate"))
        table.fault("rate", table.has("rate") ? "stands beside 'mass_rate'" : "is missing",
                    "give either rate (grains per s) or mass_rate (kg/s)");
    source.begin = table.number_or("begin", source.begin);
    source.end = table.number_or("end", source.end);
    source.most = table.integer_or("most", source.most);
    if (source.end < source.begin)
        table.fault("end", fmt::format("{} s is before 'begin'", source.end), "give a later time");
    table.finish();
    if (table.faults() != before || !region || !recipe) return;
    if (!has_room(reader, table, *region, *recipe)) return;
    source.region = *region;
    source.recipe = *recipe;
    source.by_mass = mass.has_value();
    source.rate = mass ? *mass : *rate;
    reader.plan.feeds.sources.push_back(std::move(source));
}

}  // namespace

template <int d>
std::optional<Recipe<d>> read_recipe(SceneReader<d>& reader, const Table& table, bool turned) {
    const std::size_t before = table.faults();
    Recipe<d> recipe;
    if (table.has("mix")) {
        for (const char* key : {"shape", "material", "size"}) {
            if (table.has(key)) table.fault(key, "stands beside 'mix'", "say it in each part of the mix");
            static_cast<void>(table.value(key));
        }
        const std::vector<Table> parts = table.tables("mix");
        for (const Table& inner : parts) {
            auto part = read_part(reader, inner);
            const double weight = inner.number_or("weight", 1);
            inner.finish();
            if (!part) continue;
            part->weight = weight;
            recipe.parts.push_back(std::move(*part));
        }
        if (table.faults() == before && parts.empty())
            table.fault("mix", "is empty", "give one part or more");
    } else if (auto part = read_part(reader, table)) {
        recipe.parts.push_back(std::move(*part));
    }
    if (table.is("velocity", Value::Kind::list)) {
        recipe.velocity = table.template vector<d>("velocity").value_or(Vec<d>::Zero());
    } else {
        recipe.speed = table.number("velocity", want::speed).value_or(0);
    }
    recipe.turned = table.choice_or("rotation", {"none", "random"}, turned ? 1 : 0) == 1;
    if (table.faults() != before || recipe.parts.empty()) return std::nullopt;
    return recipe;
}

template <int d>
std::optional<Region<d>> read_region(SceneReader<d>& reader, const Table& table) {
    if (!table.need("region", "a part of space in braces: { type = \"box\", ... }")) return std::nullopt;
    const auto inner = table.table("region");
    if (!inner) return std::nullopt;
    const std::size_t before = inner->faults();
    inner->need("type", d == 2 ? "\"box\" or \"disk\"" : "\"box\", \"cylinder\" or \"mesh\"");
    const auto which =
        d == 2 ? inner->choice("type", {"box", "disk"}) : inner->choice("type", {"box", "cylinder", "mesh"});
    if (!which) return std::nullopt;
    std::optional<Region<d>> region;
    if (*which == 0) {
        region = read_box_region<d>(*inner);
    } else if (*which == 1) {
        region = read_cylinder_region<d>(*inner);
    } else if constexpr (d == 3) {
        region = read_mesh_region(*inner, *reader.files);
    }
    inner->finish();
    if (inner->faults() != before) return std::nullopt;
    return region;
}

template <int d>
void read_fills(SceneReader<d>& reader, const Table& root) {
    for (const Table& table : root.tables("fill")) read_fill(reader, table);
}

template <int d>
void read_feeds(SceneReader<d>& reader, const Table& root) {
    reader.plan.feeds.seed = reader.seed;
    for (const Table& table : root.tables("source")) read_source(reader, table);
    std::set<std::string> taken;
    for (const Table& table : root.tables("sink")) {
        Sink<d> sink;
        sink.name = name_or_number(table);
        if (!taken.insert(sink.name).second)
            table.fault("name", fmt::format("\"{}\" is taken by another sink", sink.name),
                        "give each a name of its own: it stands over its columns");
        const auto region = read_region(reader, table);
        table.finish();
        if (!region) continue;
        sink.region = *region;
        reader.plan.feeds.sinks.push_back(std::move(sink));
    }
}

void read_stop(const Table& root, StopRule& rule) {
    const auto table = root.table("stop");
    if (!table) return;
    rule.kinetic_below = table->number("kinetic_below");
    rule.calm = table->number_or("calm", rule.calm);
    rule.window = table->number("steady_window");
    rule.change = table->number_or("steady_change", rule.change);
    rule.earliest = table->number_or("earliest", rule.earliest);
    if (!table->has("kinetic_below") && !table->has("steady_window"))
        table->fault("kinetic_below", "is missing, and so is 'steady_window'",
                     "give an energy in J, a time in s or both");
    table->finish();
}

#define DRYSTONE_INSTANTIATE(d)                                                         \
    template std::optional<Recipe<d>> read_recipe(SceneReader<d>&, const Table&, bool); \
    template std::optional<Region<d>> read_region(SceneReader<d>&, const Table&);       \
    template void read_fills(SceneReader<d>&, const Table&);                            \
    template void read_feeds(SceneReader<d>&, const Table&);
DRYSTONE_INSTANTIATE(2)
DRYSTONE_INSTANTIATE(3)
#undef DRYSTONE_INSTANTIATE

}  // namespace drystone
