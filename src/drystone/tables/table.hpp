// A scene file as tables of fields: what was read, where it stood, and everything that is wrong with it.
//
// The TOML library is seen by table.cpp alone. A getter never throws: it notes the fault, with file, line and field,
// and answers with nothing; so one reading finds all faults. Each getter also notes that its field is known, and
// finish() complains of the others. Every field that a getter asks for is described in fields.cpp.
#pragma once

#include "drystone/base/error.hpp"
#include "drystone/base/geometry.hpp"
#include "drystone/fields/fields.hpp"
#include "drystone/fields/suggestion.hpp"

#include <filesystem>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace drystone {

/// A value of the file as plain data.
struct Value {
    enum class Kind : std::uint8_t { number, text, flag, list, table, other };
    Kind kind = Kind::other;
    int line = 0;
    double number = 0;
    bool whole = false;  ///< an integer in the file; `integer` holds it exactly
    std::int64_t integer = 0;
    bool flag = false;
    std::string text;
    std::vector<Value> items;        ///< of a list, or the values of a table's fields
    std::vector<std::string> names;  ///< of a table's fields, sorted

    [[nodiscard]] const Value* find(std::string_view name) const;
};

/// One thing that is wrong with a file, or looks wrong.
struct SceneFault {
    int line = 0;         ///< 0: not known
    std::string field;    ///< "body[3].radius"; may be empty
    std::string message;  ///< what is wrong and what to do
};

/// "file.toml:12: body[3].radius: -1; give a positive length in m"
std::string text_of(const std::filesystem::path& file, const SceneFault& fault);

/// All faults of a file; what() has one per line, in the order of the file's lines.
struct SceneError : Error {
    SceneError(const std::filesystem::path& file, std::vector<SceneFault> all);
    std::vector<SceneFault> faults;
};

/// Everything that is wrong with a file.
class Faults {
public:
    explicit Faults(std::filesystem::path file) : file_(std::move(file)) {}
    /// "file.toml:12: body[3].radius: -1; give a positive length in m"
    void add(int line, const std::string& where, const std::string& what, const std::string& cure);
    /// The same with a message that is already whole. What is longer than a reader would read is cut, and of many
    /// thousand faults the first are told.
    void add(int line, const std::string& where, const std::string& message);
    [[nodiscard]] std::size_t count() const { return count_; }
    /// No more are told: words for them need not be found.
    [[nodiscard]] bool full() const { return count_ >= most_told; }
    static constexpr std::size_t most_told = 1000;
    /// Throws SceneError with all of them, in the order of the file's lines; nothing if there are none.
    void throw_if_any() const;
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

private:
    std::filesystem::path file_;
    std::vector<SceneFault> faults_;
    std::size_t count_ = 0;
};

class Table {
public:
    Table(const Value& value, std::string path, Faults& faults);

    [[nodiscard]] bool has(std::string_view key) const;
    /// Where the table begins.
    [[nodiscard]] int line() const { return value_->line; }
    [[nodiscard]] int line(std::string_view key) const;
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string path(std::string_view key) const;
    /// Notes a fault of the field (or of the table, where the key is empty).
    void fault(std::string_view key, const std::string& what, const std::string& cure) const;
    void fault(std::string_view key, const std::string& message) const;
    [[nodiscard]] std::size_t faults() const { return faults_->count(); }

    // Absent, or faulty and noted: nothing.
    // Numbers in the range that the register has for the field.
    [[nodiscard]] std::optional<double> number(std::string_view key) const { return number(key, range(key)); }
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key) const;
    /// `size` numbers; any number of them if it is 0.
    [[nodiscard]] std::optional<std::vector<double>> numbers(std::string_view key, std::size_t size) const;
    [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view key,
                                                                    std::size_t size) const;
    // The same, and a default where there is none; one that differs from what the register states is noted
    // (wrong_defaults).
    [[nodiscard]] double number_or(std::string_view key, double otherwise) const {
        note_default(key, otherwise);
        return number(key).value_or(otherwise);
    }
    [[nodiscard]] std::int64_t integer_or(std::string_view key, std::int64_t otherwise) const {
        note_default(key, static_cast<double>(otherwise));
        return integer(key).value_or(otherwise);
    }
    /// A number in a range of its own: of a field that may be several things.
    [[nodiscard]] std::optional<double> number(std::string_view key, const Wanted& wanted) const;
    /// What the register says that it must be.
    [[nodiscard]] const Wanted& range(std::string_view key) const;
    [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
    [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view key) const;
    [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
    /// Which of the names it is.
    [[nodiscard]] std::optional<std::size_t> choice(std::string_view key,
                                                    std::span<const std::string_view> names) const;
    [[nodiscard]] std::optional<std::size_t> choice(std::string_view key,
                                                    std::initializer_list<std::string_view> names) const {
        return choice(key, std::span(names.begin(), names.size()));
    }
    [[nodiscard]] std::size_t choice_or(std::string_view key, std::span<const std::string_view> names,
                                        std::size_t otherwise) const {
        note_default(key, names[otherwise]);
        return choice(key, names).value_or(otherwise);
    }
    [[nodiscard]] std::size_t choice_or(std::string_view key, std::initializer_list<std::string_view> names,
                                        std::size_t otherwise) const {
        return choice_or(key, std::span(names.begin(), names.size()), otherwise);
    }
    [[nodiscard]] std::optional<Table> table(std::string_view key) const;
    /// The tables [[key]]; none if it is absent.
    [[nodiscard]] std::vector<Table> tables(std::string_view key) const;
    /// The value itself, for fields of several kinds; nullptr if it is absent.
    [[nodiscard]] const Value* value(std::string_view key) const;
    [[nodiscard]] bool is(std::string_view key, Value::Kind kind) const;

    template <int d>
    [[nodiscard]] std::optional<Vec<d>> vector(std::string_view key) const {
        const auto found = numbers(key, d);
        if (!found) return std::nullopt;
        return Vec<d>(found->data());
    }
    /// Rows of d numbers each.
    template <int d>
    [[nodiscard]] std::optional<std::vector<Vec<d>>> points(std::string_view key) const {
        const auto rows = rows_of(key, range(key), d);
        if (!rows) return std::nullopt;
        std::vector<Vec<d>> found;
        for (const std::vector<double>& row : *rows) found.emplace_back(row.data());
        return found;
    }
    /// Notes a fault if the field is absent, and answers whether it is there.
    bool need(std::string_view key) const { return need(key, range(key).words); }
    bool need(std::string_view key, std::string_view words) const;

    /// Complains of every field that nobody has asked for, with the nearest name of those that there are.
    void finish() const;

private:
    [[nodiscard]] std::optional<std::vector<std::vector<double>>> rows_of(std::string_view key,
                                                                          const Wanted& wanted,
                                                                          std::size_t columns) const;
    [[nodiscard]] bool all_accepted(std::string_view key, const Value& list, const Wanted& wanted,
                                    std::size_t size) const;

    void note_default(std::string_view key, double taken) const;
    void note_default(std::string_view key, std::string_view taken) const;

    /// What to do about a field that there is not.
    [[nodiscard]] std::string cure_for_unknown(const std::string& key) const;
    /// Of the kinds that the register knows, the one that this table says it is.
    [[nodiscard]] std::string_view kind() const;

    const Value* value_;
    std::string path_;
    Faults* faults_;
    const TableText* text_;  ///< of the register; nullptr: not described
    mutable std::set<std::string, std::less<>> known_;
};

/// The text of a file as one table. Throws SceneError (file, line, what) if it is no TOML.
Value read_toml(const std::filesystem::path& file, std::string_view text);
/// One value as TOML writes it; what is no TOML is a text.
Value value_from_text(const std::string& text);

}  // namespace drystone
