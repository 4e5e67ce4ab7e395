// Fuzzer of the reader of problems.
//
// The datasets are made from the fuzzer's bytes, in a file in memory, and not the bytes of the file: HDF5 1.10 itself
// crashes on containers whose inner tables are garbled, which is known and not ours to mend, and nearly all inputs
// would end there. What is fuzzed is everything that is read from a container which HDF5 can open: sizes, indices,
// numbers, and what is missing.

#include "bytes.hpp"
#include "drystone/base/error.hpp"
#include "drystone/files/hdf5.hpp"
#include "drystone/problems/problem_file.hpp"

#include <string>

namespace {

using drystone::fuzz::Bytes;
using drystone::hdf5::Group;

/// Sizes are near what they should be, so that most inputs get past the first check.
int near_size(Bytes& bytes, int size) {
    const int kind = bytes.below(31);
    return kind == 31 ? bytes.below(20) : kind == 30 ? std::max(0, size - 1) : size;
}

void write_matrix(Bytes& bytes, const Group& parent, const std::string& name, int rows, int columns) {
    if (bytes.below(63) == 63) return;
    const Group group = parent.create_group(name);
    const int m = near_size(bytes, rows), n = near_size(bytes, columns);
    const int count = bytes.below(24);
    const int kind = bytes.below(3);  // triplets mostly, compressed columns, compressed rows
    const int nz = kind == 1 ? -1 : kind == 2 ? -2 : near_size(bytes, count);
    if (bytes.below(63) != 63) group.write_int("nzmax", near_size(bytes, count));
    group.write_int("m", bytes.below(63) == 63 ? bytes.integer(9) : m);
    group.write_int("n", bytes.below(63) == 63 ? bytes.integer(9) : n);
    group.write_int("nz", nz);
    const int pointers = kind == 1 ? n + 1 : kind == 2 ? m + 1 : count;
    std::vector<int> p =
        bytes.integers(near_size(bytes, pointers), kind == 0 || kind == 3 ? std::max(0, n - 1) : count);
    if ((kind == 1 || kind == 2) && bytes.below(3) != 0) {
        std::sort(p.begin(), p.end());
        if (!p.empty()) p.front() = 0;
        if (!p.empty()) p.back() = count;
    }
    group.write_ints("p", p);
    group.write_ints("i", bytes.integers(near_size(bytes, count), std::max(0, m - 1)));
    group.write_doubles("x", bytes.numbers(near_size(bytes, count)));
}

void write_vector(Bytes& bytes, const Group& group, const std::string& name, int size) {
    if (bytes.below(31) != 31) group.write_doubles(name, bytes.numbers(near_size(bytes, size)));
}

void write_solution(Bytes& bytes, const Group& group, int dofs, int rows) {
    write_vector(bytes, group, "v", dofs);
    write_vector(bytes, group, "u", rows);
    write_vector(bytes, group, "r", rows);
    write_vector(bytes, group, "l", bytes.below(2));
}

void write_all(Bytes& bytes, const Group& root) {
    const char* const names[] = {"fclib_global", "fclib_local", "fclib_global_rolling"};
    const int kind = bytes.below(2);
    const Group group = root.create_group(names[kind]);
    const int dimension = kind == 2 ? 5 : 2 + bytes.below(1);
    const int contacts = bytes.below(3), bodies = 1 + bytes.below(2);
    const int rows = dimension * contacts, dofs = kind == 1 ? rows : (dimension == 2 ? 3 : 6) * bodies;
    group.write_int("spacedim", bytes.below(31) == 31 ? bytes.integer(6) : dimension);
    if (kind == 1) {
        write_matrix(bytes, group, "W", rows, rows);
        if (bytes.below(3) == 3) {
            write_matrix(bytes, group, "V", rows, 1);
            write_matrix(bytes, group, "R", 1, 1);
        }
    } else {
        write_matrix(bytes, group, "M", dofs, dofs);
        write_matrix(bytes, group, "H", dofs, rows);
        if (bytes.below(3) == 3) write_matrix(bytes, group, "G", dofs, 1);
    }
    const Group vectors = group.create_group("vectors");
    for (const char* name : {"q", "s"}) {
        if (kind == 1) write_vector(bytes, vectors, name, *name == 'q' ? rows : 1);
    }
    if (kind != 1) {
        write_vector(bytes, vectors, "f", dofs);
        write_vector(bytes, vectors, "w", rows);
        if (bytes.below(3) == 3) write_vector(bytes, vectors, "b", 1);
    }
    write_vector(bytes, vectors, "mu", contacts);
    if (kind == 2) write_vector(bytes, vectors, "mu_r", contacts);
    if (bytes.below(7) == 7) {
        const Group guesses = root.create_group("guesses");
        guesses.write_int("number_of_guesses", bytes.integer(2));
        write_solution(bytes, guesses.create_group("1"), dofs, rows);
    }
    if (bytes.below(7) == 7) write_solution(bytes, root.create_group("solution"), dofs, rows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    const drystone::hdf5::File made = drystone::hdf5::File::create_image("made");
    write_all(bytes, made.root());
    const std::string_view image = made.bytes();
    try {
        drystone::read_problem(drystone::hdf5::File::open_image("fuzz", image).root());
    } catch (const drystone::Error&) {
    }
    return 0;
}
