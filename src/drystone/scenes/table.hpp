// A scene file as tables of fields: what was read, where it stood, and everything that is wrong with it.
//
// The TOML library is seen by table.cpp alone. A getter never throws: it notes the fault, with file, line and field, and answers
// with nothing; so one reading finds all faults. Each getter also notes that its field is known, and finish() complains of the others.
// Every field that a getter asks for is described in fields.cpp.
#pragma once

#include "drystone/base/error.hpp"
#include "drystone/base/geometry.hpp"
#include "drystone/scenes/fields.hpp"

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
    /// The same with a message that is already whole. What is longer than a reader would read is cut, and of many thousand faults the first are told.
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

/// What a number must be, in the words of the message: "give <words>".
struct Wanted {
    std::string_view words;
    double least = -std::numeric_limits<double>::infinity();
    bool above = false;  ///< `least` itself is not allowed
    double most = std::numeric_limits<double>::infinity();
    /// What no grain has in any unit, but what a slip of the pen or ill will can write: products of a few such numbers (masses, energies,
    /// compliances 1 / (h^2 k)) would leave the range of doubles. `tiny` is for what cannot be negative; 0 is another matter.
    double tiny = 1e-30, huge = 1e30;

    /// False for numbers that are not finite, whatever is wanted.
    [[nodiscard]] bool accepts(double x) const;
    /// True if nothing is wrong with it but that it is tiny or huge.
    [[nodiscard]] bool is_beyond(double x) const;
};

namespace want {
inline constexpr Wanted length{"a positive length in m", 0, true};
inline constexpr Wanted lengths{"positive lengths in m", 0, true};
inline constexpr Wanted length_or_zero{"a length in m, 0 or more", 0};
inline constexpr Wanted lengths_or_zero{"lengths in m, 0 or more", 0};
inline constexpr Wanted coordinates{"coordinates in m"};
inline constexpr Wanted distance{"a distance in m"};
inline constexpr Wanted velocity{"a velocity in m/s"};
inline constexpr Wanted speed{"a speed in m/s, 0 or more", 0};
inline constexpr Wanted spin{"a spin in rad/s"};
inline constexpr Wanted angle{"an angle in degrees"};
inline constexpr Wanted direction{"a direction"};
inline constexpr double any = std::numeric_limits<double>::infinity();
inline constexpr Wanted mass{"a positive mass in kg", 0, true, any, 1e-100, 1e100};
inline constexpr Wanted density{"a positive density in kg/m^3 (2D: kg/m^2)", 0, true};
inline constexpr Wanted factor{"a positive factor", 0, true};
inline constexpr Wanted friction{"a coefficient of friction, 0 or more", 0};
inline constexpr Wanted rolling{"a length in m, 0 or more", 0, false, any, 1e-30, 1e6};
inline constexpr Wanted restitution{"a coefficient of restitution from 0 to 1", 0, false, 1};
inline constexpr Wanted cohesion{"a force in N, 0 or more", 0};
inline constexpr Wanted duration{"a positive time in s", 0, true};
inline constexpr Wanted interval{"a time in s, 0 or more", 0};
inline constexpr Wanted acceleration{"an acceleration in m/s^2"};
inline constexpr Wanted radii{"a number of radii, 0 or more", 0};
inline constexpr Wanted fraction{"a number from 0 to 1", 0, false, 1};
}  // namespace want

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
    [[nodiscard]] std::optional<double> number(std::string_view key, const Wanted& wanted) const;
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t least,
                                                      std::int64_t most) const;
    /// `size` numbers; any number of them if it is 0.
    [[nodiscard]] std::optional<std::vector<double>> numbers(std::string_view key, const Wanted& wanted,
                                                             std::size_t size) const;
    [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::int64_t least,
                                                                    std::int64_t most,
                                                                    std::size_t size) const;
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
    [[nodiscard]] std::optional<Table> table(std::string_view key) const;
    /// The tables [[key]]; none if it is absent.
    [[nodiscard]] std::vector<Table> tables(std::string_view key) const;
    /// The value itself, for fields of several kinds; nullptr if it is absent.
    [[nodiscard]] const Value* value(std::string_view key) const;
    [[nodiscard]] bool is(std::string_view key, Value::Kind kind) const;

    template <int d>
    [[nodiscard]] std::optional<Vec<d>> vector(std::string_view key, const Wanted& wanted) const {
        const auto found = numbers(key, wanted, d);
        if (!found) return std::nullopt;
        return Vec<d>(found->data());
    }
    /// Rows of d numbers each.
    template <int d>
    [[nodiscard]] std::optional<std::vector<Vec<d>>> points(std::string_view key,
                                                            const Wanted& wanted) const {
        const auto rows = rows_of(key, wanted, d);
        if (!rows) return std::nullopt;
        std::vector<Vec<d>> found;
        for (const std::vector<double>& row : *rows) found.emplace_back(row.data());
        return found;
    }
    /// Notes a fault if the field is absent, and answers whether it is there.
    bool need(std::string_view key, const Wanted& wanted) const { return need(key, wanted.words); }
    bool need(std::string_view key, std::string_view words) const;

    /// Complains of every field that nobody has asked for, with the nearest name of those that there are.
    void finish() const;

private:
    [[nodiscard]] std::optional<std::vector<std::vector<double>>> rows_of(std::string_view key,
                                                                          const Wanted& wanted,
                                                                          std::size_t columns) const;
    [[nodiscard]] bool all_accepted(std::string_view key, const Value& list, const Wanted& wanted,
                                    std::size_t size) const;

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

/// The name most like the typed one: fewest letters to change, or one of which it is a part; empty if there are no names.
std::string nearest_name(std::string_view typed, std::span<const std::string> names);
/// "did you mean 'x'?" where a name is near, and otherwise "use one of a, b, c".
std::string suggestion(std::string_view typed, std::span<const std::string> names);

}  // namespace drystone
