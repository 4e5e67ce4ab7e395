// A body of unit mass, pushed along a plane with friction 0.4.
#include <drystone/solve/solve.hpp>

#include <cstdio>

int main() {
    using namespace drystone;
    ConeProblem problem;
    problem.only().dim = 3;  // velocities of a body that does not turn
    problem.only().count = 1;
    problem.only().mass = BlockInverseMass{{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    problem.f = Vector::Zero(3);
    problem.f[0] = 5;
    problem.f[2] = -1;
    problem.add_block(Cone::second_order(3, 0.4));
    problem.add_entry(0, std::vector<double>{0, 0, 1, 1, 0, 0, 0, 1, 0});  // normal, then two tangents
    problem.w = Vector::Zero(3);
    ConeSolution solution;
    const SolveReport report = solve(problem, {}, solution);
    std::printf("%s, slides at %.6f\n", name_of(report.status), solution.v[0]);
    return report.status == Status::solved ? 0 : 1;
}
