#include "flow.hpp"

#include "drystone/base/error.hpp"
#include "drystone/cone/tensor_row.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

namespace drystone::validation {

namespace {

using Entries = std::vector<Eigen::Triplet<double>>;

std::vector<Index> number_columns(const FlowSetup& setup, Index& free) {
    const TriangleMesh& mesh = *setup.mesh;
    std::vector<Index> column(2 * mesh.node.size(), 0);
    for (const BoundaryEdge& edge : mesh.boundary) {
        const std::array<bool, 2> held = setup.held(edge.side);
        for (const Index node : {edge.begin, edge.middle, edge.end})
            for (int c = 0; c < 2; ++c)
                if (held[c]) column[2 * node + c] = -1;
    }
    free = 0;
    for (Index& k : column)
        if (k == 0) k = free++;
    return column;
}

/// Forces of the outside on all velocities, held ones too.
Numbers loads_of(const FlowSetup& setup) {
    const TriangleMesh& mesh = *setup.mesh;
    Numbers load = Numbers::Zero(2 * mesh.nodes());
    for (Index t = 0; t < mesh.triangles(); ++t) {
        for (const QuadraturePoint& q : fine_points()) {
            const std::array<double, 6> value = shape_values(q.at);
            const Vec<2> force = q.weight * mesh.area(t) * setup.force(mesh.point(t, q.at));
            for (int k = 0; k < 6; ++k) load.segment<2>(2 * mesh.triangle[t][k]) += value[k] * force;
        }
    }
    if (!setup.traction) return load;
    // Three points on an edge, exact to degree 5.
    const double far = std::sqrt(0.6);
    for (const BoundaryEdge& edge : mesh.boundary) {
        const Vec<2> a = mesh.node[edge.begin], b = mesh.node[edge.end];
        for (const double z : {-far, 0.0, far}) {
            const double weight = z == 0 ? 4.0 / 9 : 5.0 / 18;
            const Vec<2> x = 0.5 * ((1 - z) * a + (1 + z) * b);
            const Vec<2> force = weight * (b - a).norm() * setup.traction(edge.side, x);
            load.segment<2>(2 * edge.begin) += 0.5 * z * (z - 1) * force;
            load.segment<2>(2 * edge.middle) += (1 - z * z) * force;
            load.segment<2>(2 * edge.end) += 0.5 * z * (z + 1) * force;
        }
    }
    return load;
}

void project_all(const std::vector<Cone>& cones, Numbers& r) {
    for (std::size_t q = 0; q < cones.size(); ++q) project(cones[q], std::span(r.data() + 3 * q, 3));
}

/// s of each point at the rates u.
void shifts_of(const std::vector<Cone>& cones, const Numbers& u, Numbers& s) {
    for (std::size_t q = 0; q < cones.size(); ++q)
        s[static_cast<Index>(q)] = shift(cones[q], std::span(u.data() + 3 * q, 3));
}

void add_shifts(const Numbers& s, Numbers& u) {
    for (Index q = 0; q < s.size(); ++q) u[3 * q] += s[q];
}

/// u = W r + b without the shift, and v of which it is H v.
class Rates {
public:
    explicit Rates(const FlowProblem& problem) : problem_(problem) {}
    void operator()(const Numbers& r, Numbers& u) {
        v_ = problem_.load;
        v_.noalias() += problem_.H_transposed * r;
        problem_.factor.solve(v_);
        u.noalias() = problem_.H * v_;
    }
    [[nodiscard]] const Numbers& velocity() const { return v_; }

private:
    const FlowProblem& problem_;
    Numbers v_;
};

/// |r - P(r - u)|, u with its shift in it.
double natural_map(const std::vector<Cone>& cones, const Numbers& r, const Numbers& u) {
    Numbers x = r - u;
    project_all(cones, x);
    return (r - x).norm();
}

/// Accelerated spectral projected gradient on min 1/2 r.W r + (b + s n).r over the cones, until its natural map falls
/// to `goal`. r: start and answer. Returns the number of iterations.
int minimise(const FlowProblem& problem, const Numbers& s, double goal, int max_iterations, Rates& rates,
             Numbers& r, Numbers& u) {
    const std::vector<Cone>& cones = problem.cones;
    project_all(cones, r);
    Numbers hat = r, hat_new, r_new, u_new, best = r;
    rates(r, u);
    add_shifts(s, u);
    double step = 1, theta = 1, smallest = infinity;
    int iteration = 0;
    for (;; ++iteration) {
        if (iteration % 5 == 0) {
            const double error = natural_map(cones, r, u);
            if (error < smallest) {
                smallest = error;
                best = r;
            }
            if (error <= goal || iteration >= max_iterations) break;
        }
        hat_new = r - step * u;
        project_all(cones, hat_new);
        r_new = hat_new;
        if ((hat_new - hat).dot(u) < 0) {
            const double square = theta * theta;
            const double next = 0.5 * (theta * std::sqrt(square + 4) - square);
            r_new += theta * (1 - theta) / (square + next) * (hat_new - hat);
            theta = next;
        } else {
            theta = 1;
        }
        u_new.resize(u.size());
        rates(r_new, u_new);
        add_shifts(s, u_new);
        const double curvature = (r_new - r).dot(u_new - u), square = (u_new - u).squaredNorm();
        if (square > 0 && curvature > 0) step = std::clamp(curvature / square, 1e-6, 1e6);
        r.swap(r_new);
        u.swap(u_new);
        hat.swap(hat_new);
    }
    r = best;
    return iteration;
}

}  // namespace

FlowProblem assemble(const FlowSetup& setup) {
    const TriangleMesh& mesh = *setup.mesh;
    const Index points = 3 * mesh.triangles();
    FlowProblem p;
    p.mesh = &mesh;
    Index free = 0;
    p.column = number_columns(setup, free);
    p.strain_scale.resize(points);
    p.stress_scale.resize(points);
    Entries entries;
    for (Index t = 0; t < mesh.triangles(); ++t) {
        for (int g = 0; g < 3; ++g) {
            const Index q = 3 * t + g;
            const QuadraturePoint& point = gauss_points()[g];
            const double area = point.weight * mesh.area(t), eta = setup.viscosity[q];
            const double c = p.strain_scale[q] = 2 * std::sqrt(area * eta);
            const double scale = p.stress_scale[q] = 2 * area / c;
            const std::array<Vec<2>, 6> gradient = shape_gradients(mesh, t, point.at);
            for (int k = 0; k < 6; ++k) {
                const auto rows = strain_rows<2>(gradient[k]);
                for (int axis = 0; axis < 2; ++axis) {
                    const Index column = p.column[2 * mesh.triangle[t][k] + axis];
                    if (column < 0) continue;
                    for (int row = 0; row < 3; ++row)
                        entries.emplace_back(3 * q + row, column, c * rows(row, axis));
                }
            }
            const Material& m = setup.material;
            Cone cone = m.yield > 0 ? Cone::truncated(3, m.mu, scale * m.yield) : Cone::second_order(3, m.mu);
            cone.dilatancy = m.dilatancy;
            p.cones.push_back(cone);
        }
    }
    p.H.resize(3 * points, free);
    p.H.setFromTriplets(entries.begin(), entries.end());
    p.H_transposed = p.H.transpose();
    p.A = p.H_transposed * p.H;
    if (!p.factor.factorise(p.A))
        fail("dense flow", "the stiffness is singular", "hold the material somewhere");
    const Numbers load = loads_of(setup);
    p.load.resize(free);
    for (std::size_t k = 0; k < p.column.size(); ++k)
        if (p.column[k] >= 0) p.load[p.column[k]] = load[static_cast<Index>(k)];
    return p;
}

void solve(const FlowProblem& problem, const FlowOptions& options, Flow& flow) {
    const Index points = problem.points();
    const std::vector<Cone>& cones = problem.cones;
    Rates rates(problem);
    const bool warm = flow.stress.size() == 3 * points;
    Numbers r = Numbers::Zero(3 * points);
    if (warm) r = problem.scaled(flow.stress);
    Numbers u(3 * points), with_shift, s(points), frozen;
    rates(Numbers::Zero(3 * points), u);
    const double at_stake = std::max(u.norm(), 1e-300);
    const bool shifted =
        std::any_of(cones.begin(), cones.end(), [](const Cone& c) { return c.mu() > 0 && c.dilatancy < 1; });
    flow.passes = flow.iterations = 0;
    flow.solved = false;
    const auto look = [&] {
        rates(r, u);
        shifts_of(cones, u, s);
        with_shift = u;
        add_shifts(s, with_shift);
        flow.residual = natural_map(cones, r, with_shift) / at_stake;
        flow.solved = flow.residual <= options.tolerance;
    };
    look();
    // Cold, the first pass is the associated law: in a closed box that is where the flow without any motion is found.
    frozen = Numbers::Zero(points);
    if (warm) frozen = s;
    while (!flow.solved && flow.passes < options.max_passes && flow.iterations < options.max_iterations) {
        if (flow.passes > 0) frozen += options.relaxation * (s - frozen);
        const double enough = 0.5 * options.tolerance;
        const double goal = shifted ? std::clamp(options.pass_fraction * flow.residual, enough, 0.1) : enough;
        flow.iterations += minimise(problem, frozen, goal * at_stake,
                                    options.max_iterations - flow.iterations, rates, r, with_shift);
        ++flow.passes;
        look();
    }
    flow.velocity = Numbers::Zero(static_cast<Index>(problem.column.size()));
    for (std::size_t k = 0; k < problem.column.size(); ++k)
        if (problem.column[k] >= 0)
            flow.velocity[static_cast<Index>(k)] = rates.velocity()[problem.column[k]];
    flow.strain.resize(3 * points);
    flow.stress.resize(3 * points);
    for (Index q = 0; q < points; ++q) {
        flow.strain.segment<3>(3 * q) = u.segment<3>(3 * q) / problem.strain_scale[q];
        flow.stress.segment<3>(3 * q) = r.segment<3>(3 * q) / problem.stress_scale[q];
    }
}

Numbers FlowProblem::scaled(const Numbers& stress) const {
    Numbers r(stress.size());
    for (Index q = 0; q < points(); ++q) r.segment<3>(3 * q) = stress_scale[q] * stress.segment<3>(3 * q);
    return r;
}

ConeProblem as_cone_problem(const FlowProblem& problem) {
    ConeProblem cone;
    Species velocities{1, static_cast<Index>(problem.A.rows()), SparseMass{problem.A}};
    cone.species.push_back(std::move(velocities));
    cone.f = problem.load;
    for (Index q = 0; q < problem.points(); ++q) {
        cone.add_block(problem.cones[q]);
        // Its entries: the columns that any of the three rows has.
        std::vector<std::pair<Index, Vec<3>>> columns;
        for (int row = 0; row < 3; ++row) {
            for (SparseMatrix::InnerIterator at(problem.H_transposed, 3 * q + row); at; ++at) {
                const auto body = static_cast<Index>(at.row());
                auto known = std::find_if(columns.begin(), columns.end(),
                                          [&](const auto& entry) { return entry.first == body; });
                if (known == columns.end()) known = columns.insert(columns.end(), {body, Vec<3>::Zero()});
                known->second[row] = at.value();
            }
        }
        for (const auto& [body, rows] : columns) cone.add_entry(body, std::span(rows.data(), 3));
    }
    cone.w = Vector(cone.rows());
    cone.w.setZero();
    return cone;
}

Eigen::MatrixXd dense_delassus(const FlowProblem& problem) {
    Eigen::MatrixXd X = problem.H_transposed.toDense();
    problem.factor.solve(X);
    return problem.H * X;
}

Vec<3> stress_at(const Flow& flow, Index triangle, const Vec<3>& at) {
    // Barycentric coordinates of the points are 2/3 and 1/6: the linear function that is 1 at one and 0 at the others.
    Vec<3> stress = Vec<3>::Zero();
    for (int g = 0; g < 3; ++g)
        stress += (2 * at[g] - 1.0 / 3) * flow.stress.segment<3>(9 * triangle + 3 * g);
    return stress;
}

Vec<2> velocity_at(const TriangleMesh& mesh, const Flow& flow, Index triangle, const Vec<3>& at) {
    const std::array<double, 6> value = shape_values(at);
    Vec<2> v = Vec<2>::Zero();
    for (int k = 0; k < 6; ++k) v += value[k] * flow.velocity.segment<2>(2 * mesh.triangle[triangle][k]);
    return v;
}

Mat<2> velocity_gradient_at(const TriangleMesh& mesh, const Flow& flow, Index triangle, const Vec<3>& at) {
    const std::array<Vec<2>, 6> gradient = shape_gradients(mesh, triangle, at);
    Mat<2> L = Mat<2>::Zero();
    for (int k = 0; k < 6; ++k)
        L += flow.velocity.segment<2>(2 * mesh.triangle[triangle][k]) * gradient[k].transpose();
    return L;
}

double mean_outflow(const TriangleMesh& mesh, const Flow& flow, Side side) {
    double volume = 0, length = 0;
    for (const BoundaryEdge& edge : mesh.boundary) {
        if (edge.side != side) continue;
        const Vec<2> along = mesh.node[edge.end] - mesh.node[edge.begin];
        const Vec<2> outwards(along[1], -along[0]);
        const auto speed = [&](Index node) { return outwards.dot(flow.velocity.segment<2>(2 * node)); };
        volume += (speed(edge.begin) + 4 * speed(edge.middle) + speed(edge.end)) / 6;
        length += along.norm();
    }
    return volume / length;
}

SideForce force_on(const FlowSetup& setup, const Flow& flow, Side side) {
    const TriangleMesh& mesh = *setup.mesh;
    std::vector<char> on_side(mesh.node.size(), 0);
    SideForce force;
    for (const BoundaryEdge& edge : mesh.boundary) {
        if (edge.side != side) continue;
        for (const Index node : {edge.begin, edge.middle, edge.end}) on_side[node] = 1;
        const Vec<2> along = mesh.node[edge.end] - mesh.node[edge.begin];
        // lambda is linear along the edge: its middle counts.
        Vec<3> at = Vec<3>::Zero();
        for (int k = 0; k < 3; ++k)
            if (mesh.triangle[edge.triangle][k] == edge.begin || mesh.triangle[edge.triangle][k] == edge.end)
                at[k] = 0.5;
        const Vec<3> x = stress_at(flow, edge.triangle, at);
        Mat<2> lambda;
        lambda << x[0] + x[1], x[2], x[2], x[0] - x[1];
        force.of_stress += lambda * Vec<2>(along[1], -along[0]);
    }
    // Load less the work of the stress with a unit velocity of these nodes.
    const Numbers load = loads_of(setup);
    for (Index node = 0; node < mesh.nodes(); ++node)
        if (on_side[node] != 0) force.whole += load.segment<2>(2 * node);
    for (Index t = 0; t < mesh.triangles(); ++t) {
        for (int g = 0; g < 3; ++g) {
            const Index q = 3 * t + g;
            const QuadraturePoint& point = gauss_points()[g];
            const std::array<Vec<2>, 6> gradient = shape_gradients(mesh, t, point.at);
            const Vec<3> total =
                2 * setup.viscosity[q] * flow.strain.segment<3>(3 * q) - flow.stress.segment<3>(3 * q);
            for (int k = 0; k < 6; ++k)
                if (on_side[mesh.triangle[t][k]] != 0)
                    force.whole -=
                        2 * point.weight * mesh.area(t) * strain_rows<2>(gradient[k]).transpose() * total;
        }
    }
    return force;
}

void write_vtk(const TriangleMesh& mesh, const Flow& flow, const char* file) {
    std::FILE* out = std::fopen(file, "w");
    if (out == nullptr)
        fail("dense flow", std::string("cannot write ") + file, "name a folder that is there");
    const Index corners = 3 * mesh.triangles();
    std::fprintf(
        out, "# vtk DataFile Version 3.0\ndense flow\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %ld double\n",
        static_cast<long>(corners));
    const auto each_corner = [&](auto&& print) {
        for (Index t = 0; t < mesh.triangles(); ++t)
            for (int k = 0; k < 3; ++k) print(t, k);
    };
    each_corner([&](Index t, int k) {
        const Vec<2> x = mesh.node[mesh.triangle[t][k]];
        std::fprintf(out, "%.9g %.9g 0\n", x[0], x[1]);
    });
    std::fprintf(out, "CELLS %ld %ld\n", static_cast<long>(mesh.triangles()),
                 static_cast<long>(4 * mesh.triangles()));
    for (long t = 0; t < mesh.triangles(); ++t)
        std::fprintf(out, "3 %ld %ld %ld\n", 3 * t, 3 * t + 1, 3 * t + 2);
    std::fprintf(out, "CELL_TYPES %ld\n", static_cast<long>(mesh.triangles()));
    for (Index t = 0; t < mesh.triangles(); ++t) std::fprintf(out, "5\n");
    std::fprintf(out, "POINT_DATA %ld\nVECTORS velocity double\n", static_cast<long>(corners));
    each_corner([&](Index t, int k) {
        const Vec<2> v = flow.velocity.segment<2>(2 * mesh.triangle[t][k]);
        std::fprintf(out, "%.9g %.9g 0\n", v[0], v[1]);
    });
    const auto scalars = [&](const char* name, auto&& value) {
        std::fprintf(out, "SCALARS %s double 1\nLOOKUP_TABLE default\n", name);
        each_corner([&](Index t, int k) { std::fprintf(out, "%.9g\n", value(t, k)); });
    };
    scalars("pressure", [&](Index t, int k) { return stress_at(flow, t, Vec<3>::Unit(k))[0]; });
    scalars("shear_stress",
            [&](Index t, int k) { return stress_at(flow, t, Vec<3>::Unit(k)).tail<2>().norm(); });
    scalars("shear_rate", [&](Index t, int k) {
        const Mat<2> L = velocity_gradient_at(mesh, flow, t, Vec<3>::Unit(k));
        Tensor<2> rate;
        tensor_of(L, rate.data());
        return rate.tail<2>().norm();
    });
    std::fclose(out);
}

}  // namespace drystone::validation
