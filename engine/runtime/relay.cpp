#include "engine/runtime/relay.h"

#include "engine/base/kill_point.h"
#include "engine/codec/cloud_events.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/finding_codec.h"

#include <algorithm>
#include <utility>

namespace trueup::runtime {

Status Relay::resume() {
    const ports::Partition findings{Topic::kFindings, partition_};
    const auto extent = log_.describe(findings);
    if (!extent) return extent.error();
    // Kafka's offsets may skip: look back until a record comes.
    std::int64_t from = extent->next_offset;
    for (std::int64_t back = 1; from > extent->first_offset; back *= 2) {
        from = std::max(extent->first_offset, extent->next_offset - back);
        const auto fetched = log_.read(findings, from, 1);
        if (!fetched) return fetched.error();
        if (fetched->records.empty()) continue;
        // `read` gives at least one record; walk to the newest.
        std::int64_t next = from;
        for (;;) {
            const auto page = log_.read(findings, next, std::size_t{1} << 20U);
            if (!page) return page.error();
            if (page->records.empty()) return Done{};
            const auto edge = codec::decode_finding(page->records.back().value);
            if (edge) from_ = edge->offset;
            next = page->next_offset;
        }
    }
    return Done{};
}

void Relay::offer(std::int64_t journal_offset, core::FoldReport& report) {
    if (journal_offset < from_) return;
    for (const Command& command : report.commands) {
        std::string bytes = codec::encode_command(command);
        keys_.sign(codec::kCommandSignature, bytes);
        commands_.push_back({command.subject, std::move(bytes), codec::headers_for(command)});
    }
    for (const FindingEdge& edge : report.findings) {
        findings_.push_back(
            {to_hex(edge.id), codec::encode_finding(edge), codec::headers_for(edge)});
    }
}

void Relay::start() {
    if (pending_) return;
    if (batch_.empty()) {
        if (!batch_findings_.empty()) {
            batch_ = std::exchange(batch_findings_, {});
            batch_topic_ = Topic::kFindings;
        } else if (!commands_.empty()) {
            batch_ = std::exchange(commands_, {});
            batch_findings_ = std::exchange(findings_, {});
            batch_topic_ = Topic::kCommands;
        } else if (!findings_.empty()) {
            batch_ = std::exchange(findings_, {});
            batch_topic_ = Topic::kFindings;
        } else {
            return;
        }
    }
    pending_ = log_.append({batch_topic_, partition_}, batch_);
}

Status Relay::settle_pending() {
    const auto appended = pending_->take();
    pending_.reset();
    if (!appended) return appended.error();  // an unknown result is tried again: ids tell twins
    if (batch_topic_ == Topic::kCommands) TRUEUP_KILL_POINT("relayed");
    published_ += batch_.size();
    batch_.clear();
    return Done{};
}

Status Relay::step() {
    for (;;) {
        start();
        if (!pending_ || !pending_->ready()) return Done{};
        if (Status settled = settle_pending(); !settled) return settled;
    }
}

Status Relay::drain() {
    for (;;) {
        start();
        if (!pending_) return Done{};
        if (Status settled = settle_pending(); !settled) return settled;
    }
}

}  // namespace trueup::runtime
