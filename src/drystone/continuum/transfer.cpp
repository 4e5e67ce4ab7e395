#include "drystone/continuum/transfer.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/continuum/resample.hpp"

namespace drystone {

namespace {

/// Value of the shape function of a corner at a place in the cell.
template <int d>
std::array<double, corners<d>> weights_at(const Vec<d>& x) {
    std::array<double, corners<d>> w;
    w[0] = 1;
    for (int k = 0; k < d; ++k) {
        for (int c = 0; c < 1 << k; ++c) {
            w[c | 1 << k] = w[c] * x[k];
            w[c] *= 1 - x[k];
        }
    }
    return w;
}

template <int d>
void sum_cell(const Sand<d>& sand, const Grid<d>& grid, Index cell, CellMoments<d>& out) {
    const Particles<d>& p = sand.particles;
    const Vec<d> origin = grid.cell_origin(cell);
    const bool affine = sand.options.transfer == Transfer::apic, cohesive = !p.cohesion.empty();
    out = {};
    for (Vec<d>& m : out.momentum) m.setZero();
    for (Index q = grid.cell_start[cell]; q < grid.cell_start[cell + 1]; ++q) {
        const Index i = grid.order[q];
        const Vec<d> x = grid.place_in(origin, p.position[i]);
        const double V = p.volume[i];
        std::array<double, 3> px = {V, V * x[0], V * x[0] * x[0]};
        const std::array<double, 3> py = {1, x[1], x[1] * x[1]};
        if constexpr (d == 2) {
            for (int b = 0; b < 3; ++b)
                for (int a = 0; a < 3; ++a) out.volume[a + 3 * b] += px[a] * py[b];
        } else {
            const std::array<double, 3> pz = {1, x[2], x[2] * x[2]};
            for (int c = 0; c < 3; ++c)
                for (int b = 0; b < 3; ++b) {
                    const double yz = py[b] * pz[c];
                    for (int a = 0; a < 3; ++a) out.volume[a + 3 * (b + 3 * c)] += px[a] * yz;
                }
        }
        const std::array<double, corners<d>> w = weights_at<d>(x);
        // The velocity that it has for the cell's first corner, and how that changes from corner to corner.
        Vec<d> first = p.velocity[i];
        Mat<d> change = Mat<d>::Zero();
        if (affine) {
            change = p.gradient[i] * grid.width.asDiagonal();
            first -= change * x;
        }
        for (int c = 0; c < corners<d>; ++c) {
            Vec<d> v = first;
            for (int k = 0; k < d; ++k)
                if ((c >> k & 1) != 0) v += change.col(k);
            out.momentum[c] += (V * w[c]) * v;
            out.share[c] += V * w[c];
            if (cohesive) out.cohesion[c] += V * w[c] * p.cohesion[i];
        }
    }
}

/// Of a velocity gradient: 2 |Dev D|, as of simple shear.
template <int d>
double shear_rate(const Mat<d>& L) {
    Mat<d> D = 0.5 * (L + L.transpose());
    D.diagonal().array() -= L.trace() / d;
    return std::sqrt(2.0) * D.norm();
}

/// Calls f(cell, corner) for the cells around a place of the lattice and the corner of each that it is, in one order.
template <int d, class F>
void for_each_cell_around(const Grid<d>& grid, const typename Grid<d>::Place& place, F&& f) {
    for (int c = 0; c < corners<d>; ++c) {
        std::array<int, d> by;
        for (int k = 0; k < d; ++k) by[k] = (c >> k & 1) - 1;
        const Index cell = grid.cell_beside(place, by);
        if (cell >= 0) f(cell, corners<d> - 1 - c);
    }
}

}  // namespace

template <int d>
void to_grid(const Sand<d>& sand, int threads, Grid<d>& grid, GridState<d>& state) {
    sort_particles(sand, threads, grid);
    state.cells.resize(grid.cells.size());
    parallel_for_uneven(threads, grid.cell_count(), 64,
                        [&](Index cell) { sum_cell(sand, grid, cell, state.cells[cell]); });
    const double least = least_share * sand.cell_volume();
    std::vector<std::array<double, block_size<d>>> volume(grid.blocks.size());
    parallel_for(threads, static_cast<Index>(grid.blocks.size()), [&](Index b) {
        for (int local = 0; local < block_size<d>; ++local) {
            double sum = 0;
            for_each_cell_around(grid, {b, local},
                                 [&](Index cell, int corner) { sum += state.cells[cell].share[corner]; });
            volume[b][local] = sum;
        }
    });
    number_nodes(grid, [&](Index b, int local) { return volume[b][local] > least; });
    const auto n = grid.nodes.size();
    state.volume.resize(n);
    state.velocity.resize(n);
    state.cohesion.assign(sand.particles.cohesion.empty() ? 0 : n, 0.0);
    parallel_for(threads, grid.node_count(), [&](Index j) {
        const auto place = grid.nodes[j];
        state.volume[j] = volume[place.block][place.local];
        Vec<d> momentum = Vec<d>::Zero();
        double cohesion = 0;
        for_each_cell_around(grid, place, [&](Index cell, int corner) {
            momentum += state.cells[cell].momentum[corner];
            cohesion += state.cells[cell].cohesion[corner];
        });
        state.velocity[j] = momentum / state.volume[j];
        if (!state.cohesion.empty()) state.cohesion[j] = cohesion / state.volume[j];
    });
}

template <int d>
void from_grid(const Grid<d>& grid, const std::vector<Vec<d>>& velocity, const std::vector<Vec<d>>& before,
               double h, int threads, Sand<d>& sand) {
    Particles<d>& p = sand.particles;
    const Vec<d> per_width = grid.width.cwiseInverse();
    const bool flip = sand.options.transfer == Transfer::flip;
    const double lost = p.cohesion.empty() ? 0 : sand.material.cohesion_decay;
    parallel_for_uneven(threads, grid.cell_count(), 64, [&](Index cell) {
        const std::array<Index, corners<d>> nodes = grid.corners_of(cell);
        const Vec<d> origin = grid.cell_origin(cell);
        std::array<Vec<d>, corners<d>> v, change;
        for (int c = 0; c < corners<d>; ++c) {
            v[c] = nodes[c] < 0 ? Vec<d>(Vec<d>::Zero()) : velocity[nodes[c]];
            if (flip) change[c] = nodes[c] < 0 ? v[c] : Vec<d>(v[c] - before[nodes[c]]);
        }
        for (Index q = grid.cell_start[cell]; q < grid.cell_start[cell + 1]; ++q) {
            const Index i = grid.order[q];
            const Vec<d> x = grid.place_in(origin, p.position[i]);
            const std::array<double, corners<d>> w = weights_at<d>(x);
            Vec<d> here = Vec<d>::Zero();
            for (int c = 0; c < corners<d>; ++c) here += w[c] * v[c];
            // The gradient along k: the difference across the cell, of what is in between along the others.
            Mat<d> L = Mat<d>::Zero();
            for (int k = 0; k < d; ++k) {
                for (int c = 0; c < corners<d>; ++c) {
                    if ((c >> k & 1) != 0) continue;
                    double part = per_width[k];
                    for (int m = 0; m < d; ++m)
                        if (m != k) part *= (c >> m & 1) != 0 ? x[m] : 1 - x[m];
                    L.col(k) += part * (v[c | 1 << k] - v[c]);
                }
            }
            if (flip) {
                for (int c = 0; c < corners<d>; ++c) p.velocity[i] += w[c] * change[c];
            } else {
                p.velocity[i] = here;
            }
            p.gradient[i] = L;
            p.frame[i] = deformed<d>(p.frame[i], L, h);
            if (lost > 0) p.cohesion[i] *= std::exp(-lost * h * shear_rate<d>(L));
            p.position[i] += h * here + 0.5 * h * h * (L * p.velocity[i]);
        }
    });
}

template void to_grid(const Sand<2>&, int, Grid<2>&, GridState<2>&);
template void to_grid(const Sand<3>&, int, Grid<3>&, GridState<3>&);
template void from_grid(const Grid<2>&, const std::vector<Vec<2>>&, const std::vector<Vec<2>>&, double, int,
                        Sand<2>&);
template void from_grid(const Grid<3>&, const std::vector<Vec<3>>&, const std::vector<Vec<3>>&, double, int,
                        Sand<3>&);

}  // namespace drystone
