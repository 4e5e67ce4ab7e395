#include "solve/sample_problems.hpp"

#include <Eigen/Dense>

#include <array>
#include <cmath>
#include <random>

namespace drystone::testing {

Goal goal_of(double tolerance) {
    Goal goal;
    goal.tolerance = tolerance;
    return goal;
}

SolveSettings settings_of(const SolverOptions& solver, Law law, double tolerance) {
    SolveSettings s;
    s.solver = solver;
    s.law = law;
    s.goal.tolerance = tolerance;
    s.goal.time_limit = 20;
    return s;
}

ConeProblem explicit_problem(const Eigen::MatrixXd& W, const Vector& b, const std::vector<Cone>& cones) {
    ConeProblem p;
    p.only().dim = 1;
    p.only().count = static_cast<Index>(b.size());
    p.only().mass = SparseInverseMass{W.sparseView()};
    p.f = Vector::Zero(b.size());
    p.w = b;
    Index row = 0;
    for (const Cone& cone : cones) {
        p.add_block(cone);
        for (int c = 0; c < cone.dim; ++c, ++row) {
            std::array<double, max_block> column{};
            column[c] = 1;
            p.add_entry(row, std::span(column).first(cone.dim));
        }
    }
    return p;
}

Vector vector_of(std::initializer_list<double> values) {
    Vector v(static_cast<Eigen::Index>(values.size()));
    std::copy(values.begin(), values.end(), v.data());
    return v;
}

std::vector<Reference> references() {
    Eigen::MatrixXd W(3, 3);
    W << 2, .3, -.2, .3, 1.5, .1, -.2, .1, 1;
    const auto one = [&](Vector b, double mu) { return explicit_problem(W, b, {Cone::second_order(3, mu)}); };
    Eigen::MatrixXd two(6, 6);
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) two(i, j) = (i == j ? 2.0 : 0.0) + 1.0 / (1 + i + j);
    }
    return {
        {one(vector_of({-1, .8, -.4}), .3),
         vector_of({0.52852678400592, -0.13724628124819, 0.079398418186952}),
         vector_of({0.66742380835791, -0.17202017015618, 0.10246935959644})},
        {one(vector_of({-1, .2, -.1}), .6),
         vector_of({0.55996409617847, -0.25047592241897, 0.22392707815626}),
         vector_of({0.56590258792128, -0.25282977531741, 0.2266397378191})},
        {one(vector_of({-2, -.5, 1.5}), 1),
         vector_of({0.88882571980181, 0.15805537554412, -0.87465973866573}),
         {}},
        {one(vector_of({.5, 2, 0}), .5), vector_of({0, 0, 0}),
         vector_of({0.24161753653256, -0.12075439631862, 0.0036241219269805})},
        {explicit_problem(two, vector_of({-1, .6, -.3, -1, .9, -.3}),
                          {Cone::second_order(3, .3), Cone::second_order(3, .3)}),
         vector_of({0.31703077849476, -0.093381503201502, 0.018046084505989, 0.44307834925539,
                    -0.12980098215037, 0.028641982384225}),
         vector_of({0.37644374461824, -0.11165008590429, 0.016974942567268, 0.53872020322832,
                    -0.15842441428447, 0.03196022718311})},
    };
}

Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor> contact_rows(const Eigen::Matrix3d& frame,
                                                                       const Eigen::Vector3d& arm, int dim,
                                                                       double sign) {
    Eigen::Matrix<double, 6, 6, Eigen::RowMajor> rows = Eigen::Matrix<double, 6, 6>::Zero();
    for (int a = 0; a < 3; ++a) {
        const Eigen::Vector3d axis = frame.col(a);
        rows.block<1, 3>(a, 0) = axis.transpose();
        rows.block<1, 3>(a, 3) = arm.cross(axis).transpose();
        rows.block<1, 3>(3 + a, 3) = axis.transpose();
    }
    return sign * rows.topRows(dim);
}

ConeProblem random_bodies(const RandomOptions& o, const std::function<Cone(int)>& cone) {
    std::mt19937 engine(o.seed);
    std::normal_distribution<double> normal;
    const auto vector3 = [&] { return Eigen::Vector3d(normal(engine), normal(engine), normal(engine)); };
    ConeProblem p;
    p.only().dim = 6;
    p.only().count = o.bodies + 1;
    p.f = Vector::Zero(p.dofs());
    BlockInverseMass mass;
    for (int j = 0; j <= o.bodies; ++j) {
        Eigen::Matrix<double, 6, 6, Eigen::RowMajor> M = Eigen::Matrix<double, 6, 6>::Zero();
        M.block<3, 3>(0, 0) = o.scale * (1 + std::abs(normal(engine))) * Eigen::Matrix3d::Identity();
        Eigen::Matrix3d A;
        A << vector3(), vector3(), vector3();
        M.block<3, 3>(3, 3) = o.scale * (0.2 * A * A.transpose() + 0.3 * Eigen::Matrix3d::Identity());
        Eigen::Matrix<double, 6, 1> v;
        v << vector3(), vector3();
        const Eigen::Matrix<double, 6, 6, Eigen::RowMajor> inverse =
            j < o.bodies ? Eigen::Matrix<double, 6, 6>(M.inverse()) : Eigen::Matrix<double, 6, 6>::Zero();
        const Eigen::Matrix<double, 6, 6, Eigen::RowMajor> symmetric = 0.5 * (inverse + inverse.transpose());
        mass.blocks.insert(mass.blocks.end(), symmetric.data(), symmetric.data() + 36);
        if (j < o.bodies) p.f.segment<6>(6 * j) = o.speed * (M * v);
    }
    p.only().mass = mass;
    for (int k = 0; k < o.contacts; ++k) {
        const Cone c = cone(k);
        Eigen::Matrix3d A;
        A << vector3(), vector3(), vector3();
        const Eigen::Matrix3d frame = Eigen::HouseholderQR<Eigen::Matrix3d>(A).householderQ();
        const Index a = k % o.bodies;
        Index b = std::uniform_int_distribution<Index>(0, o.bodies)(engine);
        if (b == a) b = o.bodies;
        p.add_block(c);
        const auto rows_a = contact_rows(frame, vector3(), c.dim, 1);
        const auto rows_b = contact_rows(frame, vector3(), c.dim, -1);
        p.add_entry(a, std::span(rows_a.data(), static_cast<std::size_t>(rows_a.size())));
        p.add_entry(b, std::span(rows_b.data(), static_cast<std::size_t>(rows_b.size())));
    }
    p.w = Vector::Zero(p.rows());
    return p;
}

Cone cone_of_every_kind(int k) {
    switch (k % 7) {
        case 0:
            return Cone::free(3);
        case 1:
            return Cone::wrench(6, 0.5, 0.2, 0.1);
        case 2:
            return Cone::second_order(3, infinity);
        case 3:
            return Cone::second_order(3, 0.0);
        case 4:
            return Cone::truncated(3, 0.2, 0.3);
        case 5:
            return Cone::interval(-0.2, 0.1);
        default:
            return Cone::second_order(3, 0.6);
    }
}

ConeProblem unit_body() {
    ConeProblem p;
    p.only().dim = 6;
    p.only().count = 1;
    std::vector<double> inverse(36, 0.0);
    for (int a = 0; a < 6; ++a) inverse[7 * a] = 1;
    p.only().mass = BlockInverseMass{inverse};
    p.f = Vector::Zero(6);
    return p;
}

ConeProblem squeezed_body(double speed, double mu) {
    ConeProblem p = unit_body();
    p.f[0] = 0.1;
    for (double side : {1.0, -1.0}) {
        Eigen::Matrix3d frame;
        frame << 0, 1, 0, 0, 0, 1, side, 0, 0;  // columns: normal, two tangents
        p.add_block(Cone::second_order(3, mu));
        const auto rows = contact_rows(frame, Eigen::Vector3d(0, 0, -side), 3, 1);
        p.add_entry(0, std::span(rows.data(), static_cast<std::size_t>(rows.size())));
    }
    p.w = Vector::Zero(6);
    p.w[0] = p.w[3] = -speed;
    return p;
}

}  // namespace drystone::testing
