// The number of ranks, counted by all of them.
#include <drystone/distributed/part.hpp>

#include <cstdio>

int main(int count, char** words) {
    MPI_Init(&count, &words);
    int all = 0;
    {
        const drystone::Communicator team(MPI_COMM_WORLD);
        std::int64_t one = 1;
        team.sum(std::span(&one, 1));
        all = static_cast<int>(one) - team.count();
        const drystone::Part<3> part(team);
        if (team.rank() == 0) std::printf("%d ranks, imbalance %g\n", team.count(), part.imbalance);
    }
    MPI_Finalize();
    return all;
}
