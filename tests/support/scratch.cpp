#include "support/scratch.hpp"

#include <fstream>

namespace drystone::testing {

std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

Eigen::MatrixXd Dice::positive(int size) {
    Eigen::MatrixXd A(size, size);
    for (double& value : A.reshaped()) value = (*this)();
    const Eigen::MatrixXd S = A * A.transpose() + Eigen::MatrixXd::Identity(size, size);
    return 0.5 * (S + S.transpose());
}

ConeProblem random_problem(const Recipe& recipe) {
    Dice dice;
    ConeProblem problem;
    problem.only().dim = recipe.body_dim;
    problem.only().count = recipe.bodies;
    BlockInverseMass mass;
    for (Index j = 0; j < recipe.bodies; ++j) {
        const Eigen::MatrixXd block = dice.positive(recipe.body_dim);
        mass.blocks.insert(mass.blocks.end(), block.data(), block.data() + block.size());
    }
    problem.only().mass = mass;
    problem.f = dice.vector(problem.dofs());
    Index i = 0;
    for (const Cone& cone : recipe.cones) {
        problem.add_block(cone);
        const Index a = i % recipe.bodies;
        const Index b = (i + 1) % recipe.bodies;
        for (const Index body : {std::min(a, b), std::max(a, b)}) {
            const Vector values = dice.vector(static_cast<Eigen::Index>(cone.dim) * recipe.body_dim);
            problem.add_entry(body, std::span(values.data(), static_cast<std::size_t>(values.size())));
        }
        ++i;
    }
    problem.w = dice.vector(problem.rows());
    return problem;
}

ConeSolution random_solution(const ConeProblem& problem) {
    Dice dice;
    return {dice.vector(problem.rows()), dice.vector(problem.rows()), dice.vector(problem.dofs())};
}

}  // namespace drystone::testing
