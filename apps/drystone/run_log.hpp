// Where a run says how it goes: one line that is redrawn on a terminal, plain lines elsewhere and in a log file.
#pragma once

#include "drystone/base/timer.hpp"
#include "progress.hpp"

#include <fstream>
#include <functional>
#include <string>

namespace drystone::command {

class RunLog {
public:
    /// `file`: empty: none. `wanted`: progress is shown at all.
    RunLog(std::string file, bool wanted) : wanted_(wanted), line_(wanted), name_(std::move(file)) {}

    /// Opens the file. `append`: a resumed run goes on in it. Throws Error if it cannot be opened.
    void open(bool append);

    /// To be called after every step; `line` is asked for only when something will be shown.
    void progress(const std::function<std::string()>& line);
    /// Something is wrong: into the log, and on stderr if `told`.
    void fault(const std::string& text, bool told);
    /// A line of the summary: into the log and on stdout.
    void summary(const std::string& line);
    /// Takes the line on the terminal away.
    void end() { line_.clear(); }

private:
    void write(const std::string& text);

    bool wanted_;
    ProgressLine line_;
    std::string name_;
    std::ofstream file_;
    Timer clock_;
    double next_ = 1;  // when the next plain line is due, s
};

}  // namespace drystone::command
