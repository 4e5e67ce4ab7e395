#include "run_log.hpp"

#include "drystone/base/error.hpp"
#include "run.hpp"

#include <fmt/format.h>

namespace drystone::command {

namespace {

/// Seconds to the next plain line: often at first, seldom in a run of days.
double pause_after(double seconds) { return seconds < 10 ? 1 : seconds < 600 ? 10 : 60; }

}  // namespace

void RunLog::open(bool append) {
    if (name_.empty()) return;
    file_.open(name_, append ? std::ios::app : std::ios::trunc);
    if (!file_) fail(name_, "cannot be written", "give another --log, in a folder that exists");
}

void RunLog::progress(const std::function<std::string()>& line) {
    const bool plain = wanted_ && !line_.enabled();
    const bool due = clock_.seconds() >= next_;
    if (due) {
        next_ = clock_.seconds() + pause_after(clock_.seconds());
        const std::string text = line();
        write(harmless(text));
        if (plain) say(text);
        if (line_.enabled()) line_.show(text);
    } else if (line_.enabled() && line_.due()) {
        line_.show(line());
    }
}

void RunLog::fault(const std::string& text, bool told) {
    write(harmless_lines(text));
    if (!told) return;
    line_.clear();
    complain(text);
}

void RunLog::summary(const std::string& line) {
    write(harmless(line));
    say(line);
}

void RunLog::write(const std::string& text) {
    if (!file_.is_open()) return;
    file_ << text << std::endl;
    if (file_.good()) return;
    // No reason to end a run.
    file_.close();
    line_.clear();
    complain(fmt::format("{}: cannot be written any more; the run goes on without a log", harmless(name_)));
}

}  // namespace drystone::command
