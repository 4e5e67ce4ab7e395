#include "drystone/continuum/fill.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/exact_sum.hpp"
#include "drystone/bodies/random.hpp"

namespace drystone {

/// More would not fit into a local index with room for nodes and rows.
constexpr double most_particles = 5e8;

template <int d>
Index fill(const SandFill<d>& plan, Sand<d>& sand) {
    Particles<d>& p = sand.particles;
    const Bounds<d> box = bounds_of<d>(plan.region);
    const Vec<d> spacing = sand.cell / sand.options.particles;
    const double fraction = plan.fraction > 0 ? plan.fraction : sand.material.max_fraction;
    const double volume = fraction * spacing.prod();
    std::array<std::int64_t, 3> count = {1, 1, 1};
    double all = 1;
    for (int k = 0; k < d; ++k) {
        // A region that is a whole number of spacings but for rounding has that many.
        const double along = std::ceil((box.upper[k] - box.lower[k]) / spacing[k] - 1e-6);
        all *= along;
        if (!(all + p.count() < most_particles))
            fail("sand", "a fill has more particles than can be numbered",
                 "make cells wider, or the region smaller");
        count[static_cast<std::size_t>(k)] = static_cast<std::int64_t>(along);
    }
    const Random random(plan.seed, stream_of("sand"));
    const Index before = p.count();
    const bool cohesive = sand.material.cohesion > 0;
    for (std::int64_t c = 0; c < count[2]; ++c) {
        for (std::int64_t b = 0; b < count[1]; ++b) {
            for (std::int64_t a = 0; a < count[0]; ++a) {
                const std::array<std::int64_t, 3> at = {a, b, c};
                Vec<d> x;
                for (int k = 0; k < d; ++k)
                    x[k] = box.lower[k] +
                           (static_cast<double>(at[static_cast<std::size_t>(k)]) + 0.5) * spacing[k];
                if (!contains<d>(plan.region, x)) continue;
                const GlobalId id = p.next_id++;
                if (plan.scatter > 0) {
                    Vec<d> moved = x;
                    for (int k = 0; k < d; ++k)
                        moved[k] +=
                            plan.scatter * spacing[k] *
                            (random(static_cast<std::uint64_t>(id), static_cast<std::uint64_t>(k)) - 0.5);
                    if (contains<d>(plan.region, moved)) x = moved;
                }
                p.id.push_back(id);
                p.volume.push_back(volume);
                p.position.push_back(x);
                p.velocity.push_back(plan.velocity);
                p.gradient.push_back(Mat<d>::Zero());
                p.frame.push_back((0.25 * spacing.cwiseAbs2()).asDiagonal());
                if (cohesive) p.cohesion.push_back(sand.material.cohesion);
            }
        }
    }
    return p.count() - before;
}

template <int d>
TakenAway take_away(const Region<d>& region, const Vec<d>& gravity, Sand<d>& sand) {
    Particles<d>& p = sand.particles;
    ExactSum mass, energy;
    std::size_t kept = 0;
    for (Index i = 0; i < p.count(); ++i) {
        if (contains<d>(region, p.position[i], 0)) {
            const double m = sand.mass(i);
            mass.add(m);
            energy.add(0.5 * m * p.velocity[i].squaredNorm());
            energy.add(-m * gravity.dot(p.position[i]));
            continue;
        }
        visit_arrays(
            [&](auto& x) {
                if (!x.empty()) x[kept] = x[i];
            },
            p);
        ++kept;
    }
    visit_arrays(
        [&](auto& x) {
            if (!x.empty()) x.resize(kept);
        },
        p);
    return {mass.value(), energy.value()};
}

template TakenAway take_away(const Region<2>&, const Vec<2>&, Sand<2>&);
template TakenAway take_away(const Region<3>&, const Vec<3>&, Sand<3>&);
template Index fill(const SandFill<2>&, Sand<2>&);
template Index fill(const SandFill<3>&, Sand<3>&);

}  // namespace drystone
