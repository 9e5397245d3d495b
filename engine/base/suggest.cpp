#include "engine/base/suggest.h"

#include <algorithm>
#include <cstddef>

namespace trueup {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Insertions, deletions, changed letters and swapped neighbours between the two.
std::size_t distance(std::string_view from, std::string_view to) {
    std::vector<std::vector<std::size_t>> cost(from.size() + 1,
                                               std::vector<std::size_t>(to.size() + 1));
    for (std::size_t i = 0; i <= from.size(); ++i) {
        for (std::size_t j = 0; j <= to.size(); ++j) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            const bool same = lower(from[i - 1]) == lower(to[j - 1]);
            cost[i][j] = std::min(
                {cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
            }
        }
    }
    return cost[from.size()][to.size()];
}

/// The only one that begins with the word, or with all but its last letter (`policy` of
/// `policies`); empty: none does, or several do.
std::string begun_by(std::string_view word, const std::vector<std::string>& known) {
    std::string found;
    if (word.size() < 3) return found;
    const std::string_view stem = word.size() > 4 ? word.substr(0, word.size() - 1) : word;
    for (const std::string& candidate : known) {
        if (!candidate.starts_with(stem)) continue;
        if (!found.empty()) return {};
        found = candidate;
    }
    return found;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
    std::string best;
    std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
    if (word.size() > 64) return best;
    for (const std::string& candidate : known) {
        const std::size_t cost = distance(word, candidate);
        // Of a short word every letter counts: `a` is not near to `b`.
        if (cost >= least || cost >= std::min(word.size(), candidate.size())) continue;
        least = cost;
        best = candidate;
    }
    return best.empty() ? begun_by(word, known) : best;
}

std::string enumerate(const std::vector<std::string>& words, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " " + std::string(last) + " " : ", ";
        text += words[i];
    }
    return text;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
    const std::string meant = nearest(word, known);
    if (!meant.empty()) return "did you mean '" + meant + "'?";
    return "known are " + enumerate(known);
}

}  // namespace trueup
