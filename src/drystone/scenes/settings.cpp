#include "drystone/scenes/settings.hpp"

#include "drystone/base/error.hpp"
#include "drystone/scenes/phases.hpp"
#include "drystone/tables/expressions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace drystone {

namespace {

/// The field of a table; made where it is not there.
Value& field_of(Value& table, const std::string& name) {
    const auto place = std::lower_bound(table.names.begin(), table.names.end(), name);
    const auto k = place - table.names.begin();
    if (place == table.names.end() || *place != name) {
        table.names.insert(place, name);
        table.items.insert(table.items.begin() + k, Value{});
    }
    return table.items[static_cast<std::size_t>(k)];
}

std::string name_in(const Value& table) {
    const Value* name = table.find("name");
    return name != nullptr && name->kind == Value::Kind::text ? name->text : std::string();
}

/// Which of the list's items is meant; notes what hinders.
Value* item_of(Value& list, const std::string& word, const std::string& field, const std::string& list_name,
               Faults& faults) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size()) {
        if (number < list.items.size()) return &list.items[number];
        faults.add(0, field, fmt::format("there are {} of {}", list.items.size(), list_name),
                   "counting starts at 0");
        return nullptr;
    }
    Value* found = nullptr;
    std::vector<std::string> names;
    for (Value& item : list.items) {
        std::string name = name_in(item);
        if (name == word && found != nullptr) {
            faults.add(0, field, fmt::format("several of {} are named \"{}\"", list_name, word),
                       "give the number of one instead of the name");
            return nullptr;
        }
        if (name == word) found = &item;
        if (!name.empty()) names.push_back(std::move(name));
    }
    if (found == nullptr)
        faults.add(0, field, fmt::format("none of {} is named \"{}\"", list_name, word),
                   names.empty() ? std::string("give its number instead") : suggestion(word, names));
    return found;
}

}  // namespace

SceneSetting setting_of(const std::string& text) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
        fail("--set", fmt::format("\"{}\" gives no field a value", text),
             "write FIELD=VALUE, as in --set time.end=3 material.stone.friction=0.4, and the scene before "
             "--set");
    return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::string> words_of(std::string_view field) {
    std::vector<std::string> words(1);
    for (const char c : field) {
        if (c == '.' || c == '[') {
            words.emplace_back();
        } else if (c != ']') {
            words.back() += c;
        }
    }
    return words;
}

void set_value(Value& root, const std::string& field, const Value& value, Faults& faults) {
    constexpr std::size_t most_words = 32;
    const std::vector<std::string> words = words_of(field);
    if (words.size() > most_words ||
        std::any_of(words.begin(), words.end(), [](const auto& w) { return w.empty(); })) {
        faults.add(0, field, "is the name of no field",
                   "write it as in material.stone.friction or body[3].size");
        return;
    }
    if (const Value* let = root.find("let"); words.size() == 2 && words[0] == "let") {
        const std::vector<std::string> names = let == nullptr ? std::vector<std::string>() : let->names;
        if (std::find(names.begin(), names.end(), words[1]) == names.end())
            return faults.add(0, field, "the scene's [let] has no such name",
                              names.empty() ? "it has no [let]" : suggestion(words[1], names));
    }
    Value* at = &root;
    std::string walked;
    for (const std::string& word : words) {
        if (at->kind == Value::Kind::other) at->kind = Value::Kind::table;
        if (at->kind == Value::Kind::list) {
            at = item_of(*at, word, field, walked, faults);
            if (at == nullptr) return;
        } else if (at->kind == Value::Kind::table) {
            at = &field_of(*at, word);
        } else {
            faults.add(0, field, fmt::format("{} has no fields of its own", walked),
                       "leave out what follows it");
            return;
        }
        walked += (walked.empty() ? "" : ".") + word;
    }
    const int line = value.line > 0 ? value.line : at->line;
    *at = value;
    at->line = line;
}

Value values_of(const SceneFiles& files) {
    Value root = read_toml(files.scene, files.text);
    Faults faults(files.scene);
    for (const SceneSetting& setting : files.settings)
        if (setting.phase < 0) set_value(root, setting.field, value_from_text(setting.value), faults);
    for (int phase = 0; phase <= files.phase; ++phase) {
        change_for_phase(root, phase, faults);
        for (const SceneSetting& setting : files.settings)
            if (setting.phase == phase)
                set_value(root, setting.field, value_from_text(setting.value), faults);
    }
    faults.throw_if_any();
    work_out(root, faults);
    faults.throw_if_any();
    return root;
}

}  // namespace drystone
