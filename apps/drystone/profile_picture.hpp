// The performance profile (Dolan and More 2002) as a picture: which solver is fast, and which is sure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace drystone::command {

struct ProfileLine {
    std::string name;
    std::vector<double> seconds;  ///< one per problem, the same order in all lines; infinite: not solved
};

struct Profile {
    std::string title, subtitle;
    std::vector<ProfileLine> lines;  ///< all with as many problems
};

/// For each problem, seconds over the smallest that any line has; infinite where not solved. 1 is the best.
std::vector<std::vector<double>> relative_times(const std::vector<ProfileLine>& lines);

/// The picture as SVG: for each line the fraction of problems whose relative time is at most x, over x. Problems that
/// no line solved count in the fraction, so that a line reaches 1 only if it solved everything.
std::string draw_profile(const Profile& profile);

/// Draws into a file. Error if it cannot be written.
void write_profile(const std::filesystem::path& path, const Profile& profile);

}  // namespace drystone::command
