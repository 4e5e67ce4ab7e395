#include "drystone/results/sitting.hpp"

#include <utility>

namespace drystone {

template <int d>
bool sit(Run<d>& run, RunFolder<d>* folder, const Onlooker& onlooker, Share<d>* share) {
    RunPlan<d>& plan = run.plan;
    const hdf5::Ranks ranks = share != nullptr ? hdf5::Ranks{share->communicator()} : hdf5::Ranks{};
    if (!run.progress.balance.begun)
        run.progress.balance.start(energy_now(plan.world.scene, share, &plan.world.sand));
    if (std::exchange(run.changed, false))
        run.progress.balance.change(energy_now(plan.world.scene, share, &plan.world.sand),
                                    run.progress.summary);
    if (folder != nullptr) folder->begin(run);
    if (onlooker.begun) onlooker.begun();
    bool stopped = false;
    const Observer<d> look = [&](const Scene<d>& /*scene*/, const StepMemory<d>& /*memory*/,
                                 const StepRecord& record) {
        if (folder != nullptr) folder->after_step(run, record);
        const bool go_on = !onlooker.after_step || onlooker.after_step(record);
        // What follows from signals and clocks is not the same on all ranks: one that knows is enough.
        std::array<std::int64_t, 2> seen = {onlooker.told_to_stop && onlooker.told_to_stop() ? 1 : 0,
                                            folder != nullptr && folder->checkpoint_due(record) ? 1 : 0};
        hdf5::add_up(ranks, seen);
        // The end's own checkpoint is written when the last lines and frames are.
        if (!go_on || run.at_end()) return go_on;
        stopped = seen[0] > 0;
        if (!stopped && seen[1] > 0) folder->save_checkpoint(run);
        return !stopped;
    };
    if (!run.at_end())
        simulate<d>(plan.world, plan.options, plan.feeds, run.memory, run.progress, look, share);
    if (folder != nullptr) {
        if (stopped) {
            folder->save_checkpoint(run);
        } else {
            folder->finish(run);
        }
    }
    return !stopped;
}

template bool sit(Run<2>&, RunFolder<2>*, const Onlooker&, Share<2>*);
template bool sit(Run<3>&, RunFolder<3>*, const Onlooker&, Share<3>*);

}  // namespace drystone
