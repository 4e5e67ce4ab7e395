#include "drystone/results/frame_writer.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/timer.hpp"

#include <fmt/format.h>

#include <fstream>

namespace drystone {

namespace {

/// The list of all frames is written anew with each one while it is short, then with every so many, and at the end.
constexpr std::int64_t short_series = 200, long_series_every = 50;

void write_series_file(const std::filesystem::path& path,
                       const std::vector<std::pair<std::int64_t, double>>& times,
                       std::string (*name)(std::int64_t)) {
    std::filesystem::path temporary = path;
    temporary += ".part";
    {
        std::ofstream stream(temporary);
        stream << "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n";
        for (std::size_t i = 0; i < times.size(); ++i)
            stream << fmt::format("    {{\"name\": \"{}\", \"time\": {:.12g}}}{}\n", name(times[i].first),
                                  times[i].second, i + 1 < times.size() ? "," : "");
        stream << "  ]\n}\n";
        stream.flush();
        if (!stream)
            fail(path.string(), "cannot be written",
                 "see that the folder can be written to and the disk has room");
    }
    std::error_code error;
    std::filesystem::rename(temporary, path, error);
    if (error)
        fail(path.string(), "cannot be written: " + error.message(), "see that the folder can be written to");
}

}  // namespace

std::string grains_file_name(std::int64_t number) { return fmt::format("grains_{:06}.hdf", number); }
std::string sand_file_name(std::int64_t number) { return fmt::format("sand_{:06}.hdf", number); }
std::string forces_file_name(std::int64_t number) { return fmt::format("forces_{:06}.hdf", number); }

template <int d>
FrameWriter<d>::FrameWriter(std::filesystem::path folder, std::int64_t next, const hdf5::Ranks& ranks)
    : folder_(std::move(folder)), ranks_(hdf5::others_of(ranks)), next_(next) {
    hdf5::together(ranks_, [&] {
        for (std::int64_t k = 0; k < next && hdf5::rank_of(ranks_) == 0; ++k) {
            const std::filesystem::path file = folder_ / grains_file_name(k);
            // Frames that the user has taken away are not missed.
            if (std::filesystem::exists(file))
                times_.emplace_back(k, hdf5::File::open(file).root().read_double("time"));
        }
    });
    if (!at_once()) thread_ = std::thread([this] { work(); });
}

template <int d>
FrameWriter<d>::~FrameWriter() {
    if (at_once()) return;
    {
        const std::lock_guard guard(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

template <int d>
void FrameWriter<d>::throw_if_failed() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

template <int d>
void FrameWriter<d>::write(const Scene<d>& scene, const StepMemory<d>* memory, double h,
                           const Vector* impulses) {
    const Timer timer;
    hdf5::together(ranks_, [&] { copy_frame(scene, memory, h, spare_, impulses); });
    if (at_once())
        write_one(spare_, next_++);
    else
        hand_over();
    seconds_ += timer.seconds();
}

template <int d>
void FrameWriter<d>::write(const FrameState<d>& state) {
    const Timer timer;
    if (at_once()) {
        write_one(state, next_++);
    } else {
        spare_ = state;
        hand_over();
    }
    seconds_ += timer.seconds();
}

/// Gives the copied frame to the thread.
template <int d>
void FrameWriter<d>::hand_over() {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !waiting_full_; });
        throw_if_failed();
        std::swap(waiting_, spare_);
        // The buffers go round; the shapes must not be copied for each of them.
        spare_.shapes = waiting_.shapes;
        waiting_number_ = next_++;
        waiting_full_ = true;
    }
    changed_.notify_all();
}

template <int d>
void FrameWriter<d>::finish() {
    if (at_once()) {
        hdf5::together(ranks_, [&] {
            if (!times_.empty()) write_series();
        });
        return;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_full_ && !busy_; });
    throw_if_failed();
    if (!times_.empty()) write_series();
}

template <int d>
void FrameWriter<d>::work() {
    FrameState<d> state;
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return waiting_full_ || stop_; });
        if (!waiting_full_) return;
        std::swap(state, waiting_);
        const std::int64_t number = waiting_number_;
        waiting_full_ = false;
        busy_ = true;
        lock.unlock();
        changed_.notify_all();
        std::exception_ptr error;
        try {
            write_one(state, number);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        busy_ = false;
        if (error && !error_) error_ = error;
        changed_.notify_all();
    }
}

template <int d>
void FrameWriter<d>::write_one(const FrameState<d>& state, std::int64_t number) {
    write_grains(folder_ / grains_file_name(number), state, surfaces_, {ranks_});
    write_forces(folder_ / forces_file_name(number), state, {ranks_});
    if (!state.sand.id.empty()) {
        write_sand_frame(folder_ / sand_file_name(number), state);
        has_sand_ = true;
    }
    hdf5::together(ranks_, [&] {
        if (hdf5::rank_of(ranks_) != 0) return;
        times_.emplace_back(number, state.time);
        if (times_.size() <= short_series || number % long_series_every == 0) write_series();
    });
}

template <int d>
void FrameWriter<d>::write_series() const {
    write_series_file(folder_ / "grains.hdf.series", times_, grains_file_name);
    write_series_file(folder_ / "forces.hdf.series", times_, forces_file_name);
    if (has_sand_) write_series_file(folder_ / "sand.hdf.series", times_, sand_file_name);
}

template class FrameWriter<2>;
template class FrameWriter<3>;

}  // namespace drystone
