#include "engine/world/hold.h"

#include "engine/world/row_text.h"

#include <algorithm>
#include <array>

namespace trueup::world {

namespace {

constexpr std::array<std::string_view, 6> kNo{"false", "f", "no", "n", "off", "0"};

bool same_word(std::string_view said, std::string_view word) {
    return std::equal(said.begin(), said.end(), word.begin(), word.end(), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
}

bool says_no(std::string_view value) {
    return std::any_of(kNo.begin(), kNo.end(), [said = trimmed(value)](std::string_view word) {
        return same_word(said, word);
    });
}

}  // namespace

bool mark_holds(std::string_view value) { return !says_no(value); }

bool column_holds(const std::optional<std::string_view>& value) {
    return value && !trimmed(*value).empty() && !says_no(*value);
}

}  // namespace trueup::world
