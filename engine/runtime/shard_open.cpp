// A shard is opened: its rows are loaded, and its journal must go on from where they are.
#include "engine/base/check.h"
#include "engine/codec/journal_codec.h"
#include "engine/codec/settings_codec.h"
#include "engine/core/edges.h"
#include "engine/runtime/shard.h"

#include <utility>

namespace trueup::runtime {

namespace {

/// What an operator can do about rows that the journal does not go on from.
std::string way_out(const ports::Extent& extent) {
    if (extent.first_offset == kFirstOffset) {
        return "Restore the right journal, or move the shard's projection folder away: it is then "
               "rebuilt from a checkpoint or from the journal's start";
    }
    return "Put a checkpoint at offset " + std::to_string(previous(extent.first_offset).value()) +
           " or later into the checkpoints' folder and move the shard's projection folder away; "
           "without one, begin a new journal: an empty state_dir, or over Kafka another prefix";
}

}  // namespace

Shard::Shard(ShardSettings settings, ports::Log& log, ports::Store& store, ports::Clock& clock)
    : settings_(std::move(settings)),
      log_(log),
      store_(store),
      clock_(clock),
      projection_(store, settings_.shard, settings_.jobs),
      state_(projection_),
      sequencer_(log, settings_.shard, settings_.request_keys),
      relay_(log, settings_.shard, settings_.command_keys, settings_.jobs,
             settings_.finding_headers),
      lineage_(log, settings_.shard),
      active_(settings_.timeout) {
    // Else each record of a backlog would have the one before it read again.
    TRUEUP_CHECK(2 * settings_.in_flight <= Lineage::kKept);
}

Result<std::unique_ptr<Shard>> Shard::open(ShardSettings settings, ports::Log& log,
                                           ports::Store& store, ports::Clock& clock) {
    std::unique_ptr<Shard> shard(new Shard(std::move(settings), log, store, clock));
    Settings& policy = shard->settings_.policy;
    shard->state_.newest_logic = policy.logic;
    // In the journal it would halt every engine for good.
    if (std::string flaw =
            core::flaw_of(policy, shard->state_.newest_logic, shard->settings_.partitions);
        !flaw.empty()) {
        return Error{Next::kStop, Code::kConfiguration, "the configuration" + flaw};
    }
    // As the journal gives it back, to know it there.
    Result<Settings> read = codec::decode_settings(codec::encode_settings(policy));
    if (!read) return read.error();
    policy = *std::move(read);
    const auto tell = [&](const Subject& subject) { shard->tell_findings(subject); };
    if (Status loaded = shard->projection_.load(shard->state_, shard->settings_.cache_bytes, tell);
        !loaded) {
        return loaded.error();
    }
    shard->written_ = shard->state_.meta.applied;
    if (!shard->state_.halted.empty()) {
        return Error{Next::kStop, Code::kUnsupported, shard->state_.halted};
    }
    if (Status right = shard->check_journal(); !right) return right.error();
    if (Status ours = shard->check_partitions(); !ours) return ours.error();
    shard->lineage_.resume(shard->state_.meta);
    if (shard->settings_.lead) {
        if (Status known = shard->relay_.resume(); !known) return known.error();
    }
    const SteadyTime now = clock.steady_now();
    shard->last_record_ = shard->last_write_ = now;
    shard->publish_status();
    return shard;
}

/// What a stored subject has open, for whoever follows the findings.
void Shard::tell_findings(const Subject& subject) const {
    if (!settings_.on_finding || state_.plan == nullptr) return;
    FindingEdge edge;
    for (const Finding& finding : subject.findings) {
        if (finding.dismissed) continue;
        core::fill_edge(state_.meta, *state_.plan, subject, finding, edge);
        edge.opened = true;  // for those who have heard nothing of it
        settings_.on_finding(edge, nullptr);
    }
}

/// What contradicts the rows is told with what can be done about it.
Error Shard::with_way_out(const Error& error) {
    if (error.next != Next::kStop) return error;
    const auto extent = log_.describe({Topic::kJournal, settings_.shard});
    return extent ? Error{Next::kStop, error.code, error.what + ". " + way_out(*extent)} : error;
}

/// Does the journal go on from where the rows are? One that nobody has written to begins here.
Status Shard::check_journal() {
    const ports::Partition journal{Topic::kJournal, settings_.shard};
    const auto extent = log_.describe(journal);
    if (!extent) return extent.error();
    if (extent->next_offset > kFirstOffset || state_.meta.applied >= kFirstOffset) {
        Status goes_on = check_continuity(log_, settings_.shard, state_.meta);
        if (goes_on) return goes_on;
        return with_way_out(goes_on.error());
    }
    if (!settings_.lead) return Done{};
    if (settings_.new_journal_id.none()) {
        return Error{Next::kStop, Code::kLost,
                     "the journal of shard " + std::to_string(settings_.shard.value()) +
                         " is empty, not even its first record is there; `trueup "
                         "topics create` begins it"};
    }
    codec::JournalRecordBuilder record;
    record.set_genesis({settings_.new_journal_id, settings_.partitions, settings_.shard});
    std::vector<ports::Entry> entries;
    entries.push_back({{}, record.take()});
    const auto appended = ports::append_now(log_, journal, entries);
    if (!appended) return appended.error();
    return Done{};
}

/// Which subjects are this shard's depends on how many shards there are.
Status Shard::check_partitions() const {
    const core::Meta& meta = state_.meta;
    if (meta.journal_id.none() || meta.partitions == settings_.partitions) return Done{};
    return Error{Next::kStop, Code::kConfiguration,
                 "the journal of shard " + std::to_string(settings_.shard.value()) + " is one of " +
                     std::to_string(meta.partitions) + ", and this engine is to run shards of " +
                     std::to_string(settings_.partitions) + "; write bus.kafka.partitions: " +
                     std::to_string(meta.partitions) + ", or use another prefix"};
}

}  // namespace trueup::runtime
