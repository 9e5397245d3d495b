#include "engine/world/field_at.h"

#include <optional>
#include <string_view>
#include <utility>

namespace trueup::world {

namespace {

using Kind = FieldAt::Kind;
using Element = simdjson::dom::element;

/// As it would be published; nullopt: it is no plain value.
std::optional<std::string> plain(const Element& value) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) return std::string(text);
    if (value.is_object() || value.is_array() || value.is_null()) return std::nullopt;
    return simdjson::minify(value);
}

/// Goes one step on. kText: `here` is what is there.
Kind go(Element& here, const policy::FieldPath::Step& step) {
    simdjson::dom::object object;
    if (here.get(object) != simdjson::SUCCESS) return Kind::kUnreadable;
    if (object[step.name].get(here) != simdjson::SUCCESS || here.is_null()) return Kind::kNotThere;
    if (step.by.empty()) return Kind::kText;
    simdjson::dom::array list;
    if (here.get(list) != simdjson::SUCCESS) return Kind::kUnreadable;
    std::size_t meant = 0;
    for (const Element element : list) {
        Element by;
        if (element[step.by].get(by) != simdjson::SUCCESS) continue;
        if (plain(by) != step.value) continue;
        here = element;
        ++meant;
    }
    if (meant == 0) return Kind::kNotThere;
    return meant == 1 ? Kind::kText : Kind::kUnreadable;
}

}  // namespace

FieldAt field_at(const Node& object, const policy::FieldPath& path) {
    if (!object) return {Kind::kUnreadable, {}};
    Element here = *object;
    for (const policy::FieldPath::Step& step : path.steps) {
        if (const Kind kind = go(here, step); kind != Kind::kText) return {kind, {}};
    }
    std::optional<std::string> text = plain(here);
    const bool whole = text && text->size() <= FieldAt::kMostText;
    if (!whole || text->find('\0') != std::string::npos) return {Kind::kUnreadable, {}};
    return {Kind::kText, std::move(*text)};
}

}  // namespace trueup::world
