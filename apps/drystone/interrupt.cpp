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

/// Ctrl-C, what systems send before they end a program, and a terminal that is closed.
constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

InterruptWatch::InterruptWatch() {
    struct sigaction action {};
    action.sa_handler = note_signal;
    // RESETHAND: the second one finds the default, which ends the program.
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const int number : signals) {
        struct sigaction before {};
        ::sigaction(number, nullptr, &before);
        // nohup has it ignored, and means it. (So have shells SIGINT in jobs in the background, where a user may send it all the same.)
        if (number != SIGHUP || before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
    }
}

InterruptWatch::~InterruptWatch() {
    for (const int number : signals) {
        struct sigaction now {};
        ::sigaction(number, nullptr, &now);
        if (now.sa_handler == note_signal) std::signal(number, SIG_DFL);
    }
}

bool interrupted() { return noted != 0; }

}  // namespace drystone::command
