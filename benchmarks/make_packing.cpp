// Writes a packing of spheres (common/packing) as a problem file, to try the command on.
//
//     make_packing FILE [contacts (500)] [friction (0.5)] [seed (1)] [general]
#include "common/packing.hpp"
#include "drystone/base/error.hpp"
#include "drystone/problems/problem_file.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
    using namespace drystone;
    if (argc < 2 || std::strcmp(argv[1], "--help") == 0) {
        fmt::print("usage: make_packing FILE [contacts (500)] [friction (0.5)] [seed (1)] [general]\n");
        return argc < 2 ? 2 : 0;
    }
    try {
        PackingOptions options;
        options.contacts = argc > 2 ? std::atoi(argv[2]) : 500;
        options.mu = argc > 3 ? std::atof(argv[3]) : 0.5;
        options.seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
        options.general = argc > 5 && std::strcmp(argv[5], "general") == 0;
        if (options.contacts < 1)
            fail("make_packing", fmt::format("{} contacts", argv[2]), "give a number from 1 on");
        ProblemFile file;
        file.problem = make_packing(options);
        file.title = fmt::format("packing of {} spheres, friction {}", file.problem.only().count, options.mu);
        file.description = "made by make_packing: a shaken lattice in a box, one step of gravity with noise";
        write_problem(argv[1], file);
        fmt::print("{}: {} bodies\ncontacts {}\n", argv[1], file.problem.only().count, file.problem.blocks());
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
    return 0;
}
