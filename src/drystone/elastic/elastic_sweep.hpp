// Gauss-Seidel on the elastic network of least_energy.hpp: the kernel of a sweep (sweep.hpp) in which every block lies
// on its face.
//
// The augmented Lagrangian of  min 1/2 f^T C f,  f_i in its face,  Hw^T f = y  with the multiplier a = weight * q is,
// up to a constant,
//     1/2 weight f^T C f + 1/2 |Hw^T f - y + a|^2.
// The kernel keeps f and z = Hw^T f - y + a, so that a visit to block i sees the velocity Hw_i z and nothing else, and
// a new multiplier is a new z. A visit replaces W_ii by a diagonal matrix that is not smaller, one number per group:
// for spheres it is W_ii itself; for others the step is a little shorter than that of an exact solution, but needs no
// iteration and takes every cone and face alike.
#pragma once

#include "drystone/cone/delassus.hpp"
#include "drystone/elastic/elastic_face.hpp"
#include "drystone/sweep/sweep.hpp"

namespace drystone {

class ElasticKernel {
public:
    /// Keeps references. Only for separate bodies.
    ElasticKernel(const Delassus& W, const Tiling& tiling, const std::vector<ElasticFace>& faces);

    /// Reads the compliance of the faces and the openings of the blocks; both count `weight` times.
    void set_springs(double weight, const Vector& opened);
    void load(const Vector& f);
    void store(Vector& f) const;

    /// As sweep.hpp wants it.
    template <bool Uphill>
    double visit(Index q, const double* previous, double& uphill) {
        const Block& b = blocks_[q];
        if (b.kind == Kind::nothing) return 0;
        if (b.kind == Kind::other) return visit_other(b, Uphill ? previous : nullptr, uphill);
        if (dim_ == 6)
            return b.dim == 3   ? visit_contact<3, 6>(b, Uphill ? previous : nullptr, uphill)
                   : b.dim == 2 ? visit_contact<2, 6>(b, Uphill ? previous : nullptr, uphill)
                                : visit_contact<1, 6>(b, Uphill ? previous : nullptr, uphill);
        return b.dim == 2 ? visit_contact<2, 3>(b, Uphill ? previous : nullptr, uphill)
                          : visit_contact<1, 3>(b, Uphill ? previous : nullptr, uphill);
    }
    SweepSums visit_tile(Index tile, const double* before, const double* /*push*/, Sleep& sleep) {
        return visit_blocks(*this, tiling_, tile, before, sleep);
    }
    [[nodiscard]] double* bodies() { return z.data(); }
    [[nodiscard]] int body_stride() const { return dim_; }

    Vector r;  ///< forces, in the order of the tiling
    Vector z;  ///< body vector, see above

private:
    enum class Kind : std::uint8_t {
        nothing,  ///< no force
        ray,      ///< along an axis
        cone,     ///< in a cone around the first row
        other,    ///< what `respond` says
    };
    struct Block {
        Kind kind = Kind::nothing;
        std::uint8_t dim = 0;
        Index block = 0;  ///< in the problem
        Index at = 0;     ///< first component in r
        std::array<Index, 2> body = {-1,
                                     -1};  ///< those that move; the first entry of Hw belongs to the first
        std::int64_t rows = 0;             ///< place in Hw
        double mu = 0;
        std::array<double, 3> e = {};         ///< axis of a ray
        std::array<double, 3> diagonal = {};  ///< stands for W_ii
        double axial = 1, tangential = 1;     ///< diagonal + weight C along the axis and across it
        double push = 0;                      ///< the opening
        double stiffness = 1;
    };

    template <int D, int M>
    double visit_contact(const Block& b, const double* previous, double& uphill);
    double visit_other(const Block& b, const double* previous, double& uphill);
    void bound_diagonal(Index i);

    const Delassus& W_;
    const ConeProblem& p_;
    const BlockRows& white_;
    int dim_;  // velocities per body; 0 where species differ
    const Tiling& tiling_;
    const std::vector<ElasticFace>& faces_;
    std::vector<Block> blocks_;                            // in the order of the tiling
    std::vector<std::array<double, max_block>> diagonal_;  // by blocks of the problem, and so is what follows
    std::vector<ElasticFace> local_;  // faces of kind `other`, diagonal + weight C their compliance
};

template <int D, int M>
double ElasticKernel::visit_contact(const Block& b, const double* previous, double& uphill) {
    const double* A = white_.value.data() + b.rows;
    double* f = r.data() + b.at;
    std::array<double, D> x{}, next{};
    double* body[2] = {nullptr, nullptr};
    for (int k = 0; k < 2; ++k) {
        if (b.body[k] < 0) continue;
        body[k] = z.data() + static_cast<std::ptrdiff_t>(b.body[k]) * M;
        for (int a = 0; a < D; ++a) {
            double sum = 0;
            for (int c = 0; c < M; ++c) sum += A[(k * D + a) * M + c] * body[k][c];
            x[a] += sum;
        }
    }
    for (int a = 0; a < D; ++a) x[a] -= b.diagonal[a] * f[a];
    if (b.kind == Kind::ray) {
        double pull = b.push;
        for (int a = 0; a < D; ++a) pull += b.e[a] * x[a];
        const double y = std::max(0.0, -pull / b.axial);
        for (int a = 0; a < D; ++a) next[a] = y * b.e[a];
    } else {
        const double pull = x[0] + b.push;
        double across = 0;
        for (int a = 1; a < D; ++a) across += x[a] * x[a];
        double y = std::max(0.0, -pull / b.axial), stiffness = 1 / b.tangential;
        const double limit = b.mu * y * b.tangential;
        if (across > limit * limit) {
            across = std::sqrt(across);
            y = std::max(0.0, (b.mu * across - pull) / (b.axial + b.mu * b.mu * b.tangential));
            stiffness = b.mu * y / across;
        }
        next[0] = y;
        for (int a = 1; a < D; ++a) next[a] = -stiffness * x[a];
    }
    double squares = 0, along = 0;
    for (int a = 0; a < D; ++a) {
        const double change = next[a] - f[a];
        if (previous != nullptr) along += change * (next[a] - previous[b.at + a]);
        squares += change * change;
        f[a] = next[a];
        next[a] = change;
    }
    uphill -= b.stiffness * along;
    for (int k = 0; k < 2; ++k) {
        if (body[k] == nullptr) continue;
        for (int a = 0; a < D; ++a) {
            for (int c = 0; c < M; ++c) body[k][c] += A[(k * D + a) * M + c] * next[a];
        }
    }
    return b.stiffness * squares;
}

}  // namespace drystone
