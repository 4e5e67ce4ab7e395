// The corners of a polytope as linear pieces of its support function, and the small quadratic program with them.
#pragma once

#include "drystone/collide/narrow.hpp"

#include <algorithm>
#include <array>

namespace drystone {

/// The corners that matter so far. A few points known from the start (a point, a segment, a triangle), or those of a
/// polytope, which are asked for by direction.
template <int d>
struct Pieces {
    static constexpr int capacity = 6;
    std::array<Vec<d>, capacity> corner;  ///< world axes, from the centre of the body
    std::array<Index, capacity> id;       ///< the polytope's vertex
    std::array<double, capacity> weight;  ///< multipliers of the last quadratic program
    int count = 0;

    const Shape<d>* polytope = nullptr;  ///< none: the corners known are all there are
    Mat<d> R;
    double size = 1;
    Index last = 0;  ///< where the next walk starts

    void put(const Vec<d>& point) {
        corner[count] = point;
        id[count] = -1;
        weight[count++] = 0;
    }
};

/// Index of the farthest vertex along `direction` (body axes), by walking uphill from `start`: on a convex body there
/// is no lower summit to be caught on. A step must gain more than rounding, so the walk ends.
inline Index farthest_vertex(const Polygon& polygon, const Vec<2>& direction, Index start) {
    const Index n = static_cast<Index>(polygon.vertices.size());
    Index at = start;
    double best = direction.dot(polygon.vertices[at]);
    for (const Index stride : {Index{1}, n - 1}) {
        const Index before = at;
        for (;;) {
            const Index next = (at + stride) % n;
            const double value = direction.dot(polygon.vertices[next]);
            if (!(value > best)) break;
            at = next, best = value;
        }
        if (at != before) break;
    }
    return at;
}

inline Index farthest_vertex(const Polyhedron& body, const Vec<3>& direction, Index start) {
    const Index n = static_cast<Index>(body.vertices.size());
    if (n <= 24) {  // a plain scan beats the walk
        Index at = 0;
        double best = direction.dot(body.vertices[0]);
        for (Index i = 1; i < n; ++i) {
            const double value = direction.dot(body.vertices[i]);
            if (value > best) at = i, best = value;
        }
        return at;
    }
    Index at = start;
    double best = direction.dot(body.vertices[at]);
    for (bool moved = true; moved;) {
        moved = false;
        Index next = at;
        for (Index k = body.vertex_edge_start[at]; k < body.vertex_edge_start[at + 1]; ++k) {
            const auto& edge = body.edges[body.vertex_edges[k]];
            const Index other = edge.vertex[edge.vertex[0] == at ? 1 : 0];
            const double value = direction.dot(body.vertices[other]);
            if (value > best) next = other, best = value, moved = true;
        }
        at = next;
    }
    return at;
}

/// Height of the farthest corner along n. Takes a corner not met before into the pieces, in place of an idle one if
/// need be, and then sets `grown`.
template <int d>
inline double farthest(Pieces<d>& pieces, const Vec<d>& n, bool& grown) {
    grown = false;
    if (pieces.polytope) {
        using Corners = std::conditional_t<d == 2, Polygon, Polyhedron>;
        const auto& body = *std::get_if<Corners>(pieces.polytope);
        const Index vertex = farthest_vertex(body, Vec<d>(pieces.R.transpose() * n), pieces.last);
        pieces.last = vertex;
        bool known = false;
        for (int k = 0; k < pieces.count; ++k) known = known || pieces.id[k] == vertex;
        if (!known) {
            int slot = pieces.count;
            if (slot == Pieces<d>::capacity) {
                // The idle piece that is farthest below.
                double lowest = infinity;
                for (int k = 0; k < pieces.count; ++k) {
                    const double height = n.dot(pieces.corner[k]);
                    if (pieces.weight[k] <= 0 && height < lowest) lowest = height, slot = k;
                }
            } else {
                ++pieces.count;
            }
            pieces.corner[slot] = pieces.R * (pieces.size * body.vertices[vertex]);
            pieces.id[slot] = vertex;
            pieces.weight[slot] = 0;
            grown = true;
        }
    }
    double height = -infinity;
    for (int k = 0; k < pieces.count; ++k) height = std::max(height, n.dot(pieces.corner[k]));
    return height;
}

/// min over t of  t.H t / 2 - g.t + max_k (slope_k . t + height_k), with H positive definite and m = 1 or 2 unknowns.
template <int m>
struct PieceProgram {
    using Step = Eigen::Matrix<double, m, 1>;
    using Matrix = Eigen::Matrix<double, m, m>;
    static constexpr int capacity = Pieces<m + 1>::capacity;

    Matrix H, H_inverse;
    Step g;
    std::array<Step, capacity> slope;
    std::array<double, capacity> height;
    int count = 0;
    double slack = 0;  ///< pieces this little below the top count as there: rounding of the heights

    [[nodiscard]] double top(const Step& t) const {
        double value = slope[0].dot(t) + height[0];
        for (int k = 1; k < count; ++k) value = std::max(value, slope[k].dot(t) + height[k]);
        return value;
    }
    [[nodiscard]] double value(const Step& t) const { return 0.5 * t.dot(H * t) - g.dot(t) + top(t); }

    struct Answer {
        Step t;
        int active[3];
        double weight[3];
        int size;
    };

    /// Every set of up to m + 1 active pieces is tried, the likely ones first. One that meets the conditions of
    /// optimality is the answer; where rounding lets none meet them, the best value wins: each candidate's value is an
    /// honest one.
    [[nodiscard]] Answer solve() const {
        Answer best{Step(Step::Zero()), {0, 0, 0}, {1, 0, 0}, 1}, trial = best;
        if (count == 1) return {Step(H_inverse * (g - slope[0])), {0, 0, 0}, {1, 0, 0}, 1};
        double best_value = infinity;
        const auto judge = [&](bool weights_good) {
            if (!trial.t.allFinite()) return false;
            const int i = trial.active[0];
            const double own = slope[i].dot(trial.t) + height[i];
            if (weights_good && top(trial.t) <= own + slack) {
                best = trial;
                return true;
            }
            const double v = value(trial.t);
            if (v < best_value) best_value = v, best = trial;
            return false;
        };
        for (int i = 0; i < count; ++i) {
            trial = {Step(H_inverse * (g - slope[i])), {i, 0, 0}, {1, 0, 0}, 1};
            if (judge(true)) return best;
        }
        for (int i = 0; i < count; ++i) {
            for (int j = i + 1; j < count; ++j) {
                // On the line where the two are level; from a point of it, not through H^-1, which may be all but
                // singular.
                const Step d = slope[j] - slope[i];
                const double dd = d.squaredNorm();
                Step t = ((height[i] - height[j]) / dd) * d;
                if constexpr (m == 2) {
                    const Step along(-d[1], d[0]);
                    t += (along.dot(g - slope[i] - H * t) / along.dot(H * along)) * along;
                }
                const double share = d.dot(g - slope[i] - H * t) / dd;
                trial = {t, {i, j, 0}, {1 - share, share, 0}, 2};
                if (judge(share >= 0 && share <= 1)) return best;
            }
        }
        if constexpr (m == 2) {
            for (int i = 0; i < count; ++i) {
                for (int j = i + 1; j < count; ++j) {
                    for (int k = j + 1; k < count; ++k) {
                        const Step d = slope[j] - slope[i], e = slope[k] - slope[i];
                        const double area = d[0] * e[1] - d[1] * e[0];
                        const double hd = height[i] - height[j], he = height[i] - height[k];
                        const Step t(Step(hd * e[1] - he * d[1], he * d[0] - hd * e[0]) / area);
                        const Step rest = g - H * t - slope[i];  // = weight_j d + weight_k e
                        const double wj = (rest[0] * e[1] - rest[1] * e[0]) / area;
                        const double wk = (d[0] * rest[1] - d[1] * rest[0]) / area;
                        trial = {t, {i, j, k}, {1 - wj - wk, wj, wk}, 3};
                        if (judge(wj >= 0 && wk >= 0 && wj + wk <= 1)) return best;
                    }
                }
            }
        }
        return best;
    }
};

}  // namespace drystone
