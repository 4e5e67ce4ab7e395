#include "drystone/results/frame_file.hpp"

#include "drystone/base/error.hpp"
#include "drystone/continuum/sites.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/files/shared_file.hpp"
#include "drystone/files/whole_file.hpp"
#include "drystone/results/rows.hpp"

#include <algorithm>
#include <climits>
#include <string>

namespace drystone {

namespace {

/// About so many elements around a round shape: smooth in a picture. In space shading hides the corners, in the plane
/// nothing does.
template <int d>
constexpr int detail_of_pictures = d == 2 ? 72 : 24;

/// What the cells of a frame may take, bytes: a file is copied and looked at as a whole, so that few grains may be
/// drawn finely, and many may take what a sphere of 12 vertices takes.
constexpr std::int64_t cheap_frame = 11'500'000, cheap_grain = 330;
/// Fields of a cell, bytes.
constexpr std::int64_t bytes_of_fields = 43;

/// Contacts, column by column.
struct ContactColumns {
    std::vector<int> a, b;
    std::vector<float> gap, point, normal;
    std::vector<double> impulse;
};

template <int d>
ContactColumns columns_of(const std::vector<PlacedContact<d>>& contacts) {
    const std::size_t n = contacts.size();
    ContactColumns columns;
    columns.a.reserve(n), columns.b.reserve(n), columns.gap.reserve(n);
    columns.point.reserve(n * d), columns.normal.reserve(n * d), columns.impulse.reserve(n * d);
    for (const PlacedContact<d>& c : contacts) {
        columns.a.push_back(static_cast<int>(c.row_a));
        columns.b.push_back(static_cast<int>(c.row_b));
        columns.gap.push_back(static_cast<float>(c.contact.gap));
        const Vec<d> at = c.x_a + c.contact.arm_a;
        for (int k = 0; k < d; ++k) {
            columns.point.push_back(static_cast<float>(at[k]));
            columns.normal.push_back(static_cast<float>(c.contact.normal[k]));
            columns.impulse.push_back(c.impulse[k]);
        }
    }
    return columns;
}

/// The surface of a shape for analysis; nothing for half-spaces.
template <int d>
struct ShapeSurface {
    std::string type;
    bool ends = true;
    std::vector<Vec<d>> vertices;
    std::vector<int> corners;
};

template <int d>
std::vector<ShapeSurface<d>> surfaces_of(const std::vector<Shape<d>>& shapes) {
    std::vector<ShapeSurface<d>> surfaces;
    for (const Shape<d>& shape : shapes) {
        ShapeSurface<d>& one = surfaces.emplace_back();
        one.type = name_of<d>(shape);
        one.ends = !std::holds_alternative<HalfSpace<d>>(shape);
        if (!one.ends) continue;
        Surface<d> surface = surface_of<d>(shape, detail_of_pictures<d>);
        one.vertices = std::move(surface.vertices);
        for (const auto& element : surface.elements)
            one.corners.insert(one.corners.end(), element.begin(), element.end());
    }
    return surfaces;
}

/// All that goes into a file of grains but the state's own arrays.
template <int d>
struct GrainsContent {
    VtkGrid grid;
    std::vector<double> rotation;
    std::vector<std::uint8_t> motion;
    ContactColumns contacts;
    std::vector<ShapeSurface<d>> shapes;
};

template <int d>
void write_bodies(const hdf5::Group& group, const Bodies<d>& bodies, const GrainsContent<d>& content,
                  hdf5::Slab slab) {
    group.write_rows("id", std::span<const std::int64_t>(bodies.id), 0, slab);
    group.write_rows("shape", std::span<const int>(bodies.shape), 0, slab);
    group.write_rows("size", std::span<const double>(bodies.size), 0, slab);
    group.write_rows("material", std::span<const int>(bodies.material), 0, slab);
    group.write_rows("motion", std::span<const std::uint8_t>(content.motion), 0, slab);
    group.write_rows("position", flat(bodies.position), d, slab);
    group.write_rows("rotation", std::span<const double>(content.rotation), d == 2 ? 0 : 4, slab);
    group.write_rows("velocity", flat(bodies.velocity), d, slab);
    group.write_rows("spin", flat(bodies.spin), d == 2 ? 0 : 3, slab);
}

template <int d>
void write_shapes(const hdf5::Group& group, const std::vector<ShapeSurface<d>>& shapes) {
    for (std::size_t k = 0; k < shapes.size(); ++k) {
        const hdf5::Group one = group.create_group(std::to_string(k));
        one.write_string("type", shapes[k].type);
        if (!shapes[k].ends) continue;
        one.write_doubles("vertices", flat(shapes[k].vertices), d);
        one.write_ints("elements", shapes[k].corners, d);
    }
}

template <int d>
void write_contacts(const hdf5::Group& group, const ContactColumns& contacts, double h, hdf5::Slab slab) {
    group.write_double("h", h);
    group.write_rows("a", std::span<const int>(contacts.a), 0, slab);
    group.write_rows("b", std::span<const int>(contacts.b), 0, slab);
    group.write_rows("gap", std::span<const float>(contacts.gap), 0, slab);
    group.write_rows("point", std::span<const float>(contacts.point), d, slab);
    group.write_rows("normal", std::span<const float>(contacts.normal), d, slab);
    group.write_rows("impulse", std::span<const double>(contacts.impulse), d, slab);
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

bool fit_in_8_bits(const std::vector<int>& values) {
    return std::all_of(values.begin(), values.end(), [](int x) { return x >= 0 && x < 256; });
}

/// Numbers take 8 bits, and ids 32, where all of them fit, those of the other ranks too. Collective.
void shorten(const hdf5::Ranks& ranks, VtkGrid& grid) {
    for (VtkGrid::Field& field : grid.fields) {
        if (const auto* ints = std::get_if<std::vector<int>>(&field.values)) {
            if (hdf5::all_of(ranks, fit_in_8_bits(*ints)))
                field.values = std::vector<std::uint8_t>(ints->begin(), ints->end());
        } else if (const auto* longs = std::get_if<std::vector<std::int64_t>>(&field.values)) {
            const bool fit =
                std::all_of(longs->begin(), longs->end(), [](std::int64_t x) { return x <= INT_MAX; });
            if (hdf5::all_of(ranks, fit)) field.values = std::vector<int>(longs->begin(), longs->end());
        }
    }
}

template <int d>
VtkGrid grid_of_bodies(const FrameState<d>& state, FrameSurfaces<d>& surfaces, int level) {
    const Bodies<d>& bodies = state.bodies;
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
        force.push_back(state.force[i]);
    }
    grid.fields.push_back({"id", 0, std::move(id)});
    grid.fields.push_back({"held", 0, std::move(held)});
    grid.fields.push_back({"shape", 0, std::move(shape)});
    grid.fields.push_back({"material", 0, std::move(material)});
    grid.fields.push_back({"radius", 0, std::move(radius)});
    grid.fields.push_back({"speed", 0, std::move(speed)});
    grid.fields.push_back({"velocity", 3, std::move(velocity)});
    grid.fields.push_back({"spin", 3, std::move(spin)});
    grid.fields.push_back({"force", 0, std::move(force)});
    return grid;
}

template <int d>
VtkGrid grid_of_forces(const FrameState<d>& state) {
    VtkGrid grid;
    std::vector<float> force, vector, normal, gap;
    const auto line = [&](const Vec<d>& from, const Vec<d>& to, const PlacedContact<d>& c) {
        const int first = static_cast<int>(grid.points.size() / 3);
        append<d>(grid.points, from);
        append<d>(grid.points, to);
        grid.connectivity.insert(grid.connectivity.end(), {first, first + 1});
        grid.end_cell(VtkCell::line);
        const Vec<d> f = c.impulse / state.h;
        force.push_back(static_cast<float>(f.norm()));
        append<d>(vector, f);
        normal.push_back(static_cast<float>(f.dot(c.contact.normal)));
        gap.push_back(static_cast<float>(c.contact.gap));
    };
    for (const PlacedContact<d>& c : state.contacts) {
        if (c.impulse.isZero(0)) continue;
        // Bodies move by far less than their size in a step, but by a whole period where they touch across one.
        const Vec<d>&arm_a = c.contact.arm_a, &arm_b = c.contact.arm_b;
        const Vec<d> branch = arm_a - arm_b;
        const bool near = c.free_a && c.free_b && (c.x_b - c.x_a - branch).norm() < 0.5 * branch.norm();
        if (near) {
            line(c.x_a, c.x_b, c);
            continue;
        }
        if (c.free_a) line(c.x_a, c.x_a + arm_a, c);
        if (c.free_b) line(c.x_b, c.x_b + arm_b, c);
    }
    grid.fields.push_back({"force", 0, std::move(force)});
    grid.fields.push_back({"force_vector", 3, std::move(vector)});
    grid.fields.push_back({"normal_force", 0, std::move(normal)});
    grid.fields.push_back({"gap", 0, std::move(gap)});
    return grid;
}

/// A frame whose bodies are there, without contacts.
template <int d>
void begin_frame(const Scene<d>& scene, double h, FrameState<d>& out) {
    out.time = scene.time;
    out.h = h;
    if (!out.shapes || out.shapes->size() != scene.shapes.size())
        out.shapes = std::make_shared<const std::vector<Shape<d>>>(scene.shapes);
    out.radius.clear();
    for (Index i = 0; i < out.bodies.count(); ++i)
        out.radius.push_back(scene.outer_radius(out.bodies.shape[i], out.bodies.size[i]));
    out.force.assign(out.bodies.id.size(), 0.0F);
    out.contacts.clear();
}

/// One that neither carries anything nor overlaps is not drawn.
template <int d>
void add_contact(const PlacedContact<d>& c, FrameState<d>& out) {
    if (!c.impulse.isZero(0) || c.contact.gap <= 0) out.contacts.push_back(c);
}

float force_of(double impulse, double h) { return h > 0 ? static_cast<float>(impulse / h) : 0.0F; }

/// Writes beside the final name and renames, so that a reader never meets half a file.
template <class F>
void write_whole(const std::filesystem::path& path, const hdf5::Ranks& ranks, F&& write) {
    if (!ranks.alone()) {
        write_shared_file(path, ranks, 0, write, {}, false);
        return;
    }
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
    finish_part(path, false);
}

}  // namespace

template <int d>
void copy_frame(const Scene<d>& scene, const StepMemory<d>* memory, double h, FrameState<d>& out,
                const Vector* impulses) {
    out.bodies = scene.bodies;
    begin_frame(scene, h, out);
    if (memory == nullptr) return;
    for (std::size_t i = 0; i < memory->contacts.size(); ++i) {
        const Contact<d>& c = memory->contacts[i];
        const Vec<d> impulse =
            impulse_of(memory->assembled, impulses != nullptr ? *impulses : memory->solution.r, c,
                       static_cast<Index>(i));
        add_contact(placed(scene, c, impulse), out);
        for (const Index body : {c.a, c.b})
            out.force[body] = std::max(out.force[body], force_of(impulse.norm(), h));
    }
}

template <int d>
void copy_sand(const Sand<d>& sand, const SandMemory<d>* memory, FrameState<d>& out) {
    const Particles<d>& p = sand.particles;
    out.sand.id = p.id;
    out.sand.volume = p.volume;
    out.sand.position = p.position;
    out.sand.velocity = p.velocity;
    out.sand.pressure.assign(p.id.size(), 0.0F);
    if (memory == nullptr) return;
    const std::vector<double> pressure = pressures(sand, memory->warm);
    std::copy(pressure.begin(), pressure.end(), out.sand.pressure.begin());
}

template <int d>
void copy_frame(const Scene<d>& scene, Slices<d> slices, double h, FrameState<d>& out) {
    out.bodies = std::move(slices.bodies);
    begin_frame(scene, h, out);
    for (std::size_t i = 0; i < out.force.size(); ++i) out.force[i] = force_of(slices.largest_impulse[i], h);
    for (const SlicedContact<d>& c : slices.contacts) add_contact<d>(c, out);
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
int FrameSurfaces<d>::choose_level(const FrameState<d>& state, const hdf5::Ranks& ranks) {
    auto bodies = static_cast<std::int64_t>(state.bodies.shape.size());
    hdf5::add_up(ranks, {&bodies, 1});
    const std::int64_t most = std::max(cheap_frame, cheap_grain * bodies);
    for (int level = finest_level; level > 0; --level) {
        std::int64_t bytes = 0;
        hdf5::together(ranks, [&] {
            for (const Index shape : state.bodies.shape)
                bytes += static_cast<std::int64_t>(surface(state, shape, level).bytes()) + bytes_of_fields;
        });
        hdf5::add_up(ranks, {&bytes, 1});
        if (bytes <= most) return level;
    }
    return 0;
}

template <int d>
void write_grains(const std::filesystem::path& path, const FrameState<d>& state, FrameSurfaces<d>& surfaces,
                  const FrameSlabs& slabs) {
    const hdf5::Ranks ranks = hdf5::others_of(slabs.ranks);
    const int level = surfaces.choose_level(state, ranks);
    GrainsContent<d> content;
    hdf5::together(ranks, [&] {
        content.grid = grid_of_bodies(state, surfaces, level);
        content.rotation = rotations_of(state.bodies.rotation);
        for (const Motion m : state.bodies.motion) content.motion.push_back(static_cast<std::uint8_t>(m));
        content.contacts = columns_of(state.contacts);
        content.shapes = surfaces_of<d>(*state.shapes);
    });
    shorten(ranks, content.grid);
    const VtkSlabs grid = vtk_slabs(ranks, content.grid);
    const hdf5::Slab bodies = hdf5::slab_of(ranks, state.bodies.count());
    const hdf5::Slab contacts = hdf5::slab_of(ranks, static_cast<std::int64_t>(state.contacts.size()));
    // The same on all ranks: the sizes are those of the whole.
    if (bodies.total > INT_MAX)
        fail(path.string(), "has more than 2^31 bodies", "leave [output] frames_every away");
    shift_indices(content.grid, grid, path.string());
    write_whole(path, ranks, [&](const hdf5::Group& root) {
        write_vtk_grid(root, content.grid, grid, state.time);
        root.write_int("dimension", d);
        root.write_double("time", state.time);
        write_bodies(root.create_group("bodies"), state.bodies, content, bodies);
        write_shapes<d>(root.create_group("shapes"), content.shapes);
        write_contacts<d>(root.create_group("contacts"), content.contacts, state.h, contacts);
    });
}

template <int d>
void write_forces(const std::filesystem::path& path, const FrameState<d>& state, const FrameSlabs& slabs) {
    const hdf5::Ranks ranks = hdf5::others_of(slabs.ranks);
    VtkGrid grid;
    hdf5::together(ranks, [&] { grid = grid_of_forces(state); });
    const VtkSlabs places = vtk_slabs(ranks, grid);
    shift_indices(grid, places, path.string());
    write_whole(path, ranks,
                [&](const hdf5::Group& root) { write_vtk_grid(root, grid, places, state.time); });
}

template <int d>
void write_sand_frame(const std::filesystem::path& path, const FrameState<d>& state) {
    const auto& sand = state.sand;
    VtkGrid grid;
    std::vector<float> speed, velocity;
    for (std::size_t i = 0; i < sand.id.size(); ++i) {
        append<d>(grid.points, sand.position[i]);
        grid.connectivity.push_back(static_cast<int>(i));
        grid.end_cell(VtkCell::vertex);
        speed.push_back(static_cast<float>(sand.velocity[i].norm()));
        append<d>(velocity, sand.velocity[i]);
    }
    grid.fields.push_back({"id", 0, sand.id});
    grid.fields.push_back({"speed", 0, std::move(speed)});
    grid.fields.push_back({"velocity", 3, std::move(velocity)});
    grid.fields.push_back({"pressure", 0, sand.pressure});
    const hdf5::Ranks alone;
    shorten(alone, grid);
    const VtkSlabs places = vtk_slabs(alone, grid);
    write_whole(path, alone, [&](const hdf5::Group& root) {
        write_vtk_grid(root, grid, places, state.time);
        root.write_int("dimension", d);
        root.write_double("time", state.time);
        const hdf5::Group particles = root.create_group("particles");
        const hdf5::Slab rows = hdf5::slab_of(alone, static_cast<std::int64_t>(sand.id.size()));
        particles.write_rows("id", std::span<const std::int64_t>(sand.id), 0, rows);
        particles.write_rows("volume", std::span<const double>(sand.volume), 0, rows);
        particles.write_rows("position", flat(sand.position), d, rows);
        particles.write_rows("velocity", flat(sand.velocity), d, rows);
    });
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
    template void copy_frame(const Scene<d>&, Slices<d>, double, FrameState<d>&);                           \
    template void copy_sand(const Sand<d>&, const SandMemory<d>*, FrameState<d>&);                          \
    template void write_sand_frame(const std::filesystem::path&, const FrameState<d>&);                     \
    template class FrameSurfaces<d>;                                                                        \
    template void write_grains(const std::filesystem::path&, const FrameState<d>&, FrameSurfaces<d>&,       \
                               const FrameSlabs&);                                                          \
    template void write_forces(const std::filesystem::path&, const FrameState<d>&, const FrameSlabs&);      \
    template void write_frame(const std::filesystem::path&, const Scene<d>&, const StepMemory<d>*, double)
DRYSTONE_FRAMES(2);
DRYSTONE_FRAMES(3);
#undef DRYSTONE_FRAMES

}  // namespace drystone
