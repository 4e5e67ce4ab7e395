// Where there is room for another ball among the bodies of a scene.
#pragma once

#include "drystone/bodies/ball_grid.hpp"
#include "drystone/collide/narrow.hpp"

namespace drystone {

/// The bodies of a scene as obstacles. Grains count as their bounding balls; half-spaces, meshes and bodies that are
/// much larger than what is to be placed, or fill little of their bounding ball, as what they are. A mesh that is
/// closed is solid, an open one is a sheet.
template <int d>
class FreeSpace {
public:
    /// Of the bodies that come near `where`, for balls of up to this radius. The scene must outlive it and keep its
    /// shapes.
    FreeSpace(const Scene<d>& scene, const Bounds<d>& where, double radius);

    /// True if the ball overlaps nothing.
    [[nodiscard]] bool is_free(const Vec<d>& x, double radius) const;
    /// An obstacle from now on.
    void add(const Vec<d>& x, double radius) { balls_.add(x, radius); }
    /// x moved out of each obstacle in turn: free of all of them where there are not many.
    [[nodiscard]] Vec<d> pushed_out(Vec<d> x, double radius) const;

private:
    struct Plane {
        Vec<d> normal, point;
    };
    struct Solid {
        Placed<d> placed;
        Bounds<d> bounds;
        bool closed;  // a mesh that has an inside
    };
    struct Gap {
        double value;
        Vec<d> normal;  // towards the ball
    };
    [[nodiscard]] Gap gap_to(const Solid& solid, const Vec<d>& x, double radius) const;
    /// Calls visit(gap) for planes, and for solids whose bounds the ball (or an image of it) overlaps. Ends, with true,
    /// when it answers true.
    template <class Visit>
    bool any_gap(const Vec<d>& x, double radius, Visit&& visit) const;

    Domain<d> domain_;
    std::vector<Plane> planes_;
    std::vector<Solid> solids_;
    BallGrid<d> balls_;
    std::vector<Image<d>> images_;  // of a ball that may meet a solid
};

}  // namespace drystone
