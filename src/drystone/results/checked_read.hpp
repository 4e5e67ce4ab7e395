// Numbers of a checkpoint as they may be: no number that could lead out of an array, or to a state that cannot be, gets
// into a run.
#pragma once

#include "drystone/bodies/scene.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/files/ranks.hpp"

#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <vector>

namespace drystone::checked {

inline constexpr const char* cure = "use another copy, or run the scene again";

[[noreturn]] inline void refuse(const hdf5::Group& group, const std::string& name, const std::string& what) {
    fail(group.where(name), what, cure);
}

/// Which rows are read: `count` from `first` on, of `total` in the file.
struct RowRange {
    std::int64_t first = 0, count = 0, total = 0;
};

inline RowRange all_rows(std::size_t count) {
    const auto n = static_cast<std::int64_t>(count);
    return {0, n, n};
}

/// Our share.
inline RowRange share_of(const hdf5::Ranks& ranks, std::int64_t total) {
    const std::int64_t rank = hdf5::rank_of(ranks), count = hdf5::count_of(ranks);
    const std::int64_t first = rank * total / count;
    return {first, (rank + 1) * total / count - first, total};
}

/// The numbers of our rows of `columns` each.
template <class T>
std::vector<T> read_rows(const hdf5::Group& group, const std::string& name, const RowRange& rows,
                         int columns) {
    const std::int64_t size = group.size(name);
    if (size != columns * rows.total)
        refuse(group, name,
               fmt::format("holds {} numbers where there should be {}", size, columns * rows.total));
    const bool all = rows.count == rows.total;
    if (!all && group.rows(name) != rows.total)
        refuse(group, name,
               fmt::format("has {} rows where there should be {}", group.rows(name), rows.total));
    if constexpr (std::is_same_v<T, double>)
        return all ? group.read_doubles(name) : group.read_doubles(name, rows.first, rows.count);
    else
        return all ? group.read_longs(name) : group.read_longs(name, rows.first, rows.count);
}

/// What cannot lie outside: places, velocities and times are those of a run that goes on (run/run_loop.hpp), masses
/// those of a scene.
struct Range {
    double least = -most_number, most = most_number;
};
inline constexpr Range from_zero{0, most_number}, masses{0, most_mass};
inline constexpr Range impulses{-most_mass * most_number, most_mass* most_number};

inline std::vector<double> read_finite(const hdf5::Group& group, const std::string& name,
                                       const RowRange& rows, int columns = 1, Range range = {}) {
    std::vector<double> values = read_rows<double>(group, name, rows, columns);
    for (const double x : values)
        if (!(x >= range.least && x <= range.most))
            refuse(group, name,
                   fmt::format("holds {}, which is not from {:g} to {:g}", x, range.least, range.most));
    return values;
}

inline std::vector<double> read_finite(const hdf5::Group& group, const std::string& name, std::size_t size,
                                       Range range = {}) {
    return read_finite(group, name, all_rows(size), 1, range);
}

inline double read_finite(const hdf5::Group& group, const std::string& name, Range range = {}) {
    return read_finite(group, name, std::size_t{1}, range)[0];
}

inline std::vector<std::int64_t> read_within(const hdf5::Group& group, const std::string& name,
                                             const RowRange& rows, int columns, std::int64_t least,
                                             std::int64_t most) {
    std::vector<std::int64_t> values = read_rows<std::int64_t>(group, name, rows, columns);
    for (const std::int64_t x : values)
        if (x < least || x > most)
            refuse(group, name, fmt::format("holds {}, which is not from {} to {}", x, least, most));
    return values;
}

inline std::vector<std::int64_t> read_within(const hdf5::Group& group, const std::string& name,
                                             std::size_t size, std::int64_t least, std::int64_t most) {
    return read_within(group, name, all_rows(size), 1, least, most);
}

/// Numbers of steps, grains and bodies are counted on from what is read: there is room above.
inline constexpr std::int64_t any_count = std::int64_t{1} << 60U;

inline std::int64_t read_count(const hdf5::Group& group, const std::string& name) {
    return read_within(group, name, 1, 0, any_count)[0];
}

template <int n>
Eigen::Matrix<double, n, 1> read_vector(const hdf5::Group& group, const std::string& name) {
    const std::vector<double> values = read_finite(group, name, std::size_t{n});
    return Eigen::Map<const Eigen::Matrix<double, n, 1>>(values.data());
}

template <class V>
std::vector<V> read_vectors(const hdf5::Group& group, const std::string& name, const RowRange& rows,
                            Range range = {}) {
    constexpr std::size_t n = V::SizeAtCompileTime;
    const std::vector<double> values = read_finite(group, name, rows, n, range);
    std::vector<V> vectors(values.size() / n);
    for (std::size_t i = 0; i < vectors.size(); ++i) vectors[i] = Eigen::Map<const V>(values.data() + n * i);
    return vectors;
}

}  // namespace drystone::checked
