#include "engine/core/waits.h"

namespace trueup::core {

void Waits::add(const std::string& key, const Wait& wait) {
    if (wait.due) due_.emplace(*wait.due, key);
    if (wait.source != kNoSource) seen_.emplace(std::pair(wait.source, wait.beyond), key);
    if (wait.uncorrelated) correlated_.insert(key);
}

void Waits::remove(const std::string& key, const Wait& wait) {
    if (wait.due) due_.erase({*wait.due, key});
    if (wait.source != kNoSource) seen_.erase({{wait.source, wait.beyond}, key});
    if (wait.uncorrelated) correlated_.erase(key);
}

std::optional<std::string> Waits::take_due(JournalTime now) {
    if (due_.empty() || due_.begin()->first > now) return std::nullopt;
    return std::move(due_.extract(due_.begin()).value().second);
}

std::optional<std::string> Waits::take_seen(SourceId source, BrokerTime proven) {
    const auto first = seen_.lower_bound({{source, BrokerTime::min()}, std::string()});
    if (first == seen_.end() || first->first.first != source || first->first.second >= proven) {
        return std::nullopt;
    }
    return std::move(seen_.extract(first).value().second);
}

std::optional<std::string> Waits::take_correlated() {
    if (correlated_.empty()) return std::nullopt;
    return std::move(correlated_.extract(correlated_.begin()).value());
}

bool Waits::waiting_on(SourceId source) const {
    const auto first = seen_.lower_bound({{source, BrokerTime::min()}, std::string()});
    return first != seen_.end() && first->first.first == source;
}

std::optional<JournalTime> Waits::next_due() const {
    if (due_.empty()) return std::nullopt;
    return due_.begin()->first;
}

}  // namespace trueup::core
