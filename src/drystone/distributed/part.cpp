#include "drystone/distributed/part.hpp"

#include "drystone/bodies/body_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace drystone {

namespace {

constexpr int ghosts_tag = 1;

/// A quotient that is rounded down.
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Calls f with every cell of the coarsest grid that a box meets, whatever sides of the periodic domain it crosses.
template <int d, class F>
void for_cells(const TileGrid<d>& grid, const Domain<d>& domain, const Vec<d>& lower, const Vec<d>& upper,
               F&& f) {
    const auto& rulers = grid.rulers[0];
    auto index = [&](int k, double x) {
        return static_cast<std::int64_t>(std::floor((x - rulers[k].lower) / rulers[k].width));
    };
    auto wrapped = [&](int k, std::int64_t i) {
        const std::int64_t n = rulers[k].cells;
        return static_cast<std::int32_t>(n > 0 ? i - n * floor_div(i, n) : i);
    };
    auto last_of = [&](int k, std::int64_t first, std::int64_t last) {
        // Once around is enough.
        return rulers[k].cells > 0 ? std::min(last, first + rulers[k].cells - 1) : last;
    };
    constexpr int top = d - 1;
    const std::int64_t row_begin = index(top, lower[top]);
    // Rows above and below the domain are displaced along x, so that two of them that are the same row meet other
    // cells.
    const std::int64_t row_end =
        domain.tilt == 0 ? last_of(top, row_begin, index(top, upper[top])) : index(top, upper[top]);
    Image<d> cell;
    for (std::int64_t row = row_begin; row <= row_end; ++row) {
        cell[top] = wrapped(top, row);
        const std::int64_t turns = rulers[top].cells > 0 ? floor_div(row, rulers[top].cells) : 0;
        const double shift = static_cast<double>(turns) * domain.tilt;
        const std::int64_t x_begin = index(0, lower[0] - shift),
                           x_end = last_of(0, x_begin, index(0, upper[0] - shift));
        auto along_x = [&] {
            for (std::int64_t x = x_begin; x <= x_end; ++x) {
                cell[0] = wrapped(0, x);
                f(cell);
            }
        };
        if constexpr (d == 3) {
            const std::int64_t y_begin = index(1, lower[1]), y_end = last_of(1, y_begin, index(1, upper[1]));
            for (std::int64_t y = y_begin; y <= y_end; ++y) {
                cell[1] = wrapped(1, y);
                along_x();
            }
        } else {
            along_x();
        }
    }
}

/// The ranks that need a body, its owner included.
template <int d>
class Holders {
public:
    Holders(const Scene<d>& scene, const TileGrid<d>& grid, const Part<d>& part, double halo)
        : scene_(scene), grid_(grid), part_(part), halo_(halo) {
        // Within this box, whole cells of which are ours, nobody else is met.
        for (int k = 0; k < d; ++k) {
            const double half = grid.rulers[0][k].width;  // from a cell's mark to its sides
            inner_.lower[k] = part.partition.ours().lower[k] + half;
            inner_.upper[k] = part.partition.ours().upper[k] - half;
            if (scene.domain.period[k] > 0) {  // what leaves the domain comes in elsewhere
                inner_.lower[k] = std::max(inner_.lower[k], scene.domain.lower[k]);
                inner_.upper[k] = std::min(inner_.upper[k], scene.domain.lower[k] + scene.domain.period[k]);
            }
        }
    }

    [[nodiscard]] int owner(const Vec<d>& x) const {
        return part_.partition.rank_of(mark_of(grid_, grid_.coarse_cell(x)));
    }

    /// Sorted. A contact of the body is within its radius and margin of its centre, and has its other body within that
    /// body's own: a rank that owns the other body, or the cell of the contact, has a cell in this box.
    const std::vector<int>& of(Index i, double margin) {
        ranks_.clear();
        const double reach = scene_.outer_radius(i) + margin + halo_ + parts_slack * grid_.unit;
        const Vec<d>& x = scene_.bodies.position[i];
        const Vec<d> lower = x.array() - reach, upper = x.array() + reach;
        if ((lower.array() > inner_.lower.array()).all() && (upper.array() < inner_.upper.array()).all()) {
            ranks_.push_back(part_.team->rank());
            return ranks_;
        }
        for_cells(grid_, scene_.domain, lower, upper, [&](const Image<d>& cell) {
            ranks_.push_back(part_.partition.rank_of(mark_of(grid_, cell)));
        });
        ranks_.push_back(owner(x));
        std::sort(ranks_.begin(), ranks_.end());
        ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
        return ranks_;
    }

private:
    const Scene<d>& scene_;
    const TileGrid<d>& grid_;
    const Part<d>& part_;
    double halo_;
    Bounds<d> inner_;
    std::vector<int> ranks_;
};

/// True for bodies that every rank has.
template <int d>
bool belongs_everywhere(const Scene<d>& scene, Index i, double largest_free) {
    if (scene.bodies.is_free(i)) return false;
    if (!(scene.outer_radius(i) <= 2 * largest_free)) return true;
    return std::any_of(scene.drives.begin(), scene.drives.end(),
                       [&](const Drive<d>& drive) { return drive.body == scene.bodies.id[i]; });
}

template <int d>
double largest_free_radius(const Scene<d>& scene, const Communicator& team) {
    double largest = 0;
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (scene.bodies.is_free(i)) largest = std::max(largest, scene.outer_radius(i));
    return team.largest(largest);
}

template <int d>
void own_all(const Scene<d>& scene, int owner, Part<d>& part) {
    part.owner.assign(scene.bodies.count(), owner);
    const double largest = largest_free_radius(scene, *part.team);
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (belongs_everywhere(scene, i, largest)) part.owner[i] = everywhere;
}

/// The bodies of both, in the order of ids; `from` holds for each whether it came from the first, and its place there.
/// Ids that are in both are taken from the first.
template <int d>
Bodies<d> merged(const Bodies<d>& first, const Bodies<d>& second, std::vector<std::pair<bool, Index>>& from) {
    Bodies<d> out;
    out.next_id = first.next_id;
    from.clear();
    from.reserve(first.id.size() + second.id.size());
    for (Index i = 0, j = 0; i < first.count() || j < second.count();) {
        if (j == second.count() || (i < first.count() && first.id[i] <= second.id[j])) {
            if (j < second.count() && first.id[i] == second.id[j]) ++j;
            from.emplace_back(true, i++);
        } else {
            from.emplace_back(false, j++);
        }
    }
    for_each_array(out, [&](auto& array) { array.reserve(from.size()); });
    for (const auto& [is_first, i] : from) append(out, is_first ? first : second, i);
    return out;
}

/// Adds the bodies that any rank hands over to the scene of all, with this owner; those that are there stay as they
/// are.
template <int d>
void merge_from_all(Scene<d>& scene, const Writer& ours, int owner, Part<d>& part) {
    Bodies<d> others;
    const std::vector<std::byte> all = part.team->gather_all(ours.bytes);
    for (Reader reader(all); !reader.done();) take_body(reader, others);
    std::vector<std::pair<bool, Index>> from;
    scene.bodies = merged(scene.bodies, selected(others, order_by_id(others)), from);
    std::vector<int> owners(from.size());
    for (std::size_t i = 0; i < from.size(); ++i)
        owners[i] = from[i].first ? part.owner[from[i].second] : owner;
    part.owner = std::move(owners);
}

/// Cells by the bodies in them, for the first cut: nothing has been measured yet.
template <int d>
std::vector<WeighedCell<d>> cells_of_bodies(const Scene<d>& scene, const TileGrid<d>& grid,
                                            const Part<d>& part) {
    CellWeights<d> weights;
    const int rank = part.team->rank(), count = part.team->count();
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (part.owner[i] == everywhere || !scene.bodies.is_free(i)) continue;
        if (part.owner[i] == unassigned && i % count != rank) continue;  // somebody else names it
        weights.add(grid.coarse_cell(scene.bodies.position[i]), 1);
    }
    std::vector<WeighedCell<d>> cells;
    weights.list(grid, cells);
    return cells;
}

/// As far as a contact may be from the ball of one of its bodies on the side of the other: the same on all ranks. Half
/// a unit at least: a body that is everywhere may touch from as far as its own reach, which is not above a unit
/// (tile_sizes).
template <int d>
double largest_halo(const Scene<d>& scene, std::span<const double> margin, const TileGrid<d>& grid,
                    const Part<d>& part) {
    double halo = 0.5 * grid.unit;
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (part.owner[i] != everywhere) halo = std::max(halo, scene.outer_radius(i) + margin[i]);
    return part.team->largest(halo);
}

/// Entries whose home body goes to another rank go with it.
template <int d>
void send_warm(const Scene<d>& scene, const std::vector<int>& new_owner, const Part<d>& part,
               WarmStart<d>& warm) {
    const int rank = part.team->rank();
    Mail mail(*part.team);
    std::vector<Remembered<d>> kept;
    for (std::size_t k = 0; k < warm.key.size(); ++k) {
        const Index a = scene.bodies.index_of(warm.key[k].first);
        const Index b = scene.bodies.index_of(warm.key[k].second);
        const Index home = a >= 0 && scene.bodies.is_free(a) ? a : b;
        const int to = home >= 0 ? new_owner[home] : rank;
        if (to != rank && to >= 0) {
            mail.to(to).put_raw(remembered(warm, k));
        } else {
            kept.push_back(remembered(warm, k));
        }
    }
    const bool torques = part.team->any(!warm.torque.empty());
    for (const auto& message : mail.send(Talk::bodies))
        for (Reader reader(message.bytes); !reader.done();) kept.push_back(reader.take<Remembered<d>>());
    fill_warm(kept, torques, warm);
}

}  // namespace

template <int d>
bool cells_have_moved(const TileGrid<d>& then, const TileGrid<d>& now) {
    if (then.unit != now.unit) return true;
    for (int k = 0; k < d; ++k) {
        const Ruler &a = then.rulers[0][k], &b = now.rulers[0][k];
        const double moved =
            std::abs(a.lower - b.lower) + std::abs(a.width - b.width) * static_cast<double>(a.cells);
        if (a.cells != b.cells || moved > parts_slack * then.unit) return true;
    }
    return false;
}

template <int d>
void put_body(Writer& out, const Bodies<d>& bodies, Index i) {
    for_each_array(bodies, [&](const auto& array) { out.put_raw(array[i]); });
}

template <int d>
void take_body(Reader& in, Bodies<d>& bodies) {
    for_each_array(bodies, [&](auto& array) {
        auto& x = array.emplace_back();
        in.copy(&x, sizeof x);
    });
}

template <int d>
std::vector<Index> order_by_id(const Bodies<d>& bodies) {
    std::vector<Index> order(bodies.id.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](Index x, Index y) { return bodies.id[x] < bodies.id[y]; });
    return order;
}

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

template <int d>
void own_nothing_yet(const Scene<d>& scene, Part<d>& part) {
    own_all(scene, unassigned, part);
    part.bodies = scene.bodies.count();
}

template <int d>
void own_rows(Scene<d>& scene, Part<d>& part) {
    own_all(scene, part.team->rank(), part);
    std::array<std::int64_t, 1> rows = {scene.bodies.count()};
    part.team->sum(std::span<std::int64_t>(rows));
    part.bodies = rows[0];
    Writer large;
    for (Index i = 0; i < scene.bodies.count(); ++i)
        if (part.owner[i] == everywhere) put_body(large, scene.bodies, i);
    merge_from_all(scene, large, everywhere, part);
}

template <int d>
void make_parts(Scene<d>& scene, std::span<const double> margin, const TileGrid<d>& grid, Part<d>& part,
                WarmStart<d>& warm) {
    const Communicator& team = *part.team;
    const int rank = team.rank();
    if (!part.is_cut) {
        part.partition.balance(cells_of_bodies(scene, grid, part));
        part.is_cut = true;
    }
    const double halo = largest_halo(scene, margin, grid, part);

    // Who sends what to whom. Bodies that are unassigned are on every rank already.
    Holders<d> holders(scene, grid, part, halo);
    Mail mail(team);
    Bodies<d> kept;
    std::vector<int> kept_owner, new_owner(scene.bodies.count(), everywhere);
    bool leaving = false;
    for_each_array(kept, [&](auto& array) { array.reserve(scene.bodies.id.size()); });
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        const int before = part.owner[i];
        if (before == everywhere) {
            append(kept, scene.bodies, i);
            kept_owner.push_back(everywhere);
            continue;
        }
        if (before != rank && before != unassigned)
            continue;  // a copy: its owner says who has it from now on
        const std::vector<int>& ranks = holders.of(i, margin[i]);
        const int after = ranks.size() == 1 ? ranks[0] : holders.owner(scene.bodies.position[i]);
        new_owner[i] = after;
        if (before == rank && after != rank) {
            leaving = true;
            ++part.moved;
        }
        for (const int to : ranks) {
            if (to == rank) {
                append(kept, scene.bodies, i);
                kept_owner.push_back(after);
            } else if (before == rank) {
                put_body(mail.to(to), scene.bodies, i);
                mail.to(to).put(after);
            }
        }
    }
    if (team.any(leaving)) send_warm(scene, new_owner, part, warm);

    std::vector<int> came_owner;
    Bodies<d> came;
    for (const auto& message : mail.send(Talk::bodies)) {
        for (Reader reader(message.bytes); !reader.done();) {
            take_body(reader, came);
            came_owner.push_back(reader.take<int>());
        }
    }
    const std::vector<Index> order = order_by_id(came);
    std::vector<std::pair<bool, Index>> from;
    kept.next_id = scene.bodies.next_id;
    scene.bodies = merged(kept, selected(came, order), from);
    part.owner.resize(from.size());
    part.own.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        part.owner[i] = from[i].first ? kept_owner[from[i].second] : came_owner[order[from[i].second]];
        part.own[i] = part.owner[i] == rank || (part.owner[i] == everywhere && rank == 0) ? 1 : 0;
    }
    part.grid = grid;
    std::array<std::int64_t, 1> count = {std::count(part.own.begin(), part.own.end(), 1)};
    team.sum(std::span<std::int64_t>(count));
    part.bodies = count[0];
}

template <int d>
void connect_ghosts(const Scene<d>& scene, std::span<const double> margin, Part<d>& part) {
    const int rank = part.team->rank();
    const double halo = largest_halo(scene, margin, part.grid, part);
    Holders<d> holders(scene, part.grid, part, halo);
    part.ghosts.open(*part.team, ghosts_tag, Talk::gather);
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (part.owner[i] == everywhere) continue;
        if (part.owner[i] != rank) {
            part.ghosts.with(part.owner[i]).receive.push_back(i);
            continue;
        }
        for (const int to : holders.of(i, margin[i]))
            if (to != rank) part.ghosts.with(to).send.push_back(i);
    }
}

template <int d>
void Part<d>::borrow_near(Scene<d>& scene, const Bounds<d>& where) {
    Writer mine;
    for (Index i = 0; i < scene.bodies.count(); ++i) {
        if (owner[i] != team->rank()) continue;
        const double radius = scene.outer_radius(i);
        bool near = false;
        Image<d> image;
        auto look = [&](auto&& self, int k) -> void {
            if (near) return;
            if (k == d) {
                const Vec<d> x = scene.bodies.position[i] + scene.domain.translation(image);
                near = Bounds<d>{x, x}.widened(radius).overlaps(where);
                return;
            }
            const bool periodic = scene.domain.period[k] > 0;
            for (int n = periodic ? -1 : 0; n <= (periodic ? 1 : 0); ++n) {
                image[k] = n;
                self(self, k + 1);
            }
        };
        look(look, 0);
        if (near) put_body(mine, scene.bodies, i);
    }
    // Borrowed ones are copies like any other: the next make_parts takes them away, or does not.
    merge_from_all(scene, mine, team->count(), *this);
}

#define DRYSTONE_PART(d)                                                                       \
    template void put_body(Writer&, const Bodies<d>&, Index);                                  \
    template void take_body(Reader&, Bodies<d>&);                                              \
    template std::vector<Index> order_by_id(const Bodies<d>&);                                 \
    template void fill_warm(std::vector<Remembered<d>>&, bool, WarmStart<d>&);                 \
    template bool cells_have_moved(const TileGrid<d>&, const TileGrid<d>&);                    \
    template void own_nothing_yet(const Scene<d>&, Part<d>&);                                  \
    template void own_rows(Scene<d>&, Part<d>&);                                               \
    template void make_parts(Scene<d>&, std::span<const double>, const TileGrid<d>&, Part<d>&, \
                             WarmStart<d>&);                                                   \
    template void connect_ghosts(const Scene<d>&, std::span<const double>, Part<d>&);          \
    template void Part<d>::borrow_near(Scene<d>&, const Bounds<d>&)
DRYSTONE_PART(2);
DRYSTONE_PART(3);
#undef DRYSTONE_PART

}  // namespace drystone
