#include "drystone/distributed/halo.hpp"

#include "drystone/distributed/whole.hpp"

#include <algorithm>
#include <map>

namespace drystone {

namespace {

constexpr int rows_tag = 2, home_tag = 3, looks_tag = 4, first_sweep_tag = 10;

/// One visit of a body: tiles of this colour that touch it are visited by this rank. (There is one such tile at most.)
struct BodyVisit {
    Index body;
    std::int32_t colour;  ///< number in Held::colours
    std::int32_t rank;
    auto operator<=>(const BodyVisit&) const = default;
};

}  // namespace

template <int d>
void choose_held(const Scene<d>& scene, std::span<const double> reach, const TileGrid<d>& grid, int threads,
                 const Part<d>& part, ContactSet<d>& contacts, Held<d>& held) {
    const int rank = part.team->rank();
    place_contacts(scene, contacts, reach, grid, threads, held.places);
    held.visitor.clear();
    held.ours.clear();
    held.home.clear();
    std::vector<std::int64_t> count(colour_limit(scene) + 1, 0);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const Contact<d>& c = contacts[i];
        const int visitor = part.partition.rank_of(mark_of(grid, held.places[i].coarse));
        if (visitor != rank && part.owner[c.a] != rank && part.owner[c.b] != rank) continue;
        if (visitor == rank) {
            count[held.places[i].colour] = 1;
            ++count.back();
        }
        held.visitor.push_back(visitor);
        held.ours.push_back(visitor == rank ? 1 : 0);
        held.home.push_back(home_of(scene, part, c.a, c.b) == rank ? 1 : 0);
        held.places[kept] = held.places[i];
        held.places[kept].contact = static_cast<Index>(kept);
        contacts[kept] = c;
        ++kept;
    }
    contacts.resize(kept);
    held.places.resize(kept);
    part.team->sum(std::span(count));
    held.contacts = count.back();
    held.colours.clear();
    for (std::uint32_t c = 0; c + 1 < count.size(); ++c)
        if (count[c] > 0) held.colours.push_back(c);
}

template <int d>
Halo<d>::Halo(const Scene<d>& scene, const ContactSet<d>& contacts, const ConeProblem& problem,
              const Held<d>& held, Part<d>& part, Tiling& tiling)
    : part_(&part) {
    connect_sweeps(scene, contacts, held, tiling);
    rows_ = connect_rows(scene, contacts, problem, held, false, rows_tag);
    home_rows_ = connect_rows(scene, contacts, problem, held, true, home_tag);
    exchange_.visits_block = held.ours;
    exchange_.owns_body = part.own;
    exchange_.blocks = held.contacts;
    exchange_.start = [this](double* data, int stride, Index colour) { sweeps_[colour].start(data, stride); };
    exchange_.finish = [this](double* data, int stride, Index colour) {
        if (exchange_.splits_mass()) {
            average(data, stride);
        } else {
            sweeps_[colour].finish(data, stride);
        }
    };
    exchange_.share_bodies = [this](double* data, int stride) {
        part_->ghosts.start(data, stride);
        part_->ghosts.finish(data, stride);
    };
    exchange_.raise = [this](double* data) { raise(data); };
    exchange_.share_rows = [this](Vector& rows) {
        rows_.start(rows.data(), 1);
        rows_.finish(rows.data(), 1);
    };
    exchange_.whole = [&scene, &contacts, &problem, &held, this](const Vector& r) {
        return gather_whole<d>(scene, contacts, problem, held, *part_, r);
    };
    exchange_.sum = [this](std::span<ExactSum> sums) { part_->team->sum(sums); };
    exchange_.largest = [this](double x) { return part_->team->largest(x); };
}

template <int d>
void Halo<d>::share_from_home(Vector& rows) {
    home_rows_.start(rows.data(), 1);
    home_rows_.finish(rows.data(), 1);
}

template <int d>
void Halo<d>::average(double* data, int stride) {
    copies_.resize(static_cast<std::size_t>(copies()) * stride);
    sweeps_.front().finish(copies_.data(), stride);
    // In the order of ranks, so that all of them get the same bits.
    for (const SharedBody& s : shared_bodies_) {
        double* here = data + static_cast<std::ptrdiff_t>(s.body) * stride;
        const double* copy = copies_.data() + static_cast<std::ptrdiff_t>(s.first) * stride;
        for (int k = 0; k < stride; ++k) {
            double sum = 0;
            for (Index c = 0; c < s.before; ++c) sum += copy[c * stride + k];
            sum += here[k];
            for (Index c = s.before; c < s.before + s.behind; ++c) sum += copy[c * stride + k];
            here[k] = sum / (s.before + 1 + s.behind);
        }
    }
}

template <int d>
Index Halo<d>::copies() const {
    if (shared_bodies_.empty()) return 0;
    const SharedBody& last = shared_bodies_.back();
    return last.first + last.before + last.behind;
}

template <int d>
void Halo<d>::raise(double* data) {
    looks_.start(data, 1);
    copies_.resize(static_cast<std::size_t>(copies()));
    looks_.finish(copies_.data(), 1);
    for (const SharedBody& s : shared_bodies_)
        for (Index c = s.first; c < s.first + s.before + s.behind; ++c)
            data[s.body] = std::max(data[s.body], copies_[c]);
}

template <int d>
void Halo<d>::connect_sweeps(const Scene<d>& scene, const ContactSet<d>& contacts, const Held<d>& held,
                             Tiling& tiling) {
    const Communicator& team = *part_->team;
    const int rank = team.rank();
    // held.places is sorted by tile by now; places of contacts, in their own order, are needed here.
    std::vector<std::uint32_t> colour_of(contacts.size());
    for (const TilePlace<d>& place : held.places) colour_of[place.contact] = place.colour;
    auto number_of = [&](std::uint32_t colour) {
        return static_cast<std::int32_t>(std::lower_bound(held.colours.begin(), held.colours.end(), colour) -
                                         held.colours.begin());
    };

    // Of the bodies that we own: those that another rank visits, and all visits of these.
    std::vector<std::uint8_t> foreign(scene.bodies.count(), 0);
    auto for_bodies = [&](std::size_t i, auto&& f) {
        const Contact<d>& c = contacts[i];
        if (scene.bodies.yields(c.a)) f(c.a);
        if (c.b != c.a && scene.bodies.yields(c.b)) f(c.b);
    };
    for (std::size_t i = 0; i < contacts.size(); ++i)
        if (held.ours[i] == 0) for_bodies(i, [&](Index body) { foreign[body] = 1; });
    std::vector<BodyVisit> visits;
    for (std::size_t i = 0; i < contacts.size(); ++i)
        for_bodies(i, [&](Index body) {
            if (foreign[body] != 0 && part_->owner[body] == rank)
                visits.push_back({body, number_of(colour_of[i]), held.visitor[i]});
        });
    std::sort(visits.begin(), visits.end());
    visits.erase(std::unique(visits.begin(), visits.end()), visits.end());

    // Each visitor is told of all visits of a body, where there are several visitors.
    Mail mail(team);
    std::vector<int> ranks;
    for (std::size_t begin = 0, end = 0; begin < visits.size(); begin = end) {
        ranks.clear();
        for (end = begin; end < visits.size() && visits[end].body == visits[begin].body; ++end)
            ranks.push_back(visits[end].rank);
        std::sort(ranks.begin(), ranks.end());
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        if (ranks.size() < 2) continue;
        for (const int to : ranks) {
            Writer& writer = mail.to(to);
            writer.put(scene.bodies.id[visits[begin].body]);
            writer.put(static_cast<std::int32_t>(end - begin));
            for (std::size_t k = begin; k < end; ++k) {
                writer.put(visits[k].colour);
                writer.put(visits[k].rank);
            }
        }
    }
    visits.clear();
    for (const auto& letter : mail.send(Talk::plan)) {
        for (Reader reader(letter.bytes); !reader.done();) {
            const Index body = scene.bodies.index_of(reader.take<GlobalId>());
            const auto count = reader.take<std::int32_t>();
            for (std::int32_t k = 0; k < count; ++k) {
                const auto colour = reader.take<std::int32_t>();
                visits.push_back({body, colour, reader.take<std::int32_t>()});
            }
        }
    }
    std::sort(visits.begin(),
              visits.end());  // local indices are in the order of ids: the same order on all ranks

    const bool split = part_->options.split_between_ranks && team.count() > 1;
    if (split) exchange_.copies.assign(scene.bodies.count(), 1.0);
    std::vector<std::map<int, Channel::Partner>> partners(split ? 1 : held.colours.size());
    std::map<int, Channel::Partner> visitors;
    Index next_copy = 0;
    std::vector<std::uint8_t> shared(scene.bodies.count(), 0);
    for (std::size_t begin = 0, end = 0; begin < visits.size(); begin = end) {
        const Index body = visits[begin].body;
        ranks.clear();
        for (end = begin; end < visits.size() && visits[end].body == body; ++end)
            if (visits[end].rank != rank) ranks.push_back(visits[end].rank);
        std::sort(ranks.begin(), ranks.end());
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        shared[body] = 1;
        const auto others = static_cast<Index>(ranks.size());
        const auto before =
            static_cast<Index>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
        shared_bodies_.push_back({body, next_copy, before, others - before});
        for (const int other : ranks) {
            visitors[other].send.push_back(body);
            visitors[other].receive.push_back(next_copy++);
        }
        if (split) {
            exchange_.copies[body] = 1.0 + others;
            continue;
        }
        for (std::size_t k = begin; k < end; ++k) {
            auto& of_colour = partners[visits[k].colour];
            if (visits[k].rank != rank) {
                of_colour[visits[k].rank].receive.push_back(body);
            } else {
                for (const int to : ranks) of_colour[to].send.push_back(body);
            }
        }
    }
    if (split) partners[0] = visitors;
    looks_ = Channel(team, std::move(visitors), looks_tag, Talk::rows);
    sweeps_.clear();
    for (std::size_t c = 0; c < partners.size(); ++c)
        sweeps_.emplace_back(team, std::move(partners[c]), first_sweep_tag + static_cast<int>(c),
                             Talk::sweep);

    // Tiles that touch such bodies go first. Tiles of a colour share no body, so their order is free.
    exchange_.border_tiles.assign(held.colours.size(), 0);
    Tiling sorted = tiling;
    sorted.tile_start = {0};
    sorted.order.clear();
    auto touches = [&](Index t) {
        for (Index q = tiling.tile_start[t]; q < tiling.tile_start[t + 1]; ++q) {
            const Contact<d>& c = contacts[tiling.order[q]];
            if (shared[c.a] != 0 || shared[c.b] != 0) return true;
        }
        return false;
    };
    std::vector<std::uint8_t> border(tiling.tiles(), 0);
    for (Index t = 0; t < tiling.tiles(); ++t) border[t] = touches(t) ? 1 : 0;
    for (Index c = 0; c < tiling.colours(); ++c) {
        for (const int pass : {1, 0}) {
            for (Index t = tiling.colour_start[c]; t < tiling.colour_start[c + 1]; ++t) {
                if (border[t] != pass) continue;
                exchange_.border_tiles[c] += pass;
                sorted.order.insert(sorted.order.end(), tiling.order.begin() + tiling.tile_start[t],
                                    tiling.order.begin() + tiling.tile_start[t + 1]);
                sorted.tile_start.push_back(static_cast<Index>(sorted.order.size()));
            }
        }
    }
    sorted.order.insert(sorted.order.end(), tiling.order.begin() + tiling.tile_start.back(),
                        tiling.order.end());
    tiling = std::move(sorted);
}

template <int d>
Channel Halo<d>::connect_rows(const Scene<d>& scene, const ContactSet<d>& contacts,
                              const ConeProblem& problem, const Held<d>& held, bool from_home, int tag) {
    const int rank = part_->team->rank();
    std::map<int, Channel::Partner> partners;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const Contact<d>& c = contacts[i];
        const int source = from_home ? home_of(scene, *part_, c.a, c.b) : held.visitor[i];
        std::array<int, 3> holders = {held.visitor[i], part_->owner[c.a], part_->owner[c.b]};
        std::sort(holders.begin(), holders.end());
        auto add_rows = [&](std::vector<Index>& rows) {
            for (Index k = problem.offset[i]; k < problem.offset[i + 1]; ++k) rows.push_back(k);
        };
        if (source != rank) {
            add_rows(partners[source].receive);
            continue;
        }
        for (int k = 0; k < 3; ++k)
            if (holders[k] >= 0 && holders[k] != rank && (k == 0 || holders[k] != holders[k - 1]))
                add_rows(partners[holders[k]].send);
    }
    return Channel(*part_->team, std::move(partners), tag, Talk::rows);
}

#define DRYSTONE_HALO(d)                                                                         \
    template void choose_held(const Scene<d>&, std::span<const double>, const TileGrid<d>&, int, \
                              const Part<d>&, ContactSet<d>&, Held<d>&);                         \
    template class Halo<d>
DRYSTONE_HALO(2);
DRYSTONE_HALO(3);
#undef DRYSTONE_HALO

}  // namespace drystone
