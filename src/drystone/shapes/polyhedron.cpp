// Polyhedra from faces: planes, edges, adjacency; boxes; centring and principal axes.
#include "drystone/base/error.hpp"
#include "drystone/base/symmetric_eigen.hpp"
#include "drystone/shapes/hull.hpp"
#include "drystone/shapes/moments.hpp"

#include <algorithm>
#include <array>

namespace drystone {

namespace {

/// Twice the vector area of a loop, about its first corner (Newell): the mean normal also where corners are
/// off one plane.
Vec<3> area_vector(const std::vector<Vec<3>>& vertices, const Index* loop, Index size) {
    Vec<3> sum = Vec<3>::Zero();
    for (Index k = 1; k + 1 < size; ++k)
        sum += (vertices[loop[k]] - vertices[loop[0]]).cross(vertices[loop[k + 1]] - vertices[loop[0]]);
    return sum;
}

/// Right-handed principal axes, as columns, that turn the given axes least: of all orders and signs of the
/// eigenvectors. An inertia that is diagonal to rounding keeps its axes, so that a cube is not turned at
/// random.
Mat<3> principal_axes(const Mat<3>& inertia) {
    const double off = std::max({std::abs(inertia(0, 1)), std::abs(inertia(0, 2)), std::abs(inertia(1, 2))});
    if (off <= 1e-13 * inertia.trace()) return Mat<3>::Identity();
    Vec<3> moments;
    Mat<3> found;
    symmetric_eigen(3, inertia.data(), moments.data(), found.data());

    Mat<3> best;
    std::array<int, 3> order{0, 1, 2};
    double most = -infinity;
    do {
        Mat<3> axes;
        for (int k = 0; k < 3; ++k) axes.col(k) = (found(k, order[k]) < 0 ? -1 : 1) * found.col(order[k]);
        if (axes.determinant() < 0) {
            Eigen::Index least = 0;
            axes.diagonal().minCoeff(&least);
            axes.col(least) *= -1;
        }
        if (axes.trace() > most) {
            most = axes.trace();
            best = axes;
        }
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

}  // namespace

void refresh_planes(Polyhedron& p) {
    for (Polyhedron::Face& face : p.faces) {
        const Index* loop = &p.face_vertices[face.start];
        face.normal = area_vector(p.vertices, loop, face.size).normalized();
        face.offset = -infinity;
        for (Index k = 0; k < face.size; ++k)
            face.offset = std::max(face.offset, face.normal.dot(p.vertices[loop[k]]));
    }
}

Polyhedron assemble_polyhedron(const FaceLoops& loops) {
    Polyhedron p;
    p.vertices = loops.vertices;
    for (const std::vector<Index>& loop : loops.faces) {
        const Index start = static_cast<Index>(p.face_vertices.size()),
                    size = static_cast<Index>(loop.size());
        p.faces.push_back({Vec<3>::Zero(), 0, start, size});
        p.face_vertices.insert(p.face_vertices.end(), loop.begin(), loop.end());
    }
    refresh_planes(p);

    // Each side of a face is one direction of an edge: sorted by their two vertices, the two directions stand
    // side by side.
    struct Side {
        Index low, high, at, face;  ///< `at` is its place in face_vertices
    };
    std::vector<Side> sides;
    for (std::size_t f = 0; f < p.faces.size(); ++f) {
        const Polyhedron::Face& face = p.faces[f];
        for (Index k = 0; k < face.size; ++k) {
            const Index from = p.face_vertices[face.start + k],
                        to = p.face_vertices[face.start + (k + 1) % face.size];
            sides.push_back({std::min(from, to), std::max(from, to), face.start + k, static_cast<Index>(f)});
        }
    }
    std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
        return std::array{a.low, a.high, a.at} < std::array{b.low, b.high, b.at};
    });
    p.face_edges.resize(p.face_vertices.size());
    for (std::size_t i = 0; i + 1 < sides.size(); i += 2) {
        const Side &a = sides[i], &b = sides[i + 1];
        const Index edge = static_cast<Index>(p.edges.size());
        const Index from = p.face_vertices[a.at];
        p.edges.push_back({{from, from == a.low ? a.high : a.low}, {a.face, b.face}});
        p.face_edges[a.at] = p.face_edges[b.at] = edge;
    }

    p.vertex_edge_start.assign(p.vertices.size() + 1, 0);
    for (const Polyhedron::Edge& edge : p.edges)
        for (const Index v : edge.vertex) ++p.vertex_edge_start[v + 1];
    for (std::size_t v = 0; v < p.vertices.size(); ++v) p.vertex_edge_start[v + 1] += p.vertex_edge_start[v];
    p.vertex_edges.resize(2 * p.edges.size());
    std::vector<Index> next(p.vertex_edge_start.begin(), p.vertex_edge_start.end() - 1);
    for (std::size_t e = 0; e < p.edges.size(); ++e)
        for (const Index v : p.edges[e].vertex) p.vertex_edges[next[v]++] = static_cast<Index>(e);
    return p;
}

Polyhedron make_box(const Vec<3>& half) {
    if (!half.allFinite() || half.minCoeff() <= 0)
        fail("box", "a half side is not positive", "give three positive half sides");
    FaceLoops loops;
    // Vertex 4 i + 2 j + k is at the signs (i, j, k).
    for (const int i : {-1, 1})
        for (const int j : {-1, 1})
            for (const int k : {-1, 1}) loops.vertices.push_back(half.cwiseProduct(Vec<3>(i, j, k)));
    loops.faces = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
    return assemble_polyhedron(loops);
}

Centred<3, Polyhedron> make_polyhedron(const std::vector<Vec<3>>& points) {
    Centred<3, Polyhedron> made;
    made.shape = assemble_polyhedron(hull_of(points));
    const Moments<3> moments = moments_of(made.shape);
    const Mat<3> axes = principal_axes(inertia_of(moments.second));
    made.pose.position = moments.centre;
    made.pose.rotation.q = Eigen::Quaterniond(axes).normalized();
    const Mat<3> into = matrix(made.pose.rotation).transpose();
    for (Vec<3>& x : made.shape.vertices) x = into * (x - moments.centre);
    refresh_planes(made.shape);
    return made;
}

}  // namespace drystone
