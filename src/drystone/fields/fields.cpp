// The texts of the register. Add a field here when a reader asks for it; renew docs/scene.md with `drystone fields
// --renew docs/scene.md`.
#include "drystone/fields/fields.hpp"

#include <fmt/format.h>

#include <cmath>

namespace drystone {

namespace {

std::vector<TableText> general_tables() {
    return {
        {"",
         "Top",
         "These stand above the first table.",
         {{"dimension", 0, "-", required, "2 (the plane) or 3 (space)", want::whole(2, 3)},
          {"title", 0, "text", "the file's name", "for people"},
          {"gravity", 0, "m/s^2", "0",
           "a vector; or a table, for gravity that turns: see `gravity = { ... }`", want::acceleration},
          {"seed", 0, "-", "1", "of all random numbers: a whole number", want::whole(0)},
          {"time", 0, "table", "", "`[time]`"},
          {"scheme", 0, "table", "", "`[scheme]`"},
          {"solver", 0, "table", "", "`[solver]`"},
          {"domain", 0, "table", "", "`[domain]`"},
          {"cell", 0, "table", "", "`[cell]`"},
          {"output", 0, "table", "", "`[output]`"},
          {"stop", 0, "table", "", "`[stop]`"},
          {"phase", 0, "tables", "", "`[[phase]]`"},
          {"material", 0, "tables", "", "`[[material]]`"},
          {"pair", 0, "tables", "", "`[[pair]]`"},
          {"shape", 0, "tables", "", "`[[shape]]`"},
          {"box", 0, "table", "", "`[box]`"},
          {"wall", 0, "tables", "", "`[[wall]]`"},
          {"body", 0, "tables", "", "`[[body]]`"},
          {"ring", 2, "tables", "", "`[[ring]]`"},
          {"joint", 0, "tables", "", "`[[joint]]`"},
          {"lattice", 0, "tables", "", "`[[lattice]]`"},
          {"table", 0, "tables", "", "`[[table]]`"},
          {"fill", 0, "tables", "", "`[[fill]]`"},
          {"sand", 0, "table", "", "`[sand]`"},
          {"source", 0, "tables", "", "`[[source]]`"},
          {"sink", 0, "tables", "", "`[[sink]]`"},
          {"measure", 0, "tables", "", "`[[measure]]`"}}},
        {"gravity",
         "gravity = { ... }",
         "Gravity that turns, as seen from a box that is tilted.",
         {{"value", 0, "m/s^2", required, "a vector: gravity at the beginning", want::acceleration},
          {"axis", 3, "-", "required with `rate`", "direction about which gravity turns; of any length",
           want::direction},
          {"rate", 0, "degrees/s", "0", "how fast it turns, counter-clockwise (about the axis)",
           want::turning},
          {"begin", 0, "s", "0", "when it begins to turn", want::interval},
          {"limit", 0, "degrees", "none", "the angle at which it stays", want::angle}}},
        {"time",
         "[time]",
         "",
         {{"step", 0, "s", "1e-3", "length of a step; the longest one where steps adapt", want::duration},
          {"end", 0, "s", "1", "when the run ends", want::interval},
          {"displacement", 0, "inner radii", "0",
           "steps are shortened so that no grain moves by more than this many of its inner radii; 0: all "
           "steps are equal",
           want::radii}}},
        {"scheme",
         "[scheme]",
         "",
         {{"name", 0, "text", "\"look-ahead\"",
           "`\"look-ahead\"`: no overlap at the end of a step, nothing rebounds; `\"moreau-jean\"`: "
           "restitution, small overlaps"},
          {"theta", 0, "-", "1 (moreau-jean: 0.5)", "weight of the end of the step in the motion",
           want::theta},
          {"drift", 0, "text", "\"push-out\"",
           "of an overlap that is there (look-ahead): `\"push-out\"` ends it within the step, `\"clamp\"` "
           "keeps it from growing"},
          {"contacts", 0, "text", "\"rigid\"",
           "`\"elastic\"`: contacts yield by the `stiffness` of their pair, or by the moduli of their "
           "materials "
           "(look-ahead, theta = 1)"},
          {"reach", 0, "inner radii", "0.02", "look-ahead: pairs nearer than this take part",
           want::some_radii},
          {"skin", 0, "inner radii", "0.1",
           "extra distance of the search for neighbours: speed only, not the result", want::some_radii}}},
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
           "residual at which a step counts as solved; 1e-4 leaves nothing to see, 1e-6 gives "
           "forces to four digits",
           want::tolerance},
          {"forces", 0, "text", "\"any\"",
           "where rigid forces are not unique: `\"any\"` that the solver finds, or those of the stiff "
           "`\"elastic-limit\"`, at about the cost of a second solve; also in `[output]`, for frames alone"},
          {"max_sweeps", 0, "-", "by size",
           "sweeps that each stage of `auto` may spend: not given, as many as make 10 million visits of "
           "contacts, at least 3000; of other solvers their iterations",
           want::whole(1, 1e9)},
          {"max_seconds", 0, "s", "none",
           "wall-clock limit of the solve of one step. With a limit, results depend on the machine",
           want::duration}}},
        {"domain",
         "[domain]",
         "Space that repeats itself: what leaves on one side comes in on the other.",
         {{"period", 0, "m", required, "one per direction; 0: not periodic in this direction",
           want::lengths_or_zero},
          {"lower", 0, "m", "zeros", "where the periodic box begins", want::coordinates}}},
        {"cell",
         "[cell]",
         "The periodic box of `[domain]` changes: it grows, shrinks or is sheared at a given rate, or "
         "follows a given stress.",
         {{"rate", 0, "1/s", "0", "relative growth of each period; negative: it shrinks", want::rate},
          {"shear_rate", 0, "1/s", "0",
           "growth of the shear: layers move along x, the more the higher in the last direction", want::rate},
          {"pressure", 0, "Pa (2D: N/m)", "none", "all periods follow this pressure; instead of `stress`",
           want::pressure},
          {"stress", 0, "Pa (2D: N/m)", "none",
           "one per direction, positive in compression: the period follows it; `\"rate\"` where it is the "
           "rate that is kept",
           want::pressure},
          {"shear_stress", 0, "Pa (2D: N/m)", "none",
           "instead of `shear_rate`: the shear follows this stress", want::pressure},
          {"mass", 0, "kg", "that of the grains", "inertia of what follows a stress", want::mass_or_zero}}},
    };
}

std::vector<TableText> outcome_tables() {
    return {
        {"stop",
         "[stop]",
         "Ends the run before `time.end`.",
         {{"kinetic_below", 0, "J", "none", "when the kinetic energy stays below this", want::energy},
          {"calm", 0, "s", "0", "how long it must stay so", want::interval},
          {"steady_window", 0, "s", "none",
           "when nothing has changed from one such window of time to the next", want::duration},
          {"steady_change", 0, "-", "0.01", "relative change that counts as none", want::factor},
          {"earliest", 0, "s", "0", "not before this time", want::interval}}},
        {"phase",
         "[[phase]]",
         "Parts of a run, one after the other, each with changes at its beginning: fill, settle, open the "
         "gate, measure. The "
         "run needs a folder (`--output`).",
         {{"name", 0, "text", required, "for people"},
          {"lasts", 0, "s", required,
           "at most; `[phase.stop]` may end it earlier, as `[stop]` does a run, its `earliest` counted from "
           "the "
           "beginning of the phase",
           want::duration},
          {"stop", 0, "table", "none", "when it ends earlier: see `[stop]`"},
          {"remove", 0, "names", "none", "of walls and bodies that are taken away at its beginning"},
          {"free", 0, "names", "none", "of held bodies that are let go at its beginning"},
          {"set", 0, "table", "none",
           "fields and their values from here on: `set.material.stone.friction = 0.3`, "
           "`set.wall.gate.motion.velocity = [1, 0]`; what the "
           "bodies are made of stays as it is"}}},
        {"output",
         "[output]",
         "Used with `drystone run --output DIR`. Times are of the simulation.",
         {{"frames_every", 0, "s", "0",
           "between frames `DIR/grains_000000.hdf`, ...; the first is the beginning, the last the end. 0: "
           "none",
           want::interval},
          {"measurements_every", 0, "s", "0", "between lines of `DIR/steps.csv`; 0: every step",
           want::interval},
          {"checkpoints_every", 0, "s", "0",
           "between checkpoints; 0: one at the end, and one every 10 minutes of the clock", want::interval},
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
          {"every", 0, "s", "0", "between lines; 0: every step", want::interval},
          {"what", 0, "texts", required,
           "a list of `energy`, `mass`, `velocity`, `temperature`, `packing`, `coordination`, `fabric`, "
           "`stress`, `inertial`, `flux`, `overlap`, `repose`, `runout`, `discharge`, `joint`, `sand`, "
           "`profile`"},
          {"region", 0, "table", "everywhere",
           "`region = { ... }`; required for `packing`, `stress`, `inertial` and `flux` unless the domain is "
           "periodic in all directions"},
          {"width", 0, "m", "2 mean diameters", "of the bins of `profile` and `repose`", want::length}},
         {},
         {},
         "The first line names the columns and their units. Stress is positive in compression; heights are "
         "along the last axis; `profile` has a file `<name>_profile.csv` of its own. What each is exactly is "
         "said in `src/drystone/grains/measure.hpp`, `heap.hpp` and, of sand, `continuum/measure.hpp`."},
    };
}

std::vector<TableText> all_tables() {
    std::vector<TableText> all;
    for (auto part : {general_tables(), tables_of_things(), tables_of_sand(), outcome_tables()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace

std::span<const TableText> table_texts() {
    static const std::vector<TableText> all = all_tables();
    return all;
}

bool Wanted::is_between(double x) const {
    return std::isfinite(x) && (above ? x > least : x >= least) && (below ? x < most : x <= most);
}

bool Wanted::accepts(double x) const { return is_between(x) && !is_beyond(x); }

bool Wanted::is_beyond(double x) const {
    return is_between(x) && (std::abs(x) > huge || (least >= 0 && x != 0 && x < tiny));
}

std::string Wanted::text() const {
    const bool low = std::isfinite(least), high = std::isfinite(most);
    if (low && high && !above && !below) return fmt::format("{:g} to {:g}", least, most);
    const std::string from = low ? fmt::format("{} {:g}", above ? ">" : ">=", least) : "";
    const std::string to = high ? fmt::format("{} {:g}", below ? "<" : "<=", most) : "";
    return from + (low && high ? ", " : "") + to;
}

}  // namespace drystone
