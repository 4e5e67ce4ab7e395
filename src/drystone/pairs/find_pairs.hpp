// Broad phase: pairs of bodies near enough to be looked at.
#pragma once

#include "drystone/bodies/scene.hpp"
#include "drystone/pairs/pair_grid.hpp"

#include <array>
#include <compare>
#include <span>

namespace drystone {

/// Two bodies near enough to be looked at. `image` says by how many periods the unwrapped position of b is moved to be
/// near the unwrapped position of a; so it stays true while either is wrapped around. It is the image of ContactKey.
template <int d>
struct Candidate {
    Index a, b;           ///< id of a < id of b, or a = b with an image
    std::uint32_t image;  ///< image_code; 0 without periods, and 0 with a half-space
    auto operator<=>(const Candidate&) const = default;
};

/// Ten bits per direction: periods modulo 1024, so that bodies may drift apart by any number of periods (a shear flow)
/// and the code stays small. Two images of one pair never share a code, since that would take a body longer than 1000
/// periods.
template <int d>
std::uint32_t image_code(const Image<d>& periods) {
    std::uint32_t code = 0;
    for (int k = 0; k < d; ++k) code |= (static_cast<std::uint32_t>(periods[k]) & 1023U) << (10 * k);
    return code;
}

/// The periods of a code, each from -512 to 511.
template <int d>
Image<d> periods_of(std::uint32_t code) {
    Image<d> periods;
    for (int k = 0; k < d; ++k)
        periods[k] = static_cast<std::int32_t>(((code >> (10 * k)) + 512U) & 1023U) - 512;
    return periods;
}

/// How many periods to add to the (wrapped) position of b to bring it near the (wrapped) position of a, from the code
/// of the pair and those of the images where the bodies are now. Not for half-spaces: theirs is always zero.
template <int d>
Image<d> periods_between(std::uint32_t pair, std::uint32_t image_a, std::uint32_t image_b) {
    Image<d> periods;
    for (int k = 0; k < d; ++k)  // each direction modulo 1024: what higher bits borrow or carry is masked off
        periods[k] =
            static_cast<std::int32_t>(
                ((pair >> (10 * k)) + (image_b >> (10 * k)) - (image_a >> (10 * k)) + 512U) & 1023U) -
            512;
    return periods;
}

/// Memory of a search, kept from one to the next so that a search of the same size allocates nothing.
template <int d>
struct PairWorkspace {
    /// A body, or an image of one, in a grid. `tag` holds the code of its periods and flags (find_pairs.cpp).
    struct Item {
        std::array<double, d> x;
        double radius;  ///< of its bounding ball, margin included
        Index body;
        std::uint32_t tag;
    };
    struct Slot {
        Index body;
        std::uint32_t tag;
    };
    std::vector<std::uint8_t> kind;        ///< by shape
    std::vector<std::uint8_t> size_class;  ///< by body
    std::vector<Image<d>> home;            ///< by body, with periods: image of the place inside the domain
    /// by body, relative to its centre and widened; only if some are not balls
    std::vector<Bounds<d>> bounds;
    std::vector<Slot> slots;  ///< items by class, in the order of bodies
    std::vector<KeyedSlot> keyed, keyed_other;
    std::vector<std::uint32_t> histogram;
    std::vector<std::size_t> slot_count;  ///< by block of bodies and class
    std::vector<std::uint64_t> keys;      ///< by item, sorted within a class
    std::vector<Item> items;
    std::vector<std::uint32_t> table;              ///< by leading digits of keys, class after class
    std::vector<std::vector<Candidate<d>>> found;  ///< by chunk
    std::vector<std::size_t> start;                ///< of the pairs of each body
};

/// Every pair, at least one of it free, whose bounding balls, widened by margin[a] and margin[b] (m, >= 0), overlap,
/// and whose boxes (`bounds` of the shapes), widened in the same way, overlap; sorted. A half-space overlaps what is
/// not wholly on its outer side, and counts once in a periodic domain. The order and the set depend neither on the
/// threads nor on anything but the scene and the margins. Throws Error on a body that is not at a finite place.
template <int d>
void find_pairs(const Scene<d>& scene, std::span<const double> margin, int threads,
                std::vector<Candidate<d>>& pairs);
template <int d>
void find_pairs(const Scene<d>& scene, std::span<const double> margin, int threads,
                std::vector<Candidate<d>>& pairs, PairWorkspace<d>& workspace);

}  // namespace drystone
