#include "drystone/continuum/measure.hpp"

#include "drystone/base/exact_sum.hpp"
#include "drystone/continuum/grid.hpp"

#include <algorithm>

namespace drystone {

template <int d>
SandTotals<d> measure_sand(const Sand<d>& sand, const Region<d>* region) {
    const Particles<d>& p = sand.particles;
    SandTotals<d> out;
    ExactSum mass, kinetic;
    std::array<ExactSum, d> moment, momentum;
    struct Stood {
        Lattice<d> column;
        Index particle;
    };
    std::vector<Stood> stood;
    for (Index i = 0; i < p.count(); ++i) {
        if (region != nullptr && !contains<d>(*region, p.position[i])) continue;
        const double m = sand.mass(i);
        mass.add(m);
        kinetic.add(0.5 * m * p.velocity[i].squaredNorm());
        for (int k = 0; k < d; ++k) {
            moment[k].add(m * p.position[i][k]);
            momentum[k].add(m * p.velocity[i][k]);
        }
        Lattice<d> column = Lattice<d>::Zero();
        for (int k = 0; k < d - 1; ++k)
            column[k] = static_cast<std::int32_t>(std::floor(p.position[i][k] / sand.cell[k]));
        stood.push_back({column, i});
    }
    out.mass = mass.value();
    out.kinetic = kinetic.value();
    for (int k = 0; k < d; ++k) {
        out.centre[k] = out.mass > 0 ? moment[k].value() / out.mass : 0.0;
        out.velocity[k] = out.mass > 0 ? momentum[k].value() / out.mass : 0.0;
    }
    std::sort(stood.begin(), stood.end(), [](const Stood& a, const Stood& b) {
        return std::lexicographical_compare(a.column.data(), a.column.data() + d, b.column.data(),
                                            b.column.data() + d);
    });
    const double least = 0.5 * sand.material.max_fraction * sand.cell_volume();
    bool any = false;
    for (auto first = stood.begin(); first != stood.end();) {
        const auto last =
            std::find_if(first, stood.end(), [&](const Stood& x) { return x.column != first->column; });
        double volume = 0;
        for (auto x = first; x != last; ++x) volume += p.volume[x->particle];
        for (auto x = first; x != last && volume >= least; ++x) {
            const Vec<d>& at = p.position[x->particle];
            const Vec<d> half = p.frame[x->particle].diagonal().cwiseMax(0.0).cwiseSqrt();
            const double left = at[0] - half[0], right = at[0] + half[0], top = at[d - 1] + half[d - 1];
            out.left = any ? std::min(out.left, left) : left;
            out.right = any ? std::max(out.right, right) : right;
            out.top = any ? std::max(out.top, top) : top;
            any = true;
        }
        first = last;
    }
    return out;
}

template SandTotals<2> measure_sand(const Sand<2>&, const Region<2>*);
template SandTotals<3> measure_sand(const Sand<3>&, const Region<3>*);

}  // namespace drystone
