#include "drystone/io/frame_file.hpp"

#include "drystone/base/error.hpp"
#include "drystone/io/hdf5.hpp"

#include <algorithm>
#include <climits>
#include <string>

namespace drystone {

namespace {

/// About so many elements around a round shape: smooth in a picture. In space shading hides the corners, in the plane nothing does.
template <int d>
constexpr int detail_of_pictures = d == 2 ? 72 : 24;

/// What the cells of a frame may take, bytes: a file is copied and looked at as a whole, so that few grains may be drawn finely, and many
/// may take what a sphere of 12 vertices takes.
constexpr std::size_t cheap_frame = 11'500'000, cheap_grain = 330;
/// Fields of a cell, bytes.
constexpr std::size_t bytes_of_fields = 43;

/// Vectors one after another: rows of a dataset. Eigen's fixed vectors of doubles have no padding.
template <class V>
std::span<const double> flat(const std::vector<V>& vectors) {
    static_assert(sizeof(V) == sizeof(double) * V::SizeAtCompileTime);
    return {reinterpret_cast<const double*>(vectors.data()), vectors.size() * V::SizeAtCompileTime};
}

void write_rotations(const hdf5::Group& group, const std::vector<Rotation<2>>& rotations) {
    std::vector<double> angles;
    angles.reserve(rotations.size());
    for (const Rotation<2>& rotation : rotations) angles.push_back(rotation.angle);
    group.write_doubles("rotation", angles);
}

void write_rotations(const hdf5::Group& group, const std::vector<Rotation<3>>& rotations) {
    std::vector<double> parts;
    parts.reserve(4 * rotations.size());
    for (const Rotation<3>& rotation : rotations)
        parts.insert(parts.end(), {rotation.q.w(), rotation.q.x(), rotation.q.y(), rotation.q.z()});
    group.write_doubles("rotation", parts, 4);
}

template <int d>
std::vector<std::uint8_t> motions_of(const Bodies<d>& bodies) {
    std::vector<std::uint8_t> motions;
    motions.reserve(bodies.motion.size());
    for (const Motion m : bodies.motion) motions.push_back(static_cast<std::uint8_t>(m));
    return motions;
}

template <int d>
void write_bodies(const hdf5::Group& group, const Bodies<d>& bodies) {
    group.write_longs("id", bodies.id);
    group.write_ints("shape", bodies.shape);
    group.write_doubles("size", bodies.size);
    group.write_ints("material", bodies.material);
    group.write_bytes("motion", std::span<const std::uint8_t>(motions_of(bodies)));
    group.write_doubles("position", flat(bodies.position), d);
    write_rotations(group, bodies.rotation);
    group.write_doubles("velocity", flat(bodies.velocity), d);
    group.write_doubles("spin", flat(bodies.spin), d == 2 ? 0 : 3);
}

template <int d>
void write_shapes(const hdf5::Group& group, const std::vector<Shape<d>>& shapes) {
    for (std::size_t k = 0; k < shapes.size(); ++k) {
        const hdf5::Group one = group.create_group(std::to_string(k));
        one.write_string("type", name_of<d>(shapes[k]));
        if (std::holds_alternative<HalfSpace<d>>(shapes[k])) continue;
        const Surface<d> surface = surface_of<d>(shapes[k], detail_of_pictures<d>);
        std::vector<int> corners;
        for (const auto& element : surface.elements)
            corners.insert(corners.end(), element.begin(), element.end());
        one.write_doubles("vertices", flat(surface.vertices), d);
        one.write_ints("elements", corners, d);
    }
}

template <int d>
void write_contacts(const hdf5::Group& group, const FrameState<d>& state) {
    const std::size_t n = state.contacts.size();
    std::vector<int> a, b;
    std::vector<float> gap, point, normal;
    a.reserve(n), b.reserve(n), gap.reserve(n), point.reserve(n * d), normal.reserve(n * d);
    for (const Contact<d>& c : state.contacts) {
        a.push_back(c.a);
        b.push_back(c.b);
        gap.push_back(static_cast<float>(c.gap));
        const Vec<d> at = state.bodies.position[c.a] + c.arm_a;
        for (int k = 0; k < d; ++k) {
            point.push_back(static_cast<float>(at[k]));
            normal.push_back(static_cast<float>(c.normal[k]));
        }
    }
    group.write_double("h", state.h);
    group.write_ints("a", a);
    group.write_ints("b", b);
    group.write_floats("gap", gap);
    group.write_floats("point", point, d);
    group.write_floats("normal", normal, d);
    group.write_doubles("impulse", flat(state.impulse), d);
}

/// Vectors of the plane lie in the plane z = 0.
template <int d>
void append(std::vector<float>& out, const Vec<d>& x) {
    for (int k = 0; k < 3; ++k) out.push_back(k < d ? static_cast<float>(x[k]) : 0.0F);
}

void append_spin(std::vector<float>& out, const Spin<2>& spin) {
    out.insert(out.end(), {0.0F, 0.0F, static_cast<float>(spin[0])});
}
void append_spin(std::vector<float>& out, const Spin<3>& spin) { append<3>(out, spin); }

/// Small numbers in 8 bits where all of them fit.
VtkGrid::Field numbers(const char* name, const std::vector<int>& values) {
    if (std::all_of(values.begin(), values.end(), [](int x) { return x >= 0 && x < 256; }))
        return {name, 0, std::vector<std::uint8_t>(values.begin(), values.end())};
    return {name, 0, values};
}

VtkGrid::Field identities(const std::vector<std::int64_t>& values) {
    if (std::all_of(values.begin(), values.end(), [](std::int64_t x) { return x <= INT_MAX; }))
        return {"id", 0, std::vector<int>(values.begin(), values.end())};
    return {"id", 0, values};
}

/// The largest force on each body, N.
template <int d>
std::vector<float> largest_forces(const FrameState<d>& state) {
    std::vector<float> force(state.bodies.id.size(), 0.0F);
    for (std::size_t i = 0; i < state.contacts.size(); ++i) {
        const auto f = static_cast<float>(state.impulse[i].norm() / state.h);
        for (const Index body : {state.contacts[i].a, state.contacts[i].b})
            force[body] = std::max(force[body], f);
    }
    return force;
}

template <int d>
VtkGrid grid_of_bodies(const FrameState<d>& state, FrameSurfaces<d>& surfaces) {
    const Bodies<d>& bodies = state.bodies;
    const int level = surfaces.choose_level(state);
    std::size_t vertices = 0, corners = 0;
    for (const Index shape : bodies.shape) {
        const CellShape<d>& cell = surfaces.surface(state, shape, level);
        vertices += cell.vertices.size();
        corners += cell.corners.size();
    }
    VtkGrid grid;
    grid.points.reserve(3 * vertices);
    grid.connectivity.reserve(corners);
    std::vector<std::int64_t> id;
    std::vector<int> shape, material;
    std::vector<std::uint8_t> held;
    const std::vector<float> forces = largest_forces(state);
    std::vector<float> radius, speed, velocity, spin, force;
    for (Index i = 0; i < bodies.count(); ++i) {
        const CellShape<d>& cell = surfaces.surface(state, bodies.shape[i], level);
        if (cell.corners.empty()) continue;
        const int first = static_cast<int>(grid.points.size() / 3);
        const Mat<d> R = bodies.size[i] * matrix(bodies.rotation[i]);
        for (const Vec<d>& x : cell.vertices) append<d>(grid.points, Vec<d>(bodies.position[i] + R * x));
        for (const int corner : cell.corners) grid.connectivity.push_back(first + corner);
        grid.end_cell(d == 2 ? VtkCell::polygon : VtkCell::triangle_strip);
        id.push_back(bodies.id[i]);
        shape.push_back(bodies.shape[i]);
        material.push_back(bodies.material[i]);
        held.push_back(bodies.is_free(i) ? 0 : 1);
        radius.push_back(static_cast<float>(state.radius[i]));
        speed.push_back(static_cast<float>(bodies.velocity[i].norm()));
        append<d>(velocity, bodies.velocity[i]);
        append_spin(spin, bodies.spin[i]);
        force.push_back(forces[i]);
    }
    grid.fields.push_back(identities(id));
    grid.fields.push_back({"held", 0, std::move(held)});
    grid.fields.push_back(numbers("shape", shape));
    grid.fields.push_back(numbers("material", material));
    grid.fields.push_back({"radius", 0, std::move(radius)});
    grid.fields.push_back({"speed", 0, std::move(speed)});
    grid.fields.push_back({"velocity", 3, std::move(velocity)});
    grid.fields.push_back({"spin", 3, std::move(spin)});
    grid.fields.push_back({"force", 0, std::move(force)});
    return grid;
}

template <int d>
VtkGrid grid_of_forces(const FrameState<d>& state) {
    const Bodies<d>& bodies = state.bodies;
    VtkGrid grid;
    std::vector<float> force, vector, normal, gap;
    const auto line = [&](const Vec<d>& from, const Vec<d>& to, std::size_t i) {
        const int first = static_cast<int>(grid.points.size() / 3);
        append<d>(grid.points, from);
        append<d>(grid.points, to);
        grid.connectivity.insert(grid.connectivity.end(), {first, first + 1});
        grid.end_cell(VtkCell::line);
        const Vec<d> f = state.impulse[i] / state.h;
        force.push_back(static_cast<float>(f.norm()));
        append<d>(vector, f);
        normal.push_back(static_cast<float>(f.dot(state.contacts[i].normal)));
        gap.push_back(static_cast<float>(state.contacts[i].gap));
    };
    for (std::size_t i = 0; i < state.contacts.size(); ++i) {
        const Contact<d>& c = state.contacts[i];
        if (state.impulse[i].isZero(0)) continue;
        const Vec<d>&a = bodies.position[c.a], &b = bodies.position[c.b];
        const bool free_a = bodies.is_free(c.a), free_b = bodies.is_free(c.b);
        // Bodies move by far less than their size in a step, but by a whole period where they touch across one.
        const Vec<d> branch = c.arm_a - c.arm_b;
        const bool near = free_a && free_b && (b - a - branch).norm() < 0.5 * branch.norm();
        if (near) {
            line(a, b, i);
            continue;
        }
        if (free_a) line(a, a + c.arm_a, i);
        if (free_b) line(b, b + c.arm_b, i);
    }
    grid.fields.push_back({"force", 0, std::move(force)});
    grid.fields.push_back({"force_vector", 3, std::move(vector)});
    grid.fields.push_back({"normal_force", 0, std::move(normal)});
    grid.fields.push_back({"gap", 0, std::move(gap)});
    return grid;
}

/// Writes beside the final name and renames, so that a reader never meets half a file.
template <class F>
void write_whole(const std::filesystem::path& path, F&& write) {
    std::filesystem::path temporary = path;
    temporary += ".part";
    try {
        const hdf5::File file = hdf5::File::create(temporary);
        write(file.root());
        file.flush();
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        throw;
    }
    std::error_code error;
    std::filesystem::rename(temporary, path, error);
    if (error)
        fail(path.string(), "cannot be written: " + error.message(), "see that the folder can be written to");
}

}  // namespace

template <int d>
void copy_frame(const Scene<d>& scene, const StepMemory<d>* memory, double h, FrameState<d>& out,
                const Vector* impulses) {
    out.time = scene.time;
    out.h = h;
    out.bodies = scene.bodies;
    if (!out.shapes || out.shapes->size() != scene.shapes.size())
        out.shapes = std::make_shared<const std::vector<Shape<d>>>(scene.shapes);
    out.radius.clear();
    for (Index i = 0; i < scene.bodies.count(); ++i) out.radius.push_back(scene.outer_radius(i));
    out.contacts.clear();
    out.impulse.clear();
    if (memory == nullptr) return;
    for (std::size_t i = 0; i < memory->contacts.size(); ++i) {
        const Contact<d>& c = memory->contacts[i];
        const Vec<d> impulse =
            impulse_of(memory->assembled, impulses != nullptr ? *impulses : memory->solution.r, c,
                       static_cast<Index>(i));
        if (impulse.isZero(0) && c.gap > 0) continue;
        out.contacts.push_back(c);
        out.impulse.push_back(impulse);
    }
}

template <int d>
const CellShape<d>& FrameSurfaces<d>::surface(const FrameState<d>& state, Index shape, int level) {
    if (shapes_ != state.shapes) {
        shapes_ = state.shapes;
        for (auto& cells : cells_) cells.clear();
    }
    auto& cells = cells_[level];
    cells.resize(shapes_->size());
    if (!cells[shape]) cells[shape] = std::make_unique<CellShape<d>>(cell_shape<d>((*shapes_)[shape], level));
    return *cells[shape];
}

template <int d>
int FrameSurfaces<d>::choose_level(const FrameState<d>& state) {
    const std::size_t most = std::max(cheap_frame, cheap_grain * state.bodies.shape.size());
    for (int level = finest_level; level > 0; --level) {
        std::size_t bytes = 0;
        for (const Index shape : state.bodies.shape)
            bytes += surface(state, shape, level).bytes() + bytes_of_fields;
        if (bytes <= most) return level;
    }
    return 0;
}

template <int d>
void write_grains(const std::filesystem::path& path, const FrameState<d>& state, FrameSurfaces<d>& surfaces) {
    const VtkGrid grid = grid_of_bodies(state, surfaces);
    write_whole(path, [&](const hdf5::Group& root) {
        write_vtk_grid(root, grid, state.time);
        root.write_int("dimension", d);
        root.write_double("time", state.time);
        write_bodies(root.create_group("bodies"), state.bodies);
        write_shapes<d>(root.create_group("shapes"), *state.shapes);
        write_contacts(root.create_group("contacts"), state);
    });
}

template <int d>
void write_forces(const std::filesystem::path& path, const FrameState<d>& state) {
    const VtkGrid grid = grid_of_forces(state);
    write_whole(path, [&](const hdf5::Group& root) { write_vtk_grid(root, grid, state.time); });
}

template <int d>
void write_frame(const std::filesystem::path& path, const Scene<d>& scene, const StepMemory<d>* memory,
                 double h) {
    FrameState<d> state;
    FrameSurfaces<d> surfaces;
    copy_frame(scene, memory, h, state);
    write_grains(path, state, surfaces);
}

#define DRYSTONE_FRAMES(d)                                                                                  \
    template void copy_frame(const Scene<d>&, const StepMemory<d>*, double, FrameState<d>&, const Vector*); \
    template class FrameSurfaces<d>;                                                                        \
    template void write_grains(const std::filesystem::path&, const FrameState<d>&, FrameSurfaces<d>&);      \
    template void write_forces(const std::filesystem::path&, const FrameState<d>&);                         \
    template void write_frame(const std::filesystem::path&, const Scene<d>&, const StepMemory<d>*, double)
DRYSTONE_FRAMES(2);
DRYSTONE_FRAMES(3);
#undef DRYSTONE_FRAMES

}  // namespace drystone
