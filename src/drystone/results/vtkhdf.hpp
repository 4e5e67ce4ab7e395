// Unstructured grids in the HDF5 layout of VTK, version 1.0, which ParaView opens from 5.9 on (docs.vtk.org, "VTKHDF
// file format").
//
//   /VTKHDF/           Version, Type; NumberOfPoints, NumberOfCells, NumberOfConnectivityIds; Points, Connectivity,
//   Offsets, Types
//   /VTKHDF/CellData/  one dataset per field
//   /VTKHDF/FieldData/ time
//
// A body is one cell: a polygon in the plane, a triangle strip in space. One cell and not one per triangle, since each
// cell carries all the numbers of its body: with 20 triangles a grain these would be most of the file. The strips of a
// surface are joined by triangles without area (an index twice in a row), which no renderer shows.
#pragma once

#include "drystone/files/hdf5.hpp"
#include "drystone/shapes/shape.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace drystone {

/// Numbers of VTK's cell types.
enum class VtkCell : std::uint8_t { vertex = 1, line = 3, triangle_strip = 6, polygon = 7 };

/// 32 bits everywhere: half the bytes, and pictures need no more.
struct VtkGrid {
    std::vector<float> points;        ///< x, y, z of each
    std::vector<int> connectivity;    ///< points of each cell, cell after cell
    std::vector<int> offsets = {0};   ///< where each cell begins in `connectivity`, and the end
    std::vector<std::uint8_t> types;  ///< VtkCell
    struct Field {
        std::string name;
        int columns = 0;  ///< numbers per cell; 0: one
        std::variant<std::vector<float>, std::vector<int>, std::vector<std::int64_t>,
                     std::vector<std::uint8_t>>
            values;
    };
    std::vector<Field> fields;  ///< of cells

    [[nodiscard]] std::size_t cells() const { return types.size(); }
    /// Ends the cell whose points have been appended to `connectivity`.
    void end_cell(VtkCell type);
};

/// The grids of all ranks one after another, as one: where ours begins in it, and its size.
struct VtkSlabs {
    hdf5::Slab points, corners, cells;
    bool leads = true;  ///< ours is the first
};
/// Collective.
VtkSlabs vtk_slabs(const hdf5::Ranks& ranks, const VtkGrid& grid);
/// Makes the indices of a grid those of the whole: points and corners of the ranks before us are counted. Fails where
/// the whole is too large for indices of 32 bits.
void shift_indices(VtkGrid& grid, const VtkSlabs& slabs, const std::string& where);

/// Writes /VTKHDF below `root`: one piece, whose indices have been shifted. Where ranks share the file each writes its
/// slab.
void write_vtk_grid(const hdf5::Group& root, const VtkGrid& grid, const VtkSlabs& slabs, double time);

/// The surface of a shape at size 1 as one cell.
template <int d>
struct CellShape {
    std::vector<Vec<d>> vertices;
    std::vector<int>
        /// loop of a polygon, counter-clockwise; indices of a strip, whose triangles are so seen from outside
        corners;

    /// Bytes that a body of this shape takes in a file, without its fields.
    [[nodiscard]] std::size_t bytes() const { return 12 * vertices.size() + 4 * corners.size() + 5; }
};

/// How finely round shapes are drawn: 0 (a sphere has 12 vertices), 1 (42), 2 (162), 3 (642).
inline constexpr int finest_level = 3;

/// Nothing for half-spaces.
template <int d>
CellShape<d> cell_shape(const Shape<d>& shape, int level);

/// All triangles as one strip, in the winding that they have.
std::vector<int> make_strip(const std::vector<std::array<Index, 3>>& triangles);

/// The triangles of a strip, without those that have no area.
std::vector<std::array<int, 3>> triangles_of_strip(std::span<const int> strip);

}  // namespace drystone
