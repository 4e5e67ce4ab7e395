// Reading of datasets: what HDF5 hands out is checked before it is believed.
#include "drystone/base/error.hpp"
#include "drystone/base/machine_memory.hpp"
#include "drystone/files/hdf5_check.hpp"
#include "drystone/files/hdf5_handle.hpp"

#include <algorithm>
#include <climits>
#include <type_traits>

namespace drystone::hdf5 {

namespace {

/// Deflate, the best of HDF5's usual filters, cannot make data smaller than by this factor: a dataset that claims more
/// than this times the size of its file is garbled, and is refused before memory is asked for. One in a single piece
/// claims no more than the file.
constexpr std::uintmax_t max_compression = 1032;

/// How many numbers a dataset holds; -1 if the file, of so many bytes, or this machine has no room for them, or if the
/// library miscounts them.
hssize_t count_of(hid_t dataset, hid_t space, std::size_t bytes_of_one, std::uintmax_t file_size) {
    hsize_t extent[H5S_MAX_RANK] = {};
    const int dimensions = H5Sget_simple_extent_dims(space, extent, nullptr);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count < 0 || dimensions < 0 || bytes_of_one == 0) return -1;
    // HDF5 multiplies extents without a look at what 64 bits hold.
    double product = count == 0 ? 0 : 1;
    for (int k = 0; k < dimensions && count > 0; ++k) product *= static_cast<double>(extent[k]);
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
    const bool in_pieces = properties.good() && H5Pget_layout(properties.id()) == H5D_CHUNKED;
    const double bytes = product * static_cast<double>(bytes_of_one);
    const double most = static_cast<double>(file_size) * (in_pieces ? max_compression : 1);
    const bool fits = bytes <= std::min(most, 0.25 * machine_memory());
    return fits && product < 9e18 && static_cast<hssize_t>(product) == count ? count : -1;
}

template <class T>
struct Stored;
template <>
struct Stored<int> {
    // Read as 64 bits, so that a number too large is noticed; HDF5 itself would clip it.
    using Memory = long long;
    static hid_t type() { return H5T_NATIVE_LLONG; }
    static bool fits(H5T_class_t kind) { return kind == H5T_INTEGER; }
    static constexpr const char* name = "integers";
};
template <>
struct Stored<std::int64_t> {
    using Memory = std::int64_t;
    static hid_t type() { return H5T_NATIVE_INT64; }
    static bool fits(H5T_class_t kind) { return kind == H5T_INTEGER; }
    static constexpr const char* name = "integers";
};
template <>
struct Stored<char> {
    using Memory = char;
    static hid_t type() { return H5T_NATIVE_UCHAR; }
    static bool fits(H5T_class_t kind) { return kind == H5T_INTEGER; }
    static constexpr const char* name = "bytes";
};
template <>
struct Stored<double> {
    using Memory = double;
    static hid_t type() { return H5T_NATIVE_DOUBLE; }
    static bool fits(H5T_class_t kind) { return kind == H5T_FLOAT || kind == H5T_INTEGER; }
    static constexpr const char* name = "real numbers";
};

}  // namespace

void Group::refuse_count(const std::string& name) const {
    fail(where(name), "claims to hold more numbers than can be in this file, or in this machine",
         "the file is damaged; write it again");
}

template <class T>
std::vector<T> Group::read(const std::string& name, std::int64_t first, std::int64_t rows_wanted) const {
    const Silence silence;
    if (!exists(name)) fail(where(name), "is missing", "the file is not complete; write it again");
    const Handle dataset(H5Dopen2(group_->id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.good())
        fail(where(name), "cannot be opened as a dataset" + cause(), "the file is damaged; write it again");
    const Handle type(H5Dget_type(dataset.id()), H5Tclose);
    if (!type.good() || !Stored<T>::fits(H5Tget_class(type.id()))) {
        fail(where(name), std::string("does not hold ") + Stored<T>::name,
             "store it as " + std::string(Stored<T>::name));
    }
    if (!is_plain_number(type.id()))
        fail(where(name), "holds numbers of no usual type",
             "store integers or IEEE numbers of 1 to 8 bytes; the file may be damaged");
    const Handle space(H5Dget_space(dataset.id()), H5Sclose);
    const hssize_t count =
        space.good() ? count_of(dataset.id(), space.id(), H5Tget_size(type.id()), file_size_) : -1;
    const char* const damaged = "the file is damaged; write it again";
    if (count < 0) refuse_count(name);
    hssize_t wanted = count;
    Handle memory(-1, H5Sclose);
    if (rows_wanted >= 0) {
        hsize_t extent[H5S_MAX_RANK] = {}, begin[H5S_MAX_RANK] = {};
        const int dimensions = H5Sget_simple_extent_dims(space.id(), extent, nullptr);
        if (dimensions < 1 || first < 0 || static_cast<hsize_t>(first + rows_wanted) > extent[0]) {
            fail(where(name),
                 "has no rows " + std::to_string(first) + " to " + std::to_string(first + rows_wanted),
                 damaged);
        }
        wanted = extent[0] == 0 ? 0 : count / static_cast<hssize_t>(extent[0]) * rows_wanted;
        begin[0] = static_cast<hsize_t>(first);
        extent[0] = static_cast<hsize_t>(rows_wanted);
        if (wanted > 0) {
            H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin, nullptr, extent, nullptr);
            const auto size = static_cast<hsize_t>(wanted);
            memory = Handle(H5Screate_simple(1, &size, nullptr), H5Sclose);
        }
    }
    if (wanted > INT_MAX) refuse_count(name);
    std::vector<typename Stored<T>::Memory> values(static_cast<std::size_t>(wanted));
    if (wanted > 0 && H5Dread(dataset.id(), Stored<T>::type(), memory.good() ? memory.id() : H5S_ALL,
                              memory.good() ? space.id() : H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
        fail(where(name), "cannot be read" + cause(), damaged);
    }
    if constexpr (std::is_same_v<T, typename Stored<T>::Memory>) {
        return values;
    } else {
        std::vector<T> result;
        result.reserve(values.size());
        for (const auto x : values) {
            if (x < INT_MIN || x > INT_MAX)
                fail(where(name), "holds " + std::to_string(x), "use integers of 32 bits");
            result.push_back(static_cast<T>(x));
        }
        return result;
    }
}

std::vector<int> Group::read_ints(const std::string& name) const { return read<int>(name); }
std::vector<double> Group::read_doubles(const std::string& name) const { return read<double>(name); }
std::vector<std::int64_t> Group::read_longs(const std::string& name) const {
    return read<std::int64_t>(name);
}
std::vector<std::int64_t> Group::read_longs(const std::string& name, std::int64_t first,
                                            std::int64_t count) const {
    return read<std::int64_t>(name, first, count);
}
std::vector<double> Group::read_doubles(const std::string& name, std::int64_t first,
                                        std::int64_t count) const {
    return read<double>(name, first, count);
}

Group::Kind Group::kind(const std::string& name) const {
    const Silence silence;
    H5O_info_t info{};
    if (H5Oget_info_by_name2(group_->id(), name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        fail(where(name), "cannot be looked at" + cause(), "the file is damaged; write it again");
    if (info.type == H5O_TYPE_GROUP) return Kind::group;
    if (info.type != H5O_TYPE_DATASET) return Kind::other;
    const Handle dataset(H5Dopen2(group_->id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle type(dataset.good() ? H5Dget_type(dataset.id()) : -1, H5Tclose);
    if (!type.good()) return Kind::other;
    const H5T_class_t stored = H5Tget_class(type.id());
    return stored == H5T_INTEGER ? Kind::integers : stored == H5T_FLOAT ? Kind::reals : Kind::other;
}

std::int64_t Group::size(const std::string& name) const {
    const Silence silence;
    if (!exists(name)) fail(where(name), "is missing", "the file is not complete; write it again");
    const Handle dataset(H5Dopen2(group_->id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(dataset.good() ? H5Dget_space(dataset.id()) : -1, H5Sclose);
    if (!space.good())
        fail(where(name), "cannot be opened as a dataset" + cause(), "the file is damaged; write it again");
    const hssize_t count = count_of(dataset.id(), space.id(), 1, file_size_);
    if (count < 0) refuse_count(name);
    return count;
}

std::int64_t Group::rows(const std::string& name) const {
    const Silence silence;
    if (!exists(name)) fail(where(name), "is missing", "the file is not complete; write it again");
    const Handle dataset(H5Dopen2(group_->id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(dataset.good() ? H5Dget_space(dataset.id()) : -1, H5Sclose);
    hsize_t extent[H5S_MAX_RANK] = {};
    if (!space.good() || H5Sget_simple_extent_dims(space.id(), extent, nullptr) < 1)
        fail(where(name), "has no rows" + cause(), "the file is damaged; write it again");
    return static_cast<std::int64_t>(extent[0]);
}

std::string Group::read_bytes(const std::string& name) const {
    const std::vector<char> bytes = read<char>(name);
    return {bytes.begin(), bytes.end()};
}

int Group::read_int(const std::string& name) const {
    const std::vector<int> values = read<int>(name);
    if (values.size() != 1)
        fail(where(name), "holds " + std::to_string(values.size()) + " numbers", "store one");
    return values[0];
}

double Group::read_double(const std::string& name) const {
    const std::vector<double> values = read<double>(name);
    if (values.size() != 1)
        fail(where(name), "holds " + std::to_string(values.size()) + " numbers", "store one");
    return values[0];
}

std::string Group::read_string(const std::string& name) const {
    const Silence silence;
    if (!exists(name)) fail(where(name), "is missing", "the file is not complete; write it again");
    const Handle dataset(H5Dopen2(group_->id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle type(dataset.good() ? H5Dget_type(dataset.id()) : -1, H5Tclose);
    const Handle space(dataset.good() ? H5Dget_space(dataset.id()) : -1, H5Sclose);
    if (!type.good() || H5Tget_class(type.id()) != H5T_STRING ||
        H5Sget_simple_extent_npoints(space.id()) != 1) {
        fail(where(name), "does not hold one text" + cause(), "store one string");
    }
    const char* const damaged = "the file is damaged; write it again";
    if (H5Tis_variable_str(type.id()) > 0) {
        // Read in the stored character set; HDF5 does not convert between ASCII and UTF-8.
        char* text = nullptr;
        if (H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) < 0) {
            fail(where(name), "cannot be read" + cause(), damaged);
        }
        std::string result = text == nullptr ? "" : text;
        H5free_memory(text);
        return result;
    }
    const std::size_t size = H5Tget_size(type.id());
    if (size > file_size_) fail(where(name), "claims a text longer than the file", damaged);
    std::string result(size, '\0');
    if (H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, result.data()) < 0) {
        fail(where(name), "cannot be read" + cause(), damaged);
    }
    result.resize(std::min(result.find('\0'), result.size()));
    if (H5Tget_strpad(type.id()) == H5T_STR_SPACEPAD) result.resize(result.find_last_not_of(' ') + 1);
    return result;
}

}  // namespace drystone::hdf5
