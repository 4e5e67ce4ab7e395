// Distances against those of FCL, the Flexible Collision Library, for the shapes that both know.
#include "collide/smooth_shapes.hpp"

#include <fcl/geometry/shape/capsule.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/geometry/shape/ellipsoid.h>
#include <fcl/geometry/shape/sphere.h>
#include <fcl/narrowphase/distance.h>
#include <gtest/gtest.h>

#include <memory>

namespace drystone {
namespace {

using reference::Kind;
using reference::Random;

std::shared_ptr<fcl::CollisionGeometryd> to_fcl(const Placed<3>& body) {
    const double size = body.size;
    if (const auto* ball = std::get_if<Ball<3>>(body.shape))
        return std::make_shared<fcl::Sphered>(size * ball->radius);
    if (const auto* c = std::get_if<Capsule>(body.shape))
        return std::make_shared<fcl::Capsuled>(size * c->radius, 2 * size * c->half_length);
    if (const auto* e = std::get_if<Ellipsoid<3>>(body.shape))
        return std::make_shared<fcl::Ellipsoidd>(fcl::Vector3d(size * e->semi));
    const auto& p = std::get<Polyhedron>(*body.shape);
    auto vertices = std::make_shared<std::vector<fcl::Vector3d>>();
    for (const Vec<3>& v : p.vertices) vertices->push_back(size * v);
    auto faces = std::make_shared<std::vector<int>>();
    for (const auto& face : p.faces) {
        faces->push_back(face.size);
        for (Index k = 0; k < face.size; ++k) faces->push_back(p.face_vertices[face.start + k]);
    }
    return std::make_shared<fcl::Convexd>(vertices, static_cast<int>(p.faces.size()), faces);
}

double fcl_distance(const Placed<3>& a, const Placed<3>& b) {
    const auto place = [](const Placed<3>& body) {
        fcl::Transform3d pose = fcl::Transform3d::Identity();
        pose.linear() = matrix(body.pose.rotation);
        pose.translation() = body.pose.position;
        return fcl::CollisionObjectd(to_fcl(body), pose);
    };
    const fcl::CollisionObjectd p = place(a), q = place(b);
    fcl::DistanceRequestd request;
    request.distance_tolerance = 1e-9;
    request.gjk_solver_type = fcl::GST_LIBCCD;
    fcl::DistanceResultd result;
    return fcl::distance(&p, &q, request, result);
}

// FCL's search stops on the change of the distance between two of its steps, or when it makes no more progress: on
// curved shapes it is good to about 1e-6 of the size, on polyhedra to rounding.
TEST(FclCrosscheck, DistancesAgree) {
    Random random(61);
    constexpr Kind kinds[] = {Kind::ball, Kind::capsule, Kind::ellipsoid, Kind::box, Kind::polytope};
    double worst_flat = 0, worst_curved = 0;
    int compared = 0;
    for (int i = 0; i < 4000; ++i) {
        SCOPED_TRACE(i);
        const Kind kind_a = kinds[random.below(5)], kind_b = kinds[random.below(5)];
        const Shape<3> shape_a = reference::random_shape<3>(random, kind_a, 3),
                       shape_b = reference::random_shape<3>(random, kind_b, 3);
        Placed<3> a{&shape_a, random.log_in(0.2, 2), {}}, b{&shape_b, random.log_in(0.2, 2), {}};
        a.pose.rotation = random.rotation<3>(), b.pose.rotation = random.rotation<3>();
        a.pose.position = random.in(0.5, 3) * (a.size + b.size) * random.direction<3>();
        const double gap = distance<3>(a, b).gap, length = std::max(a.size, b.size);
        if (gap < 1e-3 * length) continue;  // FCL's distance of what overlaps is another thing
        const bool curved =
            !std::holds_alternative<Polyhedron>(shape_a) || !std::holds_alternative<Polyhedron>(shape_b);
        const double error = std::abs(gap - fcl_distance(a, b)) / length;
        double& worst = curved ? worst_curved : worst_flat;
        worst = std::max(worst, error);
        EXPECT_LE(error, curved ? 5e-6 : 1e-10);
        ++compared;
    }
    EXPECT_GT(compared, 2000);
    printf("%d distances, worst %.1e (curved), %.1e (polyhedra)\n", compared, worst_curved, worst_flat);
}

}  // namespace
}  // namespace drystone
