// Files that appear complete or not at all.
#include "drystone/files/whole_file.hpp"

#include "support/message_of.hpp"
#include "support/scratch.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

namespace drystone::testing {
namespace {

namespace fs = std::filesystem;

/// Files may have no more bytes than this while it lives, and who writes more is told rather than killed.
class FileLimit {
public:
    explicit FileLimit(rlim_t most) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit now{most, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;
    ~FileLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int);
};

std::size_t files_in(const Scratch& scratch) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(scratch.folder()), {}));
}

TEST(WholeFile, HasAllPiecesAndLeavesNoPart) {
    const Scratch scratch;
    for (const bool safe : {false, true}) {
        write_whole_file(scratch.file("a"), {"one", "", std::string_view("\0two", 4)}, safe);
        EXPECT_EQ(bytes_of(scratch.file("a")), std::string("one\0two", 7));
    }
    EXPECT_EQ(files_in(scratch), 1U);
}

TEST(WholeFile, OneThatFailsLeavesTheOldOne) {
    const Scratch scratch;
    write_whole_file(scratch.file("a"), {"old"}, false);
    const std::string much(100'000, 'x');
    {
        const FileLimit limit(50'000);
        const std::string said = message_of([&] { write_whole_file(scratch.file("a"), {much}, true); });
        EXPECT_NE(said.find("a: cannot be written"), std::string::npos) << said;
        EXPECT_NE(said.find("ulimit -f"), std::string::npos) << said;
        EXPECT_EQ(said.find(".part"), std::string::npos) << said;
    }
    EXPECT_EQ(bytes_of(scratch.file("a")), "old");
    EXPECT_EQ(files_in(scratch), 1U);
    EXPECT_NE(message_of([&] { write_whole_file(scratch.file("no/a"), {"x"}, false); }).find("folder exists"),
              std::string::npos);
}

TEST(WholeFile, ALinkStaysALink) {
    const Scratch scratch;
    write_whole_file(scratch.file("a"), {"old"}, false);
    fs::create_symlink(scratch.file("a"), scratch.file("link"));
    write_whole_file(scratch.file("link"), {"new"}, false);
    EXPECT_TRUE(fs::is_symlink(scratch.file("link")));
    EXPECT_EQ(bytes_of(scratch.file("a")), "new");
}

TEST(PlacedFile, IsWrittenInAnyOrder) {
    const Scratch scratch;
    std::ofstream(scratch.file("a.part")) << "..........";
    PlacedFile file(scratch.file("a.part"));
    file.write(6, "seven");
    file.write(0, "zero");
    file.cut(8);
    file.close();
    EXPECT_EQ(bytes_of(scratch.file("a.part")), "zero..se");
    finish_part(scratch.file("a"), true);
    EXPECT_EQ(bytes_of(scratch.file("a")), "zero..se");
    EXPECT_FALSE(fs::exists(scratch.file("a.part")));
}

}  // namespace
}  // namespace drystone::testing
