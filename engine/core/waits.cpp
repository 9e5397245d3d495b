#include "engine/core/waits.h"

#include "engine/base/id.h"

#include <algorithm>

namespace trueup::core {

namespace {

/// Of one place in a table: the node, its key's text and what malloc adds to both.
std::size_t bytes_of(const std::string& key) { return 96 + sizeof(std::string) + key.size(); }

}  // namespace

Waits::Name::Name(const std::string& text) : hash(hash64(text)), key(text) {}

template <typename Time>
void Waits::Table<Time>::add(const Time& time, const std::string& key) {
    if (ready.empty() || !ready.contains({time, key})) waiting.emplace(time, key);
}

template <typename Time>
void Waits::Table<Time>::remove(const Time& time, const std::string& key) {
    if (waiting.erase({time, Name(key)}) == 0 && !ready.empty()) ready.erase({time, key});
}

template <typename Time>
std::optional<std::string> Waits::Table<Time>::take(const Time& from, const Time& to) {
    for (auto next = waiting.lower_bound({from, Name()});
         next != waiting.end() && next->first < to;) {
        auto node = waiting.extract(next++);
        ready.emplace(node.value().first, std::move(node.value().second.key));
    }
    const auto first = ready.lower_bound({from, std::string()});
    if (first == ready.end() || !(first->first < to)) return std::nullopt;
    return std::move(ready.extract(first).value().second);
}

void Waits::add(const std::string& key, const Wait& wait) {
    const std::size_t before = size();
    if (wait.due) due_.add(*wait.due, key);
    if (wait.source != kNoSource) seen_.add({wait.source, wait.beyond}, key);
    if (wait.uncorrelated) correlated_.insert(key);
    bytes_ += (size() - before) * bytes_of(key);
}

void Waits::remove(const std::string& key, const Wait& wait) {
    const std::size_t before = size();
    if (wait.due) due_.remove(*wait.due, key);
    if (wait.source != kNoSource) seen_.remove({wait.source, wait.beyond}, key);
    if (wait.uncorrelated) correlated_.erase(key);
    bytes_ -= (before - size()) * bytes_of(key);
}

std::optional<std::string> Waits::taken(std::optional<std::string> key) {
    if (key) bytes_ -= bytes_of(*key);
    return key;
}

std::optional<std::string> Waits::take_due(JournalTime now) {
    return taken(due_.take(JournalTime::min(), now + Millis{1}));
}

std::optional<std::string> Waits::take_seen(SourceId source, BrokerTime proven) {
    return taken(seen_.take({source, BrokerTime::min()}, {source, proven}));
}

std::optional<std::string> Waits::take_correlated() {
    if (correlated_.empty()) return std::nullopt;
    return taken(std::move(correlated_.extract(correlated_.begin()).value()));
}

bool Waits::waiting_on(SourceId source) const {
    const auto has = [&](const auto& table, const auto& name) {
        const auto first = table.lower_bound({{source, BrokerTime::min()}, name});
        return first != table.end() && first->first.first == source;
    };
    return has(seen_.waiting, Name()) || has(seen_.ready, std::string());
}

std::optional<JournalTime> Waits::next_due() const {
    std::optional<JournalTime> next;
    if (!due_.waiting.empty()) next = due_.waiting.begin()->first;
    if (!due_.ready.empty()) {
        const JournalTime ready = due_.ready.begin()->first;
        next = next ? std::min(*next, ready) : ready;
    }
    return next;
}

}  // namespace trueup::core
