// Runs the command as a shell does, and holds what it said.
#pragma once

#include "io/scratch.hpp"
#include "solve/sample_problems.hpp"

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
    [[nodiscard]] std::vector<nlohmann::json> objects() const {
        std::vector<nlohmann::json> found;
        std::istringstream lines(out);
        for (std::string line; std::getline(lines, line);) found.push_back(nlohmann::json::parse(line));
        return found;
    }
};

inline std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

inline std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Runs `drystone words...` with the scratch folder as the current one. `before`: words of the shell before it.
inline Answer drystone_command(const Scratch& scratch, const std::vector<std::string>& words,
                               const std::string& before = "") {
    const std::filesystem::path errors = scratch.file("stderr.txt");
    std::string line =
        "cd " + quoted(scratch.folder().string()) + " && " + before + " " + quoted(DRYSTONE_COMMAND);
    for (const std::string& word : words) line += " " + quoted(word);
    line += " 2>" + quoted(errors.string());
    Answer answer;
    FILE* pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) return answer;
    char buffer[4096];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
        answer.out.append(buffer, got);
    }
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) answer.code = WEXITSTATUS(status);
    answer.err = text_of(errors);
    return answer;
}

/// The same on so many ranks; to be asked for only where there is an mpirun (DRYSTONE_MPIRUN is not empty).
inline Answer drystone_on_ranks(const Scratch& scratch, int ranks, const std::vector<std::string>& words) {
    return drystone_command(
        scratch, words,
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
        "OMPI_MCA_mpi_yield_when_idle=1 OMP_WAIT_POLICY=passive " +
            quoted(DRYSTONE_MPIRUN) + " -n " + std::to_string(ranks));
}

/// Twelve bodies with 24 frictional contacts: every solver has something to do, in milliseconds.
inline ConeProblem small_problem(unsigned seed = 1) {
    RandomOptions options;
    options.seed = seed;
    return random_bodies(options, [](int) { return Cone::second_order(3, 0.4); });
}

/// Writes the problem into the scratch folder and returns the name of the file there.
inline std::string write_small(const Scratch& scratch, const std::string& name, const ConeProblem& problem) {
    ProblemFile file;
    file.problem = problem;
    write_problem(scratch.file(name), file);
    return name;
}

/// Writes a scene into the scratch folder and returns the name of the file there.
inline std::string write_scene(const Scratch& scratch, const std::string& text) {
    std::ofstream(scratch.file("scene.toml")) << text;
    return "scene.toml";
}

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

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace drystone::testing
