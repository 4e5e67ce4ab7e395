// What surfaces are made of, and the laws of each pair of them.
#pragma once

#include "drystone/base/types.hpp"

#include <string>
#include <vector>

namespace drystone {

/// The law of contact between two materials.
struct PairLaw {
    double friction = 0.5;   ///< Coulomb's coefficient, >= 0
    double restitution = 0;  ///< Newton's, 0 to 1; needs the scheme moreau-jean
    /// largest pull that the contact bears, N, >= 0; gone once the surfaces have parted
    double cohesion = 0;
    double rolling = 0;   ///< torque against rolling per normal force, m, >= 0
    double spinning = 0;  ///< torque against turning about the normal per normal force, m, >= 0 (space only)
    /// Of the contact along its normal, N/m (Hooke); 0: from the moduli of the materials (Hertz), or rigid if they have
    /// none.
    double stiffness = 0;
};

/// The law of two materials of which nothing more is said than their laws with themselves: the smaller coefficients,
/// and the stiffnesses in series.
PairLaw mixed(const PairLaw& a, const PairLaw& b);

struct Material {
    std::string name;
    double density = 2500;  ///< kg/m^3; kg/m^2 in the plane
    double young = 0;       ///< Young's modulus, Pa; 0: rigid
    double poisson = 0.3;   ///< Poisson's ratio, -1 to 0.5
};

/// Materials and the symmetric table of their pairs.
class Materials {
public:
    /// `law`: of the new material with itself. Those with the others are mixed from it and from theirs, until set.
    Index add(const Material& material, const PairLaw& law);
    void set(Index a, Index b, const PairLaw& law);
    /// -1 if there is none of that name.
    [[nodiscard]] Index find(const std::string& name) const;
    [[nodiscard]] const PairLaw& law(Index a, Index b) const {
        return laws_[static_cast<std::size_t>(a) * count() + b];
    }
    [[nodiscard]] const Material& operator[](Index i) const { return materials_[i]; }
    [[nodiscard]] Index count() const { return static_cast<Index>(materials_.size()); }
    /// True if some pair of materials coheres.
    [[nodiscard]] bool cohesive() const;

private:
    std::vector<Material> materials_;
    std::vector<PairLaw> laws_;  // count x count
};

}  // namespace drystone
