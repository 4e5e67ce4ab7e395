// The texts of the register for sand (fields.cpp has the others).
#include "drystone/fields/fields.hpp"

namespace drystone {

std::vector<TableText> tables_of_sand() {
    return {
        {"sand",
         "[sand]",
         "Sand as a continuum: it yields by Drucker and Prager's law, and grains fill at most a given part "
         "of space. It "
         "lives on a grid that is made where it is, and stands in one problem with the bodies of the scene. "
         "On one "
         "rank; not in a periodic domain.",
         {{"cell", 0, "m", required, "width of the grid's cells: one number, or one along each direction",
           want::length},
          {"material", 0, "name", "the only one",
           "a `[[material]]`: its density is that of the grains, and its friction with others that of bodies "
           "in sand"},
          {"friction", 0, "-", "0.5", "shear stress over pressure at which it yields, at rest",
           want::friction},
          {"angle", 0, "degrees", "instead of `friction`", "of internal friction", want::friction_angle},
          {"match", 3, "text", "\"middle\"",
           "where the angle holds: in extension (`\"middle\"`), in compression (`\"circumscribed\"`), or "
           "nowhere more than "
           "that (`\"inscribed\"`)"},
          {"friction_fast", 0, "-", "`friction`", "what friction tends to in fast flow: mu(I)",
           want::friction},
          {"inertial_number", 0, "-", "0.4", "at which friction is half way: I0 of mu(I)", want::factor},
          {"grain_diameter", 0, "m", "1e-3", "for the inertial number", want::length},
          {"max_fraction", 0, "-", "0.6", "of space that grains can fill", want::filling},
          {"dilatancy", 0, "-", "0", "part of the friction by which it opens as it shears", want::fraction},
          {"cohesion", 0, "Pa", "0", "pressure that pulls it together where it is dense",
           want::stress_or_zero},
          {"cohesion_decay", 0, "-", "0", "power of e by which cohesion falls per unit of shear", want::some},
          {"yield_stress", 0, "Pa", "0", "shear stress that it bears without pressure", want::stress_or_zero},
          {"viscosity", 0, "Pa s", "0", "of a stress 2 viscosity D beside the law's, D the strain rate",
           want::some},
          {"transfer", 0, "text", "\"apic\"",
           "how velocities go between particles and the grid: `\"apic\"`, `\"pic\"`, which loses more, "
           "`\"flip\"`, which "
           "keeps noise"},
          {"stress", 0, "text", "\"nodes\"",
           "where stresses are: at `\"nodes\"`, at the corners of each of the `\"cells\"`, or at "
           "`\"particles\"`"},
          {"particles", 0, "-", "3",
           "along each direction of a cell: of what is filled in, and of what splits and merges",
           want::whole(1, 10)},
          {"resample", 0, "flag", "true",
           "particles that are drawn out split, and those that lie together merge"},
          {"courant", 0, "cells", "0.5", "steps are shortened so that no particle moves by more",
           want::some_cells},
          {"fill", 0, "tables", "", "`[[sand.fill]]`"}}},
        {"sand.fill",
         "[[sand.fill]]",
         "Sand that is there at the beginning.",
         {{"region", 0, "table", required, "where: see `region = { ... }`"},
          {"fraction", 0, "-", "max_fraction", "of the region that grains fill", want::filling},
          {"scatter", 0, "spacings", "0", "particles are off their lattice by up to half of this",
           want::fraction},
          {"velocity", 0, "m/s", "[0, ...]", "", want::velocity}}}};
}

}  // namespace drystone
