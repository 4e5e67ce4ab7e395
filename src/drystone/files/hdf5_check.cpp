#include "drystone/files/hdf5_check.hpp"

#include "drystone/base/error.hpp"
#include "drystone/files/hdf5.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace drystone::hdf5 {

namespace {

/// Groups and datasets of a file of ours are some dozens, of a foreign one not many more.
constexpr std::size_t most_links = 1'000'000;

/// What the child answers when it has come to its end; nothing if it has not.
enum Answer : char {
    nothing = 0,
    done = 'd',
    has_foreign_parts = 'f',
    cannot_be_listed = 'l',
    has_too_many_names = 'n'
};

struct Link {
    std::string name;
    H5L_type_t type;
};

/// All names in the file, with the folders before them. Not `done` if some are left out, which readers could open all
/// the same.
Answer list_links(hid_t file, std::vector<Link>& links) {
    const H5L_iterate_t take = [](hid_t, const char* name, const H5L_info_t* info, void* out) -> herr_t {
        auto& all = *static_cast<std::vector<Link>*>(out);
        all.push_back({name, info->type});
        return all.size() <= most_links ? 0 : 1;
    };
    const herr_t end = H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, take, &links);
    return end < 0 ? cannot_be_listed : end > 0 ? has_too_many_names : done;
}

/// How the numbers of a dataset are stored.
struct Storage {
    bool good = false, foreign = false;
    bool as_they_are = false;  ///< in one piece, uncompressed, as numbers that are converted without ado
    H5T_class_t kind = H5T_NO_CLASS;
    hssize_t count = 0;
    int dimensions = 0;
};

Storage storage_of(hid_t file, const std::string& name) {
    Storage storage;
    const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    if (dataset < 0) return storage;
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset),
                properties = H5Dget_create_plist(dataset);
    storage.good = type >= 0 && space >= 0 && properties >= 0;
    if (storage.good) {
        const H5D_layout_t layout = H5Pget_layout(properties);
        storage.foreign = layout == H5D_VIRTUAL || H5Pget_external_count(properties) > 0;
        storage.as_they_are = layout == H5D_CONTIGUOUS && is_plain_number(type);
        storage.kind = H5Tget_class(type);
        storage.count = H5Sget_simple_extent_npoints(space);
        storage.dimensions = H5Sget_simple_extent_ndims(space);
    }
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
    return storage;
}

/// Reads as the readers do. What they would be told is of no interest here.
template <class F>
void attempt(F&& f) {
    try {
        f();
    } catch (const std::exception&) {
    }
}

void read_dataset(const Group& root, const std::string& name, const Storage& storage) {
    attempt([&] { static_cast<void>(root.size(name)); });
    attempt([&] { static_cast<void>(root.rows(name)); });
    if (storage.kind == H5T_STRING) attempt([&] { static_cast<void>(root.read_string(name)); });
    const bool part = storage.as_they_are && storage.dimensions > 0;
    if (storage.kind == H5T_INTEGER) {
        attempt([&] { static_cast<void>(part ? root.read_longs(name, 0, 1) : root.read_longs(name)); });
        if (!part) attempt([&] { static_cast<void>(root.read_bytes(name)); });
    }
    if (storage.kind == H5T_INTEGER || storage.kind == H5T_FLOAT)
        attempt([&] { static_cast<void>(part ? root.read_doubles(name, 0, 1) : root.read_doubles(name)); });
}

Answer walk(const std::filesystem::path& path) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return done;
    std::vector<Link> links;
    const Answer listed = list_links(file, links);
    // Before anything is opened by its name, and with that what may be elsewhere.
    for (const Link& link : links)
        if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT) return has_foreign_parts;
    if (listed != done) return listed;
    const File again = File::open(path, {}, Source::checked);
    for (const Link& link : links) {
        H5O_info_t info{};
        if (H5Oget_info_by_name2(file, link.name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) continue;
        if (info.type == H5O_TYPE_GROUP)
            attempt([&] { static_cast<void>(again.root().open_group(link.name).names()); });
        if (info.type != H5O_TYPE_DATASET) continue;
        const Storage storage = storage_of(file, link.name);
        if (storage.foreign) return has_foreign_parts;
        if (storage.good) read_dataset(again.root(), link.name, storage);
    }
    H5Fclose(file);
    return done;
}

/// What the child does. It is killed by the clock if it takes too long.
[[noreturn]] void be_child(const std::filesystem::path& path, int answer_to, unsigned seconds) {
    // MPI, or who runs us, may have handlers for these; and none of what a dying library prints is of use.
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTERM, SIGINT, SIGXCPU})
        std::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    if (const int silent = ::open("/dev/null", O_RDWR); silent >= 0) {
        ::dup2(silent, STDOUT_FILENO);
        ::dup2(silent, STDERR_FILENO);
    }
    ::alarm(seconds);
    lock_anew_in_child();
    Answer answer = done;
    attempt([&] { answer = walk(path); });
    const char word = answer;
    [[maybe_unused]] const ssize_t ignored = ::write(answer_to, &word, 1);
    ::_exit(0);
}

/// Calls f again while it is interrupted by signals.
template <class F>
auto patiently(F&& f) {
    auto result = f();
    while (result < 0 && errno == EINTR) result = f();
    return result;
}

}  // namespace

bool is_plain_number(std::int64_t type) {
    const std::array<hid_t, 20> plain = {H5T_STD_I8LE,   H5T_STD_I8BE,   H5T_STD_U8LE,   H5T_STD_U8BE,
                                         H5T_STD_I16LE,  H5T_STD_I16BE,  H5T_STD_U16LE,  H5T_STD_U16BE,
                                         H5T_STD_I32LE,  H5T_STD_I32BE,  H5T_STD_U32LE,  H5T_STD_U32BE,
                                         H5T_STD_I64LE,  H5T_STD_I64BE,  H5T_STD_U64LE,  H5T_STD_U64BE,
                                         H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
    return std::any_of(plain.begin(), plain.end(), [&](hid_t one) { return H5Tequal(type, one) > 0; });
}

void check_in_child(const std::filesystem::path& path) {
    const std::string name = path.string();
    const char* const cure = "copy or write it again";
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    // A disk reads 20 MB in a second, or more.
    const auto seconds =
        static_cast<unsigned>(20 + (error ? 0 : std::min<std::uintmax_t>(size / 20'000'000, 3600)));
    int ends[2] = {-1, -1};
    // Nobody else is in the library while it is copied.
    const auto guard = lock();
    const pid_t child = ::pipe2(ends, O_CLOEXEC) == 0 ? ::fork() : -1;
    if (child == 0) be_child(path, ends[1], seconds);
    const int reason = errno;
    char answer = nothing;
    if (ends[1] >= 0) ::close(ends[1]);
    if (child > 0 && patiently([&] { return ::read(ends[0], &answer, 1); }) != 1) answer = nothing;
    if (ends[0] >= 0) ::close(ends[0]);
    if (child < 0)
        fail(name, std::string("no process can be started to look at it: ") + std::strerror(reason),
             "see that the system has memory and allows more processes");
    int status = 0;
    const bool known = patiently([&] { return ::waitpid(child, &status, 0); }) == child;
    if (answer == has_foreign_parts)
        fail(name,
             "has parts in other files (external links, external or virtual datasets), which are not read",
             "copy all of it into one file (h5repack)");
    if (answer == cannot_be_listed) fail(name, "is damaged: HDF5 cannot list what is in it", cure);
    if (answer == has_too_many_names)
        fail(name, fmt::format("has more than {} names, and no more are looked at", most_links),
             "copy what is needed into a file of its own (h5copy)");
    if (answer == done) return;
    const int signal = known && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal == SIGALRM)
        fail(name, fmt::format("is damaged: HDF5 does not come to an end with it in {} s", seconds), cure);
    // By somebody else: for want of memory, or with all of its group.
    if (signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP)
        fail(name, "cannot be checked: the process that reads it first was killed",
             "see that there is memory for it, and try again");
    fail(name,
         "is damaged: HDF5 crashes on it" +
             (signal > 0 ? std::string(" (") + ::strsignal(signal) + ")" : std::string()),
         cure);
}

}  // namespace drystone::hdf5
