// Fuzzer of the reader of checkpoints.
//
// The first byte chooses: a file of any bytes, of which nearly all end at the header or the checksum; or a good
// checkpoint with some of its numbers replaced, read behind the checksum. In the second case only the data of datasets
// are changed, not the container, for the reason given in problem.cpp.

#include "drystone/results/checkpoint.hpp"

#include "bytes.hpp"
#include "drystone/base/error.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/scenes/scene_file.hpp"
#include "results/checkpoint_scene.hpp"

#include <hdf5.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace drystone;
using drystone::fuzz::Bytes;

constexpr std::size_t header_size = 512;

// A body of another kind, after those of the scene.
const char* const block = R"(
    [[body]]
    shape = { type = "rectangle", sides = [0.1, 0.2] }
    position = [-0.5, 0.1]
)";

const std::filesystem::path& scratch_file() {
    static const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("drystone-fuzz-" + std::to_string(::getpid()) + ".h5");
    return file;
}

struct Good {
    std::string bytes;  // without the header
    struct Piece {
        std::size_t at, size;
    };
    std::vector<Piece> data;  // of datasets
};

Good make_good() {
    SceneFiles files;
    files.scene = "scene.toml";
    files.text = std::string(testing::checkpoint_scene) + block;
    const auto plan = std::get<RunPlan<2>>(read_scene(files));
    WarmStart<2> warm;
    warm.key = {{0, 1, 0, 0}, {0, 3, 0, 1}};
    warm.impulse = {Vec<2>(0, 1), Vec<2>(0.1, 1)};
    warm.h = 1e-3;
    State observers;
    observers.numbers = {{"measurements/lengths/steps.csv", std::vector<std::int64_t>{100}},
                         {"frames/last_h", std::vector{1e-3}}};
    write_checkpoint<2>(scratch_file(),
                        {files, {}, plan.world.scene, plan.world.scene.bodies, warm, {}, observers}, "fuzz");
    Good good;
    std::ifstream stream(scratch_file(), std::ios::binary);
    good.bytes.assign(std::istreambuf_iterator<char>(stream), {});
    good.bytes.erase(0, header_size);
    // Where each dataset's numbers are.
    const hid_t file = H5Fopen(scratch_file().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const H5O_iterate_t take = [](hid_t root, const char* name, const H5O_info_t* info, void* out) -> herr_t {
        if (info->type != H5O_TYPE_DATASET) return 0;
        const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
        const haddr_t at = H5Dget_offset(dataset);
        const hsize_t size = H5Dget_storage_size(dataset);
        H5Dclose(dataset);
        if (at != HADDR_UNDEF && size > 0)
            static_cast<Good*>(out)->data.push_back(
                {static_cast<std::size_t>(at) - header_size, static_cast<std::size_t>(size)});
        return 0;
    };
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, take, &good, H5O_INFO_BASIC);
    H5Fclose(file);
    return good;
}

void read_any(std::string_view bytes) {
    std::ofstream(scratch_file(), std::ios::binary | std::ios::trunc) << bytes;
    read_checkpoint(scratch_file(), "fuzz", plan_without_grains);
}

void read_changed(const Good& good, Bytes& bytes) {
    std::string changed = good.bytes;
    for (int k = 0; k < 8 && !bytes.empty(); ++k) {
        const Good::Piece piece = good.data[bytes.take<std::uint8_t>() % good.data.size()];
        const std::size_t at = bytes.take<std::uint16_t>() % piece.size;
        const std::size_t width =
            std::min<std::size_t>(std::size_t{1} << static_cast<unsigned>(bytes.below(3)), piece.size - at);
        for (std::size_t i = 0; i < width; ++i)
            changed[piece.at + at + i] = static_cast<char>(bytes.take<std::uint8_t>());
    }
    read_checkpoint_content(hdf5::File::open_image("fuzz", changed).root(), plan_without_grains);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Outside of the try: a good one that is refused is a fault too.
    static const Good good = [] {
        Good made = make_good();
        read_checkpoint_content(hdf5::File::open_image("good", made.bytes).root(), plan_without_grains);
        return made;
    }();
    Bytes bytes(data, size);
    try {
        if (bytes.below(7) == 0) {
            read_any({reinterpret_cast<const char*>(data), size});
        } else {
            read_changed(good, bytes);
        }
    } catch (const Error&) {
    }
    return 0;
}
