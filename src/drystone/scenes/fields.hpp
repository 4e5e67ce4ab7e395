// The register of all fields of a scene file: what each is called, its unit, its default and its meaning.
//
// It is the one description that there is: `drystone fields` and docs/scene.md are printed from it, unknown fields get the nearest name
// of it, and a getter that asks for a field that is not in it is noted (tests/scenes/fields.cpp then fails).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drystone {

struct FieldText {
    std::string_view key;
    int only = 0;               ///< 2 or 3: there is no such field in the other dimension
    std::string_view unit;      ///< "m"; "-" for a number without; or what it is: text, name, flag, table
    std::string_view fallback;  ///< what holds where it is not given; "required"
    std::string_view meaning;
};

/// One of the kinds a table can be of, by its field `TableText::selector`: a type of shape, a law of sizes.
struct KindText {
    std::string_view name;
    int only = 0;
    std::string_view meaning;
    std::vector<FieldText> fields;
};

struct TableText {
    std::string_view
        path;  ///< without indices: "", "time", "body"; "motion" for the ones of bodies and of walls
    std::string_view heading;  ///< as it stands in the file: "[time]", "[[body]]", "motion = { ... }"
    std::string_view intro;
    std::vector<FieldText> fields;
    std::string_view selector = {};  ///< the field that says the kind; empty: there are no kinds
    std::vector<KindText> kinds = {};
    std::string_view after = {};  ///< what there is to say when the fields are known
};

/// In the order of the reference.
std::span<const TableText> table_texts();
/// The text of a table, by its path with or without indices: the longest end of it that is described, so that "body[3].shape" is
/// "shape". nullptr if there is none.
const TableText* find_table_text(std::string_view path);
/// nullptr if it is not described. `kind`: the value of the selector, or empty; an unknown kind has the fields of all kinds.
const FieldText* find_field_text(const TableText& table, std::string_view kind, std::string_view key);
/// Keys of a table of this kind, of all dimensions.
std::vector<const FieldText*> fields_of(const TableText& table, std::string_view kind);

/// The reference of all fields, in Markdown.
std::string fields_markdown();
/// One table for a terminal, `width` letters wide. Throws Error with the nearest name if there is none.
std::string fields_text(std::string_view table, std::size_t width);
/// The document with what stands between its markers replaced by fields_markdown(). Throws Error if it has no markers.
std::string with_fields(const std::string& document);

/// Fields that a getter has asked for and that nobody has described, as "table.key", since the program began. For tests.
std::vector<std::string> undescribed_fields();
void note_undescribed(std::string_view path, std::string_view key);

}  // namespace drystone
