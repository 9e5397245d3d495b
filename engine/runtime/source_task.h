// Publishes for one source: drives its connector's machine and gives every fact its envelope.
//
// One task is one incarnation at a time. It appends a token-less IncarnationStart, takes that
// record's offset as token, and only then lets the machine read the source. Every record that it
// writes to a partition has the next seq of that partition; if an append fails for good, the
// incarnation ends, so progress is never reported over a hole (design §4.2, §4.3).
//
// Several tasks may publish for one source. The one that began last owns it. Another one finds that
// out by the records between its own, and stands by: it reads nothing of the source, and begins
// anew once the owner has said nothing for `timeout`. So a source is silent no longer than that,
// also when the token that counts is one that nobody uses, of an append that came late.
//
// What an epoch lists as this incarnation told it last is told as the same: two ids and two
// versions instead of the whole object.
//
// Not thread-safe: one thread owns task, machine and port.
#pragma once

#include "engine/base/id.h"
#include "engine/base/result.h"
#include "engine/model/change.h"
#include "engine/model/fact.h"
#include "engine/ports/connector.h"
#include "engine/ports/log.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trueup::runtime {

struct SourceTaskSettings {
    std::string source;
    Topic topic = Topic::kUnspecified;
    std::int32_t partitions = 1;
    std::uint64_t nonce_seed = 0;     ///< makes this process's nonces its own
    std::uint64_t mapping = 0;        ///< by what its connector reads; see trueup::SourceSettings
    Millis backoff{500};              ///< before a new incarnation after a failed append
    Millis timeout{45'000};           ///< how long an owner may be silent: three of its heartbeats
    std::size_t most_told = 500'000;  ///< objects that it remembers having told, 90 bytes each
};

class SourceTask {
  public:
    SourceTask(SourceTaskSettings settings, ports::Log& log, ports::Connector& connector);

    /// One round: starts an incarnation if there is none, lets the machine work (waiting at most
    /// `max_wait`), appends its facts. Errors are kRetry: call again.
    Status step(SteadyTime now, Millis max_wait);

    /// Everything is to be listed again, and told in full: somebody missed something. What the
    /// connector lists again of itself is told as the same, where it is.
    void list_again();

    /// Waits for what is under way. For a clean stop.
    Status drain();

    /// Another task owns the source.
    bool stands_by() const { return owner_ >= kFirstOffset; }

    Incarnation incarnation() const { return incarnation_; }
    std::uint64_t incarnations() const { return incarnations_; }
    std::uint64_t published() const { return published_; }

  private:
    struct Flight {
        std::unique_ptr<ports::PendingAppend> append;
        PartitionNumber partition;
        std::uint64_t records = 0;
        bool marker = false;        ///< its append time is what the machine waits for
        std::uint64_t confirm = 0;  ///< to be confirmed once this and all before are durable
    };

    struct Place {
        std::size_t operator()(const Hash128& hash) const { return hash.lo; }
    };
    /// What the log has of one object, by this incarnation.
    struct Told {
        Version version;
        Hash128 content;          ///< none where it was not told whole, or is gone
        std::uint64_t epoch = 0;  ///< the last one that listed it
        bool missed = false;      ///< by somebody, perhaps
    };

    Status begin();
    void claim(SteadyTime now);
    Result<Incarnation> take_token();
    Status settle(SteadyTime now, bool wait);
    void mark(ChangeView change);
    void confirm(std::uint64_t what);
    void flush();
    void end_incarnation(SteadyTime now);
    std::string nonce(std::uint64_t incarnation) const;
    bool is_ours(std::string_view said) const;
    void note_place(const ports::Appended& place);
    Status look_at_others(SteadyTime now);
    Status listen(SteadyTime now, Millis max_wait);
    Status pause_after(const Status& failed, Millis max_wait);
    Status read_others(Offset end, SteadyTime now);

    // source_changes.cpp
    void publish(const Fact& fact);
    void begin_epoch(ChangeView change, bool rewound);
    void end_epoch(ChangeView change);
    void upsert(ChangeView change, bool in_epoch);
    void shorten(ChangeView& change, bool in_epoch);
    void bury(const ChangeView& change);
    void make_room();
    void add(PartitionNumber partition, ChangeView change);
    void add_everywhere(ChangeView change);

    SourceTaskSettings settings_;
    ports::Log& log_;
    ports::Connector& connector_;
    Incarnation incarnation_ = kNoOffset;
    std::uint64_t incarnations_ = 0;
    bool claimed_ = false;  ///< its first records are in the log
    std::uint64_t published_ = 0;
    std::uint64_t epoch_ = 0;
    SteadyTime not_before_{};
    // Of partition 0, where tokens lie.
    Offset expected_;                    ///< where our next record goes, if nobody else writes
    Offset read_from_;                   ///< what others wrote was looked at up to here
    Offset read_to_;                     ///< and is still to be looked at up to here
    Incarnation owner_ = kNoOffset;      ///< the one that we stand by for
    SteadyTime heard_{};                 ///< when it last said something
    std::vector<std::uint64_t> seq_;     ///< last one used, per partition
    std::vector<std::uint64_t> counts_;  ///< items of the running epoch, per partition
    std::uint64_t listed_ = 0;           ///< objects of the running epoch
    std::unordered_map<Hash128, Told, Place> told_;  ///< by object and subject
    std::vector<std::vector<ports::Entry>> batch_;
    std::deque<Flight> flights_;
    std::vector<Fact> facts_;
};

}  // namespace trueup::runtime
