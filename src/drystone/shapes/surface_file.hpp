// Surfaces from OBJ and STL files (ASCII and binary), which computer-aided design and scanners write.
//
// No library in Debian reads just these two without bringing an asset pipeline of tens of megabytes; both
// formats are read in a page each.
#pragma once

#include "drystone/shapes/shape.hpp"

#include <filesystem>
#include <string_view>

namespace drystone {

/// Vertices and triangles as in the file; polygons of an OBJ are fanned, equal vertices of an STL are joined.
/// Throws Error that names the file, the line (or the byte) and what is wrong there.
Surface<3> read_surface(const std::filesystem::path& file);
/// The same from the content of a file; its name says which kind it is, and stands in messages.
Surface<3> read_surface(const std::filesystem::path& file, std::string_view bytes);

}  // namespace drystone
