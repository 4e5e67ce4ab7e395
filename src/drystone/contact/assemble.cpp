#include "drystone/contact/assemble.hpp"

#include "drystone/base/huge_pages.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/bodies/free_rotation.hpp"
#include "drystone/contact/elasticity.hpp"

#include <Eigen/LU>

#include <algorithm>

namespace drystone {

namespace {

template <int d>
using Velocities = Eigen::Matrix<double, body_velocities<d>, 1>;
template <int d>
using BodyBlock = Eigen::Matrix<double, body_velocities<d>, body_velocities<d>, Eigen::RowMajor>;

/// A guided body: damping is taken at the end of the step, as part of its mass.
template <int d>
void fill_guided(const Scene<d>& scene, Index i, double h, Eigen::Map<BodyBlock<d>> inverse,
                 Eigen::Map<Velocities<d>> f) {
    const Guide<d>& guide = guide_of(scene, i);
    const double speed = guide.axis.dot(scene.bodies.velocity[i]);
    inverse.setZero();
    inverse.template topLeftCorner<d, d>() =
        guide.axis * guide.axis.transpose() / (guide.mass + h * guide.damping);
    f.setZero();
    f.template head<d>() = (guide.mass * speed + h * guide.force) * guide.axis;
}

/// Inertia of the rates of a cell: its mass moves with the farthest side.
template <int d>
void fill_cell(const Scene<d>& scene, double h, Eigen::Map<BodyBlock<d>> inverse,
               Eigen::Map<Velocities<d>> f) {
    const CellControl<d>& cell = scene.cell;
    const Domain<d>& domain = scene.domain;
    double mass = cell.mass;
    for (Index i = 0; i < scene.bodies.count() && cell.mass == 0; ++i)
        if (scene.bodies.is_free(i)) mass += scene.bodies.mass[i];
    inverse.setZero();
    f.setZero();
    auto set = [&](int k, double length, double rate, const std::optional<double>& stress) {
        if (!stress) return;
        const double inertia = mass * length * length;
        inverse(k, k) = 1 / inertia;
        f[k] = inertia * rate - h * domain.volume() * *stress;
    };
    for (int k = 0; k < d; ++k) set(k, domain.period[k], domain.rate[k], cell.stress[k]);
    set(d, domain.period[d - 1], domain.shear_rate, cell.shear_stress);
}

/// Which bodies of the scene are bodies of the problem, and where.
template <int d>
void place_bodies(const Scene<d>& scene, const ContactSet<d>& contacts, const AssembleOptions& o,
                  Assembled<d>& out) {
    const Bodies<d>& bodies = scene.bodies;
    out.body.clear();
    if (o.all_bodies) {
        out.place.resize(bodies.count());
        for (Index i = 0; i < bodies.count(); ++i) out.body.push_back(out.place[i] = i);
        out.rigid = bodies.count();
        return;
    }
    out.place.assign(bodies.count(), -1);
    const auto touch = [&](Index i) {
        if (i >= 0) out.place[i] = 0;
    };
    for (const Contact<d>& c : contacts) {
        touch(c.a);
        touch(c.b);
    }
    for (std::size_t i = 0; i < o.touched.size(); ++i)
        if (o.touched[i] != 0) touch(static_cast<Index>(i));
    for (const JointBlocks<d>& joint : out.joints) {
        if (joint.count == 0) continue;
        touch(joint.a);
        touch(joint.b);
    }
    const auto number = [&](Motion motion) {
        for (Index i = 0; i < bodies.count(); ++i) {
            if (out.place[i] < 0 || bodies.motion[i] != motion) continue;
            out.place[i] = static_cast<Index>(out.body.size());
            out.body.push_back(i);
        }
    };
    for (Index i = 0; i < bodies.count(); ++i)
        if (bodies.motion[i] == Motion::held) out.place[i] = -1;
    number(Motion::free);
    out.rigid = static_cast<Index>(out.body.size());
    // A wall that touches nothing moves all the same.
    for (Index i = 0; i < bodies.count(); ++i)
        if (bodies.is_guided(i)) out.place[i] = 0;
    number(Motion::guided);
}

/// Mass and momentum of the rigid bodies.
template <int d>
void fill_rigid(const Scene<d>& scene, const Vector& v_free, const AssembleOptions& o, Assembled<d>& out) {
    constexpr int n = body_velocities<d>;
    const Bodies<d>& bodies = scene.bodies;
    Species& species = out.problem.species[0];
    species.dim = n;
    species.count = out.rigid;
    if (!std::holds_alternative<RigidInverseMass>(species.mass)) species.mass = RigidInverseMass{};
    auto& mass = std::get<RigidInverseMass>(species.mass);
    bool alike = true;
    for (Index k = 0; k < out.rigid && alike; ++k)
        alike = !bodies.is_free(out.body[k]) || turns_alike<d>(bodies.inertia[out.body[k]]);
    const int moments = alike ? 1 : 6;
    mass.mass.resize(static_cast<std::size_t>(out.rigid));
    mass.inertia.resize(static_cast<std::size_t>(out.rigid) * moments);
    parallel_for(o.threads, out.rigid, [&](Index k) {
        const Index i = out.body[k];
        auto f = out.problem.f.template segment<n>(static_cast<Eigen::Index>(k) * n);
        double* inertia = mass.inertia.data() + static_cast<std::ptrdiff_t>(k) * moments;
        if (!bodies.is_free(i)) {
            mass.mass[k] = 0;
            std::fill_n(inertia, moments, 0.0);
            f.setZero();
            return;
        }
        const auto v = v_free.template segment<n>(static_cast<Eigen::Index>(i) * n);
        mass.mass[k] = 1 / bodies.mass[i];
        f.template head<d>() = bodies.mass[i] * v.template head<d>();
        if (alike) {
            *inertia = 1 / bodies.inertia[i][0];
            f.template tail<spins<d>>() = bodies.inertia[i][0] * v.template tail<spins<d>>();
            return;
        }
        if constexpr (d == 3) {
            const Rotation<d> rotation = rotation_at_impulse(bodies, i, o.h, o.theta);
            const Mat<3> inverse = inertia_in_world<d>(rotation, bodies.inertia[i].cwiseInverse());
            for (int row = 0; row < 3; ++row)
                for (int column = 0; column <= row; ++column) *inertia++ = inverse(row, column);
            f.template tail<3>() = inertia_in_world<d>(rotation, bodies.inertia[i]) * v.template tail<3>();
        }
    });
}

/// Rigid bodies first, then what moves in another way: guided bodies and the cell.
template <int d>
void fill_bodies(const Scene<d>& scene, const Vector& v_free, const AssembleOptions& o, Assembled<d>& out) {
    constexpr int n = body_velocities<d>;
    ConeProblem& p = out.problem;
    const Index guided = static_cast<Index>(out.body.size()) - out.rigid,
                others = guided + (scene.cell.any() ? 1 : 0);
    p.species.resize(others > 0 ? 2 : 1);
    out.moving = out.rigid + others;
    p.f.resize(static_cast<Eigen::Index>(out.rigid + others) * n);
    fill_rigid(scene, v_free, o, out);
    if (others == 0) return;
    Species& species = p.species[1];
    species.dim = n;
    species.count = others;
    species.mass = BlockInverseMass{std::vector<double>(static_cast<std::size_t>(others) * n * n)};
    auto& blocks = std::get<BlockInverseMass>(species.mass).blocks;
    for (Index k = 0; k < others; ++k) {
        const Eigen::Map<BodyBlock<d>> inverse(blocks.data() + static_cast<std::size_t>(k) * n * n);
        const Eigen::Map<Velocities<d>> f(p.f.data() + static_cast<std::ptrdiff_t>(out.rigid + k) * n);
        if (k < guided) {
            fill_guided<d>(scene, out.body[out.rigid + k], o.h, inverse, f);
        } else {
            fill_cell<d>(scene, o.h, inverse, f);
        }
    }
}

/// What a contact across the sides of a controlled cell has to do with the cell's rates: u contains -E d(shift
/// velocity)/d(rates) rates.
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
Vec<d> known_translation_velocity(const Scene<d>& scene, const Image<d>& away) {
    Domain<d> known = scene.domain;
    for (int k = 0; k < d; ++k)
        if (scene.cell.stress[k]) known.rate[k] = 0;
    if (scene.cell.shear_stress) known.shear_rate = 0;
    return known.translation_velocity(away);
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
    // A deep overlap (a scene that starts so, a grain crushed by held bodies) is pushed out over several steps, not
    // shot out in one.
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

/// What is known of the motion of a body beside the problem's velocities: all of a held one's, what is across the axis
/// of a guided one.
template <int d>
Wrench<d> known_motion(const Scene<d>& scene, Index j) {
    const Bodies<d>& bodies = scene.bodies;
    if (bodies.is_free(j)) return {};
    if (!bodies.yields(j)) return {bodies.velocity[j], bodies.spin[j]};
    const Vec<d> axis = guide_of(scene, j).axis;
    return {bodies.velocity[j] - axis.dot(bodies.velocity[j]) * axis, bodies.spin[j]};
}

/// Writes the general rows of a contact, where it has any: of a body and its own image, of guided bodies, of the cell.
template <int d>
void put_rows(const Scene<d>& scene, const Contact<d>& c, Index i, bool controlled, Assembled<d>& out) {
    ConeProblem& p = out.problem;
    const BodyRows<d> frame = block_frame<d>(p.cones[i], c.normal);
    Index entry = p.H.start[i];
    double* value = p.H.value.data() + p.H.value_start[i];
    const auto put = [&](Index body, const BodyRows<d>& rows) {
        p.H.body[entry++] = body;
        value = std::copy_n(rows.data(), rows.size(), value);
    };
    if (c.a == c.b) {
        put(out.place[c.a], rows_at<d>(frame, c.arm_a, 1) + rows_at<d>(frame, c.arm_b, -1));
    } else {
        if (scene.bodies.is_guided(c.a)) put(out.place[c.a], rows_at<d>(frame, c.arm_a, 1));
        if (scene.bodies.is_guided(c.b)) put(out.place[c.b], rows_at<d>(frame, c.arm_b, -1));
    }
    if (!controlled) return;
    const Image<d> away = periods_between(scene, c);
    if (!away.isZero()) put(static_cast<Index>(out.body.size()), cell_rows<d>(scene, frame, away));
}

/// How many of them there are.
template <int d>
int rows_to_put(const Scene<d>& scene, const Contact<d>& c, bool controlled) {
    const int own = c.a == c.b ? 1 : int(scene.bodies.is_guided(c.a)) + int(scene.bodies.is_guided(c.b));
    return own + int(controlled && !periods_between(scene, c).isZero());
}

/// Opens block i of the general rows.
void open_rows(ConeProblem& p, Index i, int entries) {
    p.H.start[i + 1] = p.H.start[i] + entries;
    p.H.value_start[i + 1] =
        p.H.value_start[i] + static_cast<std::int64_t>(entries) * p.cones[i].dim * p.species.front().dim;
}

/// Rows, offsets and links of the joints' blocks.
template <int d>
void fill_joints(const Scene<d>& scene, const ContactSet<d>& contacts, Assembled<d>& out) {
    ConeProblem& p = out.problem;
    Index i = out.contacts + out.others;
    out.links.clear();
    if (!out.joints.empty()) out.links = contacts;
    for (const JointBlocks<d>& joint : out.joints) {
        for (int k = 0; k < joint.count; ++k, ++i) {
            const JointBlock<d>& block = joint.block[k];
            auto w = p.w.segment(p.offset[i], block.cone.dim);
            w = block.w;
            if (k == 0) p.w_rounding[i] = joint.rounding;
            if (p.compliance.size() > 0)
                p.compliance.segment(p.offset[i], block.cone.dim).setConstant(block.compliance);
            Index entry = p.H.start[i];
            double* value = p.H.value.data() + p.H.value_start[i];
            const auto side = [&](Index j, const BodyRows<d>& rows) {
                if (j < 0) return;
                if (scene.bodies.yields(j)) {
                    p.H.body[entry++] = out.place[j];
                    value = std::copy_n(rows.data(), rows.size(), value);
                }
                const Wrench<d> known = known_motion(scene, j);
                w += rows.template leftCols<d>() * known.force +
                     rows.template rightCols<spins<d>>() * known.torque;
            };
            side(joint.a, block.rows_a);
            side(joint.b, block.rows_b);
            Contact<d> link;
            link.a = joint.a;
            link.b = joint.b >= 0 ? joint.b : joint.a;
            link.arm_a = joint.arm_a;
            link.arm_b = joint.b >= 0 ? joint.arm_b : joint.arm_a;
            out.links.push_back(link);
        }
    }
}

/// Cones, offsets and general rows of all blocks; sizes of all that belongs to blocks.
template <int d>
void open_blocks(const Scene<d>& scene, const ContactSet<d>& contacts, const AssembleOptions& o, bool yields,
                 Assembled<d>& out) {
    const Bodies<d>& bodies = scene.bodies;
    ConeProblem& p = out.problem;
    Index blocks = out.contacts + out.others;
    for (const JointBlocks<d>& joint : out.joints) blocks += joint.count;
    refit(p.cones, static_cast<std::size_t>(blocks));
    refit(p.offset, static_cast<std::size_t>(blocks) + 1);
    p.offset[0] = 0;
    const bool guided = std::any_of(scene.drives.begin(), scene.drives.end(),
                                    [](const Drive<d>& drive) { return drive.guide.has_value(); });
    // A body meets its own image only where the domain repeats.
    const bool general = blocks > out.contacts + out.others || scene.domain.periodic() || guided;
    p.H.start.assign(general ? blocks + 1 : 1, 0);
    p.H.value_start.assign(general ? blocks + 1 : 1, 0);
    const auto open = [&](Index i, const Cone& cone) {
        p.cones[i] = cone;
        p.offset[i + 1] = p.offset[i] + cone.dim;
    };
    for (Index i = 0; i < out.contacts; ++i) {
        const Contact<d>& c = contacts[i];
        open(i, cone_of<d>(scene.materials.law(bodies.material[c.a], bodies.material[c.b])));
        if (general) open_rows(p, i, rows_to_put(scene, c, scene.cell.any()));
    }
    Index next = out.contacts;
    const Cone touch = Cone::second_order(d, 0), tensor = Cone::second_order(d * (d + 1) / 2, 0);
    for (; next < out.contacts + out.others; ++next) {
        open(next, next < out.contacts + o.touches ? touch : tensor);
        if (general) open_rows(p, next, 0);
    }
    for (const JointBlocks<d>& joint : out.joints) {
        for (int k = 0; k < joint.count; ++k, ++next) {
            open(next, joint.block[k].cone);
            open_rows(p, next, int(bodies.yields(joint.a)) + int(joint.b >= 0 && bodies.yields(joint.b)));
        }
    }
    p.H.body.resize(static_cast<std::size_t>(p.H.start.back()));
    p.H.value.resize(static_cast<std::size_t>(p.H.value_start.back()));
    p.w.resize(p.rows());
    p.shift_before.setZero(blocks);
    p.pull.resize(scene.materials.cohesive() ? blocks : 0);
    p.pull.setZero();
    p.w_rounding.resize(out.joints.empty() ? 0 : blocks);
    p.w_rounding.setZero();
    p.compliance.resize(yields ? p.rows() : 0);
    if (yields) {
        const Index first = p.offset[out.contacts];
        p.compliance.segment(first, p.offset[out.contacts + out.others] - first).setZero();
    }
}

/// Takes what f holds against the pull of cohesive contacts from it, in key order.
template <int d>
void subtract_pulls(Assembled<d>& out) {
    constexpr int n = body_velocities<d>;
    ConeProblem& p = out.problem;
    const auto& rows = contacts_of<d>(p.contacts);
    for (Index i = 0; i < p.pull.size(); ++i) {
        if (p.pull[i] == 0) continue;
        const ContactRow<d>& c = rows[i];
        const auto side = [&](Index body, const Vec<d>& arm, double impulse) {
            if (body < 0) return;
            auto f = p.f.template segment<n>(static_cast<Eigen::Index>(body) * n);
            f.template head<d>() -= impulse * c.normal;
            f.template tail<spins<d>>() -= impulse * torque(arm, c.normal);
        };
        side(c.a, c.arm_a, p.pull[i]);
        side(c.b, c.arm_b, -p.pull[i]);
        for_each_entry(p, p.H, i, [&](Index, auto place, const BodyRowsOf& A) {
            p.f.template segment<n>(place.first) -= p.pull[i] * A.row(0).transpose();
        });
    }
}

}  // namespace

template <int d>
void assemble(const Scene<d>& scene, const ContactSet<d>& contacts, const Vector& v_free,
              const AssembleOptions& o, Assembled<d>& out) {
    const Bodies<d>& bodies = scene.bodies;
    ConeProblem& p = out.problem;
    out.contacts = static_cast<Index>(contacts.size());
    out.others = o.touches + o.tensors;
    out.joints.clear();
    bool yields = o.elastic;
    for (const Joint<d>& joint : scene.joints) {
        out.joints.push_back(blocks_of(scene, joint, o.h));
        yields = yields || joint.kind == JointKind::spring;
    }
    place_bodies(scene, contacts, o, out);
    fill_bodies(scene, v_free, o, out);
    open_blocks(scene, contacts, o, yields, out);

    const bool controlled = scene.cell.any(), cell_moves = controlled || scene.domain.changes();
    const bool belts = std::any_of(scene.drives.begin(), scene.drives.end(),
                                   [](const Drive<d>& drive) { return !drive.belt.isZero(0); });
    auto& rows = contacts_of<d>(p.contacts);
    refit(rows, contacts.size() + static_cast<std::size_t>(o.touches));
    p.tensors.clear();
    parallel_for(o.threads, out.contacts, [&](Index i) {
        const Contact<d>& c = contacts[i];
        const Cone& cone = p.cones[i];
        const PairLaw& law = scene.materials.law(bodies.material[c.a], bodies.material[c.b]);
        const auto place = [&](Index body) {
            return c.a != c.b && bodies.is_free(body) ? out.place[body] : Index{-1};
        };
        rows[i] = {place(c.a), place(c.b), c.normal, c.arm_a, c.arm_b};
        if (p.H.first(i) != p.H.last(i)) put_rows(scene, c, i, controlled, out);

        // What is known of the relative velocity, and what it was before the step.
        Wrench<d> known, before{relative_velocity(scene, c), bodies.spin[c.a] - bodies.spin[c.b]};
        const auto side = [&](Index j, const Vec<d>& arm, double sign) {
            if (bodies.is_free(j)) return;
            const Wrench<d> motion = known_motion(scene, j);
            known.force += sign * (motion.force + cross(motion.torque, arm));
            known.torque += sign * motion.torque;
        };
        side(c.a, c.arm_a, 1);
        side(c.b, c.arm_b, -1);
        if (cell_moves) known.force -= known_translation_velocity(scene, periods_between(scene, c));
        if (belts) {
            const Vec<d> belt = belt_velocity(scene, c.a, c.normal) - belt_velocity(scene, c.b, c.normal);
            known.force += belt;
            before.force += belt;
        }
        auto w = p.w.segment(p.offset[i], cone.dim);
        in_frame<d>(cone, c.normal, known, w.data());
        if (yields) p.compliance.segment(p.offset[i], cone.dim).setZero();
        if (const auto spring = o.elastic ? stiffness_of(scene, c) : std::nullopt) {
            w[0] += soften(*spring, cone, c.gap, -c.normal.dot(relative_velocity(scene, c)), o.h,
                           p.compliance.segment(p.offset[i], cone.dim));
        } else {
            w[0] += normal_offset(scene, c, law, o);
        }
        if (p.pull.size() > 0) p.pull[i] = pull_of(scene, c, law, o.h);
        std::array<double, max_block> u;
        in_frame<d>(cone, c.normal, before, u.data());
        p.shift_before[i] = shift(cone, std::span(u.data(), cone.dim));
    });
    fill_joints(scene, contacts, out);
    subtract_pulls(out);
}

template <int d>
void end_velocities(const Assembled<d>& assembled, const Vector& v_free, const Vector& untouched,
                    const Vector& v, int threads, Vector& out) {
    constexpr int n = body_velocities<d>;
    const auto bodies = static_cast<Index>(assembled.body.size());
    const Index cell = assembled.moving - bodies;
    out.resize(v_free.size() + static_cast<Eigen::Index>(cell) * n);
    parallel_for(threads, static_cast<Index>(assembled.place.size()), [&](Index i) {
        const Index k = assembled.place[i];
        const auto at = static_cast<Eigen::Index>(i) * n;
        const auto from = static_cast<Eigen::Index>(k) * n;
        const bool moved = k >= assembled.rigid ||
                           (k >= 0 && v.template segment<n>(from) != untouched.template segment<n>(from));
        if (moved) {
            out.template segment<n>(at) = v.template segment<n>(from);
        } else {
            out.template segment<n>(at) = v_free.template segment<n>(at);
        }
    });
    out.tail(static_cast<Eigen::Index>(cell) * n) =
        v.segment(static_cast<Eigen::Index>(bodies) * n, static_cast<Eigen::Index>(cell) * n);
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
    return in_world<d>(p.cones[i], contact.normal, r.data() + p.offset[i]).force -
           (p.pull.size() > 0 ? p.pull[i] : 0.0) * contact.normal;
}

template <int d>
Spin<d> torque_of(const Assembled<d>& assembled, const Vector& r, const Contact<d>& contact, Index i) {
    const ConeProblem& p = assembled.problem;
    const Cone& cone = p.cones[i];
    if (cone.kind != ConeKind::wrench) return Spin<d>::Zero();
    return in_world<d>(cone, contact.normal, r.data() + p.offset[i]).torque;
}

template void end_velocities(const Assembled<2>&, const Vector&, const Vector&, const Vector&, int, Vector&);
template void end_velocities(const Assembled<3>&, const Vector&, const Vector&, const Vector&, int, Vector&);
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

}  // namespace drystone
