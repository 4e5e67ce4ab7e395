// The part of a scene that one rank has: the bodies it owns, copies of those near them, and those that are everywhere.
//
// A body is owned by the rank that has the cell of the global tiling in which its centre was when parts were last made.
// Every rank that may need it for a contact has a copy (a ghost), and moves it by the same arithmetic: copies are the
// same bits as the original, so that nothing but the solver's body vector need be sent in a step. Bodies that are not
// free and large (walls, drums, meshes) or driven are on every rank.
#pragma once

#include "drystone/distributed/halo.hpp"
#include "drystone/distributed/partition.hpp"
#include "drystone/world/share.hpp"

namespace drystone {

/// Owners that are no rank.
inline constexpr int everywhere = -1;  ///< on every rank, owned by none
inline constexpr int unassigned = -2;  ///< on every rank, until parts are made

struct BalanceOptions {
    /// Parts are cut anew when the largest work of a rank, over the mean, passes this ...
    double threshold = 1.1;
    /// ... and also this many times what the last cut reached, or when there is half as much work again as then: where
    /// a better cut is not to be had, none is looked for.
    double hysteresis = 1.05;
    int least_steps = 20;  ///< between two cuts
    /// Cuts at every so many steps, off balance on purpose: for tests. 0: never.
    int force_every = 0;
};

struct RankOptions {
    /// The faster mode: bodies that several ranks visit are exchanged once in a sweep instead of once for each colour.
    /// Gauss-Seidel inside a rank, Jacobi with mass splitting between ranks (cone/exchange.hpp): solved to the same
    /// tolerance, in more sweeps, but the result then depends on the number of ranks (not on that of threads). On one
    /// rank it is the exact mode.
    bool split_between_ranks = false;
};

struct BalanceState {
    double reached = 1;     ///< imbalance right after the last cut
    std::int64_t last = 0;  ///< step of the last cut
    double work = 0;        ///< of all ranks at the last cut
    bool measure = false;   ///< the next step says what the last cut reached
    std::int64_t cuts = 0;  ///< so far
};

template <int d>
struct Part final : Share<d> {
    explicit Part(const Communicator& communicator)
        : team(&communicator), partition(communicator), halo(communicator) {}

    // What a step shares (world/share.hpp): part_in_step.cpp.
    void begin(const Scene<d>& scene, const StepOptions& options) override;
    [[nodiscard]] double least(double x) const override;
    void sum(std::span<ExactSum> sums) const override;
    bool move_bodies(Scene<d>& scene, const StepOptions& options, double h, StepMemory<d>& memory) override;
    void connect(const Scene<d>& scene, const StepOptions& options, double h,
                 const StepMemory<d>& memory) override;
    void keep_contacts(const Scene<d>& scene, int threads, StepMemory<d>& memory) override;
    [[nodiscard]] Counted counted() const override { return {own, held.ours}; }
    void share_momentum(ConeProblem& problem) override;
    void tile(const Scene<d>& scene, int threads, StepMemory<d>& memory) override;
    void recall(Vector& start) override { halo.share_from_home(start); }
    [[nodiscard]] const Exchange& exchange() const override { return halo.exchange(); }
    [[nodiscard]] std::span<const std::uint8_t> remembered_here() const override { return held.home; }
    void add_up(StepSums& sums, StepRecord& record) override;
    [[nodiscard]] std::vector<std::uint8_t> counted_bodies(const Scene<d>& scene) const override;
    void forget(std::span<const std::uint8_t> gone) override;
    void borrow_near(Scene<d>& scene, const Bounds<d>& where) override;
    void welcome(const Scene<d>& scene) override;
    [[nodiscard]] const void* communicator() const override { return team->address(); }
    [[nodiscard]] Slices<d> slice(const Scene<d>& scene, const StepMemory<d>* memory,
                                  const SliceOptions& wanted) const override;  // slices.cpp

    const Communicator* team;
    Partition<d> partition;
    bool is_cut = false;               ///< space has been divided
    std::vector<int> owner;            ///< by local body: a rank, or `everywhere`
    std::vector<std::uint8_t> own;     ///< by local body: 1 if this rank counts it
    TileGrid<d> grid;                  ///< with which parts were made
    TileGrid<d> grid_now;              ///< of the step
    Channel ghosts;                    ///< bodies, from their owners to all copies
    std::vector<WeighedCell<d>> work;  ///< of the last step, by cell of the tiling
    double work_here = 0;              ///< its sum
    CellWeights<d> weights;            ///< likewise, while it is added up
    Held<d> held;                      ///< of the last step
    Halo<d> halo;                      ///< likewise
    RankOptions options;
    BalanceOptions balancing;
    BalanceState balance;
    std::int64_t steps = 0;
    std::int64_t bodies = 0;  ///< of all ranks, each once
    double all_work = 0;      ///< of all ranks, in the last step
    double imbalance = 1;     ///< largest work of a rank over the mean, in the last step
    std::int64_t moved = 0;   ///< bodies that have changed owner, from this rank
};

/// Throws Error on what does not run on several ranks yet (the message names it).
template <int d>
void check_for_ranks(const Scene<d>& scene, const StepOptions& options);

/// Sides of cells may move by so many units of the grid (as those of a periodic box that shrinks do) before parts are
/// made again.
inline constexpr double parts_slack = 0.02;
/// True if they have moved farther.
template <int d>
bool cells_have_moved(const TileGrid<d>& then, const TileGrid<d>& now);

/// Puts bodies on the ranks that own or need them. `margin`: by body, how far beyond its bounding ball it may touch
/// something before parts are made again, m; `grid`: the same on all ranks. Warm starts go with their bodies.
/// Afterwards local indices have changed. Collective.
template <int d>
void make_parts(Scene<d>& scene, std::span<const double> margin, const TileGrid<d>& grid, Part<d>& part,
                WarmStart<d>& warm);

/// Says who sends what to whom, after make_parts and once margins are those of the new local bodies.
template <int d>
void connect_ghosts(const Scene<d>& scene, std::span<const double> margin, Part<d>& part);

/// At the beginning, where every rank has the whole scene: parts are made of it with the first step.
template <int d>
void own_nothing_yet(const Scene<d>& scene, Part<d>& part);

/// Bodies that were read in rows: each rank owns those it has, and those that belong everywhere come to all.
/// Collective.
template <int d>
void own_rows(Scene<d>& scene, Part<d>& part);

/// The rank that keeps the warm start of a contact: the owner of its first free body.
template <int d>
int home_of(const Scene<d>& scene, const Part<d>& part, Index a, Index b) {
    return part.owner[scene.bodies.is_free(a) ? a : b];
}

/// Bodies one after the other in a message.
template <int d>
void put_body(Writer& out, const Bodies<d>& bodies, Index i);
template <int d>
void take_body(Reader& in, Bodies<d>& bodies);
/// Places of bodies in the order of ids.
template <int d>
std::vector<Index> order_by_id(const Bodies<d>& bodies);

/// One remembered impulse.
template <int d>
struct Remembered {
    ContactKey key;
    Vec<d> impulse;
    Spin<d> torque;
};
template <int d>
Remembered<d> remembered(const WarmStart<d>& warm, std::size_t k) {
    return {warm.key[k], warm.impulse[k], warm.torque.empty() ? Spin<d>(Spin<d>::Zero()) : warm.torque[k]};
}
/// These, sorted, as a warm start, with torques or without.
template <int d>
void fill_warm(std::vector<Remembered<d>>& all, bool torques, WarmStart<d>& warm);

}  // namespace drystone
