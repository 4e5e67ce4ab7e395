// The cone problem as plain data, and its solution (docs/theory.md, eqs 1 to 4):
//
//     M v = f + H^T r         momentum
//     u = H v + w + C r       relative velocities, block by block; C >= 0 diagonal, 0 for rigid contacts
//     -(u_i + s_i(u_i) n) in N_{K_i}(r_i)   for each block i; for a cone: K_i* contains u_i + s_i n, perpendicular to
//     r_i in K_i
//
// Bilateral constraints A v = k are blocks of the free cone with w = -k: r is their multiplier and u = 0 their
// equation. So there is one list of blocks and no second kind of unknown.
#pragma once

#include "drystone/base/types.hpp"
#include "drystone/cone/contact_row.hpp"
#include "drystone/cone/tensor_row.hpp"

#include <Eigen/SparseCore>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace drystone {

using SparseMatrix = Eigen::SparseMatrix<double>;

/// Begins where Eigen's own vectors do: which terms of a product it takes together follows from where its result lies,
/// and so would the last bit.
using AlignedNumbers = std::vector<double, Eigen::aligned_allocator<double>>;

/// Inverse mass of separate bodies: one symmetric positive semi-definite dim x dim matrix per body, row after row. Zero
/// for a body that does not move.
struct BlockInverseMass {
    std::vector<double> blocks;
};

/// Inverse mass of separate rigid bodies, whose velocities are (velocity, spin about the centre of mass) in world axes:
/// species of 3 velocities per body in the plane, of 6 in space.
struct RigidInverseMass {
    std::vector<double> mass;  ///< one number per body; 0 for one that does not move
    /// One number per body where the inertia is the same about all axes (in the plane, and of balls); else six: the
    /// lower triangle, row by row.
    std::vector<double> inertia;

    /// Numbers of a body's inertia.
    [[nodiscard]] int moments() const { return inertia.size() > mass.size() ? 6 : 1; }
};

/// Inverse mass of separate points, which do not turn: one number per body; species of 2 velocities per body in the
/// plane, of 3 in space.
struct PointInverseMass {
    std::vector<double> mass;
};

/// A mass that couples bodies (rods, finite elements): symmetric positive definite, both triangles stored.
struct SparseMass {
    SparseMatrix M;
};

/// The inverse mass itself as a sparse matrix, symmetric positive semi-definite, both triangles stored. With H = 1 it
/// is a problem given by its Delassus matrix.
struct SparseInverseMass {
    SparseMatrix inverse;
};

using Mass =
    std::variant<BlockInverseMass, SparseMass, SparseInverseMass, RigidInverseMass, PointInverseMass>;

/// A run of bodies of one kind.
struct Species {
    /// velocities per body: of rigid ones 6 in space and 3 in the plane, of points 3 and 2, of anything else 1 to 6
    int dim = 6;
    Index count = 0;  ///< of bodies
    Mass mass;
    /// m/s: so much is at stake at each of them, if not more (docs/theory.md, eq. 12a). For what falls without any
    /// block having to stop it.
    double at_stake = 0;

    [[nodiscard]] Index velocities() const { return count * dim; }
    /// True if no body's impulse moves another.
    [[nodiscard]] bool separate() const {
        return std::holds_alternative<BlockInverseMass>(mass) ||
               std::holds_alternative<RigidInverseMass>(mass) || is_points();
    }
    [[nodiscard]] bool is_points() const { return std::holds_alternative<PointInverseMass>(mass); }
};

/// The inverse mass of body `k` of a species of separate bodies, dim x dim numbers row by row.
void inverse_block(const Species& species, Index k, double* block);
/// Of all of them.
std::vector<double> inverse_blocks(const Species& species);
/// y = M^-1 x of body `k`, likewise; x and y apart from each other.
void times_inverse_mass(const Species& species, Index k, const double* x, double* y);

/// Blocks that are contacts of two bodies, rigid ones or points: block i is contact i, in the plane or in space, for i
/// < size().
struct ContactRows {
    std::vector<ContactRow<2>> plane;
    std::vector<ContactRow<3>> space;

    [[nodiscard]] Index size() const { return static_cast<Index>(plane.size() + space.size()); }
    /// Calls f(contact) if block i is one.
    template <class F>
    void visit(Index i, F&& f) const {
        if (i < static_cast<Index>(space.size())) {
            f(space[i]);
        } else if (i < static_cast<Index>(plane.size())) {
            f(plane[i]);
        }
    }
};

/// The contacts in the plane (d = 2) or in space.
template <int d, class Rows>
auto& contacts_of(Rows& rows) {
    if constexpr (d == 2) {
        return rows.plane;
    } else {
        return rows.space;
    }
}

/// General rows of H, by blocks. Block i has entries [start[i], start[i+1]); entry k acts on body[k]; its matrix (dim_i
/// x velocities of the body, row by row) follows that of the entry before, the first one of a block begins at
/// value[value_start[i]]. Bodies of one block are distinct. Where no block has any, `start` may be {0}.
struct BlockRows {
    std::vector<Index> start = {0};
    std::vector<Index> body;
    std::vector<std::int64_t> value_start = {0};
    AlignedNumbers value;

    [[nodiscard]] Index first(Index i) const { return body.empty() ? 0 : start[i]; }
    [[nodiscard]] Index last(Index i) const { return body.empty() ? 0 : start[i + 1]; }
    [[nodiscard]] const double* values(Index i) const {
        return body.empty() ? nullptr : value.data() + value_start[i];
    }
};

/// Order of work of Gauss-Seidel: tiles of a colour share no moving body, so they may be visited at the same time.
/// `order` lists block numbers; tile t is order[tile_start[t]..tile_start[t+1]); colour c is tiles
/// [colour_start[c], colour_start[c+1]). Empty: computed from the contact graph (sweep/tiling.hpp).
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
    /// H is the rows of contacts, then those of tensors, and, on top of them, general rows: those of joints, of files,
    /// and of contacts with what is neither a rigid body nor a point.
    ContactRows contacts;
    TensorRows tensors;
    BlockRows H;
    Vector w;                         ///< size rows()
    Vector compliance;                ///< diagonal of C, size rows(), >= 0; empty: rigid
    std::vector<Cone> cones;          ///< one per block
    std::vector<Index> offset = {0};  ///< block i holds components [offset[i], offset[i+1])
    /// The shift s(u) (eq. 4) at the velocities before the step, one number per block; empty: not known. The guarded
    /// law (solve/guarded.hpp) needs it, the problem itself does not.
    Vector shift_before;
    /// What f holds against the normal impulses of cohesive contacts, one number >= 0 per block; empty: none. A contact
    /// that bears a pull p has r = impulse + p n in its cone and -p H^T n in f. The referee needs it to know what is at
    /// stake without the pulls, which cancel.
    Vector pull;
    /// What rounding of the places from which w was made may do to it, m/s, one number per block; empty: nothing.
    /// Joints that say the same twice contradict each other by as much.
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
    /// The species that a body is of, and its number there.
    struct Member {
        Index species = 0, number = 0;
    };
    [[nodiscard]] Member member(Index body) const {
        Member m{0, body};
        for (; m.number >= species[m.species].count; ++m.species) m.number -= species[m.species].count;
        return m;
    }
    /// Velocities per body where all species have as many; else 0.
    [[nodiscard]] int common_dim() const;
    /// Dimensions, 2 or 3, where all bodies have the velocities of rigid bodies, or are points; else 0.
    [[nodiscard]] int space() const;
    /// Which of the tensors block i is; -1: none.
    [[nodiscard]] Index tensor_at(Index i) const {
        const Index k = i - contacts.size();
        return k >= 0 && k < tensors.size() ? k : -1;
    }
    /// False if no impulse moves the body by itself: its inverse mass is zero.
    [[nodiscard]] bool moves(Index body) const;
    /// True if no body's impulse moves another: species are all of separate bodies.
    [[nodiscard]] bool separate() const;
    /// True if a block has a dilatancy that matters.
    [[nodiscard]] bool dilates() const;
    /// The species of a problem that has one (made where there is none yet).
    Species& only();
    [[nodiscard]] const Species& only() const;
    /// pull n of each block, size rows(): what r is where cohesive contacts bear nothing.
    [[nodiscard]] Vector pull_impulse() const;
    void fill_pull_impulse(Vector& r) const;

    /// Opens the next block: append its entries with add_entry, in any number, before the next call.
    void add_block(const Cone& cone);
    /// Entry of the newest block; `values` holds dim x velocities of the body numbers, row by row.
    void add_entry(Index body, std::span<const double> values);
};

/// Rows of a block on one body, dim_i x velocities of the body, and where these velocities are among all.
using BodyRowsOf = Eigen::Map<
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_block, max_block>>;

/// Calls f(body, place, rows) for the general rows of block i in `rows`, of the problem or laid out like its bodies.
template <class F>
void for_each_entry(const ConeProblem& p, const BlockRows& rows, Index i, F&& f) {
    const int d = p.cones[i].dim;
    const double* A = rows.values(i);
    for (Index k = rows.first(i); k < rows.last(i); ++k) {
        const ConeProblem::Place place = p.place_of(rows.body[k]);
        f(rows.body[k], place, BodyRowsOf(A, d, place.dim));
        A += d * place.dim;
    }
}

/// Calls f(body, place, rows) for all rows of block i: of its contact's bodies, a before b, of its tensor's, and the
/// general ones.
template <class F>
void for_each_entry(const ConeProblem& p, Index i, F&& f) {
    p.contacts.visit(i, [&]<int d>(const ContactRow<d>& c) {
        const BodyRows<d> frame = block_frame<d>(p.cones[i], c.normal);
        const auto side = [&](Index body, const Vec<d>& arm, double sign) {
            if (body < 0) return;
            const ConeProblem::Place place = p.place_of(body);
            if (place.dim == d) {  // a point has no spin
                const Eigen::Matrix<double, Eigen::Dynamic, d, Eigen::RowMajor, d, d> rows =
                    sign * frame.template leftCols<d>();
                f(body, place, BodyRowsOf(rows.data(), rows.rows(), d));
                return;
            }
            const BodyRows<d> rows = rows_at<d>(frame, arm, sign);
            f(body, place, BodyRowsOf(rows.data(), rows.rows(), body_velocities<d>));
        };
        side(c.a, c.arm_a, 1);
        side(c.b, c.arm_b, -1);
    });
    if (const Index k = p.tensor_at(i); k >= 0) {
        p.tensors.with_space([&]<int d>(const Vec<d>&) {
            for (Index e = p.tensors.start[k]; e < p.tensors.start[k + 1]; ++e) {
                const auto rows = strain_rows<d>(p.tensors.gradient_of<d>(e));
                f(p.tensors.body[e], p.place_of(p.tensors.body[e]),
                  BodyRowsOf(rows.data(), tensor_size<d>, d));
            }
        });
    }
    for_each_entry(p, p.H, i, f);
}

/// Calls f(body) for the bodies of block i, in the same order.
template <class F>
void for_each_body(const ConeProblem& p, Index i, F&& f) {
    p.contacts.visit(i, [&](const auto& c) {
        if (c.a >= 0) f(c.a);
        if (c.b >= 0) f(c.b);
    });
    if (const Index k = p.tensor_at(i); k >= 0)
        for (Index e = p.tensors.start[k]; e < p.tensors.start[k + 1]; ++e) f(p.tensors.body[e]);
    for (Index k = p.H.first(i); k < p.H.last(i); ++k) f(p.H.body[k]);
}

/// The same problem with general rows instead of contacts and tensors, and inverse masses block by block: what files
/// hold.
void make_general(ConeProblem& problem);

/// A solution, and also a warm start (then only r is read).
struct ConeSolution {
    Vector r;  ///< impulses, size rows()
    Vector u;  ///< relative velocities, size rows()
    Vector v;  ///< body velocities, size dofs()
    /// Empty where it solves the law that was asked for. Else one number per block: the exact law was asked for, and
    /// this solves the convex one in which the shift is frozen at these numbers (eq. 9).
    Vector shift = {};

    /// It is empty then.
    void give_to(Rooms& rooms) {
        for (Vector* numbers : {&r, &u, &v, &shift}) numbers->give_to(rooms);
    }
};

/// All that is wrong with the data (sizes, numbers that are not finite, masses that are not symmetric, a tiling in
/// which two tiles of a colour share a moving body); empty if the problem can be solved. `visited`: where several ranks
/// share a problem, by block, 1 if this rank visits it (Exchange::visits_block): these are in tiles, others come
/// after the last.
std::vector<std::string> find_faults(const ConeProblem& problem, std::span<const std::uint8_t> visited = {});

/// The quick part of it: whether masses, f, w and compliance are numbers with which one can calculate. What assembles
/// problems makes them whole by itself, but numbers come from users.
bool numbers_in_range(const ConeProblem& problem, int threads);

}  // namespace drystone
