#include "profile_picture.hpp"

#include "drystone/base/error.hpp"
#include "drystone/base/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>

namespace drystone::command {

namespace {

// Places in the picture, in pixels.
constexpr double plot_left = 84, plot_top = 84, plot_width = 620, least_plot_height = 440;
constexpr double legend_left = plot_left + plot_width + 28, legend_step = 22, picture_width = 1040;
constexpr double below_plot = 76;

// Colours that readers with any colour vision can tell apart (Okabe and Ito), and strokes for what comes after the
// eighth.
constexpr std::array<const char*, 8> colours = {"#000000", "#0072b2", "#d55e00", "#009e73",
                                                "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31"};
constexpr std::array<const char*, 4> strokes = {"", "8 4", "2 3", "10 3 2 3"};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

/// Where numbers lie in the picture: x is logarithmic from 1 to x_end, y linear from 0 to 1.
struct Axes {
    double x_end = 10;
    double plot_height = least_plot_height;
    [[nodiscard]] double x(double ratio) const {
        return plot_left + plot_width * std::log10(ratio) / std::log10(x_end);
    }
    [[nodiscard]] double y(double fraction) const { return plot_top + plot_height * (1 - fraction); }
};

/// The first of 1, 2, 5, 10, 20, ... that is not below `value`.
double round_number_above(double value) {
    const double decade = std::pow(10, std::floor(std::log10(value)));
    for (const double digit : {1.0, 2.0, 5.0}) {
        if (digit * decade >= value * (1 - 1e-12)) return digit * decade;
    }
    return 10 * decade;
}

/// A line of the profile, ready to draw.
struct Curve {
    std::string name;
    std::size_t style = 0;       // place of the solver among all: its colour and stroke
    std::vector<double> ratios;  // those of the solved problems, ascending
    std::size_t problems = 0;
    [[nodiscard]] double fraction(std::size_t solved) const {
        return problems == 0 ? 0 : static_cast<double>(solved) / static_cast<double>(problems);
    }
};

std::vector<Curve> curves_of(const Profile& profile) {
    const auto ratios = relative_times(profile.lines);
    std::vector<Curve> curves;
    for (std::size_t i = 0; i < profile.lines.size(); ++i) {
        Curve curve{profile.lines[i].name, i, {}, ratios[i].size()};
        std::copy_if(ratios[i].begin(), ratios[i].end(), std::back_inserter(curve.ratios),
                     [](double ratio) { return std::isfinite(ratio); });
        std::sort(curve.ratios.begin(), curve.ratios.end());
        curves.push_back(std::move(curve));
    }
    // The legend reads from the best down: most problems solved, then the smallest mean of log(ratio).
    const auto slowness = [](const Curve& curve) {
        return std::accumulate(curve.ratios.begin(), curve.ratios.end(), 0.0,
                               [](double sum, double ratio) { return sum + std::log(ratio); });
    };
    std::stable_sort(curves.begin(), curves.end(), [&](const Curve& a, const Curve& b) {
        if (a.ratios.size() != b.ratios.size()) return a.ratios.size() > b.ratios.size();
        return slowness(a) < slowness(b);
    });
    return curves;
}

std::string stroke_of(const Curve& curve) {
    const char* dash = strokes[curve.style / colours.size() % strokes.size()];
    std::string text = fmt::format("stroke=\"{}\" stroke-width=\"{}\"", colours[curve.style % colours.size()],
                                   curve.style == 0 ? 3.5 : 2.2);
    if (*dash != '\0') text += fmt::format(" stroke-dasharray=\"{}\"", dash);
    return text;
}

std::string text_at(double x, double y, const char* anchor, int size, const std::string& text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", x,
                       y, anchor, size, escaped(text));
}

std::string line_from(double x1, double y1, double x2, double y2, const std::string& stroke) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                       stroke);
}

std::string draw_axes(const Axes& axes) {
    const std::string grid = "stroke=\"#dddddd\" stroke-width=\"1\"";
    const double bottom = axes.y(0);
    std::string svg;
    for (int tenth = 0; tenth <= 10; tenth += 2) {
        const double y = axes.y(tenth / 10.0);
        svg += line_from(plot_left, y, plot_left + plot_width, y, grid);
        svg += text_at(plot_left - 10, y + 5, "end", 15, fmt::format("{:.1f}", tenth / 10.0));
    }
    const bool few_decades = axes.x_end <= 1000;
    for (double decade = 1; decade <= axes.x_end; decade *= 10) {
        for (const double digit : {1.0, 2.0, 5.0}) {
            const double ratio = digit * decade;
            if (ratio > axes.x_end * (1 + 1e-9) || (digit > 1 && !few_decades)) continue;
            svg += line_from(axes.x(ratio), plot_top, axes.x(ratio), bottom, grid);
            svg += text_at(axes.x(ratio), bottom + 22, "middle", 15, fmt::format("{:.6g}", ratio));
        }
    }
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" "
        "stroke=\"#444444\"/>\n",
        plot_left, plot_top, plot_width, axes.plot_height);
    svg += text_at(plot_left + plot_width / 2, bottom + 52, "middle", 17,
                   "time relative to the best solver (log)");
    const double middle = axes.y(0.5);
    svg += fmt::format(
        "<text x=\"30\" y=\"{0:.1f}\" text-anchor=\"middle\" font-size=\"17\" transform=\"rotate(-90 30 "
        "{0:.1f})\">fraction of problems solved</text>\n",
        middle);
    return svg;
}

/// Steps up at each ratio at which one more problem is solved, then straight on to the edge.
std::string draw_curve(const Curve& curve, const Axes& axes) {
    std::string path;
    for (std::size_t i = 0; i < curve.ratios.size(); ++i) {
        // A curve begins at ratio 1 with all the problems where it was the best.
        const double x = axes.x(curve.ratios[i]);
        if (i == 0) path += fmt::format("M{:.1f},{:.1f}", axes.x(1), axes.y(0));
        path += fmt::format("H{:.1f}V{:.1f}", x, axes.y(curve.fraction(i + 1)));
    }
    if (path.empty()) path = fmt::format("M{:.1f},{:.1f}", axes.x(1), axes.y(0));
    path += fmt::format("H{:.1f}", axes.x(axes.x_end));
    return fmt::format("<path d=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>\n", path,
                       stroke_of(curve));
}

std::string draw_legend(const std::vector<Curve>& curves) {
    std::string svg = text_at(legend_left, plot_top - 10, "start", 15, "solver (problems solved)");
    double y = plot_top + 12;
    for (const Curve& curve : curves) {
        svg += line_from(legend_left, y, legend_left + 40, y, stroke_of(curve));
        svg += text_at(legend_left + 50, y + 5, "start", 15,
                       fmt::format("{} ({}/{})", curve.name, curve.ratios.size(), curve.problems));
        y += legend_step;
    }
    return svg;
}

}  // namespace

std::vector<std::vector<double>> relative_times(const std::vector<ProfileLine>& lines) {
    // A clock that has not ticked would make every other time infinitely long.
    constexpr double least_seconds = 1e-9;
    std::vector<std::vector<double>> ratios;
    const std::size_t problems = lines.empty() ? 0 : lines.front().seconds.size();
    std::vector<double> best(problems, infinity);
    for (const ProfileLine& line : lines) {
        for (std::size_t p = 0; p < problems; ++p) {
            best[p] = std::min(best[p], std::max(least_seconds, line.seconds[p]));
        }
    }
    for (const ProfileLine& line : lines) {
        std::vector<double>& row = ratios.emplace_back(problems, infinity);
        for (std::size_t p = 0; p < problems; ++p) {
            if (std::isfinite(line.seconds[p])) row[p] = std::max(least_seconds, line.seconds[p]) / best[p];
        }
    }
    return ratios;
}

std::string draw_profile(const Profile& profile) {
    const std::vector<Curve> curves = curves_of(profile);
    Axes axes;
    axes.plot_height = std::max(least_plot_height, legend_step * static_cast<double>(curves.size()));
    for (const Curve& curve : curves) {
        // Room to the right of the last step, so that it can be seen.
        if (!curve.ratios.empty())
            axes.x_end = std::max(axes.x_end, round_number_above(1.1 * curve.ratios.back()));
    }
    const double height = plot_top + axes.plot_height + below_plot;
    std::string svg = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0:.0f} {1:.0f}\" "
        "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" fill=\"#222222\">\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
        picture_width, height);
    svg += text_at(plot_left, 34, "start", 21, profile.title);
    svg += text_at(plot_left, 58, "start", 15, profile.subtitle);
    svg += draw_axes(axes);
    // The best last: it lies on top.
    std::for_each(curves.rbegin(), curves.rend(),
                  [&](const Curve& curve) { svg += draw_curve(curve, axes); });
    svg += draw_legend(curves);
    return svg + "</svg>\n";
}

void write_profile(const std::filesystem::path& path, const Profile& profile) {
    std::ofstream file(path, std::ios::binary);
    file << draw_profile(profile);
    file.close();
    if (!file) {
        fail(path.string(), fmt::format("cannot be written ({})", std::strerror(errno)),
             "give a file in a folder that exists and can be written with --picture");
    }
}

}  // namespace drystone::command
