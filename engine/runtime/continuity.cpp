#include "engine/runtime/continuity.h"

#include "engine/base/guard.h"
#include "engine/codec/journal_codec.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace trueup::runtime {

namespace {

Error stop(std::string what) { return {Next::kStop, Code::kLost, std::move(what)}; }

/// The Genesis in the journal's first record; nullopt: it has none.
Result<std::optional<Genesis>> genesis_of(ports::Log& log, ports::Partition journal) {
    const auto start = log.read(journal, kFirstOffset, 1);
    if (!start) return start.error();
    if (start->records.empty()) {
        return Error{Next::kRetry, Code::kUnavailable, "the journal cannot be read yet"};
    }
    JournalView view;
    const bool read =
        codec::decode_journal(start->records[0].value, kFirstOffset, BrokerTime{}, view).ok();
    return read ? view.genesis : std::optional<Genesis>();
}

/// There are no rows: the journal must tell whose it is before it tells anything else.
Status names_itself(ports::Log& log, ports::Partition journal, const ports::Extent& extent) {
    if (extent.first_offset > kFirstOffset || extent.next_offset == kFirstOffset) return Done{};
    const auto genesis = genesis_of(log, journal);
    if (!genesis) return genesis.error();
    if (*genesis) return Done{};
    return stop(
        "the journal does not begin with the record that names it: it was emptied or created again "
        "while an engine was running");
}

Error another_record(Offset offset) {
    return stop("the journal's record at offset " + std::to_string(offset.value()) +
                " is not the one that the rows were made from: they belong to another journal, or "
                "this one lost its tail and has grown since");
}

/// Is the record at this offset the one that is meant?
template <typename Meant>
Result<bool> is_there(ports::Log& log, ports::Partition journal, Offset offset,
                      const Meant& meant) {
    const auto read = log.read(journal, offset, 1);
    if (!read) return read.error();
    if (read->records.empty()) {
        return Error{Next::kRetry, Code::kUnavailable, "the journal cannot be read yet"};
    }
    return read->records[0].offset == offset && meant(read->records[0]);
}

Result<bool> is_there(ports::Log& log, ports::Partition journal, const RecordMark& mark) {
    return is_there(log, journal, mark.offset, [&mark](const ports::Record& record) {
        return codec::record_digest(record.value, record.append_time) == mark.digest;
    });
}

/// Rows of a build before this one know no digest of their last record, and its time instead.
Result<bool> is_there(ports::Log& log, ports::Partition journal, const core::Meta& rows) {
    if (rows.record != 0) return is_there(log, journal, RecordMark{rows.applied, rows.record});
    return is_there(log, journal, rows.applied, [&rows](const ports::Record& record) {
        return record.append_time == rows.broker_now;
    });
}

/// The record that was folded last must still be the one that it was. Another journal has another
/// Genesis; one that lost its tail and grew again has another record there, or at another time.
Status same_history(ports::Log& log, ports::Partition journal, const ports::Extent& extent,
                    const core::Meta& rows) {
    const auto last = is_there(log, journal, rows);
    if (!last) return last.error();
    bool same = *last;
    if (extent.first_offset == kFirstOffset) {
        const auto genesis = genesis_of(log, journal);
        if (!genesis) return genesis.error();
        same = same && (!*genesis || (*genesis)->journal_id == rows.journal_id);
    }
    if (same || !TRUEUP_GUARD("same_journal")) return Done{};
    return another_record(rows.applied);
}

}  // namespace

Status check_continuity(ports::Log& log, PartitionNumber shard, const core::Meta& rows) {
    const ports::Partition journal{Topic::kJournal, shard};
    const auto extent = log.describe(journal);
    if (!extent) return extent.error();
    const Offset applied = rows.applied;
    if (extent->first_offset > next(applied)) {
        const std::string rows_end = applied < kFirstOffset
                                         ? "there are no rows"
                                         : "the rows end at " + std::to_string(applied.value());
        return stop("the journal starts at offset " + std::to_string(extent->first_offset.value()) +
                    " and " + rows_end + ": retention deleted what lies between");
    }
    if (applied < kFirstOffset) return names_itself(log, journal, *extent);
    if (extent->next_offset <= applied) {
        return stop("the journal ends before offset " + std::to_string(applied.value()) +
                    ", up to which the rows go: the journal lost its tail");
    }
    if (extent->first_offset > applied) return Done{};  // the record itself is gone
    return same_history(log, journal, *extent, rows);
}

void Lineage::resume(const core::Meta& rows) {
    last_.clear();
    doubt_ = false;
    if (rows.applied >= kFirstOffset && rows.record != 0)
        last_.push_back({rows.applied, rows.record});
}

Status Lineage::settle() {
    if (!doubt_) return Done{};
    const RecordMark& ours = last_.back();
    const ports::Partition journal{Topic::kJournal, shard_};
    const auto extent = log_.describe(journal);
    if (!extent) return extent.error();
    if (extent->first_offset <= ours.offset) {  // else the journal begins behind our rows
        const auto there = is_there(log_, journal, ours);
        if (!there) return there.error();
        if (!*there && TRUEUP_GUARD("same_journal")) return another_record(ours.offset);
    }
    looked_again_ = ours.offset;
    doubt_ = false;
    return Done{};
}

Status Lineage::admit(const JournalView& record) {
    if (!record.folded || last_.empty() || looked_again_ == last_.back().offset) return Done{};
    if (*record.folded == last_.back()) return Done{};
    const Millis since(record.append_time - appended_);
    const bool at_once = since >= Millis{0} && since <= kElection;
    if (at_once && std::find(last_.begin(), last_.end(), *record.folded) != last_.end()) {
        return Done{};
    }
    doubt_ = true;
    return settle();
}

void Lineage::folded(const JournalView& record) {
    if (last_.size() == kKept) last_.pop_front();
    last_.push_back({record.offset, record.digest});
    appended_ = record.append_time;
}

}  // namespace trueup::runtime
