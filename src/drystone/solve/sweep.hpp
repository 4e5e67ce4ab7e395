// What the kernels of Gauss-Seidel share: one sweep over coloured tiles.
//
// A kernel holds the blocks packed in the order of the tiling and offers
//     Vector r                         impulses, packed
//     Vector z                         body vector (empty for the explicit matrix)
//     void load(const Vector& r), void store(Vector& r)      from and to the problem's order
//     Visit visit(Index q)             solves block q with all others held, updates r and z
//     Index offset(Index q)            first component of block q in r
//     void share(Index colour)         exchange with other ranks after a colour
#pragma once

#include "drystone/base/parallel.hpp"
#include "drystone/solve/tiling.hpp"

namespace drystone {

/// Asks for the contact `contact_ahead` visits from now and for the bodies of the one `bodies_ahead` from now; the array of contacts
/// must go on for that many past the last.
template <class Contact>
void prefetch_ahead(const Contact* now, Index contact_ahead, Index bodies_ahead, const double* z,
                    int stride) {
    const char* next = reinterpret_cast<const char*>(now + contact_ahead);
    for (std::size_t line = 0; line < sizeof(Contact); line += 64) __builtin_prefetch(next + line);
    const Contact& soon = now[bodies_ahead];
    __builtin_prefetch(z + static_cast<std::ptrdiff_t>(soon.a) * stride, 1);
    __builtin_prefetch(z + static_cast<std::ptrdiff_t>(soon.b) * stride, 1);
}

/// Sums of one tile, and of one sweep.
struct SweepSums {
    double step = 0;  ///< sum of stiffness |change|^2: squared norm of the sweep's step
    double uphill =
        0;  ///< <before - after, after - previous>: positive if the momentum that led here points uphill
    Index visits = 0;
};

struct Sleep {
    int sweeps = 0;        ///< 0: off
    double threshold = 0;  ///< stiffness |change|^2 below which a block goes to sleep
    std::vector<std::uint8_t> left;
};

/// One sweep; `previous` (packed impulses one iterate ago) is needed only for the uphill test and may be empty.
template <class Kernel>
SweepSums sweep(Kernel& kernel, const Tiling& tiling, int threads, const Vector& previous, Sleep& sleep,
                const Exchange& exchange, std::vector<SweepSums>& partial) {
    const bool test_uphill = previous.size() == kernel.r.size();
    partial.resize(tiling.tiles());
    for (Index colour = 0; colour < tiling.colours(); ++colour) {
        const Index first = tiling.colour_start[colour];
        parallel_for_uneven(threads, tiling.colour_start[colour + 1] - first, 1, [&](Index t) {
            SweepSums sums;
            for (Index q = tiling.tile_start[first + t]; q < tiling.tile_start[first + t + 1]; ++q) {
                if (sleep.sweeps > 0 && sleep.left[q] > 0) {
                    --sleep.left[q];
                    continue;
                }
                const double step = test_uphill ? kernel.template visit<true>(q, previous.data(), sums.uphill)
                                                : kernel.template visit<false>(q, nullptr, sums.uphill);
                sums.step += step;
                ++sums.visits;
                if (sleep.sweeps > 0 && step < sleep.threshold)
                    sleep.left[q] = static_cast<std::uint8_t>(sleep.sweeps);
            }
            partial[first + t] = sums;
        });
        kernel.share(colour);
    }
    // A tile belongs to one rank, so exact sums of tiles do not depend on ranks or threads.
    ExactSum step, uphill;
    SweepSums total;
    for (const SweepSums& s : partial) {
        step.add(s.step);
        uphill.add(s.uphill);
        total.visits += s.visits;
    }
    if (exchange.sum) {
        exchange.sum(step);
        exchange.sum(uphill);
    }
    total.step = step.value();
    total.uphill = uphill.value();
    return total;
}

}  // namespace drystone
