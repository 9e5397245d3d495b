// What an error says of a word that it does not know: the one that was probably meant, or the ones
// that there are. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trueup {

/// The one of `known` that was most likely meant, or empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// `a`, `a and b`, `a, b and c`.
std::string enumerate(const std::vector<std::string>& words, std::string_view last = "and");

/// `did you mean 'grace'?` where one of `known` is near, else `known are a, b and c`.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace trueup
