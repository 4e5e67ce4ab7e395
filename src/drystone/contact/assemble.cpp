#include "drystone/contact/assemble.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/bodies/free_rotation.hpp"
#include "drystone/contact/elasticity.hpp"

#include <Eigen/LU>

#include <algorithm>

namespace drystone {

namespace {

template <int d>
using BodyBlock = Eigen::Matrix<double, body_velocities<d>, body_velocities<d>, Eigen::RowMajor>;

/// A block's rows on one body: e . (velocity + spin x arm) for its forces, e . spin for its torques.
template <int d>
BodyRows<d> rows_at(const BodyRows<d>& frame, const Vec<d>& arm, double sign) {
    BodyRows<d> rows = sign * frame;
    for (Eigen::Index k = 0; k < frame.rows(); ++k) {
        const Vec<d> e = frame.row(k).template head<d>();
        rows.row(k).template tail<spins<d>>() += sign * torque(arm, e).transpose();
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
    const auto at = static_cast<std::size_t>(p.bodies() - 1) * n;
    double* inverse = std::get<BlockInverseMass>(p.only().mass).blocks.data() + at * n;
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
void fill_bodies(const Scene<d>& scene, const Vector& v_free, const AssembleOptions& o, ConeProblem& p) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    Species& species = p.only();
    species.dim = n;
    species.count = bodies.count() + (scene.cell.any() ? 1 : 0);
    if (!std::holds_alternative<BlockInverseMass>(species.mass)) species.mass = BlockInverseMass{};
    auto& blocks = std::get<BlockInverseMass>(species.mass).blocks;
    blocks.resize(static_cast<std::size_t>(species.velocities()) * n);
    p.f.resize(p.dofs());
    parallel_for(o.threads, bodies.count(), [&](Index i) {
        Eigen::Map<BodyBlock<d>> inverse(blocks.data() + static_cast<std::size_t>(i) * n * n);
        auto f = p.f.template segment<n>(static_cast<Eigen::Index>(i) * n);
        inverse.setZero();
        if (!bodies.is_free(i)) {
            f.setZero();
            if (bodies.is_guided(i)) fill_guided<d>(scene, i, o.h, inverse, f);
            return;
        }
        const auto v = v_free.template segment<n>(static_cast<Eigen::Index>(i) * n);
        inverse.diagonal().template head<d>().setConstant(1 / bodies.mass[i]);
        const Spin<d> inverse_moments = bodies.inertia[i].cwiseInverse();
        const Rotation<d> rotation = rotation_at_impulse(bodies, i, o.h, o.theta);
        inverse.template bottomRightCorner<spins<d>, spins<d>>() =
            inertia_in_world<d>(rotation, inverse_moments);
        f.template head<d>() = bodies.mass[i] * v.template head<d>();
        f.template tail<spins<d>>() =
            inertia_in_world<d>(rotation, bodies.inertia[i]) * v.template tail<spins<d>>();
    });
    if (scene.cell.any()) fill_cell(scene, o.h, p);
}

/// What a contact across the sides of a controlled cell has to do with the cell's rates: u contains -E d(shift velocity)/d(rates) rates.
template <int d>
BodyRows<d> cell_rows(const Scene<d>& scene, const BodyRows<d>& frame, const Image<d>& away) {
    const Domain<d>& domain = scene.domain;
    BodyRows<d> rows = BodyRows<d>::Zero(frame.rows(), body_velocities<d>);
    for (int k = 0; k < d; ++k)
        if (scene.cell.stress[k]) rows.col(k) = -frame.col(k) * (away[k] * domain.period[k]);
    if (scene.cell.shear_stress) rows.col(d) = -frame.col(0) * (away[d - 1] * domain.period[d - 1]);
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
    const double radius = std::min(scene.inner_radius(c.a), scene.inner_radius(c.b));
    // A deep overlap (a scene that starts so, a grain crushed by held bodies) is pushed out over several steps, not shot out in one.
    double gap = std::max(o.drift == Drift::clamp ? 0.0 : -deepest_push * radius, c.gap);
    if (pull_of(scene, c, law, o.h) > 0)
        gap -= (1 - cohesive_closing) * std::clamp(gap, -parted * radius, parted * radius);
    const bool needs_begin = o.scheme == Scheme::moreau_jean ? law.restitution != 0 : o.theta != 1;
    const double begin = needs_begin ? c.normal.dot(relative_velocity(scene, c)) : 0;
    if (o.scheme == Scheme::look_ahead) return ((1 - o.theta) * begin + gap / o.h) / o.theta;
    return law.restitution * begin;
}

/// The law of a contact as a cone: torques only where there is friction against them.
template <int d>
Cone cone_of(const PairLaw& law) {
    if constexpr (d == 2) {
        if (law.rolling > 0) return Cone::wrench(3, law.friction, law.rolling, 0);
    } else {
        if (law.spinning > 0) return Cone::wrench(6, law.friction, law.rolling, law.spinning);
        if (law.rolling > 0) return Cone::wrench(5, law.friction, law.rolling, 0);
    }
    return law.friction > 0 ? Cone::second_order(d, law.friction) : Cone::ray();
}

/// What is known of the motion of a body beside the problem's velocities: all of a held one's, what is across the axis of a guided one.
template <int d>
Eigen::Matrix<double, body_velocities<d>, 1> known_motion(const Scene<d>& scene, Index j) {
    const Bodies<d>& bodies = scene.bodies;
    Eigen::Matrix<double, body_velocities<d>, 1> known;
    if (bodies.is_free(j)) {
        known.setZero();
    } else if (bodies.yields(j)) {
        const Vec<d> axis = guide_of(scene, j).axis;
        known << bodies.velocity[j] - axis.dot(bodies.velocity[j]) * axis, bodies.spin[j];
    } else {
        known << bodies.velocity[j], bodies.spin[j];
    }
    return known;
}

/// Writes the entries of a block for two bodies (-1: none), and adds to w what is known of their motion.
template <int d>
void put_entries(const Scene<d>& scene, ConeProblem& p, Index block, const Index (&body)[2],
                 const BodyRows<d> (&rows)[2]) {
    constexpr int n = body_velocities<d>;
    const int dim = p.cones[block].dim;
    auto w = p.w.segment(p.offset[block], dim);
    Index entry = p.H.start[block];
    double* value = p.H.value.data() + p.H.value_start[block];
    if (body[0] == body[1]) {  // a body and its own image
        const BodyRows<d> both = rows[0] + rows[1];
        p.H.body[entry] = body[0];
        std::copy_n(both.data(), dim * n, value);
        return;
    }
    for (int side = 0; side < 2; ++side) {
        const Index j = body[side];
        if (j < 0) continue;
        if (scene.bodies.yields(j)) {
            p.H.body[entry++] = j;
            value = std::copy_n(rows[side].data(), dim * n, value);
        }
        if (!scene.bodies.is_free(j)) w += rows[side] * known_motion(scene, j);
    }
}

/// The shift of a contact at the velocities before the step.
template <int d>
double shift_before(const Scene<d>& scene, const Contact<d>& c, const Cone& cone, const BodyRows<d>& frame,
                    bool belts) {
    Eigen::Matrix<double, body_velocities<d>, 1> motion;
    motion << relative_velocity(scene, c), scene.bodies.spin[c.a] - scene.bodies.spin[c.b];
    if (belts)
        motion.template head<d>() +=
            belt_velocity(scene, c.a, c.normal) - belt_velocity(scene, c.b, c.normal);
    const BlockVector u = frame * motion;
    return shift(cone, std::span(u.data(), static_cast<std::size_t>(cone.dim)));
}

/// Opens the next block at the end of the arrays.
void open_block(ConeProblem& p, Index i, const Cone& cone, int entries) {
    p.cones[i] = cone;
    p.offset[i + 1] = p.offset[i] + cone.dim;
    p.H.start[i + 1] = p.H.start[i] + entries;
    p.H.value_start[i + 1] =
        p.H.value_start[i] + static_cast<std::int64_t>(entries) * cone.dim * p.only().dim;
}

/// Rows, offsets and links of the joints' blocks.
template <int d>
void fill_joints(const Scene<d>& scene, const ContactSet<d>& contacts, Assembled<d>& out) {
    ConeProblem& p = out.problem;
    Index i = out.contacts;
    out.links.clear();
    if (!out.joints.empty()) out.links = contacts;
    for (const JointBlocks<d>& joint : out.joints) {
        for (int k = 0; k < joint.count; ++k, ++i) {
            const JointBlock<d>& block = joint.block[k];
            p.w.segment(p.offset[i], block.cone.dim) = block.w;
            if (k == 0) p.w_rounding[i] = joint.rounding;
            if (p.compliance.size() > 0)
                p.compliance.segment(p.offset[i], block.cone.dim).setConstant(block.compliance);
            put_entries<d>(scene, p, i, {joint.a, joint.b}, {block.rows_a, block.rows_b});
            Contact<d> link;
            link.a = joint.a;
            link.b = joint.b >= 0 ? joint.b : joint.a;
            link.arm_a = joint.arm_a;
            link.arm_b = joint.b >= 0 ? joint.arm_b : joint.arm_a;
            out.links.push_back(link);
        }
    }
}

}  // namespace

template <int d>
BodyRows<d> block_frame(const Cone& cone, const Vec<d>& normal) {
    const Mat<d> E = frame_of(normal);
    BodyRows<d> rows = BodyRows<d>::Zero(cone.dim, body_velocities<d>);
    if (cone.kind != ConeKind::wrench) {
        rows.template leftCols<d>() = E.topRows(cone.dim);
        return rows;
    }
    rows.template topLeftCorner<d, d>() = E;
    if constexpr (d == 2) {
        rows(2, 2) = 1;
    } else {  // the normal first (spinning), where it has a law
        const int torques = cone.dim - 3;
        rows.bottomRightCorner(torques, 3) = E.bottomRows(torques);
    }
    return rows;
}

template <int d>
void assemble(const Scene<d>& scene, const ContactSet<d>& contacts, const Vector& v_free,
              const AssembleOptions& o, Assembled<d>& out) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    ConeProblem& p = out.problem;
    fill_bodies(scene, v_free, o, p);

    out.joints.clear();
    bool yields = o.elastic;
    Index blocks = out.contacts = static_cast<Index>(contacts.size());
    for (const Joint<d>& joint : scene.joints) {
        out.joints.push_back(blocks_of(scene, joint, o.h));
        blocks += out.joints.back().count;
        yields = yields || joint.kind == JointKind::spring;
    }
    // Where each block begins: depends on the laws (no tangents without friction) and on which bodies yield.
    p.cones.resize(blocks);
    p.offset.resize(blocks + 1);
    p.H.start.resize(blocks + 1);
    p.H.value_start.resize(blocks + 1);
    const bool controlled = scene.cell.any(), cell_moves = controlled || scene.domain.changes();
    auto crosses = [&](const Contact<d>& c) { return controlled && !shift_of(scene, c).isZero(); };
    for (Index i = 0; i < out.contacts; ++i) {
        const Contact<d>& c = contacts[i];
        const int two = c.a == c.b ? 1 : int(bodies.yields(c.a)) + int(bodies.yields(c.b));
        open_block(p, i, cone_of<d>(scene.materials.law(bodies.material[c.a], bodies.material[c.b])),
                   two + int(crosses(c)));
    }
    Index next = out.contacts;
    for (const JointBlocks<d>& joint : out.joints) {
        if (joint.count == 0) continue;  // a body is gone
        const int two = int(bodies.yields(joint.a)) + int(joint.b >= 0 && bodies.yields(joint.b));
        for (int k = 0; k < joint.count; ++k) open_block(p, next++, joint.block[k].cone, two);
    }
    p.H.body.resize(p.H.start[blocks]);
    p.H.value.resize(p.H.value_start[blocks]);
    p.w.resize(p.rows());
    p.shift_before.setZero(blocks);
    p.pull.resize(scene.materials.cohesive() ? blocks : 0);
    p.pull.setZero();
    p.w_rounding.resize(out.joints.empty() ? 0 : blocks);
    p.w_rounding.setZero();
    p.compliance.resize(yields ? p.rows() : 0);

    const bool belts = std::any_of(scene.drives.begin(), scene.drives.end(),
                                   [](const Drive<d>& drive) { return !drive.belt.isZero(0); });
    parallel_for(o.threads, out.contacts, [&](Index i) {
        const Contact<d>& c = contacts[i];
        const PairLaw& law = scene.materials.law(bodies.material[c.a], bodies.material[c.b]);
        const BodyRows<d> frame = block_frame<d>(p.cones[i], c.normal);
        const int dim = p.cones[i].dim;
        auto w = p.w.segment(p.offset[i], dim);
        w.setZero();
        if (yields) p.compliance.segment(p.offset[i], dim).setZero();
        if (const auto spring = o.elastic ? stiffness_of(scene, c) : std::nullopt) {
            w[0] = soften(*spring, p.cones[i], c.gap, -c.normal.dot(relative_velocity(scene, c)), o.h,
                          p.compliance.segment(p.offset[i], dim));
        } else {
            w[0] = normal_offset(scene, c, law, o);
        }
        if (p.pull.size() > 0) p.pull[i] = pull_of(scene, c, law, o.h);
        if (cell_moves) {
            const Image<d> away = shift_of(scene, c);
            if (!away.isZero()) {
                w -= frame.template leftCols<d>() * known_shift_velocity(scene, away);
                if (controlled) {  // the last entry
                    p.H.body[p.H.start[i + 1] - 1] = p.bodies() - 1;
                    std::copy_n(cell_rows<d>(scene, frame, away).data(), dim * n,
                                p.H.value.data() + p.H.value_start[i + 1] - dim * n);
                }
            }
        }
        if (belts) {
            w += frame.template leftCols<d>() *
                 (belt_velocity(scene, c.a, c.normal) - belt_velocity(scene, c.b, c.normal));
        }
        put_entries<d>(scene, p, i, {c.a, c.b},
                       {rows_at<d>(frame, c.arm_a, 1), rows_at<d>(frame, c.arm_b, -1)});
        p.shift_before[i] = shift_before(scene, c, p.cones[i], frame, belts);
    });
    fill_joints(scene, contacts, out);
    // In key order.
    for (Index i = 0; i < p.pull.size(); ++i) {
        if (p.pull[i] == 0) continue;
        const double* rows = p.H.value.data() + p.H.value_start[i];  // of each body the normal comes first
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k, rows += p.cones[i].dim * n)
            p.f.template segment<n>(static_cast<Eigen::Index>(p.H.body[k]) * n) -=
                p.pull[i] * Eigen::Map<const Eigen::Matrix<double, n, 1>>(rows);
    }
}

template <int d>
Vec<d> belt_velocity(const Scene<d>& scene, Index body, const Vec<d>& normal) {
    if (scene.bodies.is_free(body)) return Vec<d>::Zero();  // most are, and drives are of others
    const GlobalId id = scene.bodies.id[body];
    for (const Drive<d>& drive : scene.drives)
        if (drive.body == id) return drive.belt - normal.dot(drive.belt) * normal;
    return Vec<d>::Zero();
}

template <int d>
Vec<d> impulse_of(const Assembled<d>& assembled, const Vector& r, const Contact<d>& contact, Index i) {
    const ConeProblem& p = assembled.problem;
    const int forces = std::min<int>(d, p.cones[i].dim);
    return frame_of(contact.normal).topRows(forces).transpose() * r.segment(p.offset[i], forces) -
           (p.pull.size() > 0 ? p.pull[i] : 0.0) * contact.normal;
}

template <int d>
Spin<d> torque_of(const Assembled<d>& assembled, const Vector& r, const Contact<d>& contact, Index i) {
    const ConeProblem& p = assembled.problem;
    const Cone& cone = p.cones[i];
    if (cone.kind != ConeKind::wrench) return Spin<d>::Zero();
    return block_frame<d>(cone, contact.normal).template rightCols<spins<d>>().transpose() *
           r.segment(p.offset[i], cone.dim);
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
template Spin<2> torque_of(const Assembled<2>&, const Vector&, const Contact<2>&, Index);
template Spin<3> torque_of(const Assembled<3>&, const Vector&, const Contact<3>&, Index);
template BodyRows<2> block_frame(const Cone&, const Vec<2>&);
template BodyRows<3> block_frame(const Cone&, const Vec<3>&);

}  // namespace drystone
