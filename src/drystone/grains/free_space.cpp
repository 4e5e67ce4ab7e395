#include "drystone/grains/free_space.hpp"

#include <algorithm>

namespace drystone {

namespace {

/// A mesh without borders.
template <int d>
bool is_closed_mesh(const Shape<d>& shape) {
    if constexpr (d == 3) {
        if (const auto* mesh = std::get_if<TriangleMesh>(&shape))
            return std::all_of(mesh->neighbours.begin(), mesh->neighbours.end(), [](const auto& sides) {
                return std::min({sides[0], sides[1], sides[2]}) >= 0;
            });
    }
    return false;
}

template <int d>
bool is_mesh(const Shape<d>& shape) {
    if constexpr (d == 3) return std::holds_alternative<TriangleMesh>(shape);
    return false;
}

/// True if the bounding ball stands for the body without much loss.
template <int d>
bool counts_as_ball(const Scene<d>& scene, Index i, double radius) {
    if (std::holds_alternative<Ball<d>>(scene.shape_of(i))) return true;
    if (is_mesh<d>(scene.shape_of(i))) return false;
    const double outer = scene.outer_radius(i);
    return outer <= 1.2 * scene.inner_radius(i) || (scene.bodies.is_free(i) && outer <= 2 * radius);
}

/// -1, 0 and 1 period in each periodic direction.
template <int d>
std::vector<Image<d>> near_images(const Domain<d>& domain) {
    std::vector<Image<d>> images{Image<d>::Zero()};
    for (int k = 0; k < d; ++k) {
        if (!(domain.period[k] > 0)) continue;
        const std::size_t count = images.size();
        for (const int n : {-1, 1}) {
            for (std::size_t i = 0; i < count; ++i) {
                images.push_back(images[i]);
                images.back()[k] = n;
            }
        }
    }
    return images;
}

}  // namespace

template <int d>
FreeSpace<d>::FreeSpace(const Scene<d>& scene, const Bounds<d>& where, double radius)
    : domain_(scene.domain), balls_(scene.domain), images_(near_images(scene.domain)) {
    const Bounds<d> wide = where.widened(radius);
    auto comes_near = [&](const Bounds<d>& box) {
        return std::any_of(images_.begin(), images_.end(), [&](const Image<d>& image) {
            const Vec<d> shift = domain_.translation(image);
            return wide.overlaps({box.lower + shift, box.upper + shift});
        });
    };
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        const Pose<d> pose = scene.bodies.pose(i);
        const Shape<d>& shape = scene.shape_of(i);
        if (std::holds_alternative<HalfSpace<d>>(shape)) {
            planes_.push_back({matrix(pose.rotation).col(d - 1), pose.position});
        } else if (counts_as_ball(scene, i, radius)) {
            const double outer = scene.outer_radius(i);
            const Bounds<d> box{pose.position.array() - outer, pose.position.array() + outer};
            if (comes_near(box)) balls_.add(pose.position, outer);
        } else {
            const double size = scene.bodies.size[i];
            const Bounds<d> box = bounds<d>(shape, size, pose);
            if (comes_near(box)) solids_.push_back({{&shape, size, pose}, box, is_closed_mesh<d>(shape)});
        }
    }
}

template <int d>
typename FreeSpace<d>::Gap FreeSpace<d>::gap_to(const Solid& solid, const Vec<d>& x, double radius) const {
    const Shape<d> ball = Ball<d>{1};
    const Distance<d> found = distance<d>({&ball, radius, {x, {}}}, solid.placed);
    Gap gap{found.gap, found.normal};
    if (solid.closed) {
        // The distance to a mesh has no sign.
        const Pose<d>& pose = solid.placed.pose;
        const Vec<d> own = matrix(pose.rotation).transpose() * (x - pose.position) / solid.placed.size;
        if (inside_function<d>(*solid.placed.shape, own) < 0) {
            gap.value = -gap.value - 2 * radius;
            gap.normal = -gap.normal;
        }
    }
    return gap;
}

template <int d>
template <class Visit>
bool FreeSpace<d>::any_gap(const Vec<d>& x, double radius, Visit&& visit) const {
    for (const Plane& plane : planes_) {
        if (visit(Gap{plane.normal.dot(x - plane.point) - radius, plane.normal})) return true;
    }
    for (const Solid& solid : solids_) {
        for (const Image<d>& image : images_) {
            const Vec<d> y = x + domain_.translation(image);
            const Bounds<d> box{y.array() - radius, y.array() + radius};
            if (box.overlaps(solid.bounds) && visit(gap_to(solid, y, radius))) return true;
        }
    }
    return false;
}

template <int d>
bool FreeSpace<d>::is_free(const Vec<d>& x, double radius) const {
    return !any_gap(x, radius, [](const Gap& gap) { return gap.value < 0; }) &&
           !balls_.any_near(x, radius, 0, [](Index, const Vec<d>&) { return true; });
}

template <int d>
Vec<d> FreeSpace<d>::pushed_out(Vec<d> x, double radius) const {
    if (balls_.count() > 0) {
        balls_.any_near(x, radius, 0, [&](Index ball, const Vec<d>& way) {
            const double away = way.norm(), lacking = radius + balls_.radius(ball) - away;
            if (away > 0) x += lacking / away * way;
            return false;
        });
    }
    Vec<d> moved = x;
    any_gap(x, radius, [&](const Gap& gap) {
        if (gap.value < 0) moved -= gap.value * gap.normal;
        return false;
    });
    return moved;
}

template class FreeSpace<2>;
template class FreeSpace<3>;

}  // namespace drystone
