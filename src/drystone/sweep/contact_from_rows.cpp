// Contacts that a problem has as rows of H, as problem files do: their frames and arms are found again.
#include "drystone/sweep/contact_sweeps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace drystone {

ContactFrame ContactSweeps::frame_of_rows(Index i) const {
    const ConeProblem& p = *p_;
    ContactFrame E = ContactFrame::Zero();
    // The first body that moves gives it.
    bool found = false;
    for_each_entry(p, p.H, i, [&](Index body, auto place, const BodyRowsOf& A) {
        if (found || moves_[body + 1] == 0) return;
        found = true;
        const int d = std::min(m_ - spins_of(m_), place.dim), forces = std::min<int>(d, p.cones[i].dim);
        for (int k = 0; k < forces; ++k)
            for (int c = 0; c < d; ++c) E(k, c) = A(k, c);
        const Eigen::Vector3d n = E.row(0);
        if (forces == 1) E.row(1) = d == 3 ? n.unitOrthogonal() : Eigen::Vector3d(-n[1], n[0], 0);
        if (forces < 3) E.row(2) = d == 3 ? n.cross(Eigen::Vector3d(E.row(1))) : Eigen::Vector3d(0, 0, 1);
    });
    return E;
}

ContactSweeps::Geometry ContactSweeps::geometry_of_rows(Index i) const {
    const ConeProblem& p = *p_;
    Geometry g;
    if (i < p.contacts.size() || bodies_of(p, i) < 1) return g;
    const ContactFrame E = frame(i);
    if (!((E * E.transpose() - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff() <= rounding_of_numbers))
        return g;
    g.normal = E.row(0);
    g.arm_a = g.arm_b = Eigen::Vector3d::Zero();
    g.fits = true;
    for_each_entry(p, p.H, i, [&](Index body, auto place, const BodyRowsOf& A) {
        if (!g.fits || moves_[body + 1] == 0) return;
        const int d = m_ - spins_of(m_), forces = std::min<int>(d, p.cones[i].dim);
        g.fits = place.dim == m_;
        if (!g.fits) return;
        g.fits = g.b == 0 && solid_[body + 1] != 0;
        const double sign = g.a == 0 ? 1 : -1;
        // Rows of spins are arm x e. Summed over an orthonormal frame, e x (arm x e) is twice the arm; what rows that
        // are not there would tell is not needed.
        std::array<Eigen::Vector3d, 3> turns;
        for (int k = 0; k < forces; ++k) {
            turns[k] = d == 3 ? Eigen::Vector3d(A(k, 3), A(k, 4), A(k, 5)) : Eigen::Vector3d(0, 0, A(k, 2));
            turns[k] *= sign;
        }
        Eigen::Vector3d arm = Eigen::Vector3d::Zero();
        for (int k = 0; k < forces; ++k) arm += Eigen::Vector3d(E.row(k)).cross(turns[k]);
        if (forces == 3) arm *= 0.5;
        double error = 0, size = 1;
        for (int k = 0; k < forces; ++k) {
            const Eigen::Vector3d e = E.row(k);
            error = std::max(error, (arm.cross(e) - turns[k]).cwiseAbs().maxCoeff());
            size = std::max(size, turns[k].cwiseAbs().maxCoeff());
            for (int c = 0; c < d; ++c) error = std::max(error, std::abs(A(k, c) - sign * e[c]));
        }
        g.fits = g.fits && error <= rounding_of_numbers * size;
        (g.a == 0 ? g.arm_a : g.arm_b) = arm;
        (g.a == 0 ? g.a : g.b) = body + 1;
    });
    return g;
}

}  // namespace drystone
