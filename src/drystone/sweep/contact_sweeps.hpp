// Gauss-Seidel sweeps over rigid bodies and points: contacts of balls, of other shapes, with rolling friction, tensors,
// and whatever else is tied to these bodies.
//
// Each tile is a few runs of blocks of one kind, and each kind has its own visit (contact_visits.hpp): the choice is
// made once for a run, so that one hinge does not slow a heap of balls. What kind a block is follows from its numbers,
// not from any word about shapes. All kinds share the lines of bodies.
#pragma once

#include "drystone/base/huge_pages.hpp"
#include "drystone/cone/judge.hpp"
#include "drystone/sweep/contact_visits.hpp"
#include "drystone/sweep/sweep.hpp"
#include "drystone/sweep/sweep_options.hpp"
#include "drystone/sweep/tensor_visits.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace drystone {

class ContactSweeps {
public:
    /// True if all bodies are rigid ones or points of one space, and blocks are to be solved by closed forms.
    static bool fits(const Delassus& W, const SweepOptions& options);

    /// Packs the blocks and their impulses `from`; room of an earlier problem is used again.
    void fill(const Delassus& W, Law law, const SweepOptions& options, const Tiling& tiling,
              const Vector& from);

    /// Impulses from and to the problem's order.
    void load(const Vector& from);
    void store(Vector& to) const;

    /// Visits the blocks of a tile. `before`: impulses one iterate ago, packed, or nullptr. With `push` the visits
    /// begin with r + beta (r - before), and before becomes r.
    SweepSums visit_tile(Index tile, double* before, const double* push, Sleep& sleep);

    /// How wrong the present impulses are by the law, from the sweeps' own numbers: about the cost of a sweep. Needs a
    /// problem without pulls.
    LawResidual measure(Law law);

    static constexpr bool pushes = true;
    [[nodiscard]] int body_stride() const { return body_line; }
    /// The body vector as ranks exchange it.
    [[nodiscard]] double* bodies() { return lines() + body_line; }
    /// First component in r of what tile t visits.
    [[nodiscard]] Index tile_row(Index t) const { return runs_[run_start_[t]].row; }
    /// Weights of the components of r in the norm of a step.
    void weights(Vector& out) const;

    /// Colours, the runs of a tile and what is in a run are visited in the opposite order (but blocks of other kinds).
    bool backward = false;
    Vector r;  ///< impulses, packed; one number more than there are, which stays 0
    Vector z;  ///< lines of bodies (contact_visits.hpp), from a cache line's beginning on

private:
    /// Differences of this part of what is compared are rounding of those who wrote the numbers.
    static constexpr double rounding_of_numbers = 1e-13;
    enum class Kind : std::uint8_t { ball, rigid, wrench, other, tensor };
    static constexpr int kinds = 5;

    struct Run {
        Kind kind;
        Index first;  ///< in the array of its kind
        Index count;
        Index place;  ///< of its first block in the order of work
        Index row;    ///< of its first impulse in r
    };

    /// A block of any kind: rows on the lines of its bodies, and what an impulse does to these. All its numbers are in
    /// a frame of its own: where the law has a closed form that in which `slide` has it, else that of its components.
    struct Other {
        Index block;
        Index first, last;  ///< entries
        bool closed;
        Slide<max_block - 1, max_block - 1>
            slide;          ///< W in the frame, if closed; directions that are not there rest
        BlockMatrix frame;  ///< its rows take components to the frame
        BlockMatrix W;
        std::array<double, max_block> free;  ///< b
    };
    struct Entry {
        Index body;  ///< line
        /// A column for each velocity of a body of space, of one Four or two; and a line of the body for each
        /// component.
        std::array<double, 6 * 8> rows, push;

        template <int fours>
        void add_velocity(const double* line, Four* u) const;
        void add_impulse(int dim, const double* change, double* line) const;
    };
    static int fours_of(int dim) { return dim <= 4 ? 1 : 2; }

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
    /// Calls f with the array of tensors of the problem's space.
    template <class Self, class F>
    static void with_tensors(Self& self, F&& f) {
        self.p_->tensors.space == 2 ? f(self.plane_tensors_) : f(self.tensors_);
    }
    /// Calls f with the array of a kind's blocks.
    template <class Self, class F>
    static void of_kind(Self& self, Kind kind, F&& f) {
        switch (kind) {
            case Kind::ball:
                return f(self.balls_);
            case Kind::rigid:
                return f(self.rigid_);
            case Kind::wrench:
                return f(self.wrenches_);
            case Kind::other:
                return f(self.others_);
            case Kind::tensor:
                return with_tensors(self, f);
        }
    }
    /// Numbers of an impulse in r.
    [[nodiscard]] Index numbers_of(Kind kind, Index block) const {
        if (kind == Kind::other || kind == Kind::tensor) return p_->cones[block].dim;
        return kind == Kind::wrench ? WrenchContact::numbers : BallContact::numbers;
    }
    /// Where a block's components are in (N, T1, T2, S, R1, R2). In the plane t2 is the z axis: T = T1, R = R2.
    static std::array<int, max_block> places(const Cone& cone, int velocities) {
        if (velocities == 3) return {0, 1, 5};
        if (cone.dim == 5) return {0, 1, 2, 4, 5};
        return {0, 1, 2, 3, 4, 5};
    }
    void fill_bodies(const Delassus& W);
    [[nodiscard]] Eigen::Matrix3d inertia(Index at) const;
    void set_inertia(Index at, const Eigen::Matrix3d& J);
    template <int d>
    [[nodiscard]] Geometry geometry_of(const ContactRow<d>& c) const;
    [[nodiscard]] Geometry geometry_of(Index i) const;
    [[nodiscard]] bool is_ball(Index at, const Eigen::Vector3d& arm, const Eigen::Vector3d& normal) const;
    [[nodiscard]] Kind kind_of(Index i, const Geometry& g, const SweepOptions& options) const;
    bool fill_balls(const SweepOptions& options, const Vector& from);
    void order_blocks(const SweepOptions& options);
    void make_room(const std::array<Index, kinds>& count, Index row);
    void pack(Index i, const Geometry& g, const ContactFrame& E, double proximal, BallContact& c) const;
    void pack(Index i, const Geometry& g, const ContactFrame& E, double proximal, RigidContact& c) const;
    void pack(Index i, const Geometry& g, const ContactFrame& E, double proximal, WrenchContact& c) const;
    template <int d>
    void pack(Index i, const Geometry& g, const ContactFrame& E, double proximal, TensorBlock<d>& to) const;
    void pack(Index i, const Geometry& g, const ContactFrame& E, double proximal, Other& to);
    template <class Block>
    void pack(Index place, const Geometry& g, const ContactFrame& E, double proximal, const Vector& from,
              Index row, Block& to);
    void pack_run(const Run& run, double proximal, const Vector& from);
    [[nodiscard]] bool is_tensor(Index i) const;
    [[nodiscard]] bool rolls(Index i, const Geometry& g, double proximal) const;
    /// The frame that components of block i are in.
    [[nodiscard]] ContactFrame frame(Index i) const;
    [[nodiscard]] ContactFrame frame_of_rows(Index i) const;
    [[nodiscard]] Geometry geometry_of_rows(Index i) const;
    [[nodiscard]] double inverse_inertia(Index line, const Eigen::Vector3d& arm, const Eigen::Vector3d& e,
                                         const Eigen::Vector3d& f) const;
    template <class Contact>
    void load_impulse(const Contact& c, Index i, const ContactFrame& E, const double* from, double* x) const;
    template <class Contact>
    void store_impulse(const Contact& c, Index i, const double* x, double* to) const;
    /// What the impulses do to the bodies.
    void load_lines(const Vector& from);
    template <class F>
    void each_block(F&& f) const;
    template <class Contact, bool associated, bool compliant, bool pushed>
    void visit_run(Array<Contact>& contacts, const Run& run, double* before, double beta, Sleep& sleep,
                   SweepSums& sums);
    template <bool pushed>
    void visit_tensors(const Run& run, double* before, double beta, Sleep& sleep, SweepSums& sums);
    [[nodiscard]] bool has_closed_form(Index i) const;
    void set_frame(Other& block) const;
    template <int fours>
    Visited visit_other(Other& block, double* x, double* before, const double* push);
    void visit_others(const Run& run, double* before, const double* push, Sleep& sleep, SweepSums& sums);
    void solve_any(const Other& block, const double* u, const double* old, double* next) const;
    struct Seen;
    void see(const BallContact& c, const double* x, Seen& seen) const;
    void see(const RigidContact& c, const double* x, Seen& seen) const;
    template <class Contact>
    void look_at(const Contact& c, const double* x, Index place, Law law);
    template <int d>
    void look_at(const TensorBlock<d>& c, const double* x, Index place, Law law);
    void look_at(const WrenchContact& c, const double* x, Index place, Law law);
    void look_at(const Other& c, const double* x, Index place, Law law);
    void look_at_run(const Run& run, Law law);
    void raise_stake(Index at, double stake) {
        if (at > 0) stake_[at] = std::max(stake_[at], stake);
    }
    [[nodiscard]] double stake_near(const Run& run, Index k) const;

    const Delassus* W_ = nullptr;
    const ConeProblem* p_ = nullptr;
    const Tiling* tiling_ = nullptr;
    int m_ = 6;  // velocities of a rigid body; points have the first of them
    bool associated_ = false, compliant_ = false;
    LocalOptions local_;

    std::span<const Index> order_;  // blocks in the order of work: the tiling's, or
    std::vector<Index> sorted_;     // tiles of several kinds sorted by these
    std::vector<Kind> kind_;        // by block
    std::vector<Run> runs_;         // tile by tile
    std::vector<Index> run_start_;  // by tile
    Array<BallContact> balls_;
    Array<RigidContact> rigid_;
    Array<WrenchContact> wrenches_;
    Array<TensorBlock<2>> plane_tensors_;
    Array<TensorBlock<3>> tensors_;
    std::vector<Other> others_;
    std::vector<Entry> entries_;
    std::vector<Give> give_;  // by place in the order of work; empty for rigid contacts
    std::vector<double, HugePageAllocator<double>> inertia_;  // by line; empty where all are alike
    int first_line_ = 0;                                      // where lines begin in z
    std::vector<std::uint8_t> solid_, moves_;                 // by line: it is a rigid body; it moves
    /// What looks know of a block, and find: squares of velocities (BlockError) but for the first.
    struct Looked {
        double inverse_mass = 0, rounding = 0, at_stake = 0, error = 0, impulse = 0;
    };
    std::vector<Looked> looked_;           // by place in the order of work
    std::vector<double> stake_;            // by line, squared
    std::vector<LookSums> partial_looks_;  // by tile
};

}  // namespace drystone
