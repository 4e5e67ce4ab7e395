#include "drystone/problems/problem_file.hpp"

#include "drystone/base/error.hpp"
#include "drystone/problems/block_mass.hpp"
#include "drystone/problems/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <span>

namespace drystone {

namespace {

using hdf5::Group;

constexpr int rolling_dim = 5;

/// A file with more is damaged: one guess may be linked ten thousand times, and all are kept in memory.
constexpr int most_guesses = 100;

Vector read_vector(const Group& group, const std::string& name) {
    const std::vector<double> values = group.read_doubles(name);
    Vector result =
        Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
    if (!result.allFinite()) {
        fail(group.where(name), "holds a number that is not finite", "write the problem again");
    }
    return result;
}

Vector read_vector(const Group& group, const std::string& name, Eigen::Index size) {
    Vector result = read_vector(group, name);
    if (result.size() != size) {
        fail(group.where(name), "holds " + std::to_string(result.size()) + " numbers",
             "must be " + std::to_string(size));
    }
    return result;
}

/// Friction coefficients: 0 to infinity.
std::vector<double> read_coefficients(const Group& group, const std::string& name, std::size_t contacts) {
    std::vector<double> mu = group.read_doubles(name);
    if (mu.size() != contacts) {
        fail(group.where(name), "holds " + std::to_string(mu.size()) + " numbers",
             "must be one for each of the " + std::to_string(contacts) + " contacts");
    }
    for (std::size_t i = 0; i < mu.size(); ++i) {
        if (!(mu[i] >= 0)) {
            fail(group.where(name), "number " + std::to_string(i) + " is " + std::to_string(mu[i]),
                 "must be 0 or more");
        }
    }
    return mu;
}

int read_dimension(const Group& group, ProblemKind kind) {
    const int dim = group.read_int("spacedim");
    const bool good = kind == ProblemKind::global_rolling ? dim == rolling_dim : dim == 2 || dim == 3;
    if (!good) {
        fail(group.where("spacedim"), std::to_string(dim),
             kind == ProblemKind::global_rolling ? "must be 5" : "must be 2 or 3");
    }
    return dim;
}

/// The cones of the contacts; `rows` is the size of the vector `name` that holds `dim` numbers per contact.
std::vector<Cone> read_cones(const Group& vectors, const std::string& name, ProblemKind kind, int dim,
                             Eigen::Index rows) {
    if (rows % dim != 0) {
        fail(vectors.where(name), "holds " + std::to_string(rows) + " numbers",
             "must be a multiple of spacedim = " + std::to_string(dim));
    }
    const auto contacts = static_cast<std::size_t>(rows / dim);
    const bool rolling = kind == ProblemKind::global_rolling;
    const std::vector<double> mu = read_coefficients(vectors, "mu", contacts);
    const std::vector<double> mu_r = rolling ? read_coefficients(vectors, "mu_r", contacts) : mu;
    std::vector<Cone> cones;
    cones.reserve(contacts);
    for (std::size_t i = 0; i < contacts; ++i) {
        cones.push_back(rolling ? Cone::wrench(dim, mu[i], mu_r[i], 0) : Cone::second_order(dim, mu[i]));
    }
    return cones;
}

/// Adds one block whose rows are columns [first, first + cone.dim) of A, cut into bodies; bodies without an entry that
/// differs from zero are left out.
void add_columns(ConeProblem& problem, const Cone& cone, const SparseMatrix& A, Eigen::Index first) {
    const int m = problem.only().dim;
    std::vector<Index> touched;
    for (int c = 0; c < cone.dim; ++c) {
        for (SparseMatrix::InnerIterator it(A, first + c); it; ++it) {
            if (it.value() != 0) touched.push_back(static_cast<Index>(it.row() / m));
        }
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    std::vector<double> values(touched.size() * cone.dim * m, 0.0);
    for (int c = 0; c < cone.dim; ++c) {
        for (SparseMatrix::InnerIterator it(A, first + c); it; ++it) {
            const auto found =
                std::lower_bound(touched.begin(), touched.end(), static_cast<Index>(it.row() / m));
            if (found == touched.end() || *found != it.row() / m) continue;
            values[((found - touched.begin()) * cone.dim + c) * m + it.row() % m] = it.value();
        }
    }
    problem.add_block(cone);
    const std::size_t size = static_cast<std::size_t>(cone.dim) * m;
    for (std::size_t k = 0; k < touched.size(); ++k)
        problem.add_entry(touched[k], std::span(values).subspan(k * size, size));
}

ConeProblem read_global(const Group& group, ProblemKind kind, double& asymmetry) {
    const int dim = read_dimension(group, kind);
    const Group vectors = group.open_group("vectors");
    const bool bilateral = group.exists("G");
    ConeProblem problem;
    problem.f = read_vector(vectors, "f");
    const Vector w = read_vector(vectors, "w");
    const Vector b = bilateral ? read_vector(vectors, "b") : Vector();
    const std::vector<Cone> cones = read_cones(vectors, "w", kind, dim, w.size());
    SparseMatrix M = read_matrix(group, "M", problem.f.size(), problem.f.size());
    asymmetry = make_symmetric(M, group.where("M"));
    const SparseMatrix H = read_matrix(group, "H", problem.f.size(), w.size());

    Species& species = problem.only();
    species.dim = choose_body_dim(M, dim == 2);
    species.count = static_cast<Index>(problem.f.size()) / species.dim;
    if (splits_into_blocks(M, species.dim)) {
        species.mass = BlockInverseMass{inverse_blocks(M, species.dim, group.where("M"))};
    } else {
        species.mass = SparseMass{M};
    }
    for (std::size_t i = 0; i < cones.size(); ++i)
        add_columns(problem, cones[i], H, static_cast<Eigen::Index>(i) * dim);
    if (bilateral) {
        const SparseMatrix G = read_matrix(group, "G", problem.f.size(), b.size());
        for (Eigen::Index j = 0; j < b.size(); ++j) add_columns(problem, Cone::free(1), G, j);
    }
    problem.w.resize(w.size() + b.size());
    problem.w << w, b;
    return problem;
}

/// [W V; V^T R]
SparseMatrix joined(const SparseMatrix& W, const SparseMatrix& V, const SparseMatrix& R) {
    const Eigen::Index n = W.rows();
    std::vector<Eigen::Triplet<double>> entries;
    const auto add = [&](const SparseMatrix& A, Eigen::Index row, Eigen::Index col, bool transposed) {
        for (Eigen::Index j = 0; j < A.outerSize(); ++j) {
            for (SparseMatrix::InnerIterator it(A, j); it; ++it) {
                const Eigen::Index i = transposed ? it.col() : it.row();
                const Eigen::Index k = transposed ? it.row() : it.col();
                entries.emplace_back(static_cast<int>(row + i), static_cast<int>(col + k), it.value());
            }
        }
    };
    add(W, 0, 0, false);
    add(V, 0, n, false);
    add(V, n, 0, true);
    add(R, n, n, false);
    SparseMatrix A(n + R.rows(), n + R.rows());
    A.setFromTriplets(entries.begin(), entries.end());
    return A;
}

ConeProblem read_local(const Group& group, double& asymmetry) {
    const int dim = read_dimension(group, ProblemKind::local);
    const Group vectors = group.open_group("vectors");
    const bool bilateral = group.exists("V");
    const Vector q = read_vector(vectors, "q");
    const Vector s = bilateral ? read_vector(vectors, "s") : Vector();
    const std::vector<Cone> cones = read_cones(vectors, "q", ProblemKind::local, dim, q.size());
    SparseMatrix W = read_matrix(group, "W", q.size(), q.size());
    asymmetry = make_symmetric(W, group.where("W"));
    if (bilateral) {
        const SparseMatrix V = read_matrix(group, "V", q.size(), s.size());
        SparseMatrix R = read_matrix(group, "R", s.size(), s.size());
        asymmetry = std::max(asymmetry, make_symmetric(R, group.where("R")));
        W = joined(W, V, R);
    }

    ConeProblem problem;
    problem.only().dim = bilateral ? 1 : dim;
    problem.only().count = static_cast<Index>(W.rows()) / problem.only().dim;
    problem.f = Vector::Zero(W.rows());
    const auto add_unit_block = [&](const Cone& cone) {
        const int m = problem.only().dim;
        const Index first = problem.rows();
        problem.add_block(cone);
        for (int c = 0; c < cone.dim; c += m) {
            std::vector<double> unit(static_cast<std::size_t>(cone.dim) * m, 0.0);
            for (int a = 0; a < m; ++a) unit[(c + a) * m + a] = 1;
            problem.add_entry((first + c) / m, unit);
        }
    };
    for (const Cone& cone : cones) add_unit_block(cone);
    for (Eigen::Index j = 0; j < s.size(); ++j) add_unit_block(Cone::free(1));
    problem.only().mass = SparseInverseMass{std::move(W)};
    problem.w.resize(q.size() + s.size());
    problem.w << q, s;
    return problem;
}

/// u of the free blocks, which the layout does not store: H v + w + C r.
void complete_free_velocities(const ConeProblem& problem, ConeSolution& solution) {
    const int m = problem.only().dim;
    for (Index i = 0; i < problem.blocks(); ++i) {
        if (problem.cones[i].kind != ConeKind::free) continue;
        const Index row = problem.offset[i];
        solution.u[row] = problem.w[row];
        if (problem.compliance.size() > 0) solution.u[row] += problem.compliance[row] * solution.r[row];
        for (Index k = problem.H.start[i]; k < problem.H.start[i + 1]; ++k) {
            const double* h =
                problem.H.value.data() + problem.H.value_start[i] + (k - problem.H.start[i]) * m;
            for (int a = 0; a < m; ++a) solution.u[row] += h[a] * solution.v[problem.H.body[k] * m + a];
        }
    }
}

ConeSolution read_solution(const Group& group, const ConeProblem& problem, ProblemKind kind) {
    const auto free_rows = static_cast<Eigen::Index>(std::count_if(
        problem.cones.begin(), problem.cones.end(), [](const Cone& c) { return c.kind == ConeKind::free; }));
    const Eigen::Index contact_rows = problem.rows() - free_rows;
    ConeSolution solution;
    solution.r.resize(problem.rows());
    solution.r.head(contact_rows) = read_vector(group, "r", contact_rows);
    if (free_rows > 0) solution.r.tail(free_rows) = read_vector(group, "l", free_rows);
    solution.u = Vector::Zero(problem.rows());
    solution.u.head(contact_rows) = read_vector(group, "u", contact_rows);
    if (kind == ProblemKind::local) {
        solution.v = solution.u - problem.w;
        if (problem.compliance.size() > 0) solution.v -= problem.compliance.cwiseProduct(solution.r);
        if (free_rows > 0) {
            const Vector product = std::get<SparseInverseMass>(problem.only().mass).inverse * solution.r;
            solution.v.tail(free_rows) = product.tail(free_rows);
        }
    } else {
        solution.v = read_vector(group, "v", problem.dofs());
    }
    complete_free_velocities(problem, solution);
    return solution;
}

ProblemKind find_kind(const Group& root) {
    std::vector<ProblemKind> found;
    for (const ProblemKind kind : {ProblemKind::local, ProblemKind::global, ProblemKind::global_rolling}) {
        if (root.exists(std::string("fclib_") + name_of(kind))) found.push_back(kind);
    }
    if (found.empty()) {
        fail(root.where(), "holds none of the groups fclib_local, fclib_global and fclib_global_rolling",
             "give a problem in FCLib's layout");
    }
    if (found.size() > 1) fail(root.where(), "holds several problems", "keep one per file");
    return found.front();
}

}  // namespace

const char* name_of(ProblemKind kind) {
    switch (kind) {
        case ProblemKind::local:
            return "local";
        case ProblemKind::global:
            return "global";
        case ProblemKind::global_rolling:
            return "global_rolling";
    }
    return "unknown";
}

ProblemFile read_problem(const std::filesystem::path& path) {
    return read_problem(hdf5::File::open(path).root());
}

ProblemFile read_problem(const Group& root) try {
    ProblemFile result;
    result.kind = find_kind(root);
    const Group group = root.open_group(std::string("fclib_") + name_of(result.kind));
    result.problem = result.kind == ProblemKind::local ? read_local(group, result.asymmetry)
                                                       : read_global(group, result.kind, result.asymmetry);
    if (group.exists("vectors/compliance")) {
        result.problem.compliance =
            read_vector(group.open_group("vectors"), "compliance", result.problem.rows());
    }
    const auto read_per_contact = [&](const std::string& name, Vector& numbers) {
        if (!group.exists("vectors/" + name)) return;
        Index contacts = 0;
        for (const Cone& cone : result.problem.cones) contacts += cone.kind == ConeKind::free ? 0 : 1;
        numbers = Vector::Zero(result.problem.blocks());
        numbers.head(contacts) = read_vector(group.open_group("vectors"), name, contacts);
    };
    read_per_contact("shift", result.problem.shift_before);
    read_per_contact("pull", result.problem.pull);
    Vector dilatancy;
    read_per_contact("dilatancy", dilatancy);
    for (Eigen::Index i = 0; i < dilatancy.size(); ++i) result.problem.cones[i].dilatancy = dilatancy[i];
    std::vector<std::string> faults = find_faults(result.problem);
    const auto largest = [](const Vector& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; };
    const double known = std::max(largest(result.problem.f), largest(result.problem.w));
    if (known > 0 && known < 1e-100)
        faults.push_back(fmt::format("f and w: the largest number is {:.1e}; use other units", known));
    if (!faults.empty()) {
        std::string list;
        for (const std::string& fault : faults) list += (list.empty() ? "" : "; ") + fault;
        fail(root.where(), "cannot be solved as it is", list);
    }
    const auto text = [&](const char* name) {
        const std::string inside = std::string("info/") + name;
        return group.exists(inside) ? group.read_string(inside) : std::string();
    };
    result.title = text("title");
    result.description = text("description");
    result.math_info = text("math_info");
    if (root.exists("guesses")) {
        const Group guesses = root.open_group("guesses");
        const int count = guesses.read_int("number_of_guesses");
        if (count > most_guesses)
            fail(root.where(), fmt::format("it holds {} guesses", count),
                 fmt::format("at most {} are read; leave the others out", most_guesses));
        for (int i = 1; i <= count; ++i) {
            result.guesses.push_back(
                read_solution(guesses.open_group(std::to_string(i)), result.problem, result.kind));
        }
    }
    if (root.exists("solution"))
        result.solution = read_solution(root.open_group("solution"), result.problem, result.kind);
    return result;
} catch (const std::bad_alloc&) {
    fail(root.where(), "does not fit in memory",
         "use a machine with more memory, or write the file again if it is damaged");
}

}  // namespace drystone
