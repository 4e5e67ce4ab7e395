#include "drystone/files/whole_file.hpp"

#include "drystone/base/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace drystone {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
    const std::string what = "cannot be written: " + std::generic_category().message(error);
    if (error == ENOSPC || error == EDQUOT) fail(path.string(), what, "make room on the disk and go on");
    if (error == EFBIG) fail(path.string(), what, "lift the limit on the size of files (ulimit -f)");
    fail(path.string(), what, "see that the folder exists and can be written to");
}

/// Owner of a file descriptor.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int number() const { return number_; }
    /// False, with errno, if what was written did not arrive.
    bool close() { return ::close(std::exchange(number_, -1)) == 0; }

private:
    int number_;
};

/// Linux writes at most 2 GiB at once.
constexpr std::size_t most_at_once = std::size_t{1} << 30U;

void write_all(const Descriptor& file, std::string_view bytes, const fs::path& path) {
    while (!bytes.empty()) {
        const ssize_t done = ::write(file.number(), bytes.data(), std::min(bytes.size(), most_at_once));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail_to_write(path, done < 0 ? errno : ENOSPC);
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
}

/// Without the ending of a file that is not yet whole: users know it by its final name.
fs::path final_name(const fs::path& path) {
    const std::string name = path.string();
    const std::size_t at = name.rfind(".part");
    return at != std::string::npos && name.find('/', at) == std::string::npos ? fs::path(name.substr(0, at))
                                                                              : path;
}

/// The part is removed if that fails.
void rename_part(const fs::path& part, const fs::path& path, bool safe) {
    std::error_code error;
    fs::rename(part, path, error);
    if (error) {
        std::error_code ignored;
        fs::remove(part, ignored);
        fail_to_write(path, error.value());
    }
    if (!safe) return;
    // The new name is on the disk when its folder is. Some file systems cannot do that, and need not.
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.number() >= 0 && ::fsync(directory.number()) != 0 && errno != EINVAL)
        fail_to_write(folder, errno);
}

}  // namespace

void write_file(const fs::path& path, std::initializer_list<std::string_view> pieces, bool safe) {
    const fs::path told = final_name(path);
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.number() < 0) fail_to_write(told, errno);
    for (const std::string_view piece : pieces) write_all(file, piece, told);
    if (safe && ::fsync(file.number()) != 0) fail_to_write(told, errno);
    if (!file.close()) fail_to_write(told, errno);
}

void write_whole_file(const fs::path& path, std::initializer_list<std::string_view> pieces, bool safe) {
    std::error_code error;
    const fs::file_status there = fs::symlink_status(path, error);
    if (fs::exists(there) && !fs::is_regular_file(there)) return write_file(path, pieces, safe);
    fs::path part = path;
    part += ".part";
    try {
        write_file(part, pieces, safe);
    } catch (...) {
        fs::remove(part, error);
        throw;
    }
    rename_part(part, path, safe);
}

PlacedFile::PlacedFile(const fs::path& path)
    : told_(final_name(path)), number_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
    if (number_ < 0) fail_to_write(told_, errno);
}

PlacedFile::PlacedFile(PlacedFile&& other) noexcept
    : told_(std::move(other.told_)), number_(std::exchange(other.number_, -1)) {}

PlacedFile::~PlacedFile() {
    if (number_ >= 0) ::close(number_);
}

void PlacedFile::write(std::int64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::pwrite(number_, bytes.data(), std::min(bytes.size(), most_at_once), offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail_to_write(told_, done < 0 ? errno : ENOSPC);
        bytes.remove_prefix(static_cast<std::size_t>(done));
        offset += done;
    }
}

void PlacedFile::cut(std::int64_t length) {
    if (::ftruncate(number_, length) != 0) fail_to_write(told_, errno);
}

void PlacedFile::close() {
    // On a disk that several machines share, the others see what we wrote once it is there.
    if (::fsync(number_) != 0) fail_to_write(told_, errno);
    if (::close(std::exchange(number_, -1)) != 0) fail_to_write(told_, errno);
}

void finish_part(const fs::path& path, bool safe) {
    fs::path part = path;
    part += ".part";
    if (safe) {
        Descriptor file(::open(part.c_str(), O_WRONLY | O_CLOEXEC));
        if (file.number() < 0 || ::fsync(file.number()) != 0 || !file.close()) fail_to_write(path, errno);
    }
    rename_part(part, path, safe);
}

}  // namespace drystone
