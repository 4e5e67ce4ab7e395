#include "drystone/world/sand_stages.hpp"

#include "drystone/contact/assemble.hpp"
#include "drystone/continuum/motion.hpp"
#include "drystone/continuum/rows.hpp"

namespace drystone {

template <int d>
AssembleOptions assemble_options(const StepOptions& options, double h, int threads, bool all_bodies,
                                 const Scene<d>& scene, const SandPart<d>& sand) {
    AssembleOptions out{options.scheme, options.drift,   h,         options.theta_or_default(),
                        threads,        options.elastic, all_bodies};
    if (!sand) return out;
    SandMemory<d>& m = *sand.memory;
    out.touches = static_cast<Index>(m.touches.size());
    out.tensors = m.sites.count();
    m.touched.assign(static_cast<std::size_t>(scene.bodies.count()), 0);
    for (const NodeTouch<d>& touch : m.touches) m.touched[touch.body] = 1;
    out.touched = m.touched;
    return out;
}

template <int d>
void add_sand(const Scene<d>& scene, const SandPart<d>& sand, double h, int threads,
              Assembled<d>& assembled) {
    SandMemory<d>& m = *sand.memory;
    ConeProblem& problem = assembled.problem;
    m.first_touch = assembled.contacts;
    m.first_tensor = m.first_touch + static_cast<Index>(m.touches.size());
    add_nodes(*sand.sand, h * scene.gravity.norm(), threads, m, problem);
    fill_touches(scene, *sand.sand, h, assembled.place, threads, m, problem);
    fill_tensors(*sand.sand, h, threads, m, problem);
}

template <int d>
void add_sand_tiles(const SandPart<d>& sand, Assembled<d>& assembled) {
    if (assembled.others > 0)
        for (Index& block : assembled.problem.tiling.order)
            if (block >= assembled.contacts) block += assembled.others;
    add_tiles(*sand.memory, assembled.place, assembled.problem);
}

namespace {

/// Adds `sign` times the energies of particles to the work of transfers.
template <int d>
void account_particles(const Scene<d>& scene, const SandPart<d>& sand, double sign, StepSums& sums) {
    const Particles<d>& p = sand.sand->particles;
    for (Index i = 0; i < p.count(); ++i) {
        const double mass = sand.sand->mass(i);
        sums.work_transfer.add(sign * 0.5 * mass * p.velocity[i].squaredNorm());
        sums.work_transfer.add(-sign * mass * scene.gravity.dot(p.position[i]));
    }
}

}  // namespace

template <int d>
void account_before(const Scene<d>& scene, const StepMemory<d>& memory, const SandPart<d>& sand, double h,
                    StepSums& sums) {
    constexpr int n = body_velocities<d>;
    const SandMemory<d>& m = *sand.memory;
    const ConeProblem& p = memory.assembled.problem;
    const Bodies<d>& bodies = scene.bodies;
    const Eigen::Index first = first_velocity(memory.assembled);
    const auto end = [&](Index node) -> Vec<d> {
        return memory.solution.v.template segment<d>(first + static_cast<Eigen::Index>(node) * d);
    };
    // With the mean of the velocities at begin and end.
    const auto mean = [&](Index node) -> Vec<d> { return 0.5 * (m.begin[node] + end(node)); };
    for (Index k = 0; k < static_cast<Index>(m.touches.size()); ++k) {
        const NodeTouch<d>& touch = m.touches[k];
        const Index block = m.first_touch + k;
        const Vec<d> impulse =
            in_world<d>(p.cones[block], touch.normal, memory.solution.r.data() + p.offset[block]).force;
        if (impulse.isZero(0)) continue;
        double work = impulse.dot(mean(touch.node));
        const Index j = touch.body;
        const Vec<d> arm = m.grid.node_position(touch.node) - bodies.position[j];
        if (bodies.is_free(j)) {
            const auto at = static_cast<Eigen::Index>(j) * n;
            const auto v = memory.v_end.template segment<n>(at), free = memory.v_free.template segment<n>(at);
            const Vec<d> velocity = 0.5 * (bodies.velocity[j] + v.template head<d>());
            const Spin<d> spin = 0.5 * (free.template tail<spins<d>>() + v.template tail<spins<d>>());
            work -= impulse.dot(velocity + cross(spin, arm));
        } else {
            sums.work_held.add(impulse.dot(bodies.velocity[j] + cross(bodies.spin[j], arm) +
                                           belt_velocity(scene, j, touch.normal)));
        }
        sums.work_contacts.add(work);
    }
    const TensorRows& rows = p.tensors;
    for (Index i = 0; i < rows.size(); ++i) {
        const Index block = m.first_tensor + i;
        Tensor<d> r = memory.solution.r.template segment<tensor_size<d>>(p.offset[block]);
        if (p.pull.size() > 0) r[0] -= p.pull[block];
        const Mat<d> S = half_matrix<d>(r.data());
        double work = 0;
        for (Index e = rows.start[i]; e < rows.start[i + 1]; ++e)
            work += mean(rows.body[e] - m.first_body).dot(S * rows.gradient_of<d>(e));
        sums.work_stress.add(work);
    }
    account_particles(scene, sand, -1, sums);
    for (Index j = 0; j < m.grid.node_count(); ++j) {
        const double mass = sand.sand->material.density * m.state.volume[j];
        const Vec<d> after = end(j);
        if (sand.sand->material.viscosity > 0) {
            const Vec<d> viscous = mass * (m.state.velocity[j] - m.begin[j] - h * scene.gravity);
            sums.work_stress.add(viscous.dot(mean(j)));
        }
        sums.work_transfer.add(0.5 * mass * (m.begin[j].squaredNorm() - after.squaredNorm()));
        sums.work_transfer.add(h * mass * scene.gravity.dot(after));
        sums.work_scheme.add(-0.5 * h * mass * scene.gravity.dot(after - m.begin[j]));
    }
}

template <int d>
void account_after(const Scene<d>& scene, const SandPart<d>& sand, StepSums& sums) {
    account(scene, *sand.sand, sums.kinetic, sums.potential);
    account_particles(scene, sand, 1, sums);
}

#define DRYSTONE_SAND_STAGES(d)                                                                       \
    template AssembleOptions assemble_options(const StepOptions&, double, int, bool, const Scene<d>&, \
                                              const SandPart<d>&);                                    \
    template void add_sand(const Scene<d>&, const SandPart<d>&, double, int, Assembled<d>&);          \
    template void add_sand_tiles(const SandPart<d>&, Assembled<d>&);                                  \
    template void account_before(const Scene<d>&, const StepMemory<d>&, const SandPart<d>&, double,   \
                                 StepSums&);                                                          \
    template void account_after(const Scene<d>&, const SandPart<d>&, StepSums&)
DRYSTONE_SAND_STAGES(2);
DRYSTONE_SAND_STAGES(3);
#undef DRYSTONE_SAND_STAGES

}  // namespace drystone
