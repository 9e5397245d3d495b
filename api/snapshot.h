// What the HTTP side shows: plain values that the process hands over, so that no route reaches into
// the engine.
#pragma once

#include "api/source_view.h"
#include "engine/base/id.h"
#include "engine/model/exports.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::api {

struct RuleView {
    std::string rule;
    std::string mode;
    std::string does;  ///< what is done about a finding; empty: it only reports
    std::uint64_t detected = 0;
    std::uint64_t commands = 0;
    std::uint64_t retracted = 0;
    std::uint64_t mended = 0;                 ///< findings that a command put right
    std::uint64_t budget_left = 0;            ///< commands that it may still issue in this window
    std::array<std::uint64_t, 6> outcomes{};  ///< by OutcomeKind
    std::string text = {};      ///< what it means, 32 hex digits; empty: it left the policy
    bool enabled = false;       ///< that was looked at and enabled, in every shard that runs here
    bool former = false;        ///< another text of it was
    bool shown = false;         ///< a reconcile has ended since it means this
    std::int64_t waits_ms = 0;  ///< grace and create window
};

/// An operator's pause that is in force.
struct PauseView {
    std::string rule;  ///< empty: all rules
    std::string by;
    std::string comment;
    std::int64_t since_ms = 0;  ///< since 1970
};

/// One shard that runs here.
struct ShardView {
    PartitionNumber index;
    std::int64_t now_ms = 0;  ///< watched time since the journal began
    Offset seen = kNoOffset;  ///< the offset of its journal that this look is as of
};

/// Records of one partition that the engine has still to take in.
struct LagView {
    std::string topic;
    PartitionNumber partition;
    std::int64_t records = 0;
};

struct NamedCount {
    std::string name;
    std::uint64_t value = 0;
};

/// The name of those that count objects with a word that the policy does not list: `label` is the
/// role then, `word` the field.
inline constexpr std::string_view kUnknownWords = "unknown_words";

/// What a policy counts; of a count with a number for each word of a field, one of these.
struct TallyView {
    std::string name;
    std::string label;  ///< the field; empty: there is one number
    std::string word;
    std::uint64_t value = 0;
};

struct Snapshot {
    std::string version;
    std::string policy;         ///< its name
    std::string configuration;  ///< that on disk is another one, and what to do; empty: it is not
    std::string left_out;       ///< why the policy does not run at all; empty: it does
    std::string starting;       ///< what the start waits for, or does; empty: it is over
    std::string refused;        ///< why the shard does not emit; empty: it does
    std::string log_trouble;    ///< why the log does not answer; empty: it does
    std::string executor_trouble;  ///< why the executors read nothing; empty: they do
    bool caught_up = false;
    std::uint64_t active_shards = 0;  ///< shards that are sequenced and published here
    Offset journal_offset = kNoOffset;
    double journal_time_seconds = 0;
    std::uint64_t subjects = 0;
    std::uint64_t open_findings = 0;
    std::array<std::uint64_t, 5> endings{};  ///< under way, by Ending::Stage
    std::uint64_t endings_stuck = 0;         ///< of these, without progress for 15 minutes
    std::uint64_t outbox = 0;
    std::vector<TallyView> tallies;          ///< what the policy counts over all subjects
    policy::Exports exports;                 ///< further names of what it finds and counts
    std::vector<std::string> count_reasons;  ///< of findings that wait for one of these
    std::uint64_t passes = 0;                ///< completed
    double pass_seconds = 0;                 ///< that all of them took
    std::vector<std::int64_t> pass_bounds_ms;
    std::vector<std::uint64_t> pass_counts;  ///< per bucket, one more than bounds
    double pass_started_seconds = 0;         ///< since 1970, of the one that is running; 0: none is
    std::vector<PauseView> pauses;           ///< of operators, in force
    std::vector<ShardView> shards;           ///< that run here
    std::int32_t partitions = 1;             ///< shards in all, wherever they run
    std::uint64_t cached_bytes = 0;
    Offset checkpoint_offset = kNoOffset;     ///< -1: there is none
    double checkpoint_timestamp_seconds = 0;  ///< since 1970; where there is one
    Offset journal_begin = kNoOffset;         ///< the oldest offset that is left; -1: not known
    std::int64_t log_bytes = -1;              ///< on the disk here; -1: it lies elsewhere
    std::int64_t state_free_bytes = -1;       ///< of the disk of the state folder; -1: not known
    std::vector<LagView> lags;                ///< of what this process reads, as last measured
    std::vector<SourceView> sources;
    std::vector<RuleView> rules;
    std::vector<NamedCount> fold_counters;      ///< journal-derived
    std::vector<NamedCount> executor_counters;  ///< of this process
    std::uint64_t blocked_commands = 0;         ///< checked, and waiting for the permit to write
    std::uint64_t executor_partitions = 0;      ///< whose commands the executors here carry out
    std::vector<std::int64_t> check_to_write_bounds_ms;
    std::vector<std::uint64_t> check_to_write_counts;  ///< per bucket, one more than bounds
    double check_to_write_sum_seconds = 0;

    /// Empty when ready; otherwise one sentence that says what is missing.
    std::string not_ready() const;
    /// The same for strangers: no name, no host, and no word of a server.
    std::string not_ready_in_short() const;
    /// What is worth a look though nothing is missing, a line each.
    std::string remarks() const;

  private:
    /// In short, and as a sentence; both are empty when ready.
    std::pair<std::string, std::string> why_not() const;
};

}  // namespace trueup::api
