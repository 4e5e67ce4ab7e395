#include "drystone/run/state.hpp"

namespace drystone {

void State::put(const std::string& group, const State& part) {
    for (const auto& [name, values] : part.numbers) numbers[group + "/" + name] = values;
}

State State::part(const std::string& group) const {
    State part;
    part.origin = origin + "/" + group;
    const std::string begin = group + "/";
    for (auto one = numbers.lower_bound(begin); one != numbers.end() && one->first.starts_with(begin); ++one)
        part.numbers.emplace(one->first.substr(begin.size()), one->second);
    return part;
}

void State::refuse(const std::string& name, const std::string& what) const {
    fail(origin + "/" + name, what, "use another copy, or run the scene again");
}

}  // namespace drystone
