#include "drystone/problems/matrix_file.hpp"

#include "drystone/base/error.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <sstream>
#include <vector>

namespace drystone {

namespace {

/// Entries of a matrix as three arrays, seen by Eigen as a list of triplets without the copy.
struct Entries {
    std::vector<int> row, col;
    std::vector<double> value;
};

class EntryIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = EntryIterator;
    using difference_type = std::ptrdiff_t;
    using pointer = const EntryIterator*;
    using reference = const EntryIterator&;

    EntryIterator(const Entries& entries, std::size_t k) : entries_(&entries), k_(k) {}
    [[nodiscard]] int row() const { return entries_->row[k_]; }
    [[nodiscard]] int col() const { return entries_->col[k_]; }
    [[nodiscard]] double value() const { return entries_->value[k_]; }
    const EntryIterator* operator->() const { return this; }
    const EntryIterator& operator*() const { return *this; }
    EntryIterator& operator++() {
        ++k_;
        return *this;
    }
    bool operator==(const EntryIterator& other) const { return k_ == other.k_; }
    bool operator!=(const EntryIterator& other) const { return k_ != other.k_; }

private:
    const Entries* entries_;
    std::size_t k_;
};

void check_indices(const hdf5::Group& group, const char* name, const std::vector<int>& indices,
                   Eigen::Index size) {
    for (std::size_t k = 0; k < indices.size(); ++k) {
        if (indices[k] < 0 || indices[k] >= size) {
            fail(group.where(name), "number " + std::to_string(k) + " is " + std::to_string(indices[k]),
                 "indices must be 0 to " + std::to_string(size - 1));
        }
    }
}

/// For each entry the row or column it lies in, from the starts of a compressed matrix.
std::vector<int> expand(const hdf5::Group& group, const std::vector<int>& starts, Eigen::Index size,
                        std::size_t stored) {
    if (static_cast<Eigen::Index>(starts.size()) != size + 1 || starts.front() != 0) {
        fail(group.where("p"),
             std::to_string(starts.size()) + " numbers" +
                 (starts.empty() ? "" : " from " + std::to_string(starts.front())),
             "must be " + std::to_string(size + 1) + " from 0");
    }
    std::vector<int> owner;
    for (Eigen::Index j = 0; j < size; ++j) {
        if (starts[j + 1] < starts[j] || static_cast<std::size_t>(starts[j + 1]) > stored) {
            fail(group.where("p"), "number " + std::to_string(j + 1) + " is " + std::to_string(starts[j + 1]),
                 "starts must not descend nor exceed the " + std::to_string(stored) + " entries");
        }
        owner.insert(owner.end(), static_cast<std::size_t>(starts[j + 1] - starts[j]), static_cast<int>(j));
    }
    return owner;
}

}  // namespace

SparseMatrix read_matrix(const hdf5::Group& parent, const std::string& name, Eigen::Index rows,
                         Eigen::Index cols) {
    const hdf5::Group group = parent.open_group(name);
    const int m = group.read_int("m");
    const int n = group.read_int("n");
    const int nz = group.read_int("nz");
    if (m != rows || n != cols) {
        fail(group.where(), "is " + std::to_string(m) + " x " + std::to_string(n),
             "the vectors ask for " + std::to_string(rows) + " x " + std::to_string(cols));
    }
    if (nz < -2)
        fail(group.where("nz"), std::to_string(nz),
             "must be -2 (rows), -1 (columns) or the number of triplets");
    SparseMatrix A(rows, cols);
    if (rows == 0 || cols == 0) return A;

    std::vector<int> p = group.read_ints("p");
    std::vector<int> i = group.read_ints("i");
    Entries entries;
    entries.value = group.read_doubles("x");
    const std::size_t stored = std::min(i.size(), entries.value.size());
    if (nz >= 0) {
        if (stored < static_cast<std::size_t>(nz) || p.size() < static_cast<std::size_t>(nz)) {
            fail(group.where("nz"), std::to_string(nz), "more than the entries in p, i and x");
        }
        p.resize(nz);
        i.resize(nz);
        entries.row = std::move(i);
        entries.col = std::move(p);
        check_indices(group, "i", entries.row, rows);
        check_indices(group, "p", entries.col, cols);
    } else {
        const bool by_columns = nz == -1;
        std::vector<int> owner = expand(group, p, by_columns ? cols : rows, stored);
        i.resize(owner.size());
        check_indices(group, "i", i, by_columns ? rows : cols);
        if (!by_columns) i.swap(owner);
        entries.row = std::move(i);
        entries.col = std::move(owner);
    }
    entries.value.resize(entries.row.size());
    for (std::size_t k = 0; k < entries.value.size(); ++k) {
        if (!std::isfinite(entries.value[k])) {
            fail(group.where("x"), "number " + std::to_string(k) + " is not finite",
                 "write the problem again");
        }
    }
    A.setFromTriplets(EntryIterator(entries, 0), EntryIterator(entries, entries.value.size()));
    return A;
}

void write_matrix(const hdf5::Group& parent, const std::string& name, SparseMatrix A) {
    const hdf5::Group group = parent.create_group(name);
    if (A.nonZeros() > INT_MAX) {
        fail(group.where(), std::to_string(A.nonZeros()) + " entries",
             "FCLib's layout holds at most " + std::to_string(INT_MAX));
    }
    A.makeCompressed();
    const auto entries = static_cast<std::size_t>(A.nonZeros());
    group.write_int("nzmax", static_cast<int>(entries));
    group.write_int("m", static_cast<int>(A.rows()));
    group.write_int("n", static_cast<int>(A.cols()));
    group.write_int("nz", -1);
    group.write_ints("p", std::span(A.outerIndexPtr(), static_cast<std::size_t>(A.cols()) + 1));
    group.write_ints("i", std::span(A.innerIndexPtr(), entries));
    group.write_doubles("x", std::span(A.valuePtr(), entries));
}

double make_symmetric(SparseMatrix& A, const std::string& where) {
    constexpr double limit = 1e-2;
    A.prune([](Eigen::Index, Eigen::Index, double x) { return x != 0; });
    bool lower = false;
    bool upper = false;
    for (Eigen::Index j = 0; j < A.outerSize(); ++j) {
        for (SparseMatrix::InnerIterator it(A, j); it; ++it) {
            lower = lower || it.row() > it.col();
            upper = upper || it.row() < it.col();
        }
    }
    const SparseMatrix transposed = A.transpose();
    if (lower != upper) {
        SparseMatrix whole = A + transposed;
        A.swap(whole);
        for (Eigen::Index j = 0; j < A.outerSize(); ++j) {
            for (SparseMatrix::InnerIterator it(A, j); it; ++it) {
                if (it.row() == it.col()) it.valueRef() /= 2;
            }
        }
        return 0;
    }
    const Vector diagonal = A.diagonal();
    const SparseMatrix difference = A - transposed;
    double asymmetry = 0;
    for (Eigen::Index j = 0; j < difference.outerSize(); ++j) {
        for (SparseMatrix::InnerIterator it(difference, j); it; ++it) {
            if (it.value() == 0) continue;
            const double scale =
                std::sqrt(std::abs(diagonal[it.row()])) * std::sqrt(std::abs(diagonal[it.col()]));
            const double here = std::abs(it.value()) / scale;  // infinite if the diagonal is zero
            if (!(here <= limit)) {
                std::ostringstream text;
                text << "is not symmetric: entries (" << it.row() << ", " << it.col() << ") and (" << it.col()
                     << ", " << it.row() << ") differ by " << here << " of the diagonal";
                fail(where, text.str(), "give a symmetric matrix; up to 1e-2 is accepted");
            }
            asymmetry = std::max(asymmetry, here);
        }
    }
    SparseMatrix mean = 0.5 * A + 0.5 * transposed;
    A.swap(mean);
    A.prune([](Eigen::Index, Eigen::Index, double x) { return x != 0; });
    return asymmetry;
}

}  // namespace drystone
