#include "drystone/contact/elasticity.hpp"

#include <cmath>
#include <numbers>

namespace drystone {

namespace {

/// Of what is rigid by the scene (joints, and contacts of pairs without a spring) over the mean spring.
constexpr double rigid_stiffness = 1000;

/// Mindlin: tangential over normal stiffness of two materials, 4 G* / E*.
double mindlin(const Material& a, const Material& b, double contact_modulus) {
    auto part = [](const Material& m) {
        return m.young > 0 ? (2 - m.poisson) * 2 * (1 + m.poisson) / m.young : 0.0;
    };
    return 4 / ((part(a) + part(b)) * contact_modulus);
}

/// The levers of the torque rows: what stiffness times lever^2 turns into a stiffness against turning.
double lever_of(const Cone& cone, int c) {
    if (!is_torque(cone, c)) return 1;
    const bool spins = cone.dim == 6 && c == 3;
    const double lever = spins ? cone.coefficient[2] : cone.coefficient[1];
    return lever > 0 ? lever : 1;
}

}  // namespace

template <int d>
std::optional<ContactStiffness> stiffness_of(const Scene<d>& scene, const Contact<d>& c) {
    const Bodies<d>& bodies = scene.bodies;
    const Material& a = scene.materials[bodies.material[c.a]];
    const Material& b = scene.materials[bodies.material[c.b]];
    const PairLaw& law = scene.materials.law(bodies.material[c.a], bodies.material[c.b]);
    ContactStiffness out;
    if (law.stiffness > 0) {
        const double poisson = 0.5 * (a.poisson + b.poisson);
        out.k = law.stiffness;
        out.tangential = 2 * (1 - poisson) / (2 - poisson);
        return out;
    }
    if (a.young == 0 && b.young == 0) return std::nullopt;
    auto part = [](const Material& m) { return m.young > 0 ? (1 - m.poisson * m.poisson) / m.young : 0.0; };
    const double modulus = 1 / (part(a) + part(b));
    out.tangential = mindlin(a, b, modulus);
    if constexpr (d == 2) {
        out.k = std::numbers::pi / 4 * modulus;
    } else {
        const double curvature = 1 / scene.inner_radius(c.a) + 1 / scene.inner_radius(c.b);
        if (!(curvature > 0)) return std::nullopt;
        out.k = 4.0 / 3 * modulus / std::sqrt(curvature);
        out.hertz = true;
    }
    return out;
}

double soften(const ContactStiffness& spring, const Cone& cone, double gap, double closing, double h,
              Eigen::Ref<Eigen::VectorXd> compliance) {
    double k = spring.k, w = gap / h;
    if (spring.hertz) {
        // f = F(d0) + F'(d0) (d - d0) at d0 > 0, d = -gap - h u:  u + r / (h^2 F') + (gap + d0 / 3) / h = 0.
        constexpr double least = 1e-12;  // m: a spring that has not begun to yield has no stiffness at all
        const double at = std::max({-gap, -gap + h * closing, least});
        k = 1.5 * spring.k * std::sqrt(at);
        w = (gap + at / 3) / h;
    }
    for (int c = 0; c < cone.dim; ++c) {
        const double lever = lever_of(cone, c);
        compliance[c] = 1 / (h * h * k * lever * lever * (c == 0 ? 1 : spring.tangential));
    }
    return w;
}

template <int d>
Elasticity elasticity_of(const Scene<d>& scene, const ContactSet<d>& contacts, const ConeProblem& problem) {
    Elasticity out;
    out.compliance.resize(problem.rows());
    std::vector<std::optional<ContactStiffness>> springs(contacts.size());
    bool hertz = true;
    double total = 0;
    Index known = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        springs[i] = stiffness_of(scene, contacts[i]);
        if (!springs[i]) continue;
        hertz = hertz && springs[i]->hertz;
        total += springs[i]->k;
        ++known;
    }
    const double mean = known > 0 ? total / known : 1.0;
    out.hertz = hertz && known > 0;
    const ContactStiffness rigid{known > 0 ? rigid_stiffness * mean : 1.0, out.hertz,
                                 2 * (1 - 0.3) / (2 - 0.3)};
    for (Index i = 0; i < problem.blocks(); ++i) {
        const Cone& cone = problem.cones[i];
        auto rows = out.compliance.segment(problem.offset[i], cone.dim);
        if (static_cast<std::size_t>(i) >= contacts.size()) {
            rows.setConstant(1 / (rigid_stiffness * mean));
            continue;
        }
        const ContactStiffness spring = springs[i].value_or(rigid);
        for (int c = 0; c < cone.dim; ++c) {
            const double lever = lever_of(cone, c);
            const double ratio = c == 0 ? 1 : 1 / (spring.tangential * lever * lever);
            rows[c] = out.hertz && c > 0 ? ratio : ratio / spring.k;
        }
    }
    return out;
}

template std::optional<ContactStiffness> stiffness_of(const Scene<2>&, const Contact<2>&);
template std::optional<ContactStiffness> stiffness_of(const Scene<3>&, const Contact<3>&);
template Elasticity elasticity_of(const Scene<2>&, const ContactSet<2>&, const ConeProblem&);
template Elasticity elasticity_of(const Scene<3>&, const ContactSet<3>&, const ConeProblem&);

}  // namespace drystone
