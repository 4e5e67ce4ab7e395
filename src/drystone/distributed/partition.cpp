#include "drystone/distributed/partition.hpp"

#include "drystone/base/error.hpp"

#include <zoltan.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drystone {

namespace {

template <int d>
int count_cells(void* data, int* error) {
    *error = ZOLTAN_OK;
    return static_cast<int>(static_cast<std::span<const WeighedCell<d>>*>(data)->size());
}

template <int d>
void list_cells(void* data, int /*globals*/, int /*locals*/, ZOLTAN_ID_PTR global, ZOLTAN_ID_PTR local,
                int /*weights*/, float* weight, int* error) {
    *error = ZOLTAN_OK;
    const auto& cells = *static_cast<std::span<const WeighedCell<d>>*>(data);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        global[i] = local[i] = static_cast<ZOLTAN_ID_TYPE>(i);
        weight[i] = static_cast<float>(cells[i].weight);
    }
}

template <int d>
int count_axes(void* /*data*/, int* error) {
    *error = ZOLTAN_OK;
    return d;
}

template <int d>
void place_cells(void* data, int /*globals*/, int /*locals*/, int count, ZOLTAN_ID_PTR /*global*/,
                 ZOLTAN_ID_PTR local, int /*axes*/, double* x, int* error) {
    *error = ZOLTAN_OK;
    const auto& cells = *static_cast<std::span<const WeighedCell<d>>*>(data);
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < d; ++k) x[i * d + k] = cells[local[i]].mark[k];
}

void see(int code, const char* what) {
    if (code != ZOLTAN_OK && code != ZOLTAN_WARN)
        fail("Zoltan", std::string(what) + " failed", "see what it printed; run on fewer ranks");
}

}  // namespace

template <int d>
Vec<d> mark_of(const TileGrid<d>& grid, const Image<d>& cell) {
    // Grows with the other indices, ever more slowly, and stays within the cell.
    auto aside = [&](int k) { return 2 / std::numbers::pi * std::atan(cell[k] / 64.0); };
    Vec<d> mark = grid.centre(cell);
    for (int k = 0; k < d; ++k) {
        double shift = 0.4 * aside((k + 1) % d);
        if constexpr (d == 3) shift += 0.04 * aside((k + 2) % d);
        mark[k] += shift * grid.rulers[0][k].width;
    }
    return mark;
}

template <int d>
void Partition<d>::Destroy::operator()(Zoltan_Struct* zoltan) const {
    int finished = 0;
    MPI_Finalized(&finished);
    if (finished == 0) Zoltan_Destroy(&zoltan);
}

template <int d>
Partition<d>::Partition(const Communicator& team) : team_(&team) {
    float version = 0;
    see(Zoltan_Initialize(0, nullptr, &version), "its start");
    zoltan_.reset(Zoltan_Create(team.comm()));
    Zoltan_Struct* z = zoltan_.get();
    for (const auto& [name, value] : {std::pair{"DEBUG_LEVEL", "0"},
                                      {"KEEP_CUTS", "1"},
                                      {"RETURN_LISTS", "NONE"},
                                      {"LB_METHOD", "RCB"},
                                      {"OBJ_WEIGHT_DIM", "1"},
                                      {"AVERAGE_CUTS", "1"},
                                      {"RCB_OUTPUT_LEVEL", "0"},
                                      {"NUM_GID_ENTRIES", "1"},
                                      {"NUM_LID_ENTRIES", "1"},
                                      {"CHECK_GEOM", "0"}})
        see(Zoltan_Set_Param(z, name, value), name);
    constexpr double far = infinity;
    ours_.lower = Vec<d>::Constant(-far);
    ours_.upper = Vec<d>::Constant(far);
}

template <int d>
void Partition<d>::balance(std::span<const WeighedCell<d>> cells) {
    if (team_->count() == 1) return;
    Zoltan_Struct* z = zoltan_.get();
    Zoltan_Set_Num_Obj_Fn(z, count_cells<d>, &cells);
    Zoltan_Set_Obj_List_Fn(z, list_cells<d>, &cells);
    Zoltan_Set_Num_Geom_Fn(z, count_axes<d>, &cells);
    Zoltan_Set_Geom_Multi_Fn(z, place_cells<d>, &cells);
    int changes = 0, globals = 0, locals = 0, imports = 0, exports = 0;
    ZOLTAN_ID_PTR import_global = nullptr, import_local = nullptr, export_global = nullptr,
                  export_local = nullptr;
    int *import_rank = nullptr, *import_part = nullptr, *export_rank = nullptr, *export_part = nullptr;
    see(Zoltan_LB_Partition(z, &changes, &globals, &locals, &imports, &import_global, &import_local,
                            &import_rank, &import_part, &exports, &export_global, &export_local, &export_rank,
                            &export_part),
        "cutting space");
    Zoltan_LB_Free_Part(&import_global, &import_local, &import_rank, &import_part);
    Zoltan_LB_Free_Part(&export_global, &export_local, &export_rank, &export_part);
    int axes = 0;
    std::array<double, 3> lower{}, upper{};
    see(Zoltan_RCB_Box(z, team_->rank(), &axes, &lower[0], &lower[1], &lower[2], &upper[0], &upper[1],
                       &upper[2]),
        "the box of a part");
    // Its infinity is a large number.
    for (int k = 0; k < d; ++k) {
        ours_.lower[k] = lower[k];
        ours_.upper[k] = upper[k];
    }
}

template <int d>
int Partition<d>::rank_of(const Vec<d>& mark) const {
    if (team_->count() == 1) return 0;
    // Well inside our own box there is nothing to ask. (On its border Zoltan's own rule holds.)
    if ((mark.array() > ours_.lower.array()).all() && (mark.array() < ours_.upper.array()).all())
        return team_->rank();
    std::array<double, 3> x{};
    std::copy_n(mark.data(), d, x.begin());
    int rank = 0;
    see(Zoltan_LB_Point_Assign(zoltan_.get(), x.data(), &rank), "finding a point's rank");
    return rank;
}

template Vec<2> mark_of(const TileGrid<2>&, const Image<2>&);
template Vec<3> mark_of(const TileGrid<3>&, const Image<3>&);
template class Partition<2>;
template class Partition<3>;

}  // namespace drystone
