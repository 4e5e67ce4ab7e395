#include "drystone/files/hdf5.hpp"

#include "drystone/base/error.hpp"
#include "drystone/files/hdf5_check.hpp"
#include "drystone/files/hdf5_handle.hpp"
#include "drystone/files/hdf5_layout.hpp"
#include "drystone/files/whole_file.hpp"

#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace drystone::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>, "the header holds HDF5 identifiers as 64-bit integers");

std::recursive_mutex& library_mutex() {
    // Never destroyed: a file that is closed while the program ends still finds it.
    static auto* const mutex = new std::recursive_mutex;
    return *mutex;
}

std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(library_mutex()); }

void lock_anew_in_child() { new (&library_mutex()) std::recursive_mutex; }

void close_nothing_at_exit() { H5dont_atexit(); }

std::string cause() {
    std::string text;
    const H5E_walk2_t take = [](unsigned n, const H5E_error2_t* error, void* out) -> herr_t {
        if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
    return text.empty() ? text : " (HDF5: " + text + ")";
}

namespace {

/// An array of so many numbers, in rows of `columns` where that is not 0.
Handle array_space(std::size_t size, int columns) {
    const hsize_t width = columns > 0 ? static_cast<hsize_t>(columns) : 1;
    const hsize_t extent[2] = {size / width, width};
    return {H5Screate_simple(columns > 0 ? 2 : 1, extent, nullptr), H5Sclose};
}

/// Properties of something to be created that keep no time with it.
Handle timeless(hid_t kind) {
    Handle properties(H5Pcreate(kind), H5Pclose);
    H5Pset_obj_track_times(properties.id(), 0);
    return properties;
}

/// A dataset that keeps no time.
Handle create_dataset(hid_t group, const std::string& name, hid_t type, hid_t space) {
    const Handle properties = timeless(H5P_DATASET_CREATE);
    return {H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, properties.id(), H5P_DEFAULT),
            H5Dclose};
}

/// How a file is opened for reading: by all ranks, or by this process alone.
Handle access_of(const Ranks& ranks) {
    Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    if (!ranks.alone()) {
        H5Pset_fapl_mpio(access.id(), *static_cast<const MPI_Comm*>(ranks.communicator), MPI_INFO_NULL);
        H5Pset_all_coll_metadata_ops(access.id(), 1);
    }
    return access;
}

/// In memory, in pieces of so many bytes, and never on disk.
Handle memory_access() {
    Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access.id(), std::size_t{1} << 18U, 0);
    return access;
}

}  // namespace

/// A file that several ranks write.
struct Shared {
    Layout layout;
    PlacedFile file;
    std::int64_t before = 0;  // bytes in front of what HDF5 sees
    bool writes_tables = true;

    Shared(Layout l, PlacedFile f, std::int64_t b, bool tables)
        : layout(std::move(l)), file(std::move(f)), before(b), writes_tables(tables) {}
};

Group::Group(std::shared_ptr<Handle> file, std::shared_ptr<Handle> group, std::string path,
             std::filesystem::path file_name, std::uintmax_t file_size, std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      file_(std::move(file)),
      group_(std::move(group)),
      path_(std::move(path)),
      file_name_(std::move(file_name)),
      file_size_(file_size) {}

std::string Group::where(const std::string& name) const {
    const std::string inside = name.empty() ? path_ : path_ + "/" + name;
    return file_name_.string() + ": " + (inside.empty() ? "/" : inside);
}

bool Group::exists(const std::string& name) const {
    const Silence silence;
    // H5Lexists asks about the last part of a path only, so each part is asked for in turn.
    for (std::size_t end = 0; end != std::string::npos;) {
        end = name.find('/', end == 0 ? 0 : end + 1);
        const std::string part = name.substr(0, end);
        if (part.empty() || H5Lexists(group_->id(), part.c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return H5Oexists_by_name(group_->id(), name.c_str(), H5P_DEFAULT) > 0;
}

Group Group::open_group(const std::string& name) const {
    const Silence silence;
    if (!exists(name))
        fail(where(name), "is missing", "the file is not complete, or not of the kind expected");
    auto handle = std::make_shared<Handle>(H5Gopen2(group_->id(), name.c_str(), H5P_DEFAULT), H5Gclose);
    if (!handle->good()) {
        fail(where(name), "cannot be opened as a group" + cause(),
             "the file is damaged or not of the kind expected");
    }
    return {file_, std::move(handle), path_ + "/" + name, file_name_, file_size_, shared_};
}

Group Group::create_group(const std::string& name) const {
    const Silence silence;
    const Handle properties = timeless(H5P_GROUP_CREATE);
    auto handle = std::make_shared<Handle>(
        H5Gcreate2(group_->id(), name.c_str(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Gclose);
    if (!handle->good()) fail(where(name), "cannot be created" + cause(), "use a name that is not taken");
    return {file_, std::move(handle), path_ + "/" + name, file_name_, file_size_, shared_};
}

void Group::write(const std::string& name, std::int64_t memory_type, std::int64_t space,
                  const void* data) const {
    const Handle dataset = create_dataset(group_->id(), name, memory_type, space);
    if (!dataset.good()) fail(where(name), "cannot be created" + cause(), "use a name that is not taken");
    if (H5Sget_simple_extent_npoints(space) == 0) return;
    if (H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        fail(where(name), "cannot be written" + cause(), "see that the disk has room");
}

void Group::write_slab(const std::string& name, std::int64_t memory_type, std::size_t size, int columns,
                       Slab slab, const void* data) const {
    const Silence silence;
    const hsize_t width = columns > 0 ? static_cast<hsize_t>(columns) : 1;
    const int dimensions = columns > 0 ? 2 : 1;
    const hsize_t ours[2] = {size / width, width};
    const hsize_t begin[2] = {static_cast<hsize_t>(slab.first), 0};
    const hsize_t extent[2] = {static_cast<hsize_t>(slab.total), width};
    if (slab.first < 0 || size % width != 0 || begin[0] + ours[0] > extent[0]) {
        fail(where(name),
             "rows " + std::to_string(slab.first) + " to " +
                 std::to_string(slab.first + static_cast<std::int64_t>(ours[0])) + " of " +
                 std::to_string(slab.total),
             "hand over whole rows that lie within the dataset");
    }
    const Handle space(H5Screate_simple(dimensions, extent, nullptr), H5Sclose);
    if (!shared_) {
        const bool all = ours[0] == extent[0];
        if (!all)
            fail(where(name), "some rows are missing", "hand over all, or create the file by several ranks");
        write(name, memory_type, space.id(), data);
        return;
    }
    const Handle dataset = create_dataset(group_->id(), name, memory_type, space.id());
    if (!dataset.good()) fail(where(name), "cannot be created" + cause(), "use a name that is not taken");
    if (slab.total == 0) return;
    // HDF5 places a dataset when something of it is written, which is taken away again: one number, by all ranks.
    const hsize_t origin[2] = {0, 0}, one[2] = {1, 1};
    const Handle memory(H5Screate_simple(dimensions, one, nullptr), H5Sclose);
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, origin, nullptr, one, nullptr);
    const std::int64_t zero = 0;
    const bool placed = H5Dwrite(dataset.id(), memory_type, memory.id(), space.id(), H5P_DEFAULT, &zero) >= 0;
    const haddr_t address = placed ? H5Dget_offset(dataset.id()) : HADDR_UNDEF;
    if (address == HADDR_UNDEF)
        fail(where(name), "has no place in the file" + cause(), "see that there is memory");
    const std::size_t bytes = H5Tget_size(memory_type);
    shared_->layout.drop(address, extent[0] * width * bytes);
    shared_->file.write(shared_->before + static_cast<std::int64_t>(address + begin[0] * width * bytes),
                        {static_cast<const char*>(data), size * bytes});
}

void Group::write_rows(const std::string& name, std::span<const double> values, int columns,
                       Slab slab) const {
    write_slab(name, H5T_NATIVE_DOUBLE, values.size(), columns, slab, values.data());
}

void Group::write_rows(const std::string& name, std::span<const std::int64_t> values, int columns,
                       Slab slab) const {
    write_slab(name, H5T_NATIVE_INT64, values.size(), columns, slab, values.data());
}

void Group::write_rows(const std::string& name, std::span<const int> values, int columns, Slab slab) const {
    write_slab(name, H5T_NATIVE_INT, values.size(), columns, slab, values.data());
}

void Group::write_rows(const std::string& name, std::span<const float> values, int columns, Slab slab) const {
    write_slab(name, H5T_NATIVE_FLOAT, values.size(), columns, slab, values.data());
}

void Group::write_rows(const std::string& name, std::span<const std::uint8_t> values, int columns,
                       Slab slab) const {
    write_slab(name, H5T_NATIVE_UINT8, values.size(), columns, slab, values.data());
}

void Group::write_bytes(const std::string& name, std::string_view bytes) const {
    const Silence silence;
    write(name, H5T_NATIVE_UCHAR, array_space(bytes.size(), 0).id(), bytes.data());
}

std::vector<std::string> Group::names() const {
    const Silence silence;
    std::vector<std::string> found;
    const H5L_iterate_t take = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
        static_cast<std::vector<std::string>*>(out)->emplace_back(name);
        return 0;
    };
    if (H5Literate(group_->id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, take, &found) < 0)
        fail(where(), "cannot be listed" + cause(), "the file is damaged; write it again");
    std::sort(found.begin(), found.end());
    return found;
}

void Group::write_ints(const std::string& name, std::span<const int> values, int columns) const {
    const Silence silence;
    write(name, H5T_NATIVE_INT, array_space(values.size(), columns).id(), values.data());
}

void Group::write_doubles(const std::string& name, std::span<const double> values, int columns) const {
    const Silence silence;
    write(name, H5T_NATIVE_DOUBLE, array_space(values.size(), columns).id(), values.data());
}

void Group::write_longs(const std::string& name, std::span<const std::int64_t> values) const {
    const Silence silence;
    write(name, H5T_NATIVE_INT64, array_space(values.size(), 0).id(), values.data());
}

void Group::write_floats(const std::string& name, std::span<const float> values, int columns) const {
    const Silence silence;
    write(name, H5T_NATIVE_FLOAT, array_space(values.size(), columns).id(), values.data());
}

void Group::write_bytes(const std::string& name, std::span<const std::uint8_t> values) const {
    const Silence silence;
    write(name, H5T_NATIVE_UINT8, array_space(values.size(), 0).id(), values.data());
}

void Group::attach(const std::string& name, std::int64_t type, std::int64_t space, const void* data) const {
    const Handle attribute(H5Acreate2(group_->id(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    if (!attribute.good() || H5Awrite(attribute.id(), type, data) < 0)
        fail(where(name), "cannot be written as an attribute" + cause(), "see that the disk has room");
}

void Group::write_attribute(const std::string& name, std::span<const std::int64_t> values) const {
    const Silence silence;
    attach(name, H5T_NATIVE_INT64, array_space(values.size(), 0).id(), values.data());
}

void Group::write_attribute(const std::string& name, const std::string& text) const {
    const Silence silence;
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.id(), text.size());
    H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    attach(name, type.id(), space.id(), text.data());
}

void Group::write_int(const std::string& name, int value) const { write_ints(name, {&value, 1}); }
void Group::write_double(const std::string& name, double value) const { write_doubles(name, {&value, 1}); }

void Group::write_string(const std::string& name, const std::string& text) const {
    const Silence silence;
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.id(), text.size() + 1);
    H5Tset_strpad(type.id(), H5T_STR_NULLTERM);
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    write(name, type.id(), space.id(), text.c_str());
}

namespace {

Handle root_of(const Handle& file, const std::string& name) {
    Handle root(H5Gopen2(file.id(), "/", H5P_DEFAULT), H5Gclose);
    if (!root.good())
        fail(name, "has no root group" + cause(), "the file is damaged; copy or write it again");
    return root;
}

}  // namespace

File File::open(const std::filesystem::path& path, const Ranks& ranks, Source source) {
    const Silence silence;
    const std::string name = path.string();
    std::error_code error;
    if (source == Source::outside) {
        together(ranks, [&] {
            if (rank_of(ranks) == 0 && std::filesystem::is_regular_file(path, error)) check_in_child(path);
        });
    }
    if (!std::filesystem::exists(path, error))
        fail(name, "there is no such file", "see that the path is right");
    if (!std::filesystem::is_regular_file(path, error))
        fail(name, "is not a file", "give the path of an HDF5 file");
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) fail(name, "has no size: " + error.message(), "see that the file can be read");
    const Handle access = access_of(ranks);
    auto file = std::make_shared<Handle>(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
    if (!file->good()) {
        const std::string reason = cause();
        if (H5Fis_hdf5(name.c_str()) > 0) {
            fail(name, "cannot be opened" + reason,
                 "it is damaged, cut short or open for writing; copy or write it again");
        }
        fail(name, "is not an HDF5 file, or may not be read" + reason, "give the path of an HDF5 file");
    }
    auto root = std::make_shared<Handle>(root_of(*file, name));
    return File(Group(std::move(file), std::move(root), "", path, size));
}

File File::open_image(const std::string& name, std::span<const char> bytes) {
    const Silence silence;
    const Handle access = memory_access();
    // The library takes a copy; it does not write to what it is given.
    H5Pset_file_image(access.id(), const_cast<char*>(bytes.data()), bytes.size());
    auto file = std::make_shared<Handle>(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
    if (!file->good()) fail(name, "is not an HDF5 file" + cause(), "copy or write it again");
    auto root = std::make_shared<Handle>(root_of(*file, name));
    return File(Group(std::move(file), std::move(root), "", name, bytes.size()));
}

File File::create(const std::filesystem::path& path, const Ranks& ranks, std::int64_t before) {
    const Silence silence;
    const std::string name = path.string();
    if (ranks.alone()) {
        // Made empty now, so that a folder which cannot be written to is told of before the work is done.
        if (!std::ofstream(path, std::ios::binary | std::ios::trunc)) {
            fail(name, "cannot be created",
                 "see that the folder exists, can be written to and the disk has room");
        }
        return create_image(name);
    }
    together(ranks, [&] {
        if (rank_of(ranks) == 0) write_file(path, {}, false);
    });
    std::optional<File> result;
    together(ranks, [&] {
        auto shared = std::make_shared<Shared>(Layout{}, PlacedFile(path), before, rank_of(ranks) == 0);
        const Handle access(layout_access(shared->layout), H5Pclose), properties = timeless(H5P_FILE_CREATE);
        auto file = std::make_shared<Handle>(
            H5Fcreate(name.c_str(), H5F_ACC_TRUNC, properties.id(), access.id()), H5Fclose);
        if (!file->good()) fail(name, "cannot be laid out" + cause(), "see that there is memory");
        auto root = std::make_shared<Handle>(root_of(*file, name));
        result = File(Group(std::move(file), std::move(root), "", path, 0, std::move(shared)));
    });
    return *result;
}

File File::create_image(const std::string& name) {
    const Silence silence;
    const Handle access = memory_access(), properties = timeless(H5P_FILE_CREATE);
    auto file = std::make_shared<Handle>(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, properties.id(), access.id()),
                                         H5Fclose);
    if (!file->good()) fail(name, "cannot be created in memory" + cause(), "see that there is memory");
    auto root = std::make_shared<Handle>(root_of(*file, name));
    return File(Group(std::move(file), std::move(root), "", name, 0));
}

std::string_view File::bytes() const {
    const Silence silence;
    const std::string name = root_.file_name_.string();
    void** memory = nullptr;
    if (H5Fflush(root_.file_->id(), H5F_SCOPE_GLOBAL) < 0)
        fail(name, "cannot be finished" + cause(), "see that there is memory");
    // The size as it would be on disk: the library keeps more memory than that.
    const ssize_t size = H5Fget_file_image(root_.file_->id(), nullptr, 0);
    if (size < 0 || H5Fget_vfd_handle(root_.file_->id(), H5P_DEFAULT, reinterpret_cast<void**>(&memory)) < 0)
        fail(name, "has no bytes" + cause(), "ask for those of a file that is in memory");
    return {static_cast<const char*>(*memory), static_cast<std::size_t>(size)};
}

void File::flush() const {
    const Silence silence;
    const auto& shared = root_.shared_;
    if (!shared) {
        write_file(root_.file_name_, {bytes()}, false);
        return;
    }
    if (H5Fflush(root_.file_->id(), H5F_SCOPE_GLOBAL) < 0)
        fail(root_.file_name_.string(), "cannot be finished" + cause(), "see that there is memory");
    if (shared->writes_tables) {
        for (const auto& [address, piece] : shared->layout.pieces)
            shared->file.write(shared->before + static_cast<std::int64_t>(address), piece);
        shared->file.cut(shared->before + static_cast<std::int64_t>(shared->layout.length));
    }
    shared->file.close();
}

}  // namespace drystone::hdf5
