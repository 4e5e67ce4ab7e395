#include "drystone/contact/assemble.hpp"

#include "drystone/base/parallel.hpp"

#include <Eigen/LU>

#include <algorithm>

namespace drystone {

namespace {

template <int d>
using BodyBlock = Eigen::Matrix<double, body_velocities<d>, body_velocities<d>, Eigen::RowMajor>;

/// Rows e of the frame E act on (velocity, spin) of a body as e . v + (arm x e) . spin.
template <int d>
using Rows =
    Eigen::Matrix<double, Eigen::Dynamic, body_velocities<d>, Eigen::RowMajor, d, body_velocities<d>>;

template <int d>
Rows<d> rows_at(const Mat<d>& E, int dim, const Vec<d>& arm, double sign) {
    Rows<d> rows(dim, body_velocities<d>);
    for (int k = 0; k < dim; ++k) {
        const Vec<d> e = E.row(k);
        rows.row(k) << sign * e.transpose(), sign * torque(arm, e).transpose();
    }
    return rows;
}

/// A guided body: damping is taken at the end of the step, as part of its mass.
template <int d>
void fill_guided(const Scene<d>& scene, Index i, double h, Eigen::Map<BodyBlock<d>> inverse,
                 Eigen::Ref<Eigen::Matrix<double, body_velocities<d>, 1>> f) {
    const Guide<d>& guide = guide_of(scene, i);
    const double speed = guide.axis.dot(scene.bodies.velocity[i]);
    inverse.template topLeftCorner<d, d>() =
        guide.axis * guide.axis.transpose() / (guide.mass + h * guide.damping);
    f.template head<d>() = (guide.mass * speed + h * guide.force) * guide.axis;
}

/// Inertia of the rates of a cell: its mass moves with the farthest side.
template <int d>
void fill_cell(const Scene<d>& scene, double h, ConeProblem& p) {
    constexpr int n = body_velocities<d>;
    const CellControl<d>& cell = scene.cell;
    const Domain<d>& domain = scene.domain;
    double mass = cell.mass;
    for (Index i = 0; i < scene.bodies.count() && cell.mass == 0; ++i)
        if (scene.bodies.is_free(i)) mass += scene.bodies.mass[i];
    const auto at = static_cast<std::size_t>(p.bodies - 1) * n;
    double* inverse = std::get<BlockInverseMass>(p.mass).blocks.data() + at * n;
    std::fill_n(inverse, n * n, 0.0);
    auto f = p.f.template tail<n>();
    f.setZero();
    auto set = [&](int k, double length, double rate, const std::optional<double>& stress) {
        if (!stress) return;
        const double inertia = mass * length * length;
        inverse[k * n + k] = 1 / inertia;
        f[k] = inertia * rate - h * domain.volume() * *stress;
    };
    for (int k = 0; k < d; ++k) set(k, domain.period[k], domain.rate[k], cell.stress[k]);
    set(d, domain.period[d - 1], domain.shear_rate, cell.shear_stress);
}

template <int d>
void fill_bodies(const Scene<d>& scene, const Vector& v_free, double h, int threads, ConeProblem& p) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    p.body_dim = n;
    p.bodies = bodies.count() + (scene.cell.any() ? 1 : 0);
    if (!std::holds_alternative<BlockInverseMass>(p.mass)) p.mass = BlockInverseMass{};
    auto& blocks = std::get<BlockInverseMass>(p.mass).blocks;
    blocks.resize(static_cast<std::size_t>(p.bodies) * n * n);
    p.f.resize(p.dofs());
    parallel_for(threads, bodies.count(), [&](Index i) {
        Eigen::Map<BodyBlock<d>> inverse(blocks.data() + static_cast<std::size_t>(i) * n * n);
        auto f = p.f.template segment<n>(static_cast<Eigen::Index>(i) * n);
        inverse.setZero();
        if (!bodies.is_free(i)) {
            f.setZero();
            if (bodies.is_guided(i)) fill_guided<d>(scene, i, h, inverse, f);
            return;
        }
        const auto v = v_free.template segment<n>(static_cast<Eigen::Index>(i) * n);
        inverse.diagonal().template head<d>().setConstant(1 / bodies.mass[i]);
        const Spin<d> inverse_moments = bodies.inertia[i].cwiseInverse();
        inverse.template bottomRightCorner<spins<d>, spins<d>>() =
            inertia_in_world<d>(bodies.rotation[i], inverse_moments);
        f.template head<d>() = bodies.mass[i] * v.template head<d>();
        f.template tail<spins<d>>() =
            inertia_in_world<d>(bodies.rotation[i], bodies.inertia[i]) * v.template tail<spins<d>>();
    });
    if (scene.cell.any()) fill_cell(scene, h, p);
}

/// What a contact across the sides of a controlled cell has to do with the cell's rates: u contains -E d(shift velocity)/d(rates) rates.
template <int d>
Rows<d> cell_rows(const Scene<d>& scene, const Mat<d>& E, int dim, const Image<d>& away) {
    const Domain<d>& domain = scene.domain;
    Rows<d> rows = Rows<d>::Zero(dim, body_velocities<d>);
    for (int k = 0; k < d; ++k)
        if (scene.cell.stress[k]) rows.col(k) = -E.col(k).head(dim) * (away[k] * domain.period[k]);
    if (scene.cell.shear_stress) rows.col(d) = -E.col(0).head(dim) * (away[d - 1] * domain.period[d - 1]);
    return rows;
}

/// The part of the images' velocity that is known: all of it where no stress is controlled.
template <int d>
Vec<d> known_shift_velocity(const Scene<d>& scene, const Image<d>& away) {
    Domain<d> known = scene.domain;
    for (int k = 0; k < d; ++k)
        if (scene.cell.stress[k]) known.rate[k] = 0;
    if (scene.cell.shear_stress) known.shear_rate = 0;
    return known.shift_velocity(away);
}

/// The pull (N s) that a contact bears.
template <int d>
double pull_of(const Scene<d>& scene, const Contact<d>& c, const PairLaw& law, double h) {
    if (law.cohesion == 0) return 0;
    return c.gap <= parted * std::min(scene.inner_radius(c.a), scene.inner_radius(c.b)) ? h * law.cohesion
                                                                                        : 0;
}

/// What is added to the normal velocity at the end of the step before it is compared with 0 (eqs 24 and 25).
template <int d>
double normal_offset(const Scene<d>& scene, const Contact<d>& c, const PairLaw& law,
                     const AssembleOptions& o) {
    // A deep overlap (a scene that starts so, a grain crushed by held bodies) is pushed out over several steps, not shot out in one.
    const double deepest = o.drift == Drift::clamp
                               ? 0.0
                               : -deepest_push * std::min(scene.inner_radius(c.a), scene.inner_radius(c.b));
    const double gap = std::max(deepest, c.gap);
    const bool needs_begin = o.scheme == Scheme::moreau_jean ? law.restitution != 0 : o.theta != 1;
    const double begin = needs_begin ? c.normal.dot(relative_velocity(scene, c)) : 0;
    if (o.scheme == Scheme::look_ahead) return ((1 - o.theta) * begin + gap / o.h) / o.theta;
    return law.restitution * begin;
}

}  // namespace

template <int d>
void assemble(const Scene<d>& scene, const ContactSet<d>& contacts, const Vector& v_free,
              const AssembleOptions& o, Assembled<d>& out) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    ConeProblem& p = out.problem;
    fill_bodies(scene, v_free, o.h, o.threads, p);

    // Where each block begins: depends on the friction (no tangents without) and on which bodies are free.
    const auto count = static_cast<Index>(contacts.size());
    p.cones.resize(count);
    out.pull.resize(count);
    p.offset.resize(count + 1);
    p.H.start.resize(count + 1);
    p.H.value_start.resize(count + 1);
    const bool controlled = scene.cell.any(), cell_moves = controlled || scene.domain.changes();
    auto crosses = [&](const Contact<d>& c) { return controlled && !shift_of(scene, c).isZero(); };
    auto entries = [&](const Contact<d>& c) {
        const int two = c.a == c.b ? 1 : int(bodies.yields(c.a)) + int(bodies.yields(c.b));
        return two + int(crosses(c));
    };
    for (Index i = 0; i < count; ++i) {
        const Contact<d>& c = contacts[i];
        const double mu = scene.materials.law(bodies.material[c.a], bodies.material[c.b]).friction;
        p.cones[i] = mu > 0 ? Cone::second_order(d, mu) : Cone::ray();
        const int dim = p.cones[i].dim;
        p.offset[i + 1] = p.offset[i] + dim;
        p.H.start[i + 1] = p.H.start[i] + entries(c);
        p.H.value_start[i + 1] = p.H.value_start[i] + static_cast<std::int64_t>(entries(c)) * dim * n;
    }
    p.H.body.resize(p.H.start[count]);
    p.H.value.resize(p.H.value_start[count]);
    p.w.resize(p.rows());

    const bool belts = std::any_of(scene.drives.begin(), scene.drives.end(),
                                   [](const Drive<d>& drive) { return !drive.belt.isZero(0); });
    parallel_for(o.threads, count, [&](Index i) {
        const Contact<d>& c = contacts[i];
        const PairLaw& law = scene.materials.law(bodies.material[c.a], bodies.material[c.b]);
        const Mat<d> E = frame_of(c.normal);
        const int dim = p.cones[i].dim;
        auto w = p.w.segment(p.offset[i], dim);
        w.setZero();
        w[0] = normal_offset(scene, c, law, o);
        out.pull[i] = pull_of(scene, c, law, o.h);
        Rows<d> rows[2] = {rows_at<d>(E, dim, c.arm_a, 1), rows_at<d>(E, dim, c.arm_b, -1)};
        const Index body[2] = {c.a, c.b};
        Index entry = p.H.start[i];
        double* value = p.H.value.data() + p.H.value_start[i];
        if (cell_moves) {
            const Image<d> away = shift_of(scene, c);
            if (!away.isZero()) {
                w -= E.topRows(dim) * known_shift_velocity(scene, away);
                if (controlled) {  // the last entry
                    p.H.body[p.H.start[i + 1] - 1] = p.bodies - 1;
                    std::copy_n(cell_rows(scene, E, dim, away).data(), dim * n,
                                p.H.value.data() + p.H.value_start[i + 1] - dim * n);
                }
            }
        }
        if (c.a == c.b) {  // a body and its own image
            rows[0] += rows[1];
            p.H.body[entry] = c.a;
            std::copy_n(rows[0].data(), dim * n, value);
            return;
        }
        for (int side = 0; side < 2; ++side) {
            const Index j = body[side];
            Eigen::Matrix<double, n, 1> known = Eigen::Matrix<double, n, 1>::Zero();
            if (bodies.yields(j)) {
                p.H.body[entry++] = j;
                value = std::copy_n(rows[side].data(), dim * n, value);
                if (bodies.is_free(j)) continue;
                const Vec<d> axis = guide_of(scene, j).axis;
                known << bodies.velocity[j] - axis.dot(bodies.velocity[j]) * axis, bodies.spin[j];
            } else {
                known << bodies.velocity[j], bodies.spin[j];
                if (belts) w += (side == 0 ? 1 : -1) * E.topRows(dim) * belt_velocity(scene, j, c.normal);
            }
            w += rows[side] * known;
        }
    });
    // Cohesion moves the cone: with r' = r + pull n in K, the momentum balance has a known force -pull n. In key order.
    for (Index i = 0; i < count; ++i) {
        if (out.pull[i] == 0) continue;
        const Contact<d>& c = contacts[i];
        auto pull_on = [&](Index j, const Vec<d>& arm, double sign) {
            if (!bodies.is_free(j)) return;
            auto f = p.f.template segment<n>(static_cast<Eigen::Index>(j) * n);
            const Vec<d> impulse = -sign * out.pull[i] * c.normal;
            f.template head<d>() += impulse;
            f.template tail<spins<d>>() += torque(arm, impulse);
        };
        pull_on(c.a, c.arm_a, 1);
        pull_on(c.b, c.arm_b, -1);
    }
}

template <int d>
Vec<d> belt_velocity(const Scene<d>& scene, Index body, const Vec<d>& normal) {
    const GlobalId id = scene.bodies.id[body];
    for (const Drive<d>& drive : scene.drives)
        if (drive.body == id) return drive.belt - normal.dot(drive.belt) * normal;
    return Vec<d>::Zero();
}

template <int d>
Vec<d> impulse_of(const Assembled<d>& assembled, const Vector& r, const Contact<d>& contact, Index i) {
    const ConeProblem& p = assembled.problem;
    const Mat<d> E = frame_of(contact.normal);
    const int dim = p.cones[i].dim;
    return E.topRows(dim).transpose() * r.segment(p.offset[i], dim) - assembled.pull[i] * contact.normal;
}

template struct Assembled<2>;
template struct Assembled<3>;
template void assemble(const Scene<2>&, const ContactSet<2>&, const Vector&, const AssembleOptions&,
                       Assembled<2>&);
template void assemble(const Scene<3>&, const ContactSet<3>&, const Vector&, const AssembleOptions&,
                       Assembled<3>&);
template Vec<2> belt_velocity(const Scene<2>&, Index, const Vec<2>&);
template Vec<3> belt_velocity(const Scene<3>&, Index, const Vec<3>&);
template Vec<2> impulse_of(const Assembled<2>&, const Vector&, const Contact<2>&, Index);
template Vec<3> impulse_of(const Assembled<3>&, const Vector&, const Contact<3>&, Index);

}  // namespace drystone
