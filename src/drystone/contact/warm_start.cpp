#include "drystone/contact/warm_start.hpp"

namespace drystone {

template <int d>
void recall(const WarmStart<d>& memory, const ContactSet<d>& contacts, const ConeProblem& problem, double h,
            Vector& r) {
    r.setZero(problem.rows());
    if (memory.key.empty() || memory.h <= 0) return;
    const double scale = h / memory.h;
    std::size_t k = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        while (k < memory.key.size() && memory.key[k] < contacts[i].key) ++k;
        if (k == memory.key.size()) break;
        if (memory.key[k] != contacts[i].key) continue;
        const int dim = problem.cones[i].dim;
        r.segment(problem.offset[i], dim) =
            scale * (frame_of(contacts[i].normal).topRows(dim) * memory.impulse[k]);
    }
}

template <int d>
void remember(const ContactSet<d>& contacts, const ConeProblem& problem, double h, const Vector& r,
              WarmStart<d>& memory) {
    memory.h = h;
    memory.key.clear();
    memory.impulse.clear();
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const int dim = problem.cones[i].dim;
        const auto ri = r.segment(problem.offset[i], dim);
        if (ri.isZero(0)) continue;
        memory.key.push_back(contacts[i].key);
        memory.impulse.push_back(frame_of(contacts[i].normal).topRows(dim).transpose() * ri);
    }
}

template void recall(const WarmStart<2>&, const ContactSet<2>&, const ConeProblem&, double, Vector&);
template void recall(const WarmStart<3>&, const ContactSet<3>&, const ConeProblem&, double, Vector&);
template void remember(const ContactSet<2>&, const ConeProblem&, double, const Vector&, WarmStart<2>&);
template void remember(const ContactSet<3>&, const ConeProblem&, double, const Vector&, WarmStart<3>&);

}  // namespace drystone
