// The parts of a scene file that say what a run leaves behind: [output] and [[measure]].
#include "drystone/run/measures.hpp"
#include "drystone/scenes/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace drystone {

namespace {

/// The name becomes that of a file in a folder where others stand.
bool good_file_name(const std::string& name) {
    const bool letters = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-';
    });
    return letters && !name.empty() && name.size() <= 100;
}

std::vector<std::string> quantity_names() {
    std::vector<std::string> names;
    for (const MeasureKind<3>& measure : measures<3>()) names.emplace_back(measure.name);
    return names;
}

std::vector<Quantity> read_quantities(const Table& table) {
    const std::vector<std::string> names = quantity_names();
    std::vector<Quantity> what;
    table.need("what", fmt::format("a list of {}", fmt::join(names, ", ")));
    const auto words = table.texts("what");
    if (!words) return what;
    if (words->empty())
        table.fault("what", "is empty", fmt::format("use some of {}", fmt::join(names, ", ")));
    for (const std::string& word : *words) {
        const auto found = std::find(names.begin(), names.end(), word);
        if (found == names.end()) {
            table.fault("what", fmt::format("there is no \"{}\" to be measured", word),
                        suggestion(word, names));
            continue;
        }
        what.push_back(static_cast<Quantity>(found - names.begin()));
    }
    std::sort(what.begin(), what.end());
    what.erase(std::unique(what.begin(), what.end()), what.end());
    return what;
}

/// Some disks do not tell capital letters from small ones.
bool same_file(const std::string& a, const std::string& b) {
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return small(x) == small(y); });
}

template <int d>
void check_measure(const Table& table, const MeasureTable<d>& measure, const RunPlan<d>& plan) {
    const bool has_volume = table.has("region") || (plan.world.scene.domain.period.array() > 0).all();
    for (const Quantity quantity : measure.what) {
        const MeasureKind<d>& row = measure_of<d>(quantity);
        if (row.needs_volume && !has_volume)
            table.fault("region", fmt::format("is missing, and \"{}\" is a mean over a volume", row.name),
                        "give a region, or a domain that is periodic in all directions");
        if (quantity == Quantity::joint && plan.world.scene.joints.empty())
            table.fault("what", "\"joint\" tells the forces of joints, and there is none",
                        "add a [[joint]] or leave it out");
        if (quantity == Quantity::sand && !plan.world.sand.has_grid())
            table.fault("what", "\"sand\" tells of sand, and there is none", "add [sand] or leave it out");
        if (quantity == Quantity::discharge && plan.feeds.sinks.empty())
            table.fault("what", "\"discharge\" counts what sinks take away, and there is none",
                        "add a [[sink]] or leave it out");
    }
    for (const std::string& file : files_of(measure)) {
        if (same_file(file, "steps.csv"))
            table.fault("name",
                        fmt::format("\"{}\" writes {}, and every run writes steps.csv", measure.name, file),
                        "use another name");
        for (const MeasureTable<d>& other : plan.measures)
            for (const std::string& theirs : files_of(other))
                if (same_file(file, theirs))
                    table.fault("name",
                                fmt::format("\"{}\" writes {}, and the measure \"{}\" writes {}",
                                            measure.name, file, other.name, theirs),
                                "give each file a name of its own");
    }
}

}  // namespace

void read_output(const Table& root, OutputPlan& output) {
    const auto table = root.table("output");
    if (!table) return;
    output.frames_every = table->number_or("frames_every", 0);
    output.measurements_every = table->number_or("measurements_every", 0);
    output.checkpoints_every = table->number_or("checkpoints_every", 0);
    output.elastic_limit = table->choice_or("forces", force_names, 0) == 1;
    table->finish();
}

template <int d>
void read_measures(SceneReader<d>& reader, const Table& root) {
    for (const Table& table : root.tables("measure")) {
        const std::size_t before = table.faults();
        MeasureTable<d> measure;
        table.need("name", "the name of the file, without .csv");
        if (const auto name = table.text("name")) {
            measure.name = *name;
            if (!good_file_name(*name))
                table.fault("name", fmt::format("\"{}\" is not a name for a file", *name),
                            "use letters, digits, - and _");
        }
        measure.every = table.number_or("every", 0);
        measure.width = table.number_or("width", 0);
        measure.what = read_quantities(table);
        if (table.has("region")) measure.region = read_region(reader, table);
        if (table.faults() == before) check_measure(table, measure, reader.plan);
        table.finish();
        if (table.faults() == before) reader.plan.measures.push_back(std::move(measure));
    }
}

template void read_measures(SceneReader<2>&, const Table&);
template void read_measures(SceneReader<3>&, const Table&);

}  // namespace drystone
