#include "drystone/contact/warm_start.hpp"

#include <array>

namespace drystone {

template <int d>
void recall(const WarmStart<d>& memory, const ContactSet<d>& contacts, const ConeProblem& problem, double h,
            Vector& r) {
    r = problem.pull_impulse();
    if (memory.h <= 0) return;
    const double scale = h / memory.h;
    const auto joints = r.size() - problem.offset[contacts.size()];
    if (memory.joints.size() == joints) r.tail(joints) = scale * memory.joints;
    std::size_t k = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        while (k < memory.key.size() && memory.key[k] < contacts[i].key) ++k;
        if (k == memory.key.size()) break;
        if (memory.key[k] != contacts[i].key) continue;
        const Cone& cone = problem.cones[i];
        const Wrench<d> wrench{memory.impulse[k],
                               memory.torque.empty() ? Spin<d>(Spin<d>::Zero()) : memory.torque[k]};
        std::array<double, max_block> local;
        in_frame<d>(cone, contacts[i].normal, wrench, local.data());
        for (int c = 0; c < cone.dim; ++c) r[problem.offset[i] + c] += scale * local[c];
    }
}

template <int d>
void remember(const ContactSet<d>& contacts, const ConeProblem& problem, double h, const Vector& r,
              WarmStart<d>& memory, std::span<const std::uint8_t> ours) {
    memory.h = h;
    memory.key.clear();
    memory.impulse.clear();
    memory.torque.clear();
    const Vector without_pull = problem.pull.size() > 0 ? Vector(r - problem.pull_impulse()) : Vector();
    const Vector& borne = problem.pull.size() > 0 ? without_pull : r;
    memory.joints = r.tail(r.size() - problem.offset[contacts.size()]);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const Cone& cone = problem.cones[i];
        const auto ri = borne.segment(problem.offset[i], cone.dim);
        if (ri.isZero(0) || (!ours.empty() && ours[i] == 0)) continue;
        const Wrench<d> wrench = in_world<d>(cone, contacts[i].normal, ri.data());
        memory.key.push_back(contacts[i].key);
        memory.impulse.push_back(wrench.force);
        if (cone.kind == ConeKind::wrench) memory.torque.resize(memory.key.size() - 1, Spin<d>::Zero());
        if (cone.kind == ConeKind::wrench || !memory.torque.empty()) memory.torque.push_back(wrench.torque);
    }
}

template <int d>
void stretch_springs(const ContactSet<d>& contacts, const Vector& r, ConeProblem& problem) {
    if (problem.compliance.size() == 0) return;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const Index begin = problem.offset[i] + 1, size = problem.cones[i].dim - 1;
        problem.w.segment(begin, size) -=
            problem.compliance.segment(begin, size).cwiseProduct(r.segment(begin, size));
    }
}

#define DRYSTONE_WARM_START(d)                                                                             \
    template void recall(const WarmStart<d>&, const ContactSet<d>&, const ConeProblem&, double, Vector&);  \
    template void remember(const ContactSet<d>&, const ConeProblem&, double, const Vector&, WarmStart<d>&, \
                           std::span<const std::uint8_t>);                                                 \
    template void stretch_springs(const ContactSet<d>&, const Vector&, ConeProblem&)
DRYSTONE_WARM_START(2);
DRYSTONE_WARM_START(3);
#undef DRYSTONE_WARM_START

}  // namespace drystone
