// The balance of energy over a run.
#pragma once

#include "drystone/world/step.hpp"

namespace drystone {

struct RunSummary;

/// What the energies of a run were, and the largest that moved: part of a checkpoint.
struct EnergyBalance {
    Energy begin, end;
    double largest_kinetic = 0;  ///< J
    double gross_work = 0;       ///< J: of contacts, joints and scheme, each step's as positive
    bool begun = false;

    void start(const Energy& energy);
    void add(const StepRecord& record);
    /// Between two steps bodies or gravity have become others: what that gave is counted as fed.
    void change(const Energy& now, RunSummary& summary);

    /// Energy that came from nowhere, over the largest energy that moved. In a heap at rest none does, and the quotient
    /// of two roundings would say nothing: there contacts take away in each step what gravity gives (`fall`, J), and
    /// that is the measure. What rounding makes of the energies themselves, which grow with the height of the scene
    /// above 0, is not counted.
    [[nodiscard]] double error(const RunSummary& summary, double fall) const;
};

/// Of all bodies, and of sand where there is some, now. Collective.
template <int d>
Energy energy_now(const Scene<d>& scene, const Share<d>* share, const Sand<d>* sand = nullptr);

/// What gravity gives to all free bodies, and to sand, in a step of length h in which nothing holds them, J.
/// Collective.
template <int d>
double energy_of_a_fall(const World<d>& world, double h, const Share<d>* share);

template <class Self, class F>
requires std::same_as<std::remove_const_t<Self>, EnergyBalance>
void each_number(Self& b, F&& f) {
    f("begin/kinetic", b.begin.kinetic);
    f("begin/potential", b.begin.potential);
    f("end/kinetic", b.end.kinetic);
    f("end/potential", b.end.potential);
    f("largest_kinetic", b.largest_kinetic);
    f("gross_work", b.gross_work);
    f("begun", b.begun, 1);
}

}  // namespace drystone
