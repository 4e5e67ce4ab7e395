#include "drystone/distributed/slices.hpp"

#include "drystone/bodies/body_arrays.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace drystone {

namespace {

/// Ranks by ranges of ids.
struct IdRanges {
    GlobalId next_id = 1;
    int ranks = 1;
    [[nodiscard]] int rank_of(GlobalId id) const {
        __extension__ using Wide = __int128;
        return static_cast<int>(static_cast<Wide>(id) * ranks / std::max<GlobalId>(1, next_id));
    }
};

/// Every body is counted by one rank; before the first cut, and for bodies that are everywhere, by rank 0.
template <int d>
bool counts(const Part<d>& part, Index i) {
    return part.owner[i] == part.team->rank() || (part.owner[i] < 0 && part.team->rank() == 0);
}

template <int d>
void slice_bodies(const Scene<d>& scene, const StepMemory<d>* memory, const Part<d>& part,
                  const IdRanges& ranges, bool with_contacts, Slices<d>& out) {
    std::vector<double> largest(scene.bodies.count(), 0.0);
    if (with_contacts && memory != nullptr) {
        for (std::size_t i = 0; i < memory->contacts.size(); ++i) {
            const Contact<d>& c = memory->contacts[i];
            const double norm =
                impulse_of(memory->assembled, memory->solution.r, c, static_cast<Index>(i)).norm();
            for (const Index body : {c.a, c.b}) largest[body] = std::max(largest[body], norm);
        }
        // Of bodies that are everywhere each rank knows some contacts.
        std::vector<double> shared;
        for (Index i = 0; i < scene.bodies.count(); ++i)
            if (part.owner[i] == everywhere) shared.push_back(largest[i]);
        part.team->largest(shared);
        std::size_t k = 0;
        for (Index i = 0; i < scene.bodies.count(); ++i)
            if (part.owner[i] == everywhere) largest[i] = shared[k++];
    }
    Mail mail(*part.team);
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (!counts(part, i)) continue;
        Writer& writer = mail.to(ranges.rank_of(scene.bodies.id[i]));
        put_body(writer, scene.bodies, i);
        writer.put(largest[i]);
    }
    Bodies<d> came;
    std::vector<double> came_largest;
    for (const auto& message : mail.send(Talk::files)) {
        for (Reader reader(message.bytes); !reader.done();) {
            take_body(reader, came);
            came_largest.push_back(reader.take<double>());
        }
    }
    const std::vector<Index> order = order_by_id(came);
    out.bodies = selected(came, order);
    out.bodies.next_id = scene.bodies.next_id;
    for (const Index i : order) out.largest_impulse.push_back(came_largest[i]);
}

Rows rows_of(const Communicator& team, std::size_t count) {
    std::array<std::int64_t, 1> total = {static_cast<std::int64_t>(count)};
    const std::int64_t first = team.sum_before(total[0]);
    team.sum(std::span<std::int64_t>(total));
    return {first, total[0]};
}

template <int d>
void slice_contacts(const Scene<d>& scene, const StepMemory<d>* memory, const Part<d>& part,
                    const IdRanges& ranges, Slices<d>& out) {
    Mail mail(*part.team);
    const std::size_t count = memory != nullptr ? memory->contacts.size() : 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Contact<d>& c = memory->contacts[i];
        if (home_of(scene, part, c.a, c.b) != part.team->rank()) continue;
        const ConeProblem& problem = memory->assembled.problem;
        SlicedContact<d> sliced;
        static_cast<PlacedContact<d>&>(sliced) =
            placed(scene, c, impulse_of(memory->assembled, memory->solution.r, c, static_cast<Index>(i)));
        sliced.cone = problem.cones[i];
        std::copy_n(memory->solution.r.data() + problem.offset[i], sliced.cone.dim, sliced.r.begin());
        sliced.pull = problem.pull.size() > 0 ? problem.pull[i] : 0;
        mail.to(ranges.rank_of(c.key.first)).put_raw(sliced);
    }
    for (const auto& message : mail.send(Talk::files))
        for (Reader reader(message.bytes); !reader.done();)
            out.contacts.push_back(reader.take<SlicedContact<d>>());
    std::sort(out.contacts.begin(), out.contacts.end(),
              [](const auto& x, const auto& y) { return x.contact.key < y.contact.key; });

    // Rows: of first bodies we know them, of second ones we ask those who do.
    std::map<int, std::vector<std::size_t>> asked;
    for (std::size_t i = 0; i < out.contacts.size(); ++i) {
        const ContactKey& key = out.contacts[i].contact.key;
        out.contacts[i].row_a = out.body_rows.first + out.bodies.index_of(key.first);
        const int rank = ranges.rank_of(key.second);
        asked[rank].push_back(i);
        mail.to(rank).put(key.second);
    }
    for (const auto& message : mail.send(Talk::files))
        for (Reader reader(message.bytes); !reader.done();)
            mail.to(message.rank)
                .put<std::int64_t>(out.body_rows.first + out.bodies.index_of(reader.take<GlobalId>()));
    for (const auto& message : mail.send(Talk::files)) {
        Reader reader(message.bytes);
        for (const std::size_t i : asked[message.rank]) out.contacts[i].row_b = reader.take<std::int64_t>();
    }
}

}  // namespace

template <int d>
Slices<d> Part<d>::slice(const Scene<d>& scene, const StepMemory<d>* memory,
                         const SliceOptions& wanted) const {
    const Part<d>& part = *this;
    const IdRanges ranges{scene.bodies.next_id, wanted.to_first ? 1 : part.team->count()};
    Slices<d> out;
    slice_bodies(scene, memory, part, ranges, wanted.contacts, out);
    out.body_rows = rows_of(*part.team, out.bodies.id.size());
    if (wanted.contacts) slice_contacts(scene, memory, part, ranges, out);
    if (wanted.warm && memory != nullptr) {
        const WarmStart<d>& warm = memory->warm;
        Mail mail(*part.team);
        for (std::size_t k = 0; k < warm.key.size(); ++k)
            mail.to(ranges.rank_of(warm.key[k].first)).put_raw(remembered(warm, k));
        std::vector<Remembered<d>> came;
        for (const auto& message : mail.send(Talk::files))
            for (Reader reader(message.bytes); !reader.done();) came.push_back(reader.take<Remembered<d>>());
        fill_warm(came, part.team->any(!warm.torque.empty()), out.warm);
        out.warm.h = part.team->largest(warm.h);
        out.warm_rows = rows_of(*part.team, out.warm.key.size());
    }
    return out;
}

template <int d>
void join(Scene<d>& scene, Part<d>& part, WarmStart<d>& warm) {
    const Communicator& team = *part.team;
    const Bodies<d>& bodies = scene.bodies;
    // Which rank has read which ids: the first of each.
    std::vector<double> first(static_cast<std::size_t>(team.count()), -1.0);
    if (bodies.count() > 0) first[team.rank()] = static_cast<double>(bodies.id.front());
    team.largest(first);
    for (std::size_t k = first.size(); k-- > 0;)  // a rank that has read none is passed over
        if (first[k] < 0) first[k] = k + 1 < first.size() ? first[k + 1] : std::numeric_limits<double>::max();
    auto reader_of = [&](GlobalId id) {
        const auto after = std::upper_bound(first.begin(), first.end(), static_cast<double>(id));
        return static_cast<int>(after - first.begin()) - 1;
    };
    // An impulse is kept where its first free body is: the reader of the first body knows whether that is free.
    const bool torques = team.any(!warm.torque.empty());
    Mail mail(team);
    for (std::size_t k = 0; k < warm.key.size(); ++k)
        mail.to(reader_of(warm.key[k].first)).put_raw(remembered(warm, k));
    std::vector<Remembered<d>> kept;
    for (const auto& message : mail.send(Talk::files)) {
        for (Reader reader(message.bytes); !reader.done();) {
            const auto one = reader.take<Remembered<d>>();
            const Index a = bodies.index_of(one.key.first);
            if (a >= 0 && bodies.is_free(a)) {
                kept.push_back(one);
            } else {
                mail.to(reader_of(one.key.second)).put_raw(one);
            }
        }
    }
    for (const auto& message : mail.send(Talk::files))
        for (Reader reader(message.bytes); !reader.done();) kept.push_back(reader.take<Remembered<d>>());
    fill_warm(kept, torques, warm);
    own_rows(scene, part);
}

template Slices<2> Part<2>::slice(const Scene<2>&, const StepMemory<2>*, const SliceOptions&) const;
template Slices<3> Part<3>::slice(const Scene<3>&, const StepMemory<3>*, const SliceOptions&) const;
template void join(Scene<2>&, Part<2>&, WarmStart<2>&);
template void join(Scene<3>&, Part<3>&, WarmStart<3>&);

}  // namespace drystone
