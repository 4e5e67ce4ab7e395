// No allocation inside an iteration: sweeps ask the heap for as much in 400 sweeps as in 200.
#include "drystone/solve/gauss_seidel.hpp"
#include "solve/sample_problems.hpp"
#include "support/allocations.hpp"

#include <gtest/gtest.h>

using namespace drystone;

TEST(Allocation, SweepsDoNotAllocate) {
#ifndef DRYSTONE_COUNTS_ALLOCATIONS
    GTEST_SKIP() << "calls of malloc are counted only with glibc and without sanitisers";
#else
    using drystone::testing::allocations;
    const ConeProblem p = drystone::testing::random_bodies(
        {.bodies = 60, .contacts = 150, .seed = 4},
        [](int k) { return k % 10 == 0 ? Cone::wrench(6, 0.5, 0.1, 0.1) : Cone::second_order(3, 0.5); });
    const ConeProblem contacts = drystone::testing::random_bodies(
        {.bodies = 60, .contacts = 150, .seed = 4}, [](int) { return Cone::second_order(3, 0.5); });
    auto count = [](const ConeProblem& problem, SweepKernel kernel, Law law, int sweeps) {
        const Delassus W(problem);
        GaussSeidelOptions options;
        options.kernel = kernel;
        Vector r = Vector::Zero(problem.rows());
        const long before = allocations;
        run_sweeps(W, law, options, sweeps, r);
        return allocations - before;
    };
    EXPECT_GT(count(p, SweepKernel::any, Law::coulomb, 1), 0);  // the counter counts
    EXPECT_EQ(count(p, SweepKernel::any, Law::coulomb, 20), count(p, SweepKernel::any, Law::coulomb, 40));
    EXPECT_EQ(count(contacts, SweepKernel::any, Law::associated, 200),
              count(contacts, SweepKernel::any, Law::associated, 400));
    EXPECT_EQ(count(contacts, SweepKernel::rigid, Law::coulomb, 200),
              count(contacts, SweepKernel::rigid, Law::coulomb, 400));
#endif
}
