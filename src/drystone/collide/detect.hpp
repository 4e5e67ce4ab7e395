// Broad phase and narrow phase together: all contacts of a scene, sorted by key.
#pragma once

#include "drystone/bodies/scene.hpp"
#include "drystone/collide/contact.hpp"
#include "drystone/pairs/find_pairs.hpp"

#include <span>

namespace drystone {

/// Periods between the bodies of a contact (find_pairs.hpp): its b is at position_b + domain.translation(this), and
/// moves with the image there.
template <int d>
Image<d> periods_between(const Scene<d>& scene, const Contact<d>& c) {
    if (!scene.domain.periodic() || std::holds_alternative<HalfSpace<d>>(scene.shape_of(c.a)) ||
        std::holds_alternative<HalfSpace<d>>(scene.shape_of(c.b)))
        return Image<d>::Zero();
    const Bodies<d>& bodies = scene.bodies;
    return periods_between<d>(c.key.image, image_code<d>(bodies.image[c.a]),
                              image_code<d>(bodies.image[c.b]));
}

/// Memory of a detection, kept from one to the next so that a detection of the same size allocates nothing.
template <int d>
struct DetectWorkspace {
    /// What is asked of a body for each of its candidates, in one line of the cache.
    struct alignas(64) Row {
        Vec<d> x;       ///< inside the domain
        double radius;  ///< of the bounding ball
        double reach;
        GlobalId id;
        std::uint32_t image;  ///< code of where the body is
        std::int32_t extra;   ///< in planes or boxes; -1: in neither
        Index shape;
        std::uint8_t kind;  ///< detect.cpp
    };
    struct Plane {
        Vec<d> normal, point;
    };
    struct Box {
        Index body;
        Bounds<d> bounds;
    };
    PairWorkspace<d> pairs;
    std::vector<Plane> planes;
    std::vector<Box> boxes;  ///< of bodies that fill little of their bounding ball
    std::vector<double> margin;
    std::vector<ContactSet<d>> contacts;         ///< by chunk
    std::vector<std::vector<Touch<d>>> touches;  ///< by chunk
};

/// Candidates that are kept while nothing has moved far, and what is needed to know that.
template <int d>
struct Neighbours {
    std::vector<Candidate<d>> pairs;  ///< sorted by ids, then by image
    // At the time of the search:
    Domain<d> domain;
    std::vector<Vec<d>> position;
    std::vector<Image<d>> image;        ///< with periods only
    std::vector<Rotation<d>> rotation;  ///< empty where there are only balls and half-spaces
    std::vector<Vec<d>> normal;         ///< of half-spaces, in their order
    std::vector<double> reach;          ///< that the search allowed for, per body
    std::int64_t searches = 0;          ///< so far
    bool valid = false;                 ///< set false when bodies are added, removed or resized
    DetectWorkspace<d> workspace;
};

struct DetectOptions {
    /// Extra distance of the search, in inner radii of each body: larger makes searches rarer and candidates more.
    double skin = 0.1;
    int threads = 1;  ///< 0: as many as the machine offers
    std::pmr::memory_resource* memory = std::pmr::get_default_resource();  ///< for what is needed on the way
};

/// All contacts with gap <= reach[a] + reach[b] (m, one number >= 0 per body) of pairs of which at least one body is
/// free. `neighbours` is searched anew when a body has moved, turned or lengthened its reach by more than its skin; the
/// answer does not depend on when that was, nor on the threads.
template <int d>
void detect(const Scene<d>& scene, std::span<const double> reach, const DetectOptions& options,
            Neighbours<d>& neighbours, ContactSet<d>& contacts);

/// True if `neighbours` need not be searched anew.
template <int d>
bool neighbours_hold(const Scene<d>& scene, std::span<const double> reach, const DetectOptions& options,
                     Neighbours<d>& neighbours);

}  // namespace drystone
