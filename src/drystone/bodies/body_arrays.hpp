// All arrays of bodies at once: the one place that lists them beside the struct itself.
#pragma once

#include "drystone/bodies/scene.hpp"

namespace drystone {

/// Calls f with each array of `a` and the same array of `b`.
template <class A, class B, class F>
void for_each_array(A& a, B& b, F&& f) {
    f(a.id, b.id);
    f(a.shape, b.shape);
    f(a.size, b.size);
    f(a.material, b.material);
    f(a.motion, b.motion);
    f(a.mass, b.mass);
    f(a.inertia, b.inertia);
    f(a.position, b.position);
    f(a.image, b.image);
    f(a.rotation, b.rotation);
    f(a.velocity, b.velocity);
    f(a.spin, b.spin);
}
template <class A, class F>
void for_each_array(A& a, F&& f) {
    for_each_array(a, a, [&](auto& array, auto& /*same*/) { f(array); });
}

/// Body i of `from`, as the last of `to`.
template <int d>
void append(Bodies<d>& to, const Bodies<d>& from, Index i) {
    for_each_array(to, from, [&](auto& out, const auto& in) { out.push_back(in[i]); });
}

/// The bodies at these places, in this order.
template <int d>
Bodies<d> selected(const Bodies<d>& from, const std::vector<Index>& places) {
    Bodies<d> out;
    out.next_id = from.next_id;
    for_each_array(out, from, [&](auto& to, const auto& in) {
        to.reserve(places.size());
        for (const Index i : places) to.push_back(in[i]);
    });
    return out;
}

}  // namespace drystone
