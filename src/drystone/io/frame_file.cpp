#include "drystone/io/frame_file.hpp"

#include "drystone/base/error.hpp"
#include "drystone/io/hdf5.hpp"

#include <string>

namespace drystone {

namespace {

/// About so many elements around a round shape: smooth in a picture. In space shading hides the corners, in the plane nothing does.
template <int d>
constexpr int detail_of_pictures = d == 2 ? 72 : 24;

/// Vectors one after another: rows of a dataset. Eigen's fixed vectors of doubles have no padding.
template <class V>
std::span<const double> flat(const std::vector<V>& vectors) {
    static_assert(sizeof(V) == sizeof(double) * V::SizeAtCompileTime);
    return {reinterpret_cast<const double*>(vectors.data()), vectors.size() * V::SizeAtCompileTime};
}

void write_rotations(const hdf5::Group& group, const std::vector<Rotation<2>>& rotations) {
    std::vector<double> angles;
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
void write_bodies(const hdf5::Group& group, const Bodies<d>& bodies) {
    std::vector<int> motion;
    for (const Motion m : bodies.motion) motion.push_back(m == Motion::free ? 0 : 1);
    group.write_longs("id", bodies.id);
    group.write_ints("shape", bodies.shape);
    group.write_doubles("size", bodies.size);
    group.write_ints("motion", motion);
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
void write_contacts(const hdf5::Group& group, const Scene<d>& scene, const StepMemory<d>* memory, double h) {
    const ContactSet<d> none;
    const ContactSet<d>& contacts = memory == nullptr ? none : memory->contacts;
    std::vector<int> a, b;
    std::vector<double> gap;
    std::vector<Vec<d>> point, normal, impulse;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const Contact<d>& c = contacts[i];
        a.push_back(c.a);
        b.push_back(c.b);
        gap.push_back(c.gap);
        point.push_back(scene.bodies.position[c.a] + c.arm_a);
        normal.push_back(c.normal);
        impulse.push_back(impulse_of(memory->assembled, memory->solution.r, c, static_cast<Index>(i)));
    }
    group.write_double("h", h);
    group.write_ints("a", a);
    group.write_ints("b", b);
    group.write_doubles("gap", gap);
    group.write_doubles("point", flat(point), d);
    group.write_doubles("normal", flat(normal), d);
    group.write_doubles("impulse", flat(impulse), d);
}

}  // namespace

template <int d>
void write_frame(const std::filesystem::path& path, const Scene<d>& scene, const StepMemory<d>* memory,
                 double h) {
    std::filesystem::path temporary = path;
    temporary += ".part";
    try {
        const hdf5::File file = hdf5::File::create(temporary);
        const hdf5::Group& root = file.root();
        root.write_int("dimension", d);
        root.write_double("time", scene.time);
        write_bodies(root.create_group("bodies"), scene.bodies);
        write_shapes<d>(root.create_group("shapes"), scene.shapes);
        write_contacts(root.create_group("contacts"), scene, memory, h);
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

template void write_frame(const std::filesystem::path&, const Scene<2>&, const StepMemory<2>*, double);
template void write_frame(const std::filesystem::path&, const Scene<3>&, const StepMemory<3>*, double);

}  // namespace drystone
