// What the kernels of Gauss-Seidel share: one sweep over coloured tiles.
//
// A kernel holds the blocks packed in the order of the tiling and offers
//     Vector r, z                          impulses, packed; body vector (empty for the explicit matrix)
//     visit_tile(t, before, push, sleep)   solves its blocks one after the other with all others held, updates r and z
//     bodies(), body_stride()              the body vector as ranks exchange it, and its numbers per body
// and, for the iterations of gauss_seidel.cpp,
//     load(r), store(r)                    from and to the problem's order
//     static constexpr bool pushes         whether visit_tile knows of momentum
//     tile_row(t), weights(out)            the first component of a tile in r; those of components in the norm of a
//     step
//
// Where ranks split the mass of bodies that several of them visit (cone/exchange.hpp), of n copies each has the n-th
// part of it: what an impulse changes here counts n times.
#pragma once

#include "drystone/base/parallel.hpp"
#include "drystone/sweep/tiling.hpp"

#include <array>
#include <cmath>

namespace drystone {

/// Number of ranks among which the mass of a body is split.
inline double copies_of(const Delassus& W, Index body) {
    return W.exchange() != nullptr && W.exchange()->splits_mass() ? W.exchange()->copies[body] : 1.0;
}

inline int bodies_of(const ConeProblem& p, Index i) {
    int bodies = 0;
    for_each_body(p, i, [&](Index) { ++bodies; });
    return bodies;
}

/// W_ii of the split bodies; only if W.whitened().
inline BlockMatrix split_diagonal(const Delassus& W, Index i) {
    const ConeProblem& p = W.problem();
    const int d = p.cones[i].dim;
    BlockMatrix D = W.diagonal(i);
    if (W.exchange() == nullptr || !W.exchange()->splits_mass()) return D;
    W.for_each_whitened(i, [&](Index body, auto place, const BodyRowsOf& A) {
        const double more = copies_of(W, body) - 1;
        if (more == 0) return;
        for (int a = 0; a < d; ++a) {
            for (int b = 0; b < d; ++b) {
                double product = 0;
                for (int c = 0; c < place.dim; ++c) product += A(a, c) * A(b, c);
                D(a, b) += more * product;
            }
        }
    });
    return D;
}

/// Sums of one tile, and of one sweep.
struct SweepSums {
    double step = 0;  ///< sum of stiffness |change|^2: squared norm of the sweep's step
    /// <before - after, after - previous>: positive if the momentum that led here points uphill
    double uphill = 0;
    double visits = 0;
};

struct Sleep {
    int sweeps = 0;        ///< 0: off
    double threshold = 0;  ///< stiffness |change|^2 below which a block goes to sleep
    std::vector<std::uint8_t> left;
};

/// Calls visit(tile) for every tile, colour by colour. With several ranks, tiles that touch bodies of others come
/// first, in each colour or, where mass is split, in the sweep: what they changed of the bodies' `data` travels while
/// the rest is visited. `backward`: the last colour first, on one rank.
template <class Visit>
void in_colours(const Tiling& tiling, int threads, const Exchange* exchange, double* data, int stride,
                bool backward, Visit&& visit) {
    const auto visit_tiles = [&](Index first, Index last) {
        // Shares of several tiles: a thread that takes them one by one waits for the counter, and for lines of bodies
        // that another core has.
        constexpr Index shares = 8;
        const Index share = std::max<Index>(1, (last - first) / (shares * threads));
        parallel_for_uneven(threads, last - first, share, [&](Index t) { visit(first + t); });
    };
    const auto visit_border = [&](Index colour) {
        const Index first = tiling.colour_start[colour];
        visit_tiles(first, first + exchange->border_tiles[colour]);
    };
    const auto visit_inside = [&](Index colour) {
        visit_tiles(tiling.colour_start[colour] + exchange->border_tiles[colour],
                    tiling.colour_start[colour + 1]);
    };
    if (exchange == nullptr) {
        for (Index k = 0; k < tiling.colours(); ++k) {
            const Index colour = backward ? tiling.colours() - 1 - k : k;
            visit_tiles(tiling.colour_start[colour], tiling.colour_start[colour + 1]);
        }
    } else if (exchange->splits_mass()) {
        for (Index colour = 0; colour < tiling.colours(); ++colour) visit_border(colour);
        exchange->start(data, stride, 0);
        for (Index colour = 0; colour < tiling.colours(); ++colour) visit_inside(colour);
        exchange->finish(data, stride, 0);
    } else {
        for (Index colour = 0; colour < tiling.colours(); ++colour) {
            visit_border(colour);
            exchange->start(data, stride, colour);
            visit_inside(colour);
            exchange->finish(data, stride, colour);
        }
    }
}

/// One sweep. `before` (packed impulses one iterate ago) is needed for the uphill test, and for `push`: the weight of
/// the momentum that the visits begin with (contact_sweeps.hpp).
template <class Kernel>
SweepSums sweep(Kernel& kernel, const Tiling& tiling, int threads, double* before, const double* push,
                Sleep& sleep, const Exchange* exchange, ScratchArray<SweepSums>& partial) {
    partial.resize(tiling.tiles());
    bool backward = false;
    if constexpr (requires { kernel.backward; }) backward = kernel.backward;
    in_colours(tiling, threads, exchange, kernel.bodies(), kernel.body_stride(), backward,
               [&](Index t) { partial[t] = kernel.visit_tile(t, before, push, sleep); });
    // A tile belongs to one rank, so exact sums of tiles do not depend on ranks or threads.
    std::array<ExactSum, 3> sums;
    for (const SweepSums& s : partial) {
        sums[0].add(s.step);
        sums[1].add(s.uphill);
        sums[2].add(s.visits);
    }
    if (exchange != nullptr) exchange->sum(sums);
    return {sums[0].value(), sums[1].value(), sums[2].value()};
}

/// visit_tile for kernels that visit block by block: visit<Uphill>(q, before, uphill).
template <class Kernel>
SweepSums visit_blocks(Kernel& kernel, const Tiling& tiling, Index tile, const double* before, Sleep& sleep) {
    SweepSums sums;
    for (Index q = tiling.tile_start[tile]; q < tiling.tile_start[tile + 1]; ++q) {
        if (sleep.sweeps > 0 && sleep.left[q] > 0) {
            --sleep.left[q];
            continue;
        }
        const double step = before != nullptr ? kernel.template visit<true>(q, before, sums.uphill)
                                              : kernel.template visit<false>(q, nullptr, sums.uphill);
        sums.step += step;
        ++sums.visits;
        if (sleep.sweeps > 0 && step < sleep.threshold)
            sleep.left[q] = static_cast<std::uint8_t>(sleep.sweeps);
    }
    return sums;
}

}  // namespace drystone
