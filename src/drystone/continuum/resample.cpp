#include "drystone/continuum/resample.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/base/symmetric_eigen.hpp"

#include <span>

namespace drystone {

namespace {

// In spacings of the particles as they are filled in, where half axes are 0.5. What has been split is not merged at
// once.
constexpr double longest_half_axis = 0.72, merged_half_axis = 0.6;
/// Volumes, over that of what has been filled in: of what is merged, at most; of what is split, at least. What is drawn
/// out further, as in a stream that falls, stays one.
constexpr double most_volume_merged = 1.001, least_volume_split = 0.2;

template <int d>
struct Plan {
    const Particles<d>& p;
    Vec<d> per_width;
    double longest, merged, most_volume, least_volume;
};

/// True if no half axis is longer, in widths of a cell: where s^2 - F is positive definite.
template <int d>
bool fits(const Mat<d>& frame, const Vec<d>& per_width, double longest) {
    Mat<d> rest = -(per_width.asDiagonal() * frame * per_width.asDiagonal());
    rest.diagonal().array() += longest * longest;
    for (int k = 0; k < d; ++k) {
        if (!(rest(k, k) > 0)) return false;
        for (int a = k + 1; a < d; ++a) {
            const double by = rest(a, k) / rest(k, k);
            for (int b = a; b < d; ++b) rest(b, a) -= by * rest(b, k);
        }
    }
    return true;
}

/// What both stand for together: second moments of what frames enclose add up about the common centre.
template <int d>
Mat<d> united(const Particles<d>& p, Index i, Index j) {
    const double V = p.volume[i] + p.volume[j], part = p.volume[j] / V;
    const Vec<d> apart = p.position[j] - p.position[i];
    return (1 - part) * p.frame[i] + part * p.frame[j] + (3 * part * (1 - part)) * apart * apart.transpose();
}

/// Particles of a cell with the one that each takes in, -1: none; -2: it is taken in itself.
template <int d>
Index find_pairs(const Plan<d>& plan, std::span<const Index> cell, std::vector<Index>& takes) {
    const Particles<d>& p = plan.p;
    Index pairs = 0;
    for (std::size_t q = 0; q < cell.size(); ++q) {
        const Index i = cell[q];
        if (takes[i] != -1) continue;
        // The one with which it would be roundest.
        Index best = -1;
        double least = 0;
        for (std::size_t s = q + 1; s < cell.size(); ++s) {
            const Index j = cell[s];
            const double V = p.volume[i] + p.volume[j];
            if (V > plan.most_volume || takes[j] != -1) continue;
            const Vec<d> apart = (p.position[j] - p.position[i]).cwiseProduct(plan.per_width);
            if (3 * p.volume[i] * p.volume[j] * apart.squaredNorm() > V * V * plan.merged * plan.merged)
                continue;
            const Mat<d> both = united(p, i, j);
            const double size = both.diagonal().dot(plan.per_width.cwiseAbs2());
            if ((best >= 0 && size >= least) || !fits<d>(both, plan.per_width, plan.merged)) continue;
            best = j;
            least = size;
        }
        if (best < 0) continue;
        takes[i] = best;
        takes[best] = -2;
        ++pairs;
    }
    return pairs;
}

/// Squares of half axes in widths of a cell, ascending, and their directions.
template <int d>
struct HalfAxes {
    std::array<double, d> squares;
    Mat<d> directions;

    HalfAxes(const Mat<d>& frame, const Vec<d>& per_width) {
        const Mat<d> F = per_width.asDiagonal() * frame * per_width.asDiagonal();
        symmetric_eigen(d, F.data(), squares.data(), directions.data());
    }
};

/// Half of the longest axis, in m.
template <int d>
Vec<d> longest_half(const Mat<d>& frame, const Vec<d>& width) {
    const HalfAxes<d> half(frame, width.cwiseInverse());
    return std::sqrt(std::max(half.squares[d - 1], 0.0)) * width.cwiseProduct(half.directions.col(d - 1));
}

/// A frame whose axes are as long as they may be at most.
template <int d>
Mat<d> cut(const Mat<d>& frame, const Plan<d>& plan) {
    const HalfAxes<d> half(frame, plan.per_width);
    Mat<d> F = Mat<d>::Zero();
    for (int k = 0; k < d; ++k) {
        const Vec<d> axis = half.directions.col(k).cwiseQuotient(plan.per_width);
        F += std::min(half.squares[k], plan.longest * plan.longest) * axis * axis.transpose();
    }
    return F;
}

template <int d>
void merge_into(const Particles<d>& p, Index i, Index j, Particles<d>& out, Index at) {
    const double V = p.volume[i] + p.volume[j], part = p.volume[j] / V;
    const auto mean = [&](const auto& x) { return (1 - part) * x[i] + part * x[j]; };
    out.volume[at] = V;
    out.position[at] = mean(p.position);
    out.velocity[at] = mean(p.velocity);
    out.gradient[at] = mean(p.gradient);
    out.frame[at] = united(p, i, j);
    if (!p.cohesion.empty()) out.cohesion[at] = mean(p.cohesion);
}

/// The halves of what is at `at` come to be there and at the next place.
template <int d>
void split_at(const Vec<d>& width, GlobalId id, Index at, Particles<d>& p) {
    const Vec<d> half = longest_half<d>(p.frame[at], width), off = 0.5 * half;
    visit_arrays(
        [&](auto& x) {
            if (!x.empty()) x[at + 1] = x[at];
        },
        p);
    p.id[at + 1] = id;
    for (const Index k : {at, at + 1}) {
        const Vec<d> by = k == at ? Vec<d>(-off) : off;
        p.volume[k] *= 0.5;
        p.position[k] += by;
        p.velocity[k] += p.gradient[k] * by;
        p.frame[k] -= 0.75 * half * half.transpose();
    }
}

}  // namespace

template <int d>
void resample(const Grid<d>& grid, int threads, Sand<d>& sand) {
    Particles<d>& p = sand.particles;
    const double spacing = 1.0 / sand.options.particles;
    const double filled = sand.material.max_fraction * sand.cell_volume() * std::pow(spacing, d);
    const Plan<d> plan{p,
                       grid.width.cwiseInverse(),
                       longest_half_axis * spacing,
                       merged_half_axis * spacing,
                       most_volume_merged * filled,
                       least_volume_split * filled};
    const auto n = p.id.size();
    std::vector<Index> takes(n, -1);
    std::vector<std::uint8_t> splits(n, 0);
    const Index cells = grid.cell_count();
    struct Count {
        Index pairs = 0, splits = 0;
    };
    std::vector<Count> count(static_cast<std::size_t>(cells) + 1);
    parallel_for_uneven(threads, cells, 64, [&](Index c) {
        const std::span<const Index> cell(
            grid.order.data() + grid.cell_start[c],
            static_cast<std::size_t>(grid.cell_start[c + 1] - grid.cell_start[c]));
        count[c + 1].pairs = find_pairs(plan, cell, takes);
        for (const Index i : cell) {
            if (takes[i] != -1 || fits<d>(p.frame[i], plan.per_width, plan.longest)) continue;
            if (p.volume[i] < plan.least_volume) {
                p.frame[i] = cut(p.frame[i], plan);
                continue;
            }
            splits[i] = 1;
            ++count[c + 1].splits;
        }
    });
    for (Index c = 0; c < cells; ++c) {
        count[c + 1].pairs += count[c].pairs;
        count[c + 1].splits += count[c].splits;
    }
    const auto [pairs, halves] = count.back();
    if (100 * (static_cast<std::int64_t>(pairs) + halves) <= static_cast<std::int64_t>(n)) return;
    Particles<d> out;
    visit_arrays([&](auto& from, auto& to) { to.resize(from.empty() ? 0 : n - pairs + halves); }, p, out);
    out.next_id = p.next_id + halves;
    parallel_for_uneven(threads, cells, 64, [&](Index c) {
        GlobalId id = p.next_id + count[c].splits;
        Index at = grid.cell_start[c] - count[c].pairs + count[c].splits;
        for (Index q = grid.cell_start[c]; q < grid.cell_start[c + 1]; ++q) {
            const Index i = grid.order[q];
            if (takes[i] == -2) continue;
            visit_arrays(
                [&](auto& from, auto& to) {
                    if (!from.empty()) to[at] = from[i];
                },
                p, out);
            if (takes[i] >= 0) merge_into(p, i, takes[i], out, at);
            if (splits[i] != 0) split_at<d>(grid.width, id++, at++, out);
            ++at;
        }
    });
    p = std::move(out);
}

template void resample(const Grid<2>&, int, Sand<2>&);
template void resample(const Grid<3>&, int, Sand<3>&);

}  // namespace drystone
