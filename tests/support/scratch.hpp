// A folder of its own for a test, removed at the end; and small problems to write into it.
#pragma once

#include "drystone/problems/problem_file.hpp"

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

/// All that is in a file; nothing where there is none.
std::string bytes_of(const std::filesystem::path& file);

class Dice {
public:
    double operator()() { return uniform_(engine_); }
    Vector vector(Eigen::Index size) {
        Vector x(size);
        for (double& value : x) value = (*this)();
        return x;
    }
    /// Symmetric and positive definite.
    Eigen::MatrixXd positive(int size);

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

/// Random separate bodies with full mass blocks; block i acts on bodies i and i + 1 (modulo their number), in ascending
/// order.
ConeProblem random_problem(const Recipe& recipe);

ConeSolution random_solution(const ConeProblem& problem);

}  // namespace drystone::testing
