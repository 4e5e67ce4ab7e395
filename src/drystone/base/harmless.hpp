// Text of others (titles, names, names of files) as it may go to a terminal, to a log or into a message.
//
// A terminal obeys what it is sent: an escape sequence in the title of a scene can rename a window or wipe the screen,
// a newline can forge a line of ours, a mark that turns the direction of writing can hide what a name says. Such
// characters are shown instead of sent.
#pragma once

#include <string>
#include <string_view>

namespace drystone {

namespace detail {

/// Bytes of the character that `text` (not empty) begins with, and its number; 0 bytes if that is not UTF-8.
inline std::size_t decode(std::string_view text, char32_t& code) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    code = byte(0);
    if (code < 0x80) return 1;
    const std::size_t size = code >= 0xF0 ? 4 : code >= 0xE0 ? 3 : 2;
    if (code < 0xC0 || code > 0xF7 || text.size() < size) return 0;
    code &= 0x7FU >> size;
    for (std::size_t k = 1; k < size; ++k) {
        if ((byte(k) & 0xC0U) != 0x80U) return 0;
        code = (code << 6U) | (byte(k) & 0x3FU);
    }
    // Forms longer than need be, halves of UTF-16 pairs, and numbers beyond the last.
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < least[size] || surrogate || code > 0x10FFFF ? 0 : size;
}

/// Controls (C0, DEL, C1), marks of the direction of writing, separators of lines and paragraphs, and what takes no
/// room: two names that differ in it look alike.
inline bool is_control(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x061C || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
           (c >= 0xE0000 && c <= 0xE0FFF);
}

/// `\x1b`, `\u202e`: a number in at least so many hexadecimal digits.
inline std::string escaped(char kind, char32_t code, int digits) {
    constexpr std::string_view hexadecimal = "0123456789abcdef";
    std::string text;
    for (; code > 0 || digits > 0; code >>= 4U, --digits) text.insert(text.begin(), hexadecimal[code & 0xFU]);
    return std::string("\\") + kind + text;
}

inline std::string shown(std::string_view text, bool keep_lines) {
    std::string safe;
    safe.reserve(text.size());
    while (!text.empty()) {
        char32_t code = 0;
        const std::size_t size = decode(text, code);
        if (size == 0) {
            safe += escaped('x', static_cast<unsigned char>(text[0]), 2);
        } else if (!is_control(code) || (keep_lines && code == '\n')) {
            safe += text.substr(0, size);
        } else if (code == '\n' || code == '\r' || code == '\t') {
            safe += code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t";
        } else if (code < 0x80) {
            safe += escaped('x', code, 2);
        } else {
            safe += escaped('u', code, 4);
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return safe;
}

}  // namespace detail

/// On one line, with nothing in it that a terminal obeys: controls become \x1b, \n or \u202e, bytes that are no UTF-8
/// become \xff. Of what is harmless already nothing is changed.
inline std::string harmless(std::string_view text) { return detail::shown(text, false); }

/// The same for a text of ours that has several lines: what others wrote in it went through harmless() by itself.
inline std::string harmless_lines(std::string_view text) { return detail::shown(text, true); }

/// A name of a file as a shell takes it in a command that users may copy.
inline std::string shell_word(std::string_view name) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    const std::string safe = harmless(name);
    if (!safe.empty() && safe.find_first_not_of(plain) == std::string::npos) return safe;
    std::string quoted = "'";
    for (const char c : safe) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace drystone
