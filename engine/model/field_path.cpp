#include "engine/model/field_path.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace trueup::policy {

namespace {

constexpr std::size_t kMostSteps = 16;
constexpr std::size_t kMostBytes = 253;

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '$';
    });
}

/// Takes `[NAME=VALUE]` off the front of `rest`; false where it is something else.
bool take_pick(std::string_view& rest, FieldPath::Step& step) {
    const std::size_t end = rest.find(']');
    const std::size_t equals = rest.substr(0, end).find('=');
    if (end == std::string_view::npos || equals == std::string_view::npos) return false;
    step.by = rest.substr(1, equals - 1);
    step.value = rest.substr(equals + 1, end - equals - 1);
    rest.remove_prefix(end + 1);
    return is_name(step.by) && !step.value.empty() &&
           step.value.find_first_of("[=\"'") == std::string::npos;
}

/// What `label.KEY` and `annotation.KEY` stand for; empty: it is neither.
std::vector<FieldPath::Step> marked(std::string_view text) {
    for (const auto& [prefix, place] :
         {std::pair<std::string_view, const char*>{"label.", "labels"},
          std::pair<std::string_view, const char*>{"annotation.", "annotations"}}) {
        if (!text.starts_with(prefix)) continue;
        return {{"metadata", {}, {}},
                {place, {}, {}},
                {std::string(text.substr(prefix.size())), {}, {}}};
    }
    return {};
}

bool is_key(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return is_name({&c, 1}) || c == '.' || c == '/';
    });
}

}  // namespace

Result<FieldPath> FieldPath::parse(std::string_view name, std::string_view text) {
    const auto wrong = [&] {
        return Error{Next::kStop, Code::kInvalid,
                     "'" + std::string(text.substr(0, kMostBytes)) +
                         "' is not a path in an object; write names with dots between them, as "
                         "spec.plan, [NAME=VALUE] for one element of a list, as "
                         "status.conditions[type=Ready].status, or label.KEY or annotation.KEY"};
    };
    FieldPath path;
    path.name = name;
    if (text.size() > kMostBytes) return wrong();
    path.steps = marked(text);
    if (!path.steps.empty())
        return is_key(path.steps.back().name) ? path : Result<FieldPath>(wrong());
    for (std::string_view rest = text;;) {
        Step step;
        const std::size_t end = std::min(rest.find_first_of(".["), rest.size());
        step.name = rest.substr(0, end);
        rest.remove_prefix(end);
        if (!is_name(step.name)) return wrong();
        if (rest.starts_with('[') && !take_pick(rest, step)) return wrong();
        path.steps.push_back(std::move(step));
        // One spelling of each, so that whoever asks which one it is need know no other.
        const bool marks = path.steps.size() == 2 && path.steps[0].name == "metadata" &&
                           (path.steps[1].name == "labels" || path.steps[1].name == "annotations");
        if (marks && !rest.empty()) return wrong();
        if (rest.empty()) return path;
        if (!rest.starts_with('.') || path.steps.size() == kMostSteps) return wrong();
        rest.remove_prefix(1);
    }
}

bool FieldPath::writable() const {
    const auto picks = [](const Step& step) { return !step.by.empty(); };
    if (steps.empty() || std::any_of(steps.begin(), steps.end(), picks)) return false;
    const std::string& top = steps.front().name;
    if (top != "metadata") return top != "apiVersion" && top != "kind";
    return steps.size() == 3 && (steps[1].name == "labels" || steps[1].name == "annotations");
}

bool FieldPath::overlaps(const FieldPath& other) const {
    const std::size_t both = std::min(steps.size(), other.steps.size());
    return std::equal(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(both),
                      other.steps.begin());
}

}  // namespace trueup::policy
