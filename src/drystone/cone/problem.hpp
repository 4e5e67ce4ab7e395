// The cone problem as plain data, and its solution (docs/theory.md, eqs 1 to 4):
//
//     M v = f + H^T r         momentum
//     u = H v + w + C r       relative velocities, block by block; C >= 0 diagonal, 0 for rigid contacts
//     -(u_i + s_i(u_i) n) in N_{K_i}(r_i)   for each block i; for a cone: K_i* contains u_i + s_i n, perpendicular to r_i in K_i
//
// Bilateral constraints A v = k are blocks of the free cone with w = -k: r is their multiplier and u = 0 their equation.
// So there is one list of blocks and no second kind of unknown.
#pragma once

#include "drystone/base/types.hpp"
#include "drystone/cone/cone.hpp"

#include <Eigen/SparseCore>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace drystone {

using SparseMatrix = Eigen::SparseMatrix<double>;

/// Inverse mass of separate bodies: one symmetric positive semi-definite dim x dim matrix per body, row after row. Zero for a body that does
/// not move.
struct BlockInverseMass {
    std::vector<double> blocks;
};

/// A mass that couples bodies (rods, finite elements): symmetric positive definite, both triangles stored.
struct SparseMass {
    SparseMatrix M;
};

/// The inverse mass itself as a sparse matrix, symmetric positive semi-definite, both triangles stored. With H = 1 it is a
/// problem given by its Delassus matrix.
struct SparseInverseMass {
    SparseMatrix inverse;
};

using Mass = std::variant<BlockInverseMass, SparseMass, SparseInverseMass>;

/// A run of bodies of one kind.
struct Species {
    int dim = 6;      ///< velocities per body: 6 in 3D, 3 in 2D, 1 for anything else; 1 to 6
    Index count = 0;  ///< of bodies
    Mass mass;

    [[nodiscard]] Index velocities() const { return count * dim; }
    /// True if no body's impulse moves another.
    [[nodiscard]] bool separate() const { return std::holds_alternative<BlockInverseMass>(mass); }
};

/// H by rows of blocks. Block i has entries [start[i], start[i+1]); entry k acts on body[k]; its matrix (dim_i x velocities of the body, row by
/// row) follows that of the entry before, the first one of a block begins at value[value_start[i]]. Bodies of one block are distinct.
struct BlockRows {
    std::vector<Index> start = {0};
    std::vector<Index> body;
    std::vector<std::int64_t> value_start = {0};
    std::vector<double> value;
};

/// Order of work of Gauss-Seidel: tiles of a colour share no moving body, so they may be visited at the same time.
/// `order` lists block numbers; tile t is order[tile_start[t]..tile_start[t+1]); colour c is tiles
/// [colour_start[c], colour_start[c+1]). Empty: computed from the contact graph (solve/tiling.hpp).
struct Tiling {
    std::vector<Index> order;
    std::vector<Index> tile_start = {0};
    std::vector<Index> colour_start = {0};
    [[nodiscard]] bool empty() const { return order.empty(); }
    [[nodiscard]] Index tiles() const { return static_cast<Index>(tile_start.size()) - 1; }
    [[nodiscard]] Index colours() const { return static_cast<Index>(colour_start.size()) - 1; }
};

struct ConeProblem {
    std::vector<Species> species;  ///< bodies are numbered through them, and so are velocities
    Vector f;                      ///< size dofs(): M v_begin plus impulses of the known forces
    BlockRows H;
    Vector w;                         ///< size rows()
    Vector compliance;                ///< diagonal of C, size rows(), >= 0; empty: rigid
    std::vector<Cone> cones;          ///< one per block
    std::vector<Index> offset = {0};  ///< block i holds components [offset[i], offset[i+1])
    /// The shift s(u) (eq. 4) at the velocities before the step, one number per block; empty: not known. The guarded law (solve/guarded.hpp)
    /// needs it, the problem itself does not.
    Vector shift_before;
    /// What f holds against the normal impulses of cohesive contacts, one number >= 0 per block; empty: none. A contact that bears a pull p has
    /// r = impulse + p n in its cone and -p H^T n in f. The referee needs it to know what is at stake without the pulls, which cancel.
    Vector pull;
    /// What rounding of the places from which w was made may do to it, m/s, one number per block; empty: nothing. Joints that say the same twice contradict each
    /// other by as much.
    Vector w_rounding;
    Tiling tiling;

    [[nodiscard]] Index blocks() const { return static_cast<Index>(cones.size()); }
    [[nodiscard]] Index rows() const { return offset.back(); }
    [[nodiscard]] Index bodies() const;
    [[nodiscard]] Index dofs() const;
    /// Where the velocities of a body are among all.
    struct Place {
        Index first = 0;
        int dim = 0;
    };
    [[nodiscard]] Place place_of(Index body) const {
        Index first = 0;
        for (const Species& s : species) {
            if (body < s.count) return {first + body * s.dim, s.dim};
            body -= s.count;
            first += s.velocities();
        }
        return {first, 0};
    }
    /// Velocities per body where all species have as many; else 0.
    [[nodiscard]] int common_dim() const;
    /// False if no impulse moves the body by itself: its inverse mass is zero.
    [[nodiscard]] bool moves(Index body) const;
    /// True if no body's impulse moves another: species are all of separate bodies.
    [[nodiscard]] bool separate() const;
    /// The species of a problem that has one (made where there is none yet).
    Species& only();
    [[nodiscard]] const Species& only() const;
    /// pull n of each block, size rows(): what r is where cohesive contacts bear nothing.
    [[nodiscard]] Vector pull_impulse() const;

    /// Opens the next block: append its entries with add_entry, in any number, before the next call.
    void add_block(const Cone& cone);
    /// Entry of the newest block; `values` holds dim x velocities of the body numbers, row by row.
    void add_entry(Index body, std::span<const double> values);
};

/// Rows of a block on one body, dim_i x velocities of the body, and where these velocities are among all.
using BodyRowsOf = Eigen::Map<
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_block, max_block>>;

/// Calls f(body, place, rows) for the entries of block i. `values`: H.value, or numbers that are laid out like it.
template <class F>
void for_each_entry(const ConeProblem& p, Index i, const double* values, F&& f) {
    const int d = p.cones[i].dim;
    const double* A = values + p.H.value_start[i];
    for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
        const ConeProblem::Place place = p.place_of(p.H.body[k]);
        f(p.H.body[k], place, BodyRowsOf(A, d, place.dim));
        A += d * place.dim;
    }
}

/// A solution, and also a warm start (then only r is read).
struct ConeSolution {
    Vector r;  ///< impulses, size rows()
    Vector u;  ///< relative velocities, size rows()
    Vector v;  ///< body velocities, size dofs()
    /// Empty where it solves the law that was asked for. Else one number per block: the exact law was asked for, and this solves the convex
    /// one in which the shift is frozen at these numbers (eq. 9).
    Vector shift = {};
};

/// All that is wrong with the data (sizes, numbers that are not finite, masses that are not symmetric, a tiling in which
/// two tiles of a colour share a moving body); empty if the problem can be solved.
std::vector<std::string> find_faults(const ConeProblem& problem);

}  // namespace drystone
