#include "check_command.hpp"

#include "drystone/io/scene_file.hpp"
#include "run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace drystone::command {

namespace {

// What is warned of: possible, but seldom meant.
constexpr double large_body = 1000;       // m
constexpr double large_density = 30'000;  // kg/m^3: heavier than any matter on Earth
constexpr std::size_t most_listed = 5;    // of overlaps

void row(const char* what, const std::string& text) { say(fmt::format("{:<12}{}", what, text)); }

void warn(const std::string& text) { say("warning: " + text); }

std::string plural(std::size_t count, std::string_view noun) {
    const bool body = noun == "body";
    return fmt::format("{} {}", count,
                       count == 1 ? std::string(noun)
                       : body     ? std::string("bodies")
                                  : std::string(noun) + "s");
}

template <int d>
bool is_wall(const Scene<d>& scene, Index i) {
    return std::holds_alternative<HalfSpace<d>>(scene.shape_of(i));
}

template <class V>
std::string vector_text(const V& v) {
    std::string text = "(";
    for (Eigen::Index k = 0; k < v.size(); ++k) text += fmt::format("{}{:.6g}", k == 0 ? "" : ", ", v[k]);
    return text + ")";
}

/// Bodies by the name of their shape; variants of a random shape count together.
template <int d>
void tell_bodies(const RunPlan<d>& plan) {
    struct Kind {
        std::size_t free = 0, held = 0;
        double mass = 0, least = std::numeric_limits<double>::infinity(), most = 0;
    };
    const Scene<d>& scene = plan.scene;
    std::map<std::string, Kind> kinds;
    std::size_t walls = 0, moving_walls = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (is_wall(scene, i)) {
            ++walls;
            if (!scene.bodies.velocity[i].isZero(0)) ++moving_walls;
            continue;
        }
        const std::string& name = plan.names.shapes[scene.bodies.shape[i]];
        Kind& kind = kinds[name.substr(0, name.find('/'))];
        ++(scene.bodies.is_free(i) ? kind.free : kind.held);
        if (scene.bodies.is_free(i)) kind.mass += scene.bodies.mass[i];
        kind.least = std::min(kind.least, scene.outer_radius(i));
        kind.most = std::max(kind.most, scene.outer_radius(i));
    }
    std::size_t width = 0;
    for (const auto& [name, kind] : kinds) width = std::max(width, name.size());
    const char* label = "bodies";
    for (const auto& [name, kind] : kinds) {
        std::string radius = fmt::format("{:.4g}", kind.least);
        if (const std::string most = fmt::format("{:.4g}", kind.most); most != radius)
            radius += " to " + most;
        row(label, fmt::format("{:<{}}  {} free, {} held, {:.6g} kg free, outer radius {} m", name, width,
                               kind.free, kind.held, kind.mass, radius));
        label = "";
    }
    if (kinds.empty()) row("bodies", "none");
    row("walls", walls == 0
                     ? "none"
                     : fmt::format("{}{}", walls,
                                   moving_walls > 0 ? fmt::format(", {} of them moving", moving_walls) : ""));
}

template <int d>
void tell_materials(const Materials& materials) {
    const char* label = "materials";
    for (Index i = 0; i < materials.count(); ++i) {
        const PairLaw& law = materials.law(i, i);
        row(label, fmt::format("{}: {:.6g} kg/m^{}, friction {:.4g}, restitution {:.4g}, cohesion {:.4g} N",
                               materials[i].name, materials[i].density, d, law.friction, law.restitution,
                               law.cohesion));
        label = "";
    }
}

template <int d>
void tell_plan(const RunPlan<d>& plan) {
    const StepOptions& step = plan.options.step;
    const Domain<d>& domain = plan.scene.domain;
    row("title", plan.title);
    row("dimension", std::to_string(d));
    row("gravity", vector_text(plan.scene.gravity) + " m/s^2");
    if (domain.periodic())
        row("domain",
            fmt::format("from {} m, periods {} m", vector_text(domain.lower), vector_text(domain.period)));
    tell_bodies(plan);
    tell_materials<d>(plan.scene.materials);
    const std::string adapted =
        step.displacement > 0
            ? fmt::format(", shorter where a grain would move by {:.4g} radii", step.displacement)
            : "";
    row("time", fmt::format("to {:.6g} s in steps of {:.4g} s{} ({:.0f} steps)", plan.options.end, step.h,
                            adapted, std::ceil(plan.options.end / step.h - 1e-6)));
    row("scheme",
        fmt::format("{}, theta {:.4g}{}", step.scheme == Scheme::look_ahead ? "look-ahead" : "moreau-jean",
                    step.theta_or_default(),
                    step.scheme == Scheme::moreau_jean ? ""
                    : step.drift == Drift::clamp       ? ", drift clamp"
                                                       : ", drift push-out"));
    row("solver", fmt::format("{}, law {}, tolerance {:.1e}", plan.solver, name_of(step.solve.law),
                              step.solve.goal.tolerance));
}

/// Bytes of a run: bodies, and as many contacts as a dense packing has (6 per grain in space, 4 in the plane, each shared by two) or
/// as there are now, with their candidates, blocks and warm start.
template <int d>
double estimated_bytes(const Scene<d>& scene, std::size_t contacts_now) {
    constexpr double n = body_velocities<d>;
    const double body = 8 + 4 + 8 + 4 + 1 + 8 + sizeof(Spin<d>) + 3 * sizeof(Vec<d>) + sizeof(Image<d>) +
                        2 * sizeof(Rotation<d>) + 2 * sizeof(Spin<d>) + 8 * (n * n + 6 * n);
    const double contact =
        sizeof(Contact<d>) + 3 * sizeof(Candidate<d>) + 8 * (2 * d * n) * 2 + 8 * (8 * d + d * d) + 64;
    const double contacts =
        std::max(static_cast<double>(contacts_now), (d == 3 ? 3.0 : 2.0) * scene.bodies.count());
    return body * scene.bodies.count() + contact * contacts;
}

template <int d>
double smaller_radius(const Scene<d>& scene, const Contact<d>& c) {
    return std::min(scene.inner_radius(c.a), scene.inner_radius(c.b));
}

/// One line per pair, deepest first. Returns how many contacts were found.
template <int d>
std::size_t tell_overlaps(const RunPlan<d>& plan) {
    const Scene<d>& scene = plan.scene;
    const std::vector<double> reach(static_cast<std::size_t>(scene.bodies.count()), 0.0);
    Neighbours<d> neighbours;
    ContactSet<d> contacts;
    detect(scene, std::span<const double>(reach), plan.options.step.detect, neighbours, contacts);

    std::map<std::pair<Index, Index>, const Contact<d>*> deepest;  // of each pair
    for (const Contact<d>& c : contacts) {
        // Rounding makes overlaps of what was meant to touch.
        if (-c.gap <= 1e-9 * smaller_radius(scene, c)) continue;
        const Contact<d>*& known = deepest[{c.a, c.b}];
        if (known == nullptr || c.gap < known->gap) known = &c;
    }
    std::vector<const Contact<d>*> pairs;
    for (const auto& [pair, contact] : deepest) pairs.push_back(contact);
    std::stable_sort(pairs.begin(), pairs.end(), [](auto* x, auto* y) { return x->gap < y->gap; });
    if (pairs.empty()) {
        row("overlaps", "none");
        return contacts.size();
    }
    row("overlaps",
        fmt::format("{}, the deepest {:.4g} m", plural(pairs.size(), "pair"), -pairs.front()->gap));
    for (std::size_t i = 0; i < std::min(pairs.size(), most_listed); ++i) {
        const Contact<d>& c = *pairs[i];
        row("", fmt::format("{} and {}: {:.4g} m, {:.3g} radii", name_of_body(plan, c.a),
                            name_of_body(plan, c.b), -c.gap, -c.gap / smaller_radius(scene, c)));
    }
    if (pairs.size() > most_listed) row("", fmt::format("and {} more", pairs.size() - most_listed));
    std::size_t inside = 0;
    for (const Contact<d>* c : pairs) {
        if (-c->gap < smaller_radius(scene, *c)) continue;
        if (inside++ == 0)
            warn(fmt::format("{} and {} overlap by more than a radius: is one inside the other?",
                             name_of_body(plan, c->a), name_of_body(plan, c->b)));
    }
    if (inside > 1) warn(fmt::format("and {} like these", plural(inside - 1, "pair")));
    return contacts.size();
}

/// Warns once of each kind, with the first body and how many there are.
template <int d>
class BodyWarnings {
public:
    explicit BodyWarnings(const RunPlan<d>& plan) : plan_(plan) {}
    void count(Index body) {
        if (bodies_++ == 0) first_ = body;
    }
    void tell(const std::string& what) const {
        if (bodies_ == 0) return;
        const std::string others =
            bodies_ == 1 ? "" : fmt::format(" (and {} more)", plural(bodies_ - 1, "body"));
        warn(fmt::format("{}{}: {}", name_of_body(plan_, first_), others, what));
    }

private:
    const RunPlan<d>& plan_;
    std::size_t bodies_ = 0;
    Index first_ = 0;
};

template <int d>
void tell_warnings(const RunPlan<d>& plan) {
    const Scene<d>& scene = plan.scene;
    const double h = plan.options.step.h, fall = scene.gravity.norm() * h * h;
    BodyWarnings<d> large(plan), falling(plan);
    bool any_free = false, any_motion = !scene.gravity.isZero(0);
    std::set<Index> used;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        any_motion = any_motion || !scene.bodies.velocity[i].isZero(0) || !scene.bodies.spin[i].isZero(0);
        if (is_wall(scene, i)) continue;
        if (scene.outer_radius(i) > large_body) large.count(i);
        if (!scene.bodies.is_free(i)) continue;
        any_free = true;
        used.insert(scene.bodies.material[i]);
        if (fall > scene.inner_radius(i)) falling.count(i);
    }
    large.tell(fmt::format("larger than {} m; lengths are in m", large_body));
    falling.tell(fmt::format(
        "gravity alone moves it by {:.3g} m in one step, more than its radius; shorten time.step", fall));
    for (const Index material : used) {
        if (scene.materials[material].density > large_density)
            warn(fmt::format("material \"{}\": density {:.6g} kg/m^{}; is it in g or in kg?",
                             scene.materials[material].name, scene.materials[material].density, d));
    }
    if (!any_free) warn("no body is free to move");
    if (!any_motion) warn("there is no gravity and no velocity: nothing will move");
}

template <int d>
int check(const RunPlan<d>& plan) {
    tell_plan(plan);
    const std::size_t contacts = tell_overlaps(plan);
    row("memory", fmt::format("about {:.3g} MB", estimated_bytes(plan.scene, contacts) / 1e6));
    tell_warnings(plan);
    return exit_solved;
}

}  // namespace

int check_command(const CheckOptions& options) {
    const AnyPlan plan = read_scene(options.scene);
    return std::visit([](const auto& any) { return check(any); }, plan);
}

}  // namespace drystone::command
