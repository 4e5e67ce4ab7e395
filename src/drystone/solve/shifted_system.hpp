// Linear systems (W + D) x = y with D block diagonal: what the interior point and ADMM solve at every step.
//
// D is given by a factor F of its inverse, F F^T = D^-1, one small matrix per block, because near a solution D has
// entries from 0 to infinity (sticking and open contacts) while F can be written down without cancellation. With x = F
// p,
//     (1 + F^T W F) p = F^T y,
// whose matrix has no eigenvalue below 1 whatever D is. For separate bodies W = Hw Hw^T and the system that is
// factorised is the one of the bodies, 1 + (F^T Hw)^T (F^T Hw), sparse and usually much smaller; for a mass that
// couples bodies it is the one of the blocks. Both are symmetric positive definite. Compliance C in W = Hw Hw^T + C
// stays with the blocks: with the Cholesky factor L L^T = 1 + F^T C F of each, the system of the bodies is 1 + (L^-1
// F^T Hw)^T (L^-1 F^T Hw).
#pragma once

#include "drystone/cone/delassus.hpp"

#include <optional>

namespace drystone {

/// One small square matrix per block, column by column.
class BlockDiagonal {
public:
    explicit BlockDiagonal(const ConeProblem& problem);
    [[nodiscard]] Eigen::Map<Eigen::MatrixXd> block(Index i) {
        return {value_.data() + start_[i], dim_[i], dim_[i]};
    }
    [[nodiscard]] Eigen::Map<const Eigen::MatrixXd> block(Index i) const {
        return {value_.data() + start_[i], dim_[i], dim_[i]};
    }

private:
    // of Eigen's, as all that products are written to: where numbers begin in memory tells how they are added up
    Vector value_;
    std::vector<std::int64_t> start_;
    std::vector<std::uint8_t> dim_;
};

class ShiftedSystem {
public:
    /// Keeps a reference to W. One rank only: a factorisation needs the whole matrix.
    explicit ShiftedSystem(const Delassus& W);

    /// Factor of D^-1 to be filled before factorise(). A row and column of zeros holds a component of x at zero.
    BlockDiagonal F;
    /// 1 for an ordinary component; 0 where D is zero (bilateral constraints) and F holds the inverse root of a small
    /// regularisation instead, which the refinement then removes. Size rows().
    Vector unit;

    /// False if the matrix could not be factorised, which means that F is not finite.
    [[nodiscard]] bool factorise();

    /// x = (W + D)^-1 y by conjugate gradients preconditioned with the factor, until the residual is below `tolerance`
    /// times
    /// |F^T y| or no longer falls, at most `max_steps` steps. Rounding leaves one to three steps to do. `x` and `y` may
    /// not
    /// be the same vector. Returns the relative residual reached.
    double solve(const Vector& y, Vector& x, double tolerance = 1e-13, int max_steps = 12);

private:
    void analyse_bodies();
    void analyse_blocks();
    void assemble_bodies();
    void factorise_compliance();
    void assemble_blocks();
    void precondition(const Vector& y, Vector& x);
    void apply_operator(const Vector& p, Vector& out);
    void multiply_F(const Vector& p, Vector& out) const;
    void multiply_F_transposed(const Vector& y, Vector& out) const;
    void divide_by_L(bool transposed, Vector& x) const;

    const Delassus* W_;
    SparseMatrix A_;
    Factor factor_;
    BlockRows rows_;                  // F^T Hw, or L^-1 F^T Hw
    std::optional<BlockDiagonal> L_;  // only with compliance and bodies
    // where the blocks of A_ of each pair of bodies of a block begin in their column
    std::vector<Index> pair_;
    Vector g_, p_, residual_, z_, direction_, image_, t_, t2_, body_;
    Vector right_, back_;  // only with compliance
};

}  // namespace drystone
