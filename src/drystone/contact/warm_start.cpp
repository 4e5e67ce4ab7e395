#include "drystone/contact/warm_start.hpp"

#include "drystone/base/parallel.hpp"

#include <algorithm>
#include <array>

namespace drystone {

namespace {

constexpr int most_shares = 16;

/// Calls f(begin, end, share) for shares of n contacts, one for each thread.
template <class F>
void in_shares(int threads, std::size_t n, F&& f) {
    const int shares = n < 256 ? 1 : std::clamp(threads, 1, most_shares);
    parallel_for(threads, shares, [&](Index s) {
        const auto share = static_cast<std::size_t>(s);
        f(n * share / shares, n * (share + 1) / shares, share);
    });
}

}  // namespace

template <int d>
void recall(const WarmStart<d>& memory, const ContactSet<d>& contacts, const ConeProblem& problem,
            Eigen::Index joints, double h, Vector& r, int threads) {
    problem.fill_pull_impulse(r);
    if (memory.h <= 0) return;
    const double scale = h / memory.h;
    if (memory.joints.size() == joints) r.tail(joints) = scale * memory.joints;
    // Both are sorted: each share of the contacts goes through its part of what is remembered.
    in_shares(threads, contacts.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
        if (begin == end) return;
        auto k = static_cast<std::size_t>(
            std::lower_bound(memory.key.begin(), memory.key.end(), contacts[begin].key) - memory.key.begin());
        for (std::size_t i = begin; i < end; ++i) {
            while (k < memory.key.size() && memory.key[k] < contacts[i].key) ++k;
            if (k == memory.key.size()) break;
            if (memory.key[k] != contacts[i].key) continue;
            const Cone& cone = problem.cones[i];
            const Wrench<d> wrench{memory.impulse[k],
                                   memory.torque.empty() ? Spin<d>(Spin<d>::Zero()) : memory.torque[k]};
            std::array<double, max_block> local;
            in_frame<d>(cone, contacts[i].normal, wrench, local.data());
            for (int c = 0; c < cone.dim; ++c) r[problem.offset[i] + c] += scale * local[c];
        }
    });
}

template <int d>
void remember(const ContactSet<d>& contacts, const ConeProblem& problem, Eigen::Index joints, double h,
              const Vector& r, WarmStart<d>& memory, std::span<const std::uint8_t> ours, int threads) {
    memory.h = h;
    const bool pulled = problem.pull.size() > 0;
    const auto borne = [&](std::size_t i) {
        std::array<double, max_block> x{};
        std::copy_n(r.data() + problem.offset[i], problem.cones[i].dim, x.begin());
        if (pulled) x[0] -= problem.pull[static_cast<Eigen::Index>(i)];
        return x;
    };
    memory.joints = r.tail(joints);
    const auto bears = [&](std::size_t i) {
        const auto x = borne(i);
        return (ours.empty() || ours[i] != 0) &&
               std::any_of(x.begin(), x.begin() + problem.cones[i].dim, [](double c) { return c != 0; });
    };
    // How many each share has tells where the next one begins.
    std::array<std::size_t, most_shares + 1> first{};
    std::array<std::uint8_t, most_shares> turns{};  // whether a share has torques
    in_shares(threads, contacts.size(), [&](std::size_t begin, std::size_t end, std::size_t share) {
        for (std::size_t i = begin; i < end; ++i)
            if (bears(i)) {
                ++first[share + 1];
                if (problem.cones[i].kind == ConeKind::wrench) turns[share] = 1;
            }
    });
    const bool torques = std::any_of(turns.begin(), turns.end(), [](std::uint8_t any) { return any != 0; });
    for (std::size_t s = 0; s < most_shares; ++s) first[s + 1] += first[s];
    memory.key.resize(first.back());
    memory.impulse.resize(first.back());
    memory.torque.resize(torques ? first.back() : 0);
    in_shares(threads, contacts.size(), [&](std::size_t begin, std::size_t end, std::size_t share) {
        std::size_t k = first[share];
        for (std::size_t i = begin; i < end; ++i) {
            if (!bears(i)) continue;
            const Wrench<d> wrench = in_world<d>(problem.cones[i], contacts[i].normal, borne(i).data());
            memory.key[k] = contacts[i].key;
            memory.impulse[k] = wrench.force;
            if (torques) memory.torque[k] = wrench.torque;
            ++k;
        }
    });
}

template <int d>
void stretch_springs(const ContactSet<d>& contacts, const Vector& r, ConeProblem& problem) {
    if (problem.compliance.size() == 0) return;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const Index begin = problem.offset[i] + 1, size = problem.cones[i].dim - 1;
        problem.w.segment(begin, size) -=
            problem.compliance.segment(begin, size).cwiseProduct(r.segment(begin, size));
    }
}

#define DRYSTONE_WARM_START(d)                                                                            \
    template void recall(const WarmStart<d>&, const ContactSet<d>&, const ConeProblem&, Eigen::Index,     \
                         double, Vector&, int);                                                           \
    template void remember(const ContactSet<d>&, const ConeProblem&, Eigen::Index, double, const Vector&, \
                           WarmStart<d>&, std::span<const std::uint8_t>, int);                            \
    template void stretch_springs(const ContactSet<d>&, const Vector&, ConeProblem&)
DRYSTONE_WARM_START(2);
DRYSTONE_WARM_START(3);
#undef DRYSTONE_WARM_START

}  // namespace drystone
