// Signals that mean "end well": a run finishes its step and writes a checkpoint.
#pragma once

namespace drystone::command {

/// While alive, SIGTERM, SIGUSR1 (warnings of schedulers), SIGHUP and the first SIGINT (Ctrl-C) are only noted; a
/// second SIGINT ends the program at once, as usual. There may be one within another.
class InterruptWatch {
public:
    InterruptWatch();
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;
    ~InterruptWatch();
};

/// True once a signal has been noted.
bool interrupted();

}  // namespace drystone::command
