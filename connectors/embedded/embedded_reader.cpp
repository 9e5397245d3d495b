#include "connectors/embedded/embedded_reader.h"

#include "engine/ports/append_answer.h"

#include <utility>
#include <vector>

namespace trueup::connectors {

namespace {

/// Files come and go while another process writes; a moment later they fit together.
constexpr int kAttempts = 10;

Error only_read() {
    return {Next::kStop, Code::kUnsupported, "this log was opened for reading only"};
}

}  // namespace

Result<std::unique_ptr<EmbeddedReader>> EmbeddedReader::open(const std::string& path,
                                                             std::size_t memory_bytes) {
    for (int attempt = 1;; ++attempt) {
        Result<std::unique_ptr<Disk>> disk = Disk::open_to_read(path, memory_bytes);
        Result<Extents> extents = disk.ok() ? (*disk)->extents() : Result<Extents>(disk.error());
        if (extents.ok()) {
            return std::unique_ptr<EmbeddedReader>(
                new EmbeddedReader(std::move(*disk), std::move(*extents)));
        }
        const Error& error = extents.error();
        const bool again = error.next == Next::kRetry || error.code == Code::kCorrupt;
        if (!again || attempt == kAttempts) return error;
    }
}

std::unique_ptr<ports::PendingAppend> EmbeddedReader::append(ports::Partition /*partition*/,
                                                             const ports::Entries& /*entries*/) {
    auto answer = std::make_shared<ports::AppendAnswer>();
    answer->give(only_read());
    return ports::pending(std::move(answer));
}

Result<ports::Fetched> EmbeddedReader::read(ports::Partition partition, Offset offset,
                                            std::size_t max_bytes) {
    const auto found = extents_.find(partition);
    const TimedExtent extent = found == extents_.end() ? TimedExtent{} : found->second;
    ports::Fetched out;
    out.next_offset = offset;
    if (offset < extent.first_offset) {
        return Error{Next::kStop, Code::kLost,
                     "offset " + std::to_string(offset.value()) +
                         " was truncated; the first one "
                         "is " +
                         std::to_string(extent.first_offset.value())};
    }
    if (offset >= extent.next_offset) return out;
    const Result<std::vector<BlockRef>> blocks =
        disk_->read(partition, offset, extent.next_offset, max_bytes);
    if (!blocks.ok()) return blocks.error();
    std::size_t taken = 0;
    for (const BlockRef& block : *blocks) {
        if (!add_records(block, offset, max_bytes, taken, out)) break;
    }
    return out;
}

Status EmbeddedReader::truncate(ports::Partition /*partition*/, Offset /*offset*/) {
    return only_read();
}

Result<ports::Extent> EmbeddedReader::describe(ports::Partition partition) {
    const auto found = extents_.find(partition);
    return found == extents_.end() ? ports::Extent{} : ports::Extent(found->second);
}

}  // namespace trueup::connectors
