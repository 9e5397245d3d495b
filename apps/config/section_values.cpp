// What a section has for single values: read, and held against what may stand there.
#include "apps/config/section.h"
#include "apps/config/words.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace trueup::config {

std::string Section::text(std::string_view key, std::string_view fallback) {
    const std::string* value = scalar(key);
    return value == nullptr ? std::string(fallback) : *value;
}

bool Section::flag(std::string_view key, bool fallback) {
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    if (*value != "true" && *value != "false") {
        problem(key, fmt::format("is '{}'; write true or false", *value));
        return fallback;
    }
    return *value == "true";
}

Millis Section::duration(std::string_view key, Millis fallback) {
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    const std::optional<Millis> parsed = parse_duration(*value);
    if (parsed) return *parsed;
    problem(key, parse_number(*value) ? fmt::format("has no unit; write {0}s, not {0}", *value)
                                      : fmt::format("is '{}', which is not a duration; write it as "
                                                    "500ms, 30s, 5m, 6h or 30d, at most 366d",
                                                    *value));
    return fallback;
}

std::uint64_t Section::size(std::string_view key, std::uint64_t fallback) {
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    const std::optional<std::uint64_t> parsed = parse_size(*value);
    if (parsed && *parsed > 0) return *parsed;
    problem(key,
            parse_number(*value)
                ? fmt::format("has no unit; write {0}MiB, not {0}", *value)
                : fmt::format("is '{}', which is not a size; write it as 64KiB, 512MiB or 2GiB",
                              *value));
    return fallback;
}

std::uint32_t Section::percent(std::string_view key, std::uint32_t fallback, std::uint32_t most) {
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    const std::optional<std::uint32_t> parsed = parse_percent(*value);
    if (parsed) return *parsed;
    const bool bare = parse_percent(*value + "%").has_value();
    problem(key,
            bare ? fmt::format("has no unit; write {0}%, not {0}", *value)
                 : fmt::format("is '{}'; write a whole percentage from 1% to {}%", *value, most));
    return fallback;
}

std::uint32_t Section::count(std::string_view key, std::uint32_t fallback) {
    constexpr std::size_t kDigits = 9;
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    const bool digits = value->find_first_not_of("0123456789") == std::string::npos;
    if (digits && !value->empty() && value->size() <= kDigits) {
        return static_cast<std::uint32_t>(std::stoul(*value));
    }
    problem(key, fmt::format("is '{}'; write a whole number", *value));
    return fallback;
}

std::size_t Section::choice(std::string_view key, std::size_t fallback,
                            const std::vector<std::string>& choices) {
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    const auto found = std::find(choices.begin(), choices.end(), *value);
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
    problem(key, fmt::format("is '{}'; write {}", *value, enumerate(choices, "or")));
    return fallback;
}

std::vector<std::string> Section::texts(std::string_view key) {
    std::vector<std::string> all;
    const Tree* value = take(key, Tree::Kind::kList);
    if (value == nullptr) return all;
    for (const Tree& item : value->children) {
        if (item.kind == Tree::Kind::kText && !item.text.empty()) {
            all.push_back(item.text);
        } else {
            problems_->add(
                item.line,
                fmt::format(
                    "{} has an item that is not text; write a list of names, as in [one, two]",
                    path_of(key)));
        }
    }
    return all;
}

std::vector<std::string> Section::one_or_more_texts(std::string_view key) {
    const Tree* value = tree_ == nullptr ? nullptr : tree_->child(key);
    if (value == nullptr || value->kind == Tree::Kind::kList) return texts(key);
    std::string one = text(key);
    return one.empty() ? std::vector<std::string>() : std::vector{std::move(one)};
}

}  // namespace trueup::config
