#include "drystone/distributed/slices.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

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

/// Letters by rank.
class Post {
public:
    explicit Post(const Communicator& team) : team_(team) {}
    Writer& to(int rank) { return out_[rank]; }
    std::vector<Communicator::Letter> send(Talk talk) {
        std::vector<Communicator::Letter> letters;
        for (auto& [rank, writer] : out_) letters.push_back({rank, std::move(writer.bytes)});
        out_.clear();
        return team_.post(std::move(letters), talk);
    }

private:
    const Communicator& team_;
    std::map<int, Writer> out_;
};

/// Every body is counted by one rank; before the first cut, and for bodies that are everywhere, by rank 0.
template <int d>
bool counts(const Part<d>& part, Index i) {
    return part.owner[i] == part.team->rank() || (part.owner[i] < 0 && part.team->rank() == 0);
}

template <class T>
void put_raw(Writer& out, const T& x) {
    const auto* begin = reinterpret_cast<const std::byte*>(&x);
    out.bytes.insert(out.bytes.end(), begin, begin + sizeof x);
}

template <class T>
T take_raw(Reader& in) {
    T x;
    in.copy(static_cast<void*>(&x), sizeof x);
    return x;
}

/// Elements in the order of a list of places.
template <class T>
std::vector<T> in_order(const std::vector<T>& from, const std::vector<Index>& order) {
    std::vector<T> out;
    out.reserve(from.size());
    for (const Index i : order) out.push_back(from[i]);
    return out;
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
    Post post(*part.team);
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (!counts(part, i)) continue;
        Writer& writer = post.to(ranges.rank_of(scene.bodies.id[i]));
        put_body(writer, scene.bodies, i);
        writer.put(largest[i]);
    }
    Bodies<d> came;
    std::vector<double> came_largest;
    for (const auto& letter : post.send(Talk::files)) {
        for (Reader reader(letter.bytes); !reader.done();) {
            take_body(reader, came);
            came_largest.push_back(reader.take<double>());
        }
    }
    std::vector<Index> order(came.id.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](Index x, Index y) { return came.id[x] < came.id[y]; });
    out.bodies.id = in_order(came.id, order);
    out.bodies.shape = in_order(came.shape, order);
    out.bodies.size = in_order(came.size, order);
    out.bodies.material = in_order(came.material, order);
    out.bodies.motion = in_order(came.motion, order);
    out.bodies.mass = in_order(came.mass, order);
    out.bodies.inertia = in_order(came.inertia, order);
    out.bodies.position = in_order(came.position, order);
    out.bodies.image = in_order(came.image, order);
    out.bodies.rotation = in_order(came.rotation, order);
    out.bodies.velocity = in_order(came.velocity, order);
    out.bodies.spin = in_order(came.spin, order);
    out.bodies.next_id = scene.bodies.next_id;
    out.largest_impulse = in_order(came_largest, order);
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
    Post post(*part.team);
    const std::size_t count = memory != nullptr ? memory->contacts.size() : 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Contact<d>& c = memory->contacts[i];
        if (home_of(scene, part, c.a, c.b) != part.team->rank()) continue;
        SlicedContact<d> sliced;
        const ConeProblem& problem = memory->assembled.problem;
        sliced.contact = c;
        sliced.x_a = scene.bodies.position[c.a];
        sliced.x_b = scene.bodies.position[c.b];
        sliced.free_a = scene.bodies.is_free(c.a);
        sliced.free_b = scene.bodies.is_free(c.b);
        sliced.cone = problem.cones[i];
        std::copy_n(memory->solution.r.data() + problem.offset[i], sliced.cone.dim, sliced.r.begin());
        sliced.pull = memory->assembled.pull.empty() ? 0 : memory->assembled.pull[i];
        sliced.impulse = impulse_of(memory->assembled, memory->solution.r, c, static_cast<Index>(i));
        put_raw(post.to(ranges.rank_of(c.key.first)), sliced);
    }
    for (const auto& letter : post.send(Talk::files))
        for (Reader reader(letter.bytes); !reader.done();)
            out.contacts.push_back(take_raw<SlicedContact<d>>(reader));
    std::sort(out.contacts.begin(), out.contacts.end(),
              [](const auto& x, const auto& y) { return x.contact.key < y.contact.key; });

    // Rows: of first bodies we know them, of second ones we ask those who do.
    std::map<int, std::vector<std::size_t>> asked;
    for (std::size_t i = 0; i < out.contacts.size(); ++i) {
        const ContactKey& key = out.contacts[i].contact.key;
        out.contacts[i].row_a = out.body_rows.first + out.bodies.index_of(key.first);
        const int rank = ranges.rank_of(key.second);
        asked[rank].push_back(i);
        post.to(rank).put(key.second);
    }
    for (const auto& letter : post.send(Talk::files))
        for (Reader reader(letter.bytes); !reader.done();)
            post.to(letter.rank)
                .put<std::int64_t>(out.body_rows.first + out.bodies.index_of(reader.take<GlobalId>()));
    for (const auto& letter : post.send(Talk::files)) {
        Reader reader(letter.bytes);
        for (const std::size_t i : asked[letter.rank]) out.contacts[i].row_b = reader.take<std::int64_t>();
    }
}

/// One remembered impulse.
template <int d>
struct Remembered {
    ContactKey key;
    Vec<d> impulse;
    Spin<d> torque;
};

template <int d>
Remembered<d> remembered(const WarmStart<d>& warm, std::size_t k) {
    return {warm.key[k], warm.impulse[k], warm.torque.empty() ? Spin<d>(Spin<d>::Zero()) : warm.torque[k]};
}

/// Sorts, and puts torques where any rank has some.
template <int d>
void fill_warm(std::vector<Remembered<d>>& all, bool torques, WarmStart<d>& warm) {
    std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.key < y.key; });
    warm.key.clear();
    warm.impulse.clear();
    warm.torque.clear();
    for (const Remembered<d>& one : all) {
        warm.key.push_back(one.key);
        warm.impulse.push_back(one.impulse);
        if (torques) warm.torque.push_back(one.torque);
    }
}

}  // namespace

template <int d>
Slices<d> slice(const Scene<d>& scene, const StepMemory<d>* memory, const Part<d>& part,
                const SliceOptions& options) {
    const IdRanges ranges{scene.bodies.next_id, options.to_first ? 1 : part.team->count()};
    Slices<d> out;
    slice_bodies(scene, memory, part, ranges, options.contacts, out);
    out.body_rows = rows_of(*part.team, out.bodies.id.size());
    if (options.contacts) slice_contacts(scene, memory, part, ranges, out);
    if (options.warm && memory != nullptr) {
        const WarmStart<d>& warm = memory->warm;
        Post post(*part.team);
        for (std::size_t k = 0; k < warm.key.size(); ++k)
            put_raw(post.to(ranges.rank_of(warm.key[k].first)), remembered(warm, k));
        std::vector<Remembered<d>> came;
        for (const auto& letter : post.send(Talk::files))
            for (Reader reader(letter.bytes); !reader.done();)
                came.push_back(take_raw<Remembered<d>>(reader));
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
    Post post(team);
    for (std::size_t k = 0; k < warm.key.size(); ++k)
        put_raw(post.to(reader_of(warm.key[k].first)), remembered(warm, k));
    std::vector<Remembered<d>> kept;
    for (const auto& letter : post.send(Talk::files)) {
        for (Reader reader(letter.bytes); !reader.done();) {
            const auto one = take_raw<Remembered<d>>(reader);
            const Index a = bodies.index_of(one.key.first);
            if (a >= 0 && bodies.is_free(a)) {
                kept.push_back(one);
            } else {
                put_raw(post.to(reader_of(one.key.second)), one);
            }
        }
    }
    for (const auto& letter : post.send(Talk::files))
        for (Reader reader(letter.bytes); !reader.done();) kept.push_back(take_raw<Remembered<d>>(reader));
    fill_warm(kept, torques, warm);
    own_rows(scene, part);
}

template <int d>
StepMemory<d> memory_of(const Slices<d>& slices) {
    StepMemory<d> memory;
    ConeProblem& problem = memory.assembled.problem;
    std::vector<double> r;
    for (const SlicedContact<d>& sliced : slices.contacts) {
        Contact<d>& c = memory.contacts.emplace_back(sliced.contact);
        c.a = static_cast<Index>(sliced.row_a);
        c.b = static_cast<Index>(sliced.row_b);
        problem.cones.push_back(sliced.cone);
        problem.offset.push_back(problem.offset.back() + sliced.cone.dim);
        r.insert(r.end(), sliced.r.begin(), sliced.r.begin() + sliced.cone.dim);
        memory.assembled.pull.push_back(sliced.pull);
    }
    memory.assembled.contacts = static_cast<Index>(memory.contacts.size());
    memory.solution.r = Eigen::Map<const Vector>(r.data(), static_cast<Eigen::Index>(r.size()));
    return memory;
}

#define DRYSTONE_SLICES(d)                                                                                \
    template Slices<d> slice(const Scene<d>&, const StepMemory<d>*, const Part<d>&, const SliceOptions&); \
    template void join(Scene<d>&, Part<d>&, WarmStart<d>&);                                               \
    template StepMemory<d> memory_of(const Slices<d>&)
DRYSTONE_SLICES(2);
DRYSTONE_SLICES(3);
#undef DRYSTONE_SLICES

}  // namespace drystone
