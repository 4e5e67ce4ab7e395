// What the kernels of Gauss-Seidel share: one sweep over coloured tiles.
//
// A kernel holds the blocks packed in the order of the tiling and offers
//     Vector r                         impulses, packed
//     Vector z                         body vector (empty for the explicit matrix)
//     void load(const Vector& r), void store(Vector& r)      from and to the problem's order
//     Visit visit(Index q)             solves block q with all others held, updates r and z
//     Index offset(Index q)            first component of block q in r
//     int body_stride()                numbers per body in z
//
// Where ranks split the mass of bodies that several of them visit (cone/exchange.hpp), kernels know the split bodies: of n copies each has
// rows sqrt(n) Hw and the body vector z / sqrt(n), so that u = Hw z as before and what an impulse changes here counts n times.
#pragma once

#include "drystone/base/parallel.hpp"
#include "drystone/solve/tiling.hpp"

#include <array>
#include <cmath>

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

/// Number of ranks among which the mass of a body is split.
inline double copies_of(const Delassus& W, Index body) {
    return W.exchange() != nullptr && W.exchange()->splits_mass() ? W.exchange()->copies[body] : 1.0;
}

/// W_ii of the split bodies; only if W.whitened().
inline BlockMatrix split_diagonal(const Delassus& W, Index i) {
    const ConeProblem& p = W.problem();
    const int d = p.cones[i].dim;
    BlockMatrix D = W.diagonal(i);
    for_each_entry(p, i, W.whitened_rows().data(), [&](Index body, auto place, const BodyRowsOf& A) {
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

/// The body vector of the split bodies.
inline void gather_split(const Delassus& W, const Vector& r, Vector& z) {
    W.gather(r, z);
    if (W.exchange() == nullptr || !W.exchange()->splits_mass()) return;
    for (Index j = 0; j < W.problem().bodies(); ++j) {
        const double n = copies_of(W, j);
        const auto [first, m] = W.problem().place_of(j);
        if (n > 1) z.segment(first, m) /= std::sqrt(n);
    }
}

/// Sums of one tile, and of one sweep.
struct SweepSums {
    double step = 0;  ///< sum of stiffness |change|^2: squared norm of the sweep's step
    double uphill =
        0;  ///< <before - after, after - previous>: positive if the momentum that led here points uphill
    double visits = 0;
};

struct Sleep {
    int sweeps = 0;        ///< 0: off
    double threshold = 0;  ///< stiffness |change|^2 below which a block goes to sleep
    std::vector<std::uint8_t> left;
};

/// One sweep; `previous` (packed impulses one iterate ago) is needed only for the uphill test and may be empty. With several ranks, tiles
/// that touch bodies of others come first, in each colour or, where mass is split, in the sweep: what they changed travels while the rest
/// is visited.
template <class Kernel>
SweepSums sweep(Kernel& kernel, const Tiling& tiling, int threads, const Vector& previous, Sleep& sleep,
                const Exchange* exchange, std::vector<SweepSums>& partial) {
    const bool test_uphill = previous.size() == kernel.r.size();
    partial.resize(tiling.tiles());
    auto visit_tiles = [&](Index first, Index last) {
        parallel_for_uneven(threads, last - first, 1, [&](Index t) {
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
    };
    auto visit_border = [&](Index colour) {
        const Index first = tiling.colour_start[colour];
        visit_tiles(first, first + exchange->border_tiles[colour]);
    };
    auto visit_inside = [&](Index colour) {
        visit_tiles(tiling.colour_start[colour] + exchange->border_tiles[colour],
                    tiling.colour_start[colour + 1]);
    };
    if (exchange == nullptr) {
        for (Index colour = 0; colour < tiling.colours(); ++colour)
            visit_tiles(tiling.colour_start[colour], tiling.colour_start[colour + 1]);
    } else if (exchange->splits_mass()) {
        for (Index colour = 0; colour < tiling.colours(); ++colour) visit_border(colour);
        exchange->start(kernel.z.data(), kernel.body_stride(), 0);
        for (Index colour = 0; colour < tiling.colours(); ++colour) visit_inside(colour);
        exchange->finish(kernel.z.data(), kernel.body_stride(), 0);
    } else {
        for (Index colour = 0; colour < tiling.colours(); ++colour) {
            visit_border(colour);
            exchange->start(kernel.z.data(), kernel.body_stride(), colour);
            visit_inside(colour);
            exchange->finish(kernel.z.data(), kernel.body_stride(), colour);
        }
    }
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

}  // namespace drystone
