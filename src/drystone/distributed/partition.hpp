// Which rank has which part of space: Zoltan's recursive bisection, of the cells of the global tiling.
#pragma once

#include "drystone/contact/tiling.hpp"
#include "drystone/distributed/communicator.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <memory_resource>

struct Zoltan_Struct;

namespace drystone {

/// The point by which a cell is told to be on one side of a cut. Near its centre, but no two cells have a coordinate in
/// common: so a cut can go through a layer of cells, where all the work is in one, and part it along another axis.
template <int d>
Vec<d> mark_of(const TileGrid<d>& grid, const Image<d>& cell);

/// A cell of the coarsest grid and the work in it.
template <int d>
struct WeighedCell {
    Vec<d> mark;
    double weight = 1;
};

/// Work, added up by cells.
template <int d>
class CellWeights {
public:
    void clear() {
        weight_.clear();
        last_ = weight_.end();
    }
    void add(const Image<d>& cell, double weight) {
        Key key;
        std::copy_n(cell.data(), d, key.begin());
        // Neighbours in a list are mostly neighbours in space.
        if (last_ == weight_.end() || last_->first != key) last_ = weight_.try_emplace(key, 0.0).first;
        last_->second += weight;
    }
    void list(const TileGrid<d>& grid, std::vector<WeighedCell<d>>& cells) const {
        cells.clear();
        for (const auto& [key, weight] : weight_)
            cells.push_back({mark_of<d>(grid, Eigen::Map<const Image<d>>(key.data())), weight});
    }

private:
    using Key = std::array<std::int32_t, d>;
    std::pmr::unsynchronized_pool_resource memory_;  // what was cleared is used again
    std::pmr::map<Key, double> weight_{&memory_};
    typename std::pmr::map<Key, double>::iterator last_ = weight_.end();
};

template <int d>
class Partition {
public:
    explicit Partition(const Communicator& team);

    /// Cuts space anew so that each rank gets about the same weight. Cells may be named by several ranks: weights add
    /// up. Collective.
    void balance(std::span<const WeighedCell<d>> cells);

    /// The rank that has a cell, by its mark.
    [[nodiscard]] int rank_of(const Vec<d>& mark) const;
    /// This rank's part of space, before it is rounded to whole cells; infinite at the outside.
    [[nodiscard]] const Bounds<d>& ours() const { return ours_; }

private:
    struct Destroy {
        void operator()(Zoltan_Struct* zoltan) const;
    };
    const Communicator* team_;
    std::unique_ptr<Zoltan_Struct, Destroy> zoltan_;
    Bounds<d> ours_;
};

}  // namespace drystone
