// Looking things up in the register of fields, and printing it.
#include "drystone/base/error.hpp"
#include "drystone/fields/fields.hpp"
#include "drystone/fields/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <sstream>

namespace drystone {

namespace {

constexpr std::string_view begin_marker =
    "<!-- fields: written by `drystone fields --renew`, not by hand -->\n";
constexpr std::string_view end_marker = "<!-- end of fields -->\n";

std::string without_indices(std::string_view path) {
    std::string plain;
    bool inside = false;
    for (const char c : path) {
        if (c == '[') inside = true;
        if (!inside) plain += c;
        if (c == ']') inside = false;
    }
    return plain;
}

const TableText* find_exactly(std::string_view path) {
    for (const TableText& table : table_texts()) {
        if (table.path == path) return &table;
    }
    return nullptr;
}

std::string in_dimension(int only) { return only == 0 ? std::string() : fmt::format("{}D", only); }

/// Text in a cell: a bar would end it.
std::string cell(std::string_view text) {
    std::string safe;
    for (const char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c);
    return safe;
}

std::string default_text(std::string_view fallback) {
    // Values as they are typed; words as words.
    const bool value =
        !fallback.empty() && (fallback.front() == '"' || fallback == "true" || fallback == "false");
    return value ? fmt::format("`{}`", fallback) : std::string(fallback);
}

std::string meaning_of(const FieldText& field) {
    if (field.only == 0) return std::string(field.meaning);
    return fmt::format("{}D only{}{}", field.only, field.meaning.empty() ? "" : ": ", field.meaning);
}

/// Tables within the file are told by their headings and need no row.
bool is_listed(const FieldText& field) {
    return !(field.fallback.empty() && field.unit.starts_with("table"));
}

void write_table(std::string& out, const TableText& table) {
    out += fmt::format("## {}\n\n", table.heading);
    if (!table.intro.empty()) out += fmt::format("{}\n\n", table.intro);
    out += "| field | unit | range | default | meaning |\n|---|---|---|---|---|\n";
    for (const FieldText& field : table.fields) {
        if (is_listed(field))
            out +=
                fmt::format("| `{}` | {} | {} | {} | {} |\n", field.key, cell(field.unit), field.range.text(),
                            cell(default_text(field.fallback)), cell(meaning_of(field)));
    }
    out += "\n";
    if (!table.kinds.empty()) {
        out += fmt::format("| `{}` | field | unit | range | default | meaning |\n|---|---|---|---|---|---|\n",
                           table.selector);
        for (const KindText& kind : table.kinds) {
            std::string first = fmt::format("`\"{}\"`", kind.name);
            if (kind.only != 0) first += fmt::format(" ({})", in_dimension(kind.only));
            if (!kind.meaning.empty()) {
                out += fmt::format("| {} | | | | | {} |\n", first, cell(kind.meaning));
                first.clear();
            }
            for (const FieldText& field : kind.fields) {
                out += fmt::format("| {} | `{}` | {} | {} | {} | {} |\n", first, field.key, cell(field.unit),
                                   field.range.text(), cell(default_text(field.fallback)),
                                   cell(meaning_of(field)));
                first.clear();
            }
        }
        out += "\n";
    }
    if (!table.after.empty()) out += fmt::format("{}\n\n", table.after);
}

/// Words broken into lines of at most `width`, the later ones indented.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    std::istringstream words{std::string(text)};
    std::string out, word;
    std::size_t column = indent;
    while (words >> word) {
        if (column > indent && column + 1 + word.size() > width) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
    }
    return out;
}

std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c != '`') out += c;
    }
    return out;
}

void write_lines(std::string& out, std::span<const FieldText> fields, std::size_t margin, std::size_t width) {
    std::size_t key_width = 0;
    for (const FieldText& field : fields) key_width = std::max(key_width, field.key.size());
    for (const FieldText& field : fields) {
        if (!is_listed(field)) continue;
        const std::string range = field.range.text();
        std::string text = fmt::format("[{}{}{}] {}", field.unit, range.empty() ? "" : ", ", range,
                                       plain(meaning_of(field)));
        if (field.fallback == required) {
            text += " (required)";
        } else if (field.fallback.starts_with("or ")) {
            text += fmt::format(" ({} {})", plain(field.fallback), "is given");
        } else if (!field.fallback.empty()) {
            text += fmt::format(" (default: {})", plain(field.fallback));
        }
        out += fmt::format("{}{:<{}}  {}\n", std::string(margin, ' '), field.key, key_width,
                           wrapped(text, width, margin + key_width + 2));
    }
}

struct Undescribed {
    std::mutex mutex;
    std::set<std::string> fields, defaults;
};

Undescribed& undescribed() {
    static Undescribed all;
    return all;
}

}  // namespace

const TableText* find_table_text(std::string_view path) {
    const std::string plain_path = without_indices(path);
    std::string_view rest = plain_path;
    while (true) {
        if (const TableText* found = find_exactly(rest)) return found;
        const std::size_t dot = rest.find('.');
        if (dot == std::string_view::npos) return nullptr;
        rest.remove_prefix(dot + 1);
    }
}

std::vector<const FieldText*> fields_of(const TableText& table, std::string_view kind) {
    std::vector<const FieldText*> found;
    for (const FieldText& field : table.fields) found.push_back(&field);
    const bool known = std::any_of(table.kinds.begin(), table.kinds.end(),
                                   [&](const KindText& k) { return k.name == kind; });
    for (const KindText& each : table.kinds) {
        if (known && each.name != kind) continue;
        for (const FieldText& field : each.fields) found.push_back(&field);
    }
    return found;
}

const FieldText* find_field_text(const TableText& table, std::string_view kind, std::string_view key) {
    // Asked for every field of every table of a scene, of which there may be a million: no list is made.
    const auto find_in = [&](const std::vector<FieldText>& fields) -> const FieldText* {
        const auto found = std::find_if(fields.begin(), fields.end(),
                                        [&](const FieldText& field) { return field.key == key; });
        return found == fields.end() ? nullptr : &*found;
    };
    if (const FieldText* found = find_in(table.fields)) return found;
    const bool known = std::any_of(table.kinds.begin(), table.kinds.end(),
                                   [&](const KindText& k) { return k.name == kind; });
    for (const KindText& each : table.kinds) {
        if (known && each.name != kind) continue;
        if (const FieldText* found = find_in(each.fields)) return found;
    }
    return nullptr;
}

std::string fields_markdown() {
    std::string out;
    for (const TableText& table : table_texts()) write_table(out, table);
    return out;
}

std::string fields_text(std::string_view name, std::size_t width) {
    const TableText* table = find_table_text(name == "top" ? "" : name);
    if (table == nullptr) {
        std::vector<std::string> names;
        for (const TableText& each : table_texts()) names.emplace_back(each.path.empty() ? "top" : each.path);
        fail(std::string(name), "there is no such table", suggestion(name, names));
    }
    std::string out = fmt::format("{}\n", table->heading);
    if (!table->intro.empty()) out += wrapped(plain(table->intro), width, 0) + "\n";
    out += "\n";
    write_lines(out, table->fields, 2, width);
    for (const KindText& kind : table->kinds) {
        const std::string where = kind.only == 0 ? "" : fmt::format(" ({}D)", kind.only);
        const std::string head = fmt::format("{} = \"{}\"{}{}{}", table->selector, kind.name, where,
                                             kind.meaning.empty() ? "" : ": ", plain(kind.meaning));
        out += "\n  " + wrapped(head, width, 2) + "\n";
        write_lines(out, kind.fields, 4, width);
    }
    if (!table->after.empty()) out += "\n" + wrapped(plain(table->after), width, 0) + "\n";
    return out;
}

std::string with_fields(const std::string& document) {
    const std::size_t begin = document.find(begin_marker), end = document.find(end_marker);
    if (begin == std::string::npos || end == std::string::npos || end < begin)
        fail("document", "has no markers",
             fmt::format("put the lines {} and {} where the fields go",
                         begin_marker.substr(0, begin_marker.size() - 1),
                         end_marker.substr(0, end_marker.size() - 1)));
    return document.substr(0, begin + begin_marker.size()) + "\n" + fields_markdown() + document.substr(end);
}

void note_undescribed(std::string_view path, std::string_view key) {
    Undescribed& all = undescribed();
    const std::lock_guard lock(all.mutex);
    const std::string table = without_indices(path);
    all.fields.insert(table.empty() ? std::string(key) : fmt::format("{}.{}", table, key));
}

std::vector<std::string> undescribed_fields() {
    Undescribed& all = undescribed();
    const std::lock_guard lock(all.mutex);
    return {all.fields.begin(), all.fields.end()};
}

void note_wrong_default(std::string_view path, std::string_view key, std::string_view stated,
                        std::string_view taken) {
    Undescribed& all = undescribed();
    const std::lock_guard lock(all.mutex);
    all.defaults.insert(fmt::format("{}.{}: states {}, takes {}", without_indices(path), key, stated, taken));
}

std::vector<std::string> wrong_defaults() {
    Undescribed& all = undescribed();
    const std::lock_guard lock(all.mutex);
    return {all.defaults.begin(), all.defaults.end()};
}

}  // namespace drystone
