// What a restart needs of something that a run keeps: numbers with names.
//
// Whoever keeps state lists it once, for writing and for reading:
//
//     template <class Self, class F>
//     void each_number(Self& self, F&& f) {      // found by the type of self
//         f("steps", self.steps);
//         f("work/held", self.work.held);        // a group of a restart file, and a number in it
//     }
//
// and state_of() and recall() follow. A person can read all of it with h5dump.
#pragma once

#include "drystone/base/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace drystone {

/// Steps, grains and bodies are counted on from what is read: there is room above.
inline constexpr std::int64_t most_counted = std::int64_t{1} << 60U;

class State {
public:
    using Numbers = std::variant<std::vector<std::int64_t>, std::vector<double>>;

    /// Where it comes from, for messages.
    std::string origin = "checkpoint";
    /// By name; a name with slashes lies in groups.
    std::map<std::string, Numbers> numbers;

    /// Puts all of another under `group/`.
    void put(const std::string& group, const State& part);
    /// What lies under `group/`.
    [[nodiscard]] State part(const std::string& group) const;
    /// The numbers of that name and of that type. Throws Error if there are none.
    template <class T>
    [[nodiscard]] const std::vector<T>& get(const std::string& name) const {
        const auto found = numbers.find(name);
        const auto* values = found == numbers.end() ? nullptr : std::get_if<std::vector<T>>(&found->second);
        if (values == nullptr)
            refuse(name, std::is_same_v<T, double> ? "holds no real numbers" : "holds no whole numbers");
        return *values;
    }
    [[noreturn]] void refuse(const std::string& name, const std::string& what) const;

    bool operator==(const State& other) const { return numbers == other.numbers; }
};

namespace detail {

template <class T>
concept Whole = std::integral<T> || std::is_enum_v<T>;

struct Keep {
    State& state;
    void operator()(const char* name, double x) const { state.numbers[name] = std::vector{x}; }
    template <Whole T>
    void operator()(const char* name, T x, std::int64_t /*most*/ = 0) const {
        state.numbers[name] = std::vector{static_cast<std::int64_t>(x)};
    }
    template <class T>
    void operator()(const char* name, const std::vector<T>& values) const {
        state.numbers[name] = values;
    }
};

struct Recall {
    const State& state;
    void operator()(const char* name, double& x) const {
        const std::vector<double>& values = state.get<double>(name);
        if (values.size() != 1 || std::isnan(values[0])) state.refuse(name, "holds what is not a number");
        x = values[0];
    }
    /// A whole number from 0 to `most`.
    template <Whole T>
    void operator()(const char* name, T& x, std::int64_t most = most_counted) const {
        const std::vector<std::int64_t>& values = state.get<std::int64_t>(name);
        if (values.size() != 1 || values[0] < 0 || values[0] > most)
            state.refuse(name, values.size() != 1
                                   ? fmt::format("holds {} numbers where there should be 1", values.size())
                                   : fmt::format("holds {}, which is not from 0 to {}", values[0], most));
        x = static_cast<T>(values[0]);
    }
    /// As many as there are: who asks knows how many there should be.
    void operator()(const char* name, std::vector<double>& out) const {
        out = state.get<double>(name);
        for (const double x : out)
            if (!std::isfinite(x)) state.refuse(name, fmt::format("holds {}", x));
    }
    void operator()(const char* name, std::vector<std::int64_t>& out) const {
        out = state.get<std::int64_t>(name);
        for (const std::int64_t x : out)
            if (x < 0 || x > most_counted)
                state.refuse(name, fmt::format("holds {}, which is not from 0 to {}", x, most_counted));
    }
};

}  // namespace detail

template <class T>
State state_of(const T& kept) {
    State state;
    each_number(kept, detail::Keep{state});
    return state;
}

/// Throws Error, with the name of the number, if one is missing or cannot be.
template <class T>
void recall(const State& state, T& kept) {
    each_number(kept, detail::Recall{state});
}

}  // namespace drystone
