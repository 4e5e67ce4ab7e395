#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <ctime>

namespace drystone::command {

namespace {

// The globals of the command: a signal handler can reach nothing else.
volatile std::sig_atomic_t noted = 0;
volatile std::sig_atomic_t keys_pressed = 0;
struct timespec first_keys;  // written once, before `keys_pressed`
int watches = 0;

template <std::size_t n>
void tell(const char (&text)[n]) {
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text, n - 1);
}

/// All who send signals by themselves mean "end well", however often they send them: timeout tells the process and its
/// group, a scheduler a warning and then the end.
extern "C" void note_signal(int /*number*/) {
    if (noted == 0) tell("\ndrystone: finishing the step\n");
    noted = 1;
}

/// A person who presses Ctrl-C again means "now"; but not within half a second: a terminal tells the whole group, and
/// mpirun tells its processes again.
extern "C" void note_keys(int number) {
    struct timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    if (keys_pressed == 0) {
        first_keys = now;
        keys_pressed = 1;
        noted = 1;
        tell("\ndrystone: finishing the step; Ctrl-C once more to end at once\n");
        return;
    }
    const double seconds = static_cast<double>(now.tv_sec - first_keys.tv_sec) +
                           1e-9 * static_cast<double>(now.tv_nsec - first_keys.tv_nsec);
    if (seconds < 0.5) return;
    std::signal(number, SIG_DFL);
    std::raise(number);
}

struct Handled {
    int signal;
    void (*handler)(int);
};
/// Ctrl-C; what systems send before they end a program; schedulers, some time before that; a terminal that is closed.
constexpr Handled all_handled[] = {
    {SIGINT, note_keys}, {SIGTERM, note_signal}, {SIGUSR1, note_signal}, {SIGHUP, note_signal}};

}  // namespace

InterruptWatch::InterruptWatch() {
    if (watches++ > 0) return;
    for (const auto& [number, handler] : all_handled) {
        struct sigaction action {};
        struct sigaction before {};
        action.sa_handler = handler;
        action.sa_flags = SA_RESTART;
        ::sigaction(number, nullptr, &before);
        // nohup has it ignored, and means it. (So have shells SIGINT in jobs in the background, where a user may send
        // it all the same.)
        if (number != SIGHUP || before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
    }
}

InterruptWatch::~InterruptWatch() {
    if (--watches > 0) return;
    for (const auto& [number, handler] : all_handled) {
        struct sigaction now {};
        ::sigaction(number, nullptr, &now);
        if (now.sa_handler == handler) std::signal(number, SIG_DFL);
    }
}

bool interrupted() { return noted != 0; }

}  // namespace drystone::command
