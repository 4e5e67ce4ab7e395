// Whole files, and what is none.

#include "drystone/base/read_file.hpp"

#include "support/message_of.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drystone::testing {
namespace {

class ReadFile : public ::testing::Test {
protected:
    ReadFile()
        : folder_(std::filesystem::temp_directory_path() / ("drystone-read-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ~ReadFile() override { std::filesystem::remove_all(folder_); }
    static std::string refusal(const std::filesystem::path& file) {
        return message_of([&] { read_file(file, 10, "give another"); });
    }
    static void expect_part(const std::string& message, const std::string& part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    std::filesystem::path folder_;
};

TEST_F(ReadFile, UpToTheMost) {
    std::ofstream(folder_ / "ten") << "0123456789";
    EXPECT_EQ(read_file(folder_ / "ten", 10, ""), "0123456789");
}

TEST_F(ReadFile, NoFurther) {
    std::ofstream(folder_ / "eleven") << "0123456789a";
    expect_part(refusal(folder_ / "eleven"), "eleven: has more than 0 MiB, the most that is read");
}

/// None of these may be opened: a pipe waits for ever, a device may have no end.
TEST_F(ReadFile, WhatIsNoFileIsRefused) {
    expect_part(refusal(folder_), "it is a folder; give another");
    expect_part(refusal(folder_ / "none"), "there is no such file; give another");
    expect_part(refusal("/dev/zero"), "/dev/zero: it is a device or a pipe and not a file");
    const std::string pipe = (folder_ / "pipe").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    expect_part(refusal(pipe), "it is a device or a pipe");
    std::filesystem::create_symlink("/dev/zero", folder_ / "link.stl");
    expect_part(refusal(folder_ / "link.stl"), "it is a device or a pipe");
}

}  // namespace
}  // namespace drystone::testing
