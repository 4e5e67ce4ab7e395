#include "rank_report.hpp"

#include "run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

namespace drystone::command {

namespace {

/// Smallest, mean and largest over ranks.
struct Spread {
    double least, mean, most;
};

Spread spread_of(const Communicator& ranks, double x) {
    std::array<double, 2> extremes = {-x, x};
    ranks.largest(extremes);
    ExactSum sum;
    sum.add(x);
    ranks.sum({&sum, 1});
    return {-extremes[0], sum.value() / ranks.count(), extremes[1]};
}

}  // namespace

template <int d>
std::vector<std::string> report_on_ranks(const Part<d>& part, const RunSummary& summary) {
    const Communicator& ranks = *part.team;
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, summary.steps));
    std::vector<std::string> lines = {
        fmt::format("ranks {}: contacts of the busiest over the mean {:.3f}, space was cut again {} times",
                    ranks.count(), part.imbalance, part.balance.cuts),
        fmt::format("{:<22} {:>12} {:>12} {:>12}", "per rank", "least", "mean", "most")};
    auto add = [&](const std::string& what, double x, const std::string& format) {
        const Spread s = spread_of(ranks, x);
        lines.push_back(fmt::format(fmt::runtime("{:<22} " + format + " " + format + " " + format), what,
                                    s.least, s.mean, s.most));
    };
    const auto ghosts = std::count_if(part.owner.begin(), part.owner.end(),
                                      [&](int owner) { return owner >= 0 && owner != ranks.rank(); });
    add("bodies", static_cast<double>(std::count(part.owner.begin(), part.owner.end(), ranks.rank())),
        "{:>12.0f}");
    add("copies of others'", static_cast<double>(ghosts), "{:>12.0f}");
    add("neighbours", static_cast<double>(part.ghosts.neighbours()), "{:>12.0f}");
    add("bodies given away", static_cast<double>(part.moved), "{:>12.0f}");
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    add("largest memory, MB", static_cast<double>(usage.ru_maxrss) / 1e3, "{:>12.1f}");
    const StepSeconds& s = summary.seconds;
    const std::pair<const char*, double> stages[] = {
        {"seconds, free motion", s.free}, {"  detection, parts", s.detect}, {"  assembly, plan", s.assemble},
        {"  solving", s.solve},           {"  integration", s.integrate},   {"  accounts", s.account}};
    for (const auto& [name, seconds] : stages) add(name, seconds, "{:>12.3f}");
    for (std::size_t k = 0; k < talk_names.size(); ++k) {
        const Traffic& t = ranks.traffic(static_cast<Talk>(k));
        add(fmt::format("messages/step, {}", talk_names[k]), static_cast<double>(t.messages) / steps,
            "{:>12.1f}");
        add("  bytes/step", static_cast<double>(t.bytes) / steps, "{:>12.0f}");
    }
    return lines;
}

template std::vector<std::string> report_on_ranks(const Part<2>&, const RunSummary&);
template std::vector<std::string> report_on_ranks(const Part<3>&, const RunSummary&);

}  // namespace drystone::command
