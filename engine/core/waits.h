// What subjects wait for: journal time, a source's progress, a tally's end, or a turn.
//
// A table in memory only: each subject's row says what it waits for, so a restart fills this table
// again from the rows. They come by time, then by key. Not thread-safe.
//
// Most waits end before their time: the subject changes and waits for something else. So a wait is
// only noted down where its time is, and so is its end; who is really left is found out when that
// time comes. Many subjects wait for the same time (what one record brought), so times are few.
#pragma once

#include "engine/base/hash.h"
#include "engine/model/verdict.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::core {

/// A subject by its key, of at most 64 KiB, and the `hash64` of it, which who has an entry knows.
struct Waiter {
    std::string_view key;
    std::uint64_t hash;
    template <std::convertible_to<std::string_view> Text>
    Waiter(const Text& of) : key(of), hash(hash64(key)) {}  // NOLINT: a key is one
    Waiter(std::string_view of, std::uint64_t known) : key(of), hash(known) {}
};

/// The subjects that wait for one moment: a list of notes, and what is left of it.
class WaitList {
  public:
    /// `again`: who was taken may come back to this very list, even if it was given up in between.
    explicit WaitList(bool again = false) : taken_(again) {}
    void add(const Waiter& who);
    /// It was added here and not removed or taken since, or it is about to be taken.
    void remove(const Waiter& who);
    /// Takes out the first one by key; nullopt: nobody is left.
    std::optional<std::string> take();
    /// Nobody is left. May be false for a while when somebody was taken.
    bool empty() const { return left_ == 0; }
    std::size_t bytes() const { return text_.size() + notes_.size() * sizeof(Note); }

  private:
    struct Note {
        std::uint32_t at;    ///< in text_
        std::uint32_t hash;  ///< of the key, a part of it
        std::uint16_t size;  ///< of the key
        bool waits;          ///< false: it does no more
    };
    std::string_view key_of(const Note& note) const { return {text_.data() + note.at, note.size}; }
    void note(const Waiter& who, bool waits);
    void keep_left();
    void settle();

    std::string text_;
    std::vector<Note> notes_;
    std::int64_t left_ = 0;  ///< notes that wait less those that do no more
    bool settled_ = true;    ///< the notes are those who are left, the first one by key last
    bool taken_;             ///< since when `left_` may be too low until the next settling
};

class Waits {
  public:
    /// `wait` of this subject is not in the table.
    void add(const Waiter& who, const Wait& wait);
    /// It is, or it was just taken.
    void remove(const Waiter& who, const Wait& wait);

    /// Takes out one subject whose time has come (due ≤ now); nullopt: none.
    std::optional<std::string> take_due(JournalTime now);
    /// Takes out one subject that waited for less progress than `proven` of this source.
    std::optional<std::string> take_seen(SourceId source, BrokerTime proven);
    /// Takes out one subject that waits until nothing counts to this tally.
    std::optional<std::string> take_none_of(TallyId tally);
    /// Takes out the subject whose finding has waited longest for the budget of this rule.
    std::optional<std::string> take_turn(RuleNumber rule);
    /// Since when that finding is open; nullopt: nobody waits.
    std::optional<JournalTime> next_turn(RuleNumber rule) const;

    std::optional<JournalTime> next_due() const;
    /// Does anybody wait for this source to prove itself past `by`, or past an earlier moment?
    bool awaits(SourceId source, BrokerTime by) const;
    bool empty() const {
        return due_.empty() && seen_.empty() && none_of_.empty() && turns_.empty();
    }

    /// About what the table takes in memory.
    std::size_t bytes() const { return bytes_; }

  private:
    using Progress = std::pair<SourceId, BrokerTime>;
    template <typename Time>
    using Lists = std::map<Time, WaitList>;

    template <typename Time>
    void add(Lists<Time>& lists, const Time& time, const Waiter& who, bool again = false);
    template <typename Time>
    void remove(Lists<Time>& lists, const Time& time, const Waiter& who);
    /// The first in [from, to), which is taken out.
    template <typename Time>
    std::optional<std::string> take(Lists<Time>& lists, const Time& from, const Time& to);

    Lists<JournalTime> due_;
    Lists<Progress> seen_;
    Lists<TallyId> none_of_;
    Lists<Turn> turns_;
    std::size_t bytes_ = 0;
};

}  // namespace trueup::core
