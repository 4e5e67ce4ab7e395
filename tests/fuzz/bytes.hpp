// Numbers from the fuzzer's bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace drystone::fuzz {

class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data, size) {}
    [[nodiscard]] bool empty() const { return data_.empty(); }
    /// Zero when there are no more.
    template <class T>
    T take() {
        T value{};
        const std::size_t size = std::min(sizeof(T), data_.size());
        if (size > 0) std::memcpy(&value, data_.data(), size);
        data_ = data_.subspan(size);
        return value;
    }
    /// From 0 to most.
    int below(int most) { return take<std::uint8_t>() % (most + 1); }
    /// Mostly a small integer, seldom an odd one.
    int integer(int usual) {
        const int kind = below(31);
        if (kind == 31) return take<std::int32_t>();
        if (kind == 30) return -1;
        return below(usual);
    }
    /// Mostly tame, seldom anything.
    double number() {
        switch (below(31)) {
            case 31:
                return take<double>();
            case 30:
                return std::numeric_limits<double>::quiet_NaN();
            case 29:
                return 0;
            default:
                return take<std::int8_t>() / 16.0;
        }
    }
    std::vector<int> integers(int count, int usual) {
        std::vector<int> values;
        for (int i = 0; i < count; ++i) values.push_back(integer(usual));
        return values;
    }
    std::vector<double> numbers(int count) {
        std::vector<double> values;
        for (int i = 0; i < count; ++i) values.push_back(number());
        return values;
    }

private:
    std::span<const std::uint8_t> data_;
};

}  // namespace drystone::fuzz
