// W itself, for those who need its numbers.
#include "drystone/cone/delassus.hpp"

#include <algorithm>
#include <array>

namespace drystone {

namespace {

using RowMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_block, max_block>;

/// A symmetric matrix of all rows by blocks.
BlockSparse in_blocks(const ConeProblem& p, const SparseMatrix& full) {
    std::vector<Index> block_of(p.rows());
    for (Index i = 0; i < p.blocks(); ++i) {
        for (Index a = p.offset[i]; a < p.offset[i + 1]; ++a) block_of[a] = i;
    }
    BlockSparse W;
    std::vector<Index> neighbours;
    std::vector<Index> place(p.blocks(), -1);
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        neighbours.assign(1, i);
        for (Index a = p.offset[i]; a < p.offset[i + 1]; ++a) {
            for (SparseMatrix::InnerIterator it(full, a); it; ++it) neighbours.push_back(block_of[it.row()]);
        }
        std::sort(neighbours.begin(), neighbours.end());
        neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
        for (Index j : neighbours) {
            place[j] = static_cast<Index>(W.column.size());
            W.column.push_back(j);
            W.value_start.push_back(static_cast<std::int64_t>(W.value.size()));
            W.value.resize(W.value.size() + static_cast<std::size_t>(d) * p.cones[j].dim, 0.0);
        }
        for (Index a = p.offset[i]; a < p.offset[i + 1]; ++a) {
            for (SparseMatrix::InnerIterator it(full, a); it; ++it) {  // column a = row a: W is symmetric
                const Index j = block_of[it.row()];
                W.value[W.value_start[place[j]] +
                        static_cast<std::int64_t>(a - p.offset[i]) * p.cones[j].dim +
                        (it.row() - p.offset[j])] = it.value();
            }
        }
        W.start.push_back(static_cast<Index>(W.column.size()));
    }
    return W;
}

}  // namespace

const BlockSparse& Delassus::matrix() const {
    if (!data_->matrix) {
        data_->matrix = whitened() ? whitened_matrix() : coupled_matrix();
        if (compliant()) add_compliance(*data_->matrix);
    }
    return *data_->matrix;
}

void Delassus::add_compliance(BlockSparse& W) const {
    const ConeProblem& p = *problem_;
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        for (Index k = W.start[i]; k < W.start[i + 1]; ++k) {
            if (W.column[k] != i) continue;
            for (int c = 0; c < d; ++c)
                W.value[W.value_start[k] + c * d + c] += p.compliance[p.offset[i] + c];
        }
    }
}

BlockSparse Delassus::whitened_matrix() const {
    const ConeProblem& p = *problem_;
    const BlockRows& rows = dense_rows();
    BlockSparse W;
    std::vector<Index> neighbours;
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        neighbours.assign(1, i);
        for_each_body(p, i, [&](Index body) {
            if (!p.moves(body)) return;  // it couples nothing
            for_each_block_of(body, [&](Index other) { neighbours.push_back(other); });
        });
        std::sort(neighbours.begin(), neighbours.end());
        neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
        for (Index j : neighbours) {
            const int e = p.cones[j].dim;
            W.column.push_back(j);
            W.value_start.push_back(static_cast<std::int64_t>(W.value.size()));
            RowMatrix block = RowMatrix::Zero(d, e);
            for_each_entry(p, rows, i, [&](Index body, auto, const BodyRowsOf& A) {
                for_each_entry(p, rows, j, [&](Index other, auto, const BodyRowsOf& B) {
                    if (body == other) block.noalias() += A.lazyProduct(B.transpose());
                });
            });
            W.value.insert(W.value.end(), block.data(), block.data() + d * e);
        }
        W.start.push_back(static_cast<Index>(W.column.size()));
    }
    return W;
}

/// Blocks couple where they meet at a velocity, at velocities that a SparseInverseMass couples, or at one piece of what
/// a SparseMass connects, in which M^-1 couples everything with everything.
BlockSparse Delassus::coupled_matrix() const {
    const ConeProblem& p = *problem_;
    // M^-1 of all but the pieces, which are not formed.
    std::vector<Eigen::Triplet<double>> entries;
    Index first = 0;
    for (const Species& s : p.species) {
        const int m = s.dim;
        if (s.separate()) {
            std::array<double, max_block * max_block> block;
            for (Index j = 0; j < s.count; ++j) {
                inverse_block(s, j, block.data());
                for (int a = 0; a < m; ++a)
                    for (int b = 0; b < m; ++b)
                        if (block[a * m + b] != 0)
                            entries.emplace_back(first + j * m + a, first + j * m + b, block[a * m + b]);
            }
        } else if (const auto* sparse = std::get_if<SparseInverseMass>(&s.mass)) {
            for (Eigen::Index j = 0; j < sparse->inverse.outerSize(); ++j)
                for (SparseMatrix::InnerIterator it(sparse->inverse, j); it; ++it)
                    entries.emplace_back(first + it.row(), first + it.col(), it.value());
        }
        first += s.velocities();
    }
    SparseMatrix inverse(p.dofs(), p.dofs());
    inverse.setFromTriplets(entries.begin(), entries.end());
    entries.clear();
    for (Index i = 0; i < p.blocks(); ++i) {
        for_each_entry(p, i, [&](Index, auto place, const BodyRowsOf& A) {
            for (int a = 0; a < A.rows(); ++a)
                for (int c = 0; c < place.dim; ++c)
                    if (A(a, c) != 0) entries.emplace_back(place.first + c, p.offset[i] + a, A(a, c));
        });
    }
    SparseMatrix Ht(p.dofs(), p.rows());
    Ht.setFromTriplets(entries.begin(), entries.end());
    SparseMatrix full = Ht.transpose() * inverse * Ht;
    // Of each piece: the rows that touch it, solved for one by one (many at once would fill memory), meet each other
    // and nothing else.
    entries.clear();
    const Eigen::SparseMatrix<double, Eigen::RowMajor> by_velocity = Ht;
    std::vector<Index> place(p.dofs(), -1);  // in the piece
    for (const Component& c : data_->components) {
        std::vector<Index> rows;
        for (std::size_t k = 0; k < c.velocity.size(); ++k) {
            place[c.velocity[k]] = static_cast<Index>(k);
            for (decltype(by_velocity)::InnerIterator it(by_velocity, c.velocity[k]); it; ++it)
                rows.push_back(static_cast<Index>(it.col()));
        }
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        const auto count = static_cast<Eigen::Index>(rows.size());
        Eigen::MatrixXd part(count, count);
        Vector moved;
        for (Eigen::Index b = 0; b < count; ++b) {
            moved.setZero(static_cast<Eigen::Index>(c.velocity.size()));
            for (SparseMatrix::InnerIterator it(Ht, rows[static_cast<std::size_t>(b)]); it; ++it)
                if (place[it.row()] >= 0) moved[place[it.row()]] = it.value();
            c.factor.solve(moved);
            for (Eigen::Index a = 0; a < count; ++a) {
                double sum = 0;
                for (SparseMatrix::InnerIterator it(Ht, rows[static_cast<std::size_t>(a)]); it; ++it)
                    if (place[it.row()] >= 0) sum += it.value() * moved[place[it.row()]];
                part(a, b) = sum;
            }
        }
        for (Eigen::Index a = 0; a < count; ++a)
            for (Eigen::Index b = 0; b < count; ++b)
                entries.emplace_back(rows[static_cast<std::size_t>(a)], rows[static_cast<std::size_t>(b)],
                                     0.5 * (part(a, b) + part(b, a)));
        for (const Index k : c.velocity) place[k] = -1;
    }
    if (!entries.empty()) {
        SparseMatrix pieces(p.rows(), p.rows());
        pieces.setFromTriplets(entries.begin(), entries.end());
        full = SparseMatrix(full + pieces);
    }
    return in_blocks(p, full);
}

}  // namespace drystone
