// What random grains are made of: a mixture of shapes, a distribution of sizes.
#pragma once

#include "drystone/bodies/random.hpp"
#include "drystone/bodies/scene.hpp"

#include <string>
#include <variant>
#include <vector>

namespace drystone {

/// What each random number of a body is for. Numbers are never reused, so that a new field changes no old scene.
namespace draws {
enum BodyDraw : std::uint64_t {
    size = 0,
    mass = 1,
    shift = 2,      // 2, 3, 4
    direction = 5,  // 5, 6
    rotation = 7,   // 7, 8, 9
    variant = 10,
    part = 11,
    place = std::uint64_t{1} << 32U,  // and all above: try t takes the numbers place + 4 t ...
};
}  // namespace draws

/// Factors on the shape (all of one: no factor).
struct UniformSize {
    double low = 1, high = 1;
};
/// Cut off at `low` and `high`: drawn from what lies between, not moved to the ends.
struct NormalSize {
    double mean = 1, deviation = 0.1, low = 0.5, high = 1.5;
};
/// The logarithm is normal: median and geometric standard deviation, cut off as above.
struct LogNormalSize {
    double median = 1, spread = 1.2, low = 0.5, high = 2;
};
/// A measured grading curve: share[i] of the grains (or of their mass) is below size[i]; linear between. Sizes rise,
/// shares do not fall and go from 0 to 1.
struct TableSize {
    std::vector<double> size, share;
    bool by_mass = false;
};
using SizeLaw = std::variant<UniformSize, NormalSize, LogNormalSize, TableSize>;

/// Throws Error on numbers that make no distribution; `where` is the field for the message.
void check(const SizeLaw& law, const std::string& where);
/// A size for u uniform in [0, 1), by the inverse of the distribution. `d`: dimension, for shares by mass.
double draw_size(const SizeLaw& law, double u, int d);
double largest_size(const SizeLaw& law);

/// The number below which a standard normal number is with probability p, in ]0, 1[.
double normal_quantile(double p);

/// One of the scene's shapes as it was described.
template <int d>
struct ShapeVariant {
    Index shape = 0;  ///< in Scene::shapes
    double size = 1;  ///< factor that makes the scene's shape the user's
    Pose<d> pose;     ///< the scene's shape in the user's own axes
};

template <int d>
struct Recipe {
    struct Part {
        double weight = 1;                      ///< share of the grains, relative to the other parts'
        std::vector<ShapeVariant<d>> variants;  ///< equally likely
        Index material = 0;
        SizeLaw size = UniformSize{};
    };
    std::vector<Part> parts;
    bool turned = true;  ///< at random; false: as the shape stands
    Vec<d> velocity = Vec<d>::Zero();
    double speed = 0;  ///< m/s, in a random direction, added
};

/// The variant that the body with this id gets.
template <int d>
const ShapeVariant<d>& draw_variant(const std::vector<ShapeVariant<d>>& variants, const Random& random,
                                    GlobalId id);

/// The body with this global id: a function of the recipe, the seed and the id alone. Its position is left at zero.
template <int d>
BodyPlan<d> draw_body(const Recipe<d>& recipe, const Random& random, GlobalId id);

/// Radius of the ball that holds the largest grain, m.
template <int d>
double largest_radius(const Scene<d>& scene, const Recipe<d>& recipe);

}  // namespace drystone
