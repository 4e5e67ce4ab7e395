// Bodies of a scene from a table in a file: places, sizes and velocities that another program has made.
#include "drystone/base/error.hpp"
#include "drystone/scenes/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <sstream>

namespace drystone {

namespace {

/// A column of a table of bodies. The values of a body are in the order of the columns of its dimension.
struct BodyColumn {
    std::string_view name;
    int dimension;  ///< where there is one; 0: both
    Wanted range;
    double otherwise;
    bool needed = false;
};
constexpr BodyColumn body_columns[] = {{"x", 0, want::coordinates, 0, true},
                                       {"y", 0, want::coordinates, 0, true},
                                       {"z", 3, want::coordinates, 0, true},
                                       {"vx", 0, want::velocity, 0},
                                       {"vy", 0, want::velocity, 0},
                                       {"vz", 3, want::velocity, 0},
                                       {"angle", 2, want::angle, 0},
                                       {"spin", 2, want::spin, 0},
                                       {"qw", 3, want::quaternion, 1},
                                       {"qx", 3, want::quaternion, 0},
                                       {"qy", 3, want::quaternion, 0},
                                       {"qz", 3, want::quaternion, 0},
                                       {"wx", 3, want::spin, 0},
                                       {"wy", 3, want::spin, 0},
                                       {"wz", 3, want::spin, 0},
                                       {"size", 0, want::factor, 1}};

/// A line of such a table as words.
std::vector<std::string> words_of_line(const std::string& line) {
    std::vector<std::string> words;
    std::istringstream stream(with_spaces(line));
    for (std::string word; stream >> word;) words.push_back(std::move(word));
    return words;
}

/// The bodies of a table, one after the other: its first line names the columns, lines that begin with # are remarks.
template <int d>
class BodyTable {
public:
    BodyTable(const Table& table, std::string name, const std::string& text)
        : table_(table), name_(std::move(name)), lines_(text) {
        // Spreadsheets say first that it is UTF-8.
        if (text.starts_with("\xef\xbb\xbf")) lines_.seekg(3);
        for (const BodyColumn& column : body_columns)
            if (column.dimension == 0 || column.dimension == d) known_.push_back(&column);
        read_heading();
    }

    /// False at the end, and where something is at fault, which is noted then.
    bool next(std::vector<double>& values) {
        std::vector<std::string> words;
        if (faulty_ || !next_line(words)) return false;
        if (words.size() != place_.size()) {
            fault(fmt::format("has {} numbers for {} columns", words.size(), place_.size()),
                  "give one for each");
            return false;
        }
        values.assign(known_.size(), 0);
        for (std::size_t k = 0; k < known_.size(); ++k) values[k] = known_[k]->otherwise;
        for (std::size_t w = 0; w < words.size(); ++w) {
            const BodyColumn& column = *known_[place_[w]];
            double& x = values[place_[w]];
            const auto [end, error] = std::from_chars(words[w].data(), words[w].data() + words[w].size(), x);
            const bool number = error == std::errc() && end == words[w].data() + words[w].size();
            if (!number || !column.range.accepts(x) || column.range.is_beyond(x)) {
                fault(fmt::format("{} is {}", column.name, words[w]),
                      fmt::format("give {}", column.range.words));
                return false;
            }
        }
        if constexpr (d == 3) {
            const double length = Eigen::Vector4d(values[6], values[7], values[8], values[9]).norm();
            if (!(std::abs(length - 1) < 1e-2))
                fault(fmt::format("its quaternion has the length {:.4g}", length),
                      "give qw, qx, qy, qz of length 1");
        }
        return !faulty_;
    }

private:
    void fault(const std::string& what, const std::string& cure) {
        table_.fault("file", fmt::format("{}:{}: {}", name_, line_, what), cure);
        faulty_ = true;
    }

    bool next_line(std::vector<std::string>& words) {
        for (std::string line; std::getline(lines_, line);) {
            ++line_;
            words = words_of_line(line);
            if (!words.empty() && words.front().front() != '#') return true;
        }
        return false;
    }

    void read_heading() {
        std::vector<std::string> words, names;
        for (const BodyColumn* column : known_) names.emplace_back(column->name);
        if (!next_line(words))
            return fault("is empty", fmt::format("name its columns: {}", fmt::join(names, ", ")));
        for (const std::string& word : words) {
            const auto found = std::find(names.begin(), names.end(), word);
            if (found == names.end())
                return fault(fmt::format("there is no column \"{}\" in {}D", word, d),
                             suggestion(word, names));
            const auto place = static_cast<std::size_t>(found - names.begin());
            if (std::find(place_.begin(), place_.end(), place) != place_.end())
                return fault(fmt::format("has two columns \"{}\"", word), "leave one out");
            place_.push_back(place);
        }
        for (std::size_t k = 0; k < known_.size(); ++k)
            if (known_[k]->needed && std::find(place_.begin(), place_.end(), k) == place_.end())
                return fault(fmt::format("has no column \"{}\"", names[k]), "every body has a place");
    }

    const Table& table_;
    std::string name_;
    std::istringstream lines_;
    std::vector<const BodyColumn*> known_;
    std::vector<std::size_t> place_;  // of each column of the file among those that are known
    int line_ = 0;
    bool faulty_ = false;
};

/// The body of a line.
BodyPlan<2> plan_of(const std::vector<double>& v, Vec<2> /*plane*/) {
    BodyPlan<2> body;
    body.pose = {Vec<2>(v[0], v[1]), Rotation<2>{std::numbers::pi / 180 * v[4]}};
    body.velocity = Vec<2>(v[2], v[3]);
    body.spin = Spin<2>(v[5]);
    body.size = v[6];
    return body;
}
BodyPlan<3> plan_of(const std::vector<double>& v, Vec<3> /*space*/) {
    BodyPlan<3> body;
    body.pose.position = Vec<3>(v[0], v[1], v[2]);
    // Tables have few digits.
    body.pose.rotation.q = Eigen::Quaterniond(v[6], v[7], v[8], v[9]).normalized();
    body.velocity = Vec<3>(v[3], v[4], v[5]);
    body.spin = Vec<3>(v[10], v[11], v[12]);
    body.size = v[13];
    return body;
}

template <int d>
void read_body_table(SceneReader<d>& reader, const Table& table) {
    const std::size_t before = table.faults();
    const auto shape = read_shape_field(reader, table);
    const auto material = read_material_field(reader, table);
    table.need("file", "the name of a table with a line for each body");
    const auto name = table.text("file");
    const Motion motion = table.flag("held").value_or(false) ? Motion::held : Motion::free;
    table.finish();
    if (table.faults() != before || !name || !shape || !material) return;
    try {
        BodyTable<d> bodies(table, *name, reader.files->read(*name));
        const Random random(reader.seed);
        for (std::vector<double> values; bodies.next(values);) {
            if (!reader.place) continue;
            BodyPlan<d> body = plan_of(values, Vec<d>());
            auto& scene = reader.plan.world.scene;
            const auto& variant = draw_variant(shape->variants, random, scene.bodies.next_id);
            body.shape = variant.shape;
            body.material = *material;
            body.motion = motion;
            body.pose.position += matrix(body.pose.rotation) * (body.size * variant.pose.position);
            body.pose.rotation = after(body.pose.rotation, variant.pose.rotation);
            body.size *= variant.size;
            scene.add_body(body);
        }
    } catch (const Error& error) {
        table.fault("file", error.what());
    }
}

}  // namespace

template <int d>
void read_body_tables(SceneReader<d>& reader, const Table& root) {
    for (const Table& table : root.tables("table")) {
        note_origin(reader, table);
        read_body_table(reader, table);
    }
}

template void read_body_tables(SceneReader<2>&, const Table&);
template void read_body_tables(SceneReader<3>&, const Table&);

}  // namespace drystone
