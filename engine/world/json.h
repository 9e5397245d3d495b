// JSON of servers, walked without asking at each step whether it is there. Bytes from outside never
// stop the process.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string_view>

namespace trueup::world {

/// A value that may not be there. It is a view into what `Json::read` parsed last.
using Node = std::optional<simdjson::dom::element>;

inline Node at(const Node& parent, std::string_view name) {
    simdjson::dom::element found;
    if (!parent || (*parent)[name].get(found) != simdjson::SUCCESS) return std::nullopt;
    return found;
}

/// The string, number, array or object under `name`; nullopt when there is none of that type.
template <typename T>
std::optional<T> value(const Node& parent, std::string_view name) {
    const Node node = at(parent, name);
    T found{};
    if (!node || node->get(found) != simdjson::SUCCESS) return std::nullopt;
    return found;
}

inline std::optional<std::string_view> text(const Node& parent, std::string_view name) {
    return value<std::string_view>(parent, name);
}

inline std::string_view text_or_empty(const Node& parent, std::string_view name) {
    return text(parent, name).value_or(std::string_view());
}

/// One parser serves one thread, and keeps its memory from body to body.
class Json {
  public:
    /// nullopt: this is no JSON. The next call ends the life of what this one returns.
    Node read(std::string_view body) {
        simdjson::dom::element found;
        if (parser_.parse(body.data(), body.size()).get(found) != simdjson::SUCCESS) {
            return std::nullopt;
        }
        return found;
    }

  private:
    simdjson::dom::parser parser_;
};

}  // namespace trueup::world
