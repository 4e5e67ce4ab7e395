#include "sweep_command.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/harmless.hpp"
#include "drystone/base/parallel.hpp"
#include "drystone/base/read_file.hpp"
#include "drystone/base/timer.hpp"
#include "drystone/files/folder_lock.hpp"
#include "drystone/files/whole_file.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "drystone/scenes/settings.hpp"
#include "interrupt.hpp"
#include "run.hpp"

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
#include <map>
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
    bool quoted = false;
    for (const char c : text) {
        if (c == '"') quoted = !quoted;
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
    std::string name;                 ///< of its folder
    std::vector<std::string> values;  ///< one per field
    pid_t process = 0;                ///< 0: does not run
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
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
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
          folder_(options.output) {}

    int run() {
        check();
        make_folder();
        const FolderLock lock(folder_);
        begin();
        const InterruptWatch watch;
        const std::size_t done_before = done();
        if (done_before > 0) say(fmt::format("{} of {} cases are done already", done_before, cases_.size()));
        std::size_t next = 0;
        while (true) {
            while (!interrupted() && running_ < jobs() && next < cases_.size()) start(cases_[next++]);
            if (running_ == 0) break;
            if (interrupted() && !told_) tell_all();
            if (!await_one()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        write_table();
        const std::size_t ended = done();
        if (failed_ == 0 && ended < cases_.size()) {
            complain(fmt::format("stopped: {} of {} cases are done; the same command goes on with the others",
                                 ended, cases_.size()));
            return exit_stopped;
        }
        say(fmt::format("{} of {} cases are done; their table is {}", ended, cases_.size(),
                        (folder_ / "table.csv").string()));
        return failed_ > 0 ? exit_failed : exit_solved;
    }

private:
    [[nodiscard]] std::size_t jobs() const {
        return static_cast<std::size_t>(
            options_.jobs > 0 ? options_.jobs : std::max(1, processors() / std::max(1, options_.threads)));
    }
    [[nodiscard]] fs::path folder_of(const Case& one) const { return folder_ / one.name; }
    [[nodiscard]] fs::path summary_of(const Case& one) const { return folder_of(one) / "summary.json"; }
    [[nodiscard]] bool is_done(const Case& one) const {
        std::error_code unknown;
        return fs::exists(summary_of(one), unknown);
    }
    [[nodiscard]] std::size_t done() const {
        return static_cast<std::size_t>(
            std::count_if(cases_.begin(), cases_.end(), [&](const Case& one) { return is_done(one); }));
    }
    [[nodiscard]] std::vector<std::string> settings_of(const Case& one) const {
        std::vector<std::string> all = options_.settings;
        for (std::size_t k = 0; k < ranges_.size(); ++k)
            all.push_back(ranges_[k].field + "=" + one.values[k]);
        return all;
    }

    /// Reads every case, so that none is found faulty after hours. Throws what is wrong with the first.
    void check() {
        const SceneFiles files = open_scene(options_.scene);
        text_ = files.text;
        for (const Case& one : cases_) {
            SceneFiles changed = files;
            for (const std::string& setting : settings_of(one))
                changed.settings.push_back(setting_of(setting));
            try {
                read_scene(changed, false);
            } catch (const Error& error) {
                fail("--over", fmt::format("the case {} cannot be run: {}", one.name, error.what()),
                     "mend it, or leave it out");
            }
        }
    }

    void make_folder() const {
        std::error_code error;
        fs::create_directories(folder_, error);
        if (error) fail(folder_.string(), "cannot be made: " + error.message(), "give another folder");
    }

    /// What the cases of a folder have in common: the scene's text, and what is set for all.
    void begin() const {
        std::string common = text_ + "\n# set for all:\n";
        for (const std::string& setting : options_.settings) common += "#   " + setting + "\n";
        const fs::path kept = folder_ / "swept.toml";
        std::error_code unknown;
        if (fs::exists(kept, unknown)) {
            if (read_file(kept, 2 * most_scene_bytes, "give another folder") == common) return;
            if (!options_.force)
                fail(folder_.string(), "holds a sweep of another scene, or with other settings",
                     "give another folder, or --force to begin anew");
            for (const Case& one : cases_) fs::remove_all(folder_of(one), unknown);
        }
        write_whole_file(kept, {common}, false);
    }

    void start(Case& one) {
        if (is_done(one)) return;
        const fs::path folder = folder_of(one);
        std::error_code error;
        fs::create_directories(folder, error);
        const bool resumed = fs::exists(folder / "checkpoint.h5", error);
        std::vector<std::string> words = {"drystone"};
        if (resumed) {
            words.insert(words.end(), {"resume", folder.string()});
        } else {
            words.insert(words.end(), {"run", options_.scene, "--output", folder.string()});
        }
        words.insert(words.end(), {"--json", "--log", (folder / "run.log").string(), "--threads",
                                   std::to_string(options_.threads)});
        if (!resumed) {
            words.emplace_back("--set");
            for (const std::string& setting : settings_of(one)) words.push_back(setting);
        }
        one.since = Timer();
        one.process = spawn(words, folder);
        ++running_;
        say(fmt::format("{}: {}", one.name, resumed ? "goes on" : "begins"));
    }

    /// The command itself, with its output in files of the folder.
    static pid_t spawn(const std::vector<std::string>& words, const fs::path& folder) {
        const std::string out = (folder / "summary.json.part").string(),
                          err = (folder / "errors.txt").string();
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        const pid_t parent = ::getpid(), child = ::fork();
        if (child < 0) fail("drystone sweep", "the system starts no further process", "give fewer --jobs");
        if (child > 0) return child;
#if defined(__linux__)
        // Where the sweep is killed, its runs end well by themselves.
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(exit_stopped);
#else
        static_cast<void>(parent);
#endif
        const int to = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666),
                  errors = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (to < 0 || errors < 0) ::_exit(exit_failed);
        ::dup2(to, STDOUT_FILENO);
        ::dup2(errors, STDERR_FILENO);
        ::execv("/proc/self/exe", arguments.data());
        ::_exit(exit_misuse);
    }

    /// False if all that run still do.
    bool await_one() {
        int status = 0;
        const pid_t ended = ::waitpid(-1, &status, WNOHANG);
        if (ended <= 0) return false;
        const auto one =
            std::find_if(cases_.begin(), cases_.end(), [&](const Case& c) { return c.process == ended; });
        if (one == cases_.end()) return true;
        one->process = 0;
        --running_;
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (code == exit_solved) {
            finish(*one);
        } else if (code == exit_stopped) {
            say(fmt::format("{}: stopped", one->name));
        } else {
            ++failed_;
            complain(fmt::format("{}: failed{}\n  {}", one->name,
                                 code < 0 ? fmt::format(" by signal {}", WTERMSIG(status)) : "",
                                 harmless(first_error(*one))));
        }
        return true;
    }

    void finish(const Case& one) {
        const fs::path part = summary_of(one).string() + ".part";
        fs::rename(part, summary_of(one));
        write_table();
        const auto summary = summary_in(one);
        say(fmt::format("{}: {} steps to {:.6g} s, {} not solved, {} s; {} of {} done", one.name,
                        summary.value("steps", 0), summary.value("time", 0.0), summary.value("unsolved", 0),
                        seconds_text(one.since.seconds()), done(), cases_.size()));
    }

    [[nodiscard]] std::string first_error(const Case& one) const {
        std::ifstream stream(folder_of(one) / "errors.txt");
        std::string line;
        std::getline(stream, line);
        return line;
    }

    [[nodiscard]] nlohmann::json summary_in(const Case& one) const {
        std::ifstream stream(summary_of(one));
        nlohmann::json summary = nlohmann::json::parse(stream, nullptr, false);
        return summary.is_object() ? summary : nlohmann::json::object();
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
    void write_table() const {
        std::vector<std::string> measured;
        std::vector<std::map<std::string, std::string>> of_case;
        for (const Case& one : cases_) {
            of_case.emplace_back();
            if (!is_done(one)) continue;
            for (auto& [name, value] : measured_in(one)) {
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
            if (!is_done(cases_[k])) continue;
            const nlohmann::json summary = summary_in(cases_[k]);
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
        write_whole_file(folder_ / "table.csv", {text}, false);
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
    std::string text_;  // of the scene
    std::size_t running_ = 0, failed_ = 0;
    bool told_ = false;
};

}  // namespace

int sweep_command(const SweepCommandOptions& options) { return Sweep(options).run(); }

}  // namespace drystone::command
