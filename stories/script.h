// Writes a shard's journal like a story and folds it as it goes.
//
// `Script s(settings)` begins with genesis and settings at 0 s; `s.all_known()` gives each source
// an owner and an empty epoch; `s.quiet_until(100s)` has all of them heard; `s.seen(…)` shows an
// object. What came of it is in `s.news()`: "100s suspected orphaned_pod wrapper-7 a: grace", a
// line each.
//
// Each call is one journal record, unless it is made inside `together`. Everything passes through
// the codecs, so what is tested is what travels. The records are kept for replays (replay.h).
//
// Times are counted from the first record. Journal time is the same number as long as no step is
// longer than `max_clock_step`. Not thread-safe.
#pragma once

#include "engine/codec/journal_codec.h"
#include "engine/core/fold.h"
#include "stories/manner.h"
#include "stories/news.h"
#include "stories/recorded.h"
#include "stories/times.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::stories {

/// An object of any source.
struct Seen {
    std::string source;
    std::string name;  ///< the subject's, without the policy; `!source/object`: a reference
    std::string id;
    Version version;
    std::string object;
    bool listed = false;  ///< an item of the open epoch
};

/// Who writes a source, and how far it counted.
struct Owner {
    Incarnation token = kNoOffset;
    std::uint64_t next_seq = 1;
    std::uint64_t epoch = 0;
    std::uint64_t listed = 0;  ///< items of the open epoch
    Millis clock{0};           ///< how far its own clock is ahead of the broker's
};

/// The same, but an empty first snapshot is right: most stories begin in an empty world. All rules
/// are enabled.
Settings begun_empty(Settings settings);

class Script {
  public:
    explicit Script(Settings settings, std::uint64_t journal = 1, Manner manner = {},
                    std::int32_t shards = 1);

    // Time.
    Script& at(Millis since);  ///< the next record's append time; no record by itself
    Script& tick();
    /// Every source with an owner reports its progress each 5 s, up to and at `until`.
    Script& quiet_until(Millis until);
    /// Ticks each 5 s, nobody says anything.
    Script& silent_until(Millis until);
    Millis now() const { return now_; }

    // Sources.
    Incarnation own(const std::string& source);                      ///< a new incarnation
    void known(const std::string& source, std::uint64_t as_of = 1);  ///< own it, an empty epoch
    void all_known();                                                ///< both, in one record
    void begin(const std::string& source, std::uint64_t as_of, bool rewound = false);
    void end(const std::string& source);  ///< with the right count
    void end(const std::string& source, std::uint64_t count);
    void progress(const std::string& source, Millis complete_as_of);
    void progress(const std::string& source) { progress(source, now_); }
    void alive(const std::string& source);
    /// An epoch lists it without its content, which was told under `base`.
    void same(const Seen& object, std::uint64_t base);
    void hole(const std::string& source, std::uint64_t width = 1);  ///< skips numbers; no record
    Owner& owner(const std::string& source) { return owners_[source]; }

    // Objects.
    void seen(const Seen& object);
    void gone(const Seen& object);  ///< its fields do not matter

    // Outcomes, settings and foul play.
    void outcome(const Command& command, OutcomeKind kind, bool retryable = false);
    /// `after`: where those were that their writer knew; none given: those in force.
    void put_in_force(const Settings& settings, std::optional<Offset> after = std::nullopt);
    /// Signed and in time; `id` and `issued_ms` are given by the script where they are 0.
    void request(Request request);
    /// What came of the last request.
    const core::Answered& answered() const { return state_.meta.answered.back(); }
    void change(const std::string& source, ChangeView change);  ///< envelope added
    void raw(Topic topic, std::string bytes);
    void together(const std::function<void()>& calls);  ///< all of it is one record
    void lose_next(int items) { lose_ = items; }        ///< read, but never journaled
    /// Appends what came after `after`, up to and with `upto`, in one record.
    void again(Topic topic, Offset after, Offset upto);
    void again(Topic topic, Offset after) { again(topic, after, last_offset(topic)); }
    void repeat_last();                     ///< the last record once more
    void append(std::string record);        ///< as it is
    Offset last_offset(Topic topic) const;  ///< of that input

    // What came of it.
    const core::FoldReport& last() const { return last_; }
    const std::vector<FindingEdge>& findings() const { return findings_; }
    const std::vector<Command>& commands() const { return commands_; }
    const std::vector<core::Gap>& gaps() const { return gaps_; }
    const std::vector<core::Parked>& parked() const { return parked_; }
    /// Edges and commands since the last call, a line each: `160s commanded orphaned_pod wrapper-7
    /// a`, `160s delete_pod wrapper-7 a`; a reason or an emission beyond the first follows.
    std::string news();
    /// The same, each with what its command does.
    std::vector<News> take_news() { return std::exchange(news_, {}); }

    core::State& state() { return state_; }
    const core::Meta& meta() const { return state_.meta; }
    const core::SourceState& source(const std::string& name) const;
    const core::Counters& counted() const { return state_.meta.counters; }
    const Subject* subject(std::string_view name);
    const Facet* facet(std::string_view name, std::string_view object_id);
    const std::vector<Recorded>& records() const { return records_; }
    const Settings& settings() const { return settings_; }

  private:
    struct Input {
        Offset prev = kNoOffset;
        Offset offset = kNoOffset;
        BrokerTime append_time{};
        std::string bytes;
        bool authentic = false;
    };

    std::string key_of(std::string_view name) const;
    Topic topic_of(const std::string& source) const;
    void fold(std::string record);
    Offset enter(Topic topic, std::string bytes, bool authentic = false);
    void flush();

    Settings settings_;
    Manner manner_;
    core::State state_;
    codec::JournalRecordBuilder record_;
    int depth_ = 0;
    int lose_ = 0;
    std::uint64_t requests_ = 0;
    Millis now_{0};
    std::map<std::string, Owner> owners_;
    std::array<std::vector<Input>, kTopics> inputs_;
    std::vector<Recorded> records_;
    core::FoldReport last_;
    std::vector<FindingEdge> findings_;
    std::vector<Command> commands_;
    std::vector<core::Gap> gaps_;
    std::vector<core::Parked> parked_;
    std::vector<News> news_;
};

}  // namespace trueup::stories
