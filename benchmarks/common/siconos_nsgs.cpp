#include "common/siconos_nsgs.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/timer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#ifdef DRYSTONE_HAVE_SICONOS

extern "C" {
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
}

namespace drystone {

namespace {

/// W as Siconos' matrix of sparse blocks. All arrays are ours; Siconos only adds its list of diagonal blocks.
class SiconosMatrix {
public:
    explicit SiconosMatrix(const BlockSparse& A) : values_(A.value) {
        const std::size_t rows = A.start.size() - 1, blocks = A.column.size();
        // Blocks are column by column there and row by row here. W is symmetric, but its blocks are not: transpose
        // each.
        blocks_.resize(blocks);
        for (std::size_t k = 0; k < blocks; ++k) {
            double* block = values_.data() + A.value_start[k];
            std::swap(block[1], block[3]);
            std::swap(block[2], block[6]);
            std::swap(block[5], block[7]);
            blocks_[k] = block;
        }
        row_start_.assign(A.start.begin(), A.start.end());
        column_.assign(A.column.begin(), A.column.end());
        row_ends_.resize(rows);
        for (std::size_t i = 0; i < rows; ++i) row_ends_[i] = static_cast<unsigned>(3 * (i + 1));
        SBM_null(&matrix_);
        matrix_.nbblocks = static_cast<unsigned>(blocks);
        matrix_.block = blocks_.data();
        matrix_.blocknumber0 = matrix_.blocknumber1 = static_cast<unsigned>(rows);
        matrix_.blocksize0 = matrix_.blocksize1 = row_ends_.data();
        matrix_.filled1 = rows + 1;
        matrix_.filled2 = blocks;
        matrix_.index1_data = row_start_.data();
        matrix_.index2_data = column_.data();
        const int size = static_cast<int>(3 * rows);
        outer_ = NM_new_SBM(size, size, &matrix_);
    }
    ~SiconosMatrix() {
        outer_->matrix1 = nullptr;
        NM_free(outer_);
        std::free(matrix_.diagonal_blocks);
    }
    SiconosMatrix(const SiconosMatrix&) = delete;
    SiconosMatrix& operator=(const SiconosMatrix&) = delete;

    [[nodiscard]] NumericsMatrix* get() { return outer_; }

private:
    std::vector<double> values_;
    std::vector<double*> blocks_;
    std::vector<std::size_t> row_start_, column_;
    std::vector<unsigned> row_ends_;
    SparseBlockStructuredMatrix matrix_{};
    NumericsMatrix* outer_ = nullptr;
};

}  // namespace

bool siconos_available() { return true; }

SiconosRun run_siconos_nsgs(const Delassus& W, double tolerance, double seconds) {
    const ConeProblem& p = W.problem();
    std::vector<double> mu(p.blocks());
    for (Index i = 0; i < p.blocks(); ++i) {
        if (p.cones[i].kind != ConeKind::second_order || p.cones[i].dim != 3) {
            fail("Siconos NSGS", "block " + std::to_string(i) + " is not a Coulomb contact in 3D",
                 "leave Siconos out");
        }
        mu[i] = p.cones[i].mu();
    }
    SiconosMatrix matrix(W.matrix());
    Vector q = W.b(), u = q;
    SiconosRun run;
    run.r = Vector::Zero(p.rows());
    FrictionContactProblem problem{3, p.blocks(), matrix.get(), q.data(), mu.data()};
    numerics_set_verbose(0);
    auto release = [](SolverOptions* o) { solver_options_delete(o); };
    const std::unique_ptr<SolverOptions, decltype(release)> options(
        solver_options_create(SICONOS_FRICTION_3D_NSGS), release);
    solver_options_update_internal(options.get(), 0, SICONOS_FRICTION_3D_ONECONTACT_NSN);
    options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    // Siconos knows no time limit. Sweeps go on from where they ended, so the first few tell how many fit in the time.
    const Timer timer;
    for (int sweeps = 200; !run.converged && timer.seconds() < seconds;) {
        options->iparam[SICONOS_IPARAM_MAX_ITER] = sweeps;
        run.converged = fc3d_driver(&problem, run.r.data(), u.data(), options.get()) == 0;
        run.sweeps += options->iparam[SICONOS_IPARAM_ITER_DONE];
        run.own_residual = options->dparam[SICONOS_DPARAM_RESIDU];
        const double spent = timer.seconds(), left = run.sweeps * (seconds - spent) / spent;
        sweeps = std::max(50, static_cast<int>(std::min(left, 1e7)));
    }
    run.seconds = timer.seconds();
    return run;
}

}  // namespace drystone

#else

namespace drystone {

bool siconos_available() { return false; }

SiconosRun run_siconos_nsgs(const Delassus&, double, double) {
    fail("Siconos", "was not there when the benchmarks were built",
         "install libsiconos-numerics-dev and configure again");
}

}  // namespace drystone

#endif
