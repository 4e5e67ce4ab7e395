// Ctrl-C and SIGTERM: a run finishes its step and writes a checkpoint.
#pragma once

namespace drystone::command {

/// While alive, the first SIGINT or SIGTERM is only noted; a second one ends the program at once, as usual.
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
