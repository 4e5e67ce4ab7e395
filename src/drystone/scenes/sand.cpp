// [sand]: sand as a continuum.
#include "drystone/base/error.hpp"
#include "drystone/continuum/fill.hpp"
#include "drystone/scenes/reader.hpp"

#include <fmt/format.h>

#include <numbers>

namespace drystone {

namespace {

template <int d>
std::optional<Vec<d>> read_cell_width(const Table& table) {
    if (!table.need("cell")) return std::nullopt;
    if (table.is("cell", Value::Kind::list)) return table.template vector<d>("cell");
    const auto width = table.number("cell");
    if (!width) return std::nullopt;
    return Vec<d>(Vec<d>::Constant(*width));
}

template <int d>
void read_friction(const Table& table, SandMaterial& material) {
    if (table.has("friction") && table.has("angle"))
        table.fault("angle", "stands beside 'friction'", "give one of the two");
    material.friction = table.number_or("friction", material.friction);
    AngleMatch match = AngleMatch::middle;
    if constexpr (d == 3) {
        constexpr std::array<AngleMatch, 3> all = {AngleMatch::middle, AngleMatch::circumscribed,
                                                   AngleMatch::inscribed};
        match = all[table.choice_or("match", {"middle", "circumscribed", "inscribed"}, 0)];
    }
    if (const auto angle = table.number("angle"))
        material.friction = friction_of_angle<d>(*angle * std::numbers::pi / 180, match);
    material.friction_fast = table.number("friction_fast").value_or(material.friction);
    if (material.friction_fast < material.friction)
        table.fault("friction_fast",
                    fmt::format("{:g} is less than the friction at rest, {:g}", material.friction_fast,
                                material.friction),
                    "give as much or more: friction grows with the rate of shear");
}

template <int d>
void read_sand_fill(const SceneReader<d>& reader, const Table& table, std::optional<Region<d>> region,
                    Sand<d>& sand) {
    SandFill<d> fill_plan;
    fill_plan.seed = reader.seed;
    fill_plan.fraction = table.number("fraction").value_or(sand.material.max_fraction);
    fill_plan.scatter = table.number_or("scatter", fill_plan.scatter);
    fill_plan.velocity = table.template vector<d>("velocity").value_or(Vec<d>::Zero());
    const std::size_t before = table.faults();
    table.finish();
    if (!region || table.faults() != before || !sand.has_grid()) return;
    fill_plan.region = std::move(*region);
    if (!reader.place) return;
    try {
        if (fill(fill_plan, sand) == 0)
            table.fault("region", "no particle is in it",
                        "make it larger than a cell of the grid over 'particles'");
    } catch (const Error& error) {
        table.fault("region", error.what());
    }
}

}  // namespace

template <int d>
void read_sand(SceneReader<d>& reader, const Table& root) {
    const auto table = root.table("sand");
    if (!table) return;
    Sand<d>& sand = reader.plan.world.sand;
    SandMaterial& material = sand.material;
    if (const auto width = read_cell_width<d>(*table)) sand.cell = *width;
    if (const auto index = read_material_field(reader, *table)) {
        sand.surface = *index;
        material.density = reader.plan.world.scene.materials[*index].density;
    }
    read_friction<d>(*table, material);
    material.inertial_number = table->number_or("inertial_number", material.inertial_number);
    material.grain_diameter = table->number_or("grain_diameter", material.grain_diameter);
    material.max_fraction = table->number_or("max_fraction", material.max_fraction);
    material.dilatancy = table->number_or("dilatancy", material.dilatancy);
    material.cohesion = table->number_or("cohesion", material.cohesion);
    material.cohesion_decay = table->number_or("cohesion_decay", material.cohesion_decay);
    material.yield_stress = table->number_or("yield_stress", material.yield_stress);
    material.viscosity = table->number_or("viscosity", material.viscosity);
    constexpr std::array<Transfer, 3> transfers = {Transfer::apic, Transfer::pic, Transfer::flip};
    sand.options.transfer = transfers[table->choice_or("transfer", {"apic", "pic", "flip"}, 0)];
    constexpr std::array<StressSpace, 3> spaces = {StressSpace::nodes, StressSpace::cells,
                                                   StressSpace::particles};
    sand.options.stress = spaces[table->choice_or("stress", {"nodes", "cells", "particles"}, 0)];
    sand.options.particles = static_cast<int>(table->integer_or("particles", sand.options.particles));
    sand.options.resample = table->flag("resample").value_or(sand.options.resample);
    sand.options.courant = table->number_or("courant", sand.options.courant);
    if (reader.plan.world.scene.domain.periodic())
        table->fault("", "sand does not live in a periodic domain yet", "give walls instead of periods");
    if (reader.plan.options.step.scheme != Scheme::look_ahead ||
        reader.plan.options.step.theta.value_or(1) != 1)
        table->fault("", "sand needs the scheme look-ahead with theta = 1",
                     "leave [scheme] name and theta out");
    for (const Table& inner : table->tables("fill"))
        read_sand_fill(reader, inner, read_region(reader, inner), sand);
    table->finish();
}

template void read_sand(SceneReader<2>&, const Table&);
template void read_sand(SceneReader<3>&, const Table&);

}  // namespace drystone
