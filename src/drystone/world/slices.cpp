#include "drystone/world/slices.hpp"

namespace drystone {

template <int d>
StepMemory<d> memory_of(const Slices<d>& slices) {
    StepMemory<d> memory;
    ConeProblem& problem = memory.assembled.problem;
    std::vector<double> r, pull;
    for (const SlicedContact<d>& sliced : slices.contacts) {
        Contact<d>& c = memory.contacts.emplace_back(sliced.contact);
        c.a = static_cast<Index>(sliced.row_a);
        c.b = static_cast<Index>(sliced.row_b);
        problem.cones.push_back(sliced.cone);
        problem.offset.push_back(problem.offset.back() + sliced.cone.dim);
        r.insert(r.end(), sliced.r.begin(), sliced.r.begin() + sliced.cone.dim);
        pull.push_back(sliced.pull);
    }
    memory.assembled.contacts = static_cast<Index>(memory.contacts.size());
    memory.solution.r = Eigen::Map<const Eigen::VectorXd>(r.data(), static_cast<Eigen::Index>(r.size()));
    problem.pull = Eigen::Map<const Eigen::VectorXd>(pull.data(), static_cast<Eigen::Index>(pull.size()));
    return memory;
}

template StepMemory<2> memory_of(const Slices<2>&);
template StepMemory<3> memory_of(const Slices<3>&);

}  // namespace drystone
