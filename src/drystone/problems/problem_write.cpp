// The writing half of problem_file.hpp.
#include "drystone/base/error.hpp"
#include "drystone/problems/block_mass.hpp"
#include "drystone/problems/matrix_file.hpp"
#include "drystone/problems/problem_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <system_error>

namespace drystone {

namespace {

using hdf5::Group;

/// Blocks and rows of a problem in the file's order: contacts, then bilateral rows.
struct Order {
    int dim = 3;  // numbers per contact
    std::vector<Index> contacts, bilateral;
    std::vector<Index> contact_rows, bilateral_rows;
};

[[noreturn]] void refuse(Index block, const std::string& what, const std::string& cure) {
    fail("block " + std::to_string(block), what, cure);
}

Order order_of(const ConeProblem& problem) {
    Order order;
    for (Index i = 0; i < problem.blocks(); ++i) {
        const Cone& cone = problem.cones[i];
        const bool bilateral = cone.kind == ConeKind::free;
        (bilateral ? order.bilateral : order.contacts).push_back(i);
        std::vector<Index>& rows = bilateral ? order.bilateral_rows : order.contact_rows;
        for (Index row = problem.offset[i]; row < problem.offset[i + 1]; ++row) rows.push_back(row);
    }
    if (order.contacts.empty()) return order;
    const Cone& first = problem.cones[order.contacts.front()];
    order.dim = first.dim;
    for (const Index i : order.contacts) {
        const Cone& cone = problem.cones[i];
        if (cone.kind == ConeKind::wrench) {
            if (cone.dim != 5 || cone.coefficient[2] != 0) {
                refuse(i,
                       "a wrench cone of dimension " + std::to_string(cone.dim) +
                           (cone.dim == 5 ? " with spinning" : ""),
                       "FCLib's layout has those of dimension 5 without spinning only");
            }
        } else if (cone.kind != ConeKind::second_order || (cone.dim != 2 && cone.dim != 3)) {
            refuse(i, "its kind of cone has no place in FCLib's layout",
                   "use second_order of dimension 2 or 3 (mu = 0 if frictionless), wrench of dimension 5, or "
                   "free");
        }
        if (cone.kind != first.kind || cone.dim != first.dim) {
            refuse(i,
                   "its cone is not of the kind and dimension of block " +
                       std::to_string(order.contacts.front()),
                   "FCLib's layout has one for all contacts");
        }
    }
    return order;
}

bool is_rolling(const ConeProblem& problem, const Order& order) {
    return !order.contacts.empty() && problem.cones[order.contacts.front()].kind == ConeKind::wrench;
}

/// The rows of the given blocks as columns, without zeros and without the coordinates that are fixed (may be empty).
SparseMatrix columns_of(const ConeProblem& problem, const std::vector<Index>& blocks,
                        const std::vector<char>& fixed) {
    Eigen::Index columns = 0;
    for (const Index i : blocks) columns += problem.cones[i].dim;
    SparseMatrix A(problem.dofs(), columns);
    struct Entry {
        ConeProblem::Place place;
        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_block, max_block> rows;
    };
    std::vector<Entry> entries;
    Eigen::Index column = 0;
    for (const Index i : blocks) {
        entries.clear();
        for_each_entry(problem, i, [&](Index, auto place, const BodyRowsOf& rows) {
            entries.push_back({place, rows});
        });
        std::sort(entries.begin(), entries.end(),
                  [](const Entry& x, const Entry& y) { return x.place.first < y.place.first; });
        for (int c = 0; c < problem.cones[i].dim; ++c, ++column) {
            A.startVec(column);
            for (const Entry& entry : entries) {
                const auto [first, m] = entry.place;
                for (int a = 0; a < m; ++a) {
                    const double x = entry.rows(c, a);
                    // A negative zero is kept, so that reading gives back the same bits.
                    const bool zero = x == 0 && !std::signbit(x);
                    if (zero || (!fixed.empty() && fixed[first + a] != 0)) continue;
                    A.insertBack(first + a, column) = x;
                }
            }
        }
    }
    A.finalize();
    return A;
}

bool is_unit(const ConeProblem& problem) {
    if (problem.rows() != problem.dofs()) return false;
    std::vector<Index> all(problem.blocks());
    std::iota(all.begin(), all.end(), 0);
    SparseMatrix H = columns_of(problem, all, {});
    H.prune([](Eigen::Index, Eigen::Index, double x) { return x != 0; });
    if (H.nonZeros() != H.cols()) return false;
    for (Eigen::Index j = 0; j < H.cols(); ++j) {
        const SparseMatrix::InnerIterator it(H, j);
        if (!it || it.row() != j || it.value() != 1) return false;
    }
    return true;
}

/// Rows and columns of A in the given order.
SparseMatrix part_of(const SparseMatrix& A, const std::vector<Index>& rows, const std::vector<Index>& cols) {
    std::vector<Index> place(A.rows(), -1);
    for (std::size_t k = 0; k < rows.size(); ++k) place[rows[k]] = static_cast<Index>(k);
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t k = 0; k < cols.size(); ++k) {
        for (SparseMatrix::InnerIterator it(A, cols[k]); it; ++it) {
            if (place[it.row()] >= 0) entries.emplace_back(place[it.row()], static_cast<int>(k), it.value());
        }
    }
    SparseMatrix part(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(cols.size()));
    part.setFromTriplets(entries.begin(), entries.end());
    return part;
}

void write_vector(const Group& group, const std::string& name, const Vector& x) {
    group.write_doubles(name, std::span(x.data(), static_cast<std::size_t>(x.size())));
}

void write_rows(const Group& group, const std::string& name, const Vector& x,
                const std::vector<Index>& rows) {
    std::vector<double> values;
    values.reserve(rows.size());
    for (const Index row : rows) values.push_back(x[row]);
    group.write_doubles(name, values);
}

void write_coefficients(const Group& vectors, const ConeProblem& problem, const Order& order,
                        ProblemKind kind) {
    std::vector<double> mu, mu_r;
    for (const Index i : order.contacts) {
        mu.push_back(problem.cones[i].mu());
        mu_r.push_back(problem.cones[i].coefficient[1]);
    }
    vectors.write_doubles("mu", mu);
    if (kind == ProblemKind::global_rolling) vectors.write_doubles("mu_r", mu_r);
}

/// M of all species, one after the other, and which velocities do not move.
SparseMatrix mass_of(const ConeProblem& problem, const std::string& where, std::vector<char>& fixed) {
    SparseMatrix M(problem.dofs(), problem.dofs());
    fixed.clear();
    for (const Species& s : problem.species) {
        const auto first = static_cast<Eigen::Index>(fixed.size());
        SparseMatrix part;
        if (s.separate()) {
            const std::vector<double> blocks = inverse_blocks(s);
            const std::vector<char> of_species = find_fixed(blocks, s.dim);
            fixed.insert(fixed.end(), of_species.begin(), of_species.end());
            part = mass_of_blocks(blocks, s.dim, where);
        } else {
            fixed.resize(fixed.size() + static_cast<std::size_t>(s.velocities()), 0);
            part = std::get<SparseMass>(s.mass).M;
        }
        for (Eigen::Index j = 0; j < part.outerSize(); ++j) {
            M.startVec(first + j);
            for (SparseMatrix::InnerIterator it(part, j); it; ++it)
                M.insertBack(first + it.row(), first + j) = it.value();
        }
    }
    M.finalize();
    return M;
}

void write_global(const Group& group, const ConeProblem& problem, const Order& order) {
    const Group vectors = group.open_group("vectors");
    std::vector<char> fixed;
    Vector f = problem.f;
    write_matrix(group, "M", mass_of(problem, group.where("M"), fixed));
    for (Index dof = 0; dof < problem.dofs(); ++dof) {
        if (fixed[dof] != 0) f[dof] = 0;
    }
    write_matrix(group, "H", columns_of(problem, order.contacts, fixed));
    write_vector(vectors, "f", f);
    write_rows(vectors, "w", problem.w, order.contact_rows);
    if (order.bilateral.empty()) return;
    write_matrix(group, "G", columns_of(problem, order.bilateral, fixed));
    write_rows(vectors, "b", problem.w, order.bilateral_rows);
}

void write_local(const Group& group, const ConeProblem& problem, const Order& order) {
    const Group vectors = group.open_group("vectors");
    const SparseMatrix& W = std::get<SparseInverseMass>(problem.only().mass).inverse;
    write_matrix(group, "W", part_of(W, order.contact_rows, order.contact_rows));
    write_rows(vectors, "q", problem.w, order.contact_rows);
    if (order.bilateral.empty()) return;
    write_matrix(group, "V", part_of(W, order.contact_rows, order.bilateral_rows));
    write_matrix(group, "R", part_of(W, order.bilateral_rows, order.bilateral_rows));
    write_rows(vectors, "s", problem.w, order.bilateral_rows);
}

void write_solution(const Group& group, const ConeSolution& solution, const Order& order, ProblemKind kind) {
    if (kind != ProblemKind::local) write_vector(group, "v", solution.v);
    write_rows(group, "u", solution.u, order.contact_rows);
    write_rows(group, "r", solution.r, order.contact_rows);
    if (!order.bilateral.empty()) write_rows(group, "l", solution.r, order.bilateral_rows);
}

void check_solution(const std::string& where, const ConeSolution& solution, const ConeProblem& problem) {
    if (solution.r.size() != problem.rows() || solution.u.size() != problem.rows() ||
        solution.v.size() != problem.dofs()) {
        fail(where,
             "r, u, v hold " + std::to_string(solution.r.size()) + ", " + std::to_string(solution.u.size()) +
                 ", " + std::to_string(solution.v.size()) + " numbers",
             "must be " + std::to_string(problem.rows()) + " for r and u, " + std::to_string(problem.dofs()) +
                 " for v");
    }
    if (!solution.r.allFinite() || !solution.u.allFinite() || !solution.v.allFinite()) {
        fail(where, "holds a number that is not finite", "leave it out");
    }
}

void write_all(const std::filesystem::path& path, const ProblemFile& file, ProblemKind kind,
               const Order& order) {
    const hdf5::File out = hdf5::File::create(path);
    const Group group = out.root().create_group(std::string("fclib_") + name_of(kind));
    group.write_int("spacedim", order.dim);
    const Group vectors = group.create_group("vectors");
    write_coefficients(vectors, file.problem, order, kind);
    if (file.problem.compliance.size() > 0) {
        std::vector<Index> rows = order.contact_rows;
        rows.insert(rows.end(), order.bilateral_rows.begin(), order.bilateral_rows.end());
        write_rows(vectors, "compliance", file.problem.compliance, rows);
    }
    if (file.problem.shift_before.size() > 0)
        write_rows(vectors, "shift", file.problem.shift_before, order.contacts);
    if (file.problem.pull.size() > 0) write_rows(vectors, "pull", file.problem.pull, order.contacts);
    if (file.problem.dilates()) {
        Vector dilatancy(file.problem.blocks());
        for (Index i = 0; i < file.problem.blocks(); ++i) dilatancy[i] = file.problem.cones[i].dilatancy;
        write_rows(vectors, "dilatancy", dilatancy, order.contacts);
    }
    if (kind == ProblemKind::local) {
        write_local(group, file.problem, order);
    } else {
        write_global(group, file.problem, order);
    }
    const Group info = group.create_group("info");
    info.write_string("title", file.title);
    info.write_string("description", file.description);
    info.write_string("math_info", file.math_info);
    if (!file.guesses.empty()) {
        const Group guesses = out.root().create_group("guesses");
        guesses.write_int("number_of_guesses", static_cast<int>(file.guesses.size()));
        for (std::size_t i = 0; i < file.guesses.size(); ++i) {
            write_solution(guesses.create_group(std::to_string(i + 1)), file.guesses[i], order, kind);
        }
    }
    if (file.solution) write_solution(out.root().create_group("solution"), *file.solution, order, kind);
    out.flush();
}

}  // namespace

ProblemKind kind_of(const ConeProblem& problem) {
    const Order order = order_of(problem);
    const bool rolling = is_rolling(problem, order);
    if (std::none_of(problem.species.begin(), problem.species.end(),
                     [](const Species& s) { return std::holds_alternative<SparseInverseMass>(s.mass); }))
        return rolling ? ProblemKind::global_rolling : ProblemKind::global;
    if (problem.species.size() > 1)
        fail("mass", "a sparse inverse mass beside other bodies",
             "FCLib's layout needs M: give a block or sparse mass");
    if (rolling)
        fail("mass", "an inverse mass with rolling contacts",
             "FCLib's layout needs M: give a block or sparse mass");
    if (!is_unit(problem) || !problem.f.isZero(0)) {
        fail("mass", "a sparse inverse mass where H is not the unit matrix or f is not zero",
             "FCLib's layout needs M, or the Delassus matrix with H = 1 and f = 0");
    }
    return ProblemKind::local;
}

void write_problem(const std::filesystem::path& path, const ProblemFile& file) {
    const std::vector<std::string> faults = find_faults(file.problem);
    if (!faults.empty()) {
        std::string list;
        for (const std::string& fault : faults) list += (list.empty() ? "" : "; ") + fault;
        fail(path.string(), "the problem is not valid", list);
    }
    ProblemKind kind = ProblemKind::global;
    try {
        kind = kind_of(file.problem);
    } catch (const Error& error) {
        throw Error(harmless(path.string() + ": the problem cannot be written: " + error.what()));
    }
    const std::string name = path.string();
    for (std::size_t i = 0; i < file.guesses.size(); ++i) {
        check_solution(name + ": guess " + std::to_string(i + 1), file.guesses[i], file.problem);
    }
    if (file.solution) check_solution(name + ": solution", *file.solution, file.problem);

    std::filesystem::path temporary = path;
    temporary += ".part" + std::to_string(::getpid());
    try {
        write_all(temporary, file, kind, order_of(file.problem));
        std::filesystem::rename(temporary, path);
    } catch (const std::exception& error) {
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        if (dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr)
            fail(name, "cannot be written",
                 "see that it is not a folder and that its folder can be written to");
        const std::string text = error.what(), part = harmless(temporary.string());
        // Users know it by its final name.
        if (text.starts_with(part)) throw Error(harmless(name) + text.substr(part.size()));
        throw;
    }
}

}  // namespace drystone
