#include "engine/core/waits.h"

#include "engine/base/check.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace trueup::core {

namespace {

constexpr std::size_t kListBytes = 160;  ///< of a list without notes, and its place in the table
constexpr std::size_t kFewNotes = 64;

}  // namespace

void WaitList::note(const Waiter& who, bool waits) {
    TRUEUP_CHECK(text_.size() + who.key.size() <= std::numeric_limits<std::uint32_t>::max());
    TRUEUP_CHECK(who.key.size() <= std::numeric_limits<std::uint16_t>::max());
    notes_.push_back({static_cast<std::uint32_t>(text_.size()),
                      static_cast<std::uint32_t>(who.hash),
                      static_cast<std::uint16_t>(who.key.size()), waits});
    text_ += who.key;
    settled_ = false;
}

void WaitList::add(const Waiter& who) {
    ++left_;
    note(who, true);
}

void WaitList::remove(const Waiter& who) {
    --left_;
    note(who, false);
    const auto notes = static_cast<std::int64_t>(notes_.size());
    const bool mostly_over = notes_.size() > kFewNotes && notes > 4 * left_;
    // As long as nobody was taken each end belongs to one wait, so that zero is zero.
    const bool uncertain = left_ < 0 || (left_ == 0 && taken_);
    if (uncertain || (left_ > 0 && mostly_over)) keep_left();
}

/// Keeps who still waits, in any order. Of one key the notes count in their order: an end that
/// belongs to nobody any more, since the wait was taken, ends nothing that comes after it.
void WaitList::keep_left() {
    struct Waiting {
        Note note;
        std::uint32_t times;
    };
    constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
    std::vector<Waiting> known;
    known.reserve(notes_.size());
    std::vector<std::uint32_t> slots(std::bit_ceil(2 * notes_.size() + 1), kFree);  // of `known`
    const std::size_t mask = slots.size() - 1;
    for (const Note& note : notes_) {
        const std::string_view key = key_of(note);
        std::size_t at = note.hash & mask;
        const auto other = [&](const Waiting& each) {
            return each.note.hash != note.hash || key_of(each.note) != key;
        };
        while (slots[at] != kFree && other(known[slots[at]])) at = (at + 1) & mask;
        if (slots[at] == kFree) {
            slots[at] = static_cast<std::uint32_t>(known.size());
            known.push_back({note, 0});
        }
        std::uint32_t& times = known[slots[at]].times;
        times = note.waits ? times + 1 : times - std::min(times, 1U);
    }
    std::string text;
    notes_.clear();
    for (const Waiting& each : known) {
        for (std::uint32_t i = 0; i < each.times; ++i) {
            notes_.push_back(each.note);
            notes_.back().at = static_cast<std::uint32_t>(text.size());
            notes_.back().waits = true;
            text += key_of(each.note);
        }
    }
    text_ = std::move(text);
    left_ = static_cast<std::int64_t>(notes_.size());
}

void WaitList::settle() {
    keep_left();
    std::sort(notes_.begin(), notes_.end(),
              [&](const Note& a, const Note& b) { return key_of(a) > key_of(b); });
    settled_ = true;
}

std::optional<std::string> WaitList::take() {
    if (!settled_) settle();
    if (notes_.empty()) return std::nullopt;
    std::string key(key_of(notes_.back()));
    notes_.pop_back();
    --left_;
    taken_ = true;
    return key;
}

template <typename Time>
void Waits::add(Lists<Time>& lists, const Time& time, const Waiter& who, bool again) {
    const auto [place, fresh] = lists.try_emplace(time, again);
    if (fresh) bytes_ += kListBytes;
    bytes_ -= place->second.bytes();
    place->second.add(who);
    bytes_ += place->second.bytes();
}

template <typename Time>
void Waits::remove(Lists<Time>& lists, const Time& time, const Waiter& who) {
    const auto place = lists.find(time);
    if (place == lists.end()) return;  // the last one of its list was just taken
    bytes_ -= place->second.bytes();
    place->second.remove(who);
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

void Waits::add(const Waiter& who, const Wait& wait) {
    if (wait.due) add(due_, *wait.due, who);
    if (wait.source != kNoSource) add(seen_, {wait.source, wait.beyond}, who);
    // Times pass; but who was taken with others, and has to wait for the same once more, comes back
    // before the others have said that they do no more.
    if (wait.none_of != kNoTally) add(none_of_, wait.none_of, who, true);
    if (wait.turn) add(turns_, *wait.turn, who, true);
}

void Waits::remove(const Waiter& who, const Wait& wait) {
    if (wait.due) remove(due_, *wait.due, who);
    if (wait.source != kNoSource) remove(seen_, {wait.source, wait.beyond}, who);
    if (wait.none_of != kNoTally) remove(none_of_, wait.none_of, who);
    if (wait.turn) remove(turns_, *wait.turn, who);
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
