// The live line on a terminal: what is being solved, how far it is, for how long.
#pragma once

#include "drystone/solve/report.hpp"

#include <string>

namespace drystone::command {

/// Number of characters that `text` takes on a terminal (UTF-8; bytes that are no UTF-8 count as one each).
std::size_t shown_width(const std::string& text);

/// `text` followed by spaces up to `width` characters.
std::string padded(const std::string& text, std::size_t width);

/// Columns of the terminal behind a file descriptor; `otherwise` if it is none.
int terminal_columns(int descriptor, int otherwise);

/// One line on stderr, redrawn in place at most 10 times a second. Does nothing if stderr is not a terminal or if it
/// was made with `wanted` false, so that logs stay clean.
class ProgressLine {
public:
    explicit ProgressLine(bool wanted);
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine() { clear(); }

    /// What the line speaks of from now on, for example the file and the solver.
    void begin(std::string label);
    void show(const HistoryPoint& point);
    /// Any text, without the label.
    void show(const std::string& text);
    /// True if show() would draw now.
    [[nodiscard]] bool due() const;
    /// False: nothing is ever drawn.
    [[nodiscard]] bool enabled() const { return enabled_; }
    /// Takes the line away: to be called before anything else is written to the terminal.
    void clear();

private:
    void draw(const std::string& text);

    bool enabled_;
    bool drawn_ = false;
    double next_ = 0;  // when the line may be redrawn, in seconds of the steady clock
    std::string label_;
};

}  // namespace drystone::command
