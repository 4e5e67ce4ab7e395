#include "solve/compliant_problems.hpp"

#include <Eigen/Dense>

#include <cmath>
#include <random>

namespace drystone::testing {

Vector random_compliance(const ConeProblem& rigid, unsigned seed, double least, double most, bool isotropic) {
    const Delassus W(rigid);
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> exponent(std::log(least), std::log(most));
    Vector C(rigid.rows());
    for (Index i = 0; i < rigid.blocks(); ++i) {
        for (int c = 0; c < rigid.cones[i].dim; ++c) {
            const double l = is_torque(rigid.cones[i], c) ? W.length(i) : 1.0;
            C[rigid.offset[i] + c] = W.inverse_mass(i) / (l * l) * std::exp(exponent(engine));
            if (isotropic && c > 1) C[rigid.offset[i] + c] = C[rigid.offset[i] + 1];
        }
    }
    return C;
}

ConeProblem with_private_bodies(const ConeProblem& p) {
    ConeProblem out;
    const int m = p.only().dim;
    out.only().dim = m;
    out.only().count = p.only().count + p.blocks();
    auto inverse = std::get<BlockInverseMass>(p.only().mass).blocks;
    inverse.resize(static_cast<std::size_t>(out.only().count) * m * m, 0.0);
    out.f = Vector::Zero(out.dofs());
    out.f.head(p.dofs()) = p.f;
    out.w = p.w;
    for (Index i = 0; i < p.blocks(); ++i) {
        const int d = p.cones[i].dim;
        const Index own = p.only().count + i;
        out.add_block(p.cones[i]);
        for (Index k = p.H.start[i]; k < p.H.start[i + 1]; ++k) {
            const double* rows = p.H.value.data() + p.H.value_start[i] + (k - p.H.start[i]) * d * m;
            out.add_entry(p.H.body[k], {rows, static_cast<std::size_t>(d * m)});
        }
        std::vector<double> unit(static_cast<std::size_t>(d * m), 0.0);
        for (int c = 0; c < d; ++c) {
            unit[c * m + c] = 1;
            inverse[(static_cast<std::size_t>(own) * m + c) * m + c] = p.compliance[p.offset[i] + c];
        }
        out.add_entry(own, unit);
    }
    out.only().mass = BlockInverseMass{inverse};
    return out;
}

ConeProblem random_spheres(int bodies, int contacts, unsigned seed, double mu) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    const auto vector3 = [&] { return Eigen::Vector3d(normal(engine), normal(engine), normal(engine)); };
    ConeProblem p;
    p.only().dim = 6;
    p.only().count = bodies + 1;
    p.f = Vector::Zero(p.dofs());
    std::vector<double> inverse(static_cast<std::size_t>(p.only().count) * 36, 0.0);
    for (int j = 0; j < bodies; ++j) {
        const double mass = 1 + std::abs(normal(engine));
        for (int c = 0; c < 6; ++c) inverse[36 * j + 7 * c] = c < 3 ? 1 / mass : 1 / (0.4 * mass);
        p.f.segment<3>(6 * j) = mass * vector3();
        p.f.segment<3>(6 * j + 3) = 0.4 * mass * vector3();
    }
    p.only().mass = BlockInverseMass{inverse};
    for (int k = 0; k < contacts; ++k) {
        Eigen::Matrix3d A;
        A << vector3(), vector3(), vector3();
        const Eigen::Matrix3d frame = Eigen::HouseholderQR<Eigen::Matrix3d>(A).householderQ();
        const Index a = k % bodies;
        Index b = std::uniform_int_distribution<Index>(0, bodies)(engine);
        if (b == a) b = bodies;
        p.add_block(Cone::second_order(3, mu));
        const auto rows_a = contact_rows(frame, -frame.col(0), 3, 1);
        const auto rows_b = contact_rows(frame, frame.col(0), 3, -1);
        p.add_entry(a, std::span(rows_a.data(), static_cast<std::size_t>(rows_a.size())));
        p.add_entry(b, std::span(rows_b.data(), static_cast<std::size_t>(rows_b.size())));
    }
    p.w = Vector::Zero(p.rows());
    return p;
}

ConeProblem random_planar(int bodies, int contacts, unsigned seed, const std::function<Cone(int)>& cone) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    ConeProblem p;
    p.only().dim = 3;
    p.only().count = bodies;
    p.f = Vector::Zero(p.dofs());
    std::vector<double> inverse(static_cast<std::size_t>(bodies) * 9, 0.0);
    for (int j = 0; j < bodies; ++j) {
        for (int c = 0; c < 3; ++c) {
            const double mass = 1 + std::abs(normal(engine));
            inverse[9 * j + 4 * c] = 1 / mass;
            p.f[3 * j + c] = mass * normal(engine);
        }
    }
    p.only().mass = BlockInverseMass{inverse};
    for (int k = 0; k < contacts; ++k) {
        const Cone c = cone(k);
        const double angle = 6.283185307179586 * std::uniform_real_distribution<double>()(engine);
        const Eigen::Vector2d n(std::cos(angle), std::sin(angle)), t(-n[1], n[0]);
        const auto add = [&](Index body, double sign) {
            const Eigen::Vector2d arm(normal(engine), normal(engine));
            Eigen::Matrix<double, 3, 3, Eigen::RowMajor> rows;
            rows << n[0], n[1], arm[0] * n[1] - arm[1] * n[0],  //
                t[0], t[1], arm[0] * t[1] - arm[1] * t[0],      //
                0, 0, 1;
            rows *= sign;
            p.add_entry(body, std::span(rows.data(), static_cast<std::size_t>(3 * c.dim)));
        };
        p.add_block(c);
        const Index a = k % bodies, b = std::uniform_int_distribution<Index>(0, bodies)(engine);
        add(a, 1);
        if (b != a && b != bodies) add(b, -1);
    }
    p.w = Vector::Zero(p.rows());
    return p;
}

Eigen::MatrixXd dense(const Delassus& W) {
    const ConeProblem& p = W.problem();
    const BlockSparse& A = W.matrix();
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(p.rows(), p.rows());
    for (Index i = 0; i < p.blocks(); ++i) {
        for (Index k = A.start[i]; k < A.start[i + 1]; ++k) {
            const Index j = A.column[k];
            using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
            out.block(p.offset[i], p.offset[j], p.cones[i].dim, p.cones[j].dim) =
                Eigen::Map<const Rows>(A.value.data() + A.value_start[k], p.cones[i].dim, p.cones[j].dim);
        }
    }
    return out;
}

}  // namespace drystone::testing
