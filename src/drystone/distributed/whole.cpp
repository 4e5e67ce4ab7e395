#include "drystone/distributed/whole.hpp"

#include <algorithm>

namespace drystone {

namespace {

struct BlockHead {
    ContactKey key;
    std::uint64_t cell;    ///< of its tile
    std::uint32_t colour;  ///< likewise
    Index place;           ///< in its tile
    Cone cone;
    std::int32_t entries;
};

void put(Writer& writer, const double* numbers, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) writer.put(numbers[k]);
}

std::vector<double> take(Reader& reader, std::size_t count) {
    std::vector<double> numbers(count);
    reader.copy(numbers.data(), count * sizeof(double));
    return numbers;
}

struct WholeBody {
    GlobalId id;
    std::vector<double> f;
    double mass;
    std::vector<double> inertia;
};

template <int d>
struct WholeBlock {
    BlockHead head;
    GlobalId a, b;  ///< of the contact's rows, or -1
    ContactRow<d> row;
    std::vector<GlobalId> bodies;  ///< of the general rows
    std::vector<double> H, w, compliance, r;
    double shift_before, pull;
};

/// Six numbers of inertia where there are one or six.
std::vector<double> six_of(const RigidInverseMass& mass, Index j) {
    if (mass.moments() == 1) return {mass.inertia[j], 0, mass.inertia[j], 0, 0, mass.inertia[j]};
    const double* I = mass.inertia.data() + static_cast<std::ptrdiff_t>(j) * 6;
    return {I, I + 6};
}

}  // namespace

template <int d>
WholeProblem gather_whole(const Scene<d>& scene, const ContactSet<d>& contacts, const ConeProblem& problem,
                          const Held<d>& held, const Part<d>& part, const Vector& r) {
    constexpr int m = body_velocities<d>;
    const auto& mass = std::get<RigidInverseMass>(problem.only().mass);
    ScratchArray<TilePlace<d>> place_of(contacts.size());
    for (const TilePlace<d>& place : held.places) place_of[place.contact] = place;
    std::vector<Index> in_tile(contacts.size(), 0);
    for (Index t = 0; t < problem.tiling.tiles(); ++t)
        for (Index q = problem.tiling.tile_start[t]; q < problem.tiling.tile_start[t + 1]; ++q)
            in_tile[problem.tiling.order[q]] = q - problem.tiling.tile_start[t];

    Writer bodies, blocks;
    for (Index j = 0; j < problem.bodies(); ++j) {
        if (part.own[j] == 0) continue;
        bodies.put(scene.bodies.id[j]);
        put(bodies, problem.f.data() + static_cast<std::ptrdiff_t>(j) * m, m);
        bodies.put(mass.mass[j]);
        put(bodies, six_of(mass, j).data(), 6);
    }
    for (Index i = 0; i < problem.blocks(); ++i) {
        if (held.ours[i] == 0) continue;
        const Index from = problem.offset[i];
        const int rows = problem.cones[i].dim;
        const Index first = problem.H.first(i), last = problem.H.last(i);
        const ContactRow<d>& row = contacts_of<d>(problem.contacts)[i];
        const auto id_of = [&](Index body) { return body < 0 ? GlobalId{-1} : scene.bodies.id[body]; };
        blocks.put(BlockHead{contacts[i].key, place_of[i].cell, place_of[i].colour, in_tile[i],
                             problem.cones[i], last - first});
        blocks.put(id_of(row.a));
        blocks.put(id_of(row.b));
        for (const Vec<d>& x : {row.normal, row.arm_a, row.arm_b}) put(blocks, x.data(), d);
        for (Index k = first; k < last; ++k) blocks.put(id_of(problem.H.body[k]));
        put(blocks, problem.H.values(i), static_cast<std::size_t>(last - first) * rows * m);
        put(blocks, problem.w.data() + from, rows);
        const Vector none = Vector::Zero(rows);
        put(blocks, problem.compliance.size() > 0 ? problem.compliance.data() + from : none.data(), rows);
        put(blocks, r.data() + from, rows);
        blocks.put(problem.shift_before.size() > 0 ? problem.shift_before[i] : 0.0);
        blocks.put(problem.pull.size() > 0 ? problem.pull[i] : 0.0);
    }
    const bool compliant = part.team->any(problem.compliance.size() > 0);
    const bool shifted = part.team->any(problem.shift_before.size() > 0);
    const bool cohesive = part.team->any(problem.pull.size() > 0);

    std::vector<WholeBody> all_bodies;
    const std::vector<std::byte> body_bytes = part.team->gather_all(bodies.bytes);
    for (Reader reader(body_bytes); !reader.done();) {
        const auto id = reader.take<GlobalId>();
        std::vector<double> f = take(reader, m);
        const auto inverse = reader.take<double>();
        all_bodies.push_back({id, std::move(f), inverse, take(reader, 6)});
    }
    std::sort(all_bodies.begin(), all_bodies.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    std::vector<WholeBlock<d>> all_blocks;
    const std::vector<std::byte> block_bytes = part.team->gather_all(blocks.bytes);
    for (Reader reader(block_bytes); !reader.done();) {
        WholeBlock<d>& block = all_blocks.emplace_back();
        block.head = reader.take<BlockHead>();
        const auto rows = static_cast<std::size_t>(block.head.cone.dim);
        block.a = reader.take<GlobalId>();
        block.b = reader.take<GlobalId>();
        for (Vec<d>* x : {&block.row.normal, &block.row.arm_a, &block.row.arm_b})
            reader.copy(x->data(), d * sizeof(double));
        for (int k = 0; k < block.head.entries; ++k) block.bodies.push_back(reader.take<GlobalId>());
        block.H = take(reader, block.bodies.size() * rows * m);
        block.w = take(reader, rows);
        block.compliance = take(reader, rows);
        block.r = take(reader, rows);
        block.shift_before = reader.take<double>();
        block.pull = reader.take<double>();
    }
    std::sort(all_blocks.begin(), all_blocks.end(),
              [](const auto& a, const auto& b) { return a.head.key < b.head.key; });

    WholeProblem whole;
    ConeProblem& p = whole.problem;
    p.only().dim = m;
    p.only().count = static_cast<Index>(all_bodies.size());
    p.f.resize(p.dofs());
    RigidInverseMass inverse;
    const std::size_t moments = part.team->any(mass.moments() == 6) ? 6 : 1;
    for (Index j = 0; j < p.bodies(); ++j) {
        const WholeBody& body = all_bodies[j];
        std::copy(body.f.begin(), body.f.end(), p.f.data() + static_cast<std::ptrdiff_t>(j) * m);
        inverse.mass.push_back(body.mass);
        for (std::size_t k = 0; k < moments; ++k) inverse.inertia.push_back(body.inertia[k]);
    }
    p.only().mass = std::move(inverse);
    std::vector<double> w, compliance, impulses, shift, pull;
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    const auto number_of = [&](GlobalId id) {
        if (id < 0) return Index{-1};
        const auto body = std::lower_bound(all_bodies.begin(), all_bodies.end(), id,
                                           [](const WholeBody& a, GlobalId b) { return a.id < b; });
        return static_cast<Index>(body - all_bodies.begin());
    };
    for (const WholeBlock<d>& block : all_blocks) {
        p.add_block(block.head.cone);
        ContactRow<d> row = block.row;
        row.a = number_of(block.a);
        row.b = number_of(block.b);
        contacts_of<d>(p.contacts).push_back(row);
        const std::size_t size = static_cast<std::size_t>(block.head.cone.dim) * m;
        for (std::size_t k = 0; k < block.bodies.size(); ++k)
            p.add_entry(number_of(block.bodies[k]), std::span(block.H).subspan(k * size, size));
        append(w, block.w);
        append(compliance, block.compliance);
        append(impulses, block.r);
        shift.push_back(block.shift_before);
        pull.push_back(block.pull);
    }
    const auto vector_of = [](const std::vector<double>& x) {
        return Vector(Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
    };
    p.w = vector_of(w);
    whole.r = vector_of(impulses);
    if (compliant) p.compliance = vector_of(compliance);
    if (shifted) p.shift_before = vector_of(shift);
    if (cohesive) p.pull = vector_of(pull);

    p.tiling.order.resize(all_blocks.size());
    for (std::size_t i = 0; i < all_blocks.size(); ++i) p.tiling.order[i] = static_cast<Index>(i);
    const auto tile_of = [&](Index i) {
        return std::pair(all_blocks[i].head.colour, all_blocks[i].head.cell);
    };
    std::sort(p.tiling.order.begin(), p.tiling.order.end(), [&](Index a, Index b) {
        return std::pair(tile_of(a), all_blocks[a].head.place) <
               std::pair(tile_of(b), all_blocks[b].head.place);
    });
    for (Index q = 0; q < p.blocks(); ++q) {
        const bool ends = q + 1 == p.blocks();
        const Index i = p.tiling.order[q], next = ends ? i : p.tiling.order[q + 1];
        if (ends || tile_of(i) != tile_of(next)) p.tiling.tile_start.push_back(q + 1);
        if (ends || tile_of(i).first != tile_of(next).first)
            p.tiling.colour_start.push_back(p.tiling.tiles());
    }

    for (const Contact<d>& contact : contacts) {
        const auto block =
            std::lower_bound(all_blocks.begin(), all_blocks.end(), contact.key,
                             [](const WholeBlock<d>& a, const ContactKey& key) { return a.head.key < key; });
        whole.block.push_back(static_cast<Index>(block - all_blocks.begin()));
    }
    return whole;
}

template WholeProblem gather_whole(const Scene<2>&, const ContactSet<2>&, const ConeProblem&, const Held<2>&,
                                   const Part<2>&, const Vector&);
template WholeProblem gather_whole(const Scene<3>&, const ContactSet<3>&, const ConeProblem&, const Held<3>&,
                                   const Part<3>&, const Vector&);

}  // namespace drystone
