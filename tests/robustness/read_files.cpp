// Reads many files in one process, for tests/robustness/broken: scenes, checkpoints or problems, each named on a line of stdin.
//
// Answers with one line each: "valid" or "refused: <first line of the message>". Anything else that happens is a fault of ours: another
// exception is told as "FAULT: ..." and makes the exit code 1.

#include "drystone/base/error.hpp"
#include "drystone/io/checkpoint.hpp"
#include "drystone/io/problem_file.hpp"
#include "drystone/io/scene_file.hpp"

#include <iostream>
#include <string>

namespace {

void read(const std::string& kind, const std::string& file) {
    if (kind == "scene") {
        drystone::SceneFiles files = drystone::open_scene(file);
        drystone::read_scene(files, false);
    } else if (kind == "checkpoint") {
        drystone::read_checkpoint(file, "test");
    } else {
        drystone::read_problem(std::filesystem::path(file));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string kind = argc == 2 ? argv[1] : "";
    if (kind != "scene" && kind != "checkpoint" && kind != "problem") {
        std::cerr << "usage: read_files scene|checkpoint|problem < names\n";
        return 2;
    }
    int code = 0;
    for (std::string file; std::getline(std::cin, file);) {
        try {
            read(kind, file);
            std::cout << "valid" << std::endl;
        } catch (const drystone::Error& error) {
            const std::string message = error.what();
            std::cout << "refused: " << message.substr(0, message.find('\n')) << std::endl;
            if (message.empty()) code = 1;
        } catch (const std::exception& error) {
            std::cout << "FAULT: " << error.what() << std::endl;
            code = 1;
        }
    }
    return code;
}
