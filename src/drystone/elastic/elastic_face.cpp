#include "drystone/elastic/elastic_face.hpp"

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

double radius(const ConeGroup& g, double normal) {
    return std::isinf(g.mu) ? infinity : g.offset + g.mu * normal;
}

double norm(const double* x, const ConeGroup& g) {
    double sum = 0;
    for (int c = g.start; c < g.start + g.size; ++c) sum += x[c] * x[c];
    return std::sqrt(sum);
}

ElasticFace interval_face(const Cone& cone, const FaceData& data) {
    ElasticFace face;
    face.kind = ConeKind::interval;
    face.normal = true;
    face.e[0] = 1;
    face.bounds = {cone.coefficient[0], cone.coefficient[1]};
    const double u = data.u[0], bound = u > 0 ? face.bounds[0] : face.bounds[1];
    // u > 0 holds the value at its lower bound, u < 0 at its upper one.
    if (std::abs(u) > data.tolerance && std::abs(u) > data.stiffness * std::abs(data.r[0] - bound)) {
        face.normal = false;
        face.fixed[0] = bound;
    }
    return face;
}

}  // namespace

ElasticFace face_of(const Cone& cone, const FaceData& data, Law law) {
    if (cone.kind == ConeKind::interval) return interval_face(cone, data);
    ElasticFace face;
    face.kind = cone.kind;
    face.dim = cone.dim;
    if (cone.kind == ConeKind::free) return face;
    const ConeGroups groups = groups_of(cone);
    face.e[0] = 1;
    std::array<double, 3> speed{};
    double opening = data.u[0];
    for (int j = 0; j < groups.count; ++j) {
        const ConeGroup& g = groups.group[j];
        speed[j] = norm(data.u, g);
        if (!std::isinf(g.mu)) opening -= cone.dilatancy_by(law) * g.mu * speed[j];
    }
    face.normal = !(opening > data.tolerance && opening > data.stiffness * data.r[0]);
    for (int j = 0; j < groups.count; ++j) {
        ConeGroup g = groups.group[j];
        if (!face.normal) g.mu = 0;
        if (g.mu == 0 && g.offset == 0) continue;
        const double length = is_torque(cone, g.start) ? data.length : 1.0;
        bool slides = !std::isinf(g.mu) && speed[j] * length > data.tolerance;
        if (slides) {
            const double full = g.offset + g.mu * std::max(0.0, data.r[0]);
            double distance = 0;
            for (int c = g.start; c < g.start + g.size; ++c) {
                const double missing = data.r[c] + full * data.u[c] / speed[j];
                distance += missing * missing;
            }
            slides = speed[j] * length > data.stiffness * std::sqrt(distance) / length;
        }
        if (slides) {
            for (int c = g.start; c < g.start + g.size; ++c) {
                face.e[c] = -g.mu * data.u[c] / speed[j];
                face.fixed[c] = -g.offset * data.u[c] / speed[j];
            }
        } else {
            face.group[face.count++].disc = g;
        }
    }
    return face;
}

ElasticFace given_face(const Cone& cone, const double* r) {
    ElasticFace face;
    face.kind = ConeKind::ray;  // which may have fixed parts, and no normal force beside them
    face.dim = cone.dim;
    face.compliance = 0;
    std::copy_n(r, cone.dim, face.fixed.begin());
    return face;
}

void set_compliance(ElasticFace& face, const double* compliance) {
    std::copy_n(compliance, face.dim, face.row.begin());
    face.compliance = face.preload = 0;
    for (int c = 0; c < face.dim; ++c) {
        face.compliance += face.e[c] * face.row[c] * face.e[c];
        face.preload += face.e[c] * face.row[c] * face.fixed[c];
    }
    for (int j = 0; j < face.count; ++j) face.group[j].compliance = face.row[face.group[j].disc.start];
}

void place_on_face(const ElasticFace& face, const double* r, double* f) {
    if (face.kind == ConeKind::free) {
        std::copy_n(r, face.dim, f);
        return;
    }
    std::copy_n(face.fixed.begin(), face.dim, f);
    if (face.kind == ConeKind::interval) {
        if (face.normal) f[0] = std::clamp(r[0], face.bounds[0], face.bounds[1]);
        return;
    }
    const double y = face.normal ? std::max(0.0, r[0]) : 0.0;
    for (int c = 0; c < face.dim; ++c) f[c] += y * face.e[c];
    for (int j = 0; j < face.count; ++j) {
        const ConeGroup& g = face.group[j].disc;
        const double length = norm(r, g), most = radius(g, y), scale = length > most ? most / length : 1.0;
        for (int c = g.start; c < g.start + g.size; ++c) f[c] = scale * r[c];
    }
}

namespace {

void respond_rows(const ElasticFace& face, const double* x, double* f, double* D) {
    const int d = face.dim;
    for (int c = 0; c < d; ++c) {
        f[c] = -x[c] / face.row[c];
        double stiffness = 1 / face.row[c];
        if (face.kind == ConeKind::interval) {
            const double inside = std::clamp(f[c], face.bounds[0], face.bounds[1]);
            if (!face.normal || inside != f[c]) stiffness = 0;
            f[c] = face.normal ? inside : face.fixed[c];
        }
        if (D != nullptr) D[c * d + c] = stiffness;
    }
}

}  // namespace

void respond(const ElasticFace& face, const double* x, double shift, double* f, double* D) {
    const int d = face.dim;
    if (D != nullptr) std::fill_n(D, d * d, 0.0);
    if (!face.has_axis()) {
        respond_rows(face, x, f, D);
        return;
    }
    // Minimise over y = f_N: C_e/2 (y - y_0)^2 + sum_j C_j/2 max(0, |t_j| - radius_j(y))^2 with y_0 and t_j the springs
    // left to themselves. As in `project`: Newton from the left on the increasing, piecewise linear derivative is
    // monotone and ends after at most one step per group.
    double pull = face.preload + shift;
    for (int c = 0; c < d; ++c) pull += face.e[c] * x[c];
    std::array<double, 3> length{};
    for (int j = 0; j < face.count; ++j) length[j] = norm(x, face.group[j].disc) / face.group[j].compliance;
    double y = face.normal ? std::max(0.0, -pull / face.compliance) : 0.0, denominator = face.compliance;
    bool pressed = face.normal && pull <= 0;
    if (face.normal) {
        for (int pass = 0; pass <= face.count; ++pass) {
            double numerator = -pull;
            denominator = face.compliance;
            for (int j = 0; j < face.count; ++j) {
                const auto& [g, compliance] = face.group[j];
                if (length[j] > radius(g, y)) {
                    numerator += compliance * g.mu * (length[j] - g.offset);
                    denominator += compliance * g.mu * g.mu;
                }
            }
            pressed = numerator >= 0;
            const double next = std::max(y, numerator / denominator);
            if (next == y) break;
            y = next;
        }
    }
    std::array<double, max_block> normal = face.e;  // df / dy
    for (int c = 0; c < d; ++c) f[c] = face.fixed[c] + y * face.e[c];
    for (int j = 0; j < face.count; ++j) {
        const auto& [g, compliance] = face.group[j];
        const double most = radius(g, y);
        const bool slips = length[j] > most;
        const double stiffness = slips ? most / (length[j] * compliance) : 1 / compliance;
        for (int a = g.start; a < g.start + g.size; ++a) f[a] = -stiffness * x[a];
        if (D == nullptr) continue;
        for (int a = g.start; a < g.start + g.size; ++a) D[a * d + a] += stiffness;
        if (!slips) continue;
        for (int a = g.start; a < g.start + g.size; ++a) {
            const double direction_a = x[a] / (length[j] * compliance);
            normal[a] = -g.mu * direction_a;
            for (int b = g.start; b < g.start + g.size; ++b)
                D[a * d + b] -= stiffness * direction_a * x[b] / (length[j] * compliance);
        }
    }
    if (D == nullptr || !pressed) return;
    for (int a = 0; a < d; ++a) {
        for (int b = 0; b < d; ++b) D[a * d + b] += normal[a] * normal[b] / denominator;
    }
}

void add_damping(const ElasticFace& face, const double* x, double weight, double* g) {
    if (!face.has_axis()) {
        if (face.kind == ConeKind::interval && !face.normal) return;
        for (int c = 0; c < face.dim; ++c) g[c] -= weight * x[c] / face.row[c];
        return;
    }
    if (face.normal) {
        double along = 0;
        for (int c = 0; c < face.dim; ++c) along += face.e[c] * x[c];
        for (int c = 0; c < face.dim; ++c) g[c] -= weight * along / face.compliance * face.e[c];
    }
    for (int j = 0; j < face.count; ++j) {
        const auto& [disc, compliance] = face.group[j];
        for (int c = disc.start; c < disc.start + disc.size; ++c) g[c] -= weight / compliance * x[c];
    }
}

void add_damping_stiffness(const ElasticFace& face, double weight, double* D) {
    const int d = face.dim;
    if (!face.has_axis()) {
        if (face.kind == ConeKind::interval && !face.normal) return;
        for (int c = 0; c < d; ++c) D[c * d + c] += weight / face.row[c];
        return;
    }
    if (face.normal) {
        for (int a = 0; a < d; ++a) {
            for (int b = 0; b < d; ++b) D[a * d + b] += weight / face.compliance * face.e[a] * face.e[b];
        }
    }
    for (int j = 0; j < face.count; ++j) {
        const auto& [disc, compliance] = face.group[j];
        for (int c = disc.start; c < disc.start + disc.size; ++c) D[c * d + c] += weight / compliance;
    }
}

double slip_shift(const ElasticFace& face, const double* x, const double* f) {
    if (!face.has_axis() || !face.normal) return 0;
    std::array<double, max_block> slip{};
    for (int c = 0; c < face.dim; ++c) slip[c] = x[c] + face.row[c] * f[c];
    double shift = 0;
    // A group that slides at the velocities known already: its slip may have either sign, and mu_j t_j = -e_j.
    for (int c = 1; c < face.dim; ++c) shift -= face.e[c] * slip[c];
    for (int j = 0; j < face.count; ++j) {
        const ConeGroup& g = face.group[j].disc;
        if (!std::isinf(g.mu)) shift += g.mu * norm(slip.data(), g);
    }
    return shift;
}

}  // namespace drystone
