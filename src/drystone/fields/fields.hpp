// The register of all fields of a scene file: what each is called, its unit, its default, its range and its meaning.
//
// It is the one description that there is: the reader takes the range from it, `drystone fields` and docs/scene.md are
// printed from it, unknown fields get the nearest name of it, and a getter that asks for a field that is not in it is
// noted (tests/fields/fields.cpp then fails).
#pragma once

#include "drystone/base/types.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drystone {

/// The largest tolerance of a run: the worst contact may miss by 20 times as much (eq. 14), and by 0.05 that bound
/// would allow anything.
inline constexpr double loosest_tolerance = 0.01;

/// The default of a field that has none.
inline constexpr std::string_view required = "required";

/// What a number must be, in the words of the message: "give <words>".
struct Wanted {
    std::string_view words;
    double least = -infinity;
    bool above = false;  ///< `least` itself is not allowed
    double most = infinity;
    /// What no grain has in any unit, but what a slip of the pen or ill will can write: products of a few such numbers
    /// (masses, energies, compliances 1 / (h^2 k)) would leave the range of doubles. `tiny` is for what cannot be
    /// negative; 0 is another matter.
    double tiny = 1e-30, huge = 1e30;
    bool below = false;  ///< `most` itself is not allowed

    /// False for numbers that are not finite, whatever is wanted.
    [[nodiscard]] bool accepts(double x) const;
    /// True if nothing is wrong with it but that it is tiny or huge.
    [[nodiscard]] bool is_beyond(double x) const;
    /// "0 to 1", "> 0, <= 0.01"; nothing where any number will do.
    [[nodiscard]] std::string text() const;

private:
    [[nodiscard]] bool is_between(double x) const;
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
inline constexpr double any = infinity;
inline constexpr Wanted mass{"a positive mass in kg", 0, true, any, 1e-100, 1e100};
inline constexpr Wanted density{"a positive density in kg/m^3 (2D: kg/m^2)", 0, true};
inline constexpr Wanted factor{"a positive factor", 0, true};
inline constexpr Wanted friction{"a coefficient of friction, 0 or more", 0};
inline constexpr Wanted rolling{"a length in m from 0 to 1e6", 0, false, 1e6};
inline constexpr Wanted restitution{"a coefficient of restitution from 0 to 1", 0, false, 1};
inline constexpr Wanted cohesion{"a force in N, 0 or more", 0};
inline constexpr Wanted duration{"a positive time in s", 0, true};
inline constexpr Wanted interval{"a time in s, 0 or more", 0};
inline constexpr Wanted acceleration{"an acceleration in m/s^2"};
inline constexpr Wanted radii{"a number of radii, 0 or more", 0};
inline constexpr Wanted fraction{"a number from 0 to 1", 0, false, 1};
inline constexpr Wanted moments{"positive moments of inertia in kg m^2", 0, true, any, 1e-100, 1e100};
inline constexpr Wanted quaternion{"w, x, y, z of a quaternion of length 1"};
inline constexpr Wanted shares{"shares of the grains below each size, from 0 to 1", 0, false, 1};
inline constexpr Wanted packing{"a packing fraction above 0, below 1", 0, true, 1, 1e-30, 1e30, true};
inline constexpr Wanted grains_per_second{"a positive number of grains per s", 0, true};
inline constexpr Wanted mass_per_second{"a positive mass per time in kg/s", 0, true};
inline constexpr Wanted energy{"a positive energy in J", 0, true, any, 1e-100, 1e100};
inline constexpr Wanted stiffness{"a positive stiffness in N/m", 0, true};
inline constexpr Wanted stiffness_or_zero{"a stiffness in N/m, 0 or more", 0};
inline constexpr Wanted damping{"a damping in kg/s, 0 or more", 0};
inline constexpr Wanted dry_friction{"a force in N (hinge: a torque in N m), 0 or more", 0};
inline constexpr Wanted effort{"a force in N (hinge: a torque in N m)"};
inline constexpr Wanted motor_speed{"a speed in m/s (hinge: a spin in rad/s)"};
inline constexpr Wanted modulus{"a positive modulus in Pa", 0, true};
inline constexpr Wanted poisson{"a Poisson's ratio above -1, at most 0.5", -1, true, 0.5};
inline constexpr Wanted frequency{"a frequency in Hz, 0 or more", 0};
inline constexpr Wanted factors{"factors"};
inline constexpr Wanted times{"times in s"};
inline constexpr Wanted force{"a force in N"};
inline constexpr Wanted pressure{"a pressure in Pa (2D: N/m)"};
inline constexpr Wanted area{"a positive area in m^2 (2D: a length in m)", 0, true};
inline constexpr Wanted rate{"a rate in 1/s"};
inline constexpr Wanted turning{"degrees per second"};
inline constexpr Wanted mass_or_zero{"a mass in kg, 0 or more", 0};
inline constexpr Wanted theta{"a weight above 0, at most 1", 0, true, 1};
inline constexpr Wanted some_radii{"a number of radii from 0 to 1000", 0, false, 1000};
inline constexpr Wanted tolerance{"a positive number, at most 0.01; 1e-4 is usual", 0, true,
                                  loosest_tolerance};
inline constexpr Wanted friction_angle{
    "an angle from 0 to below 90 degrees", 0, false, 90, 1e-30, 1e30, true};
inline constexpr Wanted filling{"a part of space above 0, at most 1", 0, true, 1};
inline constexpr Wanted stress_or_zero{"a stress in Pa, 0 or more", 0};
inline constexpr Wanted some{"a number, 0 or more", 0};
inline constexpr Wanted some_cells{"a part of a cell above 0, at most 1", 0, true, 1};
inline constexpr Wanted exponents{"each from 0.2 to 1.8", 0.2, false, 1.8};
/// Whole numbers from one to another, both of them allowed; without an end as far as they go.
constexpr Wanted whole(double least, double most = any) { return {"", least, false, most}; }
}  // namespace want

struct FieldText {
    std::string_view key;
    int only = 0;               ///< 2 or 3: there is no such field in the other dimension
    std::string_view unit;      ///< "m"; "-" for a number without; or what it is: text, name, flag, table
    std::string_view fallback;  ///< what holds where it is not given; `required`
    std::string_view meaning;
    Wanted range = {};  ///< of a number, or of each of several
};

/// One of the kinds a table can be of, by its field `TableText::selector`: a type of shape, a law of sizes.
struct KindText {
    std::string_view name;
    int only = 0;
    std::string_view meaning;
    std::vector<FieldText> fields;
};

struct TableText {
    /// without indices: "", "time", "body"; "motion" for the ones of bodies and of walls
    std::string_view path;
    std::string_view heading;  ///< as it stands in the file: "[time]", "[[body]]", "motion = { ... }"
    std::string_view intro;
    std::vector<FieldText> fields;
    std::string_view selector = {};  ///< the field that says the kind; empty: there are no kinds
    std::vector<KindText> kinds = {};
    std::string_view after = {};  ///< what there is to say when the fields are known
};

/// In the order of the reference.
std::span<const TableText> table_texts();
/// Those of materials, shapes, bodies and grains.
std::vector<TableText> tables_of_things();
/// Those of sand.
std::vector<TableText> tables_of_sand();
/// The text of a table, by its path with or without indices: the longest end of it that is described, so that
/// "body[3].shape" is "shape". nullptr if there is none.
const TableText* find_table_text(std::string_view path);
/// nullptr if it is not described. `kind`: the value of the selector, or empty; an unknown kind has the fields of all
/// kinds.
const FieldText* find_field_text(const TableText& table, std::string_view kind, std::string_view key);
/// Keys of a table of this kind, of all dimensions.
std::vector<const FieldText*> fields_of(const TableText& table, std::string_view kind);

/// The reference of all fields, in Markdown.
std::string fields_markdown();
/// One table for a terminal, `width` letters wide. Throws Error with the nearest name if there is none.
std::string fields_text(std::string_view table, std::size_t width);
/// The document with what stands between its markers replaced by fields_markdown(). Throws Error if it has no markers.
std::string with_fields(const std::string& document);

/// Fields that a getter has asked for and that nobody has described, as "table.key", since the program began. For
/// tests.
std::vector<std::string> undescribed_fields();
void note_undescribed(std::string_view path, std::string_view key);
/// Fields of which a getter took another default than the register states, likewise, as "table.key: states ..., takes
/// ...".
std::vector<std::string> wrong_defaults();
void note_wrong_default(std::string_view path, std::string_view key, std::string_view stated,
                        std::string_view taken);

}  // namespace drystone
