#include "drystone/cone/factor.hpp"

#include "drystone/base/error.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include <vector>

#ifdef DRYSTONE_HAVE_MUMPS
#include <dmumps_c.h>
#endif

namespace drystone {

class Factorisation {
public:
    Factorisation() = default;
    virtual ~Factorisation() = default;
    Factorisation(const Factorisation&) = delete;
    Factorisation& operator=(const Factorisation&) = delete;
    virtual bool factorise(const SparseMatrix& A) = 0;
    virtual void solve(Eigen::Ref<Eigen::MatrixXd> x) = 0;
};

namespace {

class EigenFactorisation final : public Factorisation {
public:
    explicit EigenFactorisation(Symmetry symmetry) : symmetry_(symmetry) {}

    bool factorise(const SparseMatrix& A) override {
        if (symmetry_ == Symmetry::positive_definite) {
            ldlt_.compute(A);
            return ldlt_.info() == Eigen::Success && (A.rows() == 0 || ldlt_.vectorD().minCoeff() > 0);
        }
        lu_.compute(A);  // Eigen has no pivoting symmetric factorisation: LU serves both other kinds
        return lu_.info() == Eigen::Success;
    }

    void solve(Eigen::Ref<Eigen::MatrixXd> x) override {
        if (symmetry_ == Symmetry::positive_definite) {
            x = ldlt_.solve(Eigen::MatrixXd(x)).eval();
        } else {
            x = lu_.solve(Eigen::MatrixXd(x)).eval();
        }
    }

private:
    Symmetry symmetry_;
    Eigen::SimplicialLDLT<SparseMatrix> ldlt_;
    Eigen::SparseLU<SparseMatrix, Eigen::COLAMDOrdering<int>> lu_;
};

#ifdef DRYSTONE_HAVE_MUMPS

// MUMPS numbers its parameters from 1 (ICNTL(4) is icntl[3]); the words of its manual are beside each.
constexpr int job_init = -1, job_end = -2, job_analyse = 1, job_factorise = 2, job_solve = 3;
constexpr int use_comm_world = -987654;
constexpr int error_workspace_too_small = -9, error_integer_workspace = -8;

class MumpsFactorisation final : public Factorisation {
public:
    explicit MumpsFactorisation(Symmetry symmetry) {
        id_.comm_fortran = use_comm_world;
        id_.par = 1;
        id_.sym = symmetry == Symmetry::positive_definite ? 1 : symmetry == Symmetry::symmetric ? 2 : 0;
        run(job_init);
        for (int stream = 0; stream < 4; ++stream)
            id_.icntl[stream] = stream == 3 ? 0 : -1;  // ICNTL(1..4): silent
        id_.icntl[9] = 2;                              // ICNTL(10): two steps of iterative refinement
        id_.icntl[13] = 60;                            // ICNTL(14): spare workspace in percent
    }
    ~MumpsFactorisation() override { run(job_end); }

    bool factorise(const SparseMatrix& A) override {
        std::vector<int> rows, columns;
        values_.clear();
        for (int j = 0; j < A.outerSize(); ++j) {
            for (SparseMatrix::InnerIterator it(A, j); it; ++it) {
                if (id_.sym != 0 && it.row() < j) continue;  // symmetric: the lower triangle alone
                rows.push_back(static_cast<int>(it.row()) + 1);
                columns.push_back(j + 1);
                values_.push_back(it.value());
            }
        }
        const bool same_pattern = rows == rows_ && columns == columns_ && id_.n == A.rows();
        rows_ = std::move(rows);
        columns_ = std::move(columns);
        id_.n = static_cast<int>(A.rows());
        id_.nnz = static_cast<MUMPS_INT8>(rows_.size());
        id_.irn = rows_.data();
        id_.jcn = columns_.data();
        id_.a = values_.data();
        if (!same_pattern) {
            run(job_analyse);
            if (id_.infog[0] < 0) return false;
        }
        run(job_factorise);
        while ((id_.infog[0] == error_workspace_too_small || id_.infog[0] == error_integer_workspace) &&
               id_.icntl[13] < 2000) {
            id_.icntl[13] *= 2;
            run(job_factorise);
        }
        return id_.infog[0] >= 0;
    }

    void solve(Eigen::Ref<Eigen::MatrixXd> x) override {
        for (Eigen::Index j = 0; j < x.cols(); ++j) {
            id_.nrhs = 1;
            id_.lrhs = id_.n;
            id_.rhs = x.col(j).data();
            run(job_solve);
            if (id_.infog[0] < 0)
                fail("sparse solve", "MUMPS error " + std::to_string(id_.infog[0]), "report this as a bug");
        }
    }

private:
    void run(int job) {
        id_.job = job;
        dmumps_c(&id_);
    }

    DMUMPS_STRUC_C id_ = {};
    std::vector<int> rows_, columns_;
    std::vector<double> values_;
};

std::unique_ptr<Factorisation> make(Symmetry symmetry, Arithmetic arithmetic) {
    if (arithmetic == Arithmetic::repeatable) return std::make_unique<EigenFactorisation>(symmetry);
    return std::make_unique<MumpsFactorisation>(symmetry);
}

#else

std::unique_ptr<Factorisation> make(Symmetry symmetry, Arithmetic) {
    return std::make_unique<EigenFactorisation>(symmetry);
}

#endif

}  // namespace

Factor::Factor(Symmetry symmetry, Arithmetic arithmetic) : body_(make(symmetry, arithmetic)) {}
Factor::~Factor() = default;
Factor::Factor(Factor&&) noexcept = default;
Factor& Factor::operator=(Factor&&) noexcept = default;

bool Factor::factorise(const SparseMatrix& A) { return body_->factorise(A); }
void Factor::solve(Eigen::Ref<Eigen::MatrixXd> x) const { body_->solve(x); }

}  // namespace drystone
