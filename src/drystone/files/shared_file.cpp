#include "drystone/files/shared_file.hpp"

#include "drystone/files/whole_file.hpp"

#include <system_error>

namespace drystone {

void write_shared_file(const std::filesystem::path& path, const hdf5::Ranks& ranks, std::int64_t before,
                       const std::function<void(const hdf5::Group&)>& write,
                       const std::function<void(const std::filesystem::path&)>& finish, bool safe) {
    std::filesystem::path part = path;
    part += ".part";
    const bool first = hdf5::rank_of(ranks) == 0;
    try {
        {
            const hdf5::File file = hdf5::File::create(part, ranks, before);
            hdf5::together(ranks, [&] {
                write(file.root());
                file.flush();
            });
        }
        hdf5::together(ranks, [&] {
            if (!first) return;
            if (finish) finish(part);
            finish_part(path, safe);
        });
    } catch (...) {
        std::error_code ignored;
        if (first) std::filesystem::remove(part, ignored);
        throw;
    }
}

}  // namespace drystone
