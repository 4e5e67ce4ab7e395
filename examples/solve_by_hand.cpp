// A contact problem without bodies or time: mass, rows, cones, and a solver. A body of 1 kg is thrown along a plane
// with friction 0.4 at 5 m/s, while an impulse of 1 Ns presses it down.
//
//     $ solve_by_hand
//     solved: it goes on at 4.6 m/s; the plane pushed back with 1 Ns and held it back with 0.4 Ns
#include <drystone/solve/solve.hpp>

#include <cstdio>
#include <vector>

int main() {
    using namespace drystone;
    ConeProblem problem;
    problem.only().dim = 3;  // velocities of a body that does not turn
    problem.only().count = 1;
    problem.only().mass = BlockInverseMass{{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    problem.f = Vector::Zero(3);
    problem.f[0] = 5;                                                      // momentum along x, Ns
    problem.f[2] = -1;                                                     // and down
    problem.add_block(Cone::second_order(3, 0.4));                         // one contact, with friction
    problem.add_entry(0, std::vector<double>{0, 0, 1, 1, 0, 0, 0, 1, 0});  // rows: normal, then two tangents
    problem.w = Vector::Zero(3);
    ConeSolution solution;
    const SolveReport report = solve(problem, {}, solution);
    std::printf(
        "%s: it goes on at %.3g m/s; the plane pushed back with %.3g Ns and held it back with %.3g Ns\n",
        name_of(report.status), solution.v[0], solution.r[0], -solution.r[1]);
    return report.status == Status::solved ? 0 : 1;
}
