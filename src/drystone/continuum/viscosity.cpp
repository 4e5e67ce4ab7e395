#include "drystone/continuum/viscosity.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/parallel_sum.hpp"

#include <algorithm>

namespace drystone {

namespace {

/// Of what is left to be balanced, in the norm of the masses: far below the tolerances of steps.
constexpr double accuracy = 1e-10;
constexpr int most_steps = 10000;

template <int d>
using Velocities = std::vector<Vec<d>>;

/// m v + 4 eta h sum_i V_i / length^2 H_i^T H_i v.
template <int d>
class ViscousMass {
public:
    ViscousMass(const Sand<d>& sand, double h, int threads, const SandMemory<d>& m)
        : density_(sand.material.density),
          factor_(4 * sand.material.viscosity * h / (sand.length() * sand.length())),
          m_(m),
          threads_(threads),
          diagonal_(m.grid.nodes.size()) {
        parallel_for(threads, m.grid.node_count(),
                     [&](Index j) { diagonal_[j] = Vec<d>::Constant(mass(j)); });
        for_each_site([&](Index i) {
            for_each_entry(i, [&](Index node, const auto& g) {
                // |E(g) e_k|^2 = (|g|^2 + g_k^2) / 4.
                diagonal_[node].array() += 0.25 * weight(i) * (g.squaredNorm() + g.array().square());
            });
        });
    }
    [[nodiscard]] double mass(Index node) const { return density_ * m_.state.volume[node]; }
    [[nodiscard]] const Vec<d>& diagonal(Index node) const { return diagonal_[node]; }

    void apply(const Velocities<d>& v, Velocities<d>& out) const {
        parallel_for(threads_, m_.grid.node_count(), [&](Index j) { out[j] = mass(j) * v[j]; });
        for_each_site([&](Index i) {
            Mat<d> L = Mat<d>::Zero();
            for_each_entry(i, [&](Index node, const auto& g) { L.noalias() += v[node] * g.transpose(); });
            // H^T H v: half of the symmetric part of L, by its entries.
            const Mat<d> S = (0.25 * weight(i)) * (L + L.transpose());
            for_each_entry(i, [&](Index node, const auto& g) { out[node].noalias() += S * g; });
        });
    }

private:
    [[nodiscard]] double weight(Index site) const { return factor_ * m_.sites.volume[site]; }
    template <class F>
    void for_each_entry(Index site, F&& f) const {
        for (Index e = m_.rows.start[site]; e < m_.rows.start[site + 1]; ++e)
            f(m_.rows.body[e], m_.rows.template gradient_of<d>(e));
    }
    /// Blocks of the grid of one colour share no node.
    template <class F>
    void for_each_site(F&& f) const {
        const auto& blocks = m_.grid.blocks;
        for (int colour = 0; colour < corners<d>; ++colour) {
            parallel_for_uneven(threads_, static_cast<Index>(blocks.size()), 4, [&](Index b) {
                if (colour_of<d>(blocks[b]) != colour) return;
                for (Index i = m_.sites.start[b]; i < m_.sites.start[b + 1]; ++i) f(i);
            });
        }
    }

    double density_, factor_;
    const SandMemory<d>& m_;
    int threads_;
    Velocities<d> diagonal_;
};

}  // namespace

template <int d>
void damp(const Sand<d>& sand, double h, int threads, SandMemory<d>& m) {
    const ViscousMass<d> A(sand, h, threads, m);
    const Index n = m.grid.node_count();
    Velocities<d>& v = m.state.velocity;
    Velocities<d> left(v.size()), way(v.size()), pushed(v.size());
    // Sums over nodes, exact: the same on any number of threads.
    const auto sum = [&](auto&& term) {
        return parallel_merge<SumsAndMaxima<1>>(threads, n,
                                                [&](Index j, auto& room) { room.sum[0].add(term(j)); })
            .sum[0]
            .value();
    };
    const auto scaled = [&](Index j) -> Vec<d> { return left[j].cwiseQuotient(A.diagonal(j)); };
    // It starts from the motion without viscosity, whose impulses are the right side.
    A.apply(v, pushed);
    parallel_for(threads, n, [&](Index j) {
        left[j] = A.mass(j) * v[j] - pushed[j];
        way[j] = scaled(j);
    });
    double size = sum([&](Index j) { return left[j].dot(scaled(j)); });
    const double goal = accuracy * accuracy * sum([&](Index j) { return A.mass(j) * v[j].squaredNorm(); });
    for (int k = 0; size > goal; ++k) {
        if (k == most_steps)
            fail("sand", "the viscous stress was not found in " + std::to_string(most_steps) + " steps",
                 "give less viscosity, or wider cells");
        A.apply(way, pushed);
        const double along = size / sum([&](Index j) { return way[j].dot(pushed[j]); });
        parallel_for(threads, n, [&](Index j) {
            v[j] += along * way[j];
            left[j] -= along * pushed[j];
        });
        const double next = sum([&](Index j) { return left[j].dot(scaled(j)); });
        const double back = next / size;
        size = next;
        parallel_for(threads, n, [&](Index j) { way[j] = scaled(j) + back * way[j]; });
    }
}

template void damp(const Sand<2>&, double, int, SandMemory<2>&);
template void damp(const Sand<3>&, double, int, SandMemory<3>&);

}  // namespace drystone
