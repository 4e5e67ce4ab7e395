#include "drystone/local/guarded_root.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace drystone {

namespace {

// Templates on the number type: the last resort runs in long double.

template <class S>
using SmallVector = std::array<S, max_block>;
template <class S>
using SmallMatrix = std::array<SmallVector<S>, max_block>;

template <class S>
S norm(const SmallVector<S>& x, int start, int size) {
    S sum = 0;
    for (int i = start; i < start + size; ++i) sum += x[i] * x[i];
    return std::sqrt(sum);
}

/// Factor of a symmetric positive definite matrix, in its lower half; pivots that rounding made negative get its size.
template <class S>
void cholesky(SmallMatrix<S>& A, int n) {
    S largest = 0;
    for (int i = 0; i < n; ++i) largest = std::max(largest, A[i][i]);
    const S floor = std::numeric_limits<S>::epsilon() * std::numeric_limits<S>::epsilon() * largest;
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            S sum = A[i][j];
            for (int k = 0; k < j; ++k) sum -= A[i][k] * A[j][k];
            A[i][j] = i == j ? std::sqrt(std::max(sum, floor)) : sum / A[j][j];
        }
    }
}

template <class S>
void cholesky_solve(const SmallMatrix<S>& L, SmallVector<S>& x, int n) {
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) x[i] -= L[i][k] * x[k];
        x[i] /= L[i][i];
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) x[i] -= L[k][i] * x[k];
        x[i] /= L[i][i];
    }
}

/// Eigenvectors (columns of Q) by Jacobi rotations, which find small eigenvalues of a positive definite matrix more
/// accurately than tridiagonal methods. A becomes diagonal.
template <class S>
void jacobi(SmallMatrix<S>& A, SmallMatrix<S>& Q, int n) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) Q[i][j] = i == j ? 1 : 0;
    }
    for (int sweep = 0; sweep < 30; ++sweep) {
        bool rotated = false;
        for (int i = 0; i < n; ++i) {
            for (int j = i + 1; j < n; ++j) {
                if (!(std::abs(A[i][j]) >
                      std::numeric_limits<S>::epsilon() / 4 * std::sqrt(std::abs(A[i][i] * A[j][j]))))
                    continue;
                rotated = true;
                const S theta = (A[j][j] - A[i][i]) / (2 * A[i][j]);
                const S t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
                const S c = 1 / std::sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; ++k) {
                    const S x = A[k][i], y = A[k][j];
                    A[k][i] = c * x - s * y;
                    A[k][j] = s * x + c * y;
                }
                for (int k = 0; k < n; ++k) {
                    const S x = A[i][k], y = A[j][k];
                    A[i][k] = c * x - s * y;
                    A[j][k] = s * x + c * y;
                }
                for (int k = 0; k < n; ++k) {
                    const S x = Q[k][i], y = Q[k][j];
                    Q[k][i] = c * x - s * y;
                    Q[k][j] = s * x + c * y;
                }
            }
        }
        if (!rotated) break;
    }
}

template <class S>
struct DiscProblem {
    int d = 0;
    SmallMatrix<S> A{};
    SmallVector<S> c{};
    ConeGroups groups;  // cover all components; starts are relative to x (components after the normal one)
    std::array<S, 3> radius{};
    // Frame of the eigenvectors of A, for a single disc.
    SmallMatrix<S> frame{};
    SmallVector<S> eigenvalue{};
    // Answer.
    SmallVector<S> x{};
    std::array<S, 3> velocity{};  // |u_j|
    std::array<bool, 3> pressed{};
};

/// One disc: the secular equation 1/|x(alpha)| = 1/R. Its left side is concave, so Newton from the left is monotone.
template <class S>
void solve_one_disc(DiscProblem<S>& p) {
    const int d = p.d;
    SmallVector<S> c{}, x{};
    S largest = 0;
    for (int i = 0; i < d; ++i) {
        for (int k = 0; k < d; ++k) c[i] += p.frame[k][i] * p.c[k];
        largest = std::max(largest, p.eigenvalue[i]);
    }
    const S R = p.radius[0];
    S alpha = std::max(S(0), norm(c, 0, d) / R - largest);
    for (int k = 0; k < 200; ++k) {
        S q2 = 0, dq = 0;
        for (int i = 0; i < d; ++i) {
            const S inverse = 1 / (p.eigenvalue[i] + alpha);
            x[i] = -c[i] * inverse;
            q2 += x[i] * x[i];
            dq += x[i] * x[i] * inverse;
        }
        const S q = std::sqrt(q2);
        if (q <= R) break;
        const S next = alpha + (q / R - 1) * q2 / dq;
        if (!(next > alpha)) break;
        alpha = next;
    }
    p.pressed[0] = alpha > 0;
    p.velocity[0] = alpha * norm(x, 0, d);
    for (int i = 0; i < d; ++i) {
        p.x[i] = 0;
        for (int k = 0; k < d; ++k) p.x[i] += p.frame[i][k] * x[k];
    }
}

/// Largest t <= 1 that keeps (x0 + t dx0) >= |x + t dx|, from a point strictly inside.
template <class S>
S step_in_cone(S x0, S dx0, const SmallVector<S>& x, const SmallVector<S>& dx, int start, int size) {
    S a = dx0 * dx0, h = x0 * dx0, c = x0 * x0;  // a t^2 + 2 h t + c > 0
    for (int i = start; i < start + size; ++i) {
        a -= dx[i] * dx[i];
        h -= x[i] * dx[i];
        c -= x[i] * x[i];
    }
    const S discriminant = h * h - a * c;
    if (a >= 0 && (h >= 0 || discriminant < 0)) return 1;
    const S root = std::sqrt(std::max(S(0), discriminant));
    const S t = h < 0 ? c / (root - h) : -(root + h) / a;  // the smallest positive root, without cancellation
    return std::min(S(1), t);
}

/// Several discs: primal-dual interior point (Nesterov-Todd scaling) with |z_j| <= 1, z in units of the radii. One
/// central path for all discs, wide or narrow (paths weighted by the discs' own data can stall), but followed until it
/// is accurate by the measure of the narrowest.
template <class S>
void solve_discs(DiscProblem<S>& p) {
    const int G = p.groups.count, d = p.d;
    if (G == 1) return solve_one_disc(p);
    const S eps = std::numeric_limits<S>::epsilon();
    SmallVector<S> D{}, c{}, z{},
        v{};  // v: the velocity, A z + c once solved; (bound_j, v_j) is dual to (1, z_j)
    SmallMatrix<S> A{};
    for (int j = 0; j < G; ++j) {
        const ConeGroup& g = p.groups.group[j];
        for (int i = g.start; i < g.start + g.size; ++i) D[i] = p.radius[j];
    }
    S size = 0;
    for (int i = 0; i < d; ++i) {
        c[i] = D[i] * p.c[i];
        size = std::max(size, std::abs(c[i]));
        for (int k = 0; k < d; ++k) size = std::max(size, std::abs(A[i][k] = D[i] * p.A[i][k] * D[k]));
    }
    for (int i = 0; i < d; ++i) {
        c[i] /= size;
        for (int k = 0; k < d; ++k) A[i][k] /= size;
    }
    std::array<S, 3> weight{}, bound{}, dbound{};
    S lightest = std::numeric_limits<S>::infinity();
    for (int j = 0; j < G; ++j) {
        const ConeGroup& g = p.groups.group[j];
        weight[j] = norm(c, g.start, g.size);
        for (int i = g.start; i < g.start + g.size; ++i) weight[j] = std::max(weight[j], A[i][i]);
        bound[j] = 1;
        lightest = std::min(lightest, weight[j]);
    }
    SmallVector<S> best_z{}, best_v{};
    std::array<S, 3> best_bound = bound;
    S best = std::numeric_limits<S>::infinity(), centring = S(0.1), reach = S(0.99);
    int best_step = 0;
    for (int k = 0; k < 200; ++k) {
        SmallVector<S> rhs{}, dv{}, pull{};
        SmallMatrix<S> H{};  // of the scaling alone, first
        std::array<SmallVector<S>, 3> cross{};
        S gap = 0, defect = 0;
        for (int i = 0; i < d; ++i) {
            rhs[i] = -c[i];
            for (int l = 0; l < d; ++l) rhs[i] -= A[i][l] * z[l];
        }
        for (int j = 0; j < G; ++j) {
            const ConeGroup& g = p.groups.group[j];
            gap += bound[j];
            S miss = 0;
            for (int i = g.start; i < g.start + g.size; ++i) {
                gap += z[i] * v[i];
                miss = std::max(miss, std::abs(rhs[i] + v[i]));
            }
            defect = std::max(defect, miss / weight[j]);
        }
        gap /= G;
        // The last digits of a slack are noise: a step may make things worse, so the best point counts.
        const S badness = std::max(gap / lightest, defect);
        if (badness < best) {
            best = badness;
            best_z = z;
            best_v = v;
            best_bound = bound;
            best_step = k;
        }
        if (badness <= 16 * eps || (k > best_step + 8 && gap < std::sqrt(eps) * lightest)) break;
        const S target = centring * std::max(gap, eps * lightest);
        std::array<S, 3> slack{};
        for (int j = 0; j < G; ++j) {
            const ConeGroup& g = p.groups.group[j];
            const S lz = norm(z, g.start, g.size), lv = norm(v, g.start, g.size);
            slack[j] = std::max((1 - lz) * (1 + lz), eps * eps);
            const S dual = std::max((bound[j] - lv) * (bound[j] + lv), eps * eps * bound[j] * bound[j]);
            const S root_slack = std::sqrt(slack[j]), root_dual = std::sqrt(dual),
                    ratio = root_dual / root_slack;
            S dot = bound[j];
            for (int i = g.start; i < g.start + g.size; ++i) dot += z[i] * v[i];
            const S scale = 1 / std::sqrt(2 * (1 + std::max(S(0), dot) / (root_slack * root_dual)));
            const S w0 = scale * (bound[j] / root_dual + 1 / root_slack);
            SmallVector<S> w{};
            for (int i = g.start; i < g.start + g.size; ++i)
                w[i] = scale * (v[i] / root_dual - z[i] / root_slack);
            for (int i = g.start; i < g.start + g.size; ++i) {
                for (int l = g.start; l < g.start + g.size; ++l) H[i][l] = ratio * 2 * w[i] * w[l];
                H[i][i] += ratio;
                cross[j][i] = ratio * 2 * w0 * w[i];
                pull[i] = -target * z[i] / slack[j];
                rhs[i] += pull[i];
            }
        }
        SmallMatrix<S> L = H;
        for (int i = 0; i < d; ++i) {
            for (int l = 0; l < d; ++l) L[i][l] += A[i][l];
        }
        cholesky(L, d);
        cholesky_solve(L, rhs, d);  // now dz
        if (!std::isfinite(norm(rhs, 0, d))) break;
        S t = 1;
        for (int j = 0; j < G; ++j) {
            const ConeGroup& g = p.groups.group[j];
            dbound[j] = target / slack[j] - bound[j];
            for (int i = g.start; i < g.start + g.size; ++i) {
                dv[i] = pull[i] - v[i];
                for (int l = g.start; l < g.start + g.size; ++l) dv[i] -= H[i][l] * rhs[l];
                dbound[j] -= cross[j][i] * rhs[i];
            }
            t = std::min(t, reach * step_in_cone(S(1), S(0), z, rhs, g.start, g.size));
            t = std::min(t, reach * step_in_cone(bound[j], dbound[j], v, dv, g.start, g.size));
        }
        // Stay near the central path: no disc much closer to its rim than the others, for later steps would be short.
        for (int cut = 0; cut < 30 && gap > 1000 * eps * lightest; ++cut) {
            S next_gap = 0, centrality = std::numeric_limits<S>::infinity();
            for (int j = 0; j < G; ++j) {
                const ConeGroup& g = p.groups.group[j];
                S zz = 0, vv = 0, zv = 0;
                for (int i = g.start; i < g.start + g.size; ++i) {
                    const S zi = z[i] + t * rhs[i], vi = v[i] + t * dv[i];
                    zz += zi * zi;
                    vv += vi * vi;
                    zv += zi * vi;
                }
                const S next_bound = bound[j] + t * dbound[j];
                next_gap += next_bound + zv;
                centrality = std::min(centrality,
                                      std::sqrt(std::max(S(0), (1 - zz) * (next_bound * next_bound - vv))));
            }
            if (centrality * G >= S(0.02) * next_gap && next_gap / lightest >= S(0.001) * (1 - t) * defect)
                break;
            t *= S(0.8);
        }
        if (!(t > eps)) break;
        for (int i = 0; i < d; ++i) {
            z[i] += t * rhs[i];
            v[i] += t * dv[i];
        }
        for (int j = 0; j < G; ++j) bound[j] += t * dbound[j];
        // A short step means a point off the central path, close to a rim: back to the path before going on.
        centring = t > S(0.9) ? S(0.01) : t > S(0.5) ? S(0.1) : t > S(0.2) ? S(0.5) : S(1);
        reach = t > S(0.5) ? S(0.99) : S(0.7);
    }
    z = best_z;
    v = best_v;
    bound = best_bound;
    for (int i = 0; i < d; ++i) p.x[i] = D[i] * z[i];
    for (int j = 0; j < G; ++j) {
        const ConeGroup& g = p.groups.group[j];
        p.pressed[j] = bound[j] > (1 - norm(z, g.start, g.size)) * weight[j];
        p.velocity[j] = norm(v, g.start, g.size) * (size / p.radius[j]);
    }
}

/// The root y for a block of n components whose discs all have a positive finite coefficient or an offset. r holds a
/// start (r_N > 0, or nothing) and receives the answer.
template <class S>
ActiveSet guarded_root(int n, const SmallMatrix<S>& W, const SmallVector<S>& b, const ConeGroups& groups,
                       S dilatancy, S tolerance, SmallVector<S>& r) {
    DiscProblem<S> p;
    p.d = n - 1;
    p.groups = groups;
    for (int j = 0; j < groups.count; ++j) p.groups.group[j].start -= 1;
    for (int i = 0; i < p.d; ++i) {
        for (int k = 0; k < p.d; ++k) p.A[i][k] = W[i + 1][k + 1];
    }
    if (groups.count == 1) {
        SmallMatrix<S> diagonal = p.A;
        jacobi(diagonal, p.frame, p.d);
        S largest = 0;
        for (int i = 0; i < p.d; ++i) largest = std::max(largest, diagonal[i][i]);
        // Eigenvalues below rounding of the largest are rounding: they get that size.
        for (int i = 0; i < p.d; ++i)
            p.eigenvalue[i] = std::max(diagonal[i][i], std::numeric_limits<S>::epsilon() / 2 * largest);
    }
    // Normal velocity (less the opening by dilatancy) with the best x for y.
    auto phi = [&](S y) {
        S normal = W[0][0] * y + b[0];
        if (p.d == 0) return normal;
        for (int i = 0; i < p.d; ++i) p.c[i] = b[i + 1] + W[i + 1][0] * y;
        bool point = false;
        for (int j = 0; j < groups.count; ++j) {
            p.radius[j] = S(groups.group[j].offset) + S(groups.group[j].mu) * y;
            point = point || !(p.radius[j] > 0);
        }
        if (point) {
            p.x = {};
            for (int j = 0; j < groups.count; ++j) {
                p.velocity[j] = norm(p.c, p.groups.group[j].start, p.groups.group[j].size);
                p.pressed[j] = true;
            }
        } else {
            solve_discs(p);
        }
        for (int i = 0; i < p.d; ++i) normal += W[i + 1][0] * p.x[i];
        if (dilatancy > 0) {
            for (int j = 0; j < groups.count; ++j)
                normal -= dilatancy * S(groups.group[j].mu) * p.velocity[j];
        }
        return normal;
    };
    S low = 0, f_low = phi(0), y = 0;
    if (f_low < 0) {
        S trace = 0;
        for (int i = 0; i < n; ++i) trace += W[i][i];
        S high = r[0] > 0 ? r[0] : norm(b, 0, n) / trace, f_high = phi(high);
        // The root may lie many decades from any guess: stride by growing factors, upwards or down.
        for (S factor = 4; f_high < 0 && std::isfinite(high * factor); factor *= factor < 1e4 ? factor : 1) {
            low = high;
            f_low = f_high;
            f_high = phi(high *= factor);
        }
        for (S factor = 4; low == 0 && f_high > 0; factor *= factor < 1e4 ? factor : 1) {
            const S middle = high / factor;
            if (!(middle > 0)) break;
            const S f = phi(middle);
            if (f <= 0) {
                low = middle;
                f_low = f;
            } else {
                high = middle;
                f_high = f;
            }
        }
        int side = 0;
        for (int k = 0; k < 300 && f_high > 0 && high - low > tolerance * high; ++k) {
            S middle = (low * f_high - high * f_low) / (f_high - f_low);  // Illinois false position
            if (low > 0 && high > 16 * low) {
                middle = std::sqrt(low) * std::sqrt(high);
            } else if (k % 4 == 3 || !(middle > low && middle < high)) {
                middle = (low + high) / 2;
            }
            if (middle == low || middle == high) break;
            const S f = phi(middle);
            if (f < 0) {
                low = middle;
                f_low = f;
                if (side == -1) f_high /= 2;
                side = -1;
            } else {
                high = middle;
                f_high = f;
                if (side == 1) f_low /= 2;
                side = 1;
            }
        }
        y = high;
        phi(y);
    }
    r[0] = y;
    for (int i = 0; i < p.d; ++i) r[i + 1] = p.x[i];
    ActiveSet active;
    active.open = !(y > 0);
    active.pressed = p.pressed;
    return active;
}

/// The guarded root in the number type S for any cone with an axis: components that cannot act are left out, those
/// without limit (infinite mu, u = 0 always) are eliminated. The active set is numbered by the cone's own groups.
template <class S>
ActiveSet solve_in(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law, double tolerance,
                   BlockVector& r) {
    const ConeGroups groups = groups_of(cone);
    std::array<int, max_block> kept{}, unlimited{};
    std::array<int, 3> number{};
    int d = 1, n = 0;
    ConeGroups limited;
    for (int j = 0; j < groups.count; ++j) {
        const ConeGroup& g = groups.group[j];
        if (cannot_act(g)) continue;
        const bool free = std::isinf(g.mu);
        if (!free) {
            number[limited.count] = j;
            limited.group[limited.count++] = {d, g.size, g.mu, g.offset};
        }
        for (int k = 0; k < g.size; ++k) (free ? unlimited[n++] : kept[d++]) = g.start + k;
    }
    SmallMatrix<S> K{}, U{}, C{};  // C[i]: column of the unlimited components for the kept component i
    SmallVector<S> bk{}, bu{}, x{};
    for (int i = 0; i < d; ++i) {
        bk[i] = S(b[kept[i]]);
        for (int j = 0; j < d; ++j) K[i][j] = S(W(kept[i], kept[j]));
        for (int j = 0; j < n; ++j) C[i][j] = S(W(unlimited[j], kept[i]));
    }
    for (int i = 0; i < n; ++i) {
        bu[i] = S(b[unlimited[i]]);
        for (int j = 0; j < n; ++j) U[i][j] = S(W(unlimited[i], unlimited[j]));
    }
    if (n > 0) cholesky(U, n);
    for (int i = 0; i < d && n > 0; ++i) {
        SmallVector<S> y = C[i];
        cholesky_solve(U, y, n);
        for (int k = 0; k < n; ++k) {
            bk[i] -= y[k] * bu[k];
            for (int j = 0; j < d; ++j) K[i][j] -= y[k] * C[j][k];
        }
    }
    x[0] = S(r[0]);
    const ActiveSet found = guarded_root<S>(d, K, bk, limited, S(cone.dilatancy_by(law)), S(tolerance), x);
    r.setZero();
    for (int i = 0; i < d; ++i) r[kept[i]] = static_cast<double>(x[i]);
    if (n > 0) {
        SmallVector<S> y{};
        for (int k = 0; k < n; ++k) {
            y[k] = -bu[k];
            for (int i = 0; i < d; ++i) y[k] -= C[i][k] * x[i];
        }
        cholesky_solve(U, y, n);
        for (int i = 0; i < n; ++i) r[unlimited[i]] = static_cast<double>(y[i]);
    }
    project(cone, {r.data(), static_cast<std::size_t>(r.size())});
    ActiveSet active;
    active.open = found.open;
    for (int j = 0; j < limited.count; ++j) active.pressed[number[j]] = found.pressed[j];
    return active;
}

}  // namespace

ActiveSet solve_guarded(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law,
                        double tolerance, BlockVector& r) {
    return solve_in<double>(cone, W, b, law, tolerance, r);
}

ActiveSet solve_guarded_long(const Cone& cone, const BlockMatrix& W, const BlockVector& b, Law law,
                             double tolerance, BlockVector& r) {
    return solve_in<long double>(cone, W, b, law, tolerance, r);
}

}  // namespace drystone
