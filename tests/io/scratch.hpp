// A folder of its own for a test, removed at the end; and small problems to write into it.
#pragma once

#include "drystone/io/problem_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <string>

namespace drystone::testing {

class Scratch {
public:
    Scratch() {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::temp_directory_path() /
                  ("drystone-" + std::string(test->name()) + "-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_ / name; }

private:
    std::filesystem::path folder_;
};

class Dice {
public:
    double operator()() { return uniform_(engine_); }
    Vector vector(Eigen::Index size) {
        Vector x(size);
        for (double& value : x) value = (*this)();
        return x;
    }
    Eigen::MatrixXd positive(int size) {
        Eigen::MatrixXd A(size, size);
        for (double& value : A.reshaped()) value = (*this)();
        const Eigen::MatrixXd S = A * A.transpose() + Eigen::MatrixXd::Identity(size, size);
        return 0.5 * (S + S.transpose());
    }

private:
    std::mt19937_64 engine_{20};
    std::uniform_real_distribution<double> uniform_{-1, 1};
};

/// What a small problem is made of.
struct Recipe {
    int body_dim = 6;
    Index bodies = 4;
    std::vector<Cone> cones;
};

/// Random separate bodies with full mass blocks; block i acts on bodies i and i + 1 (modulo their number), in ascending order.
inline ConeProblem random_problem(const Recipe& recipe) {
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

inline ConeSolution random_solution(const ConeProblem& problem) {
    Dice dice;
    return {dice.vector(problem.rows()), dice.vector(problem.rows()), dice.vector(problem.dofs())};
}

}  // namespace drystone::testing
