#include "solve/sphere_pile.hpp"

#include <Eigen/Dense>

#include <cmath>
#include <random>

namespace drystone::testing {

namespace {

/// Adds round bodies and contacts between them to a problem. d is 2 or 3.
template <int d>
class RoundBodies {
public:
    using Vec = Eigen::Matrix<double, d, 1>;
    static constexpr int spins = d == 3 ? 3 : 1, m = d + spins;
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, m, Eigen::RowMajor>;

    explicit RoundBodies(unsigned seed) : engine(seed) { problem.only().dim = m; }

    [[nodiscard]] double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(engine);
    }
    [[nodiscard]] Vec direction() {
        std::normal_distribution<double> normal;
        Vec v;
        for (int c = 0; c < d; ++c) v[c] = normal(engine);
        return v.normalized();
    }

    /// A body of the given mass with velocity v and spin; mass 0: it does not move.
    Index add_body(double mass, double radius, const Vec& v, const Eigen::Matrix<double, spins, 1>& spin) {
        const double inertia = (d == 3 ? 0.4 : 0.5) * mass * radius * radius;
        Eigen::Matrix<double, m, 1> inertias;
        inertias << Vec::Constant(mass), Eigen::Matrix<double, spins, 1>::Constant(inertia);
        Eigen::Matrix<double, m, m, Eigen::RowMajor> inverse = Eigen::Matrix<double, m, m>::Zero();
        if (mass > 0) inverse.diagonal() = inertias.cwiseInverse();
        blocks_.insert(blocks_.end(), inverse.data(), inverse.data() + m * m);
        for (int c = 0; c < m; ++c) f_.push_back(inertias[c] * (c < d ? v[c] : spin[c - d]));
        radius_.push_back(radius);
        return problem.only().count++;
    }

    /// Contact of a and b (-1: held, without an entry) with normal n from b to a; w is the known normal velocity, gap
    /// over step.
    void add_contact(const Cone& cone, Index a, Index b, const Vec& n, double w) {
        const Eigen::Matrix<double, d, d> E = random_frame(n);
        problem.add_block(cone);
        if (a >= 0) add_entry(cone, a, E, -radius_[a] * n, 1);
        if (b >= 0) add_entry(cone, b, E, radius_[b] * n, -1);
        w_.push_back(w);
        w_.insert(w_.end(), cone.dim - 1, 0.0);
    }

    ConeProblem finish() {
        problem.only().mass = BlockInverseMass{blocks_};
        problem.f = Eigen::Map<const Eigen::VectorXd>(f_.data(), static_cast<Eigen::Index>(f_.size()));
        problem.w = Eigen::Map<const Eigen::VectorXd>(w_.data(), static_cast<Eigen::Index>(w_.size()));
        return problem;
    }

    std::mt19937 engine;
    ConeProblem problem;

private:
    /// Rows n, t1, (t2); the tangents at a random angle and of either hand.
    Eigen::Matrix<double, d, d> random_frame(const Vec& n) {
        Eigen::Matrix<double, d, d> E;
        E.row(0) = n;
        if constexpr (d == 2) {
            const double side = uniform(0, 1) < 0.5 ? 1 : -1;
            E.row(1) << -side * n[1], side * n[0];
        } else {
            const Vec t = n.cross(direction()).normalized();
            E.row(1) = t;
            E.row(2) = (uniform(0, 1) < 0.5 ? 1 : -1) * n.cross(t).normalized();
        }
        return E;
    }

    void add_entry(const Cone& cone, Index body, const Eigen::Matrix<double, d, d>& E, const Vec& arm,
                   double sign) {
        Rows rows = Rows::Zero(cone.dim, m);
        const int forces = cone.dim == 1 ? 1 : d;
        for (int k = 0; k < cone.dim; ++k) {
            if (k < forces) {
                const Vec e = E.row(k);
                rows.row(k).template head<d>() = sign * e;
                if constexpr (d == 3)
                    rows.row(k).template tail<3>() = sign * arm.cross(e);
                else
                    rows(k, 2) = sign * (arm[0] * e[1] - arm[1] * e[0]);
            } else if constexpr (d == 3) {
                rows.row(k).template tail<3>() = sign * E.row(cone.dim == 6 ? k - 3 : k - 2);
            } else {
                rows(k, 2) = sign;
            }
        }
        problem.add_entry(body, std::span(rows.data(), static_cast<std::size_t>(rows.size())));
    }

    std::vector<double> blocks_, f_, w_, radius_;
};

}  // namespace

template <int d>
ConeProblem separate_contacts(int count, unsigned seed, const std::function<Cone(int)>& cone) {
    RoundBodies<d> bodies(seed);
    using Spin = Eigen::Matrix<double, RoundBodies<d>::spins, 1>;
    const auto body = [&](bool held) {
        const double radius = std::pow(10, bodies.uniform(-2, 0));
        Spin spin = Spin::Random();
        for (int c = 0; c < spin.size(); ++c) spin[c] = bodies.uniform(-3, 3) / radius;
        return bodies.add_body(held ? 0 : std::pow(10, bodies.uniform(-1, 1)), radius,
                               bodies.direction() * std::pow(10, bodies.uniform(-2, 1)), spin);
    };
    for (int k = 0; k < count; ++k) {
        const Index a = body(false), b = k % 3 != 0 ? body(false) : k % 5 == 0 ? body(true) : -1;
        bodies.add_contact(cone(k), k % 2 == 0 ? a : b, k % 2 == 0 ? b : a, bodies.direction(),
                           bodies.uniform(-2, 0.5));
    }
    return bodies.finish();
}

template <int d>
ConeProblem pile(const PileOptions& o, const std::function<Cone(int)>& cone) {
    constexpr double radius = 0.1, h = 0.005;
    RoundBodies<d> bodies(o.seed);
    using Vec = typename RoundBodies<d>::Vec;
    using Spin = Eigen::Matrix<double, RoundBodies<d>::spins, 1>;
    const double angle = o.slope * 3.14159265358979 / 180;
    Vec gravity = Vec::Zero();
    gravity[0] = 9.81 * std::sin(angle);
    gravity[d - 1] = -9.81 * std::cos(angle);
    std::vector<Vec> place;
    std::vector<double> radii;
    const int deep = d == 3 ? o.across : 1;
    const auto number = [&](int i, int j, int k) { return (k * deep + j) * o.across + i; };
    for (int k = 0; k < o.high; ++k) {
        for (int j = 0; j < deep; ++j) {
            for (int i = 0; i < o.across; ++i) {
                Vec x;
                if constexpr (d == 3)
                    x << i + 0.5 * ((j + k) % 2), std::sqrt(3.0) / 2 * (j + (k % 2) / 1.5),
                        std::sqrt(2.0 / 3) * k;
                else
                    x << i + 0.5 * (k % 2), std::sqrt(3.0) / 2 * k;
                x = 2 * radius * x + 0.002 * bodies.direction();
                x[d - 1] = k == 0 ? 0 : x[d - 1];
                const double r = k == 0 ? radius : bodies.uniform(0.095, 0.1);
                place.push_back(x);
                radii.push_back(r);
                const double mass =
                    d == 3 ? 2500 * 4.18879020478639 * r * r * r : 2500 * 3.14159265358979 * r * r;
                bodies.add_body(mass, r, o.speed * bodies.direction() + h * gravity, Spin::Zero());
            }
        }
    }
    int contact = 0;
    const Vec up = Vec::Unit(d - 1);
    for (int k = 0; k < o.high; ++k) {
        for (int j = 0; j < deep; ++j) {
            for (int i = 0; i < o.across; ++i) {
                const int a = number(i, j, k);
                if (k == 0) bodies.add_contact(cone(contact++), a, -1, up, 0);
                for (int dk = 0; dk <= 1; ++dk) {
                    for (int dj = -1; dj <= 1; ++dj) {
                        for (int di = -1; di <= 1; ++di) {
                            const int ni = i + di, nj = j + dj, nk = k + dk;
                            if (ni < 0 || ni >= o.across || nj < 0 || nj >= deep || nk >= o.high) continue;
                            const int b = number(ni, nj, nk);
                            if (b <= a) continue;
                            const Vec apart = place[a] - place[b];
                            const double gap = apart.norm() - radii[a] - radii[b];
                            if (gap > o.contact_gap) continue;
                            bodies.add_contact(cone(contact++), a, b, apart.normalized(),
                                               std::max(0.0, gap) / h);
                        }
                    }
                }
            }
        }
    }
    return bodies.finish();
}

template ConeProblem separate_contacts<2>(int, unsigned, const std::function<Cone(int)>&);
template ConeProblem separate_contacts<3>(int, unsigned, const std::function<Cone(int)>&);
template ConeProblem pile<2>(const PileOptions&, const std::function<Cone(int)>&);
template ConeProblem pile<3>(const PileOptions&, const std::function<Cone(int)>&);

}  // namespace drystone::testing
