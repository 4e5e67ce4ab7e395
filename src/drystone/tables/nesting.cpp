#include "drystone/tables/nesting.hpp"

#include "drystone/base/machine_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace drystone {

namespace {

/// Bytes that a value takes, in the library's tree and in ours together.
constexpr double bytes_per_value = 300;

class Scan {
public:
    explicit Scan(std::string_view text) : text_(text) {}

    std::optional<SceneFault> run() {
        const double most_values = 0.5 * machine_memory() / bytes_per_value;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"' || c == '\'') {
                pass_string(c);
                continue;
            }
            if (c == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
                continue;
            }
            if (c == '\n') ++line_;
            if (c == '[' || c == '{') ++depth_;
            // What is closed without having been opened is the library's to tell.
            if ((c == ']' || c == '}') && depth_ > 0) --depth_;
            if (c == ',' || c == '=' || c == '[') ++values_;
            // A name ends with anything but its letters, blanks and quotes; in a number there is one dot at most.
            if (c == '.') {
                ++dots_;
            } else if (!is_of_name(c)) {
                dots_ = 0;
            }
            ++at_;
            if (std::max(depth_, dots_ + 1) > most_nested)
                return fault(fmt::format("lists, tables or names are nested more than {} deep", most_nested),
                             "no field of a scene needs that; take some levels away");
            if (values_ > most_values)
                return fault(fmt::format("there are more than {:.3g} values", most_values),
                             "this machine has no memory for more; use a [[lattice]] or a [[fill]]");
        }
        return std::nullopt;
    }

private:
    static bool is_of_name(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-' || c == ' ' || c == '\t';
    }

    [[nodiscard]] SceneFault fault(const std::string& what, const std::string& cure) const {
        return {line_, "", what + "; " + cure};
    }

    /// One of """, ''', " and '. One that should end on its line and does not is where the library stops.
    void pass_string(char quote) {
        const bool several = text_.substr(at_, 3) == std::string(3, quote);
        const std::string_view end = several ? text_.substr(at_, 3) : text_.substr(at_, 1);
        at_ += end.size();
        while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
            if (text_[at_] == '\n') {
                if (!several) return;
                ++line_;
            }
            // An escaped quote does not end the string; an escaped newline still counts.
            const bool escape = quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size();
            at_ += escape && text_[at_ + 1] != '\n' ? 2 : 1;
        }
        at_ = std::min(at_ + end.size(), text_.size());
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1, depth_ = 0, dots_ = 0;
    double values_ = 0;
};

}  // namespace

std::optional<SceneFault> find_deep_nesting(std::string_view text) { return Scan(text).run(); }

}  // namespace drystone
