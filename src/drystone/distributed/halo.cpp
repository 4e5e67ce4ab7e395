#include "drystone/distributed/halo.hpp"

#include "drystone/distributed/part.hpp"
#include "drystone/distributed/whole.hpp"

#include <algorithm>
#include <array>

namespace drystone {

namespace {

constexpr int rows_tag = 2, home_tag = 3, looks_tag = 4, first_sweep_tag = 10;

template <class T>
void sort_once(std::vector<T>& all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
}

/// Calls f with the moving bodies of a contact.
template <int d, class F>
void for_moving(const Scene<d>& scene, const Contact<d>& c, F&& f) {
    if (scene.bodies.yields(c.a)) f(c.a);
    if (c.b != c.a && scene.bodies.yields(c.b)) f(c.b);
}

}  // namespace

template <int d>
void choose_held(const Scene<d>& scene, std::span<const double> reach, const TileGrid<d>& grid, int threads,
                 const Part<d>& part, ContactSet<d>& contacts, Held<d>& held) {
    const int rank = part.team->rank();
    place_contacts(scene, contacts, reach, grid, threads, held.places);
    held.visitor.clear();
    held.ours.clear();
    held.home.clear();
    std::vector<std::int64_t>& count = held.count;
    count.assign(colour_limit(scene) + 1, 0);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const Contact<d>& c = contacts[i];
        // A cell stays with the rank that had it when parts were made, though its mark may since have crossed a cut.
        const int visitor = part.partition.rank_of(mark_of(part.grid, held.places[i].coarse));
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
Halo<d>::Halo(const Communicator& team) : mail_(team) {
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
    exchange_.whole = [this](const Vector& r) {
        return gather_whole<d>(*scene_, *contacts_, *problem_, *held_, *part_, r);
    };
    exchange_.sum = [this](std::span<ExactSum> sums) { part_->team->sum(sums); };
    exchange_.largest = [this](double x) { return part_->team->largest(x); };
}

template <int d>
void Halo<d>::fill(const Scene<d>& scene, const ContactSet<d>& contacts, const ConeProblem& problem,
                   const Held<d>& held, Part<d>& part, Tiling& tiling) {
    scene_ = &scene;
    contacts_ = &contacts;
    problem_ = &problem;
    held_ = &held;
    part_ = &part;
    find_visits();
    connect_sweeps();
    sort_tiles(tiling);
    connect_rows(false, rows_tag, rows_);
    connect_rows(true, home_tag, home_rows_);
    exchange_.visits_block = held.ours;
    exchange_.owns_body = part.own;
    exchange_.blocks = held.contacts;
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
void Halo<d>::find_visits() {
    const int rank = part_->team->rank();
    const ContactSet<d>& contacts = *contacts_;
    // held.places is sorted by tile by now; places of contacts, in their own order, are needed here.
    colour_of_.resize(contacts.size());
    for (const TilePlace<d>& place : held_->places) colour_of_[place.contact] = place.colour;
    auto number_of = [&](std::uint32_t colour) {
        const auto& colours = held_->colours;
        return static_cast<std::int32_t>(std::lower_bound(colours.begin(), colours.end(), colour) -
                                         colours.begin());
    };

    // Of the bodies that we own: those that another rank visits, and all visits of these.
    foreign_.assign(scene_->bodies.count(), 0);
    for (std::size_t i = 0; i < contacts.size(); ++i)
        if (held_->ours[i] == 0) for_moving(*scene_, contacts[i], [&](Index body) { foreign_[body] = 1; });
    visits_.clear();
    for (std::size_t i = 0; i < contacts.size(); ++i)
        for_moving(*scene_, contacts[i], [&](Index body) {
            if (foreign_[body] != 0 && part_->owner[body] == rank)
                visits_.push_back({body, number_of(colour_of_[i]), held_->visitor[i]});
        });
    sort_once(visits_);

    // Each visitor is told of all visits of a body, where there are several visitors.
    for_bodies([&](Visits visits) {
        name_ranks(visits, -1);
        if (ranks_.size() < 2) return;
        for (const int to : ranks_) {
            Writer& writer = mail_.to(to);
            writer.put(scene_->bodies.id[visits.front().body]);
            writer.put(static_cast<std::int32_t>(visits.size()));
            for (const BodyVisit& visit : visits) {
                writer.put(visit.colour);
                writer.put(visit.rank);
            }
        }
    });
    visits_.clear();
    for (const Message& message : mail_.send(Talk::plan)) {
        for (Reader reader(message.bytes); !reader.done();) {
            const Index body = scene_->bodies.index_of(reader.take<GlobalId>());
            const auto count = reader.take<std::int32_t>();
            for (std::int32_t k = 0; k < count; ++k) {
                const auto colour = reader.take<std::int32_t>();
                visits_.push_back({body, colour, reader.take<std::int32_t>()});
            }
        }
    }
    // Local indices are in the order of ids: the same order on all ranks.
    std::sort(visits_.begin(), visits_.end());
}

template <int d>
void Halo<d>::name_ranks(Visits visits, int without) {
    ranks_.clear();
    for (const BodyVisit& visit : visits)
        if (visit.rank != without) ranks_.push_back(visit.rank);
    sort_once(ranks_);
}

template <int d>
template <class F>
void Halo<d>::for_bodies(F&& f) const {
    for (auto begin = visits_.begin(), end = begin; begin != visits_.end(); begin = end) {
        end = std::find_if(begin, visits_.end(),
                           [&](const BodyVisit& visit) { return visit.body != begin->body; });
        f(Visits(begin, end));
    }
}

template <int d>
void Halo<d>::connect_sweeps() {
    const Communicator& team = *part_->team;
    const int rank = team.rank();
    const bool split = part_->options.split_between_ranks && team.count() > 1;
    exchange_.copies.clear();
    if (split) exchange_.copies.assign(scene_->bodies.count(), 1.0);
    used_ = split ? 1 : held_->colours.size();
    if (sweeps_.size() < used_) sweeps_.resize(used_);
    for (std::size_t c = 0; c < used_; ++c)
        sweeps_[c].open(team, first_sweep_tag + static_cast<int>(c), Talk::sweep);
    looks_.open(team, looks_tag, Talk::rows);
    shared_bodies_.clear();
    shared_.assign(scene_->bodies.count(), 0);
    Index next_copy = 0;
    for_bodies([&](Visits visits) {
        const Index body = visits.front().body;
        name_ranks(visits, rank);
        shared_[body] = 1;
        const auto others = static_cast<Index>(ranks_.size());
        const auto before =
            static_cast<Index>(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
        shared_bodies_.push_back({body, next_copy, before, others - before});
        for (const int other : ranks_) {
            auto connect = [&](Channel& channel) {
                channel.with(other).send.push_back(body);
                channel.with(other).receive.push_back(next_copy);
            };
            connect(looks_);
            if (split) connect(sweeps_.front());
            ++next_copy;
        }
        if (split) {
            exchange_.copies[body] = 1.0 + others;
            return;
        }
        for (const BodyVisit& visit : visits) {
            Channel& of_colour = sweeps_[visit.colour];
            if (visit.rank != rank) {
                of_colour.with(visit.rank).receive.push_back(body);
            } else {
                for (const int to : ranks_) of_colour.with(to).send.push_back(body);
            }
        }
    });
}

template <int d>
void Halo<d>::sort_tiles(Tiling& tiling) {
    auto touches = [&](Index t) {
        for (Index q = tiling.tile_start[t]; q < tiling.tile_start[t + 1]; ++q) {
            const Contact<d>& c = (*contacts_)[tiling.order[q]];
            if (shared_[c.a] != 0 || shared_[c.b] != 0) return true;
        }
        return false;
    };
    border_.resize(tiling.tiles());
    for (Index t = 0; t < tiling.tiles(); ++t) border_[t] = touches(t) ? 1 : 0;
    exchange_.border_tiles.assign(held_->colours.size(), 0);
    sorted_ = tiling;
    sorted_.tile_start.assign(1, 0);
    sorted_.order.clear();
    for (Index c = 0; c < tiling.colours(); ++c) {
        for (const int pass : {1, 0}) {
            for (Index t = tiling.colour_start[c]; t < tiling.colour_start[c + 1]; ++t) {
                if (border_[t] != pass) continue;
                exchange_.border_tiles[c] += pass;
                sorted_.order.insert(sorted_.order.end(), tiling.order.begin() + tiling.tile_start[t],
                                     tiling.order.begin() + tiling.tile_start[t + 1]);
                sorted_.tile_start.push_back(static_cast<Index>(sorted_.order.size()));
            }
        }
    }
    sorted_.order.insert(sorted_.order.end(), tiling.order.begin() + tiling.tile_start.back(),
                         tiling.order.end());
    std::swap(tiling, sorted_);
}

template <int d>
void Halo<d>::connect_rows(bool from_home, int tag, Channel& rows) const {
    const int rank = part_->team->rank();
    rows.open(*part_->team, tag, Talk::rows);
    for (std::size_t i = 0; i < contacts_->size(); ++i) {
        const Contact<d>& c = (*contacts_)[i];
        const int source = from_home ? home_of(*scene_, *part_, c.a, c.b) : held_->visitor[i];
        std::array<int, 3> holders = {held_->visitor[i], part_->owner[c.a], part_->owner[c.b]};
        std::sort(holders.begin(), holders.end());
        auto add_rows = [&](std::vector<Index>& list) {
            for (Index k = problem_->offset[i]; k < problem_->offset[i + 1]; ++k) list.push_back(k);
        };
        if (source != rank) {
            add_rows(rows.with(source).receive);
            continue;
        }
        for (int k = 0; k < 3; ++k)
            if (holders[k] >= 0 && holders[k] != rank && (k == 0 || holders[k] != holders[k - 1]))
                add_rows(rows.with(holders[k]).send);
    }
}

#define DRYSTONE_HALO(d)                                                                         \
    template void choose_held(const Scene<d>&, std::span<const double>, const TileGrid<d>&, int, \
                              const Part<d>&, ContactSet<d>&, Held<d>&);                         \
    template class Halo<d>
DRYSTONE_HALO(2);
DRYSTONE_HALO(3);
#undef DRYSTONE_HALO

}  // namespace drystone
