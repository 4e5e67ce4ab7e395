// The ranks on which a command was started, by mpirun or srun; and how they end together.
#pragma once

#include "drystone/distributed/communicator.hpp"

#include <exception>
#include <memory>

namespace drystone::command {

/// Starts MPI if the program was started as one of several ranks, and ends it. Started by itself, it never touches MPI.
class Team {
public:
    Team(int& argc, char**& argv);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// nullptr: this process is alone.
    [[nodiscard]] const Communicator* ranks() const { return ranks_.get(); }

private:
    bool started_ = false;
    std::unique_ptr<Communicator> ranks_;
};

/// To be called where a rank cannot go on. Returns if all ranks get here within a few seconds: then something went
/// wrong that all of them know, and rank 0 tells it. Otherwise the others wait for a rank that will never come: it says
/// who it is and why, and ends the whole job.
void stop_together(const Communicator* ranks, const std::exception& error);

}  // namespace drystone::command
