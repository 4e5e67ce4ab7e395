#include "drystone/results/vtkhdf.hpp"

#include "drystone/base/error.hpp"

#include <algorithm>
#include <climits>
#include <cmath>

namespace drystone {

namespace {

/// Triangles by their directed edges: each edge belongs to at most one triangle of a surface that is wound
/// consistently.
class EdgeTable {
public:
    explicit EdgeTable(const std::vector<std::array<Index, 3>>& triangles) {
        edges_.reserve(3 * triangles.size());
        for (std::size_t t = 0; t < triangles.size(); ++t)
            for (int k = 0; k < 3; ++k)
                edges_.push_back({triangles[t][k], triangles[t][(k + 1) % 3], static_cast<int>(t),
                                  triangles[t][(k + 2) % 3]});
        std::sort(edges_.begin(), edges_.end());
    }
    struct Side {
        int triangle = -1, opposite = -1;
    };
    /// The triangle that has not been used with the edge from `a` to `b`, and its third corner.
    [[nodiscard]] Side find(int a, int b, const std::vector<char>& used) const {
        auto at = std::lower_bound(edges_.begin(), edges_.end(), Edge{a, b, -1, -1});
        for (; at != edges_.end() && (*at)[0] == a && (*at)[1] == b; ++at)
            if (!used[(*at)[2]]) return {(*at)[2], (*at)[3]};
        return {};
    }

private:
    using Edge = std::array<int, 4>;  // from, to, triangle, opposite corner
    std::vector<Edge> edges_;
};

/// As far as one can go from a triangle with its corner `first` in front. Marks what it used.
std::vector<int> run_from(const std::vector<std::array<Index, 3>>& triangles, const EdgeTable& edges,
                          int start, int first, std::vector<char>& used, std::vector<int>& marked) {
    const auto& t = triangles[start];
    std::vector<int> strip = {t[first], t[(first + 1) % 3], t[(first + 2) % 3]};
    used[start] = 1;
    marked.push_back(start);
    // Across the edge between two corners, as triangle number `place` of the strip: every second one is wound the other
    // way in the list.
    const auto across = [&](std::size_t place, int a, int b) {
        return place % 2 == 0 ? edges.find(a, b, used) : edges.find(b, a, used);
    };
    for (;;) {
        const std::size_t n = strip.size();
        auto side = across(n - 2, strip[n - 2], strip[n - 1]);
        if (side.triangle < 0) {
            // Turn the other way: a, b, c becomes a, b, a, c.
            side = across(n - 1, strip[n - 3], strip[n - 1]);
            if (side.triangle < 0) return strip;
            strip.insert(strip.end() - 1, strip[n - 3]);
        }
        used[side.triangle] = 1;
        marked.push_back(side.triangle);
        strip.push_back(side.opposite);
    }
}

using Triangles = std::vector<std::array<Index, 3>>;

/// Each triangle into four, the new vertices on the unit sphere.
void subdivide(std::vector<Vec<3>>& vertices, Triangles& triangles) {
    std::map<std::pair<Index, Index>, Index> middles;
    const auto middle = [&](Index a, Index b) {
        const auto [at, fresh] = middles.try_emplace(std::minmax(a, b), static_cast<Index>(vertices.size()));
        if (fresh) vertices.push_back((vertices[a] + vertices[b]).normalized());
        return at->second;
    };
    Triangles finer;
    finer.reserve(4 * triangles.size());
    for (const auto& [a, b, c] : triangles) {
        const Index ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
        finer.push_back({a, ab, ca});
        finer.push_back({b, bc, ab});
        finer.push_back({c, ca, bc});
        finer.push_back({ab, bc, ca});
    }
    triangles = std::move(finer);
}

/// The unit sphere: an icosahedron with two of its vertices on the last axis, subdivided. Its vertices are spread more
/// evenly than those of meridians and parallels, so that fewer do.
Surface<3> round_surface(int level) {
    Surface<3> surface;
    surface.vertices.emplace_back(0, 0, 1);
    const double z = 1 / std::sqrt(5.0), r = 2 / std::sqrt(5.0), turn = 2 * std::acos(-1.0) / 5;
    for (int i = 0; i < 5; ++i)
        surface.vertices.emplace_back(r * std::cos(i * turn), r * std::sin(i * turn), z);
    for (int i = 0; i < 5; ++i)
        surface.vertices.emplace_back(r * std::cos((i + 0.5) * turn), r * std::sin((i + 0.5) * turn), -z);
    surface.vertices.emplace_back(0, 0, -1);
    for (Index i = 0; i < 5; ++i) {
        const Index next = (i + 1) % 5;
        surface.elements.push_back({0, 1 + i, 1 + next});
        surface.elements.push_back({1 + i, 6 + i, 1 + next});
        surface.elements.push_back({1 + next, 6 + i, 6 + next});
        surface.elements.push_back({6 + i, 11, 6 + next});
    }
    for (int k = 0; k < level; ++k) subdivide(surface.vertices, surface.elements);
    return surface;
}

Surface<3> surface_at(const Shape<3>& shape, int level) {
    static constexpr int detail[] = {8, 8, 16, 24};
    Vec<3> semi;
    if (const auto* ball = std::get_if<Ball<3>>(&shape)) {
        semi.setConstant(ball->radius);
    } else if (const auto* ellipsoid = std::get_if<Ellipsoid<3>>(&shape)) {
        semi = ellipsoid->semi;
    } else {
        return surface_of<3>(shape, detail[level]);
    }
    Surface<3> surface = round_surface(level);
    for (Vec<3>& x : surface.vertices) x = x.cwiseProduct(semi);
    return surface;
}

}  // namespace

std::vector<int> make_strip(const Triangles& triangles) {
    const EdgeTable edges(triangles);
    std::vector<char> used(triangles.size(), 0);
    std::vector<int> whole, marked;
    for (std::size_t start = 0; start < triangles.size(); ++start) {
        if (used[start]) continue;
        std::vector<int> best;
        int best_first = 0;
        std::size_t most = 0;
        for (int first = 0; first < 3; ++first) {
            marked.clear();
            std::vector<int> tried = run_from(triangles, edges, static_cast<int>(start), first, used, marked);
            for (const int t : marked) used[t] = 0;
            if (marked.size() > most) {
                most = marked.size();
                best = std::move(tried);
                best_first = first;
            }
        }
        run_from(triangles, edges, static_cast<int>(start), best_first, used, marked);
        if (!whole.empty()) {
            whole.push_back(whole.back());
            whole.push_back(best.front());
            // A strip must begin at an even place to keep its winding.
            if (whole.size() % 2 != 0) whole.push_back(best.front());
        }
        whole.insert(whole.end(), best.begin(), best.end());
    }
    return whole;
}

std::vector<std::array<int, 3>> triangles_of_strip(std::span<const int> strip) {
    std::vector<std::array<int, 3>> triangles;
    for (std::size_t i = 0; i + 2 < strip.size(); ++i) {
        std::array<int, 3> t = {strip[i], strip[i + 1], strip[i + 2]};
        if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
        if (i % 2 != 0) std::swap(t[0], t[1]);
        triangles.push_back(t);
    }
    return triangles;
}

template <int d>
CellShape<d> cell_shape(const Shape<d>& shape, int level) {
    CellShape<d> cell;
    if (std::holds_alternative<HalfSpace<d>>(shape)) return cell;
    level = std::clamp(level, 0, finest_level);
    if constexpr (d == 2) {
        static constexpr int detail[] = {12, 20, 36, 72};
        const Surface<2> outline = surface_of<2>(shape, detail[level]);
        cell.vertices = outline.vertices;
        for (const auto& edge : outline.elements) cell.corners.push_back(edge[0]);
    } else {
        Surface<3> surface = surface_at(shape, level);
        cell.corners = make_strip(surface.elements);
        cell.vertices = std::move(surface.vertices);
    }
    return cell;
}

template CellShape<2> cell_shape<2>(const Shape<2>&, int);
template CellShape<3> cell_shape<3>(const Shape<3>&, int);

void VtkGrid::end_cell(VtkCell type) {
    offsets.push_back(static_cast<int>(connectivity.size()));
    types.push_back(static_cast<std::uint8_t>(type));
}

VtkSlabs vtk_slabs(const hdf5::Ranks& ranks, const VtkGrid& grid) {
    const auto slab = [&](std::size_t n) { return hdf5::slab_of(ranks, static_cast<std::int64_t>(n)); };
    VtkSlabs slabs;
    slabs.leads = hdf5::rank_of(ranks) == 0;
    slabs.points = slab(grid.points.size() / 3);
    slabs.corners = slab(grid.connectivity.size());
    slabs.cells = slab(grid.cells());
    return slabs;
}

void shift_indices(VtkGrid& grid, const VtkSlabs& slabs, const std::string& where) {
    if (slabs.corners.total > INT_MAX || slabs.points.total > INT_MAX)
        fail(where, "has more than 2^31 corners of cells", "leave [output] frames_every away");
    if (slabs.points.first > 0)
        for (int& point : grid.connectivity) point += static_cast<int>(slabs.points.first);
    if (slabs.corners.first > 0)
        for (int& corner : grid.offsets) corner += static_cast<int>(slabs.corners.first);
}

void write_vtk_grid(const hdf5::Group& root, const VtkGrid& grid, const VtkSlabs& slabs, double time) {
    const hdf5::Group group = root.create_group("VTKHDF");
    constexpr std::int64_t version[] = {1, 0};
    group.write_attribute("Version", version);
    group.write_attribute("Type", std::string("UnstructuredGrid"));
    group.write_longs("NumberOfPoints", {&slabs.points.total, 1});
    group.write_longs("NumberOfCells", {&slabs.cells.total, 1});
    group.write_longs("NumberOfConnectivityIds", {&slabs.corners.total, 1});
    group.write_rows("Points", std::span<const float>(grid.points), 3, slabs.points);
    group.write_rows("Connectivity", std::span<const int>(grid.connectivity), 0, slabs.corners);
    // One more than there are cells: the first rank writes where the first begins, each rank where its cells end.
    const std::span<const int> ends = std::span<const int>(grid.offsets).subspan(slabs.leads ? 0 : 1);
    group.write_rows("Offsets", ends, 0, {slabs.cells.first + (slabs.leads ? 0 : 1), slabs.cells.total + 1});
    group.write_rows("Types", std::span<const std::uint8_t>(grid.types), 0, slabs.cells);
    const hdf5::Group data = group.create_group("CellData");
    for (const VtkGrid::Field& field : grid.fields) {
        std::visit(
            [&]<class T>(const std::vector<T>& values) {
                data.write_rows(field.name, std::span<const T>(values), field.columns, slabs.cells);
            },
            field.values);
    }
    group.create_group("FieldData").write_double("time", time);
}

}  // namespace drystone
