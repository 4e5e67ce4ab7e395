// Balls in cells, for asking which are near a place: what random placing needs, where balls come one by one and sizes
// differ widely.
//
// A ball is in the level of its size (cells are powers of two, at least its diameter wide), so that a question costs
// about as much for many sizes as for one. Cells are found by a hash of their numbers; nothing depends on addresses.
#pragma once

#include "drystone/bodies/scene.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace drystone {

/// The image of a place that is inside the periodic domain.
template <int d>
Vec<d> wrapped(const Domain<d>& domain, Vec<d> x) {
    // The last direction first: its images are displaced along x where the cell is tilted.
    for (int k = d - 1; k >= 0; --k) {
        if (!(domain.period[k] > 0)) continue;
        Image<d> periods = Image<d>::Zero();
        periods[k] = -static_cast<std::int32_t>(std::floor((x[k] - domain.lower[k]) / domain.period[k]));
        x += domain.translation(periods);
    }
    return x;
}

template <int d>
class BallGrid {
public:
    explicit BallGrid(const Domain<d>& domain) : domain_(domain) {}

    [[nodiscard]] Index count() const { return static_cast<Index>(balls_.size()); }
    [[nodiscard]] double radius(Index ball) const { return balls_[ball].radius; }

    void add(const Vec<d>& x, double radius) {
        const double cell = cell_for(radius);
        auto level =
            std::find_if(levels_.begin(), levels_.end(), [&](const Level& l) { return l.cell == cell; });
        if (level == levels_.end()) {
            levels_.push_back({cell, 0, std::vector<Index>(64, -1), 0});
            level = levels_.end() - 1;
        }
        Ball ball{wrapped(domain_, x), radius, {}, -1, static_cast<Index>(level - levels_.begin())};
        ball.cell = cell_at(ball.x, cell);
        balls_.push_back(ball);
        level->radius = std::max(level->radius, radius);
        if (++level->count > level->head.size()) {
            rehash(*level, ball.level);
        } else {
            link(*level, count() - 1);
        }
    }

    /// Calls visit(ball, way) for each image of a ball whose centre is nearer to x than `reach` plus its radius; `way`
    /// leads from its centre to x. Ends, with true, when visit answers true. `least`: levels of smaller balls are left
    /// out.
    template <class Visit>
    bool any_near(const Vec<d>& x, double reach, double least, Visit&& visit) const {
        const Vec<d> inside = wrapped(domain_, x);
        const double cell = least > 0 ? cell_for(least) : 0;
        for (const Level& level : levels_) {
            if (level.cell >= cell && in_images(level, inside, d - 1, reach, visit)) return true;
        }
        return false;
    }

private:
    using Cell = std::array<std::int32_t, d>;
    struct Ball {
        Vec<d> x;
        double radius;
        Cell cell;
        Index next;  // in the same bucket; -1: the last
        Index level;
    };
    struct Level {
        double cell, radius;  // of the largest ball
        std::vector<Index> head;
        std::size_t count;
    };

    static double cell_for(double radius) { return std::ldexp(1.0, std::ilogb(2 * radius) + 1); }
    static std::int32_t coordinate(double x, double cell) {
        return static_cast<std::int32_t>(std::clamp(std::floor(x / cell), -2e9, 2e9));
    }
    static Cell cell_at(const Vec<d>& x, double cell) {
        Cell c;
        for (int k = 0; k < d; ++k) c[static_cast<std::size_t>(k)] = coordinate(x[k], cell);
        return c;
    }
    static std::size_t bucket(const Cell& c, std::size_t buckets) {
        std::uint64_t h = 0;
        for (const std::int32_t k : c) {
            h = (h ^ static_cast<std::uint32_t>(k)) * 0x9e3779b97f4a7c15U;
            h ^= h >> 29U;
        }
        return static_cast<std::size_t>(h) & (buckets - 1);
    }
    void link(Level& level, Index ball) {
        Index& head = level.head[bucket(balls_[ball].cell, level.head.size())];
        balls_[ball].next = head;
        head = ball;
    }
    void rehash(Level& level, Index number) {
        level.head.assign(4 * level.head.size(), -1);
        for (Index i = 0; i < count(); ++i) {
            if (balls_[i].level == number) link(level, i);
        }
    }

    /// All images of x in the directions 0 to k that are near enough to the domain.
    template <class Visit>
    bool in_images(const Level& level, Vec<d> x, int k, double reach, Visit& visit) const {
        if (k < 0) return in_cells(level, x, reach, visit);
        const double period = domain_.period[k];
        if (!(period > 0)) return in_images(level, x, k - 1, reach, visit);
        // A translation in the last direction may have moved x along the first.
        if (k < d - 1) {
            Image<d> back = Image<d>::Zero();
            back[k] = -static_cast<std::int32_t>(std::floor((x[k] - domain_.lower[k]) / period));
            x += domain_.translation(back);
        }
        const double far = reach + level.radius;
        const auto most = static_cast<std::int32_t>(std::ceil(far / period));
        for (std::int32_t n = -most; n <= most; ++n) {
            Image<d> periods = Image<d>::Zero();
            periods[k] = n;
            const Vec<d> y = x + domain_.translation(periods);
            if (y[k] < domain_.lower[k] - far || y[k] > domain_.lower[k] + period + far) continue;
            if (in_images(level, y, k - 1, reach, visit)) return true;
        }
        return false;
    }

    template <class Visit>
    bool in_cells(const Level& level, const Vec<d>& x, double reach, Visit& visit) const {
        const double far = reach + level.radius;
        const Cell low = cell_at(x.array() - far, level.cell), high = cell_at(x.array() + far, level.cell);
        Cell c = low;
        while (true) {
            for (Index i = level.head[bucket(c, level.head.size())]; i >= 0; i = balls_[i].next) {
                const Ball& ball = balls_[i];
                if (ball.cell != c) continue;
                const Vec<d> way = x - ball.x;
                const double near = reach + ball.radius;
                if (way.squaredNorm() < near * near && visit(i, way)) return true;
            }
            std::size_t k = 0;
            while (k < d && c[k] == high[k]) {
                c[k] = low[k];
                ++k;
            }
            if (k == d) return false;
            ++c[k];
        }
    }

    Domain<d> domain_;
    std::vector<Level> levels_;
    std::vector<Ball> balls_;
};

}  // namespace drystone
