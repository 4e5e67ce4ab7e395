#include "drystone/shapes/surface_file.hpp"

#include "drystone/base/read_file.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <string_view>

namespace drystone {

namespace {

namespace fs = std::filesystem;

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

/// A text file line by line, each split at blanks; knows where it is.
class Lines {
public:
    Lines(const fs::path& file, std::string_view text) : file_(file), text_(text) {}

    /// The next line that has words; a backslash at its end joins the next one. False at the end of the file.
    bool next() {
        words.clear();
        while (words.empty() && at_ < text_.size()) {
            bool goes_on = true;
            line_ = ++count_;
            while (goes_on) {
                const std::size_t end = std::min(text_.find('\n', at_), text_.size());
                std::string_view line = text_.substr(at_, end - at_);
                at_ = std::min(end + 1, text_.size());
                line = line.substr(0, line.find('#'));
                while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
                    line.remove_suffix(1);
                goes_on = !line.empty() && line.back() == '\\' && at_ < text_.size();
                if (!line.empty() && line.back() == '\\') line.remove_suffix(1);
                if (goes_on) ++count_;
                split(line);
            }
        }
        return !words.empty();
    }

    [[noreturn]] void wrong(const std::string& what, const std::string& cure) const {
        fail(file_.string() + " line " + std::to_string(line_), what, cure);
    }
    /// Words of the file in a message: cut short and made printable, for the file may be anything.
    [[nodiscard]] std::string quoted(std::string_view word) const {
        std::string text = "'";
        for (const char c : word.substr(0, 40)) text += c >= ' ' && c <= '~' ? c : '?';
        return text + (word.size() > 40 ? "...'" : "'");
    }

    [[nodiscard]] double number(std::size_t word) const {
        if (word >= words.size()) wrong("a number is missing", "give x, y and z");
        std::string_view text = words[word];
        if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc::result_out_of_range)
            wrong(quoted(words[word]) + " is out of the range of numbers", "scale the surface");
        if (error != std::errc() || end != text.data() + text.size())
            wrong(quoted(words[word]) + " is not a number", "give x, y and z");
        if (!std::isfinite(value)) wrong(quoted(words[word]) + " is not finite", "give finite coordinates");
        return value;
    }
    [[nodiscard]] Vec<3> point() const { return {number(1), number(2), number(3)}; }

    std::vector<std::string_view> words;

private:
    void split(std::string_view line) {
        for (std::size_t i = 0; i < line.size();) {
            const std::size_t begin = line.find_first_not_of(" \t", i);
            if (begin == std::string_view::npos) return;
            i = std::min(line.find_first_of(" \t", begin), line.size());
            words.push_back(line.substr(begin, i - begin));
        }
    }

    const fs::path& file_;
    std::string_view text_;
    std::size_t at_ = 0, count_ = 0, line_ = 0;
};

// ---------------------------------------------------------------------------------------------------------
// OBJ: "v x y z" and "f i j k ...", where each of i is vertex, vertex/texture, vertex//normal or
// vertex/texture/normal. Vertices count from 1; negative ones from the last vertex read so far.

Index obj_vertex(const Lines& lines, std::string_view word, std::size_t vertices) {
    const std::string_view text = word.substr(0, word.find('/'));
    long long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        lines.wrong(lines.quoted(word) + " is not a vertex of a face",
                    "give numbers of vertices, as in 'f 1 2 3'");
    const long long count = static_cast<long long>(vertices), at = number < 0 ? count + number : number - 1;
    if (number == 0 || at < 0 || at >= count)
        lines.wrong("the face has vertex " + std::to_string(number) + ", and " + std::to_string(count) +
                        " are given so far",
                    "count vertices from 1");
    return static_cast<Index>(at);
}

Surface<3> read_obj(const fs::path& file, std::string_view text) {
    // What does not change the surface. Free-form curves and patches (curv, surf, ...) would: they are
    // errors.
    static constexpr std::array ignored{
        "vt",     "vn", "vp", "o",     "g",   "s",        "mg",       "usemtl",     "mtllib",   "usemap",
        "maplib", "l",  "p",  "bevel", "lod", "c_interp", "d_interp", "shadow_obj", "trace_obj"};
    Surface<3> surface;
    Lines lines(file, text);
    std::vector<Index> loop;
    while (lines.next()) {
        const std::string_view key = lines.words[0];
        if (key == "v") {
            surface.vertices.push_back(lines.point());
        } else if (key == "f") {
            if (lines.words.size() < 4) lines.wrong("the face has fewer than 3 vertices", "give 3 or more");
            loop.clear();
            for (std::size_t w = 1; w < lines.words.size(); ++w)
                loop.push_back(obj_vertex(lines, lines.words[w], surface.vertices.size()));
            for (std::size_t k = 1; k + 1 < loop.size(); ++k)
                surface.elements.push_back({loop[0], loop[k], loop[k + 1]});
        } else if (std::find(ignored.begin(), ignored.end(), key) == ignored.end()) {
            lines.wrong(lines.quoted(key) + " is not read", "export the surface as polygons (lines v and f)");
        }
    }
    if (surface.elements.empty()) fail(file.string(), "has no face", "give a surface of polygons (lines f)");
    return surface;
}

// ---------------------------------------------------------------------------------------------------------
// STL: each triangle with its own three corners; equal corners become one vertex, in the order of their first
// use.

class Joiner {
public:
    void add(const Vec<3>& x) {
        // + 0.0 makes -0 and 0 one key.
        const auto [it, is_new] = known_.emplace(std::array{x[0] + 0.0, x[1] + 0.0, x[2] + 0.0},
                                                 static_cast<Index>(surface.vertices.size()));
        if (is_new) surface.vertices.push_back(x);
        triangle_[corner_] = it->second;
        corner_ = (corner_ + 1) % 3;
        if (corner_ == 0) surface.elements.push_back(triangle_);
    }
    Surface<3> surface;

private:
    std::map<std::array<double, 3>, Index> known_;
    std::array<Index, 3> triangle_{};
    int corner_ = 0;
};

Surface<3> read_stl_text(const fs::path& file, std::string_view text) {
    Joiner joiner;
    Lines lines(file, text);
    const auto expect = [&](std::initializer_list<const char*> words) {
        std::string wanted;
        for (const char* word : words) wanted += (wanted.empty() ? "" : " ") + std::string(word);
        if (!lines.next()) lines.wrong("the file ends where '" + wanted + "' should come", "export it again");
        std::size_t w = 0;
        for (const char* word : words) {
            if (w >= lines.words.size() || lower_case(lines.words[w]) != word)
                lines.wrong(lines.quoted(lines.words[0]) + " stands where '" + wanted + "' should",
                            "export it again");
            ++w;
        }
    };
    expect({"solid"});
    while (true) {
        if (!lines.next()) lines.wrong("the file ends without 'endsolid'", "export it again");
        const std::string key = lower_case(lines.words[0]);
        if (key == "endsolid") {
            if (!lines.next()) break;
            if (lower_case(lines.words[0]) != "solid")
                lines.wrong(lines.quoted(lines.words[0]) + " stands after 'endsolid'", "export it again");
            continue;
        }
        if (key != "facet")
            lines.wrong(lines.quoted(lines.words[0]) + " stands where 'facet' or 'endsolid' should",
                        "export it again");
        expect({"outer", "loop"});
        for (int corner = 0; corner < 3; ++corner) {
            expect({"vertex"});
            joiner.add(lines.point());
        }
        expect({"endloop"});
        expect({"endfacet"});
    }
    if (joiner.surface.elements.empty()) fail(file.string(), "has no facet", "give a surface of triangles");
    return joiner.surface;
}

/// 80 bytes of title, a count, then per triangle 12 little-endian floats (normal, corners) and 2 bytes of
/// attributes.
constexpr std::size_t stl_head = 84, stl_facet = 50;

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < 4; ++k)
        value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + k])) << (8 * k);
    return value;
}

/// The size tells text from binary: many binary files begin with "solid", too.
bool is_binary_stl(std::string_view bytes) {
    return bytes.size() >= stl_head &&
           bytes.size() == stl_head + stl_facet * std::uint64_t{little_endian(bytes, 80)};
}

Surface<3> read_stl_binary(const fs::path& file, std::string_view bytes) {
    Joiner joiner;
    for (std::size_t facet = stl_head; facet < bytes.size(); facet += stl_facet) {
        for (std::size_t corner = 0; corner < 3; ++corner) {
            Vec<3> x;
            for (std::size_t k = 0; k < 3; ++k)
                x[static_cast<Eigen::Index>(k)] =
                    std::bit_cast<float>(little_endian(bytes, facet + 12 * (corner + 1) + 4 * k));
            if (!x.allFinite())
                fail(file.string() + " byte " + std::to_string(facet + 12 * (corner + 1)),
                     "a coordinate is not finite", "export it again");
            joiner.add(x);
        }
    }
    if (joiner.surface.elements.empty()) fail(file.string(), "has no facet", "give a surface of triangles");
    return joiner.surface;
}

Surface<3> read_stl(const fs::path& file, std::string_view bytes) {
    if (is_binary_stl(bytes)) return read_stl_binary(file, bytes);
    const std::size_t begin = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size());
    const bool has_zero = bytes.find('\0') != std::string_view::npos;  // never in text
    if (!has_zero && lower_case(bytes.substr(begin, 5)) == "solid") return read_stl_text(file, bytes);
    if (bytes.size() < stl_head)
        fail(file.string() + " byte " + std::to_string(bytes.size()),
             "the file ends before the count of facets at byte 80, and does not begin with 'solid'",
             "export it again");
    fail(file.string() + " byte 80",
         "the file says it has " + std::to_string(little_endian(bytes, 80)) +
             " facets of 50 bytes, but holds " + std::to_string(bytes.size() - stl_head) + " bytes of them",
         "export it again");
}

std::string kind_of(const fs::path& file) {
    const std::string kind = lower_case(file.extension().string());
    if (kind != ".obj" && kind != ".stl")
        fail(file.string(), "is neither .obj nor .stl", "give a file of one of these kinds");
    return kind;
}

}  // namespace

Surface<3> read_surface(const fs::path& file) {
    kind_of(file);
    return read_surface(file, read_file(file, most_surface_bytes, "give an OBJ or STL file"));
}

Surface<3> read_surface(const fs::path& file, std::string_view bytes) {
    return kind_of(file) == ".obj" ? read_obj(file, bytes) : read_stl(file, bytes);
}

}  // namespace drystone
