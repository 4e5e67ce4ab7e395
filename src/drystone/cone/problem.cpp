#include "drystone/cone/problem.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/parallel_sum.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace drystone {

void inverse_block(const Species& species, Index k, double* block) {
    const int m = species.dim;
    if (const auto* dense = std::get_if<BlockInverseMass>(&species.mass)) {
        std::copy_n(dense->blocks.data() + static_cast<std::size_t>(k) * m * m, m * m, block);
        return;
    }
    std::fill_n(block, m * m, 0.0);
    if (const auto* points = std::get_if<PointInverseMass>(&species.mass)) {
        for (int c = 0; c < m; ++c) block[c * m + c] = points->mass[k];
        return;
    }
    const auto& rigid = std::get<RigidInverseMass>(species.mass);
    const int turns = spins_of(m), d = m - turns;
    for (int c = 0; c < d; ++c) block[c * m + c] = rigid.mass[k];
    if (rigid.moments() == 1) {
        for (int c = d; c < m; ++c) block[c * m + c] = rigid.inertia[k];
        return;
    }
    const double* I = rigid.inertia.data() + static_cast<std::ptrdiff_t>(k) * 6;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b <= a; ++b) block[(d + a) * m + d + b] = block[(d + b) * m + d + a] = *I++;
}

std::vector<double> inverse_blocks(const Species& species) {
    const std::size_t squared = static_cast<std::size_t>(species.dim) * species.dim;
    std::vector<double> blocks(static_cast<std::size_t>(species.count) * squared);
    for (Index k = 0; k < species.count; ++k)
        inverse_block(species, k, blocks.data() + static_cast<std::size_t>(k) * squared);
    return blocks;
}

void times_inverse_mass(const Species& species, Index k, const double* x, double* y) {
    const int m = species.dim;
    if (const auto* rigid = std::get_if<RigidInverseMass>(&species.mass)) {
        const int d = m - spins_of(m), moments = rigid->moments();
        const double* I = rigid->inertia.data() + static_cast<std::ptrdiff_t>(k) * moments;
        for (int c = 0; c < d; ++c) y[c] = rigid->mass[k] * x[c];
        if (moments == 1) {
            for (int c = d; c < m; ++c) y[c] = *I * x[c];
            return;
        }
        y[3] = I[0] * x[3] + I[1] * x[4] + I[3] * x[5];
        y[4] = I[1] * x[3] + I[2] * x[4] + I[4] * x[5];
        y[5] = I[3] * x[3] + I[4] * x[4] + I[5] * x[5];
        return;
    }
    if (const auto* points = std::get_if<PointInverseMass>(&species.mass)) {
        for (int c = 0; c < m; ++c) y[c] = points->mass[k] * x[c];
        return;
    }
    const double* B =
        std::get<BlockInverseMass>(species.mass).blocks.data() + static_cast<std::size_t>(k) * m * m;
    for (int a = 0; a < m; ++a) {
        y[a] = 0;
        for (int c = 0; c < m; ++c) y[a] += B[a * m + c] * x[c];
    }
}

Index ConeProblem::bodies() const {
    Index sum = 0;
    for (const Species& s : species) sum += s.count;
    return sum;
}

Index ConeProblem::dofs() const {
    Index sum = 0;
    for (const Species& s : species) sum += s.velocities();
    return sum;
}

int ConeProblem::common_dim() const {
    const int first = species.empty() ? 0 : species.front().dim;
    return std::all_of(species.begin(), species.end(), [&](const Species& s) { return s.dim == first; })
               ? first
               : 0;
}

int ConeProblem::space() const {
    int space = 0;
    for (const Species& s : species)
        if (s.is_points()) space = s.dim;
    if (space == 0)
        space = common_dim() == body_velocities<2> ? 2 : common_dim() == body_velocities<3> ? 3 : 0;
    const int rigid = space == 2 ? body_velocities<2> : body_velocities<3>;
    const bool all = std::all_of(species.begin(), species.end(), [&](const Species& s) {
        return s.separate() && s.dim == (s.is_points() ? space : rigid);
    });
    return all ? space : 0;
}

bool ConeProblem::moves(Index body) const {
    for (const Species& s : species) {
        if (body >= s.count) {
            body -= s.count;
            continue;
        }
        if (const auto* rigid = std::get_if<RigidInverseMass>(&s.mass)) {
            const int n = rigid->moments();
            const double* I = rigid->inertia.data() + static_cast<std::ptrdiff_t>(body) * n;
            return rigid->mass[body] != 0 || std::any_of(I, I + n, [](double x) { return x != 0; });
        }
        if (const auto* points = std::get_if<PointInverseMass>(&s.mass)) return points->mass[body] != 0;
        const auto* inverse = std::get_if<BlockInverseMass>(&s.mass);
        if (inverse == nullptr) return true;
        const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(s.dim) * s.dim;
        const double* block = inverse->blocks.data() + body * size;
        return std::any_of(block, block + size, [](double x) { return x != 0; });
    }
    return false;
}

bool ConeProblem::dilates() const {
    return std::any_of(cones.begin(), cones.end(), [](const Cone& cone) { return drystone::dilates(cone); });
}

bool ConeProblem::separate() const {
    return std::all_of(species.begin(), species.end(), [](const Species& s) { return s.separate(); });
}

Species& ConeProblem::only() {
    if (species.empty()) species.emplace_back();
    return const_cast<Species&>(std::as_const(*this).only());
}

const Species& ConeProblem::only() const {
    if (species.size() != 1)
        fail("ConeProblem::only", std::to_string(species.size()) + " species", "name the one that is meant");
    return species.front();
}

Vector ConeProblem::pull_impulse() const {
    Vector r;
    fill_pull_impulse(r);
    return r;
}

void ConeProblem::fill_pull_impulse(Vector& r) const {
    r.setZero(rows());
    for (Index i = 0; i < pull.size(); ++i) r[offset[i]] = pull[i];
}

void ConeProblem::add_block(const Cone& cone) {
    cones.push_back(cone);
    offset.push_back(offset.back() + cone.dim);
    H.start.push_back(H.start.back());
    H.value_start.push_back(static_cast<std::int64_t>(H.value.size()));
}

void ConeProblem::add_entry(Index body, std::span<const double> values) {
    if (cones.empty()) fail("ConeProblem::add_entry", "no block is open", "call add_block first");
    const int velocities = species.size() > 1 ? place_of(body).dim : only().dim;
    const auto expected = static_cast<std::size_t>(cones.back().dim * velocities);
    if (values.size() != expected) {
        fail("ConeProblem::add_entry", std::to_string(values.size()) + " values",
             "give dim x velocities of the body = " + std::to_string(expected));
    }
    H.body.push_back(body);
    H.value.insert(H.value.end(), values.begin(), values.end());
    H.start.back() += 1;
    H.value_start.back() = static_cast<std::int64_t>(H.value.size());
}

void make_general(ConeProblem& problem) {
    BlockRows rows;
    for (Index i = 0; i < problem.blocks(); ++i) {
        for_each_entry(problem, i, [&](Index body, auto, const BodyRowsOf& A) {
            rows.body.push_back(body);
            rows.value.insert(rows.value.end(), A.data(), A.data() + A.size());
        });
        rows.start.push_back(static_cast<Index>(rows.body.size()));
        rows.value_start.push_back(static_cast<std::int64_t>(rows.value.size()));
    }
    problem.H = std::move(rows);
    problem.contacts = {};
    problem.tensors = {};
    for (Species& s : problem.species) {
        if (!s.separate() || std::holds_alternative<BlockInverseMass>(s.mass)) continue;
        s.mass = BlockInverseMass{inverse_blocks(s)};
    }
}

namespace {

std::string text(double x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", x);
    return digits;
}

class FaultList {
public:
    void expect(bool good, const std::string& fault) {
        if (!good && faults_.size() < max_faults) faults_.push_back(fault);
    }
    std::vector<std::string> take() { return std::move(faults_); }

private:
    static constexpr std::size_t max_faults = 20;
    std::vector<std::string> faults_;
};

/// Beyond these, products of two numbers leave the range of doubles, and residuals are 0 or not a number whatever the
/// solution is. 0 is another matter: what does not move.
constexpr double least = 1e-100, most = 1e100;

bool within(double x) { return x == 0 || (std::abs(x) >= least && std::abs(x) <= most); }

/// True if all are finite and at most so large.
template <class Numbers>
bool bounded(const Numbers& x) {
    return std::all_of(x.begin(), x.end(), [](double y) { return std::abs(y) <= most; });
}

bool is_symmetric(const SparseMatrix& A) {
    if (A.size() == 0) return true;  // Eigen has no norm of nothing
    const SparseMatrix difference = A - SparseMatrix(A.transpose());
    return difference.norm() <= 1e-10 * A.norm();
}

void check_blocks(const Species& s, const BlockInverseMass& mass, Index first, FaultList& faults) {
    const int m = s.dim;
    const std::size_t expected = static_cast<std::size_t>(s.count) * m * m;
    faults.expect(mass.blocks.size() == expected,
                  "mass: " + std::to_string(mass.blocks.size()) +
                      " numbers; bodies x velocities of one^2 = " + std::to_string(expected));
    if (mass.blocks.size() != expected) return;
    for (Index j = 0; j < s.count; ++j) {
        const double* B = mass.blocks.data() + static_cast<std::size_t>(j) * m * m;
        double scale = 0;
        bool good = true;
        for (int a = 0; a < m; ++a) {
            good = good && std::isfinite(B[a * m + a]) && B[a * m + a] >= 0;
            // Words are made only where there is something to say: this is done for every body of every step.
            if (good && !within(B[a * m + a]))
                faults.expect(false, "mass: inverse mass " + text(B[a * m + a]) + " of body " +
                                         std::to_string(first + j) +
                                         "; must be 0, or 1e-100 to 1e100: use other units");
            scale = std::max(scale, std::abs(B[a * m + a]));
        }
        for (int a = 0; a < m; ++a) {
            for (int b = 0; b < a; ++b) good = good && std::abs(B[a * m + b] - B[b * m + a]) <= 1e-10 * scale;
        }
        if (!good)
            faults.expect(false, "mass: inverse mass of body " + std::to_string(first + j) +
                                     " is not symmetric with a diagonal >= 0; give the inverse, row by row");
    }
}

void check_rigid(const Species& s, const RigidInverseMass& rigid, Index first, FaultList& faults) {
    const auto count = static_cast<std::size_t>(s.count);
    const bool sizes = (s.dim == 3 || s.dim == 6) && rigid.mass.size() == count &&
                       (rigid.inertia.size() == count || (s.dim == 6 && rigid.inertia.size() == 6 * count));
    faults.expect(
        sizes, "mass: rigid bodies have 3 or 6 velocities, a mass, and one or six numbers of inertia each");
    if (!sizes) return;
    Species one{s.dim, 1, BlockInverseMass{std::vector<double>(static_cast<std::size_t>(s.dim) * s.dim)}};
    auto& block = std::get<BlockInverseMass>(one.mass);
    for (Index j = 0; j < s.count; ++j) {
        inverse_block(s, j, block.blocks.data());
        check_blocks(one, block, first + j, faults);
    }
}

void check_points(const Species& s, const PointInverseMass& points, FaultList& faults) {
    const bool sizes = (s.dim == 2 || s.dim == 3) && points.mass.size() == static_cast<std::size_t>(s.count);
    faults.expect(sizes, "mass: points have 2 or 3 velocities and one mass each");
    bool good = true;
    for (const double x : points.mass) good = good && x >= 0 && within(x);
    faults.expect(good,
                  "mass: the inverse mass of a point is not 0, or from 1e-100 to 1e100: use other units");
}

bool check_tensors(const ConeProblem& p, FaultList& faults) {
    const TensorRows& t = p.tensors;
    const Index first = p.contacts.size(), bodies = p.bodies();
    bool all = (t.space == 2 || t.space == 3) && first + t.size() <= p.blocks() && t.start.front() == 0 &&
               t.start.back() == static_cast<Index>(t.body.size()) &&
               t.gradient.size() == t.body.size() * static_cast<std::size_t>(t.space);
    faults.expect(all, "tensors: start, body and gradient do not fit each other and the blocks");
    if (!all) return false;
    for (Index k = 0; all && k < t.size(); ++k) {
        const Cone& cone = p.cones[first + k];
        bool good = t.start[k] <= t.start[k + 1] && cone.dim == t.space * (t.space + 1) / 2 &&
                    (cone.kind == ConeKind::second_order || cone.kind == ConeKind::truncated ||
                     cone.kind == ConeKind::free);
        for (Index e = t.start[k]; good && e < t.start[k + 1]; ++e) {
            const Index body = t.body[e];
            good = body >= 0 && body < bodies && p.place_of(body).dim == t.space;
            for (Index f = t.start[k]; good && f < e; ++f) good = t.body[f] != body;
        }
        if (!good)
            faults.expect(false, "tensor of block " + std::to_string(first + k) +
                                     ": points, each once, and a cone of as many components as a symmetric "
                                     "tensor has");
        all = all && good;
    }
    faults.expect(bounded(t.gradient), "tensors: a gradient that is not finite, or above 1e100");
    return all;
}

bool check_contacts(const ConeProblem& p, FaultList& faults) {
    bool all = (p.contacts.plane.empty() || p.contacts.space.empty()) && p.contacts.size() <= p.blocks();
    faults.expect(all, "contacts: in the plane or in space, and no more than blocks");
    const Index bodies = p.bodies();
    for (Index i = 0; all && i < p.contacts.size(); ++i) {
        p.contacts.visit(i, [&]<int d>(const ContactRow<d>& c) {
            const auto fits = [&](Index body) {
                if (body < 0 || body >= bodies) return body == -1;
                const Species& s = p.species[p.member(body).species];
                return s.dim == (s.is_points() ? d : body_velocities<d>);
            };
            const Cone& cone = p.cones[i];
            const bool torques = cone.kind == ConeKind::wrench && (cone.dim == 3) == (d == 2);
            bool good = fits(c.a) && fits(c.b) && (c.a != c.b || c.a < 0) && (cone.dim <= d || torques);
            for (const Vec<d>& x : {c.normal, c.arm_a, c.arm_b})
                good = good && x.allFinite() && x.cwiseAbs().maxCoeff() <= most;
            good = good && std::abs(c.normal.norm() - 1) <= 1e-9;
            if (!good)
                faults.expect(false, "contact of block " + std::to_string(i) +
                                         ": two bodies that are rigid or points, a normal of length 1, "
                                         "finite arms, and as many "
                                         "components as there are directions");
            all = all && good;
        });
    }
    return all;
}

void check_matrix(const Species& s, const SparseMatrix& A, FaultList& faults) {
    faults.expect(A.rows() == s.velocities() && A.cols() == s.velocities(),
                  "mass: " + std::to_string(A.rows()) + " x " + std::to_string(A.cols()) +
                      "; must be square of size " + std::to_string(s.velocities()));
    if (A.rows() == A.cols())
        faults.expect(is_symmetric(A), "mass: matrix is not symmetric; give both triangles");
    bool good = true;
    for (Eigen::Index j = 0; j < A.outerSize(); ++j)
        for (SparseMatrix::InnerIterator it(A, j); it; ++it)
            good = good && (it.row() == it.col() ? within(it.value()) : std::abs(it.value()) <= most);
    faults.expect(good,
                  "mass: a number is above 1e100, or one of the diagonal below 1e-100; use other units");
}

void check_mass(const ConeProblem& p, FaultList& faults) {
    Index first = 0;
    for (const Species& s : p.species) {
        faults.expect(s.dim >= 1 && s.dim <= max_block && s.count >= 0,
                      "species: " + std::to_string(s.count) + " bodies of " + std::to_string(s.dim) +
                          " velocities; must be 1 to " + std::to_string(max_block));
        if (const auto* block = std::get_if<BlockInverseMass>(&s.mass))
            check_blocks(s, *block, first, faults);
        if (const auto* rigid = std::get_if<RigidInverseMass>(&s.mass)) check_rigid(s, *rigid, first, faults);
        if (const auto* points = std::get_if<PointInverseMass>(&s.mass)) check_points(s, *points, faults);
        if (const auto* sparse = std::get_if<SparseMass>(&s.mass)) check_matrix(s, sparse->M, faults);
        if (const auto* sparse = std::get_if<SparseInverseMass>(&s.mass))
            check_matrix(s, sparse->inverse, faults);
        first += s.count;
    }
}

void check_tiling(const ConeProblem& p, std::span<const std::uint8_t> visited, FaultList& faults) {
    const Tiling& t = p.tiling;
    if (t.empty()) return;
    // Blocks that are visited elsewhere come after the last tile.
    const Index in_tiles = t.tile_start.back();
    std::vector<std::uint8_t> seen(p.blocks(), 0);
    bool permutation = static_cast<Index>(t.order.size()) == p.blocks() && in_tiles <= p.blocks();
    for (Index k = 0; permutation && k < p.blocks(); ++k) {
        const Index i = t.order[k];
        permutation = i >= 0 && i < p.blocks() && seen[i] == 0 &&
                      (visited.empty() || visited[i] != 0) == (k < in_tiles);
        if (permutation) seen[i] = 1;
    }
    permutation = permutation && t.colour_start.back() == t.tiles();
    faults.expect(
        permutation,
        "tiling: order must list every block once, and tiles and colours cover all that are visited");
    if (!permutation) return;
    std::vector<Index> owner(p.bodies(), -1);
    for (Index c = 0; c < t.colours(); ++c) {
        std::fill(owner.begin(), owner.end(), -1);
        for (Index tile = t.colour_start[c]; tile < t.colour_start[c + 1]; ++tile) {
            for (Index q = t.tile_start[tile]; q < t.tile_start[tile + 1]; ++q) {
                for_each_body(p, t.order[q], [&](Index body) {
                    if (!p.moves(body)) return;
                    if (owner[body] != -1 && owner[body] != tile)
                        faults.expect(false, "tiling: body " + std::to_string(body) +
                                                 " is in two tiles of colour " + std::to_string(c));
                    owner[body] = tile;
                });
            }
        }
    }
}

}  // namespace

std::vector<std::string> find_faults(const ConeProblem& p, std::span<const std::uint8_t> visited) {
    FaultList faults;
    faults.expect(p.f.size() == p.dofs(),
                  "f: " + std::to_string(p.f.size()) +
                      " numbers; velocities of all bodies = " + std::to_string(p.dofs()));
    faults.expect(p.w.size() == p.rows(),
                  "w: " + std::to_string(p.w.size()) + " numbers; rows of H = " + std::to_string(p.rows()));
    faults.expect(p.f.allFinite(), "f: holds a number that is not finite");
    faults.expect(p.w.allFinite(), "w: holds a number that is not finite");
    faults.expect(!p.f.allFinite() || bounded(p.f), "f: holds a number above 1e100; use other units");
    faults.expect(!p.w.allFinite() || bounded(p.w), "w: holds a number above 1e100; use other units");
    faults.expect(p.compliance.size() == 0 || p.compliance.size() == p.rows(),
                  "compliance: " + std::to_string(p.compliance.size()) +
                      " numbers; rows of H = " + std::to_string(p.rows()) + ", or none for rigid contacts");
    faults.expect(p.compliance.allFinite(), "compliance: holds a number that is not finite");
    faults.expect(!(p.compliance.array() < 0).any(), "compliance: holds a negative number; use 0 for rigid");
    faults.expect(!p.compliance.allFinite() || bounded(p.compliance),
                  "compliance: holds a number above 1e100; use other units");
    const auto expect_per_block = [&](const Vector& x, const std::string& name) {
        faults.expect(x.size() == 0 || x.size() == p.blocks(),
                      name + ": " + std::to_string(x.size()) +
                          " numbers; blocks = " + std::to_string(p.blocks()) + ", or none");
        faults.expect(x.allFinite() && bounded(x) && !(x.array() < 0).any(),
                      name + ": holds a number that is negative, not finite or above 1e100");
    };
    expect_per_block(p.shift_before, "shift");
    expect_per_block(p.pull, "pull");
    expect_per_block(p.w_rounding, "rounding of w");
    faults.expect(bounded(p.H.value), "H: holds a number that is not finite, or above 1e100");
    const auto n = static_cast<std::size_t>(p.blocks());
    const bool none = p.H.start.size() == 1 && p.H.value_start.size() == 1;
    const bool sizes = p.offset.size() == n + 1 &&
                       (none || (p.H.start.size() == n + 1 && p.H.value_start.size() == n + 1)) &&
                       p.H.start.back() == static_cast<Index>(p.H.body.size()) &&
                       p.H.value_start.back() == static_cast<std::int64_t>(p.H.value.size());
    faults.expect(
        sizes,
        "H: start, body, value_start and value do not fit the cones; build with add_block and add_entry");
    bool in_range = true;
    const Index bodies = p.bodies();
    for (Index body : p.H.body) in_range = in_range && body >= 0 && body < bodies;
    faults.expect(in_range, "H: a body number is outside 0.." + std::to_string(bodies - 1));
    for (Index i = 0; i < p.blocks(); ++i) {
        const Cone& cone = p.cones[i];
        bool good = cone.dim >= 1 && cone.dim <= max_block;
        for (int c = 0; c < 3; ++c) good = good && !std::isnan(cone.coefficient[c]);
        if (cone.kind == ConeKind::ray || cone.kind == ConeKind::interval) good = good && cone.dim == 1;
        if (cone.has_axis())
            good = good && cone.coefficient[0] >= 0 && cone.coefficient[1] >= 0 && cone.coefficient[2] >= 0;
        if (cone.kind == ConeKind::interval) good = good && cone.coefficient[0] <= cone.coefficient[1];
        faults.expect(good, "cone of block " + std::to_string(i) +
                                ": dimension or coefficient out of range; use Cone's factories");
        faults.expect(cone.dilatancy >= 0 && cone.dilatancy <= 1,
                      "cone of block " + std::to_string(i) + ": dilatancy " + std::to_string(cone.dilatancy) +
                          " is not from 0 to 1");
    }
    for (const Species& s : p.species)
        faults.expect(s.at_stake >= 0 && s.at_stake <= most,
                      "velocity at stake at bodies: negative, not finite or above 1e100");
    check_mass(p, faults);
    const bool rows_fit = check_contacts(p, faults) && check_tensors(p, faults);
    if (sizes && in_range && rows_fit) {
        for (Index i = 0; i < p.blocks() && !none; ++i) {
            std::int64_t numbers = 0;
            for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k)
                numbers += static_cast<std::int64_t>(p.cones[i].dim) * p.place_of(p.H.body[k]).dim;
            if (p.H.value_start[i + 1] - p.H.value_start[i] != numbers)
                faults.expect(false, "H: block " + std::to_string(i) + " holds " +
                                         std::to_string(p.H.value_start[i + 1] - p.H.value_start[i]) +
                                         " numbers; its bodies need " + std::to_string(numbers));
            for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
                for (Index l = p.H.start[i]; l < k; ++l) {
                    faults.expect(p.H.body[k] != p.H.body[l],
                                  "H: block " + std::to_string(i) + " names body " +
                                      std::to_string(p.H.body[k]) + " twice; add the matrices");
                }
            }
        }
        check_tiling(p, visited, faults);
    }
    return faults.take();
}

bool numbers_in_range(const ConeProblem& p, int threads) {
    struct All {
        bool good = true;
        void add(const All& other) { good = good && other.good; }
    };
    const auto each = [&](const auto& x, auto&& test) {
        return parallel_merge<All>(threads, static_cast<Index>(x.size()),
                                   [&](Index i, All& all) { all.good = all.good && test(x[i]); })
            .good;
    };
    const auto is_bounded = [](double x) { return std::abs(x) <= most; };  // not a number is not
    const auto is_mass = [](double x) { return x == 0 || (x >= least && x <= most); };
    bool good = each(p.f, is_bounded) && each(p.w, is_bounded) &&
                each(p.compliance, [](double x) { return x >= 0 && x <= most; });
    for (const Species& s : p.species) {
        if (const auto* rigid = std::get_if<RigidInverseMass>(&s.mass)) {
            good = good && each(rigid->mass, is_mass);
            const bool diagonal = rigid->moments() == 1;
            good = good && (diagonal ? each(rigid->inertia, is_mass) : each(rigid->inertia, is_bounded));
            if (!diagonal)
                for (Index k = 0; k < s.count; ++k)
                    for (const int c : {0, 2, 5})
                        good = good && is_mass(rigid->inertia[static_cast<std::size_t>(k) * 6 + c]);
        }
        if (const auto* points = std::get_if<PointInverseMass>(&s.mass))
            good = good && each(points->mass, is_mass);
        if (const auto* block = std::get_if<BlockInverseMass>(&s.mass))
            good = good && each(block->blocks, is_bounded);
    }
    return good;
}

}  // namespace drystone
