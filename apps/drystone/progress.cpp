#include "progress.hpp"

#include "drystone/base/harmless.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace drystone::command {

namespace {

constexpr double seconds_between_draws = 0.1;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// The first `width` characters: a longer line would wrap, and could then no longer be taken away.
std::string cut(const std::string& text, std::size_t width) {
    std::size_t bytes = 0;
    for (std::size_t shown = 0; bytes < text.size(); ++bytes) {
        if (!continues_character(text[bytes]) && ++shown > width) break;
    }
    return text.substr(0, bytes);
}

}  // namespace

std::size_t shown_width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return !continues_character(byte); }));
}

std::string padded(const std::string& text, std::size_t width) {
    const std::size_t shown = shown_width(text);
    return shown < width ? text + std::string(width - shown, ' ') : text;
}

int terminal_columns(int descriptor, int otherwise) {
    winsize size{};
    if (::isatty(descriptor) == 0 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return otherwise;
    }
    return size.ws_col;
}

ProgressLine::ProgressLine(bool wanted) : enabled_(wanted && ::isatty(STDERR_FILENO) != 0) {}

void ProgressLine::begin(std::string label) {
    label_ = std::move(label);
    if (!enabled_) return;
    // Most solves take less than the time between two draws: they should not make the terminal flicker.
    if (!drawn_) next_ = now() + seconds_between_draws;
}

void ProgressLine::show(const HistoryPoint& point) {
    if (!enabled_ || now() < next_) return;
    next_ = now() + seconds_between_draws;
    draw(fmt::format("{:>7.1f} s  iteration {:<8} residual {:.1e}  {}", point.seconds, point.iteration,
                     point.residual, label_));
}

bool ProgressLine::due() const { return enabled_ && now() >= next_; }

void ProgressLine::show(const std::string& text) {
    if (!due()) return;
    next_ = now() + seconds_between_draws;
    draw(text);
}

void ProgressLine::clear() {
    if (!drawn_) return;
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
    drawn_ = false;
}

void ProgressLine::draw(const std::string& text) {
    const int columns = terminal_columns(STDERR_FILENO, 80);
    fmt::print(stderr, "\r\x1b[K{}", cut(harmless(text), static_cast<std::size_t>(std::max(1, columns - 1))));
    std::fflush(stderr);
    drawn_ = true;
}

}  // namespace drystone::command
