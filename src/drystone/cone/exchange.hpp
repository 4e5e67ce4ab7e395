// What a solver needs of the other ranks that share its problem. With one rank there is no Exchange at all.
//
// Each rank holds a part of the problem: the blocks that it visits, those that touch a body it owns, and the bodies of
// all these. Every block is visited by one rank, every body owned by one. Nothing is added up in floating point across
// ranks, so that results do not depend on their number. All calls are collective: every rank makes the same ones in the
// same order.
//
// The faster mode gives that up: with `copies`, Gauss-Seidel inside a rank is Jacobi with mass splitting between ranks
// (Tonge, Benevolenski & Voroshilov 2012). A body that n ranks visit is on each of them a body of its own with an n-th
// of the mass, and after each sweep all of these get the mean of their velocities. That is the true body under all
// impulses: nothing is lost, sweeps take shorter steps, and since |a_1 + ... + a_n|^2 <= n (|a_1|^2 + ... + |a_n|^2)
// none of them goes too far. Residuals and solutions are those of the true bodies.
#pragma once

#include "drystone/base/exact_sum.hpp"
#include "drystone/base/types.hpp"
#include "drystone/cone/problem.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace drystone {

/// The problem of all ranks as one rank would have it, to the bit: what cannot be shared is solved on each of them
/// alike.
struct WholeProblem {
    ConeProblem problem;
    Vector r;                  ///< impulses of all its blocks
    std::vector<Index> block;  ///< by block of this rank: its number in the whole

    /// Rows of the blocks that this rank holds, from those of the whole.
    [[nodiscard]] Vector rows_of(const Vector& rows, const ConeProblem& part) const {
        Vector out(part.rows());
        for (Index i = 0; i < part.blocks(); ++i)
            out.segment(part.offset[i], part.cones[i].dim) =
                rows.segment(problem.offset[block[i]], part.cones[i].dim);
        return out;
    }
    /// Numbers of these blocks, one each.
    [[nodiscard]] Vector numbers_of(const Vector& numbers) const {
        Vector out(static_cast<Eigen::Index>(block.size()));
        for (std::size_t i = 0; i < block.size(); ++i) out[static_cast<Eigen::Index>(i)] = numbers[block[i]];
        return out;
    }
};

struct Exchange {
    /// Bodies that tiles of `colour` have changed: their numbers (`stride` per body, from data + body * stride on) go
    /// to every rank that visits the body too. start() sends, finish() waits for what others send; between the two the
    /// rank visits tiles that touch no such body. With `copies`, instead: once in a sweep, as colour 0, for all bodies
    /// that others visit; finish() leaves the mean over visitors, the same bits on each.
    std::function<void(double*data, int stride, Index colour)> start, finish;
    /// Bodies, from their owners to every rank that holds them.
    std::function<void(double* data, int stride)> share_bodies;
    /// One number for each body, at least 0: of those that several ranks visit the largest of theirs, on each of them.
    std::function<void(double* data)> raise;
    /// Rows of blocks, from the rank that visits the block to every rank that holds it.
    std::function<void(Vector& rows)> share_rows;
    /// The whole problem on every rank, and the impulses that go with these.
    std::function<WholeProblem(const Vector& r)> whole;
    /// Sums over ranks, exact.
    std::function<void(std::span<ExactSum>)> sum;
    /// The largest over ranks.
    std::function<double(double)> largest;

    std::vector<std::uint8_t> visits_block;  ///< by block: 1 if this rank visits it, and counts it in sums
    std::vector<std::uint8_t> owns_body;     ///< by body: 1 if this rank counts it in sums
    /// by colour: so many of its tiles come first and touch bodies that others visit too
    std::vector<Index> border_tiles;
    std::int64_t blocks = 0;  ///< of all ranks
    /// by body: how many ranks visit it, among which its mass is split; empty: the exact mode
    std::vector<double> copies;

    [[nodiscard]] bool splits_mass() const { return !copies.empty(); }
};

}  // namespace drystone
