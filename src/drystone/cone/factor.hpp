// Direct solution of sparse linear systems: one seam, MUMPS where the build found it, Eigen otherwise.
//
// MUMPS (sequential, CeCILL-C) is several times faster than Eigen's simplicial factorisation on problems of contacts in
// 3D; CHOLMOD's supernodal part would be as fast but is GPL. But its bits follow where memory happens to lie: a step of
// a simulation, which must be the same whenever it is made, takes Eigen's.
#pragma once

#include "drystone/cone/problem.hpp"

#include <memory>

namespace drystone {

enum class Symmetry : std::uint8_t {
    positive_definite,  ///< symmetric positive definite
    symmetric,          ///< symmetric, of any sign
    general,
};

enum class Arithmetic : std::uint8_t {
    fast,        ///< the last bits may differ from call to call
    repeatable,  ///< the same bits for the same numbers
};

class Factor {
public:
    explicit Factor(Symmetry symmetry, Arithmetic arithmetic = Arithmetic::fast);
    ~Factor();
    Factor(Factor&&) noexcept;
    Factor& operator=(Factor&&) noexcept;

    /// Factorises A (all entries given, also for symmetric A). The ordering is kept while the pattern stays the same.
    /// False if A is singular (or not positive definite where that was promised).
    [[nodiscard]] bool factorise(const SparseMatrix& A);
    /// Replaces x by A^-1 x, column by column.
    void solve(Eigen::Ref<Eigen::MatrixXd> x) const;

private:
    std::unique_ptr<class Factorisation> body_;
};

}  // namespace drystone
