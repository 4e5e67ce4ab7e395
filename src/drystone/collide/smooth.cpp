#include "drystone/collide/smooth.hpp"

#include "drystone/collide/smooth_body.hpp"
#include "drystone/collide/smooth_pieces.hpp"

namespace drystone {

namespace {

/// a is smooth; b is smooth, or the corners within `radius`. Everything is about the centres, a's being at `offset`
/// from b's.
template <int d>
struct Pair {
    SmoothBody<d> a;
    SmoothBody<d> b;
    Pieces<d> pieces;  ///< one corner at b's centre where b is smooth
    bool b_smooth = false;
    Vec<d> offset;
    double radius = 0;
    double length = 0;     ///< what rounding errors and tolerances are measured against, m
    double thickness = 0;  ///< half that of the thinner one, about
    Mat<d> R_b;
    Mat<d> Q_b;  ///< of an ellipsoid about as large as b, for the start
};

/// Everything about one normal.
template <int d>
struct State {
    Vec<d> n;
    CurvedPoint<d> a, b;
    Vec<d> apart;   ///< a's point minus b's (but for its corner)
    double height;  ///< of b's farthest corner
    double f;
};

template <int d>
inline bool evaluate(Pair<d>& pair, const Vec<d>& n, State<d>& at) {
    at.n = n;
    at.a = curved_point(pair.a, n);
    at.apart = pair.offset - at.a.s;
    if (pair.b_smooth) {
        at.b = curved_point(pair.b, n);
        at.apart -= at.b.s;
    }
    bool grown = false;
    at.height = pair.b_smooth ? 0 : farthest(pair.pieces, n, grown);
    at.f = n.dot(at.apart) - at.height;
    return grown;
}

/// The step dn, bent along the faces of bodies that have some; in each direction the flatter body decides.
template <int d>
inline Vec<d> bent_step(const Pair<d>& pair, const State<d>& at, const Vec<d>& dn) {
    if constexpr (d == 3) {
        const bool a_bends = has_faces(pair.a), b_bends = pair.b_smooth && has_faces(pair.b);
        if (!a_bends && !b_bends) return dn;
        if (!pair.b_smooth) return dn + bend_step(pair.a, at.a, at.n, dn);
        const Mat<d> W = at.a.W + at.b.W;
        const double scale = W.trace();
        const Mat<d> regular = W + scale * (at.n * at.n.transpose()) + (1e-14 * scale) * Mat<d>::Identity();
        const Mat<d> inverse = regular.inverse();
        if (!inverse.allFinite()) return dn;
        Vec<d> bend = Vec<d>::Zero();
        if (a_bends) bend += inverse * (at.a.W * bend_step(pair.a, at.a, at.n, dn));
        if (b_bends) bend += inverse * (at.b.W * bend_step(pair.b, at.b, at.n, dn));
        return dn + bend;
    }
    return dn;
}

template <int m>
struct Curvature {
    Eigen::Matrix<double, m, m> H, H_inverse;  ///< positive definite: eigenvalues by their size
    Eigen::Matrix<double, m, 1> worst;         ///< direction of the smallest eigenvalue
    double smallest;
};

inline Curvature<1> positive(const Eigen::Matrix<double, 1, 1>& H, double floor) {
    Curvature<1> out;
    out.smallest = H(0, 0);
    out.H(0, 0) = std::max(std::abs(H(0, 0)), floor);
    out.H_inverse(0, 0) = 1 / out.H(0, 0);
    out.worst[0] = 1;
    return out;
}

inline Curvature<2> positive(const Mat<2>& H, double floor) {
    Curvature<2> out;
    const double det = H(0, 0) * H(1, 1) - H(0, 1) * H(0, 1), trace = H(0, 0) + H(1, 1);
    const double mean = 0.5 * trace, half = 0.5 * (H(0, 0) - H(1, 1));
    const double spread = std::sqrt(half * half + H(0, 1) * H(0, 1));
    const double large = mean >= 0 ? mean + spread : mean - spread;  // larger by size, free of cancellation
    const double small = large != 0 ? det / large : 0;
    out.smallest = std::min(large, small);
    if (out.smallest > floor) {
        out.H = H;
        out.H_inverse << H(1, 1), -H(0, 1), -H(0, 1), H(0, 0);
        out.H_inverse /= det;
        out.worst.setZero();
        return out;
    }
    // Eigenvector of `large`, from the row of H - small I that is farther from zero.
    Vec<2> v =
        (half >= 0) == (mean >= 0) ? Vec<2>(large - H(1, 1), H(0, 1)) : Vec<2>(H(0, 1), large - H(0, 0));
    const double norm = v.norm();
    v = norm > 0 ? Vec<2>(v / norm) : Vec<2>(1, 0);
    const Vec<2> w(-v[1], v[0]);
    out.worst = large < small ? v : w;
    const double l = std::max(std::abs(large), floor), s = std::max(std::abs(small), floor);
    out.H = l * v * v.transpose() + s * w * w.transpose();
    out.H_inverse = v * v.transpose() / l + w * w.transpose() / s;
    return out;
}

/// The tangent part of what keeps the points from facing each other exactly is shared by the two bodies, the flatter
/// one taking the more: it is there that a point is known least and may be moved with least harm.
template <int d>
inline void align(const Vec<d>& n, const Mat<d>& W_a, const Mat<d>& W_b, bool b_smooth, Distance<d>& out) {
    const Vec<d> miss = out.point_a - out.point_b - out.gap * n;
    if (!b_smooth) {
        out.point_a -= miss;
        return;
    }
    // n n^T stands in for the null direction of both.
    const Mat<d> total = W_a + W_b;
    const double scale = total.trace();
    const Mat<d> regular = total + scale * (n * n.transpose()) + (1e-12 * scale) * Mat<d>::Identity();
    const Vec<d> part = scale > 0 ? Vec<d>(W_a * (regular.inverse() * miss)) : Vec<d>(0.5 * miss);
    out.point_a -= part;
    out.point_b += miss - part;
}

struct Effort {
    int evaluations = 0;
    bool converged = false;
};

/// Climbs f from a start to a local maximum.
template <int d>
Distance<d> climb(Pair<d>& pair, const Vec<d>& start, double give_up, Effort& effort) {
    constexpr int m = d - 1;
    // The error left after such a step is of the order of its square, with a large factor on flat parts.
    const bool faces = has_faces(pair.a) || (pair.b_smooth && has_faces(pair.b));
    const double step_enough = faces ? 1e-10 : 1e-8;
    constexpr double step_blind = 1e-3;  // no longer step is taken unless f grows
    const double noise = 4e-16 * pair.length;
    const double miss_enough = 1e-8 * pair.length;

    effort = Effort{};
    State<d> at, next;
    PieceProgram<m> program;
    typename PieceProgram<m>::Answer answer{};
    evaluate(pair, start, at);
    double trust = 1, gain = 0;
    double last_miss = infinity;
    int quiet = 0, kicks = 0;
    Vec<d> dn = Vec<d>::Zero();
    program.slack = noise;

    for (effort.evaluations = 1; effort.evaluations < 100;) {
        if (at.f - pair.radius > give_up) break;
        const Eigen::Matrix<double, m, d> E = frame_of(at.n).template bottomRows<m>();
        Mat<d> W = at.a.W;
        if (pair.b_smooth) W += at.b.W;
        Eigen::Matrix<double, m, m> H = E * W * E.transpose();
        H.diagonal().array() += at.f;
        const Curvature<m> curvature = positive(H, 1e-12 * pair.length);
        program.H = curvature.H;
        program.H_inverse = curvature.H_inverse;
        program.g = E * at.apart;

        bool done = false;
        for (;;) {  // until a step from here is taken
            program.count = pair.pieces.count;
            int lead = 0;
            for (int k = 0; k < program.count; ++k) {
                program.slope[k] = E * pair.pieces.corner[k];
                program.height[k] = at.n.dot(pair.pieces.corner[k]) - at.height;
                if (program.height[k] > program.height[lead]) lead = k;
            }
            answer = program.solve();
            for (int k = 0; k < program.count; ++k) pair.pieces.weight[k] = 0;
            for (int k = 0; k < answer.size; ++k)
                pair.pieces.weight[answer.active[k]] = std::max(answer.weight[k], 0.0);
            // The piece that f is made of here must not make room for another one.
            pair.pieces.weight[lead] += std::numeric_limits<double>::min();

            Eigen::Matrix<double, m, 1> t = answer.t;
            program.H = curvature.H;
            if (m == 2 && answer.size == 2 && curvature.smallest < 0) {
                // f bends upwards in some direction, but perhaps not along the line where the two pieces are level:
                // there the true curvature makes Newton's method quick, and the one made positive would make it slow.
                const auto& low = program.slope[answer.active[0]];
                const Eigen::Matrix<double, m, 1> across = program.slope[answer.active[1]] - low;
                Eigen::Matrix<double, m, 1> along;
                along[0] = -across[m - 1], along[m - 1] = across[0];
                const double bend = along.dot(H * along);
                if (bend > 1e-9 * pair.length * along.squaredNorm()) {
                    const Eigen::Matrix<double, m, 1> base = (across.dot(t) / across.squaredNorm()) * across;
                    const Eigen::Matrix<double, m, 1> quick =
                        base + (along.dot(program.g - low - H * base) / bend) * along;
                    const double level = low.dot(quick) + program.height[answer.active[0]];
                    program.H = H;
                    // Not where it runs into another piece, or far off for nothing.
                    if (program.top(quick) <= level + program.slack &&
                        (quick.norm() <= step_blind || program.value(quick) < -4 * noise)) {
                        t = quick;
                    } else {
                        program.H = curvature.H;
                    }
                }
            }
            const double miss = (program.H * t).norm();
            const double size = t.norm();
            dn = E.transpose() * t;
            if (size <= step_enough && miss <= miss_enough) {
                gain = -program.value(t);
                done = effort.converged = true;
                // A ridge or a saddle is no answer: leave it along its worst direction, if the active pieces allow.
                Eigen::Matrix<double, m, 1> way = curvature.worst;
                if (answer.size == 2 && m == 2) {
                    const auto along = program.slope[answer.active[1]] - program.slope[answer.active[0]];
                    way[0] = -along[m - 1], way[m - 1] = along[0];
                    way.normalize();
                }
                const bool ridge =
                    answer.size < d && curvature.smallest < 0 && way.dot(H * way) < -1e-6 * pair.length;
                if (!ridge || ++kicks > 3) break;
                done = effort.converged = false;
                State<d> other;
                evaluate(pair, Vec<d>((at.n + 0.3 * E.transpose() * way).normalized()), next);
                evaluate(pair, Vec<d>((at.n - 0.3 * E.transpose() * way).normalized()), other);
                at = other.f > next.f ? other : next;
                break;
            }
            if (size > trust) t *= trust / size;
            gain = -program.value(t);  // heights are relative: the value of no step is zero
            if (gain < -4 * noise) {   // the program was too ill-conditioned: climb the present piece alone
                t = program.H_inverse * (program.g - program.slope[lead]);
                if (t.norm() > trust) t *= trust / t.norm();
                gain = 0.5 * t.dot(program.g - program.slope[lead]);
            }
            if (gain <= 4 * noise) {
                // f no longer tells good from bad; how well the points face each other does.
                if (++quiet > 8 || (quiet > 1 && miss > 0.5 * last_miss) || size > step_blind) {
                    if (size > step_blind) dn.setZero(), gain = 0;
                    done = effort.converged = true;
                    break;
                }
                last_miss = miss;
            }
            Vec<d> step = E.transpose() * t;
            if (faces && answer.size < d) {
                Vec<d> bend = bent_step(pair, at, step) - step;
                if (answer.size == 2) {
                    // Back to where the two pieces are level, by the way that moves the point on the surface least.
                    const Eigen::Matrix<double, m, 1> across =
                        program.slope[answer.active[1]] - program.slope[answer.active[0]];
                    const Eigen::Matrix<double, m, 1> way = program.H_inverse * across;
                    bend -= E.transpose() * (across.dot(E * bend) / across.dot(way) * way);
                }
                step += bend;
            }
            const bool grown = evaluate(pair, Vec<d>((at.n + step).normalized()), next);
            ++effort.evaluations;
            if (gain <= 4 * noise || next.f >= at.f + 0.1 * gain) {
                trust = 1;
                at = next;
                break;
            }
            if (effort.evaluations >= 100) break;
            if (!grown) trust = 0.3 * t.norm();
        }
        if (done) break;
    }

    Distance<d> out;
    if (!effort.converged) dn.setZero(), gain = 0;
    out.normal = (at.n + dn).normalized();
    out.point_a = pair.offset - at.a.s - at.a.W * dn;
    out.point_b.setZero();
    if (pair.b_smooth) {
        out.point_b = at.b.s + at.b.W * dn;
    } else {
        double total = 0;
        for (int k = 0; k < pair.pieces.count; ++k) {
            out.point_b += pair.pieces.weight[k] * pair.pieces.corner[k];
            total += pair.pieces.weight[k];
        }
        if (total > 0)
            out.point_b /= total;
        else
            out.point_b = pair.pieces.corner[0];
    }
    out.gap = at.f + std::max(gain, 0.0);
    align(out.normal, at.a.W, at.b.W, pair.b_smooth, out);
    out.gap -= pair.radius;
    out.point_b += pair.radius * out.normal;
    return out;
}

/// A normal near that of the answer: exact where two ellipsoids just touch and t is the ratio of their support
/// functions, since the sum of the two is inside (1 + 1/t) Q_a + (1 + t) Q_b and meets it there.
template <int d>
Vec<d> first_normal(const Pair<d>& pair) {
    const Mat<d> tiny = (1e-6 * pair.length * pair.length) * Mat<d>::Identity();
    Vec<d> n = (pair.a.Q + pair.Q_b + tiny).inverse() * pair.offset;
    const double ratio = std::sqrt(n.dot(pair.a.Q * n) / std::max(n.dot(pair.Q_b * n), 1e-300));
    if (ratio > 1e-3 && ratio < 1e3) {
        n = ((1 + 1 / ratio) * pair.a.Q + (1 + ratio) * pair.Q_b + tiny).inverse() * pair.offset;
    }
    const double norm = n.norm();
    if (norm > 1e-9 * pair.offset.norm() && norm > 0) return n / norm;
    return pair.a.R.col(d - 1);
}

template <int d>
Distance<d> solve(Pair<d>& pair, double give_up) {
    Effort effort;
    const Vec<d> start = first_normal(pair);
    Distance<d> best = climb(pair, start, give_up, effort);
    if (best.gap > -0.3 * pair.thickness) return best;

    // Shapes this deep in each other have several ways out, and thin ones may even be apart along a normal that the
    // first climb did not reach. Try the other likely normals, the most promising first, and keep the shortest way.
    constexpr int tries = 2 * d + 1;
    std::array<Vec<d>, tries> normals;
    std::array<double, tries> promise;
    State<d> at;
    for (int i = 0; i < tries; ++i) {
        Vec<d> n = i < d ? pair.a.R.col(i) : (i < 2 * d ? pair.R_b.col(i - d) : pair.offset);
        const double norm = n.norm();
        n = norm > 0 ? Vec<d>(n / norm) : Vec<d>(Vec<d>::Unit(0));
        if (n.dot(pair.offset) < 0) n = -n;
        evaluate(pair, n, at);
        normals[i] = n;
        promise[i] = at.f;
    }
    for (int round = 0; round < tries; ++round) {
        const auto top = std::max_element(promise.begin(), promise.end()) - promise.begin();
        promise[top] = -infinity;
        const Distance<d> other = climb(pair, normals[top], give_up, effort);
        if (other.gap > best.gap) best = other;
    }
    return best;
}

/// b as corners and a radius.
template <int d>
void set_other(Pair<d>& pair, const Placed<d>& b) {
    const Mat<d> R = matrix(b.pose.rotation);
    const double size = b.size;
    Vec<d> extent = Vec<d>::Zero();
    if (const auto* ball = std::get_if<Ball<d>>(b.shape)) {
        pair.radius = size * ball->radius;
        pair.pieces.put(Vec<d>::Zero());
        extent.setConstant(pair.radius);
    }
    using Corners = std::conditional_t<d == 2, Polygon, Polyhedron>;
    if (const auto* corners = std::get_if<Corners>(b.shape)) {
        pair.pieces.polytope = b.shape;
        pair.pieces.R = R;
        pair.pieces.size = size;
        for (const Vec<d>& x : corners->vertices) extent = extent.cwiseMax(x.cwiseAbs());
        extent *= size;
    }
    if constexpr (d == 3) {
        if (const auto* capsule = std::get_if<Capsule>(b.shape)) {
            pair.radius = size * capsule->radius;
            const Vec<3> arm = (size * capsule->half_length) * R.col(2);
            pair.pieces.put(arm);
            pair.pieces.put(-arm);
            extent = Vec<3>(pair.radius, pair.radius, pair.radius + size * capsule->half_length);
        }
    }
    pair.thickness = std::min(pair.a.semi.minCoeff(), extent.minCoeff());
    pair.R_b = R;
    pair.Q_b = R * extent.cwiseAbs2().asDiagonal() * R.transpose();
}

template <int d>
Distance<d> swapped(Distance<d> x) {
    std::swap(x.point_a, x.point_b);
    x.normal = -x.normal;
    return x;
}

template <int d>
Distance<d> to_plane(const Placed<d>& a, const Placed<d>& plane) {
    Distance<d> out;
    out.normal = matrix(plane.pose.rotation).col(d - 1);
    out.point_a = a.pose.position - curved_point(make_smooth_body(a), out.normal).s;
    out.gap = out.normal.dot(out.point_a - plane.pose.position);
    out.point_b = out.point_a - out.gap * out.normal;
    return out;
}

}  // namespace

template <int d>
Distance<d> smooth_distance(const Placed<d>& a, const Placed<d>& b, double give_up) {
    if (!is_smooth<d>(*a.shape)) return swapped(smooth_distance(b, a, give_up));
    if (std::holds_alternative<HalfSpace<d>>(*b.shape)) return to_plane(a, b);

    Pair<d> pair;
    pair.a = make_smooth_body(a);
    pair.offset = a.pose.position - b.pose.position;
    pair.b_smooth = is_smooth<d>(*b.shape);
    if (pair.b_smooth) {
        pair.b = make_smooth_body(b);
        pair.R_b = pair.b.R;
        pair.Q_b = pair.b.Q;
        pair.thickness = std::min(pair.a.semi.minCoeff(), pair.b.semi.minCoeff());
        pair.pieces.put(Vec<d>::Zero());
    } else {
        set_other(pair, b);
    }
    pair.length = pair.offset.norm() + std::sqrt(pair.a.Q.trace()) + std::sqrt(pair.Q_b.trace());
    Distance<d> out = solve(pair, give_up);
    out.point_a += b.pose.position;
    out.point_b += b.pose.position;
    return out;
}

Distance<3> smooth_triangle_distance(const Placed<3>& a, const Vec<3>& p, const Vec<3>& q, const Vec<3>& r,
                                     double give_up) {
    const Vec<3> centre = (p + q + r) / 3;
    Pair<3> pair;
    pair.a = make_smooth_body(a);
    pair.offset = a.pose.position - centre;
    for (const Vec<3>& corner : {p, q, r}) pair.pieces.put(corner - centre);
    pair.Q_b.setZero();
    for (int k = 0; k < 3; ++k) pair.Q_b += pair.pieces.corner[k] * pair.pieces.corner[k].transpose();
    pair.length = pair.offset.norm() + std::sqrt(pair.a.Q.trace()) + std::sqrt(pair.Q_b.trace());
    const Vec<3> outward = (q - p).cross(r - p).normalized();
    Effort effort;
    Distance<3> out = climb(pair, outward, give_up, effort);
    pair.thickness = pair.a.semi.minCoeff();
    if (out.gap < -0.3 * pair.thickness) {
        // Behind the triangle's plane, or beyond its edges, there are local maxima too. This deep it may not meet the
        // triangle at all.
        pair.R_b = frame_of(outward).transpose();
        const Distance<3> other = solve(pair, give_up);
        if (other.gap > 0) out = other;
    }
    out.point_a += centre;
    out.point_b += centre;
    return out;
}

template Distance<2> smooth_distance<2>(const Placed<2>&, const Placed<2>&, double);
template Distance<3> smooth_distance<3>(const Placed<3>&, const Placed<3>&, double);

}  // namespace drystone
