// A parser of one page, by hand: the libraries for it in Debian are whole languages, which a file from somebody else
// must not speak.
#include "drystone/tables/expressions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

namespace drystone {

namespace {

/// What is wrong with an expression, and the cure.
struct ExpressionFault {
    std::string what, cure;
};

constexpr int deepest = 64;  ///< parentheses within parentheses
constexpr double per_degree = std::numbers::pi / 180;

double (*function_of_one(std::string_view name))(double) {
    struct Named {
        std::string_view name;
        double (*function)(double);
    };
    static constexpr Named all[] = {
        {"sqrt", [](double x) { return std::sqrt(x); }},
        {"abs", [](double x) { return std::abs(x); }},
        {"exp", [](double x) { return std::exp(x); }},
        {"log", [](double x) { return std::log(x); }},
        {"floor", [](double x) { return std::floor(x); }},
        {"ceil", [](double x) { return std::ceil(x); }},
        {"round", [](double x) { return std::round(x); }},
        {"sin", [](double x) { return std::sin(per_degree * x); }},
        {"cos", [](double x) { return std::cos(per_degree * x); }},
        {"tan", [](double x) { return std::tan(per_degree * x); }},
    };
    for (const Named& one : all)
        if (one.name == name) return one.function;
    return nullptr;
}

/// One expression, from left to right.
class Parser {
public:
    using Names =
        std::function<double(const std::string&)>;  ///< throws ExpressionFault where there is no such name
    Parser(std::string_view text, const Names& names) : text_(text), names_(names) {}

    double whole() {
        const double value = sum(0);
        if (next() != '\0') refuse();
        return value;
    }

private:
    double sum(int depth) {
        double value = product(depth);
        for (char c = next(); c == '+' || c == '-'; c = next()) {
            ++at_;
            const double other = product(depth);
            value = finite(c == '+' ? value + other : value - other);
        }
        return value;
    }
    double product(int depth) {
        double value = power(depth);
        for (char c = next(); c == '*' || c == '/'; c = next()) {
            ++at_;
            const double other = power(depth);
            value = finite(c == '*' ? value * other : value / other);
        }
        return value;
    }
    /// -2^2 is -4, and 2^-1 is 1/2, as in mathematics.
    double power(int depth) {
        if (depth > deepest) throw ExpressionFault{"is nested too deeply", "name parts of it in [let]"};
        if (next() == '-') {
            ++at_;
            return -power(depth + 1);
        }
        const double base = atom(depth);
        if (next() != '^') return base;
        ++at_;
        return finite(std::pow(base, power(depth + 1)));
    }
    double atom(int depth) {
        const char c = next();
        if (c == '(') return bracket(depth);
        if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return literal();
        const std::string name = word();
        if (name.empty()) refuse();
        if (next() != '(') return name == "pi" ? std::numbers::pi : names_(name);
        if (name == "min" || name == "max") return of_several(name == "min", depth);
        const auto function = function_of_one(name);
        if (function == nullptr)
            throw ExpressionFault{
                fmt::format("there is no function {}", name),
                "use sqrt, abs, exp, log, floor, ceil, round, sin, cos, tan (degrees), min or max"};
        return finite(function(bracket(depth)));
    }
    double bracket(int depth) {
        ++at_;
        const double value = sum(depth + 1);
        close();
        return value;
    }
    double of_several(bool least, int depth) {
        ++at_;
        double value = sum(depth + 1);
        while (next() == ',') {
            ++at_;
            const double other = sum(depth + 1);
            value = least ? std::min(value, other) : std::max(value, other);
        }
        close();
        return value;
    }
    void close() {
        if (next() != ')') refuse();
        ++at_;
    }
    /// What no min or ^0 may hide.
    static double finite(double value) {
        if (!std::isfinite(value))
            throw ExpressionFault{fmt::format("comes to {}", value), "look for a 0 that is divided by"};
        return value;
    }
    double literal() {
        double value = 0;
        const char* const begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc()) refuse();
        at_ += static_cast<std::size_t>(end - begin);
        return value;
    }
    std::string word() {
        std::string name;
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
            name += text_[at_++];
        return name;
    }
    /// The next letter that is no space; '\0' at the end.
    char next() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    [[noreturn]] void refuse() const {
        const std::string rest(text_.substr(std::min(at_, text_.size()), 20));
        throw ExpressionFault{
            rest.empty() ? std::string("ends too early") : fmt::format("cannot be read from \"{}\" on", rest),
            "write numbers, names of [let], + - * / ^ and parentheses"};
    }

    std::string_view text_;
    const Names& names_;
    std::size_t at_ = 0;
};

bool is_expression(const Value& value) {
    return value.kind == Value::Kind::text && value.text.starts_with('=');
}

/// The numbers of [let], each worked out when it is first asked for.
class Variables {
public:
    Variables(const Value* let, Faults& faults) : let_(let), faults_(faults) {}

    double of(const std::string& name) {
        const Value* found = let_ != nullptr ? let_->find(name) : nullptr;
        if (found == nullptr)
            throw ExpressionFault{fmt::format("there is no number named {}", name),
                                  let_ == nullptr || let_->names.empty() ? std::string("name it in [let]")
                                                                         : suggestion(name, let_->names)};
        if (const auto known = values_.find(name); known != values_.end()) {
            if (!known->second)
                throw ExpressionFault{fmt::format("{} is given by way of itself", name), "break the circle"};
            return *known->second;
        }
        constexpr int most_others = 64;
        if (depth_ > most_others)
            throw ExpressionFault{fmt::format("goes by way of more than {} others", most_others),
                                  "give some as numbers"};
        values_[name] = std::nullopt;
        double value = found->number;
        if (is_expression(*found)) {
            ++depth_;
            try {
                value = work_out(found->text);
            } catch (const ExpressionFault&) {
                values_.erase(name);
                --depth_;
                throw;
            }
            --depth_;
        } else if (found->kind != Value::Kind::number) {
            values_.erase(name);
            throw ExpressionFault{fmt::format("{} is no number", name),
                                  "give [let] numbers, or texts that begin with \"=\""};
        }
        values_[name] = value;
        return value;
    }
    /// The text begins with "=".
    double work_out(const std::string& text) {
        constexpr std::size_t longest = 1000;
        if (text.size() > longest)
            throw ExpressionFault{fmt::format("has {} letters", text.size()),
                                  fmt::format("give at most {}; name parts of it in [let]", longest)};
        const Parser::Names names = [this](const std::string& name) { return of(name); };
        const double value = Parser(std::string_view(text).substr(1), names).whole();
        if (!std::isfinite(value)) throw ExpressionFault{fmt::format("comes to {}", value), "give a number"};
        return value;
    }
    /// Those that nobody asks for are looked at, too.
    void check_all() {
        if (let_ == nullptr) return;
        for (std::size_t k = 0; k < let_->names.size(); ++k) {
            const std::string& name = let_->names[k];
            try {
                if (name == "pi" || function_of_one(name) != nullptr || name == "min" || name == "max")
                    throw ExpressionFault{"has a meaning of its own", "take another name"};
                if (std::isdigit(static_cast<unsigned char>(name[0])) != 0 ||
                    !std::all_of(name.begin(), name.end(), [](char c) {
                        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
                    }))
                    throw ExpressionFault{"is no name for a number",
                                          "take letters, digits and _, and begin with a letter"};
                of(name);
            } catch (const ExpressionFault& fault) {
                faults_.add(let_->items[k].line, "let." + name, fault.what, fault.cure);
            }
        }
    }

private:
    const Value* let_;
    Faults& faults_;
    int depth_ = 0;                                        ///< of names by way of names
    std::map<std::string, std::optional<double>> values_;  ///< nothing: being worked out
};

void put_number(Value& value, double number) {
    constexpr double exact = 9007199254740992.0;  // 2^53: whole numbers up to here are exact
    value.kind = Value::Kind::number;
    value.text.clear();
    value.number = number;
    value.whole = std::abs(number) <= exact && number == std::floor(number);
    value.integer = value.whole ? static_cast<std::int64_t>(number) : 0;
}

void work_out_below(Value& value, const std::string& path, Variables& variables, Faults& faults) {
    if (is_expression(value)) {
        try {
            put_number(value, variables.work_out(value.text));
        } catch (const ExpressionFault& fault) {
            faults.add(value.line, path, fmt::format("\"{}\" {}", value.text.substr(0, 100), fault.what),
                       fault.cure);
        }
        return;
    }
    for (std::size_t k = 0; k < value.items.size(); ++k) {
        if (value.items[k].kind == Value::Kind::number) continue;  // there may be millions
        const std::string name = value.kind == Value::Kind::table
                                     ? path + (path.empty() ? "" : ".") + value.names[k]
                                     : fmt::format("{}[{}]", path, k);
        work_out_below(value.items[k], name, variables, faults);
    }
}

}  // namespace

void work_out(Value& root, Faults& faults) {
    Value let;
    const auto found = std::find(root.names.begin(), root.names.end(), "let");
    const bool given = found != root.names.end();
    if (given) {
        const auto place = found - root.names.begin();
        let = std::move(root.items[static_cast<std::size_t>(place)]);
        root.items.erase(root.items.begin() + place);
        root.names.erase(found);
        if (let.kind != Value::Kind::table) {
            faults.add(let.line, "let", "is no table", "give [let] with numbers by their names");
            return;
        }
    }
    Variables variables(given ? &let : nullptr, faults);
    variables.check_all();
    if (faults.count() > 0) return;
    work_out_below(root, "", variables, faults);
}

}  // namespace drystone
