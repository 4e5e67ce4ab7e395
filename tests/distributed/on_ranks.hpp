// For test programs that mpirun starts: all ranks run the same tests, rank 0 prints, and one that fails fails all.
// Included once by a program: it brings main().
#pragma once

#include "drystone/distributed/communicator.hpp"

#include <gtest/gtest.h>

namespace drystone {

inline const Communicator& everyone() {
    static const Communicator team(MPI_COMM_WORLD);
    return team;
}

}  // namespace drystone

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    ::testing::InitGoogleTest(&argc, argv);
    if (drystone::everyone().rank() != 0) {
        auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
    }
    int failed = RUN_ALL_TESTS();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
