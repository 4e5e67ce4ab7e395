#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>

namespace drystone::command {

namespace {

// The one global of the command: a signal handler can reach nothing else.
volatile std::sig_atomic_t noted = 0;

extern "C" void note_signal(int /*number*/) {
    noted = 1;
    constexpr char text[] = "\ndrystone: finishing the step; once more to end at once\n";
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text, sizeof text - 1);
}

}  // namespace

InterruptWatch::InterruptWatch() {
    struct sigaction action {};
    action.sa_handler = note_signal;
    // RESETHAND: the second one finds the default, which ends the program.
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    // A limit on the size of files is then an error of the write, and not the end of the program.
    std::signal(SIGXFSZ, SIG_IGN);
}

InterruptWatch::~InterruptWatch() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

bool interrupted() { return noted != 0; }

}  // namespace drystone::command
