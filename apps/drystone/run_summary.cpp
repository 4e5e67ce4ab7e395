#include "run_summary.hpp"

#include "run.hpp"

#include <fmt/format.h>

#include <cmath>

namespace drystone::command {

namespace {

const char* reason_text(StopReason reason) {
    switch (reason) {
        case StopReason::calm:
            return "stopped because all is calm";
        case StopReason::steady:
            return "stopped because nothing changes any more";
        case StopReason::none:
            break;
    }
    return "";
}

template <int d>
class Summary {
public:
    Summary(const Run<d>& run, const RunFolder<d>* folder, const RunEnd& ends)
        : run_(run), folder_(folder), ends_(ends) {}

    /// Why energy has no balance, or nothing.
    [[nodiscard]] std::string unbalanced() const {
        const Scene<d>& scene = run_.plan.world.scene;
        if (scene.cell.any() || scene.domain.changes()) return "the cell does work";
        if (scene.gravity_turn) return "gravity turns";
        return "";
    }

    [[nodiscard]] double balance_error() const {
        return run_.progress.balance.error(run_.progress.summary, ends_.fall);
    }

    [[nodiscard]] std::string balance_text() const {
        const std::string reason = unbalanced();
        return reason.empty() ? fmt::format("balance error {:.1e}", balance_error())
                              : fmt::format("no balance, since {}", reason);
    }

    [[nodiscard]] std::vector<std::string> lines() const {
        const RunSummary& sum = run_.progress.summary;
        const StepSeconds& seconds = sum.seconds;
        const std::string infeasible =
            sum.infeasible > 0 ? fmt::format(", {} of them infeasible", sum.infeasible) : "";
        const std::string frozen = sum.frozen > 0
                                       ? fmt::format(", {} with a frozen shift (worst error {:.2g})",
                                                     sum.frozen, sum.worst_shift_error)
                                       : "";
        std::string stop = reason_text(run_.progress.stopped);
        if (!stop.empty()) stop = "; " + stop;
        std::vector<std::string> lines = {
            fmt::format("{}: {} steps to {:.6g} s, {} not solved{}{}{}", run_.plan.title, sum.steps,
                        run_.plan.world.scene.time, sum.unsolved, infeasible, frozen, stop),
            fmt::format("worst residual {:.1e} (a contact wrong by {:.1e} m/s), worst overlap {:.2e} m "
                        "({:.1e} radii), {} iterations",
                        sum.worst_residual, sum.worst_velocity, sum.worst_overlap, sum.worst_relative_overlap,
                        sum.iterations),
            fmt::format(
                "energy {:.6g} J to {:.6g} J: contacts {:.6g} J (held bodies {:.6g} J of it), {}{}scheme "
                "{:.6g} J, {}{}",
                run_.progress.balance.begin.total(), run_.progress.balance.end.total(), sum.work.contacts,
                sum.work.held,
                sum.work.stress != 0 ? fmt::format("stresses of sand {:.6g} J, its grid {:.6g} J, ",
                                                   sum.work.stress, sum.work.transfer)
                                     : "",
                sum.work.joints != 0 ? fmt::format("joints {:.6g} J, ", sum.work.joints) : "",
                sum.work.scheme,
                sum.fed_energy != 0
                    ? fmt::format("what came, went and was changed {:.6g} J, ", sum.fed_energy)
                    : "",
                balance_text()),
            fmt::format(
                "seconds {}: free motion {}, detection {}, assembly {}, solving {}, {}integration {}, "
                "accounts {}, frames {}",
                seconds_text(seconds.total()), seconds_text(seconds.free), seconds_text(seconds.detect),
                seconds_text(seconds.assemble), seconds_text(seconds.solve),
                seconds.forces > 0 ? fmt::format("elastic limit {}, ", seconds_text(seconds.forces)) : "",
                seconds_text(seconds.integrate), seconds_text(seconds.account),
                seconds_text(folder_ ? folder_->frame_seconds() : 0.0))};
        for (std::string& line : meanings()) lines.push_back(std::move(line));
        if (forces_missed() > 0)
            lines.push_back(
                fmt::format("the forces of the elastic limit were not found {} times; those of the solver "
                            "stand in their place",
                            forces_missed()));
        if (ends_.split_between_ranks)
            lines.push_back(
                "mass was split between ranks: on another number of them the result differs, within the "
                "tolerance");
        if (folder_)
            lines.push_back(fmt::format("{} frames, measurements and checkpoint.h5 in {}", folder_->frames(),
                                        folder_->path().string()));
        return lines;
    }

    /// What steps that were not solved as asked mean, and the one thing to change.
    [[nodiscard]] std::vector<std::string> meanings() const {
        const RunSummary& sum = run_.progress.summary;
        const bool strict_law = run_.plan.options.step.solve.law == Law::coulomb && !may_freeze();
        std::vector<std::string> lines;
        if (sum.infeasible > 0)
            lines.emplace_back(
                "infeasible: bodies are crushed between others that do not yield, or start inside each "
                "other. These steps went on with the impulses of the one before. Give the bodies room: "
                "drystone check tells of overlaps at the start");
        const Bodies<d>& bodies = run_.plan.world.scene.bodies;
        const auto driven = [&](Index j) { return !bodies.is_free(j) && !bodies.velocity[j].isZero(0); };
        bool squeezed = sum.infeasible > 0;  // it may be that no step solves it
        for (Index j = 0; j < bodies.count() && !squeezed; ++j) squeezed = driven(j);
        if (sum.unsolved > sum.infeasible)
            lines.push_back(
                std::string("not solved: these steps went on with the best motion that was found. ") +
                (squeezed
                     ? "Where held or driven bodies squeeze what cannot yield, only room helps. Else, to "
                       "have them solved, "
                     : "To have them solved ") +
                (strict_law
                     ? "allow a frozen shift ([solver] name = \"auto\", law = \"coulomb\", and "
                       "\"frozen-shift\" among the stages, if these are named)"
                     : "shorten [time] step; if the error above is small to you, raise [solver] tolerance"));
        if (sum.frozen > 0)
            lines.push_back(fmt::format(
                "frozen shift: in these steps friction took how fast contacts slide from the "
                "step before, which let bodies approach by at most {:.1e} m too much in a step. "
                "A shorter [time] step makes it less; [solver] law = \"coulomb-strict\" forbids it",
                sum.worst_closing));
        const FeedState& feed = run_.progress.feed;
        for (std::size_t s = 0; s < feed.missed.size(); ++s) {
            const Source<d>& source = run_.plan.feeds.sources[s];
            const double put_in = source.by_mass ? feed.fed_mass[s] : static_cast<double>(feed.fed[s]);
            const double missed = missed_by(s);
            if (missed > 1e-3 * put_in)
                lines.push_back(
                    fmt::format("source {}: {:.4g} {} that its rate asked for found no room, beside {:.4g} "
                                "that came; make "
                                "its region larger or its rate smaller",
                                source.name, missed, source.by_mass ? "kg" : "grains", put_in));
        }
        if (sum.jumps > 0)
            lines.push_back(fmt::format(
                "overlaps grew by up to {:.2g} radii in a step, more than a solution should allow, after {} "
                "steps: bodies move or turn too far in one, or are pushed harder than the tolerance can "
                "hold. Shorten [time] step, or let it adapt ([time] displacement); or lower [solver] "
                "tolerance",
                sum.worst_jump, sum.jumps));
        return lines;
    }

    /// What a source should have put in and did not: grains, or kg. Parts of a grain wait for the rest of it.
    [[nodiscard]] double missed_by(std::size_t s) const {
        const FeedState& feed = run_.progress.feed;
        const Source<d>& source = run_.plan.feeds.sources[s];
        if (feed.fed[s] >= source.most) return feed.missed[s];
        const double owed = source.by_mass ? feed.owed[s] : std::floor(feed.owed[s] + 1e-6);
        return feed.missed[s] + std::max(owed, 0.0);
    }
    [[nodiscard]] std::int64_t sources_behind() const {
        std::int64_t count = 0;
        for (std::size_t s = 0; s < run_.progress.feed.missed.size(); ++s) count += missed_by(s) > 0 ? 1 : 0;
        return count;
    }

    [[nodiscard]] bool may_freeze() const {
        const auto* brief = std::get_if<BriefOptions>(&run_.plan.options.step.solve.solver);
        return brief != nullptr && brief->guarded();
    }

    [[nodiscard]] std::int64_t forces_missed() const {
        return run_.progress.summary.forces_missed + (folder_ ? folder_->forces_missed() : 0);
    }

    [[nodiscard]] std::string json() const {
        const RunSummary& sum = run_.progress.summary;
        const StepSeconds& seconds = sum.seconds;
        const nlohmann::ordered_json object = {
            {"scene", run_.files.scene.string()},
            {"title", run_.plan.title},
            {"bodies", ends_.bodies},
            {"time", run_.plan.world.scene.time},
            {"steps", sum.steps},
            {"unsolved", sum.unsolved},
            {"infeasible", sum.infeasible},
            {"frozen_shift", sum.frozen},
            {"worst_shift_error", sum.worst_shift_error},
            {"worst_closing", sum.worst_closing},
            {"worst_velocity_error", sum.worst_velocity},
            {"overlap_jumps", sum.jumps},
            {"worst_overlap_jump", sum.worst_jump},
            {"forces_missed", forces_missed()},
            {"sources_behind", sources_behind()},
            {"stopped", reason_text(run_.progress.stopped)},
            {"worst_residual", sum.worst_residual},
            {"worst_overlap", sum.worst_overlap},
            {"worst_relative_overlap", sum.worst_relative_overlap},
            {"iterations", sum.iterations},
            {"energy_begin", run_.progress.balance.begin.total()},
            {"energy_end", run_.progress.balance.end.total()},
            {"kinetic_end", run_.progress.balance.end.kinetic},
            {"work_contacts", sum.work.contacts},
            {"work_held", sum.work.held},
            {"work_joints", sum.work.joints},
            {"work_scheme", sum.work.scheme},
            {"fed_energy", sum.fed_energy},
            {"balance_error",
             unbalanced().empty() ? nlohmann::ordered_json(balance_error()) : nlohmann::ordered_json()},
            {"frames", folder_ ? folder_->frames() : 0},
            {"threads", run_.plan.options.step.solve.threads},
            {"ranks", ends_.ranks},
            {"seconds", seconds.total()},
            {"seconds_free", seconds.free},
            {"seconds_detect", seconds.detect},
            {"seconds_assemble", seconds.assemble},
            {"seconds_solve", seconds.solve},
            {"seconds_forces", seconds.forces},
            {"seconds_integrate", seconds.integrate},
            {"seconds_account", seconds.account},
            {"seconds_frames", folder_ ? folder_->frame_seconds() : 0.0},
        };
        return json_text(object);
    }

private:
    const Run<d>& run_;
    const RunFolder<d>* folder_;
    const RunEnd& ends_;
};

}  // namespace

template <int d>
std::vector<std::string> summary_lines(const Run<d>& run, const RunFolder<d>* folder, const RunEnd& ends) {
    return Summary<d>(run, folder, ends).lines();
}

template <int d>
std::string summary_json(const Run<d>& run, const RunFolder<d>* folder, const RunEnd& ends) {
    return Summary<d>(run, folder, ends).json();
}

#define DRYSTONE_RUN_SUMMARY(d)                                                                         \
    template std::vector<std::string> summary_lines(const Run<d>&, const RunFolder<d>*, const RunEnd&); \
    template std::string summary_json(const Run<d>&, const RunFolder<d>*, const RunEnd&)
DRYSTONE_RUN_SUMMARY(2);
DRYSTONE_RUN_SUMMARY(3);
#undef DRYSTONE_RUN_SUMMARY

}  // namespace drystone::command
