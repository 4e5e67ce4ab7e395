// Materials of a scene file, and the laws of their pairs.
#include "drystone/base/error.hpp"
#include "drystone/scenes/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace drystone {

namespace {

/// The law in a table, with what it does not say from `otherwise`.
PairLaw read_law(const Table& table, PairLaw otherwise, bool inelastic, bool spins) {
    PairLaw law;
    law.friction = table.number_or("friction", otherwise.friction);
    law.restitution = table.number_or("restitution", otherwise.restitution);
    law.cohesion = table.number_or("cohesion", otherwise.cohesion);
    law.rolling = table.number_or("rolling", otherwise.rolling);
    if (spins) law.spinning = table.number_or("spinning", otherwise.spinning);
    law.stiffness = table.number_or("stiffness", otherwise.stiffness);
    if (inelastic && table.has("restitution") && law.restitution > 0) {
        table.fault("restitution",
                    fmt::format("{} cannot be had with the scheme look-ahead, in which nothing rebounds",
                                law.restitution),
                    "set [scheme] name = \"moreau-jean\", or restitution = 0");
    }
    return law;
}

std::vector<std::string> names_of(const Materials& materials) {
    std::vector<std::string> names;
    for (Index i = 0; i < materials.count(); ++i) names.push_back(materials[i].name);
    return names;
}

/// Nothing if there is no such material, which is noted unless it is one whose own table is at fault.
template <int d>
std::optional<Index> find_material(const SceneReader<d>& reader, const Table& table, std::string_view key,
                                   const std::string& name) {
    const Materials& materials = reader.plan.world.scene.materials;
    const Index found = materials.find(name);
    if (found >= 0) return found;
    const auto& faulty = reader.faulty_materials;
    if (std::find(faulty.begin(), faulty.end(), name) == faulty.end())
        table.fault(key, fmt::format("there is no material \"{}\"", name),
                    suggestion(name, names_of(materials)));
    return std::nullopt;
}

template <int d>
void read_pair(SceneReader<d>& reader, const Table& table, bool inelastic) {
    Materials& materials = reader.plan.world.scene.materials;
    const std::size_t before = table.faults();
    table.need("materials", "two names of materials");
    const auto names = table.texts("materials");
    std::optional<Index> a, b;
    if (names && names->size() != 2) {
        table.fault("materials", fmt::format("names {} materials", names->size()),
                    "give two (the same twice for its own pair)");
    } else if (names) {
        a = find_material(reader, table, "materials", (*names)[0]);
        b = find_material(reader, table, "materials", (*names)[1]);
    }
    const PairLaw otherwise = a && b ? materials.law(*a, *b) : PairLaw{};
    const PairLaw law = read_law(table, otherwise, inelastic, d == 3);
    table.finish();
    if (table.faults() == before && a && b) materials.set(*a, *b, law);
}

}  // namespace

template <int d>
void read_materials(SceneReader<d>& reader, const Table& root, bool inelastic) {
    Materials& materials = reader.plan.world.scene.materials;
    const std::vector<Table> tables = root.tables("material");
    // There is a law for each two of them.
    if (constexpr std::size_t most = 1000; tables.size() > most) {
        root.fault("material", fmt::format("there are {} tables", tables.size()),
                   fmt::format("give at most {} materials", most));
        reader.faulty_materials.emplace_back();
        return;
    }
    for (const Table& table : tables) {
        const std::size_t before = table.faults();
        Material material;
        table.need("name", "a name in quotes");
        material.name = table.text("name").value_or("");
        if (!material.name.empty() && materials.find(material.name) >= 0)
            table.fault("name", fmt::format("\"{}\" is taken by another material", material.name),
                        "give each material a name of its own");
        material.density = table.number_or("density", material.density);
        material.young = table.number_or("young", material.young);
        material.poisson = table.number_or("poisson", material.poisson);
        const PairLaw law = read_law(table, {}, inelastic, d == 3);
        table.finish();
        if (table.faults() == before) {
            materials.add(material, law);
        } else {
            reader.faulty_materials.push_back(material.name);
        }
    }
    if (materials.count() == 0 && reader.faulty_materials.empty()) materials.add({.name = "default"}, {});
    for (const Table& table : root.tables("pair")) read_pair(reader, table, inelastic);
}

template <int d>
std::optional<Index> read_material_field(SceneReader<d>& reader, const Table& table) {
    const Materials& materials = reader.plan.world.scene.materials;
    if (table.has("material")) {
        const auto name = table.text("material");
        if (!name) return std::nullopt;
        return find_material(reader, table, "material", *name);
    }
    if (materials.count() == 1 && reader.faulty_materials.empty()) return 0;
    if (reader.faulty_materials.empty())
        table.fault("material", "is missing",
                    fmt::format("give one of {}", fmt::join(names_of(materials), ", ")));
    return std::nullopt;
}

template void read_materials(SceneReader<2>&, const Table&, bool);
template void read_materials(SceneReader<3>&, const Table&, bool);
template std::optional<Index> read_material_field(SceneReader<2>&, const Table&);
template std::optional<Index> read_material_field(SceneReader<3>&, const Table&);

}  // namespace drystone
