#include "engine/runtime/relay.h"

#include "engine/base/failpoint.h"
#include "engine/codec/cloud_events.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/finding_codec.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace trueup::runtime {

namespace {

constexpr std::size_t kLookBytes = std::size_t{1} << 20U;
constexpr int kMostPages = 64;               // of one look
constexpr std::int64_t kFarBehind = 50'000;  // records

}  // namespace

/// Whoever publishes does so in order, and commands before findings: where a finding is, everything
/// before it is.
bool Relay::Seen::proves(const Emissions& of_record) const {
    if (of_record.journal != journal) return false;
    if (of_record.offset != offset) return of_record.offset < offset;
    const auto& findings = of_record.findings;
    return findings.empty() || findings[findings.size() - 1].index <= index;
}

Status Relay::resume() {
    const auto extent = log_.describe({Topic::kFindings, partition_});
    if (!extent) return extent.error();
    // Kafka's offsets may skip, and what is there need not be ours: look back until a finding
    // comes.
    Offset from = look_from_ = extent->next_offset;
    for (std::int64_t back = 1; from > extent->first_offset; back *= 2) {
        from = look_from_ = std::max(extent->first_offset, further(extent->next_offset, -back));
        if (Status read = read_findings(); !read) return read;
        if (seen_.offset >= kFirstOffset) break;
    }
    const Result<bool> ours = is_of_this_journal(seen_);
    if (!ours) return ours.error();
    if (!*ours) seen_ = {};
    return Done{};
}

/// Not if the journal lost its tail since: other records have those offsets then.
Result<bool> Relay::is_of_this_journal(const Seen& seen) {
    const ports::Partition journal{Topic::kJournal, partition_};
    const auto extent = log_.describe(journal);
    if (!extent) return extent.error();
    if (seen.offset < extent->first_offset) return true;  // nobody can tell any more
    if (seen.offset >= extent->next_offset) return false;
    const auto fetched = log_.read(journal, seen.offset, 1);
    if (!fetched) return fetched.error();
    if (fetched->records.empty()) return false;
    const ports::Record& record = fetched->records.front();
    return record.offset == seen.offset && record.append_time == seen.append_time;
}

Status Relay::read_findings() {
    for (int pages = 0; pages < kMostPages; ++pages) {
        const auto page = log_.read({Topic::kFindings, partition_}, look_from_, kLookBytes);
        if (!page) return page.error();
        if (page->records.empty()) break;
        for (auto record = page->records.rbegin(); record != page->records.rend(); ++record) {
            const auto edge = codec::decode_finding(record->value);
            if (!edge) continue;
            seen_ = {edge->journal_id, edge->offset, edge->index, edge->append_time};
            break;
        }
        look_from_ = page->next_offset;
    }
    return Done{};
}

Status Relay::look() {
    const auto extent = log_.describe({Topic::kFindings, partition_});
    if (!extent) return extent.error();
    // Very far back it would take long, and the next finding says as much. What retention took, or
    // a topic that was made anew, proves nothing.
    const std::int64_t behind = distance(look_from_, extent->next_offset);
    const bool there = look_from_ >= extent->first_offset && behind >= 0 && behind <= kFarBehind;
    if (!there) look_from_ = extent->next_offset;
    if (Status read = read_findings(); !read) return read;
    const auto kept = std::find_if(offered_.begin(), offered_.end(),
                                   [&](const Emissions& one) { return !seen_.proves(one); });
    for (auto one = offered_.begin(); one != kept; ++one) offered_count_ -= one->count();
    offered_.erase(offered_.begin(), kept);
    overdue_ = !offered_.empty() && offered_.front().offset <= newest_at_look_;
    if (!offered_.empty()) newest_at_look_ = offered_.back().offset;
    return Done{};
}

void Relay::offer(const JournalId& journal, Offset offset, core::FoldReport& report) {
    if (spare_.empty()) spare_.emplace_back();
    Emissions& made = spare_.back();
    made.journal = journal;
    made.offset = offset;
    std::swap(made.commands, report.commands);
    std::swap(made.findings, report.findings);
    if (made.count() == 0 || seen_.proves(made)) {
        made.commands.clear();
        made.findings.clear();
        return;
    }
    offered_count_ += made.count();
    offered_.push_back(std::move(made));
    spare_.pop_back();
}

Relay::Batch Relay::encode(std::vector<Emissions> offered) const {
    Batch batch;
    for (Emissions& of_record : offered) {
        for (const Command& command : of_record.commands) {
            std::string bytes = codec::encode_command(command);
            keys_.sign(codec::kCommandSignature, bytes);
            batch.commands.push_back(
                {command.subject, std::move(bytes), codec::headers_for(command)});
        }
        for (const FindingEdge& edge : of_record.findings) {
            batch.findings.push_back(
                {to_hex(edge.id), codec::encode_finding(edge), codec::headers_for(edge, headers_)});
        }
        of_record.commands.clear();
        of_record.findings.clear();
    }
    batch.spent = std::move(offered);
    return batch;
}

void Relay::start_encoding() {
    if (encoding_.valid() || offered_.empty()) return;
    const std::launch how = offered_count_ < kMany ? std::launch::deferred : jobs_;
    encoding_count_ = std::exchange(offered_count_, 0);
    encoded_ = false;
    encoding_ = std::async(how, [this, how, offered = std::exchange(offered_, {})]() mutable {
        Batch batch = encode(std::move(offered));
        // Said before the future has it: who is woken by this must not find it still under way.
        encoded_ = true;
        if (how != std::launch::deferred) log_.wake();
        return batch;
    });
}

/// False: there is none, or it is still being encoded.
bool Relay::take_batch(bool wait) {
    start_encoding();
    if (!encoding_.valid()) return false;
    const bool under_way =
        encoding_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout && !encoded_;
    if (under_way && !wait) return false;
    Batch batch = encoding_.get();
    encoding_count_ = 0;
    overdue_ = false;
    std::move(batch.spent.begin(), batch.spent.end(), std::back_inserter(spare_));
    spare_.resize(std::min(spare_.size(), kMostSpare));
    batch_topic_ = batch.commands.empty() ? Topic::kFindings : Topic::kCommands;
    batch_ = std::move(batch.commands);
    batch_findings_ = std::move(batch.findings);
    if (batch_.empty()) batch_ = std::exchange(batch_findings_, {});
    if (offered_count_ >= kMany && !deferred_) start_encoding();  // while this one is appended
    return true;
}

void Relay::start(bool wait) {
    if (offered_count_ >= kMany && !deferred_) start_encoding();
    if (pending_) return;
    if (batch_.empty() && !batch_findings_.empty()) {
        batch_ = std::exchange(batch_findings_, {});
        batch_topic_ = Topic::kFindings;
    }
    const bool wanted = wait || !deferred_ || overdue_ || full() || encoding_.valid();
    if (batch_.empty() && !(wanted && take_batch(wait))) return;
    pending_ = log_.append({batch_topic_, partition_}, batch_);
}

Status Relay::settle_pending() {
    const auto appended = pending_->take();
    pending_.reset();
    if (!appended) return appended.error();  // an unknown result is tried again: ids tell twins
    if (batch_topic_ == Topic::kCommands) TRUEUP_FAILPOINT("relayed");
    published_ += batch_.size();
    batch_ = {};
    return Done{};
}

Status Relay::step() {
    for (;;) {
        start(false);
        if (!pending_ || !pending_->ready()) return Done{};
        if (Status settled = settle_pending(); !settled) return settled;
    }
}

Status Relay::drain() {
    for (;;) {
        start(true);
        if (!pending_) return Done{};
        if (Status settled = settle_pending(); !settled) return settled;
    }
}

}  // namespace trueup::runtime
