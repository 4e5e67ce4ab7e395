// Runs the command as a shell does, and holds what it said.
#pragma once

#include "solve/sample_problems.hpp"
#include "support/scratch.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace drystone::testing {

struct Answer {
    int code = -1;  ///< exit code; -1 if the command was killed
    std::string out, err;

    /// stdout as JSON, one object per line; a line that is not JSON throws.
    [[nodiscard]] std::vector<nlohmann::json> objects() const;
};

std::string quoted(const std::string& word);

/// Runs `drystone words...` with the scratch folder as the current one. `before`: words of the shell before it.
Answer drystone_command(const Scratch& scratch, const std::vector<std::string>& words,
                        const std::string& before = "");

/// The same on so many ranks; to be asked for only where there is an mpirun (DRYSTONE_MPIRUN is not empty).
Answer drystone_on_ranks(const Scratch& scratch, int ranks, const std::vector<std::string>& words);

/// Twelve bodies with 24 frictional contacts: every solver has something to do, in milliseconds.
ConeProblem small_problem(unsigned seed = 1);

/// Writes the problem into the scratch folder and returns the name of the file there.
std::string write_small(const Scratch& scratch, const std::string& name, const ConeProblem& problem);

/// Writes a scene into the scratch folder and returns the name of the file there.
std::string write_scene(const Scratch& scratch, const std::string& text);

/// A ball between a floor and a lid that comes down on it: from some step on nothing can be done.
inline const char* const press = R"(
    dimension = 3
    [time]
    step = 1e-3
    end = 0.03
    [[wall]]
    point = [0, 0, 0]
    normal = [0, 0, 1]
    [[wall]]
    point = [0, 0, 0.21]
    normal = [0, 0, -1]
    velocity = [0, 0, -1]
    [[body]]
    shape = { type = "sphere", radius = 0.1 }
    position = [0, 0, 0.1]
)";

bool contains(const std::string& text, const std::string& part);

}  // namespace drystone::testing
