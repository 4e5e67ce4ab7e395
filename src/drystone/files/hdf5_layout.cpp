#include "drystone/files/hdf5_layout.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace drystone::hdf5 {

void Layout::drop(std::uint64_t address, std::uint64_t size) {
    const std::uint64_t end = address + size;
    auto at = pieces.lower_bound(address);
    if (at != pieces.begin() && std::prev(at)->first + std::prev(at)->second.size() > address) --at;
    while (at != pieces.end() && at->first < end) {
        const std::uint64_t begin = at->first, stop = begin + at->second.size();
        std::string bytes = std::move(at->second);
        at = pieces.erase(at);
        if (begin < address) pieces.emplace(begin, bytes.substr(0, address - begin));
        if (stop > end) pieces.emplace(end, bytes.substr(end - begin));
    }
}

void Layout::write(std::uint64_t address, std::string_view bytes) {
    drop(address, bytes.size());
    pieces.emplace(address, bytes);
}

void Layout::read(std::uint64_t address, std::uint64_t size, char* to) const {
    std::memset(to, 0, size);
    const std::uint64_t end = address + size;
    auto at = pieces.lower_bound(address);
    if (at != pieces.begin()) --at;
    for (; at != pieces.end() && at->first < end; ++at) {
        const std::uint64_t begin = std::max(at->first, address),
                            stop = std::min(at->first + at->second.size(), end);
        if (begin < stop)
            std::memcpy(to + (begin - address), at->second.data() + (begin - at->first), stop - begin);
    }
}

namespace {

/// What the library knows of an open file: its own part first.
struct OpenLayout {
    H5FD_t ours;
    Layout* layout;
    haddr_t written;  // end of what has been written
};

OpenLayout& opened(H5FD_t* file) { return *reinterpret_cast<OpenLayout*>(file); }
const OpenLayout& opened(const H5FD_t* file) { return *reinterpret_cast<const OpenLayout*>(file); }

struct AccessInfo {
    Layout* layout;
};

H5FD_t* open_layout(const char*, unsigned, hid_t access, haddr_t) {
    const auto* info = static_cast<const AccessInfo*>(H5Pget_driver_info(access));
    if (info == nullptr) return nullptr;
    auto* file = new (std::nothrow) OpenLayout{};
    if (file != nullptr) file->layout = info->layout;
    return reinterpret_cast<H5FD_t*>(file);
}

herr_t close_layout(H5FD_t* file) {
    delete &opened(file);
    return 0;
}

herr_t query_layout(const H5FD_t*, unsigned long* features) {
    // What decides where things are placed is as in the library's driver for memory, so that the files are the same.
    if (features != nullptr) *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

haddr_t length_of(const H5FD_t* file, H5FD_mem_t) { return opened(file).layout->length; }

herr_t set_length(H5FD_t* file, H5FD_mem_t, haddr_t length) {
    opened(file).layout->length = length;
    return 0;
}

haddr_t written_of(const H5FD_t* file, H5FD_mem_t) { return opened(file).written; }

herr_t read_layout(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* to) {
    opened(file).layout->read(address, size, static_cast<char*>(to));
    return 0;
}

herr_t write_layout(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* from) {
    // No exception may pass through the library, which is in C.
    try {
        opened(file).layout->write(address, {static_cast<const char*>(from), size});
    } catch (...) {
        return -1;
    }
    opened(file).written = std::max<haddr_t>(opened(file).written, address + size);
    return 0;
}

H5FD_class_t driver() {
    H5FD_class_t all{};
    all.name = "drystone layout";
    all.maxaddr = (haddr_t{1} << 62U);
    all.fc_degree = H5F_CLOSE_WEAK;
    all.fapl_size = sizeof(AccessInfo);
    all.open = open_layout;
    all.close = close_layout;
    all.query = query_layout;
    all.get_eoa = length_of;
    all.set_eoa = set_length;
    all.get_eof = written_of;
    all.read = read_layout;
    all.write = write_layout;
    // Nothing to lock; but HDF5 marks a file as being written where its driver could (a byte that is in the files of
    // one rank too).
    all.lock = [](H5FD_t*, hbool_t) -> herr_t { return 0; };
    all.unlock = [](H5FD_t*) -> herr_t { return 0; };
    // As in the library's drivers for memory and for one process.
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), all.fl_map);
    return all;
}

}  // namespace

std::int64_t layout_access(Layout& layout) {
    static const H5FD_class_t kind = driver();
    static const hid_t number = H5FDregister(&kind);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const AccessInfo info{&layout};
    if (number < 0 || access < 0 || H5Pset_driver(access, number, &info) < 0) return -1;
    return access;
}

}  // namespace drystone::hdf5
