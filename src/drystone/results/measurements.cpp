#include "drystone/results/measurements.hpp"

#include "drystone/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

constexpr const char* axes = "xyz";
constexpr const char* steps_header =
    "time,h,contacts,active,iterations,residual,status,overlap,kinetic,potential,work_contacts,work_held,"
    "work_scheme,work_joints,shift_error\n";

template <int d>
void name_vector(std::vector<std::string>& columns, const std::string& name, const char* unit) {
    for (int k = 0; k < d; ++k) columns.push_back(fmt::format("{}_{} ({})", name, axes[k], unit));
}

/// A name as it may stand at the head of a column, in programs too that take what begins with = + - @ for a formula and compute it.
std::string in_a_cell(const std::string& name) {
    std::string safe = harmless(name);
    std::replace_if(
        safe.begin(), safe.end(), [](char c) { return c == ',' || c == '"'; }, '_');
    return safe.find_first_of("=+-@") == 0 ? "_" + safe : safe;
}

/// One number, the same text for every kind of "not a number".
std::string text_of(double x) { return std::isnan(x) ? "nan" : fmt::format("{:.12g}", x); }

template <class Numbers>
std::string line_of(const Numbers& numbers) {
    std::string line;
    for (const double x : numbers) line += (line.empty() ? "" : ",") + text_of(x);
    return line + "\n";
}

template <int d>
void append(std::vector<double>& out, const Vec<d>& x) {
    out.insert(out.end(), x.data(), x.data() + d);
}

/// Energies of the grains in a region: of translation, of rotation, of gravity.
template <int d>
std::array<double, 3> energies_in(const Scene<d>& scene, const Region<d>* region) {
    const Bodies<d>& bodies = scene.bodies;
    std::array<double, 3> sum = {0, 0, 0};
    for (Index i = 0; i < bodies.count(); ++i) {
        if (!bodies.is_free(i) || (region != nullptr && !contains<d>(*region, bodies.position[i]))) continue;
        const Spin<d> momentum = inertia_in_world<d>(bodies.rotation[i], bodies.inertia[i]) * bodies.spin[i];
        sum[0] += 0.5 * bodies.mass[i] * bodies.velocity[i].squaredNorm();
        sum[1] += 0.5 * bodies.spin[i].dot(momentum);
        sum[2] -= bodies.mass[i] * scene.gravity.dot(scene.unwrapped(i));
    }
    return sum;
}

}  // namespace

template <int d>
std::vector<std::string> columns_of(Quantity quantity, const std::vector<std::string>& sinks,
                                    const std::vector<std::string>& joints) {
    const char* pressure = d == 2 ? "N/m" : "Pa";
    std::vector<std::string> columns;
    switch (quantity) {
        case Quantity::energy:
            return {"kinetic_translation (J)", "kinetic_rotation (J)", "potential (J)"};
        case Quantity::mass:
            columns = {"grains", "mass (kg)"};
            name_vector<d>(columns, "centre", "m");
            break;
        case Quantity::velocity:
            name_vector<d>(columns, "velocity", "m/s");
            columns.emplace_back("shear_rate (1/s)");
            break;
        case Quantity::temperature:
            return {"granular_temperature (m^2/s^2)"};
        case Quantity::packing:
            return {"packing_fraction"};
        case Quantity::coordination:
            return {"contacts_per_grain", "neighbours_per_grain", "grains_counted", "rattlers"};
        case Quantity::fabric:
            for (int i = 0; i < d; ++i)
                for (int j = i; j < d; ++j) columns.push_back(fmt::format("fabric_{}{}", axes[i], axes[j]));
            break;
        case Quantity::stress:
            for (int i = 0; i < d; ++i)
                for (int j = 0; j < d; ++j)
                    columns.push_back(fmt::format("stress_{}{} ({})", axes[i], axes[j], pressure));
            columns.push_back(fmt::format("pressure ({})", pressure));
            columns.push_back(fmt::format("kinetic_pressure ({})", pressure));
            break;
        case Quantity::inertial:
            return {"inertial_number"};
        case Quantity::flux:
            name_vector<d>(columns, "flux", d == 2 ? "kg/m/s" : "kg/m^2/s");
            break;
        case Quantity::overlap:
            return {"overlap (m)"};
        case Quantity::repose:
            return {"repose (degrees)", "repose_left (degrees)", "repose_right (degrees)", "height (m)"};
        case Quantity::runout:
            return {"connected_grains", "connected_left (m)", "connected_right (m)", "connected_radius (m)",
                    "left (m)",         "right (m)",          "radius (m)"};
        case Quantity::joint:
            for (const std::string& joint : joints) {
                const std::string name = in_a_cell(joint);
                columns.push_back(name + " axial (N or N m)");
                name_vector<d>(columns, name + " force", "N");
            }
            break;
        case Quantity::discharge:
            for (const std::string& sink : sinks) {
                const std::string name = in_a_cell(sink);
                columns.push_back(name + " grains");
                columns.push_back(name + " mass (kg)");
                columns.push_back(name + " rate (kg/s)");
            }
            break;
        case Quantity::profile:
            break;
    }
    return columns;
}

// --- LineFile --------------------------------------------------------------------------------------------

void LineFile::see() const {
    if (!stream_)
        fail(file_.string(), "cannot be written",
             "see that the folder can be written to and the disk has room");
}

void LineFile::begin(const std::string& header) {
    stream_.open(file_, std::ios::binary | std::ios::trunc);
    length_ = 0;
    write(header);
}

void LineFile::resume(std::int64_t length) {
    std::error_code error;
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(file_, error));
    if (error || size < length) {
        fail(file_.string(),
             fmt::format("has {} bytes, fewer than the {} when the checkpoint was written", error ? 0 : size,
                         length),
             "resume into another folder with --output DIR");
    }
    std::filesystem::resize_file(file_, static_cast<std::uintmax_t>(length), error);
    if (error)
        fail(file_.string(), "cannot be cut: " + error.message(), "see that the file can be written to");
    stream_.open(file_, std::ios::binary | std::ios::in | std::ios::out | std::ios::ate);
    length_ = length;
    see();
}

void LineFile::write(const std::string& line) {
    stream_ << line;
    stream_.flush();
    see();
    length_ += static_cast<std::int64_t>(line.size());
}

// --- Measurements ----------------------------------------------------------------------------------------

template <int d>
Measurements<d>::Measurements(const std::filesystem::path& folder, const OutputPlan& plan,
                              std::vector<MeasureTable<d>> tables, std::vector<std::string> sinks,
                              std::vector<std::string> joints)
    : steps_(folder / "steps.csv"),
      beat_{plan.measurements_every},
      sinks_(std::move(sinks)),
      joints_(std::move(joints)) {
    for (MeasureTable<d>& one : tables) {
        Table table;
        table.beat.every = one.every;
        table.last_drained.assign(sinks_.size(), 0.0);
        for (const std::string& file : files_of(one))
            (file == one.name + ".csv" ? table.lines : table.profile).emplace(folder / file);
        table.plan = std::move(one);
        tables_.push_back(std::move(table));
    }
}

template <int d>
template <class Self, class F>
void Measurements<d>::for_each_file(Self& self, F&& f) {
    f(self.steps_);
    for (auto& table : self.tables_) {
        if (table.lines) f(*table.lines);
        if (table.profile) f(*table.profile);
    }
}

template <int d>
void Measurements<d>::begin() {
    steps_.begin(steps_header);
    for (Table& table : tables_) {
        if (table.lines) {
            std::string header = "time (s)";
            for (const Quantity quantity : table.plan.what)
                for (const std::string& column : columns_of<d>(quantity, sinks_, joints_))
                    header += "," + column;
            table.lines->begin(header + "\n");
        }
        if (table.profile)
            table.profile->begin(d == 2 ? "time (s),x (m),height (m)\n" : "time (s),radius (m),height (m)\n");
    }
}

template <int d>
void Measurements<d>::resume(const State& state) {
    recall(state);
    const State lengths = state.part("lengths");
    for_each_file(*this, [&](LineFile& file) {
        if (!lengths.numbers.contains(file.name()))
            fail("checkpoint", "it does not say how long " + file.name() + " was",
                 "resume into another folder with --output DIR");
        std::int64_t length = 0;
        detail::Recall{lengths}(file.name().c_str(), length);
        file.resume(length);
    });
}

template <int d>
void Measurements<d>::resume_elsewhere(const State& state) {
    recall(state);
    begin();
}

template <int d>
bool Measurements<d>::looks_at_scene(const StepRecord& record) const {
    return std::any_of(tables_.begin(), tables_.end(), [&](const Table& table) {
        Beat beat = table.beat;
        return beat.reached(record.time, 1e-6 * record.h);
    });
}

template <int d>
void Measurements<d>::add(const StepRecord& record, const Scene<d>& scene, const StepMemory<d>& memory,
                          const RunProgress& progress) {
    sum_.add(record);
    if (status_ == Status::solved || (is_met(status_) && !is_met(record.solve.status)))
        status_ = record.solve.status;
    last_ = record;
    const double slack = 1e-6 * record.h;
    if (beat_.reached(record.time, slack)) flush();
    for (Table& table : tables_)
        if (table.beat.reached(record.time, slack)) write_table(table, record, scene, memory, progress.feed);
}

template <int d>
void Measurements<d>::flush() {
    if (sum_.steps == 0) return;
    steps_.write(fmt::format(
        "{:.12g},{:.9g},{},{},{},{:.3e},{},{:.6e},{:.12e},{:.12e},{:.12e},{:.12e},{:.12e},{:.12e},{:.3e}\n",
        last_.time, last_.h, last_.contacts, last_.active, sum_.iterations, sum_.worst_residual,
        name_of(status_), sum_.worst_overlap, last_.energy.kinetic, last_.energy.potential,
        sum_.work.contacts, sum_.work.held, sum_.work.scheme, sum_.work.joints, sum_.worst_shift_error));
    sum_ = {};
    status_ = Status::solved;
}

template <int d>
void Measurements<d>::write_table(Table& table, const StepRecord& record, const Scene<d>& scene,
                                  const StepMemory<d>& memory, const FeedState& feed) {
    const Region<d>* region = table.plan.region ? &*table.plan.region : nullptr;
    std::vector<double> numbers = {record.time};
    // Had only where a quantity asks for them.
    std::optional<std::vector<ContactForce<d>>> found_forces;
    const auto forces = [&]() -> const std::vector<ContactForce<d>>& {
        if (!found_forces) found_forces = contact_forces(memory, record.h);
        return *found_forces;
    };
    std::optional<HeapProfile<d>> found_profile;
    const auto profile = [&]() -> const HeapProfile<d>& {
        if (!found_profile) found_profile = heap_profile(scene, table.plan.width, region);
        return *found_profile;
    };
    for (const Quantity quantity : table.plan.what) {
        switch (quantity) {
            case Quantity::energy:
                for (const double e : energies_in(scene, region)) numbers.push_back(e);
                break;
            case Quantity::mass: {
                const FlowField<d> field = flow_field(scene, region);
                numbers.insert(numbers.end(), {static_cast<double>(field.grains), field.mass});
                append<d>(numbers, field.centre);
                break;
            }
            case Quantity::velocity: {
                const FlowField<d> field = flow_field(scene, region);
                append<d>(numbers, field.mean);
                numbers.push_back(field.shear_rate());
                break;
            }
            case Quantity::temperature:
                numbers.push_back(granular_temperature(scene, region));
                break;
            case Quantity::packing:
                numbers.push_back(packing_fraction(scene, region));
                break;
            case Quantity::coordination: {
                const Coordination z = coordination(scene, forces(), region);
                numbers.insert(numbers.end(), {z.contacts, z.neighbours, static_cast<double>(z.grains),
                                               static_cast<double>(z.rattlers)});
                break;
            }
            case Quantity::fabric: {
                const Mat<d> F = fabric(scene, forces(), region);
                for (int i = 0; i < d; ++i)
                    for (int j = i; j < d; ++j) numbers.push_back(F(i, j));
                break;
            }
            case Quantity::stress: {
                const Stress<d> sigma = stress(scene, forces(), region);
                const Mat<d> total = sigma.total();
                for (int i = 0; i < d; ++i)
                    for (int j = 0; j < d; ++j) numbers.push_back(total(i, j));
                numbers.insert(numbers.end(), {sigma.pressure(), sigma.kinetic.trace() / d});
                break;
            }
            case Quantity::inertial:
                numbers.push_back(inertial_number(scene, forces(), region));
                break;
            case Quantity::flux:
                append<d>(numbers, mass_flux(scene, region));
                break;
            case Quantity::overlap:
                numbers.push_back(largest_overlap(memory));
                break;
            case Quantity::repose: {
                const Repose angle = angle_of_repose(profile());
                numbers.insert(numbers.end(), {angle.mean, angle.left, angle.right, profile().height});
                break;
            }
            case Quantity::runout: {
                const RunOut<d> far = run_out(scene, memory, region);
                numbers.insert(numbers.end(),
                               {static_cast<double>(far.connected_grains), far.connected_left,
                                far.connected_right, far.connected_radius, far.left, far.right, far.radius});
                break;
            }
            case Quantity::joint: {
                Index offset = memory.assembled.joint_offset();
                for (const JointBlocks<d>& joint : memory.assembled.joints) {
                    Index rows = 0;
                    for (int k = 0; k < joint.count; ++k) rows += joint.block[k].cone.dim;
                    const JointImpulse<d> impulse =
                        impulse_of(joint, memory.solution.r.segment(offset, rows));
                    numbers.push_back(impulse.axial / record.h);
                    append<d>(numbers, impulse.force / record.h);
                    offset += rows;
                }
                break;
            }
            case Quantity::discharge:
                for (std::size_t k = 0; k < sinks_.size(); ++k) {
                    const double grains = k < feed.drained.size() ? static_cast<double>(feed.drained[k]) : 0;
                    const double mass = k < feed.drained_mass.size() ? feed.drained_mass[k] : 0;
                    const double passed = record.time - table.last_time;
                    const double rate = passed > 0 ? (mass - table.last_drained[k]) / passed : 0;
                    numbers.insert(numbers.end(), {grains, mass, rate});
                    table.last_drained[k] = mass;
                }
                break;
            case Quantity::profile: {
                std::string lines;
                const HeapProfile<d>& heap = profile();
                for (std::size_t k = 0; k < heap.heights.size(); ++k)
                    lines += line_of(std::array{record.time,
                                                heap.begin + (static_cast<double>(k) + 0.5) * heap.width,
                                                heap.heights[k]});
                table.profile->write(lines);
                break;
            }
        }
    }
    if (table.lines) table.lines->write(line_of(numbers));
    table.last_time = record.time;
}

template <int d>
std::vector<std::string> Measurements<d>::file_names() const {
    std::vector<std::string> names;
    for_each_file(*this, [&](const LineFile& file) { names.push_back(file.name()); });
    return names;
}

template <int d>
template <class Self, class F>
void Measurements<d>::each_number_of_steps(Self& self, F&& f) {
    each_number(self.beat_, f);
    f("steps", self.sum_.steps);
    f("iterations", self.sum_.iterations);
    f("status", self.status_, static_cast<std::int64_t>(Status::invalid));
    f("worst_residual", self.sum_.worst_residual);
    f("worst_overlap", self.sum_.worst_overlap);
    f("worst_shift_error", self.sum_.worst_shift_error);
    f("work/contacts", self.sum_.work.contacts);
    f("work/held", self.sum_.work.held);
    f("work/scheme", self.sum_.work.scheme);
    f("work/joints", self.sum_.work.joints);
    f("last/contacts", self.last_.contacts);
    f("last/active", self.last_.active);
    f("last/time", self.last_.time);
    f("last/h", self.last_.h);
    f("last/kinetic", self.last_.energy.kinetic);
    f("last/potential", self.last_.energy.potential);
}

template <int d>
State Measurements<d>::state() const {
    State state, steps;
    each_number_of_steps(*this, detail::Keep{steps});
    state.put("steps", steps);
    for (const Table& table : tables_) state.put(table.group(), state_of(table));
    State lengths;
    for_each_file(*this,
                  [&](const LineFile& file) { detail::Keep{lengths}(file.name().c_str(), file.length()); });
    state.put("lengths", lengths);
    return state;
}

template <int d>
void Measurements<d>::recall(const State& state) {
    const State steps = state.part("steps");
    each_number_of_steps(*this, detail::Recall{steps});
    for (Table& table : tables_) {
        const State kept = state.part(table.group());
        drystone::recall(kept, table);
        if (table.last_drained.size() != sinks_.size())
            kept.refuse("last_drained", fmt::format("holds {} numbers for {} sinks",
                                                    table.last_drained.size(), sinks_.size()));
    }
}

template std::vector<std::string> columns_of<2>(Quantity, const std::vector<std::string>&,
                                                const std::vector<std::string>&);
template std::vector<std::string> columns_of<3>(Quantity, const std::vector<std::string>&,
                                                const std::vector<std::string>&);
template class Measurements<2>;
template class Measurements<3>;

}  // namespace drystone
