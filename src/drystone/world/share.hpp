// What ranks share in a step, and before it. world/step.cpp and run/simulate.cpp say when; distributed/part.hpp says
// how. On one rank there is none.
#pragma once

#include "drystone/bodies/region.hpp"
#include "drystone/world/slices.hpp"
#include "drystone/world/stages.hpp"

namespace drystone {

/// Every function is collective where it does not answer from what this rank knows already (const ones but for
/// `least`, `sum` and `slice`).
template <int d>
class Share {
public:
    virtual ~Share() = default;

    /// Before a run. Throws Error on what does not run on several ranks yet (the message names it).
    virtual void begin(const Scene<d>& scene, const StepOptions& options) = 0;
    /// The least number of all ranks.
    [[nodiscard]] virtual double least(double x) const = 0;
    virtual void sum(std::span<ExactSum> sums) const = 0;

    // ---- in a step, in this order ----

    /// Bodies go to where they belong, if somebody's neighbours no longer hold or space is cut anew; true if they did.
    /// Local indices have changed then.
    virtual bool move_bodies(Scene<d>& scene, const StepOptions& options, double h,
                             StepMemory<d>& memory) = 0;
    /// After that, and once velocities and reaches are those of the new bodies: who sends what to whom.
    virtual void connect(const Scene<d>& scene, const StepOptions& options, double h,
                         const StepMemory<d>& memory) = 0;
    /// Of the contacts that were found, those stay that this rank holds.
    virtual void keep_contacts(const Scene<d>& scene, int threads, StepMemory<d>& memory) = 0;
    /// What is counted here: bodies, and, once contacts are kept, contacts.
    [[nodiscard]] virtual Counted counted() const = 0;
    /// The free momentum of copies, from the owners of the bodies, who know all contacts that pull at them.
    virtual void share_momentum(ConeProblem& problem) = 0;
    /// Tiles by the cells that all ranks agree on, those that this rank visits, and the exchanges between them.
    virtual void tile(const Scene<d>& scene, int threads, StepMemory<d>& memory) = 0;
    /// What was remembered, from the ranks that kept it.
    virtual void recall(Vector& start) = 0;
    /// What the solver exchanges: bodies after each colour, rows and sums at each look at the residual.
    [[nodiscard]] virtual const Exchange& exchange() const = 0;
    /// By contact: 1 if this rank remembers it.
    [[nodiscard]] virtual std::span<const std::uint8_t> remembered_here() const = 0;
    /// Sums and worst values become those of all ranks.
    virtual void add_up(StepSums& sums, StepRecord& record) = 0;

    // ---- where grains come and go, between steps ----

    /// By body: 1 if this rank counts it. Also before the first step, when every rank has every body.
    [[nodiscard]] virtual std::vector<std::uint8_t> counted_bodies(const Scene<d>& scene) const = 0;
    /// Bodies are about to be taken away here, those with gone[i] != 0.
    virtual void forget(std::span<const std::uint8_t> gone) = 0;
    /// Copies of what other ranks have near a place, for looking whether there is room.
    virtual void borrow_near(Scene<d>& scene, const Bounds<d>& where) = 0;
    /// The same new bodies have come on every rank; the next step puts each where it belongs.
    virtual void welcome(const Scene<d>& scene) = 0;

    // ---- for those who write files and measure, after a step ----

    /// MPI's communicator, by its address: what files know of ranks (files/ranks.hpp).
    [[nodiscard]] virtual const void* communicator() const = 0;
    /// The scene in rows. `memory`: of the last step, or nullptr before the first.
    [[nodiscard]] virtual Slices<d> slice(const Scene<d>& scene, const StepMemory<d>* memory,
                                          const SliceOptions& wanted) const = 0;
};

}  // namespace drystone
