#include "apps/command.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace drystone::testing {

std::vector<nlohmann::json> Answer::objects() const {
    std::vector<nlohmann::json> found;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) found.push_back(nlohmann::json::parse(line));
    return found;
}

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

Answer drystone_command(const Scratch& scratch, const std::vector<std::string>& words,
                        const std::string& before) {
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
    answer.err = bytes_of(errors);
    return answer;
}

Answer drystone_on_ranks(const Scratch& scratch, int ranks, const std::vector<std::string>& words) {
    return drystone_command(
        scratch, words,
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
        "OMPI_MCA_mpi_yield_when_idle=1 OMP_WAIT_POLICY=passive " +
            quoted(DRYSTONE_MPIRUN) + " -n " + std::to_string(ranks));
}

ConeProblem small_problem(unsigned seed) {
    RandomOptions options;
    options.seed = seed;
    return random_bodies(options, [](int) { return Cone::second_order(3, 0.4); });
}

std::string write_small(const Scratch& scratch, const std::string& name, const ConeProblem& problem) {
    ProblemFile file;
    file.problem = problem;
    write_problem(scratch.file(name), file);
    return name;
}

std::string write_scene(const Scratch& scratch, const std::string& text) {
    std::ofstream(scratch.file("scene.toml")) << text;
    return "scene.toml";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace drystone::testing
