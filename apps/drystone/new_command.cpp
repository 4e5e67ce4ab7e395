#include "new_command.hpp"

#include "drystone/base/read_file.hpp"
#include "drystone/fields/fields.hpp"
#include "drystone/fields/suggestion.hpp"
#include "drystone/files/whole_file.hpp"
#include "run.hpp"
#include "templates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace drystone::command {

namespace {

/// The first line of a template is a comment that says what it is.
std::string_view first_line(std::string_view text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    return line.substr(std::min(line.find_first_not_of("# "), line.size()));
}

/// The command of the template's head that draws a frame, with the folder that the user's run writes to.
std::string drawing_line(const Template& from, const std::string& folder) {
    const std::size_t begin = std::min(from.text.find("tools/render"), from.text.size());
    const std::string_view rest = from.text.substr(begin);
    std::istringstream words{std::string(rest.substr(0, rest.find('\n')))};
    std::string line, word;
    // A comment may follow, after more than a space.
    while (words >> word) {
        if (word.starts_with(from.name)) word.replace(0, from.name.size(), folder);
        line += (line.empty() ? "" : " ") + word;
        words.get();
        if (words.peek() == ' ') break;
    }
    return line;
}

std::string read_text(const std::filesystem::path& file) {
    return read_file(file, most_scene_bytes, "give the path of a document");
}

int list_templates() {
    std::size_t width = 0;
    for (const Template& each : templates) width = std::max(width, each.name.size());
    for (const Template& each : templates)
        say(fmt::format("{:<{}}  {}", each.name, width, first_line(each.text)));
    say("");
    say("drystone new NAME writes one of them to NAME.toml, to be changed at will.");
    return exit_solved;
}

}  // namespace

int new_command(const NewOptions& options) {
    if (options.name.empty()) return list_templates();
    const auto found = std::find_if(std::begin(templates), std::end(templates),
                                    [&](const Template& each) { return each.name == options.name; });
    if (found == std::end(templates)) {
        std::vector<std::string> names;
        for (const Template& each : templates) names.emplace_back(each.name);
        throw UsageError(fmt::format("there is no template '{}'; {}", harmless(options.name),
                                     suggestion(options.name, names)));
    }
    const std::string file = options.file.empty() ? options.name + ".toml" : options.file;
    if (!options.force && std::filesystem::exists(file))
        throw UsageError(
            fmt::format("{} exists; give another name, or --force to replace it", harmless(file)));
    write_whole_file(file, {found->text}, false);
    const std::string folder = std::filesystem::path(file).stem().string();
    say(fmt::format("{}: {}", file, first_line(found->text)));
    say(fmt::format("  drystone check {}", shell_word(file)));
    say(fmt::format("  drystone run {} --output {}", shell_word(file), shell_word(folder)));
    say("  " + drawing_line(*found, folder));
    return exit_solved;
}

int fields_command(const FieldsOptions& options) {
    if (!options.renew.empty()) {
        const std::string old = read_text(options.renew), renewed = with_fields(old);
        if (renewed != old) write_whole_file(options.renew, {renewed}, false);
        say(fmt::format("{}: {}", options.renew, renewed == old ? "was up to date" : "renewed"));
    } else if (!options.table.empty()) {
        fmt::print("{}", fields_text(options.table, 100));
    } else {
        fmt::print("{}", fields_markdown());
    }
    return exit_solved;
}

}  // namespace drystone::command
