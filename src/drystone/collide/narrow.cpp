// Which pair of shapes goes where.
#include "drystone/collide/narrow.hpp"

#include "drystone/base/error.hpp"
#include "drystone/collide/mesh.hpp"
#include "drystone/collide/polytopes.hpp"
#include "drystone/collide/round.hpp"
#include "drystone/collide/smooth.hpp"

#include <type_traits>

namespace drystone {

namespace {

template <class S>
inline constexpr bool is_round =
    std::is_same_v<S, Ball<2>> || std::is_same_v<S, Ball<3>> || std::is_same_v<S, Capsule>;
template <class S>
inline constexpr bool is_flat = std::is_same_v<S, Polygon> || std::is_same_v<S, Polyhedron>;
template <class S>
inline constexpr bool is_smooth =
    std::is_same_v<S, Ellipsoid<2>> || std::is_same_v<S, Ellipsoid<3>> || std::is_same_v<S, Superellipsoid>;
template <class S>
inline constexpr bool is_plane = std::is_same_v<S, HalfSpace<2>> || std::is_same_v<S, HalfSpace<3>>;
template <class S>
inline constexpr bool is_mesh = std::is_same_v<S, TriangleMesh>;

/// Pairs are handled with the shape of higher rank second.
template <class S>
inline constexpr int rank = is_smooth<S>  ? 0
                            : is_round<S> ? 1
                            : is_flat<S>  ? 2
                            : is_plane<S> ? 3
                                          : 4;

template <int d>
void flip(Distance<d>& x) {
    std::swap(x.point_a, x.point_b);
    x.normal = -x.normal;
}

template <int d, class S>
constexpr auto hull_for(const S& shape, const Placed<d>& placed, const Vec<d>& origin) {
    if constexpr (d == 2 && is_round<S>)
        return outline_of(core_of(shape, placed), origin);
    else if constexpr (d == 2)
        return outline_of(shape, placed, origin);
    else if constexpr (is_round<S>)
        return SegmentHull(core_of(shape, placed), origin);
    else
        return hull_of(shape, placed, origin);
}
inline const Hull& hull_in(const SegmentHull& x) { return x.hull; }
inline const Hull& hull_in(const Hull& x) { return x; }
inline const Outline& hull_in(const Outline& x) { return x; }

inline bool apart_or_meeting(const Hull& a, const Hull& b, double cutoff, Distance<3>& out) {
    return hull_distance(a, b, cutoff, out);
}
inline bool apart_or_meeting(const Outline& a, const Outline& b, double cutoff, Distance<2>& out) {
    return outline_distance(a, b, cutoff, out);
}
inline void touch(const Hull& a, const Hull& b, double reach, std::vector<Touch<3>>& out) {
    touch_hulls(a, b, reach, out);
}
inline void touch(const Outline& a, const Outline& b, double reach, std::vector<Touch<2>>& out) {
    touch_outlines(a, b, reach, out);
}

/// rank of A <= rank of B.
template <int d, class A, class B>
Distance<d> distance_of(const A& shape_a, const Placed<d>& a, const B& shape_b, const Placed<d>& b) {
    if constexpr (is_mesh<B> && !is_mesh<A> && !is_plane<A>) {
        return mesh_distance(a, shape_b, b);
    } else if constexpr (is_smooth<A>) {
        return smooth_distance<d>(a, b);
    } else if constexpr (is_round<A> && is_round<B>) {
        return round_round(core_of(shape_a, a), core_of(shape_b, b));
    } else if constexpr (is_round<A> && is_plane<B>) {
        return round_plane(core_of(shape_a, a), plane_of(b));
    } else if constexpr (is_flat<A> && is_plane<B>) {
        return corners_plane(shape_a, a, plane_of(b));
    } else if constexpr (is_flat<B>) {
        const Vec<d> origin = b.pose.position;
        const auto hull_a = hull_for<d>(shape_a, a, origin);
        const auto hull_b = hull_for<d>(shape_b, b, origin);
        Distance<d> out;
        apart_or_meeting(hull_in(hull_a), hull_in(hull_b), infinity, out);
        out.point_a += origin, out.point_b += origin;
        return out;
    } else {
        fail("distance",
             std::string("no distance between a ") + name_of<d>(*a.shape) + " and a " + name_of<d>(*b.shape),
             "one of the two must be convex and bounded");
    }
}

template <int d, class A, class B>
void touch_shapes(const A& shape_a, const Placed<d>& a, const B& shape_b, const Placed<d>& b, double reach,
                  std::vector<Touch<d>>& out) {
    if constexpr (is_mesh<B> && !is_mesh<A> && !is_plane<A>) {
        touch_mesh(a, shape_b, b, reach, out);
    } else if constexpr (is_smooth<A>) {
        const Distance<d> x = smooth_distance<d>(a, b, reach);
        if (x.gap <= reach) out.push_back({0.5 * (x.point_a + x.point_b), x.normal, x.gap, 0});
    } else if constexpr (is_round<A> && is_round<B>) {
        touch_round_round(core_of(shape_a, a), core_of(shape_b, b), reach, out);
    } else if constexpr (is_round<A> && is_plane<B>) {
        touch_round_plane(core_of(shape_a, a), plane_of(b), reach, out);
    } else if constexpr (is_flat<A> && is_plane<B>) {
        touch_corners_plane(shape_a, a, plane_of(b), reach, out);
    } else if constexpr (is_flat<B>) {
        const Vec<d> origin = b.pose.position;
        const auto hull_a = hull_for<d>(shape_a, a, origin);
        const auto hull_b = hull_for<d>(shape_b, b, origin);
        const std::size_t first = out.size();
        touch(hull_in(hull_a), hull_in(hull_b), reach, out);
        for (std::size_t i = first; i < out.size(); ++i) out[i].point += origin;
    }
    // Half-spaces and meshes among themselves are held or moved as prescribed: nothing acts between them.
}

}  // namespace

template <int d>
Distance<d> distance(const Placed<d>& a, const Placed<d>& b) {
    return std::visit(
        [&](const auto& shape_a, const auto& shape_b) {
            using A = std::decay_t<decltype(shape_a)>;
            using B = std::decay_t<decltype(shape_b)>;
            if constexpr (rank<A> <= rank<B>) {
                return distance_of<d>(shape_a, a, shape_b, b);
            } else {
                Distance<d> x = distance_of<d>(shape_b, b, shape_a, a);
                flip(x);
                return x;
            }
        },
        *a.shape, *b.shape);
}

template <int d>
void find_touches(const Placed<d>& a, const Placed<d>& b, double reach, std::vector<Touch<d>>& out) {
    std::visit(
        [&](const auto& shape_a, const auto& shape_b) {
            using A = std::decay_t<decltype(shape_a)>;
            using B = std::decay_t<decltype(shape_b)>;
            if constexpr (rank<A> <= rank<B>) {
                touch_shapes<d>(shape_a, a, shape_b, b, reach, out);
            } else {
                const std::size_t first = out.size();
                touch_shapes<d>(shape_b, b, shape_a, a, reach, out);
                for (std::size_t i = first; i < out.size(); ++i) out[i].normal = -out[i].normal;
            }
        },
        *a.shape, *b.shape);
}

template Distance<2> distance(const Placed<2>&, const Placed<2>&);
template Distance<3> distance(const Placed<3>&, const Placed<3>&);
template void find_touches(const Placed<2>&, const Placed<2>&, double, std::vector<Touch<2>>&);
template void find_touches(const Placed<3>&, const Placed<3>&, double, std::vector<Touch<3>>&);

}  // namespace drystone
