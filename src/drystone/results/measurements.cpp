#include "drystone/results/measurements.hpp"

#include "drystone/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace drystone {

namespace {

constexpr const char* steps_header =
    "time,h,contacts,active,iterations,residual,status,overlap,kinetic,potential,work_contacts,work_held,"
    "work_scheme,work_joints,shift_error\n";

/// One number, the same text for every kind of "not a number".
std::string text_of(double x) { return std::isnan(x) ? "nan" : fmt::format("{:.12g}", x); }

template <class Numbers>
std::string line_of(const Numbers& numbers) {
    std::string line;
    for (const double x : numbers) line += (line.empty() ? "" : ",") + text_of(x);
    return line + "\n";
}

}  // namespace

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
             "resume into another folder");
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
                for (const Column& column : measure_of<d>(quantity).columns({sinks_, joints_}))
                    header += "," + column.name + (column.unit.empty() ? "" : " (" + column.unit + ")");
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
                 "resume into another folder");
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
void Measurements<d>::add(const StepRecord& record, const Scene<d>& scene, const Sand<d>& sand,
                          const StepMemory<d>& memory, const RunProgress& progress) {
    sum_.add(record);
    if (status_ == Status::solved || (is_met(status_) && !is_met(record.solve.status)))
        status_ = record.solve.status;
    last_ = record;
    const double slack = 1e-6 * record.h;
    if (beat_.reached(record.time, slack)) flush();
    for (Table& table : tables_)
        if (table.beat.reached(record.time, slack))
            write_table(table, record, scene, sand, memory, progress.feed);
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
                                  const Sand<d>& sand, const StepMemory<d>& memory, const FeedState& feed) {
    Look<d> look{.scene = scene,
                 .memory = memory,
                 .record = record,
                 .feed = feed,
                 .region = table.plan.region ? &*table.plan.region : nullptr,
                 .width = table.plan.width,
                 .last_time = table.last_time,
                 .last_drained = table.last_drained,
                 .sand = sand};
    std::vector<double> numbers = {record.time};
    for (const Quantity quantity : table.plan.what) measure_of<d>(quantity).numbers(look, numbers);
    if (table.profile) {
        std::string lines;
        const HeapProfile<d>& heap = look.profile();
        for (std::size_t k = 0; k < heap.heights.size(); ++k)
            lines += line_of(std::array{record.time, heap.begin + (static_cast<double>(k) + 0.5) * heap.width,
                                        heap.heights[k]});
        table.profile->write(lines);
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

template class Measurements<2>;
template class Measurements<3>;

}  // namespace drystone
