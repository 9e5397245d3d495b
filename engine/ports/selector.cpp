#include "engine/ports/selector.h"

#include <algorithm>

namespace trueup::ports {

namespace {

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// A label's key or value: what the API server allows, without its rules for length.
bool well_formed(std::string_view word) {
    return std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.' || c == '/';
    });
}

bool well_formed_key(std::string_view word) { return !word.empty() && well_formed(word); }

/// The parts between commas that are not inside parentheses.
std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    std::size_t start = 0;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(') ++depth;
        if (text[i] == ')') --depth;
        if (text[i] != ',' || depth != 0) continue;
        parts.push_back(text.substr(start, i - start));
        start = i + 1;
    }
    parts.push_back(text.substr(start));
    return parts;
}

}  // namespace

std::optional<Selector::Requirement> Selector::parse_one(std::string_view text) {
    Requirement requirement;
    text = trim(text);
    if (const std::size_t open = text.find('('); open != std::string_view::npos) {
        if (text.back() != ')') return std::nullopt;
        std::string_view head = trim(text.substr(0, open));
        const std::size_t space = head.rfind(' ');
        if (space == std::string_view::npos) return std::nullopt;
        const std::string_view word = head.substr(space + 1);
        if (word != "in" && word != "notin") return std::nullopt;
        requirement.negated = word == "notin";
        requirement.key = trim(head.substr(0, space));
        for (std::string_view value : split(text.substr(open + 1, text.size() - open - 2))) {
            if (!well_formed(trim(value))) return std::nullopt;
            requirement.values.emplace_back(trim(value));
        }
    } else if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
        std::string_view key = text.substr(0, equals);
        std::string_view value = text.substr(equals + 1);
        if (!key.empty() && key.back() == '!') {
            requirement.negated = true;
            key.remove_suffix(1);
        } else if (!value.empty() && value.front() == '=') {
            value.remove_prefix(1);
        }
        if (!well_formed(trim(value))) return std::nullopt;
        requirement.key = trim(key);
        requirement.values.emplace_back(trim(value));
    } else {
        requirement.any_value = true;
        requirement.negated = !text.empty() && text.front() == '!';
        if (requirement.negated) text.remove_prefix(1);
        requirement.key = trim(text);
    }
    if (!well_formed_key(requirement.key)) return std::nullopt;
    return requirement;
}

std::optional<Selector> Selector::parse(std::string_view text) {
    Selector selector;
    if (trim(text).empty()) return selector;
    for (const std::string_view part : split(text)) {
        std::optional<Requirement> requirement = parse_one(part);
        if (!requirement) return std::nullopt;
        selector.requirements_.push_back(std::move(*requirement));
    }
    return selector;
}

bool Selector::holds(const Requirement& requirement, const std::optional<std::string_view>& label) {
    // `a != b` and `a notin (b)` hold for objects without the label, as in the API server.
    if (!label) return requirement.negated;
    if (requirement.any_value) return !requirement.negated;
    const bool listed = std::find(requirement.values.begin(), requirement.values.end(), *label) !=
                        requirement.values.end();
    return listed != requirement.negated;
}

bool Selector::matches(const LabelOf& label_of) const {
    return std::all_of(requirements_.begin(), requirements_.end(),
                       [&](const Requirement& one) { return holds(one, label_of(one.key)); });
}

std::vector<std::string> Selector::unmet(const LabelOf& label_of) const {
    std::vector<std::string> keys;
    for (const Requirement& requirement : requirements_) {
        if (!holds(requirement, label_of(requirement.key))) keys.push_back(requirement.key);
    }
    return keys;
}

bool Selector::matches(const Labels& labels) const {
    return matches([&labels](std::string_view key) -> std::optional<std::string_view> {
        const auto found = labels.find(key);
        if (found == labels.end()) return std::nullopt;
        return found->second;
    });
}

}  // namespace trueup::ports
