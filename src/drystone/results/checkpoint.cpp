// The header and its checksum, and the writer. What is read behind the header, and checked, is in checkpoint_read.cpp.
#include "drystone/results/checkpoint.hpp"

#include "drystone/base/error.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/files/hdf5_check.hpp"
#include "drystone/files/shared_file.hpp"
#include "drystone/files/whole_file.hpp"
#include "drystone/results/rows.hpp"
#include "drystone/results/sand_rows.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <memory>

namespace drystone {

namespace {

constexpr std::size_t header_size = 512;
constexpr std::string_view first_line = "drystone checkpoint\n";

/// XXH3 with 128 bits: enough that no accident goes unnoticed, and as fast as memory. It is no protection against ill
/// will.
class Checksum {
public:
    Checksum() : state_(XXH3_createState(), XXH3_freeState) { XXH3_128bits_reset(state_.get()); }
    void add(std::string_view bytes) { XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()); }
    [[nodiscard]] std::string hex() const {
        const XXH128_hash_t sum = XXH3_128bits_digest(state_.get());
        return fmt::format("{:016x}{:016x}", sum.high64, sum.low64);
    }

private:
    std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
};

const std::string no_sum(32, '0');

std::string header_of(const std::string& program, std::uintmax_t length, const std::string& sum) {
    std::string text = fmt::format("{}version {}\nprogram {}\nlength {}\nxxh3 {}\n", first_line,
                                   checkpoint_version, program, length, sum);
    text.resize(header_size, '\n');
    return text;
}

/// The word after `key ` on a line of its own; empty if there is none.
std::string_view entry(std::string_view header, std::string_view key) {
    const std::string begin = fmt::format("\n{} ", key);
    const std::size_t at = header.find(begin);
    if (at == std::string_view::npos) return {};
    header.remove_prefix(at + begin.size());
    return header.substr(0, header.find('\n'));
}

std::optional<std::uintmax_t> number_in(std::string_view word) {
    std::uintmax_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return value;
}

/// Adds what is behind the header to the sum, and answers how many bytes those are.
std::uintmax_t add_rest(std::ifstream& stream, Checksum& sum) {
    std::vector<char> piece(std::size_t{1} << 20U);
    std::uintmax_t read = 0;
    while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())), stream.gcount() > 0) {
        sum.add({piece.data(), static_cast<std::size_t>(stream.gcount())});
        read += static_cast<std::uintmax_t>(stream.gcount());
    }
    return read;
}

/// Program that wrote the file. Throws Error unless the file is a whole and unaltered checkpoint of our version.
std::string check_header(const std::filesystem::path& path, const std::string& program) {
    const std::string name = path.string();
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        fail(name, "is a folder", "give a checkpoint, or resume a folder that holds checkpoint.h5");
    // A pipe may have nobody at its other end.
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
        fail(name, "is a device or a pipe and not a file",
             "give a checkpoint.h5 that drystone run has written");
    std::ifstream stream(path, std::ios::binary);
    if (!stream) fail(name, "cannot be opened", "see that the path is right and the file can be read");
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    std::string header(header_size, '\0');
    stream.read(header.data(), static_cast<std::streamsize>(header_size));
    header.resize(static_cast<std::size_t>(stream.gcount()));
    const bool begins = std::string_view(header).substr(0, first_line.size()) ==
                        first_line.substr(0, std::min(first_line.size(), header.size()));
    if (header.empty() || !begins) {
        fail(name, header.empty() ? "is empty, and no checkpoint" : "is not a checkpoint",
             "give a checkpoint.h5 that drystone run has written");
    }
    const char* const other_copy = "use another copy, or run the scene again";
    if (header.size() < header_size) {
        fail(name, fmt::format("is cut short: it has {} of at least {} bytes", header.size(), header_size),
             other_copy);
    }
    const auto version = number_in(entry(header, "version")), length = number_in(entry(header, "length"));
    const std::string writer(entry(header, "program")), sum(entry(header, "xxh3"));
    if (!version || !length || writer.empty() || sum.size() != no_sum.size())
        fail(name, "is altered: its header cannot be read", other_copy);
    if (*version != checkpoint_version) {
        fail(name,
             fmt::format(
                 "is a checkpoint of version {}, written by drystone {}; this is drystone {}, which reads "
                 "version {}",
                 *version, writer, program, checkpoint_version),
             writer == program ? "run the scene again"
                               : fmt::format("resume it with drystone {}, or run the scene again", writer));
    }
    if (size < *length)
        fail(name, fmt::format("is cut short: it has {} of {} bytes", size, *length), other_copy);
    if (size > *length)
        fail(name, fmt::format("is altered: it has {} bytes and should have {}", size, *length), other_copy);

    Checksum seen;
    // The header as it was when the sum was taken: written anew, so that no byte of it goes unchecked.
    const std::string clean = header_of(writer, *length, no_sum);
    seen.add(clean);
    const std::uintmax_t read = header.size() + add_rest(stream, seen);
    if (stream.bad() || read != size)
        fail(name, "reading stopped early", "see that the disk is well; use another copy of the file");
    if (seen.hex() != sum || header != header_of(writer, *length, sum))
        fail(name, "is altered: its bytes are not those that were written (checksum)", other_copy);
    return writer;
}

void write_long(const hdf5::Group& group, const std::string& name, std::int64_t value) {
    group.write_longs(name, {&value, 1});
}

void write_files(const hdf5::Group& group, const SceneFiles& files) {
    // The name alone: where it stood on one machine means nothing on another.
    group.write_bytes("name", files.scene.filename().string());
    group.write_bytes("text", files.text);
    const hdf5::Group others = group.create_group("others");
    int k = 0;
    for (const auto& [name, content] : files.others) {
        const hdf5::Group one = others.create_group(std::to_string(k++));
        one.write_bytes("name", name);
        one.write_bytes("content", content);
    }
    write_long(group, "phase", files.phase);
    group.write_double("phase_begin", files.phase_begin);
    const hdf5::Group settings = group.create_group("settings");
    for (std::size_t s = 0; s < files.settings.size(); ++s) {
        const hdf5::Group one = settings.create_group(fmt::format("{:06}", s));
        one.write_bytes("field", files.settings[s].field);
        one.write_bytes("value", files.settings[s].value);
        write_long(one, "phase", files.settings[s].phase);
    }
}

void write_overrides(const hdf5::Group& group, const RunOverrides& overrides) {
    if (overrides.until) group.write_double("until", *overrides.until);
    if (overrides.steps) write_long(group, "steps", *overrides.steps);
    if (overrides.tolerance) group.write_double("tolerance", *overrides.tolerance);
}

/// Our rows as they are stored, where they are not in memory so already.
template <int d>
struct StoredRows {
    std::vector<int> motion, image;
    std::vector<double> rotation;
    std::vector<std::int64_t> keys;
};

template <int d>
StoredRows<d> stored_rows(const Bodies<d>& bodies, const WarmStart<d>& warm) {
    StoredRows<d> rows;
    for (const Motion m : bodies.motion) rows.motion.push_back(static_cast<int>(m));
    for (const Image<d>& periods : bodies.image)
        rows.image.insert(rows.image.end(), periods.data(), periods.data() + d);
    rows.rotation = rotations_of(bodies.rotation);
    rows.keys.reserve(4 * warm.key.size());
    for (const ContactKey& key : warm.key)
        rows.keys.insert(rows.keys.end(), {key.first, key.second, key.image, key.feature});
    return rows;
}

template <int d>
void write_bodies(const hdf5::Group& group, const Bodies<d>& bodies, const StoredRows<d>& rows,
                  hdf5::Slab slab) {
    write_long(group, "next_id", bodies.next_id);
    group.write_rows("id", std::span<const std::int64_t>(bodies.id), 0, slab);
    group.write_rows("shape", std::span<const int>(bodies.shape), 0, slab);
    group.write_rows("size", std::span<const double>(bodies.size), 0, slab);
    group.write_rows("material", std::span<const int>(bodies.material), 0, slab);
    group.write_rows("motion", std::span<const int>(rows.motion), 0, slab);
    group.write_rows("mass", std::span<const double>(bodies.mass), 0, slab);
    group.write_rows("inertia", flat(bodies.inertia), spins<d>, slab);
    group.write_rows("position", flat(bodies.position), d, slab);
    group.write_rows("image", std::span<const int>(rows.image), d, slab);
    group.write_rows("rotation", std::span<const double>(rows.rotation), d == 2 ? 1 : 4, slab);
    group.write_rows("velocity", flat(bodies.velocity), d, slab);
    group.write_rows("spin", flat(bodies.spin), spins<d>, slab);
}

template <int d>
void write_domain(const hdf5::Group& group, const Domain<d>& domain) {
    group.write_doubles("lower", {domain.lower.data(), d});
    group.write_doubles("period", {domain.period.data(), d});
    group.write_double("tilt", domain.tilt);
    group.write_doubles("rate", {domain.rate.data(), d});
    group.write_double("shear_rate", domain.shear_rate);
}

template <int d>
void write_warm(const hdf5::Group& group, const WarmStart<d>& warm, const StoredRows<d>& rows,
                hdf5::Slab slab, hdf5::Slab torques) {
    group.write_rows("key", std::span<const std::int64_t>(rows.keys), 4, slab);
    group.write_rows("impulse", flat(warm.impulse), d, slab);
    group.write_rows("torque", flat(warm.torque), spins<d>, torques);
    group.write_doubles("joints",
                        std::span(warm.joints.data(), static_cast<std::size_t>(warm.joints.size())));
    group.write_double("h", warm.h);
}

/// Each number under its name, in groups where names have slashes.
void write_state(const hdf5::Group& group, const State& state) {
    std::map<std::string, State> groups;
    for (const auto& [name, numbers] : state.numbers) {
        if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
            groups[name.substr(0, slash)].numbers.emplace(name.substr(slash + 1), numbers);
        } else if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&numbers)) {
            group.write_longs(name, *whole);
        } else {
            group.write_doubles(name, std::get<std::vector<double>>(numbers));
        }
    }
    for (const auto& [name, part] : groups) write_state(group.create_group(name), part);
}

/// All of a checkpoint but its header. Collective where ranks share the file.
template <int d>
void write_content(const hdf5::Group& root, const RunState<d>& state, const StoredRows<d>& rows,
                   hdf5::Slab bodies, hdf5::Slab warm, hdf5::Slab torques) {
    root.write_int("dimension", d);
    root.write_double("time", state.scene.time);
    root.write_doubles("gravity", {state.scene.gravity.data(), d});
    write_files(root.create_group("scene"), state.files);
    write_overrides(root.create_group("overrides"), state.overrides);
    write_bodies(root.create_group("bodies"), state.bodies, rows, bodies);
    write_domain(root.create_group("domain"), state.scene.domain);
    write_warm(root.create_group("warm"), state.warm, rows, warm, torques);
    if (state.sand != nullptr) write_sand(root.create_group("sand"), *state.sand, *state.sand_warm);
    write_state(root.create_group("progress"), state_of(state.progress));
    write_state(root.create_group("observers"), state.observers);
}

/// Gives a file that ranks have written together its header.
void write_header(const std::filesystem::path& part, const std::string& program) {
    const std::uintmax_t length = std::filesystem::file_size(part);
    std::ifstream stream(part, std::ios::binary);
    stream.seekg(header_size);
    Checksum sum;
    sum.add(header_of(program, length, no_sum));
    const std::uintmax_t rest = add_rest(stream, sum);
    if (stream.bad() || header_size + rest != length)
        fail(part.string(), "reading back what was written stopped early", "see that the disk is well");
    const std::string header = header_of(program, length, sum.hex());
    PlacedFile file(part);
    file.write(0, header);
    file.close();
}

template <int d>
void write_by_ranks(const std::filesystem::path& path, const RunState<d>& state, const std::string& program,
                    const StateSlabs& slabs) {
    const hdf5::Ranks& ranks = slabs.ranks;
    std::array<std::int64_t, 3> sums = {state.bodies.count(),
                                        static_cast<std::int64_t>(state.warm.key.size()),
                                        static_cast<std::int64_t>(state.warm.torque.size())};
    hdf5::add_up(ranks, sums);
    const hdf5::Slab bodies{slabs.first_body, slabs.bodies}, warm{slabs.first_warm, slabs.warm};
    const hdf5::Slab torques = sums[2] > 0 ? warm : hdf5::Slab{0, 0};
    write_shared_file(
        path, ranks, header_size,
        [&](const hdf5::Group& root) {
            if (slabs.bodies < 0 || slabs.warm < 0)
                fail(path.string(), "the numbers of all bodies and contacts are not given",
                     "give them to all ranks");
            // A row that nobody writes would be zeros.
            if (slabs.bodies != sums[0] || slabs.warm != sums[1] || (sums[2] != 0 && sums[2] != sums[1]))
                fail(path.string(),
                     fmt::format("the ranks have {} of {} bodies, {} of {} contacts and {} torques", sums[0],
                                 slabs.bodies, sums[1], slabs.warm, sums[2]),
                     "let each row be on one rank, with torques for all contacts or none");
            write_content(root, state, stored_rows(state.bodies, state.warm), bodies, warm, torques);
        },
        [&](const std::filesystem::path& part) { write_header(part, program); }, true);
}

}  // namespace

template <int d>
void write_checkpoint(const std::filesystem::path& path, const RunState<d>& state, const std::string& program,
                      const StateSlabs& slabs) {
    if (hdf5::count_of(slabs.ranks) > 1) {
        write_by_ranks(path, state, program, slabs);
        return;
    }
    // Made in memory and then written by ourselves: where the disk is full, HDF5 cannot get rid of a file that it
    // cannot finish.
    const hdf5::File file = hdf5::File::create_image(path.string());
    const auto all = [](std::size_t n) { return hdf5::Slab{0, static_cast<std::int64_t>(n)}; };
    write_content(file.root(), state, stored_rows(state.bodies, state.warm), all(state.bodies.id.size()),
                  all(state.warm.key.size()), all(state.warm.torque.size()));
    const std::string_view body = file.bytes();

    const std::uintmax_t length = header_size + body.size();
    Checksum sum;
    sum.add(header_of(program, length, no_sum));
    sum.add(body);
    write_whole_file(path, {header_of(program, length, sum.hex()), body}, true);
}

template void write_checkpoint(const std::filesystem::path&, const RunState<2>&, const std::string&,
                               const StateSlabs&);
template void write_checkpoint(const std::filesystem::path&, const RunState<3>&, const std::string&,
                               const StateSlabs&);

bool is_checkpoint(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::array<char, first_line.size()> begin{};
    stream.read(begin.data(), begin.size());
    return stream && std::string_view(begin.data(), begin.size()) == first_line;
}

SceneFiles read_files_of_checkpoint(const std::filesystem::path& path, const std::string& program) {
    check_header(path, program);
    hdf5::check_in_child(path);
    return read_files_of_checkpoint(hdf5::File::open(path, {}, hdf5::Source::checked).root());
}

Checkpoint read_checkpoint(const std::filesystem::path& path, const std::string& program,
                           const PlanReader& read_plan, const hdf5::Ranks& ranks, const RunChanges& changes) {
    const hdf5::Ranks several = hdf5::others_of(ranks);
    std::string writer;
    // One reads the whole file for its checksum, and tries it. The checksum tells accidents; ill will can make another.
    hdf5::together(several, [&] {
        if (hdf5::rank_of(several) != 0) return;
        writer = check_header(path, program);
        hdf5::check_in_child(path);
    });
    writer = hdf5::text_of_first(several, writer);
    // Each rank opens the file for itself: what is wrong with its rows, it finds alone, and no call waits for the
    // others.
    std::optional<hdf5::File> file;
    hdf5::together(several, [&] { file = hdf5::File::open(path, {}, hdf5::Source::checked); });
    Checkpoint checkpoint = read_checkpoint_content(file->root(), read_plan, several, changes);
    checkpoint.program = writer;
    return checkpoint;
}

}  // namespace drystone
