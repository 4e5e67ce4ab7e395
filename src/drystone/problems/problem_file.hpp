// Cone problems in files of FCLib's HDF5 layout, which Siconos, LMGC90 and others write and read.
//
//   layout           in the file                                          becomes
//   local            u = W r + V l + q,   0 = V^T r + R l + s             H = 1, inverse mass [W V; V^T R], f = 0, w =
//   (q, s)
//   global           M v = H r + G l + f, u = H^T v + w, 0 = G^T v + b    our H = (H, G)^T, w = (w, b)
//   global_rolling   the same, with 5 numbers per contact                 wrench cones
//
// Contacts come first, in the file's order; each bilateral row (of G, or of V and R) is then a free block of dimension
// 1. Contact vectors are normal first. V, R, s and G, b are absent from files without bilateral rows.
//
// Three datasets are ours, written only where the problem has them; other programs do not look for them:
//   vectors/compliance   the diagonal C of u = H v + w + C r, one number >= 0 for each row of the contacts and then for
//   each bilateral
//                        row. A file without it is rigid, as every file is to other programs.
//   vectors/shift        the shift at the velocities before the step, one number >= 0 per contact
//   (ConeProblem::shift_before)
//   vectors/pull         what f holds against the normal impulse of cohesive contacts, one number >= 0 per contact
//   (ConeProblem::pull)
#pragma once

#include "drystone/cone/problem.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace drystone {

namespace hdf5 {
class Group;
}

enum class ProblemKind : std::uint8_t {
    local,           ///< given by its Delassus matrix; 2 or 3 numbers per contact
    global,          ///< given by M and H; 2 or 3 numbers per contact
    global_rolling,  ///< given by M and H; 5 numbers per contact: normal, two tangential, two rolling
};

/// "local", "global" or "global_rolling".
const char* name_of(ProblemKind kind);

struct ProblemFile {
    ConeProblem problem;
    std::vector<ConeSolution> guesses;  ///< starting points that came with the problem
    /// A local file has no v: it is u - w - C r, since H = 1. Solutions saved by Siconos hold u alone, with r = 0 and v
    /// = 0.
    std::optional<ConeSolution> solution;
    /// Texts of the file. The bytes are as stored: those of old files are not always valid UTF-8.
    std::string title, description, math_info;
    /// What the file was. Writing takes it from the problem instead (see kind_of).
    ProblemKind kind = ProblemKind::global;
    /// How far M or W of the file was from symmetric (make_symmetric in matrix_file.hpp); `problem` holds the symmetric
    /// part.
    double asymmetry = 0;
};

/// Reads a problem, and refuses (Error: file, dataset, value and cure) one that is damaged, not complete or not
/// symmetric.
///
/// Bodies: a block-diagonal M becomes a BlockInverseMass of bodies with 6 velocities if M splits into blocks of 6,
/// otherwise 3, otherwise 1 (contacts in 2D: 3, 2, 1). An M that couples more becomes a SparseMass with 3 a body (2D:
/// 2) if that divides its size, otherwise 1. A local problem has one body per contact, of the contact's dimension; with
/// bilateral rows, one of dimension 1 per row. M and W are made symmetric (see make_symmetric in matrix_file.hpp for
/// what is accepted).
ProblemFile read_problem(const std::filesystem::path& path);
/// The same from a file that is open.
ProblemFile read_problem(const hdf5::Group& root);

/// Writes the problem, its guesses and its solution; all numbers of H, f, w, mu, C, W and of a sparse M are kept to the
/// bit, and those of a block-diagonal M, which is held as its inverse, to rounding. The file appears complete or not at
/// all: it is written under a temporary name beside `path` and then renamed.
///
/// What cannot be said in FCLib's layout is refused (Error): see kind_of, and inverse masses that are singular in a
/// direction other than a coordinate. A coordinate that does not move (zero inverse mass) is written with mass 1, no
/// impulse and no entry in H: all velocities and impulses stay the same. Free blocks are moved behind the contacts and
/// split into rows; the tiling is left out.
void write_problem(const std::filesystem::path& path, const ProblemFile& file);

/// The layout that can hold the problem: local for a SparseInverseMass with H = 1 and f = 0, global for other masses,
/// global_rolling if the cones are wrench cones of dimension 5 without spinning. Fails if there is none: cones other
/// than second_order (dimension 2 or 3, one for all), those wrench cones, and free.
ProblemKind kind_of(const ConeProblem& problem);

}  // namespace drystone
