// Text of others as it may go to a terminal.

#include "drystone/base/harmless.hpp"

#include "support/message_of.hpp"

#include <gtest/gtest.h>

namespace drystone::testing {
namespace {

TEST(Harmless, LeavesWhatIsText) {
    for (const char* text : {"", "a heap of 200 grains", "Säule, 砂, 𝛾 = 0.5 \\n", "100 % \"quoted\" \\x1b"})
        EXPECT_EQ(harmless(text), text);
}

TEST(Harmless, ShowsControlsInsteadOfSendingThem) {
    EXPECT_EQ(harmless("\x1b]0;pwned\x07\x1b[31mRED\x08"), "\\x1b]0;pwned\\x07\\x1b[31mRED\\x08");
    EXPECT_EQ(harmless(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(harmless("\x7f"), "\\x7f");
    EXPECT_EQ(harmless("\xc2\x9b"
                       "31m"),
              "\\u009b31m");  // C1: begins a sequence on some terminals
    EXPECT_EQ(harmless("\r\tx"), "\\r\\tx");
}

TEST(Harmless, ShowsWhatTurnsTheDirectionOfWriting) {
    // U+202E, U+2066, U+200F, U+061C; U+2028 and U+2029 separate lines.
    EXPECT_EQ(harmless("a\xe2\x80\xae"
                       "b"),
              "a\\u202eb");
    EXPECT_EQ(harmless("\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c"), "\\u2066\\u200f\\u061c");
    EXPECT_EQ(harmless("\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029");
}

TEST(Harmless, ShowsWhatTakesNoRoom) {
    // U+00AD, U+200B, U+2060, U+FEFF, U+E0041
    EXPECT_EQ(harmless("\xc2\xad\xe2\x80\x8b\xe2\x81\xa0\xef\xbb\xbf\xf3\xa0\x81\x81"),
              "\\u00ad\\u200b\\u2060\\ufeff\\ue0041");
}

TEST(Harmless, AWordOfACommandIsQuotedWhereAShellWouldSplitIt) {
    EXPECT_EQ(shell_word("runs/heap_1.toml"), "runs/heap_1.toml");
    EXPECT_EQ(shell_word("my run"), "'my run'");
    EXPECT_EQ(shell_word("it's; rm *"), "'it'\\''s; rm *'");
    EXPECT_EQ(shell_word(""), "''");
}

TEST(Harmless, ShowsBytesThatAreNoCharacters) {
    EXPECT_EQ(harmless("\xff\x80"), "\\xff\\x80");
    EXPECT_EQ(harmless("\xc0\x9b"), "\\xc0\\x9b");                    // longer than need be
    EXPECT_EQ(harmless("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");           // likewise
    EXPECT_EQ(harmless("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a pair
    EXPECT_EQ(harmless("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last
    EXPECT_EQ(harmless("ab\xe2\x80"), "ab\\xe2\\x80");                // cut short
}

TEST(Harmless, ATextStaysOnOneLineAndOursMayHaveSeveral) {
    EXPECT_EQ(harmless("x\ny: 0 steps, 0 not solved"), "x\\ny: 0 steps, 0 not solved");
    EXPECT_EQ(harmless_lines("first\nsecond\x1b[2J"), "first\nsecond\\x1b[2J");
    // What is harmless stays as it is, however often it passes by.
    EXPECT_EQ(harmless(harmless("\x1b\n\xff")), harmless("\x1b\n\xff"));
}

TEST(Harmless, SoAreMessagesOfErrors) {
    EXPECT_EQ(message_of([] { fail("a\nb.toml", "\x1b[2J", "rename it"); }),
              "a\\nb.toml: \\x1b[2J; rename it");
}

}  // namespace
}  // namespace drystone::testing
