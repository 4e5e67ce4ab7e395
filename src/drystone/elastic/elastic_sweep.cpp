#include "drystone/elastic/elastic_sweep.hpp"

#include "drystone/base/parallel.hpp"
#include "drystone/base/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

ElasticKernel::ElasticKernel(const Delassus& W, const Tiling& tiling, const std::vector<ElasticFace>& faces)
    : W_(W), p_(W.problem()), white_(W.dense_rows()), dim_(p_.common_dim()), tiling_(tiling), faces_(faces) {
    diagonal_.resize(static_cast<std::size_t>(p_.blocks()));
    local_.resize(static_cast<std::size_t>(p_.blocks()));
    blocks_.resize(static_cast<std::size_t>(p_.blocks()));
    parallel_for(W_.threads(), p_.blocks(), [&](Index i) { bound_diagonal(i); });
    r.setZero(p_.rows());
    z.setZero(p_.dofs());
    Index at = 0;
    for (Index q = 0; q < p_.blocks(); ++q) {
        Block& b = blocks_[q];
        b.block = tiling_.order[q];
        b.at = at;
        b.dim = p_.cones[b.block].dim;
        b.rows = white_.value_start[b.block];
        b.stiffness = W_.inverse_mass(b.block);
        at += b.dim;
        const ElasticFace& face = faces_[b.block];
        const Index entries = white_.start[b.block + 1] - white_.start[b.block];
        const std::int64_t size = static_cast<std::int64_t>(b.dim) * dim_;
        const bool small = b.dim <= 3 && entries <= 2 && (dim_ == 6 || (dim_ == 3 && b.dim <= 2));
        if (small) {
            for (Index k = 0; k < entries; ++k) {
                const double* A = white_.value.data() + b.rows + k * size;
                if (std::any_of(A, A + size, [](double a) { return a != 0; }))
                    b.body[k] = white_.body[white_.start[b.block] + k];
            }
        }
        const bool fixed = std::any_of(face.fixed.begin(), face.fixed.end(), [](double a) { return a != 0; });
        if (!face.has_axis() || fixed || !small)
            b.kind = Kind::other;
        else if (face.count == 0)
            b.kind = face.normal ? Kind::ray : Kind::nothing;
        else if (face.count == 1 && face.normal && face.group[0].disc.size == b.dim - 1 &&
                 face.group[0].disc.offset == 0 && !std::isinf(face.group[0].disc.mu))
            b.kind = Kind::cone;
        else
            b.kind = Kind::other;
        if (b.kind == Kind::ray) std::copy_n(face.e.begin(), 3, b.e.begin());
        if (b.kind == Kind::cone) b.mu = face.group[0].disc.mu;
    }
}

/// The diagonal of W_ii, averaged over groups, times the least number that makes it no smaller than W_ii.
void ElasticKernel::bound_diagonal(Index i) {
    const BlockMatrix block = W_.diagonal(i);
    auto& diagonal = diagonal_[i];
    const int d = p_.cones[i].dim;
    for (int c = 0; c < d; ++c) diagonal[c] = block(c, c);
    for (const ConeGroup& g : groups_of(p_.cones[i])) {
        double mean = 0;
        for (int c = g.start; c < g.start + g.size; ++c) mean += diagonal[c] / g.size;
        for (int c = g.start; c < g.start + g.size; ++c) diagonal[c] = mean;
    }
    BlockMatrix scaled = block;
    for (int a = 0; a < d; ++a) {
        for (int c = 0; c < d; ++c) {
            const double size = std::sqrt(diagonal[a] * diagonal[c]);
            scaled(a, c) = size > 0 ? block(a, c) / size : 0.0;
        }
    }
    const double offset = (scaled - BlockMatrix::Identity(d, d)).cwiseAbs().rowwise().sum().maxCoeff();
    double factor = 1;
    if (offset > 1e-12) {
        std::array<double, max_block> values{};
        symmetric_eigen(d, scaled.data(), values.data());
        factor = std::max(1.0, values[d - 1]);
    }
    for (int c = 0; c < d; ++c) diagonal[c] *= factor;
}

void ElasticKernel::set_springs(double weight, const Vector& opened) {
    parallel_for(W_.threads(), p_.blocks(), [&](Index q) {
        Block& b = blocks_[q];
        const ElasticFace& face = faces_[b.block];
        const auto& diagonal = diagonal_[b.block];
        b.push = weight * opened[b.block];
        std::array<double, max_block> total{};
        for (int c = 0; c < b.dim; ++c) total[c] = diagonal[c] + weight * face.row[c];
        if (b.kind == Kind::other) {
            local_[b.block] = face;
            set_compliance(local_[b.block], total.data());
            return;
        }
        std::copy_n(diagonal.begin(), 3, b.diagonal.begin());
        b.axial = 0;
        for (int c = 0; c < b.dim; ++c) b.axial += face.e[c] * face.e[c] * total[c];
        b.tangential = b.dim > 1 ? total[1] : 1.0;
    });
}

void ElasticKernel::load(const Vector& f) {
    for (const Block& b : blocks_) r.segment(b.at, b.dim) = f.segment(p_.offset[b.block], b.dim);
}

void ElasticKernel::store(Vector& f) const {
    for (const Block& b : blocks_) f.segment(p_.offset[b.block], b.dim) = r.segment(b.at, b.dim);
}

double ElasticKernel::visit_other(const Block& b, const double* previous, double& uphill) {
    const int d = b.dim;
    const Index i = b.block;
    double* f = r.data() + b.at;
    std::array<double, max_block> x{}, next{};
    for_each_entry(p_, white_, i, [&](Index, auto place, const BodyRowsOf& A) {
        for (int a = 0; a < d; ++a) {
            for (int c = 0; c < place.dim; ++c) x[a] += A(a, c) * z[place.first + c];
        }
    });
    for (int a = 0; a < d; ++a) x[a] -= diagonal_[i][a] * f[a];
    respond(local_[i], x.data(), b.push, next.data());
    double squares = 0, along = 0;
    for (int a = 0; a < d; ++a) {
        const double change = next[a] - f[a];
        const double length = is_torque(p_.cones[i], a) ? W_.length(i) : 1.0;
        if (previous != nullptr) along += change * (next[a] - previous[b.at + a]) / (length * length);
        squares += change * change / (length * length);
        f[a] = next[a];
        next[a] = change;
    }
    uphill -= b.stiffness * along;
    for_each_entry(p_, white_, i, [&](Index, auto place, const BodyRowsOf& A) {
        for (int a = 0; a < d; ++a) {
            for (int c = 0; c < place.dim; ++c) {
                const double part = A(a, c) * next[a];
                if (part != 0) z[place.first + c] += part;  // bodies that do not move belong to no tile
            }
        }
    });
    return b.stiffness * squares;
}

}  // namespace drystone
