// Checks the penalty reference against itself and against the limit of stiff springs, and prints what it found. Ends
// with 1 if a check fails.
//
//     penalty_checks sample            closed forms, and pyramids of 5 along the base: seconds
//     penalty_checks pyramid [ALONG]   without friction, Hooke, Hertz and two materials; 20 along the base: minutes
//     penalty_checks friction [ALONG]  mu = 0.3 and 0.5, springs that remember: minutes for 20
//
// Columns: stiffness against the scene's; steps; seconds; unbalanced force; weight lost between spheres and base;
// asymmetry of the base forces; difference of the base forces (Euclidean norm) and of the worst contact from the limit;
// contacts that bear load, slipped while it grew, and are on their cones in the end.
#include "drystone/base/error.hpp"
#include "penalty_limit.hpp"
#include "penalty_scenes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>

namespace {

using namespace drystone;
using namespace drystone::validation;

int failed = 0;

/// Where only the rest counts and not the way there.
const PenaltyOptions whole{.slider = Slider::proportional};

void expect(bool holds, const std::string& what) {
    if (holds) return;
    ++failed;
    fmt::print("FAILED: {}\n", what);
}

void expect_near(double value, double expected, double tolerance, const std::string& what) {
    expect(std::abs(value - expected) <= tolerance,
           fmt::format("{}: {:.12g}, not {:.12g}", what, value, expected));
}

Vec<3> force_of(const PenaltyContact& c) { return c.normal_force * c.normal + c.tangential_force; }

/// Of the forces on fixed bodies, as Olsen and Kamrin's table 1.
double base_difference(const PenaltyScene& scene, const PenaltyResult& a, const PenaltyResult& b) {
    double square = 0, of = 0;
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        if (!scene.bodies[i].fixed) continue;
        square += (a.force[i] - b.force[i]).squaredNorm();
        of += b.force[i].squaredNorm();
    }
    return of > 0 ? std::sqrt(square / of) : 0;
}

/// Both list the same pairs, as all near pairs of these scenes touch.
double contact_difference(const PenaltyResult& a, const PenaltyResult& b) {
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < a.contacts.size(); ++i) {
        worst = std::max(worst, (force_of(a.contacts[i]) - force_of(b.contacts[i])).norm());
        largest = std::max(largest, force_of(b.contacts[i]).norm());
    }
    return worst / largest;
}

void print_row(const std::string& name, double scale, const PenaltyScene& scene, const PenaltyResult& r,
               double asymmetric, const PenaltyResult* limit) {
    int bearing = 0;
    for (const PenaltyContact& c : r.contacts) bearing += c.normal_force > 0 ? 1 : 0;
    fmt::print("{:<34} {:>5g} {:>7} {:>6.1f} {:>8.1e} {:>8.1e} {:>8.1e}", name, scale, r.steps, r.seconds,
               r.residual, std::abs(lost_weight(scene, r)), asymmetric);
    if (limit != nullptr)
        fmt::print(" {:>10.3e} {:>10.3e}", base_difference(scene, r, *limit), contact_difference(r, *limit));
    else
        fmt::print(" {:>10} {:>10}", "-", "-");
    fmt::print(" {:>6} {:>6} {:>6}\n", bearing, r.slipped, r.sliding);
    std::fflush(stdout);
}

/// k, 10 k, 100 k: the differences from the limit fall as 1/k (Hooke) or k^(-2/3) (Hertz), as overlaps do.
void check_order(const std::string& name, const PenaltyScene& scene, const PenaltyResult& limit,
                 const PenaltyOptions& given, const Pyramid* pyramid) {
    expect(limit.at_rest, name + ": the limit was not found");
    const double fall = scene.law == SpringLaw::hooke ? 10 : std::pow(10, 2.0 / 3);
    double before = 0;
    PenaltyOptions options = given;
    for (const double scale : {1.0, 10.0, 100.0}) {
        options.scale = scale;
        const PenaltyResult r = relax(scene, options);
        const double asymmetric = pyramid != nullptr ? asymmetry(*pyramid, r) : 0;
        print_row(name, scale, scene, r, asymmetric, &limit);
        expect(r.at_rest, name + ": not at rest");
        expect(std::abs(lost_weight(scene, r)) < 1e-10, name + ": weight is lost");
        if (pyramid != nullptr && !pyramid->two_materials)
            expect(asymmetric < 1e-8, name + ": not symmetric");
        const double now = contact_difference(r, limit);
        if (before > 0)
            expect_near(before / now, fall, 0.03 * fall, name + ": how differences from the limit fall");
        before = now;
    }
}

void closed_forms() {
    for (const double middle : {1.0, 3.0}) {
        const PenaltyResult r = relax(make_beam(middle), {});
        const double outer = 10 / (2 + middle);
        expect(r.at_rest, "beam: not at rest");
        for (const int i : {0, 1, 2})
            expect_near(r.contacts[i].normal_force, i == 1 ? middle * outer : outer, 1e-11, "beam");
        fmt::print("beam, middle {:g} times stiffer: {:.12f} {:.12f} {:.12f} N\n", middle,
                   r.contacts[0].normal_force, r.contacts[1].normal_force, r.contacts[2].normal_force);
    }
    // Both slopes stretch alike. Stuck: f_T = ratio f_N; that is less than mu f_N, or else it slides.
    for (const double mu : {0.5, 1.0}) {
        const PenaltyScene scene = make_groove(1, mu);
        const PenaltyResult r = relax(scene, whole);
        const double expected = 1 / (std::numbers::sqrt2 * (1 + std::min(mu, scene.ratio)));
        for (const PenaltyContact& c : r.contacts) {
            expect_near(c.normal_force, expected, 1e-11, "ball in a groove");
            expect(c.slipped == (mu < scene.ratio), "ball in a groove: slips where it should not, or not");
        }
        fmt::print("ball in a groove, mu {:g}: {:.12f} N, closed form {:.12f}\n", mu,
                   r.contacts[0].normal_force, expected);
    }
}

void small_scenes() {
    const PenaltyScene block = make_block(2, 0.5), groove = make_groove(3, 0.5);
    const PenaltyResult limit = stiff_limit(block);
    expect(limit.sliding == 0, "block: slips");
    check_order("block, mu 0.5, pushed by 2 N", block, limit, {}, nullptr);
    check_order("3 balls in a groove, mu 0.5", groove, stiff_limit(groove), whole, nullptr);
}

std::string name_of(const Pyramid& p) {
    return fmt::format("{} along, {}{}{}", p.along, p.law == SpringLaw::hooke ? "Hooke" : "Hertz",
                       p.two_materials ? ", two materials" : "",
                       p.friction > 0 ? fmt::format(", mu {:g}", p.friction) : "");
}

void frictionless(int along) {
    for (const Pyramid& p : {Pyramid{.along = along}, Pyramid{.along = along, .law = SpringLaw::hertz},
                             Pyramid{.along = along, .two_materials = true}}) {
        const PenaltyScene scene = make_pyramid(p);
        const PenaltyResult limit = stiff_limit(scene);
        fmt::print("{}: limit in {} steps, {:.1f} s, unbalanced {:.1e}, asymmetric {:.1e}\n", name_of(p),
                   limit.steps, limit.seconds, limit.residual, asymmetry(p, limit));
        check_order(name_of(p), scene, limit, {.ramp_steps = 5000}, &p);
    }
}

/// With friction, small enough for the limit: springs of the whole stretch converge to it with k, and those that
/// remember come near, the nearer the slower the load grows.
void frictional_limit(int along) {
    for (const double mu : {0.3, 0.5})
        for (const SpringLaw law : {SpringLaw::hooke, SpringLaw::hertz}) {
            const Pyramid p{.along = along, .law = law, .friction = mu};
            const PenaltyScene scene = make_pyramid(p);
            PenaltyOptions stiff = whole;
            stiff.scale = 1000;
            const PenaltyResult near = relax(scene, stiff);
            const PenaltyResult limit = stiff_limit(scene, {}, &near, 1000);
            check_order(name_of(p) + ", whole", scene, limit, whole, &p);
            double before = 0;
            for (const long long steps : {20'000LL, 80'000LL}) {
                const PenaltyResult r = relax(scene, {.ramp_steps = steps});
                print_row(name_of(p) + fmt::format(", {}k steps", steps / 1000), 1, scene, r, asymmetry(p, r),
                          &limit);
                expect(r.at_rest && std::abs(lost_weight(scene, r)) < 1e-10, name_of(p) + ": not at rest");
                const double now = contact_difference(r, limit);
                expect(now < 1e-3, name_of(p) + ": memory leads far from the limit");
                if (before > 0)
                    expect(now < 0.5 * before, name_of(p) + ": a slower load does not lead nearer");
                before = now;
            }
        }
}

/// Forces of k and 10 k against those of 100 k, all with memory.
void frictional(int along) {
    for (const double mu : {0.3, 0.5}) {
        const Pyramid p{.along = along, .friction = mu};
        const PenaltyScene scene = make_pyramid(p);
        const PenaltyResult stiff = relax(scene, {.scale = 100});
        print_row(name_of(p), 100, scene, stiff, asymmetry(p, stiff), nullptr);
        for (const double scale : {1.0, 10.0}) {
            const PenaltyResult r = relax(scene, {.scale = scale});
            print_row(name_of(p) + ", against 100", scale, scene, r, asymmetry(p, r), &stiff);
            expect(r.at_rest && std::abs(lost_weight(scene, r)) < 1e-10, name_of(p) + ": not at rest");
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    const int along = argc > 2 ? std::atoi(argv[2]) : 20;
    if (what != "sample" && what != "pyramid" && what != "friction") {
        std::fprintf(stderr, "usage: penalty_checks sample | pyramid [ALONG] | friction [ALONG]\n");
        return 2;
    }
    try {
        if (what == "sample") closed_forms();
        fmt::print("{:<34} {:>5} {:>7} {:>6} {:>8} {:>8} {:>8} {:>10} {:>10} {:>6} {:>6} {:>6}\n", "", "k",
                   "steps", "s", "balance", "weight", "asymm.", "base", "contacts", "bear", "slip", "slide");
        if (what == "sample") {
            small_scenes();
            frictionless(5);
            frictional_limit(5);
        }
        if (what == "pyramid") frictionless(along);
        if (what == "friction") frictional(along);
    } catch (const Error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    }
    fmt::print("{} checks failed\n", failed);
    return failed == 0 ? 0 : 1;
}
