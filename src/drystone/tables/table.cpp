#include "drystone/tables/table.hpp"

#include "drystone/base/edit_distance.hpp"
#include "drystone/tables/nesting.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

namespace drystone {

namespace {

Value value_of(const toml::node& node) {
    Value value;
    value.line = static_cast<int>(node.source().begin.line);
    if (const auto* integer = node.as_integer()) {
        value.kind = Value::Kind::number;
        value.whole = true;
        value.integer = integer->get();
        value.number = static_cast<double>(integer->get());
    } else if (const auto* real = node.as_floating_point()) {
        value.kind = Value::Kind::number;
        value.number = real->get();
    } else if (const auto* text = node.as_string()) {
        value.kind = Value::Kind::text;
        value.text = text->get();
    } else if (const auto* flag = node.as_boolean()) {
        value.kind = Value::Kind::flag;
        value.flag = flag->get();
    } else if (const auto* list = node.as_array()) {
        value.kind = Value::Kind::list;
        value.items.reserve(list->size());
        for (const toml::node& item : *list) value.items.push_back(value_of(item));
    } else if (const auto* table = node.as_table()) {
        value.kind = Value::Kind::table;
        for (const auto& [key, item] : *table) {
            value.names.emplace_back(key.str());
            value.items.push_back(value_of(item));
        }
    }
    return value;
}

/// Of what stands in no file.
void forget_lines(Value& value) {
    value.line = 0;
    for (Value& item : value.items) forget_lines(item);
}

/// The beginning of a text that is longer than so many bytes.
std::string cut(const std::string& text, std::size_t most) {
    return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// As the user wrote it, or nearly; long texts and lists are cut.
std::string shown(const Value& value) {
    switch (value.kind) {
        case Value::Kind::number:
            return value.whole ? fmt::format("{}", value.integer) : fmt::format("{}", value.number);
        case Value::Kind::text:
            return fmt::format("\"{}\"", cut(value.text, 100));
        case Value::Kind::flag:
            return value.flag ? "true" : "false";
        case Value::Kind::list: {
            std::string text = "[";
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                if (i == 6) return text + ", ...]";
                text += (i == 0 ? "" : ", ") + shown(value.items[i]);
            }
            return text + "]";
        }
        case Value::Kind::table:
            return "a table";
        case Value::Kind::other:
            break;
    }
    return "a date or time";
}

std::string counted(std::size_t size) {
    return size == 0 ? std::string("a list of numbers") : fmt::format("{} numbers", size);
}

/// What is to be said where a number, or one of a list, is tiny or huge.
std::string range_of(const Wanted& wanted, const Value& value) {
    const bool here = value.kind == Value::Kind::number && wanted.is_beyond(value.number);
    const bool within = std::any_of(value.items.begin(), value.items.end(), [&](const Value& item) {
        return item.kind == Value::Kind::number && wanted.is_beyond(item.number);
    });
    if (!here && !within) return {};
    return wanted.least >= 0 ? fmt::format(", from {:g} to {:g}", wanted.tiny, wanted.huge)
                             : fmt::format(", at most {:g}", wanted.huge);
}

std::vector<SceneFault> by_line(std::vector<SceneFault> faults) {
    std::stable_sort(faults.begin(), faults.end(),
                     [](const SceneFault& a, const SceneFault& b) { return a.line < b.line; });
    return faults;
}

std::string lines_of(const std::filesystem::path& file, const std::vector<SceneFault>& faults) {
    std::string text;
    for (const SceneFault& fault : faults) text += (text.empty() ? "" : "\n") + text_of(file, fault);
    return text;
}

}  // namespace

std::string text_of(const std::filesystem::path& file, const SceneFault& fault) {
    const std::string place =
        fault.line > 0 ? fmt::format("{}:{}", file.string(), fault.line) : file.string();
    return harmless(
        fmt::format("{}: {}{}{}", place, fault.field, fault.field.empty() ? "" : ": ", fault.message));
}

SceneError::SceneError(const std::filesystem::path& file, std::vector<SceneFault> all)
    : Error(lines_of(file, by_line(all))), faults(by_line(std::move(all))) {}

const Value* Value::find(std::string_view name) const {
    const auto place = std::lower_bound(names.begin(), names.end(), name);
    if (place == names.end() || *place != name) return nullptr;
    return &items[static_cast<std::size_t>(place - names.begin())];
}

void Faults::add(int line, const std::string& where, const std::string& what, const std::string& cure) {
    add(line, where, what + "; " + cure);
}

void Faults::add(int line, const std::string& where, const std::string& message) {
    constexpr std::size_t most_letters = 1000;
    if (++count_ <= most_told)
        faults_.push_back({line, cut(where, most_letters), cut(message, most_letters)});
}

void Faults::throw_if_any() const {
    if (faults_.empty()) return;
    std::vector<SceneFault> told = faults_;
    if (count_ > told.size())
        told.push_back({0, "", fmt::format("it has {} faults; these are the first {}", count_, told.size())});
    throw SceneError(file_, std::move(told));
}

namespace {

/// A range of whole numbers, exact at its ends.
struct Wholes {
    explicit Wholes(const Wanted& range)
        : least(static_cast<std::int64_t>(range.least)),
          most(range.most < 9e18 ? static_cast<std::int64_t>(range.most)
                                 : std::numeric_limits<std::int64_t>::max()) {}
    std::int64_t least, most;

    [[nodiscard]] bool accept(std::int64_t x) const { return x >= least && x <= most; }
    [[nodiscard]] std::string words() const {
        return most < std::numeric_limits<std::int64_t>::max() ? fmt::format("from {} to {}", least, most)
                                                               : fmt::format("from {} on", least);
    }
};

}  // namespace

Table::Table(const Value& value, std::string path, Faults& faults)
    : value_(&value), path_(std::move(path)), faults_(&faults), text_(find_table_text(path_)) {}

std::string_view Table::kind() const {
    if (text_ == nullptr || text_->selector.empty()) return {};
    const Value* selector = value_->find(text_->selector);
    return selector == nullptr ? std::string_view() : std::string_view(selector->text);
}

std::string Table::path(std::string_view key) const {
    if (key.empty()) return path_;
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

int Table::line(std::string_view key) const {
    const Value* found = key.empty() ? nullptr : value_->find(key);
    return found != nullptr && found->line > 0 ? found->line : value_->line;
}

void Table::fault(std::string_view key, const std::string& what, const std::string& cure) const {
    faults_->add(line(key), path(key), what, cure);
}

void Table::fault(std::string_view key, const std::string& message) const {
    faults_->add(line(key), path(key), message);
}

const Value* Table::value(std::string_view key) const {
    const bool first = known_.emplace(key).second;
    if (first && (text_ == nullptr || find_field_text(*text_, kind(), key) == nullptr))
        note_undescribed(path_, key);
    return value_->find(key);
}

const Wanted& Table::range(std::string_view key) const {
    static const Wanted anything{"a number"};  // where the register lacks the field, which value() notes
    const FieldText* field = text_ == nullptr ? nullptr : find_field_text(*text_, kind(), key);
    return field == nullptr ? anything : field->range;
}

void Table::note_default(std::string_view key, double taken) const {
    const FieldText* field = text_ == nullptr ? nullptr : find_field_text(*text_, kind(), key);
    if (field == nullptr) return;
    double stated = 0;
    const std::string_view text = field->fallback;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), stated);
    const bool number = read.ec == std::errc() && read.ptr == text.data() + text.size();
    if (number && stated != taken) note_wrong_default(path_, key, text, fmt::format("{}", taken));
}

void Table::note_default(std::string_view key, std::string_view taken) const {
    const FieldText* field = text_ == nullptr ? nullptr : find_field_text(*text_, kind(), key);
    if (field == nullptr || !field->fallback.starts_with('"')) return;
    const std::string words = fmt::format("\"{}\"", taken);
    if (field->fallback != words) note_wrong_default(path_, key, field->fallback, words);
}

bool Table::has(std::string_view key) const { return value(key) != nullptr; }

bool Table::is(std::string_view key, Value::Kind kind) const {
    const Value* found = value(key);
    return found != nullptr && found->kind == kind;
}

bool Table::need(std::string_view key, std::string_view words) const {
    if (has(key)) return true;
    fault(key, "is missing", fmt::format("give {}", words));
    return false;
}

std::optional<double> Table::number(std::string_view key, const Wanted& wanted) const {
    const Value* found = value(key);
    if (found == nullptr) return std::nullopt;
    if (found->kind == Value::Kind::number && wanted.accepts(found->number)) return found->number;
    fault(key, shown(*found), fmt::format("give {}{}", wanted.words, range_of(wanted, *found)));
    return std::nullopt;
}

std::optional<std::int64_t> Table::integer(std::string_view key) const {
    const Value* found = value(key);
    if (found == nullptr) return std::nullopt;
    const Wholes wholes(range(key));
    if (found->whole && wholes.accept(found->integer)) return found->integer;
    const bool point =
        found->kind == Value::Kind::number && !found->whole && found->number == std::floor(found->number);
    fault(key, shown(*found) + (point ? ".0" : ""),
          fmt::format("give a whole number {}{}", wholes.words(), point ? ", without a point" : ""));
    return std::nullopt;
}

bool Table::all_accepted(std::string_view key, const Value& list, const Wanted& wanted,
                         std::size_t size) const {
    bool good =
        list.kind == Value::Kind::list && (size == 0 ? !list.items.empty() : list.items.size() == size);
    for (const Value& item : list.items)
        good = good && item.kind == Value::Kind::number && wanted.accepts(item.number);
    if (!good)
        fault(key, shown(list),
              fmt::format("give {}, {}{}", counted(size), wanted.words, range_of(wanted, list)));
    return good;
}

std::optional<std::vector<double>> Table::numbers(std::string_view key, std::size_t size) const {
    const Value* found = value(key);
    if (found == nullptr || !all_accepted(key, *found, range(key), size)) return std::nullopt;
    std::vector<double> answer;
    for (const Value& item : found->items) answer.push_back(item.number);
    return answer;
}

std::optional<std::vector<std::int64_t>> Table::integers(std::string_view key, std::size_t size) const {
    const Value* found = value(key);
    if (found == nullptr) return std::nullopt;
    const Wholes wholes(range(key));
    std::vector<std::int64_t> answer;
    for (const Value& item : found->items) {
        if (item.whole && wholes.accept(item.integer)) answer.push_back(item.integer);
    }
    if (answer.size() == size && found->items.size() == size) return answer;
    fault(key, shown(*found), fmt::format("give {} whole numbers {}", size, wholes.words()));
    return std::nullopt;
}

std::optional<std::vector<std::vector<double>>> Table::rows_of(std::string_view key, const Wanted& wanted,
                                                               std::size_t columns) const {
    const Value* found = value(key);
    if (found == nullptr) return std::nullopt;
    std::vector<std::vector<double>> rows;
    for (const Value& row : found->items) {
        std::vector<double> numbers;
        for (const Value& item : row.items) {
            if (item.kind == Value::Kind::number && wanted.accepts(item.number))
                numbers.push_back(item.number);
        }
        if (numbers.size() != columns || row.items.size() != columns) {
            faults_->add(row.line, fmt::format("{}[{}]", path(key), rows.size()), shown(row),
                         fmt::format("give {} numbers, {}{}", columns, wanted.words, range_of(wanted, row)));
            return std::nullopt;
        }
        rows.push_back(std::move(numbers));
    }
    if (!rows.empty()) return rows;
    fault(key, shown(*found), fmt::format("give a list of points, {} numbers each", columns));
    return std::nullopt;
}

std::optional<std::string> Table::text(std::string_view key) const {
    const Value* found = value(key);
    if (found == nullptr) return std::nullopt;
    constexpr std::size_t most = 4096;  // as long as a path may be
    if (found->kind == Value::Kind::text && !found->text.empty() && found->text.size() <= most)
        return found->text;
    fault(key, shown(*found),
          found->text.size() > most ? fmt::format("give a text of at most {} bytes", most)
                                    : std::string("give a text in quotes"));
    return std::nullopt;
}

std::optional<std::vector<std::string>> Table::texts(std::string_view key) const {
    const Value* found = value(key);
    if (found == nullptr) return std::nullopt;
    std::vector<std::string> answer;
    for (const Value& item : found->items) {
        if (item.kind == Value::Kind::text) answer.push_back(item.text);
    }
    if (found->kind == Value::Kind::list && answer.size() == found->items.size()) return answer;
    fault(key, shown(*found), "give a list of texts in quotes");
    return std::nullopt;
}

std::optional<bool> Table::flag(std::string_view key) const {
    const Value* found = value(key);
    if (found == nullptr) return std::nullopt;
    if (found->kind == Value::Kind::flag) return found->flag;
    fault(key, shown(*found), "give true or false");
    return std::nullopt;
}

std::optional<std::size_t> Table::choice(std::string_view key,
                                         std::span<const std::string_view> names) const {
    const Value* found = value(key);
    if (found == nullptr) return std::nullopt;
    const auto place = std::find(names.begin(), names.end(), found->text);
    if (found->kind == Value::Kind::text && place != names.end())
        return static_cast<std::size_t>(place - names.begin());
    const std::vector<std::string> all(names.begin(), names.end());
    fault(key, shown(*found), suggestion(found->text, all));
    return std::nullopt;
}

std::optional<Table> Table::table(std::string_view key) const {
    const Value* found = value(key);
    if (found == nullptr) return std::nullopt;
    if (found->kind == Value::Kind::table) return Table(*found, path(key), *faults_);
    const bool several = found->kind == Value::Kind::list && !found->items.empty();
    fault(key, several ? "is given several times" : shown(*found),
          fmt::format("give one table [{}]", path(key)));
    return std::nullopt;
}

std::vector<Table> Table::tables(std::string_view key) const {
    const Value* found = value(key);
    if (found == nullptr) return {};
    std::vector<Table> answer;
    for (const Value& item : found->items) {
        if (item.kind == Value::Kind::table)
            answer.emplace_back(item, fmt::format("{}[{}]", path(key), answer.size()), *faults_);
    }
    if (found->kind == Value::Kind::list && answer.size() == found->items.size()) return answer;
    fault(key, found->kind == Value::Kind::table ? "stands in single brackets" : shown(*found),
          fmt::format("give tables [[{}]], one for each", path(key)));
    return {};
}

std::string Table::cure_for_unknown(const std::string& key) const {
    std::set<std::string> names(known_.begin(), known_.end());
    if (text_ != nullptr) {
        for (const FieldText* field : fields_of(*text_, kind())) {
            // Those of one dimension only are known where they were asked for.
            if (field->only == 0) names.emplace(field->key);
            if (field->key == key && field->only != 0) return fmt::format("it belongs to {}D", field->only);
        }
    }
    const std::string cure = suggestion(key, std::vector<std::string>(names.begin(), names.end()));
    if (cure.starts_with("did you mean")) return cure;
    for (const TableText& other : table_texts()) {
        if (!other.heading.starts_with('[')) continue;
        const bool there = std::any_of(other.fields.begin(), other.fields.end(),
                                       [&](const FieldText& field) { return field.key == key; });
        if (there) return fmt::format("did you mean the one of {}?", other.heading);
    }
    return cure;
}

void Table::finish() const {
    for (std::size_t k = 0; k < value_->names.size(); ++k) {
        const std::string& key = value_->names[k];
        if (!known_.contains(key))
            faults_->add(value_->items[k].line, path(key), "there is no such field",
                         faults_->full() ? std::string() : cure_for_unknown(key));
    }
}

Value read_toml(const std::filesystem::path& file, std::string_view text) {
    if (const auto deep = find_deep_nesting(text)) throw SceneError(file, {*deep});
    try {
        return value_of(toml::parse(text, file.string()));
    } catch (const toml::parse_error& error) {
        const int line = static_cast<int>(error.source().begin.line);
        throw SceneError(file,
                         {{line, "", fmt::format("{}; write it as TOML (toml.io)", error.description())}});
    }
}

Value value_from_text(const std::string& text) {
    Value plain;
    plain.kind = Value::Kind::text;
    plain.text = text;
    // As the field of a table, and of one with nothing else in it.
    const std::string document = "x = " + text;
    if (find_deep_nesting(document)) return plain;
    try {
        Value table = value_of(toml::parse(document));
        if (table.items.size() != 1) return plain;
        forget_lines(table);
        return std::move(table.items[0]);
    } catch (const toml::parse_error&) {
        return plain;
    }
}

}  // namespace drystone
