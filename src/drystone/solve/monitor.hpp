// Watches an iteration: measures the residual, keeps the best iterate, and says when to stop and why.
// Every solver has one, so that all stop by the same rule; no solver judges itself by the length of its step.
#pragma once

#include "drystone/base/timer.hpp"
#include "drystone/solve/report.hpp"

#include <string_view>

namespace drystone {

class Monitor {
public:
    /// Iterations stop as stalled when the best residual fell by less than 1 part in 20 while the iterations doubled,
    /// but never before `patience` iterations. With a `horizon` also when, at the pace of the last doubling (a power of
    /// their number), the goal would be met only beyond so many; looked at from a sixth of it on.
    Monitor(const Delassus& W, Law law, const Goal& goal, int max_iterations, int patience = 1000,
            int horizon = 0);

    /// Looks at an iterate with its velocity u = W r + b; true if the iteration must end.
    bool check(int iteration, const Vector& r, const Vector& u);
    /// The same with the residual known; `store` writes the iterate, which is kept where it is the best.
    template <class Store>
    bool check(int iteration, double residual, Store&& store) {
        if (stopped_) return true;
        if (residual < best_) store(best_r_);
        return note(iteration, residual);
    }
    /// Ends from outside with a status of the solver's own (infeasible, stalled by its own rule).
    void stop(Status status, std::string message);

    [[nodiscard]] double residual() const { return residual_; }  ///< of the last iterate looked at
    [[nodiscard]] double best_residual() const { return best_; }
    [[nodiscard]] const Vector& best() const { return best_r_; }
    [[nodiscard]] double seconds() const { return timer_.seconds(); }

    /// Puts the best iterate into r and returns the report (its `residual` is filled by `solve`, from the referee).
    SolveReport finish(const char* solver, Vector& r);

private:
    bool note(int iteration, double residual);
    void stop_for(Status status, std::string_view reason);
    [[nodiscard]] bool is_hopeless(int iteration) const;

    const Delassus* W_;
    Law law_;
    Goal goal_;
    int max_iterations_, patience_, horizon_;
    Timer timer_;
    LawRoom room_;
    double residual_ = 0, best_ = infinity;
    ScratchVector best_r_;
    std::size_t half_ = 0;  // index in history_ of the point at half the iterations
    ScratchArray<HistoryPoint> history_;
    ScratchArray<double> best_history_;  // best residual so far, parallel to history_
    SolveReport report_;
    bool stopped_ = false;
};

}  // namespace drystone
