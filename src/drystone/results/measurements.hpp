// Measurements in files of lines: steps.csv, and <name>.csv for each table [[measure]].
//
// The first line of a file names its columns, with units in brackets where a column has one. Numbers have 12 digits.
// Nothing of the clock or of the machine is in them: two runs of one scene write the same bytes. A profile has one line
// per bin, in a file <name>_profile.csv of its own.
#pragma once

#include "drystone/run/beat.hpp"
#include "drystone/run/measures.hpp"
#include "drystone/run/simulate.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

namespace drystone {

/// A file of lines that can be cut back.
class LineFile {
public:
    explicit LineFile(std::filesystem::path file) : file_(std::move(file)) {}
    void begin(const std::string& header);
    /// Goes on with the file as it was when it had so many bytes. Throws Error if it has fewer now.
    void resume(std::int64_t length);
    /// The line is in the file when this returns; throws Error if that fails.
    void write(const std::string& line);
    [[nodiscard]] std::int64_t length() const { return length_; }
    [[nodiscard]] std::string name() const { return file_.filename().string(); }

private:
    void see() const;
    std::filesystem::path file_;
    std::ofstream stream_;
    std::int64_t length_ = 0;
};

template <int d>
class Measurements {
public:
    /// Opens nothing yet. `sinks`, `joints`: names of the scene's.
    Measurements(const std::filesystem::path& folder, const OutputPlan& plan,
                 std::vector<MeasureTable<d>> tables, std::vector<std::string> sinks,
                 std::vector<std::string> joints = {});

    /// Begins new files.
    void begin();
    /// Goes on with the files as they were in this state.
    void resume(const State& state);
    /// Goes on with the state, in files that begin anew: for a run that is resumed into another folder.
    void resume_elsewhere(const State& state);

    /// To be called after each step: writes what is due.
    void add(const StepRecord& record, const Scene<d>& scene, const Sand<d>& sand,
             const StepMemory<d>& memory, const RunProgress& progress);
    /// True if add() will look at the scene: a table is due.
    [[nodiscard]] bool looks_at_scene(const StepRecord& record) const;
    /// Writes the line of steps.csv for the steps since the last one.
    void flush();

    /// What is kept between lines, and how long each file is: part of a checkpoint.
    [[nodiscard]] State state() const;
    /// Names of all files: what an earlier run of the same scene left behind.
    [[nodiscard]] std::vector<std::string> file_names() const;

private:
    struct Table {
        MeasureTable<d> plan;
        Beat beat;
        std::optional<LineFile> lines, profile;
        double last_time = 0;              // of the last line, s; for rates
        std::vector<double> last_drained;  // by sink, kg

        /// Of its state: no two tables write the same file.
        [[nodiscard]] std::string group() const { return "tables/" + files_of(plan).front(); }
        template <class Self, class F>
        requires std::same_as<std::remove_const_t<Self>, Table>
        friend void each_number(Self& table, F&& f) {
            each_number(table.beat, f);
            f("last_time", table.last_time);
            f("last_drained", table.last_drained);
        }
    };
    void write_table(Table& table, const StepRecord& record, const Scene<d>& scene, const Sand<d>& sand,
                     const StepMemory<d>& memory, const FeedState& feed);
    void recall(const State& state);
    /// What is kept for the next line of steps.csv.
    template <class Self, class F>
    static void each_number_of_steps(Self& self, F&& f);
    template <class Self, class F>
    static void for_each_file(Self& self, F&& f);

    LineFile steps_;
    Beat beat_;
    std::vector<std::string> sinks_, joints_;
    std::vector<Table> tables_;
    RunSummary sum_;
    Status status_ = Status::solved;
    StepRecord last_;
};

}  // namespace drystone
