// A scene in rows: what files are written and tables measured from. On one rank the scene itself; several ranks send
// each other theirs (Share::slice).
//
// Files want bodies in the order of ids, rank after rank, contacts and remembered impulses in that of keys. Rows are
// then the same, one after the other, for any number of ranks.
#pragma once

#include "drystone/grains/memory.hpp"

namespace drystone {

/// The rows of this rank among those of all.
struct Rows {
    std::int64_t first = 0, total = 0;
};

/// A contact with all that is drawn of it: its bodies may be on another rank, and their local indices mean nothing.
template <int d>
struct PlacedContact {
    Contact<d> contact;
    std::int64_t row_a = 0, row_b = 0;  ///< of its bodies, among all
    Vec<d> x_a, x_b;                    ///< their centres now, m
    bool free_a = true, free_b = true;
    Vec<d> impulse;  ///< on a, N s
};

/// Of a scene that has contact.a and contact.b: their rows are their indices here.
template <int d>
PlacedContact<d> placed(const Scene<d>& scene, const Contact<d>& contact, const Vec<d>& impulse) {
    const Bodies<d>& bodies = scene.bodies;
    const Index a = contact.a, b = contact.b;
    return {contact,           a,      b, bodies.position[a], bodies.position[b], bodies.is_free(a),
            bodies.is_free(b), impulse};
}

template <int d>
struct SlicedContact : PlacedContact<d> {
    Cone cone;
    std::array<double, max_block> r{};  ///< impulses of its block
    double pull = 0;
};

template <int d>
struct Slices {
    Bodies<d> bodies;  ///< in the order of ids
    Rows body_rows;
    std::vector<double> largest_impulse;     ///< by body: norm of the largest on it, N s
    std::vector<SlicedContact<d>> contacts;  ///< in the order of keys
    WarmStart<d> warm;  ///< in the order of keys; torques for all or, on all ranks, for none
    Rows warm_rows;
};

struct SliceOptions {
    bool warm = false, contacts = false;
    bool to_first = false;  ///< all to rank 0
};

/// On rank 0, of slices that were all sent there: the memory of a step, as far as measurements look at it.
template <int d>
StepMemory<d> memory_of(const Slices<d>& slices);

}  // namespace drystone
