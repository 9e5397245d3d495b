#include "apps/config/problems.h"

#include <fmt/format.h>

#include <algorithm>

namespace trueup::config {

void Problems::add(int line, std::string sentence) {
    // Values are quoted as they are, and a text of YAML may go over several lines.
    std::replace_if(
        sentence.begin(), sentence.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    found_.push_back({line, std::move(sentence)});
}

std::string Problems::text(std::size_t known) const {
    std::vector<Found> sorted(found_.begin() + static_cast<std::ptrdiff_t>(known), found_.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Found& a, const Found& b) { return a.line < b.line; });
    std::string text;
    for (const Found& found : sorted) {
        if (!text.empty()) text += '\n';
        text += fmt::format("{}:{}: {}", file_name_, found.line, found.sentence);
    }
    return text;
}

}  // namespace trueup::config
