#include "drystone/cone/factor.hpp"

#include "drystone/base/error.hpp"

#include <vector>

#ifdef DRYSTONE_HAVE_MUMPS
#include <dmumps_c.h>
#else
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#endif

namespace drystone {

#ifdef DRYSTONE_HAVE_MUMPS

namespace {

// MUMPS numbers its parameters from 1 (ICNTL(4) is icntl[3]); the words of its manual are beside each.
constexpr int job_init = -1, job_end = -2, job_analyse = 1, job_factorise = 2, job_solve = 3;
constexpr int use_comm_world = -987654;
constexpr int error_workspace_too_small = -9, error_integer_workspace = -8;

}  // namespace

struct Factor::Body {
    explicit Body(Symmetry symmetry) {
        id.comm_fortran = use_comm_world;
        id.par = 1;
        id.sym = symmetry == Symmetry::positive_definite ? 1 : symmetry == Symmetry::symmetric ? 2 : 0;
        id.job = job_init;
        dmumps_c(&id);
        for (int stream = 0; stream < 4; ++stream)
            id.icntl[stream] = stream == 3 ? 0 : -1;  // ICNTL(1..4): silent
        id.icntl[9] = 2;                              // ICNTL(10): two steps of iterative refinement
        id.icntl[13] = 60;                            // ICNTL(14): spare workspace in percent
    }
    ~Body() {
        id.job = job_end;
        dmumps_c(&id);
    }
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    void run(int job) {
        id.job = job;
        dmumps_c(&id);
    }

    mutable DMUMPS_STRUC_C id = {};
    std::vector<int> rows, columns;
    std::vector<double> values;
};

Factor::Factor(Symmetry symmetry) : body_(std::make_unique<Body>(symmetry)) {}

bool Factor::factorise(const SparseMatrix& A) {
    Body& b = *body_;
    std::vector<int> rows, columns;
    b.values.clear();
    for (int j = 0; j < A.outerSize(); ++j) {
        for (SparseMatrix::InnerIterator it(A, j); it; ++it) {
            if (b.id.sym != 0 && it.row() < j) continue;  // symmetric: the lower triangle alone
            rows.push_back(static_cast<int>(it.row()) + 1);
            columns.push_back(j + 1);
            b.values.push_back(it.value());
        }
    }
    const bool same_pattern = rows == b.rows && columns == b.columns && b.id.n == A.rows();
    b.rows = std::move(rows);
    b.columns = std::move(columns);
    b.id.n = static_cast<int>(A.rows());
    b.id.nnz = static_cast<MUMPS_INT8>(b.rows.size());
    b.id.irn = b.rows.data();
    b.id.jcn = b.columns.data();
    b.id.a = b.values.data();
    if (!same_pattern) {
        b.run(job_analyse);
        if (b.id.infog[0] < 0) return false;
    }
    b.run(job_factorise);
    while ((b.id.infog[0] == error_workspace_too_small || b.id.infog[0] == error_integer_workspace) &&
           b.id.icntl[13] < 2000) {
        b.id.icntl[13] *= 2;
        b.run(job_factorise);
    }
    return b.id.infog[0] >= 0;
}

void Factor::solve(Eigen::Ref<Eigen::MatrixXd> x) const {
    Body& b = *body_;
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
        b.id.nrhs = 1;
        b.id.lrhs = b.id.n;
        b.id.rhs = x.col(j).data();
        b.run(job_solve);
        if (b.id.infog[0] < 0)
            fail("sparse solve", "MUMPS error " + std::to_string(b.id.infog[0]), "report this as a bug");
    }
}

#else

struct Factor::Body {
    explicit Body(Symmetry s) : symmetry(s) {}
    Symmetry symmetry;
    Eigen::SimplicialLDLT<SparseMatrix> ldlt;
    Eigen::SparseLU<SparseMatrix, Eigen::COLAMDOrdering<int>> lu;
};

Factor::Factor(Symmetry symmetry) : body_(std::make_unique<Body>(symmetry)) {}

bool Factor::factorise(const SparseMatrix& A) {
    if (body_->symmetry == Symmetry::positive_definite) {
        body_->ldlt.compute(A);
        return body_->ldlt.info() == Eigen::Success && body_->ldlt.vectorD().minCoeff() > 0;
    }
    body_->lu.compute(A);  // Eigen has no pivoting symmetric factorisation: LU serves both other kinds
    return body_->lu.info() == Eigen::Success;
}

void Factor::solve(Eigen::Ref<Eigen::MatrixXd> x) const {
    if (body_->symmetry == Symmetry::positive_definite) {
        x = body_->ldlt.solve(Eigen::MatrixXd(x)).eval();
    } else {
        x = body_->lu.solve(Eigen::MatrixXd(x)).eval();
    }
}

#endif

Factor::~Factor() = default;
Factor::Factor(Factor&&) noexcept = default;
Factor& Factor::operator=(Factor&&) noexcept = default;

}  // namespace drystone
