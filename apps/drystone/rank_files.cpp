#include "rank_files.hpp"

namespace drystone::command {

hdf5::Ranks files_of(const Communicator* ranks) {
    return ranks == nullptr ? hdf5::Ranks{} : hdf5::Ranks{ranks->address()};
}

template <int d>
FrameState<d> frame_of(const Scene<d>& scene, const StepMemory<d>* memory, double h, const Part<d>& part,
                       std::shared_ptr<const std::vector<Shape<d>>>& shapes) {
    Slices<d> slices = slice(scene, memory, part, {.contacts = true});
    if (!shapes || shapes->size() != scene.shapes.size())
        shapes = std::make_shared<const std::vector<Shape<d>>>(scene.shapes);
    FrameState<d> frame;
    frame.time = scene.time;
    frame.h = h;
    frame.shapes = shapes;
    for (Index i = 0; i < slices.bodies.count(); ++i) {
        frame.radius.push_back(scene.outer_radius(slices.bodies.shape[i], slices.bodies.size[i]));
        frame.force.push_back(h > 0 ? static_cast<float>(slices.largest_impulse[i] / h) : 0.0F);
    }
    frame.bodies = std::move(slices.bodies);
    for (const SlicedContact<d>& s : slices.contacts) {
        const Contact<d>& c = s.contact;
        if (s.impulse.isZero(0) && c.gap > 0) continue;
        frame.contacts.push_back({s.row_a, s.row_b, s.x_a, s.x_b, s.free_a, s.free_b, c.arm_a, c.arm_b,
                                  c.normal, c.gap, s.impulse, c.key});
    }
    return frame;
}

template <int d>
void write_checkpoint_of(const std::filesystem::path& path, const SceneFiles& files,
                         const RunOverrides& overrides, Scene<d>& scene, const StepMemory<d>& memory,
                         const RunProgress& progress, const State& observers, const Part<d>& part,
                         const std::string& program) {
    Slices<d> slices = slice(scene, &memory, part, {.warm = true});
    const StateSlabs slabs{files_of(part.team), slices.body_rows.first, slices.body_rows.total,
                           slices.warm_rows.first, slices.warm_rows.total};
    // The scene with the rows of this rank instead of its part, for as long as it is written.
    std::swap(scene.bodies, slices.bodies);
    try {
        write_checkpoint<d>(path, {files, overrides, scene, slices.warm, progress, observers}, program,
                            slabs);
    } catch (...) {
        std::swap(scene.bodies, slices.bodies);
        throw;
    }
    std::swap(scene.bodies, slices.bodies);
}

State state_of_first(const Communicator& ranks, const State& state) {
    Writer writer;
    const auto put_all = [&](const auto& values) {
        writer.put(static_cast<std::int64_t>(values.size()));
        for (const auto& x : values) writer.put(x);
    };
    if (ranks.rank() == 0) {
        for (const auto& [name, numbers] : state.numbers) {
            put_all(name);
            writer.put(static_cast<std::int64_t>(numbers.index()));
            std::visit(put_all, numbers);
        }
    }
    const std::vector<std::byte> bytes = ranks.gather_all(writer.bytes);
    Reader reader(bytes);
    const auto take_all = [&](auto& values) {
        values.resize(static_cast<std::size_t>(reader.take<std::int64_t>()));
        for (auto& x : values) x = reader.take<std::remove_reference_t<decltype(x)>>();
    };
    State out;
    while (!reader.done()) {
        std::string name;
        take_all(name);
        State::Numbers& numbers = out.numbers[name];
        if (reader.take<std::int64_t>() == 1) numbers = std::vector<double>();
        std::visit(take_all, numbers);
    }
    return out;
}

#define DRYSTONE_RANK_FILES(d)                                                                              \
    template FrameState<d> frame_of(const Scene<d>&, const StepMemory<d>*, double, const Part<d>&,          \
                                    std::shared_ptr<const std::vector<Shape<d>>>&);                         \
    template void write_checkpoint_of(const std::filesystem::path&, const SceneFiles&, const RunOverrides&, \
                                      Scene<d>&, const StepMemory<d>&, const RunProgress&, const State&,    \
                                      const Part<d>&, const std::string&)
DRYSTONE_RANK_FILES(2);
DRYSTONE_RANK_FILES(3);
#undef DRYSTONE_RANK_FILES

}  // namespace drystone::command
