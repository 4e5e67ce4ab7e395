#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <ctime>

namespace drystone::command {

namespace {

// The globals of the command: a signal handler can reach nothing else.
volatile std::sig_atomic_t noted = 0;
struct timespec first_time;  // written once, before `noted`

/// The second signal ends the program; but not within half a second of the first: some who send one (timeout) send it
/// to the process and to its group.
extern "C" void note_signal(int number) {
    struct timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    if (noted != 0) {
        const double seconds = static_cast<double>(now.tv_sec - first_time.tv_sec) +
                               1e-9 * static_cast<double>(now.tv_nsec - first_time.tv_nsec);
        if (seconds < 0.5) return;
        std::signal(number, SIG_DFL);
        std::raise(number);
        return;
    }
    first_time = now;
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
    action.sa_flags = SA_RESTART;
    for (const int number : signals) {
        struct sigaction before {};
        ::sigaction(number, nullptr, &before);
        // nohup has it ignored, and means it. (So have shells SIGINT in jobs in the background, where a user may send
        // it all the same.)
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
