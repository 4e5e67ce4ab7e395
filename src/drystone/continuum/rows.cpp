#include "drystone/continuum/rows.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/contact/assemble.hpp"

#include <algorithm>

namespace drystone {

namespace {

/// Integrals over a cell's particles of omega_i d_k omega_j, of which few are different: those of pairs of shape
/// functions along each direction.
template <int d>
struct CellGradients {
    static constexpr int pairs = d == 2 ? 3 : 9;
    /// By direction k: [place of i along k][kind of pair along the other directions], for j on the far side; on the
    /// near side it is minus that. Kinds: both near, one of each, both far.
    std::array<std::array<std::array<double, pairs>, 2>, d> value;
};

/// Of sums S of powers 0, 1, 2: sums of products of near and far shape functions.
inline std::array<double, 3> products(double s0, double s1, double s2) {
    return {s0 - 2 * s1 + s2, s1 - s2, s2};
}

template <int d>
CellGradients<d> gradients_of(const CellMoments<d>& m, const Vec<d>& width) {
    CellGradients<d> out;
    if constexpr (d == 2) {
        const auto M = [&](int a, int b) { return m.volume[a + 3 * b]; };
        for (int k = 0; k < 2; ++k) {
            const auto along = [&](int power, int other) {
                return k == 0 ? M(power, other) : M(other, power);
            };
            const auto far = products(along(1, 0), along(1, 1), along(1, 2));
            const auto all = products(along(0, 0), along(0, 1), along(0, 2));
            for (int t = 0; t < 3; ++t) {
                out.value[k][1][t] = far[t] / width[k];
                out.value[k][0][t] = (all[t] - far[t]) / width[k];
            }
        }
    } else {
        const auto M = [&](int a, int b, int c) { return m.volume[a + 3 * (b + 3 * c)]; };
        for (int k = 0; k < 3; ++k) {
            const int e = k == 0 ? 1 : 0, f = k == 2 ? 1 : 2;  // the others, ascending
            std::array<int, 3> power;
            std::array<std::array<double, 9>, 2> sums;  // by power along k
            for (int a = 0; a < 2; ++a) {
                std::array<std::array<double, 3>, 3> half;  // [power along f][kind along e]
                for (int c = 0; c < 3; ++c) {
                    std::array<double, 3> s;
                    for (int b = 0; b < 3; ++b) {
                        power[k] = a;
                        power[e] = b;
                        power[f] = c;
                        s[b] = M(power[0], power[1], power[2]);
                    }
                    half[c] = products(s[0], s[1], s[2]);
                }
                for (int t = 0; t < 3; ++t) {
                    const auto whole = products(half[0][t], half[1][t], half[2][t]);
                    for (int u = 0; u < 3; ++u) sums[a][t + 3 * u] = whole[u];
                }
            }
            for (int t = 0; t < 9; ++t) {
                out.value[k][1][t] = sums[1][t] / width[k];
                out.value[k][0][t] = (sums[0][t] - sums[1][t]) / width[k];
            }
        }
    }
    return out;
}

/// The integral for the shape functions of corners i and j.
template <int d>
Vec<d> pair_gradient(const CellGradients<d>& g, int i, int j) {
    Vec<d> out;
    for (int k = 0; k < d; ++k) {
        int pair = 0, power = 1;
        for (int m = 0; m < d; ++m) {
            if (m == k) continue;
            pair += ((i >> m & 1) + (j >> m & 1)) * power;
            power *= 3;
        }
        const double value = g.value[k][i >> k & 1][pair];
        out[k] = (j >> k & 1) != 0 ? value : -value;
    }
    return out;
}

template <int d>
struct Stencil {
    std::array<Vec<d>, around<d>> gradient;
    std::array<bool, around<d>> touched{};

    /// Adds what a cell at `corner` of whose corners the node is adds.
    void add(const CellGradients<d>& g, int corner) {
        for (int j = 0; j < corners<d>; ++j) {
            int at = 0, third = 1;
            for (int k = 0; k < d; ++k, third *= 3) at += ((j >> k & 1) - (corner >> k & 1) + 1) * third;
            if (!touched[at]) gradient[at].setZero();
            touched[at] = true;
            gradient[at] += pair_gradient(g, corner, j);
        }
    }
};

/// The nodes around each node, -1 where there is none or no cell of sand is between them, and how many there are.
template <int d>
Index find_neighbours(const Grid<d>& grid, Index i, std::array<Index, around<d>>& out) {
    const auto place = grid.nodes[i];
    out.fill(-1);
    Index count = 0;
    for (int c = 0; c < corners<d>; ++c) {
        std::array<int, d> by;
        for (int k = 0; k < d; ++k) by[k] = (c >> k & 1) - 1;
        if (grid.cell_beside(place, by) < 0) continue;
        for (int j = 0; j < corners<d>; ++j) {
            std::array<int, d> to;
            int at = 0, third = 1;
            for (int k = 0; k < d; ++k, third *= 3) {
                to[k] = by[k] + (j >> k & 1);
                at += (to[k] + 1) * third;
            }
            if (out[at] >= 0) continue;
            out[at] = grid.node_beside(place, to);
            count += out[at] >= 0 ? 1 : 0;
        }
    }
    return count;
}

template <int d>
std::vector<CellGradients<d>> gradients_of_cells(int threads, const SandMemory<d>& m) {
    std::vector<CellGradients<d>> out(m.grid.cells.size());
    parallel_for(threads, m.grid.cell_count(),
                 [&](Index c) { out[c] = gradients_of<d>(m.state.cells[c], m.grid.width); });
    return out;
}

template <int d>
void set_entry(TensorRows& rows, Index e, Index body, const Vec<d>& gradient) {
    rows.body[e] = body;
    std::copy_n(gradient.data(), d, rows.gradient.begin() + static_cast<std::ptrdiff_t>(e) * d);
}

/// Room for `entries(site)` entries of each site.
template <class F>
void make_room(const StressSites& sites, int threads, TensorRows& rows, F&& entries) {
    rows.start.assign(static_cast<std::size_t>(sites.count()) + 1, 0);
    parallel_for(threads, sites.count(), [&](Index i) { rows.start[i + 1] = entries(i); });
    for (Index i = 0; i < sites.count(); ++i) rows.start[i + 1] += rows.start[i];
    rows.body.resize(static_cast<std::size_t>(rows.start.back()));
    rows.gradient.resize(rows.body.size() * rows.space);
}

/// Rows of H of stresses at nodes.
template <int d>
void fill_gradients_of_nodes(const Sand<d>& sand, int threads, SandMemory<d>& m) {
    const Grid<d>& grid = m.grid;
    TensorRows& rows = m.rows;
    const std::vector<CellGradients<d>> of_cell = gradients_of_cells(threads, m);
    std::vector<std::array<Index, around<d>>> neighbours(grid.nodes.size());
    make_room(m.sites, threads, rows, [&](Index i) { return find_neighbours(grid, i, neighbours[i]); });
    parallel_for(threads, grid.node_count(), [&](Index i) {
        const auto place = grid.nodes[i];
        Stencil<d> stencil;
        for (int c = 0; c < corners<d>; ++c) {
            std::array<int, d> by;
            for (int k = 0; k < d; ++k) by[k] = (c >> k & 1) - 1;
            const Index cell = grid.cell_beside(place, by);
            if (cell >= 0) stencil.add(of_cell[cell], corners<d> - 1 - c);
        }
        const double scale = sand.length() / m.sites.volume[i];
        Index e = rows.start[i];
        for (int q = 0; q < around<d>; ++q)
            if (neighbours[i][q] >= 0) set_entry<d>(rows, e++, neighbours[i][q], scale * stencil.gradient[q]);
    });
}

/// Of stresses inside cells: `gradient(site, corner)` times the width of a cell over the volume.
template <int d, class F>
void fill_gradients_in_cells(const Sand<d>& sand, int threads, std::span<const Index> cell_of,
                             SandMemory<d>& m, F&& gradient) {
    const Grid<d>& grid = m.grid;
    TensorRows& rows = m.rows;
    const auto there = [](Index node) { return node >= 0 ? 1 : 0; };
    make_room(m.sites, threads, rows, [&](Index i) {
        const auto nodes = grid.corners_of(cell_of[i]);
        return static_cast<Index>(std::count_if(nodes.begin(), nodes.end(), there));
    });
    parallel_for(threads, m.sites.count(), [&](Index i) {
        const auto nodes = grid.corners_of(cell_of[i]);
        const double scale = sand.length() / m.sites.volume[i];
        Index e = rows.start[i];
        for (int j = 0; j < corners<d>; ++j)
            if (there(nodes[j])) set_entry<d>(rows, e++, nodes[j], scale * gradient(i, j));
    });
}

/// Takes what f holds against the pulls from it: -H^T (pull n).
template <int d>
void subtract_pulls(const SandMemory<d>& m, ConeProblem& problem) {
    const TensorRows& rows = problem.tensors;
    for (Index i = 0; i < rows.size(); ++i) {
        Tensor<d> r = Tensor<d>::Zero();
        r[0] = problem.pull[m.first_tensor + i];
        if (r[0] == 0) continue;
        const Mat<d> S = half_matrix<d>(r.data());
        for (Index e = rows.start[i]; e < rows.start[i + 1]; ++e) {
            const auto at = problem.place_of(rows.body[e]);
            problem.f.segment<d>(at.first) -= S * rows.gradient_of<d>(e);
        }
    }
}

}  // namespace

template <int d>
void fill_gradients(const Sand<d>& sand, int threads, SandMemory<d>& m) {
    m.rows.space = d;
    const StressSites& sites = m.sites;
    if (sand.options.stress == StressSpace::nodes) return fill_gradients_of_nodes(sand, threads, m);
    if (sand.options.stress == StressSpace::cells) {
        const std::vector<CellGradients<d>> of_cell = gradients_of_cells(threads, m);
        return fill_gradients_in_cells(sand, threads, sites.of, m, [&](Index i, int j) {
            return pair_gradient(of_cell[sites.of[i]], sites.corner[i], j);
        });
    }
    // Particles are sites in the order of the cells.
    std::vector<Index> cell_of(sites.of.size());
    for (Index c = 0; c < m.grid.cell_count(); ++c)
        std::fill(cell_of.begin() + m.grid.cell_start[c], cell_of.begin() + m.grid.cell_start[c + 1], c);
    const Particles<d>& p = sand.particles;
    fill_gradients_in_cells(sand, threads, cell_of, m, [&](Index i, int j) -> Vec<d> {
        const Index q = sites.of[i];
        const Vec<d> x = m.grid.place_in(m.grid.cell_origin(cell_of[i]), p.position[q]);
        Vec<d> g;
        for (int k = 0; k < d; ++k) {
            g[k] = ((j >> k & 1) != 0 ? 1 : -1) / m.grid.width[k];
            for (int l = 0; l < d; ++l)
                if (l != k) g[k] *= (j >> l & 1) != 0 ? x[l] : 1 - x[l];
        }
        return p.volume[q] * g;
    });
}

template <int d>
void add_nodes(const Sand<d>& sand, double fall, int threads, SandMemory<d>& m, ConeProblem& problem) {
    const Index nodes = m.grid.node_count();
    const Index first = problem.dofs();
    m.first_body = problem.bodies();
    PointInverseMass mass;
    mass.mass.resize(static_cast<std::size_t>(nodes));
    problem.f.conservativeResize(first + static_cast<Eigen::Index>(nodes) * d);
    parallel_for(threads, nodes, [&](Index j) {
        const double own = sand.material.density * m.state.volume[j];
        mass.mass[j] = 1 / own;
        problem.f.segment<d>(first + static_cast<Eigen::Index>(j) * d) = own * m.state.velocity[j];
    });
    problem.species.push_back({d, nodes, std::move(mass), fall});
}

template <int d>
void fill_tensors(const Sand<d>& sand, double h, int threads, SandMemory<d>& m, ConeProblem& problem) {
    constexpr int n = tensor_size<d>;
    const SandMaterial& material = sand.material;
    const double length = sand.length();
    std::swap(problem.tensors, m.rows);
    TensorRows& rows = problem.tensors;
    parallel_for(threads, static_cast<Index>(rows.body.size()),
                 [&](Index e) { rows.body[e] += m.first_body; });
    const StressSites& sites = m.sites;
    const bool cohesive = !sites.cohesion.empty();
    if (cohesive && problem.pull.size() == 0) problem.pull.setZero(problem.blocks());
    parallel_for(threads, sites.count(), [&](Index i) {
        const double volume = sites.volume[i];
        // What is not dense yet may come together until it is; what is too dense is left as it is (eq. 38).
        const double room = std::max(1 - volume / (material.max_fraction * sites.space[i]), 0.0);
        const Index block = m.first_tensor + i;
        Cone& cone = problem.cones[block];
        const double mu = std::sqrt(2.0 / d) * sites.friction[i],
                     per_stress = impulse_per_stress(sand, volume, h);
        cone = material.yield_stress > 0 ? Cone::truncated(n, mu, per_stress * material.yield_stress)
                                         : Cone::second_order(n, mu);
        cone.dilatancy = material.dilatancy;
        auto w = problem.w.segment(problem.offset[block], n);
        w.setZero();
        w[0] = length * room / (std::sqrt(2.0 * d) * h);
        // Grains that have parted do not attract each other.
        if (cohesive)
            problem.pull[block] = room > 0 ? 0.0 : std::sqrt(0.5 * d) * per_stress * sites.cohesion[i];
        Mat<d> L = Mat<d>::Zero();
        for (Index e = rows.start[i]; e < rows.start[i + 1]; ++e)
            L.noalias() += m.begin[rows.body[e] - m.first_body] * rows.gradient_of<d>(e).transpose();
        Tensor<d> u;
        tensor_of(L, u.data());
        problem.shift_before[block] = shift(cone, std::span(u.data(), n));
    });
    if (cohesive) subtract_pulls(m, problem);
}

template <int d>
void fill_touches(const Scene<d>& scene, const Sand<d>& sand, double h, std::span<const Index> place,
                  int threads, const SandMemory<d>& m, ConeProblem& problem) {
    const Bodies<d>& bodies = scene.bodies;
    auto& rows = contacts_of<d>(problem.contacts);
    parallel_for(threads, static_cast<Index>(m.touches.size()), [&](Index k) {
        const NodeTouch<d>& touch = m.touches[k];
        const Index block = m.first_touch + k;
        const Vec<d> arm = m.grid.node_position(touch.node) - bodies.position[touch.body];
        rows[block] = {m.first_body + touch.node, bodies.is_free(touch.body) ? place[touch.body] : -1,
                       touch.normal, Vec<d>::Zero(), arm};
        const Cone& cone = problem.cones[block] =
            Cone::second_order(d, scene.materials.law(sand.surface, bodies.material[touch.body]).friction);
        // What is known of the body's motion, and of its surface's.
        Vec<d> own = belt_velocity(scene, touch.body, touch.normal);
        const Vec<d> moving = bodies.velocity[touch.body] + cross(bodies.spin[touch.body], arm);
        Wrench<d> known, before;
        known.force = bodies.is_free(touch.body) ? Vec<d>(-own) : Vec<d>(-own - moving);
        before.force = m.begin[touch.node] - own - moving;
        auto w = problem.w.segment(problem.offset[block], d);
        in_frame<d>(cone, touch.normal, known, w.data());
        w[0] += std::max(touch.gap, 0.0) / h;
        std::array<double, max_block> u;
        in_frame<d>(cone, touch.normal, before, u.data());
        problem.shift_before[block] = shift(cone, std::span(u.data(), d));
    });
}

#define DRYSTONE_ROWS(d)                                                                             \
    template void add_nodes(const Sand<d>&, double, int, SandMemory<d>&, ConeProblem&);              \
    template void fill_gradients(const Sand<d>&, int, SandMemory<d>&);                               \
    template void fill_tensors(const Sand<d>&, double, int, SandMemory<d>&, ConeProblem&);           \
    template void fill_touches(const Scene<d>&, const Sand<d>&, double, std::span<const Index>, int, \
                               const SandMemory<d>&, ConeProblem&)
DRYSTONE_ROWS(2);
DRYSTONE_ROWS(3);
#undef DRYSTONE_ROWS

}  // namespace drystone
