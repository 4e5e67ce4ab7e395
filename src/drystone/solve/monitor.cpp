#include "drystone/solve/monitor.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

const char* name_of(Status status) {
    switch (status) {
        case Status::solved:
            return "solved";
        case Status::frozen_shift:
            return "solved with a frozen shift";
        case Status::stalled:
            return "stalled";
        case Status::iteration_limit:
            return "iteration limit";
        case Status::time_limit:
            return "time limit";
        case Status::infeasible:
            return "infeasible";
        case Status::diverged:
            return "diverged";
        case Status::invalid:
            return "invalid";
    }
    return "unknown";
}

Monitor::Monitor(const Delassus& W, Law law, const Goal& goal, int max_iterations, int patience, int horizon)
    : W_(&W),
      law_(law),
      goal_(goal),
      max_iterations_(max_iterations),
      patience_(patience),
      horizon_(horizon),
      room_(W.rooms()),
      best_r_(W.rooms()),
      history_(&W.rooms()),
      best_history_(&W.rooms()) {}

bool Monitor::check(int iteration, const Vector& r, const Vector& u) {
    if (stopped_) return true;
    const double residual = goal_.measure == Measure::referee ? law_residual(*W_, r, u, law_, room_).value()
                                                              : siconos_residual(*W_, r, u, law_);
    return check(iteration, residual, [&](ScratchVector& to) { to = r; });
}

bool Monitor::note(int iteration, double residual) {
    residual_ = residual;
    const HistoryPoint point{iteration, timer_.seconds(), residual_};
    history_.push_back(point);
    report_.iterations = iteration;
    if (goal_.progress) goal_.progress(point);
    if (std::isnan(residual_)) {
        stop_for(Status::diverged, "the iterate is not a number");
        return true;
    }
    best_ = std::min(best_, residual_);
    best_history_.push_back(best_);
    if (residual_ <= goal_.tolerance) {
        stop_for(Status::solved, "");
        return true;
    }
    while (half_ + 1 < history_.size() && 2 * history_[half_ + 1].iteration <= iteration) ++half_;
    if (iteration >= patience_ && best_ > 0.95 * best_history_[half_]) {
        stop_for(Status::stalled, "the residual no longer falls");
    } else if (horizon_ > 0 && 6 * iteration >= horizon_ && half_ > 0 && is_hopeless(iteration)) {
        stop_for(Status::stalled, "the residual falls too slowly");
    } else if (iteration >= max_iterations_) {
        stop_for(Status::iteration_limit, "");
    } else if (std::isfinite(goal_.time_limit) &&
               W_->largest(point.seconds >= goal_.time_limit ? 1 : 0) > 0) {  // all ranks or none
        stop_for(Status::time_limit, "");
    }
    return stopped_;
}

bool Monitor::is_hopeless(int iteration) const {
    const double doublings = std::log2(static_cast<double>(iteration) / history_[half_].iteration);
    const double power = std::log2(best_history_[half_] / best_) / doublings;
    const double left = std::log2(best_ / goal_.tolerance);
    return !(left <= power * std::log2(static_cast<double>(horizon_) / iteration));
}

void Monitor::stop_for(Status status, std::string_view reason) {
    stopped_ = true;
    report_.status = status;
    report_.reason = reason;
}

void Monitor::stop(Status status, std::string message) {
    stopped_ = true;
    report_.status = status;
    report_.message = std::move(message);
}

SolveReport Monitor::finish(const char* solver, Vector& r) {
    if (best_r_.size() == r.size()) r = best_r_;
    report_.solver = solver;
    report_.reached = best_;
    if (goal_.story) report_.history.assign(history_.begin(), history_.end());
    if (report_.message.empty() && goal_.story) report_.message = report_.reason;
    report_.seconds = timer_.seconds();
    return std::move(report_);
}

}  // namespace drystone
