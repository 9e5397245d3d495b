#include "connectors/embedded/embedded_log.h"

#include "connectors/embedded/writer.h"
#include "engine/base/check.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace trueup::connectors {

namespace {

std::string partition_name(ports::Partition partition) {
    return std::string(name_of(partition.topic)) + "/" + std::to_string(partition.index.value());
}

std::optional<Error> refusal(ports::Partition partition, const ports::Entries& entries) {
    std::size_t largest = 0;
    for (const ports::Entry& entry : entries) {
        largest = std::max(largest, entry.key.size() + entry.value.size());
    }
    if (largest > EmbeddedLog::kMaxRecordBytes) {
        return Error{Next::kSkip, Code::kTooLarge,
                     "a record of " + std::to_string(largest) + " bytes for " +
                         partition_name(partition) + " is above the limit of " +
                         std::to_string(EmbeddedLog::kMaxRecordBytes)};
    }
    if (const std::size_t size = packed_size(entries); size > EmbeddedLog::kMaxUnitBytes) {
        return Error{Next::kSkip, Code::kTooLarge,
                     "a unit of " + std::to_string(size) + " bytes for " +
                         partition_name(partition) + " is above the limit of " +
                         std::to_string(EmbeddedLog::kMaxUnitBytes)};
    }
    return std::nullopt;
}

Error below_first(ports::Partition partition, Offset offset, Offset first) {
    return {Next::kStop, Code::kLost,
            partition_name(partition) + ": offset " + std::to_string(offset.value()) +
                " was truncated; the first one is " + std::to_string(first.value())};
}

/// The block that holds `offset` and about `max_bytes` more; empty at the end of the partition.
Result<std::vector<BlockRef>> find_blocks(const Tail& tail, Disk& disk, ports::Partition partition,
                                          Offset offset, std::size_t max_bytes) {
    Tail::View view = tail.view(partition, offset, max_bytes);
    if (offset < view.extent.first_offset) {
        return below_first(partition, offset, view.extent.first_offset);
    }
    if (offset >= view.extent.next_offset || !view.blocks.empty()) return std::move(view.blocks);
    Result<std::vector<BlockRef>> blocks =
        disk.read(partition, offset, view.extent.next_offset, max_bytes);
    // A truncation may have overtaken us.
    const Offset first = tail.extent(partition).first_offset;
    if (!blocks.ok() && offset < first) return below_first(partition, offset, first);
    return blocks;
}

}  // namespace

EmbeddedLog::EmbeddedLog(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}
EmbeddedLog::~EmbeddedLog() = default;

Result<std::unique_ptr<EmbeddedLog>> EmbeddedLog::open(Settings settings) {
    TRUEUP_CHECK(settings.clock != nullptr);
    Result<std::unique_ptr<Disk>> disk =
        Disk::open(settings.path, settings.memory_bytes, settings.fsync);
    if (!disk.ok()) return disk.error();
    auto writer = std::make_unique<Writer>(std::move(disk).value(), std::move(settings));
    if (Status loaded = writer->load(); !loaded.ok()) return loaded.error();
    return std::unique_ptr<EmbeddedLog>(new EmbeddedLog(std::move(writer)));
}

std::unique_ptr<ports::PendingAppend> EmbeddedLog::append(ports::Partition partition,
                                                          const ports::Entries& entries) {
    TRUEUP_CHECK(!entries.empty());
    TRUEUP_CHECK(partition.topic != Topic::kUnspecified && partition.index.value() >= 0);
    auto answer = std::make_shared<ports::AppendAnswer>();
    Unit unit{partition, {}, refusal(partition, entries), answer, nullptr};
    if (!unit.refused) unit.packed = pack(entries);
    writer_->enqueue(std::move(unit));
    return ports::pending(std::move(answer));
}

Result<ports::Fetched> EmbeddedLog::read(ports::Partition partition, Offset offset,
                                         std::size_t max_bytes) {
    if (Status settled = writer_->settle(); !settled.ok()) return settled.error();
    const Result<std::vector<BlockRef>> blocks =
        find_blocks(writer_->tail(), writer_->disk(), partition, offset, max_bytes);
    if (!blocks.ok()) return blocks.error();
    ports::Fetched out;
    out.next_offset = offset;
    std::size_t taken = 0;
    for (const BlockRef& block : *blocks) {
        out.records.reserve(out.records.size() + static_cast<std::size_t>(block->count));
        if (!add_records(block, offset, max_bytes, taken, out)) break;
    }
    return out;
}

Result<Headers> EmbeddedLog::headers(ports::Partition partition, Offset offset) {
    if (Status settled = writer_->settle(); !settled.ok()) return settled.error();
    const Error none{
        Next::kSkip, Code::kNotFound,
        partition_name(partition) + " has no offset " + std::to_string(offset.value())};
    const ports::Extent extent = writer_->tail().extent(partition);
    if (offset < extent.first_offset) return none;
    const Result<std::vector<BlockRef>> blocks =
        find_blocks(writer_->tail(), writer_->disk(), partition, offset, 0);
    if (!blocks.ok()) return blocks.error();
    if (blocks->empty()) return none;
    return headers_of(*blocks->front(), offset);
}

bool EmbeddedLog::may_have(ports::Partition partition, Offset offset) {
    return writer_->doubtful() || offset < writer_->tail().extent(partition).next_offset;
}

std::uint64_t EmbeddedLog::changes_seen() const { return writer_->changes().seen(); }

void EmbeddedLog::wait(std::uint64_t seen, Millis max_wait) {
    writer_->changes().wait(seen, max_wait);
}

void EmbeddedLog::wake() { writer_->changes().signal(); }

std::unique_ptr<ports::Wakeup::Listener> EmbeddedLog::listen(std::function<void()> heard) {
    return writer_->changes().listen(std::move(heard));
}

void EmbeddedLog::begin_stop() { writer_->disk().hurry(); }

Status EmbeddedLog::truncate(ports::Partition partition, Offset offset) {
    return writer_->truncate(partition, offset);
}

Result<ports::Extent> EmbeddedLog::describe(ports::Partition partition) {
    if (Status settled = writer_->settle(); !settled.ok()) return settled.error();
    return ports::Extent(writer_->tail().extent(partition));
}

std::optional<std::uint64_t> EmbeddedLog::stored_bytes() const {
    std::error_code error;
    std::uint64_t bytes = 0;
    for (std::filesystem::directory_iterator file(writer_->path(), error), end;
         !error && file != end; file.increment(error)) {
        // One that compaction has taken away meanwhile takes nothing.
        std::error_code gone;
        const std::uintmax_t size = file->file_size(gone);
        if (!gone) bytes += size;
    }
    if (error) return std::nullopt;
    return bytes;
}

}  // namespace trueup::connectors
