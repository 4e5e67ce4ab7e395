#include "team.hpp"

#include "drystone/base/harmless.hpp"
#include "drystone/base/timer.hpp"
#include "run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

namespace drystone::command {

namespace {

/// Seconds that a rank in trouble waits for the others to be in the same.
constexpr double patience = 4;

/// Launchers tell the processes that they start how many there are, or at least that they are not alone.
bool started_as_rank() {
    for (const char* size : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"})
        if (const char* text = std::getenv(size)) return std::atoi(text) > 1;
    return std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace

Team::Team(int& argc, char**& argv) {
    if (!started_as_rank()) return;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    started_ = true;
    int count = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (count == 1) return;
    ranks_ = std::make_unique<Communicator>(MPI_COMM_WORLD);
    be_rank(ranks_->rank());
}

Team::~Team() {
    ranks_.reset();
    if (started_) MPI_Finalize();
}

void stop_together(const Communicator* ranks, const std::exception& error) {
    if (ranks == nullptr) return;
    const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    const std::string why =
        memory ? "there is no more memory; take more ranks, on more machines" : error.what();
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(ranks->last_words(), &all);
    const Timer timer;
    for (int here = 0; timer.seconds() < patience;) {
        MPI_Test(&all, &here, MPI_STATUS_IGNORE);
        if (here != 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    fmt::print(stderr, "drystone: rank {} of {} cannot go on, and the others wait for it; all end here: {}\n",
               ranks->rank(), ranks->count(), harmless_lines(why));
    std::fflush(stderr);
    MPI_Abort(ranks->last_words(), exit_failed);
}

}  // namespace drystone::command
