#include "drystone/results/sand_rows.hpp"

#include "drystone/continuum/sites.hpp"
#include "drystone/results/checked_read.hpp"
#include "drystone/results/rows.hpp"

#include <algorithm>

namespace drystone {

namespace {

using namespace checked;

/// Matrices row by row.
template <int d>
std::vector<double> flat_matrices(const std::vector<Mat<d>>& matrices) {
    std::vector<double> numbers;
    numbers.reserve(matrices.size() * d * d);
    for (const Mat<d>& m : matrices)
        for (int a = 0; a < d; ++a)
            for (int b = 0; b < d; ++b) numbers.push_back(m(a, b));
    return numbers;
}

template <int d>
std::vector<Mat<d>> read_matrices(const hdf5::Group& group, const std::string& name, const RowRange& rows) {
    const std::vector<double> numbers = read_finite(group, name, rows, d * d);
    std::vector<Mat<d>> out(static_cast<std::size_t>(rows.count));
    auto x = numbers.begin();
    for (Mat<d>& m : out)
        for (int a = 0; a < d; ++a)
            for (int b = 0; b < d; ++b) m(a, b) = *x++;
    return out;
}

/// Blocks of the grid are numbered by so many bits.
constexpr std::int64_t farthest_node = std::int64_t{1} << 22U;

template <int d>
std::vector<Lattice<d>> read_lattice(const hdf5::Group& group, const std::string& name,
                                     const RowRange& rows) {
    const std::vector<std::int64_t> numbers =
        read_within(group, name, rows, d, -farthest_node, farthest_node);
    std::vector<Lattice<d>> out(static_cast<std::size_t>(rows.count));
    for (std::size_t i = 0; i < out.size(); ++i)
        for (std::size_t k = 0; k < d; ++k)
            out[i][static_cast<Eigen::Index>(k)] = static_cast<std::int32_t>(numbers[d * i + k]);
    return out;
}

template <int d>
std::vector<int> flat_lattice(const std::vector<Lattice<d>>& places) {
    std::vector<int> numbers;
    for (const Lattice<d>& x : places) numbers.insert(numbers.end(), x.data(), x.data() + d);
    return numbers;
}

}  // namespace

template <int d>
void write_sand(const hdf5::Group& group, const Sand<d>& sand, const SandWarmStart<d>& warm) {
    const Particles<d>& p = sand.particles;
    const auto all = [](std::size_t n) { return hdf5::Slab{0, static_cast<std::int64_t>(n)}; };
    const hdf5::Slab rows = all(p.id.size());
    group.write_longs("next_id", {&p.next_id, 1});
    group.write_rows("id", std::span<const std::int64_t>(p.id), 0, rows);
    group.write_rows("volume", std::span<const double>(p.volume), 0, rows);
    group.write_rows("position", flat(p.position), d, rows);
    group.write_rows("velocity", flat(p.velocity), d, rows);
    group.write_rows("gradient", std::span<const double>(flat_matrices<d>(p.gradient)), d * d, rows);
    group.write_rows("frame", std::span<const double>(flat_matrices<d>(p.frame)), d * d, rows);
    group.write_rows("cohesion", std::span<const double>(p.cohesion), 0, all(p.cohesion.size()));
    const hdf5::Group starts = group.create_group("warm");
    std::vector<Lattice<d>> place;
    std::vector<std::int64_t> part;
    for (const StressKey<d>& key : warm.key) {
        place.push_back(key.at);
        part.push_back(key.part);
    }
    starts.write_rows("place", std::span<const int>(flat_lattice<d>(place)), d, all(place.size()));
    starts.write_rows("part", std::span<const std::int64_t>(part), 0, all(part.size()));
    starts.write_rows("stress", flat(warm.stress), tensor_size<d>, all(warm.stress.size()));
    starts.write_rows("friction", std::span<const double>(warm.friction), 0, all(warm.friction.size()));
    std::vector<Lattice<d>> node;
    std::vector<std::int64_t> body;
    std::vector<Vec<d>> force;
    for (const auto& touch : warm.touch) {
        node.push_back(touch.node);
        body.push_back(touch.body);
        force.push_back(touch.force);
    }
    starts.write_rows("touch_node", std::span<const int>(flat_lattice<d>(node)), d, all(node.size()));
    starts.write_rows("touch_body", std::span<const std::int64_t>(body), 0, all(body.size()));
    starts.write_rows("touch_force", flat(force), d, all(force.size()));
}

template <int d>
void read_sand(const hdf5::Group& group, GlobalId bodies, Sand<d>& sand, SandWarmStart<d>& warm) {
    Particles<d>& p = sand.particles;
    const RowRange rows = all_rows(static_cast<std::size_t>(group.size("id")));
    p.next_id = read_count(group, "next_id");
    p.id = read_within(group, "id", rows, 1, 0, std::max<std::int64_t>(p.next_id - 1, 0));
    std::vector<GlobalId> sorted = p.id;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        refuse(group, "id", "holds one twice");
    p.volume = read_finite(group, "volume", rows, 1, {least_mass, most_mass});
    p.position = read_vectors<Vec<d>>(group, "position", rows);
    p.velocity = read_vectors<Vec<d>>(group, "velocity", rows);
    p.gradient = read_matrices<d>(group, "gradient", rows);
    p.frame = read_matrices<d>(group, "frame", rows);
    const auto cohesion = static_cast<std::size_t>(group.size("cohesion"));
    if (cohesion != 0 && cohesion != p.id.size())
        refuse(group, "cohesion", "is not there for each particle, nor for none");
    p.cohesion = read_finite(group, "cohesion", cohesion, from_zero);
    const hdf5::Group starts = group.open_group("warm");
    const RowRange nodes = all_rows(static_cast<std::size_t>(starts.size("stress")) / tensor_size<d>);
    const auto place = read_lattice<d>(starts, "place", nodes);
    const auto part =
        read_within(starts, "part", nodes, 1, 0, std::max<std::int64_t>(p.next_id - 1, corners<d> - 1));
    warm.key.clear();
    for (std::size_t k = 0; k < place.size(); ++k) warm.key.push_back({place[k], part[k]});
    if (!std::is_sorted(warm.key.begin(), warm.key.end(), key_before<d>))
        refuse(starts, "place", "is not sorted");
    warm.stress = read_vectors<Tensor<d>>(starts, "stress", nodes);
    const auto friction = static_cast<std::size_t>(starts.size("friction"));
    if (friction != 0 && friction != warm.key.size())
        refuse(starts, "friction", "is not there for each stress, nor for none");
    warm.friction = read_finite(starts, "friction", friction, from_zero);
    const RowRange touches = all_rows(static_cast<std::size_t>(starts.size("touch_body")));
    const auto node = read_lattice<d>(starts, "touch_node", touches);
    const auto body = read_within(starts, "touch_body", touches, 1, 0, std::max<std::int64_t>(bodies - 1, 0));
    const auto force = read_vectors<Vec<d>>(starts, "touch_force", touches, impulses);
    warm.touch.clear();
    for (std::size_t k = 0; k < body.size(); ++k) warm.touch.push_back({node[k], body[k], force[k]});
}

template void write_sand(const hdf5::Group&, const Sand<2>&, const SandWarmStart<2>&);
template void write_sand(const hdf5::Group&, const Sand<3>&, const SandWarmStart<3>&);
template void read_sand(const hdf5::Group&, GlobalId, Sand<2>&, SandWarmStart<2>&);
template void read_sand(const hdf5::Group&, GlobalId, Sand<3>&, SandWarmStart<3>&);

}  // namespace drystone
