#include "drystone/problems/block_mass.hpp"

#include "drystone/base/error.hpp"

#include <Eigen/Cholesky>

namespace drystone {

namespace {

/// Inverse of a symmetric positive definite block, symmetric to the bit.
BlockMatrix inverse_of(const BlockMatrix& A, const std::string& where, Index body) {
    const auto n = A.rows();
    const Eigen::LLT<BlockMatrix> factor(A);
    const auto diagonal = A.diagonal().array();
    if (factor.info() != Eigen::Success || !(diagonal > 0).all()) {
        fail(where, "mass of body " + std::to_string(body) + " is not positive definite",
             "give a mass matrix with an inverse");
    }
    const BlockMatrix inverse = factor.solve(BlockMatrix::Identity(n, n));
    BlockMatrix result = 0.5 * (inverse + inverse.transpose());
    for (Eigen::Index a = 0; a < n; ++a) {
        bool alone = true;
        for (Eigen::Index b = 0; b < n; ++b) alone = alone && (a == b || A(a, b) == 0);
        if (alone) result(a, a) = 1 / A(a, a);
    }
    if (!result.allFinite()) {
        fail(where, "mass of body " + std::to_string(body) + " has no finite inverse",
             "give masses within the range of doubles");
    }
    return result;
}

}  // namespace

bool splits_into_blocks(const SparseMatrix& M, int size) {
    if (M.rows() % size != 0) return false;
    for (Eigen::Index j = 0; j < M.outerSize(); ++j) {
        for (SparseMatrix::InnerIterator it(M, j); it; ++it) {
            if (it.row() / size != it.col() / size && it.value() != 0) return false;
        }
    }
    return true;
}

int choose_body_dim(const SparseMatrix& M, bool plane) {
    const int body = plane ? 3 : 6;
    const int node = plane ? 2 : 3;
    for (const int size : {body, node, 1}) {
        if (splits_into_blocks(M, size)) return size;
    }
    return M.rows() % node == 0 ? node : 1;
}

std::vector<double> inverse_blocks(const SparseMatrix& M, int size, const std::string& where) {
    std::vector<double> blocks;
    blocks.reserve(static_cast<std::size_t>(M.rows()) * size);
    for (Eigen::Index first = 0; first < M.rows(); first += size) {
        BlockMatrix A = BlockMatrix::Zero(size, size);
        for (int b = 0; b < size; ++b) {
            for (SparseMatrix::InnerIterator it(M, first + b); it; ++it) A(it.row() - first, b) = it.value();
        }
        const BlockMatrix inverse = inverse_of(A, where, static_cast<Index>(first / size));
        blocks.insert(blocks.end(), inverse.data(),
                      inverse.data() + inverse.size());  // symmetric: columns are rows
    }
    return blocks;
}

std::vector<char> find_fixed(const std::vector<double>& blocks, int size) {
    const std::size_t dofs = blocks.size() / size;
    std::vector<char> fixed(dofs, 1);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        const std::size_t row = k / size;
        if (blocks[k] != 0) fixed[row] = fixed[row - row % size + k % size] = 0;
    }
    return fixed;
}

SparseMatrix mass_of_blocks(const std::vector<double>& blocks, int size, const std::string& where) {
    const std::vector<char> fixed = find_fixed(blocks, size);
    const auto dofs = static_cast<Eigen::Index>(fixed.size());
    SparseMatrix M(dofs, dofs);
    M.reserve(static_cast<Eigen::Index>(blocks.size()));
    for (Eigen::Index first = 0; first < dofs; first += size) {
        BlockMatrix A = Eigen::Map<const Eigen::MatrixXd>(blocks.data() + first * size, size, size);
        for (int a = 0; a < size; ++a) {
            if (fixed[first + a] != 0) A(a, a) = 1;
        }
        const BlockMatrix mass = inverse_of(A, where, static_cast<Index>(first / size));
        for (int b = 0; b < size; ++b) {
            M.startVec(first + b);
            for (int a = 0; a < size; ++a) {
                if (mass(a, b) != 0) M.insertBack(first + a, first + b) = mass(a, b);
            }
        }
    }
    M.finalize();
    return M;
}

}  // namespace drystone
