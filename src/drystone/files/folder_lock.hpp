// One run at a time writes into a folder.
#pragma once

#include <filesystem>

namespace drystone {

/// Held until it goes, and let go by the system however the program ends. Where a file system knows no locks there is
/// none.
class FolderLock {
public:
    /// Throws Error if another run holds it.
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    int file_;
};

}  // namespace drystone
