#include "sweep_command.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/harmless.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/base/read_file.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/files/folder_lock.hpp"
#include "drystone/files/whole_file.hpp"
#include "drystone/results/checkpoint.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "drystone/scenes/settings.hpp"
#include "interrupt.hpp"
#include "resume_command.hpp"
#include "run.hpp"
#include "run_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <thread>

namespace drystone::command {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_cases = 10'000, longest_name = 120;

/// What the table tells of each run, out of its summary.
constexpr const char* told[] = {"steps",
                                "time",
                                "unsolved",
                                "frozen_shift",
                                "worst_residual",
                                "worst_overlap",
                                "worst_relative_overlap",
                                "energy_begin",
                                "energy_end",
                                "kinetic_end",
                                "balance_error",
                                "seconds"};

struct Range {
    std::string field;
    std::vector<std::string> values;
};

/// "a,[b,c],\"d,e\"": at commas outside of brackets and quotes.
std::vector<std::string> pieces_of(const std::string& text) {
    std::vector<std::string> pieces(1);
    int depth = 0;
    char quote = 0;
    for (const char c : text) {
        if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = 0;
        }
        const bool quoted = quote != 0;
        if (!quoted)
            depth += c == '[' || c == '{' || c == '(' ? 1 : c == ']' || c == '}' || c == ')' ? -1 : 0;
        if (c == ',' && !quoted && depth == 0) {
            pieces.emplace_back();
        } else {
            pieces.back() += c;
        }
    }
    return pieces;
}

Range range_of(const std::string& text) {
    const std::size_t at = text.find('=');
    const char* const cure = "write FIELD=VALUE,VALUE,... as in --over material.stone.friction=0.2,0.4,0.6";
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
        fail("--over", fmt::format("\"{}\" gives no field its values", text), cure);
    Range range{text.substr(0, at), pieces_of(text.substr(at + 1))};
    std::set<std::string> seen;
    for (const std::string& value : range.values) {
        if (value.empty()) fail("--over", fmt::format("\"{}\" has a value that is empty", text), cure);
        if (!seen.insert(value).second)
            fail("--over", fmt::format("{} is given the value {} twice", range.field, value),
                 "leave one out");
    }
    return range;
}

/// Fields in the order of their names, so that a case has one folder however it was asked for.
std::vector<Range> ranges_of(const std::vector<std::string>& over) {
    std::vector<Range> ranges;
    double cases = 1;
    for (const std::string& text : over) {
        ranges.push_back(range_of(text));
        cases *= static_cast<double>(ranges.back().values.size());
    }
    if (cases > static_cast<double>(most_cases))
        fail("--over", fmt::format("asks for {:.0f} runs", cases),
             fmt::format("sweep over at most {}", most_cases));
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.field < b.field; });
    for (std::size_t k = 1; k < ranges.size(); ++k)
        if (ranges[k].field == ranges[k - 1].field)
            fail("--over", fmt::format("{} is given twice", ranges[k].field), "give all its values at once");
    return ranges;
}

struct Case {
    std::string name;                      ///< of its folder
    std::vector<std::string> values;       ///< one per field
    std::vector<std::string> others = {};  ///< files that its scene names
    enum class State { fresh, stopped, done, foreign } state = State::fresh;
    bool ours = false;  ///< a sweep began it, and it was killed before its first checkpoint
    /// Of one that is done: its part of the table.
    nlohmann::json summary = {};
    std::vector<std::pair<std::string, std::string>> measured = {};
    pid_t process = 0;  ///< 0: does not run
    Timer since = {};
};

/// All values of one with all of the others; the last field changes fastest.
std::vector<Case> cases_of(const std::vector<Range>& ranges) {
    std::vector<Case> cases(1);
    for (const Range& range : ranges) {
        std::vector<Case> longer;
        for (const Case& one : cases)
            for (const std::string& value : range.values) {
                longer.push_back(one);
                Case& made = longer.back();
                made.values.push_back(value);
                if (!made.name.empty()) made.name += ',';
                made.name += range.field + "=" + value;
            }
        cases = std::move(longer);
    }
    std::map<std::string, std::string> named;
    for (Case& one : cases) {
        const std::string meant = one.name;
        // Names of files on all systems, and words of a shell.
        for (char& c : one.name)
            if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
                std::string_view("._=+-,").find(c) == std::string_view::npos)
                c = '_';
        if (one.name.size() > longest_name)
            fail("--over", fmt::format("the name of a case gets too long: {}", meant),
                 "sweep over fewer fields at once");
        const auto [place, is_new] = named.emplace(one.name, meant);
        if (!is_new)
            fail("--over", fmt::format("{} and {} would have one folder", place->second, meant),
                 "sweep over one of them in a folder of its own");
    }
    return cases;
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string cell = "\"";
    for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
    return cell + "\"";
}

class Sweep {
public:
    explicit Sweep(const SweepCommandOptions& options)
        : options_(options),
          ranges_(ranges_of(options.over)),
          cases_(cases_of(ranges_)),
          folder_(options.output) {
        for (const std::string& text : options.settings) common_.push_back(setting_of(text));
        for (const Range& range : ranges_)
            for (const SceneSetting& setting : common_)
                if (words_of(setting.field) == words_of(range.field))
                    fail("--set", fmt::format("{} is swept over, too", setting.field), "give it once");
    }

    int run() {
        read_cases();
        make_folder();
        std::optional<FolderLock> lock;
        take(lock);
        check_table();
        find_states();
        std::signal(SIGCHLD, SIG_DFL);  // who starts programs may have it ignored, and we could not wait
        const InterruptWatch watch;
        if (done() > 0) say(fmt::format("{} of {} cases are done already", done(), cases_.size()));
        std::size_t next = 0;
        while (true) {
            while (!interrupted() && running_ < jobs() && next < cases_.size()) start(cases_[next++]);
            if (running_ == 0) break;
            if (interrupted() && !told_) tell_all();
            if (!await_one()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        write_table();
        if (failed_ == 0 && done() < cases_.size()) {
            complain(fmt::format("stopped: {} of {} cases are done; the same command goes on with the others",
                                 done(), cases_.size()));
            return exit_stopped;
        }
        say(fmt::format("{} of {} cases are done; their table is {}", done(), cases_.size(),
                        table().string()));
        return failed_ > 0 ? exit_failed : exit_solved;
    }

private:
    using State = Case::State;

    [[nodiscard]] std::size_t jobs() const {
        const int cores = processors() / std::max(1, options_.threads);
        return static_cast<std::size_t>(options_.jobs > 0 ? options_.jobs : std::max(1, cores));
    }
    [[nodiscard]] fs::path table() const { return folder_ / "table.csv"; }
    [[nodiscard]] fs::path folder_of(const Case& one) const { return folder_ / one.name; }
    [[nodiscard]] fs::path checkpoint_of(const Case& one) const { return folder_of(one) / "checkpoint.h5"; }
    [[nodiscard]] fs::path summary_of(const Case& one) const { return folder_of(one) / "summary.json"; }
    [[nodiscard]] fs::path output_of(const Case& one) const { return folder_of(one) / "summary.json.part"; }
    [[nodiscard]] std::size_t done() const {
        return static_cast<std::size_t>(std::count_if(
            cases_.begin(), cases_.end(), [](const Case& one) { return one.state == State::done; }));
    }

    /// What its run is made from: the same whatever happens to the files meanwhile.
    [[nodiscard]] SceneFiles files_of(const Case& one) const {
        SceneFiles files = files_;
        std::erase_if(files.others, [&](const auto& other) {
            return std::find(one.others.begin(), one.others.end(), other.first) == one.others.end();
        });
        files.settings = common_;
        for (std::size_t k = 0; k < ranges_.size(); ++k)
            files.settings.push_back({ranges_[k].field, one.values[k]});
        return files;
    }

    /// Reads every case, so that none is found faulty after hours. Throws what is wrong with the first.
    void read_cases() {
        files_ = open_scene(options_.scene);
        for (Case& one : cases_) {
            SceneFiles files = files_of(one);
            try {
                read_scene(files, false);
            } catch (const Error&) {
                complain(fmt::format("the case {} cannot be run:", one.name));
                throw;
            }
            for (auto& [name, content] : files.others) {
                one.others.push_back(name);
                files_.others.emplace(name, std::move(content));  // as the first case had it
            }
        }
    }

    void make_folder() const {
        std::error_code error;
        fs::create_directories(folder_, error);
        if (error) fail(folder_.string(), "cannot be made: " + error.message(), "give another folder");
    }

    /// The runs of a sweep that was killed hold its lock, too: they end with the step that they are making.
    void take(std::optional<FolderLock>& lock) const {
        constexpr double patience = 30;  // s
        for (const Timer waited; !lock;) {
            try {
                lock.emplace(folder_);
            } catch (const Error&) {
                if (waited.seconds() > patience || interrupted()) throw;
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
            }
        }
    }

    /// A file of this name that is not ours stays.
    void check_table() const {
        std::error_code unknown;
        if (!fs::exists(table(), unknown)) return;
        std::ifstream stream(table());
        std::string head;
        std::getline(stream, head);
        if (!head.starts_with("case,"))
            fail(table().string(), "is there, and is not the table of a sweep", "give another folder");
    }

    /// How far each case is, by the checkpoint in its folder, which knows what it was made from.
    void find_states() {
        std::vector<std::string> foreign;
        std::string first;
        for (Case& one : cases_) {
            std::string why;
            one.state = state_of(one, why);
            if (one.state == State::done) keep_results(one);
            std::error_code unknown;
            one.ours = one.state == State::fresh && fs::exists(output_of(one), unknown);
            if (one.state != State::foreign) continue;
            if (foreign.empty()) first = why;
            foreign.push_back(one.name);
        }
        if (foreign.empty() || options_.force) return;
        fail((folder_ / foreign.front()).string(),
             first + (foreign.size() > 1
                          ? fmt::format(" (and {} more are not these cases)", foreign.size() - 1)
                          : ""),
             "give another folder, or --force to run such cases anew");
    }
    [[nodiscard]] State state_of(const Case& one, std::string& why) const {
        std::error_code unknown;
        if (!fs::exists(checkpoint_of(one), unknown)) {
            why = "holds no checkpoint.h5, which says what was run";
            return fs::exists(summary_of(one), unknown) ? State::foreign : State::fresh;
        }
        why = "holds a run of another scene, or with other settings";
        try {
            const SceneFiles kept = read_files_of_checkpoint(checkpoint_of(one), DRYSTONE_VERSION),
                             meant = files_of(one);
            const auto same = [](const SceneSetting& a, const SceneSetting& b) {
                return a.field == b.field && a.value == b.value && a.phase == b.phase;
            };
            const bool equal = kept.text == meant.text &&
                               std::equal(kept.settings.begin(), kept.settings.end(), meant.settings.begin(),
                                          meant.settings.end(), same) &&
                               std::all_of(meant.others.begin(), meant.others.end(), [&](const auto& other) {
                                   const auto found = kept.others.find(other.first);
                                   return found != kept.others.end() && found->second == other.second;
                               });
            if (!equal) return State::foreign;
        } catch (const Error& error) {
            why = fmt::format("cannot be gone on with: {}", error.what());
            return State::foreign;
        }
        return summary_in(one).empty() ? State::stopped : State::done;
    }

    void start(Case& one) {
        if (one.state == State::done) return;
        const fs::path folder = folder_of(one);
        std::error_code error;
        fs::create_directories(folder, error);
        fs::remove(output_of(one), error);  // one that was killed may still have it open
        if (one.state == State::foreign) fs::remove(summary_of(one), error);
        one.since = Timer();
        std::fflush(nullptr);
        std::cout.flush();
        one.process = ::fork();
        if (one.process == 0) be(one);
        if (one.process < 0)
            fail("drystone sweep", "the system starts no further process", "give fewer --jobs");
        ++running_;
        say(fmt::format("{}: {}", one.name, one.state == State::stopped ? "goes on" : "begins"));
    }

    /// The process of a case, from here to its end. It is made by fork alone: what was read is what runs.
    [[noreturn]] void be(const Case& one) const {
#if defined(__linux__)
        // Where the sweep is killed, its runs end well by themselves.
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != sweep_) ::_exit(exit_stopped);  // it was, just now
#endif
        const fs::path folder = folder_of(one);
        const int out = ::open(output_of(one).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666),
                  errors = ::open((folder / "errors.txt").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (out < 0 || errors < 0) ::_exit(exit_failed);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(errors, STDERR_FILENO);
        SittingOptions sitting;
        sitting.output = folder.string();
        sitting.log = (folder / "run.log").string();
        sitting.threads = options_.threads;
        sitting.json = true;
        sitting.force = one.state == State::foreign || one.ours;
        int code = exit_misuse;
        try {
            if (one.state == State::stopped) {
                ResumeOptions resume;
                resume.from = folder.string();
                resume.sitting = sitting;
                code = resume_command(resume);
            } else {
                code = run_files(files_of(one), {}, sitting);
            }
        } catch (const std::exception& error) {
            complain(error.what());
        }
        std::cout.flush();
        if (std::fflush(nullptr) != 0 || !std::cout.good()) code = exit_failed;
        ::_exit(code);
    }

    /// False if all that run still do.
    bool await_one() {
        int status = 0;
        const pid_t ended = ::waitpid(-1, &status, WNOHANG);
        if (ended == 0) return false;
        if (ended < 0) fail("drystone sweep", "its runs cannot be waited for", "run the same command again");
        const auto one =
            std::find_if(cases_.begin(), cases_.end(), [&](const Case& c) { return c.process == ended; });
        if (one == cases_.end()) return true;
        one->process = 0;
        --running_;
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        const bool by_us = told_ && code < 0 && WTERMSIG(status) == SIGTERM;
        if (code == exit_solved && finish(*one)) return true;
        if (code == exit_stopped || by_us) {
            say(fmt::format("{}: stopped", one->name));
            return true;
        }
        ++failed_;
        complain(fmt::format("{}: failed{}\n  {}", one->name,
                             code < 0 ? fmt::format(" by signal {}", WTERMSIG(status)) : "",
                             harmless(first_error(*one))));
        return true;
    }

    /// False if its summary did not arrive.
    bool finish(Case& one) {
        std::error_code error;
        try {
            const std::string text = read_file(output_of(one), most_scene_bytes, "run it again");
            write_whole_file(summary_of(one), {text}, true);
        } catch (const Error& missed) {
            complain(missed.what());
            return false;
        }
        fs::remove(output_of(one), error);
        keep_results(one);
        const nlohmann::json& summary = one.summary;
        if (summary.empty()) return false;
        one.state = State::done;
        if (table_written_.seconds() > 1) write_table();
        say(fmt::format("{}: {} steps to {:.6g} s, {} not solved, {} s; {} of {} done", one.name,
                        summary.value("steps", 0), summary.value("time", 0.0), summary.value("unsolved", 0),
                        seconds_text(one.since.seconds()), done(), cases_.size()));
        return true;
    }

    [[nodiscard]] std::string first_error(const Case& one) const {
        std::ifstream stream(folder_of(one) / "errors.txt");
        for (std::string line; std::getline(stream, line);)
            if (!line.empty() && line.find("finishing the step") == std::string::npos) return line;
        return "no reason was said; see " + (folder_of(one) / "run.log").string();
    }

    /// Empty where there is none.
    [[nodiscard]] nlohmann::json summary_in(const Case& one) const {
        std::error_code unknown;
        if (!fs::is_regular_file(summary_of(one), unknown)) return nlohmann::json::object();
        std::ifstream stream(summary_of(one));
        nlohmann::json summary = nlohmann::json::parse(stream, nullptr, false);
        return summary.is_object() ? summary : nlohmann::json::object();
    }

    void keep_results(Case& one) const {
        one.summary = summary_in(one);
        one.measured = measured_in(one);
    }

    /// The last line of each measure, by "table.column".
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> measured_in(const Case& one) const {
        std::vector<std::pair<std::string, std::string>> all;
        std::vector<fs::path> files;
        std::error_code unknown;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(one), unknown))
            if (entry.path().extension() == ".csv" && entry.path().filename() != "steps.csv")
                files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        for (const fs::path& file : files) {
            std::ifstream stream(file);
            std::string head, last;
            std::getline(stream, head);
            for (std::string line; std::getline(stream, line);)
                if (!line.empty()) last = line;
            const std::vector<std::string> names = pieces_of(head), values = pieces_of(last);
            for (std::size_t k = 0; k < names.size() && names.size() == values.size(); ++k)
                all.emplace_back(file.stem().string() + "." + names[k], values[k]);
        }
        return all;
    }

    /// A line for each case that is done.
    void write_table() {
        std::vector<std::string> measured;
        std::vector<std::map<std::string, std::string>> of_case;
        for (const Case& one : cases_) {
            of_case.emplace_back();
            if (one.state != State::done) continue;
            for (const auto& [name, value] : one.measured) {
                if (std::find(measured.begin(), measured.end(), name) == measured.end())
                    measured.push_back(name);
                of_case.back()[name] = value;
            }
        }
        std::string text = "case";
        for (const Range& range : ranges_) text += "," + csv_cell(range.field);
        for (const char* const name : told) text += fmt::format(",{}", name);
        for (const std::string& name : measured) text += "," + csv_cell(name);
        text += '\n';
        for (std::size_t k = 0; k < cases_.size(); ++k) {
            if (cases_[k].state != State::done) continue;
            const nlohmann::json& summary = cases_[k].summary;
            text += csv_cell(cases_[k].name);
            for (const std::string& value : cases_[k].values) text += "," + csv_cell(value);
            for (const char* const name : told)
                text += "," + (summary.contains(name) && !summary[name].is_null() ? summary[name].dump()
                                                                                  : std::string());
            for (const std::string& name : measured) {
                const auto found = of_case[k].find(name);
                text += "," + (found == of_case[k].end() ? std::string() : csv_cell(found->second));
            }
            text += '\n';
        }
        write_whole_file(table(), {text}, false);
        table_written_ = Timer();
    }

    /// To end well.
    void tell_all() {
        for (const Case& one : cases_)
            if (one.process > 0) ::kill(one.process, SIGTERM);
        told_ = true;
    }

    const SweepCommandOptions& options_;
    std::vector<Range> ranges_;
    std::vector<Case> cases_;
    fs::path folder_;
    SceneFiles files_;  // of the scene, and all that its cases name
    std::vector<SceneSetting> common_;
    std::size_t running_ = 0, failed_ = 0;
    bool told_ = false;
    Timer table_written_;
    const pid_t sweep_ = ::getpid();
};

}  // namespace

int sweep_command(const SweepCommandOptions& options) { return Sweep(options).run(); }

}  // namespace drystone::command
