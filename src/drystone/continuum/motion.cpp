#include "drystone/continuum/motion.hpp"

#include "drystone/base/parallel_sum.hpp"
#include "drystone/continuum/resample.hpp"
#include "drystone/continuum/rows.hpp"
#include "drystone/continuum/sites.hpp"
#include "drystone/continuum/viscosity.hpp"

#include <algorithm>

namespace drystone {

template <int d>
double longest_step(const Scene<d>& scene, const Sand<d>& sand, double longest) {
    if (sand.empty()) return longest;
    Vec<d> fastest = Vec<d>::Zero();
    for (const Vec<d>& v : sand.particles.velocity) fastest = fastest.cwiseMax(v.cwiseAbs());
    double h = longest;
    for (int k = 0; k < d; ++k) {
        // v h + g h^2 = way.
        const double way = sand.options.courant * sand.cell[k], v = fastest[k],
                     g = std::abs(scene.gravity[k]);
        const double root = v + std::sqrt(v * v + 4 * g * way);
        if (root > 0) h = std::min(h, 2 * way / root);
    }
    return h;
}

template <int d>
void free_motion(const Scene<d>& scene, const Sand<d>& sand, double h, int threads, SandMemory<d>& m) {
    to_grid(sand, threads, m.grid, m.state);
    m.begin = m.state.velocity;
    find_touches(scene, m.grid, m.state, h, threads, m.touches, m.space);
    for (Vec<d>& v : m.state.velocity) v += h * scene.gravity;
    find_sites(sand, threads, m);
    fill_gradients(sand, threads, m);
    if (sand.material.viscosity > 0) damp(sand, h, threads, m);
}

template <int d>
void integrate(double h, const Vector& v, Index first, int threads, SandMemory<d>& m, Sand<d>& sand) {
    m.end.resize(m.grid.nodes.size());
    for (std::size_t j = 0; j < m.end.size(); ++j)
        m.end[j] = v.segment<d>(first + static_cast<Eigen::Index>(j) * d);
    from_grid(m.grid, m.end, m.begin, h, threads, sand);
    if (sand.options.resample) resample(m.grid, threads, sand);
}

template <int d>
void account(const Scene<d>& scene, const Sand<d>& sand, ExactSum& kinetic, ExactSum& potential) {
    const Particles<d>& p = sand.particles;
    for (Index i = 0; i < p.count(); ++i) {
        const double mass = sand.mass(i);
        kinetic.add(0.5 * mass * p.velocity[i].squaredNorm());
        potential.add(-mass * scene.gravity.dot(p.position[i]));
    }
}

#define DRYSTONE_MOTION(d)                                                                   \
    template double longest_step(const Scene<d>&, const Sand<d>&, double);                   \
    template void free_motion(const Scene<d>&, const Sand<d>&, double, int, SandMemory<d>&); \
    template void integrate(double, const Vector&, Index, int, SandMemory<d>&, Sand<d>&);    \
    template void account(const Scene<d>&, const Sand<d>&, ExactSum&, ExactSum&)
DRYSTONE_MOTION(2);
DRYSTONE_MOTION(3);
#undef DRYSTONE_MOTION

}  // namespace drystone
