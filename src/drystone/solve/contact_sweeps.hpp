// Gauss-Seidel sweeps over rigid bodies: contacts of balls, of other shapes, with rolling friction, and whatever else is tied to these bodies.
//
// Each tile is a few runs of blocks of one kind, and each kind has its own visit (contact_visits.hpp): the choice is made once for a run, so that one hinge does
// not slow a heap of balls. What kind a block is follows from its numbers, not from any word about shapes. All kinds share the lines of bodies.
#pragma once

#include "drystone/base/huge_pages.hpp"
#include "drystone/solve/contact_visits.hpp"
#include "drystone/solve/gauss_seidel.hpp"
#include "drystone/solve/sweep.hpp"

#include <array>
#include <vector>

namespace drystone {

class ContactSweeps {
public:
    /// True if all bodies are separate, with 3 or 6 velocities each, and blocks are to be solved by closed forms.
    static bool fits(const Delassus& W, const GaussSeidelOptions& options);

    /// Packs the blocks; room of an earlier problem is used again.
    void fill(const Delassus& W, Law law, const GaussSeidelOptions& options, const Tiling& tiling);

    /// Impulses from and to the problem's order.
    void load(const Vector& from);
    void store(Vector& to) const;

    /// Visits the blocks of a tile. `before`: impulses one iterate ago, packed, or nullptr. With `push` the visits begin with r + beta (r - before), and before
    /// becomes r.
    SweepSums visit_tile(Index tile, double* before, const double* push, Sleep& sleep);

    /// How wrong the present impulses are by the law, from the sweeps' own numbers: about the cost of a sweep. Needs a problem without pulls.
    LawResidual measure(const Delassus& W, Law law);

    static constexpr bool pushes = true;
    [[nodiscard]] int body_stride() const { return body_line; }
    /// The body vector as ranks exchange it.
    [[nodiscard]] double* bodies() { return lines() + body_line; }
    /// First component in r of what tile t visits.
    [[nodiscard]] Index tile_row(Index t) const { return runs_[run_start_[t]].row; }
    /// Weights of the components of r in the norm of a step.
    [[nodiscard]] Vector weights() const;

    Vector r;  ///< impulses, packed; one number more than there are, which stays 0
    Vector z;  ///< lines of bodies (contact_visits.hpp), from a cache line's beginning on

private:
    enum class Kind : std::uint8_t { ball, rigid, wrench, other };
    static constexpr int kinds = 4;

    struct Run {
        Kind kind;
        Index first;  ///< in the array of its kind
        Index count;
        Index place;  ///< of its first block in the order of work
        Index row;    ///< of its first impulse in r
    };

    /// A block of any kind: rows on the lines of its bodies, and what an impulse does to these.
    struct Other {
        Index block;
        Index first, last;  ///< entries
        BlockMatrix W;
    };
    struct Entry {
        Index body;  ///< line
        std::array<double, max_block * 6> rows, push;
    };

    /// A contact as geometry: what a kind is told from.
    struct Geometry {
        Index a = 0, b = 0;  ///< lines
        Eigen::Vector3d normal, arm_a, arm_b;
        bool fits = false;
    };

    template <class Contact>
    using Array = std::vector<Contact, HugePageAllocator<Contact>>;
    [[nodiscard]] double* lines() { return z.data() + first_line_; }
    [[nodiscard]] const double* lines() const { return z.data() + first_line_; }
    [[nodiscard]] const double* line(Index k) const {
        return lines() + static_cast<std::ptrdiff_t>(k) * body_line;
    }
    [[nodiscard]] double* line(Index k) { return lines() + static_cast<std::ptrdiff_t>(k) * body_line; }
    void fill_bodies(const Delassus& W);
    [[nodiscard]] Geometry geometry_of(Index i) const;
    [[nodiscard]] Kind kind_of(Index i, const GaussSeidelOptions& options) const;
    void order_blocks(const GaussSeidelOptions& options);
    void pack(const Run& run, Index k, double proximal);
    void pack_ball(Index i, double proximal, BallContact& c) const;
    void pack_rigid(Index i, double proximal, RigidContact& c) const;
    void pack_wrench(Index i, double proximal, WrenchContact& c) const;
    void pack_other(Index i, double proximal, Index at);
    [[nodiscard]] ContactFrame frame(Index i) const;
    [[nodiscard]] double inverse_inertia(Index line, const Eigen::Vector3d& arm, const Eigen::Vector3d& e,
                                         const Eigen::Vector3d& f) const;
    template <class Contact>
    void load_impulse(const Contact& c, Index i, const double* from, double* x) const;
    template <class Contact>
    void store_impulse(const Contact& c, Index i, const double* x, double* to) const;
    template <class F>
    void each_block(F&& f) const;
    template <class Contact, bool associated, bool compliant, bool pushed>
    void visit_run(Array<Contact>& contacts, const Run& run, double* before, double beta, Sleep& sleep,
                   SweepSums& sums);
    void add_velocity(const Other& block, std::array<double, max_block>& u) const;
    Visited visit_other(const Other& block, double* x, double* before, const double* push);
    struct Look;
    template <class Contact>
    Look look_at(const Contact& c, const Delassus& W, Law law, Index place, const double* x);

    const Delassus* W_ = nullptr;
    const ConeProblem* p_ = nullptr;
    const Tiling* tiling_ = nullptr;
    bool associated_ = false, compliant_ = false;
    LocalOptions local_;

    std::vector<Index> order_;      // blocks in the order of work
    std::vector<Kind> kind_;        // by block
    std::vector<Run> runs_;         // tile by tile
    std::vector<Index> run_start_;  // by tile
    Array<BallContact> balls_;
    Array<RigidContact> rigid_;
    Array<WrenchContact> wrenches_;
    std::vector<Other> others_;
    std::vector<Entry> entries_;
    std::vector<Give> give_;  // by place in the order of work; empty for rigid contacts
    std::vector<double, HugePageAllocator<double>> inertia_;  // by line; empty where all are alike
    int first_line_ = 0;                                      // where lines begin in z
    std::vector<std::uint8_t> solid_, moves_;                 // by line: it is a rigid body; it moves
    Vector change_;
    std::vector<double> error_, at_stake_, impulse_;  // by place in the order of work
    std::vector<double> stake_;                       // by line
    std::vector<LookSums> partial_looks_;             // by tile
};

}  // namespace drystone
