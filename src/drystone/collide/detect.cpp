// Three parts: which candidates there are (kept while no body has used up its skin), what each body looks like now (one
// row each), and the touches of each candidate.
//
// The candidates of a search hold all pairs that can touch as long as, for every body, the farthest that any of its
// points has moved since plus its present reach is within what the search allowed for: the distance of two bodies falls
// by no more than the two movements. For balls only the centre counts; for other shapes the search looks at boxes that
// turn with the body, so the arc of its outermost points is added. (With boxes about the bounding ball turning would
// not count, but a long body would have everything in that ball for a neighbour.)
#include "drystone/collide/detect.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/collide/narrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

namespace drystone {

namespace {

// Shares of work: fixed, so that nothing depends on the number of threads.
constexpr Index block_bodies = 4096;
constexpr std::size_t chunk_pairs = 2048;
constexpr std::size_t window_chunks = 64;  // chunks whose contacts are held apart at a time

enum Kind : std::uint8_t { ball, other, half_space };

/// A body whose bounding ball is so much larger than what fits inside it gets a box for a first look;
/// so does a surface, which has no inside to speak of.
constexpr double slender = 3;

/// Room for rounding, in bounding radii: a pair at exactly its reach is not to be lost in the search.
constexpr double rounding = 1e-9;

/// At least the chord that a turn carries a point of the unit ball through.
double chord(const Rotation<2>& from, const Rotation<2>& to) {
    return std::min(std::abs(to.angle - from.angle), 2.0);
}
double chord(const Rotation<3>& from, const Rotation<3>& to) {
    // The chord is 2 sin(t/2) <= 4 sin(t/4), and the quaternions of a turn by t, of the nearer signs, are 2 sin(t/4)
    // apart.
    const double apart = std::min((to.q.coeffs() - from.q.coeffs()).squaredNorm(),
                                  (to.q.coeffs() + from.q.coeffs()).squaredNorm());
    return 2 * std::sqrt(apart);
}

template <int d>
class Detection {
public:
    using Work = DetectWorkspace<d>;
    using Row = typename Work::Row;

    Detection(const Scene<d>& scene, std::span<const double> reach, const DetectOptions& options,
              Neighbours<d>& neighbours)
        : scene_(scene),
          bodies_(scene.bodies),
          reach_(reach),
          skin_(options.skin),
          threads_(resolve_threads(options.threads)),
          neighbours_(neighbours),
          work_(neighbours.workspace),
          rows_(options.memory),
          n_(scene.bodies.count()),
          periodic_(scene.domain.periodic()) {}

    void run(ContactSet<d>& contacts) {
        // The candidates first: a search says clearly what is wrong with a body that is nowhere.
        if (!candidates_hold()) search();
        fill_rows();
        touch_all(contacts);
    }
    [[nodiscard]] bool candidates_hold() const;

private:
    [[nodiscard]] Kind kind(Index i) const {
        const Shape<d>& shape = scene_.shape_of(i);
        return std::holds_alternative<Ball<d>>(shape)        ? Kind::ball
               : std::holds_alternative<HalfSpace<d>>(shape) ? Kind::half_space
                                                             : Kind::other;
    }
    [[nodiscard]] bool half_spaces_hold() const;
    [[nodiscard]] double skin_of(Index i, double for_planes) const;
    void search();
    void fill_rows();
    void touch_all(ContactSet<d>& contacts);
    void touch(std::size_t begin, std::size_t end, ContactSet<d>& contacts,
               std::vector<Touch<d>>& touches) const;
    void touch_balls(const Candidate<d>& pair, const Row& a, const Row& b, const Vec<d>& apart,
                     ContactSet<d>& contacts) const;
    void touch_plane(const Candidate<d>& pair, const Row& a, const Row& b, ContactSet<d>& contacts) const;
    void touch_any(const Candidate<d>& pair, const Row& a, const Row& b, const Vec<d>& x_b,
                   ContactSet<d>& contacts, std::vector<Touch<d>>& touches) const;
    [[nodiscard]] bool boxes_apart(const Row& a, const Row& b, const Vec<d>& way) const;

    /// A contact without arms.
    static Contact<d>& add(ContactSet<d>& contacts, const Candidate<d>& pair, const Row& a, const Row& b,
                           std::uint32_t feature) {
        Contact<d>& contact = contacts.emplace_back();
        contact.a = pair.a;
        contact.b = pair.b;
        contact.key = {a.id, b.id, pair.image, feature};
        return contact;
    }

    const Scene<d>& scene_;
    const Bodies<d>& bodies_;
    std::span<const double> reach_;
    double skin_;
    int threads_;
    Neighbours<d>& neighbours_;
    Work& work_;
    ScratchArray<Row> rows_;  // a cache line of each body
    Index n_;
    bool periodic_;
};

template <int d>
bool Detection<d>::candidates_hold() const {
    if (!neighbours_.valid || neighbours_.position.size() != static_cast<std::size_t>(n_)) return false;
    // What a changing cell has moved a neighbour's image by, shared between the two bodies of a pair.
    const Domain<d>&now = scene_.domain, &then = neighbours_.domain;
    const double columns = now.period[0] > 0 ? 1 + std::abs(now.tilt) / now.period[0] : 1;
    const double cell_moved =
        0.5 * (columns * (now.period - then.period).cwiseAbs().sum() + std::abs(now.tilt - then.tilt));
    const Index blocks = (n_ + block_bodies - 1) / block_bodies;
    std::atomic<bool> hold = true;
    parallel_for(threads_, blocks, [&](Index block) {
        for (Index i = block * block_bodies; i < std::min(n_, (block + 1) * block_bodies); ++i) {
            const Kind k = kind(i);
            if (k == Kind::half_space) continue;
            // From where it was at the search, whatever sides it has been wrapped around since.
            const Vec<d> x = periodic_
                                 ? Vec<d>(bodies_.position[i] +
                                          scene_.domain.translation(bodies_.image[i] - neighbours_.image[i]))
                                 : bodies_.position[i];
            const Vec<d>& old = neighbours_.position[i];
            double moved = (x - old).norm() + cell_moved;
            if (k == Kind::other)
                moved += scene_.outer_radius(i) * chord(neighbours_.rotation[i], bodies_.rotation[i]);
            if (!(moved + reach_[i] <= neighbours_.reach[i])) {
                hold.store(false, std::memory_order_relaxed);
                return;
            }
        }
    });
    return hold && half_spaces_hold();
}

template <int d>
bool Detection<d>::half_spaces_hold() const {
    Bounds<d> all;
    bool measured = false;
    std::size_t k = 0;
    for (Index i = 0; i < n_; ++i) {
        if (kind(i) != Kind::half_space) continue;
        const Vec<d> old = neighbours_.normal[k++], now = matrix(bodies_.rotation[i]).col(d - 1);
        // Heights of places x change by (now - old) . (x - p) - old . (p - p_old): only what is across the plane
        // counts.
        double moved = std::abs(old.dot(bodies_.position[i] - neighbours_.position[i]));
        if (old != now) {
            if (!measured)
                for (Index j = 0; j < n_; ++j) all.include(bodies_.position[j]);
            measured = true;
            const Vec<d>& p = bodies_.position[i];
            const Vec<d> farthest = (all.lower - p).cwiseAbs().cwiseMax((all.upper - p).cwiseAbs());
            moved += (now - old).norm() * farthest.norm();
        }
        if (!(moved + reach_[i] <= neighbours_.reach[i])) return false;
    }
    return true;
}

template <int d>
double Detection<d>::skin_of(Index i, double for_planes) const {
    const Shape<d>& shape = scene_.shape_of(i);
    if (std::holds_alternative<HalfSpace<d>>(shape)) return skin_ * for_planes;
    // A surface has everything inside its box for a candidate anyway: a wide skin costs little and lets a drum turn.
    if constexpr (d == 3)
        if (std::holds_alternative<TriangleMesh>(shape)) return skin_ * scene_.outer_radius(i);
    return skin_ * std::clamp(scene_.inner_radius(i), 0.0, scene_.outer_radius(i));
}

template <int d>
void Detection<d>::search() {
    neighbours_.valid = false;
    double smallest = infinity;
    for (Index i = 0; i < n_; ++i)
        if (bodies_.is_free(i)) smallest = std::min(smallest, scene_.inner_radius(i));
    if (!std::isfinite(smallest)) smallest = 1;  // nothing can touch; any skin will do

    neighbours_.domain = scene_.domain;
    neighbours_.position.resize(n_);
    if (periodic_) neighbours_.image.resize(n_);
    bool turning = false;
    neighbours_.normal.clear();
    for (Index i = 0; i < n_; ++i) {
        turning = turning || kind(i) == Kind::other;
        if (kind(i) == Kind::half_space) neighbours_.normal.push_back(matrix(bodies_.rotation[i]).col(d - 1));
    }
    neighbours_.rotation.resize(turning ? n_ : 0);
    neighbours_.reach.resize(n_);
    work_.margin.resize(n_);
    parallel_for(threads_, n_, [&](Index i) {
        neighbours_.position[i] = bodies_.position[i];
        if (periodic_) neighbours_.image[i] = bodies_.image[i];
        if (turning) neighbours_.rotation[i] = bodies_.rotation[i];
        neighbours_.reach[i] = reach_[i] + skin_of(i, smallest);
        const bool plane = kind(i) == Kind::half_space;
        work_.margin[i] = neighbours_.reach[i] + rounding * (plane ? smallest : scene_.outer_radius(i));
    });
    find_pairs<d>(scene_, work_.margin, threads_, neighbours_.pairs, work_.pairs);
    work_.pairs = {};  // searches are rare
    std::vector<double>().swap(work_.margin);
    ++neighbours_.searches;
    neighbours_.valid = true;
}

template <int d>
void Detection<d>::fill_rows() {
    rows_.resize(n_);
    parallel_for(threads_, n_, [&](Index i) {
        Row& row = rows_[i];
        row.x = bodies_.position[i];
        row.radius = scene_.outer_radius(i);
        row.reach = reach_[i];
        row.id = bodies_.id[i];
        row.image = periodic_ ? image_code<d>(bodies_.image[i]) : 0;
        row.shape = bodies_.shape[i];
        row.kind = kind(i);
        row.extra = -1;
    });
    work_.planes.clear();
    work_.boxes.clear();
    for (Index i = 0; i < n_; ++i) {
        Row& row = rows_[i];
        if (row.kind == Kind::ball) continue;
        if (row.kind == Kind::half_space) {
            row.extra = static_cast<std::int32_t>(work_.planes.size());
            work_.planes.push_back({matrix(bodies_.rotation[i]).col(d - 1), row.x});
        } else if (const double inner = scene_.inner_radius(i);
                   !std::isfinite(inner) || row.radius > slender * inner) {
            row.extra = static_cast<std::int32_t>(work_.boxes.size());
            work_.boxes.push_back({i, {}});
        }
    }
    parallel_for(threads_, static_cast<Index>(work_.boxes.size()), [&](Index k) {
        const Index i = work_.boxes[k].body;
        work_.boxes[k].bounds = bounds<d>(scene_.shape_of(i), bodies_.size[i], bodies_.pose(i))
                                    .widened(rounding * rows_[i].radius);
    });
}

/// Contacts of candidates in their order; with several threads by windows of chunks, so that little is held twice.
template <int d>
void Detection<d>::touch_all(ContactSet<d>& contacts) {
    // Room for more than there were last time, made while nothing is in it: a list that grows is held twice for a
    // while.
    const std::size_t last = contacts.size();
    contacts.clear();
    if (contacts.capacity() < last + last / 8) {
        ContactSet<d>().swap(contacts);  // the old list goes first
        contacts.reserve(last + last / 4);
    }
    const std::size_t total = neighbours_.pairs.size();
    work_.touches.resize(std::max<std::size_t>(work_.touches.size(), threads_ > 1 ? window_chunks : 1));
    if (threads_ <= 1) {
        touch(0, total, contacts, work_.touches[0]);
        return;
    }
    work_.contacts.resize(window_chunks);
    std::array<std::size_t, window_chunks> start{};
    for (std::size_t window = 0; window < total; window += window_chunks * chunk_pairs) {
        const std::size_t left = total - window;
        const auto chunks =
            static_cast<Index>(std::min(window_chunks, (left + chunk_pairs - 1) / chunk_pairs));
        parallel_for_uneven(threads_, chunks, 1, [&](Index chunk) {
            const std::size_t begin = window + chunk * chunk_pairs;
            work_.contacts[chunk].clear();
            touch(begin, std::min(total, begin + chunk_pairs), work_.contacts[chunk], work_.touches[chunk]);
        });
        std::size_t end = contacts.size();
        for (Index chunk = 0; chunk < chunks; ++chunk) {
            start[chunk] = end;
            end += work_.contacts[chunk].size();
        }
        if (end > contacts.capacity()) contacts.reserve(end + end / 8);
        contacts.resize(end);
        parallel_for_uneven(threads_, chunks, 1, [&](Index chunk) {
            std::copy(work_.contacts[chunk].begin(), work_.contacts[chunk].end(),
                      contacts.begin() + static_cast<std::ptrdiff_t>(start[chunk]));
        });
    }
}

template <int d>
void Detection<d>::touch(std::size_t begin, std::size_t end, ContactSet<d>& contacts,
                         std::vector<Touch<d>>& touches) const {
    constexpr std::size_t ahead = 12;  // candidates whose rows are fetched early: they are anywhere in memory
    const Row* rows = rows_.data();
    const Candidate<d>* pairs = neighbours_.pairs.data();
    for (std::size_t i = begin; i < end; ++i) {
        if (i + ahead < end) __builtin_prefetch(&rows[pairs[i + ahead].b]);
        const Candidate<d>& pair = pairs[i];
        const Row &a = rows[pair.a], &b = rows[pair.b];
        if (a.kind == Kind::half_space || b.kind == Kind::half_space) {
            const Row& body = a.kind == Kind::half_space ? b : a;
            const auto& plane = work_.planes[a.kind == Kind::half_space ? a.extra : b.extra];
            if (plane.normal.dot(body.x - plane.point) - body.radius > a.reach + b.reach) continue;
            if (body.kind == Kind::ball)
                touch_plane(pair, a, b, contacts);
            else
                touch_any(pair, a, b, b.x, contacts, touches);
            continue;
        }
        Vec<d> x_b = b.x;
        if (periodic_) {
            const Image<d> periods = periods_between<d>(pair.image, a.image, b.image);
            x_b += scene_.domain.translation(periods);
        }
        const Vec<d> apart = a.x - x_b;
        const double near = a.radius + b.radius + a.reach + b.reach;
        if (apart.squaredNorm() > near * near * (1 + rounding)) continue;
        if (a.kind == Kind::ball && b.kind == Kind::ball) {
            touch_balls(pair, a, b, apart, contacts);
        } else {
            if ((a.extra >= 0 || b.extra >= 0) && boxes_apart(a, b, x_b - b.x)) continue;
            touch_any(pair, a, b, x_b, contacts, touches);
        }
    }
}

template <int d>
void Detection<d>::touch_balls(const Candidate<d>& pair, const Row& a, const Row& b, const Vec<d>& apart,
                               ContactSet<d>& contacts) const {
    const double distance = apart.norm();
    const double gap = distance - a.radius - b.radius;
    if (gap > a.reach + b.reach) return;
    Contact<d>& contact = add(contacts, pair, a, b, 0);
    // At one place the normal is anything; the last axis is as good as any and always the same.
    contact.normal = distance > 0 ? Vec<d>(apart / distance) : Vec<d>(Vec<d>::Unit(d - 1));
    contact.gap = gap;
    contact.arm_a = -(a.radius + 0.5 * gap) * contact.normal;
    contact.arm_b = (b.radius + 0.5 * gap) * contact.normal;
}

template <int d>
void Detection<d>::touch_plane(const Candidate<d>& pair, const Row& a, const Row& b,
                               ContactSet<d>& contacts) const {
    const bool plane_first = a.kind == Kind::half_space;
    const Row &body = plane_first ? b : a, &held = plane_first ? a : b;
    const auto& plane = work_.planes[held.extra];
    const double gap = plane.normal.dot(body.x - plane.point) - body.radius;
    if (gap > a.reach + b.reach) return;
    Contact<d>& contact = add(contacts, pair, a, b, 0);
    const Vec<d> arm = -(body.radius + 0.5 * gap) * plane.normal;
    contact.gap = gap;
    contact.normal = plane_first ? Vec<d>(-plane.normal) : plane.normal;
    (plane_first ? contact.arm_b : contact.arm_a) = arm;
    (plane_first ? contact.arm_a : contact.arm_b) = body.x + arm - held.x;
}

/// A quick look before the narrow phase, for bodies that fill little of their bounding ball.
template <int d>
bool Detection<d>::boxes_apart(const Row& a, const Row& b, const Vec<d>& way) const {
    const double near = a.reach + b.reach;
    if (a.extra >= 0 && b.extra >= 0) {
        Bounds<d> other_box = work_.boxes[b.extra].bounds;
        other_box.lower += way;
        other_box.upper += way;
        return !work_.boxes[a.extra].bounds.widened(near).overlaps(other_box);
    }
    const bool box_first = a.extra >= 0;
    const Bounds<d>& box = work_.boxes[box_first ? a.extra : b.extra].bounds;
    const Row& round = box_first ? b : a;
    const Vec<d> centre = box_first ? Vec<d>(round.x + way) : Vec<d>(round.x - way);
    const Vec<d> out = (box.lower - centre).cwiseMax(centre - box.upper).cwiseMax(0);
    const double far = round.radius + near;
    return out.squaredNorm() > far * far;
}

template <int d>
void Detection<d>::touch_any(const Candidate<d>& pair, const Row& a, const Row& b, const Vec<d>& x_b,
                             ContactSet<d>& contacts, std::vector<Touch<d>>& touches) const {
    touches.clear();
    const Placed<d> placed_a{&scene_.shapes[a.shape], bodies_.size[pair.a], {a.x, bodies_.rotation[pair.a]}};
    const Placed<d> placed_b{&scene_.shapes[b.shape], bodies_.size[pair.b], {x_b, bodies_.rotation[pair.b]}};
    find_touches<d>(placed_a, placed_b, a.reach + b.reach, touches);
    // Few, and mostly in order. Insertion keeps the order of equal features, if there are such.
    for (std::size_t i = 1; i < touches.size(); ++i)
        for (std::size_t j = i; j > 0 && touches[j].feature < touches[j - 1].feature; --j)
            std::swap(touches[j], touches[j - 1]);
    for (const Touch<d>& at : touches) {
        Contact<d>& contact = add(contacts, pair, a, b, at.feature);
        contact.arm_a = at.point - a.x;
        contact.arm_b = at.point - x_b;
        contact.normal = at.normal;
        contact.gap = at.gap;
    }
}

/// Bodies of a joint do not touch each other, unless it says so.
template <int d>
void drop_joined(const Scene<d>& scene, ContactSet<d>& contacts) {
    std::vector<std::pair<GlobalId, GlobalId>> joined;
    for (const Joint<d>& joint : scene.joints)
        if (joint.b && !joint.collide)
            joined.emplace_back(std::min(joint.a, *joint.b), std::max(joint.a, *joint.b));
    if (joined.empty()) return;
    std::sort(joined.begin(), joined.end());
    std::erase_if(contacts, [&](const Contact<d>& c) {
        return std::binary_search(joined.begin(), joined.end(), std::pair(c.key.first, c.key.second));
    });
}

}  // namespace

template <int d>
void detect(const Scene<d>& scene, std::span<const double> reach, const DetectOptions& options,
            Neighbours<d>& neighbours, ContactSet<d>& contacts) {
    if (reach.size() != static_cast<std::size_t>(scene.bodies.count()))
        fail("detect", fmt::format("{} reaches for {} bodies", reach.size(), scene.bodies.count()),
             "give one per body");
    if (!(options.skin >= 0 && std::isfinite(options.skin)))
        fail("detect.skin", fmt::format("{} is not a skin", options.skin),
             "give a finite number >= 0 (inner radii)");
    Detection<d>(scene, reach, options, neighbours).run(contacts);
    drop_joined(scene, contacts);
}

template <int d>
bool neighbours_hold(const Scene<d>& scene, std::span<const double> reach, const DetectOptions& options,
                     Neighbours<d>& neighbours) {
    return Detection<d>(scene, reach, options, neighbours).candidates_hold();
}

template bool neighbours_hold(const Scene<2>&, std::span<const double>, const DetectOptions&, Neighbours<2>&);
template bool neighbours_hold(const Scene<3>&, std::span<const double>, const DetectOptions&, Neighbours<3>&);
template void detect(const Scene<2>&, std::span<const double>, const DetectOptions&, Neighbours<2>&,
                     ContactSet<2>&);
template void detect(const Scene<3>&, std::span<const double>, const DetectOptions&, Neighbours<3>&,
                     ContactSet<3>&);

}  // namespace drystone
