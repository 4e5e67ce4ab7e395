#include "drystone/bodies/materials.hpp"

#include "drystone/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

void check(const std::string& where, const PairLaw& law) {
    // Written so that NaN fails too.
    if (!(law.friction >= 0 && std::isfinite(law.friction)))
        fail(where + ".friction", fmt::format("{} is not a coefficient of friction", law.friction),
             "give a finite number >= 0");
    if (!(law.restitution >= 0 && law.restitution <= 1))
        fail(where + ".restitution", fmt::format("{} is not a coefficient of restitution", law.restitution),
             "give a number from 0 to 1");
    if (!(law.cohesion >= 0 && std::isfinite(law.cohesion)))
        fail(where + ".cohesion", fmt::format("{} is not a force that a contact can bear", law.cohesion),
             "give a finite number >= 0 (N)");
    for (const auto& [name, length] : {std::pair{".rolling", law.rolling}, {".spinning", law.spinning}})
        if (!(length >= 0 && std::isfinite(length)))
            fail(where + name, fmt::format("{} is not a length", length), "give a finite number >= 0 (m)");
    if (!(law.stiffness >= 0 && std::isfinite(law.stiffness)))
        fail(where + ".stiffness", fmt::format("{} is not a stiffness", law.stiffness),
             "give a finite number > 0 (N/m), or 0 for a rigid contact");
}

std::string label(const std::vector<Material>& materials, Index i) {
    return materials[i].name.empty() ? fmt::format("number {}", i) : fmt::format("\"{}\"", materials[i].name);
}

}  // namespace

PairLaw mixed(const PairLaw& a, const PairLaw& b) {
    PairLaw law;
    law.friction = std::min(a.friction, b.friction);
    law.restitution = std::min(a.restitution, b.restitution);
    law.cohesion = std::min(a.cohesion, b.cohesion);
    law.rolling = std::min(a.rolling, b.rolling);
    law.spinning = std::min(a.spinning, b.spinning);
    // Two springs in series, each half of a contact of the material with itself; one that is not given is rigid.
    const double yield =
        (a.stiffness > 0 ? 0.5 / a.stiffness : 0) + (b.stiffness > 0 ? 0.5 / b.stiffness : 0);
    law.stiffness = yield > 0 ? 1 / yield : 0;
    return law;
}

bool Materials::cohesive() const {
    return std::any_of(laws_.begin(), laws_.end(), [](const PairLaw& law) { return law.cohesion > 0; });
}

Index Materials::add(const Material& material, const PairLaw& law) {
    const Index n = count();
    const std::string where = material.name.empty() ? fmt::format("material number {}", n)
                                                    : fmt::format("material \"{}\"", material.name);
    if (!(material.density > 0 && std::isfinite(material.density)))
        fail(where + ".density", fmt::format("{} is not a density", material.density),
             "give a finite number > 0 (kg/m^3, in the plane kg/m^2)");
    if (!(material.young >= 0 && std::isfinite(material.young)))
        fail(where + ".young", fmt::format("{} is not a modulus of elasticity", material.young),
             "give a finite number > 0 (Pa), or 0 for a rigid material");
    if (!(material.poisson > -1 && material.poisson <= 0.5))
        fail(where + ".poisson", fmt::format("{} is not a Poisson's ratio", material.poisson),
             "give a number above -1, at most 0.5");
    // A material without a name cannot be found by name, so there may be several.
    if (!material.name.empty() && find(material.name) >= 0)
        fail(where, "there is already a material of this name", "give each material a name of its own");
    check(where, law);

    // Rows of the table grow by one: a table laid out anew, since materials are few.
    std::vector<PairLaw> laws(static_cast<std::size_t>(n + 1) * (n + 1), law);
    for (Index a = 0; a < n; ++a) {
        for (Index b = 0; b < n; ++b) laws[static_cast<std::size_t>(a) * (n + 1) + b] = this->law(a, b);
        laws[static_cast<std::size_t>(a) * (n + 1) + n] = laws[static_cast<std::size_t>(n) * (n + 1) + a] =
            mixed(this->law(a, a), law);
    }
    laws_ = std::move(laws);
    materials_.push_back(material);
    return n;
}

void Materials::set(Index a, Index b, const PairLaw& law) {
    const Index n = count();
    for (const Index i : {a, b})
        if (i < 0 || i >= n)
            fail("pair of materials", fmt::format("there is no material number {}", i),
                 n == 0 ? "add materials first" : fmt::format("give numbers from 0 to {}", n - 1));
    check(fmt::format("materials {} and {}", label(materials_, a), label(materials_, b)), law);
    laws_[static_cast<std::size_t>(a) * n + b] = law;
    laws_[static_cast<std::size_t>(b) * n + a] = law;
}

Index Materials::find(const std::string& name) const {
    for (Index i = 0; i < count(); ++i)
        if (materials_[i].name == name) return i;
    return -1;
}

}  // namespace drystone
