#include "engine/core/waits.h"

#include "engine/base/check.h"

#include <algorithm>
#include <limits>

namespace trueup::core {

namespace {

constexpr std::size_t kListBytes = 160;  ///< of a list without notes, and its place in the table
constexpr std::size_t kFewNotes = 64;

}  // namespace

void WaitList::note(std::string_view key, bool waits) {
    TRUEUP_CHECK(text_.size() + key.size() <= std::numeric_limits<std::uint32_t>::max());
    notes_.push_back(
        {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(key.size()), waits});
    text_ += key;
    settled_ = false;
}

void WaitList::add(std::string_view key) {
    ++left_;
    note(key, true);
}

void WaitList::remove(std::string_view key) {
    --left_;
    note(key, false);
    const auto notes = static_cast<std::int64_t>(notes_.size());
    const bool mostly_over = notes_.size() > kFewNotes && notes > 4 * left_;
    // As long as nobody was taken each end belongs to one wait, so that zero is zero.
    const bool uncertain = left_ < 0 || (left_ == 0 && taken_);
    if (uncertain || (left_ > 0 && mostly_over)) settle();
}

/// Keeps who still waits. Of one key the notes count in their order: an end that belongs to nobody
/// any more, since the wait was taken, ends nothing that comes after it.
void WaitList::settle() {
    const auto last_key_first = [&](const Note& a, const Note& b) {
        const int order = key_of(a).compare(key_of(b));
        return order != 0 ? order > 0 : a.at < b.at;
    };
    std::sort(notes_.begin(), notes_.end(), last_key_first);
    std::string text;
    std::vector<Note> left;
    for (std::size_t i = 0; i < notes_.size();) {
        const std::string_view key = key_of(notes_[i]);
        std::size_t waits = 0;
        for (; i < notes_.size() && key_of(notes_[i]) == key; ++i) {
            waits = notes_[i].waits ? waits + 1 : waits - std::min<std::size_t>(waits, 1);
        }
        for (; waits > 0; --waits) {
            left.push_back({static_cast<std::uint32_t>(text.size()),
                            static_cast<std::uint32_t>(key.size()), true});
            text += key;
        }
    }
    text_ = std::move(text);
    notes_ = std::move(left);
    left_ = static_cast<std::int64_t>(notes_.size());
    settled_ = true;
}

std::optional<std::string> WaitList::take() {
    if (!settled_) settle();
    if (notes_.empty()) return std::nullopt;
    std::string key(key_of(notes_.back()));
    text_.resize(notes_.back().at);
    notes_.pop_back();
    --left_;
    taken_ = true;
    return key;
}

template <typename Time>
void Waits::add(Lists<Time>& lists, const Time& time, std::string_view key, bool again) {
    const auto [place, fresh] = lists.try_emplace(time, again);
    if (fresh) bytes_ += kListBytes;
    bytes_ -= place->second.bytes();
    place->second.add(key);
    bytes_ += place->second.bytes();
}

template <typename Time>
void Waits::remove(Lists<Time>& lists, const Time& time, std::string_view key) {
    const auto place = lists.find(time);
    if (place == lists.end()) return;  // the last one of its list was just taken
    bytes_ -= place->second.bytes();
    place->second.remove(key);
    bytes_ += place->second.bytes();
    if (!place->second.empty()) return;
    bytes_ -= place->second.bytes() + kListBytes;
    lists.erase(place);
}

template <typename Time>
std::optional<std::string> Waits::take(Lists<Time>& lists, const Time& from, const Time& to) {
    for (;;) {
        const auto first = lists.lower_bound(from);
        if (first == lists.end() || !(first->first < to)) return std::nullopt;
        bytes_ -= first->second.bytes();
        std::optional<std::string> key = first->second.take();
        bytes_ += first->second.bytes();
        if (first->second.empty()) {
            bytes_ -= first->second.bytes() + kListBytes;
            lists.erase(first);
        }
        if (key) return key;
    }
}

void Waits::add(std::string_view key, const Wait& wait) {
    if (wait.due) add(due_, *wait.due, key);
    if (wait.source != kNoSource) add(seen_, {wait.source, wait.beyond}, key);
    // Times pass; but who was taken with others, and has to wait for the same once more, comes back
    // before the others have said that they do no more.
    if (wait.none_of != kNoTally) add(none_of_, wait.none_of, key, true);
    if (wait.turn) add(turns_, *wait.turn, key, true);
}

void Waits::remove(std::string_view key, const Wait& wait) {
    if (wait.due) remove(due_, *wait.due, key);
    if (wait.source != kNoSource) remove(seen_, {wait.source, wait.beyond}, key);
    if (wait.none_of != kNoTally) remove(none_of_, wait.none_of, key);
    if (wait.turn) remove(turns_, *wait.turn, key);
}

std::optional<std::string> Waits::take_due(JournalTime now) {
    return take(due_, JournalTime::min(), now + Millis{1});
}

std::optional<std::string> Waits::take_seen(SourceId source, BrokerTime proven) {
    return take(seen_, {source, BrokerTime::min()}, {source, proven});
}

std::optional<std::string> Waits::take_none_of(TallyId tally) {
    return take(none_of_, tally, static_cast<TallyId>(tally + 1));
}

std::optional<std::string> Waits::take_turn(RuleNumber rule) {
    return take(turns_, Turn{rule, JournalTime::min()}, Turn{rule, JournalTime::max()});
}

std::optional<JournalTime> Waits::next_turn(RuleNumber rule) const {
    const auto first = turns_.lower_bound(Turn{rule, JournalTime::min()});
    if (first == turns_.end() || first->first.rule != rule) return std::nullopt;
    return first->first.since;
}

bool Waits::awaits(SourceId source, BrokerTime by) const {
    const auto first = seen_.lower_bound(Progress{source, BrokerTime::min()});
    return first != seen_.end() && first->first.first == source && first->first.second <= by;
}

std::optional<JournalTime> Waits::next_due() const {
    if (due_.empty()) return std::nullopt;
    return due_.begin()->first;
}

}  // namespace trueup::core
