// An embedded log (embedded_log.h) as it was at one moment, for who only reads: also while the
// process that has it open goes on writing. Takes no lock and changes no file in the folder.
//
// What is appended after `open` is not seen, so nobody has to wait for anything. Appending and
// truncating are refused (kStop). A truncation by the writing process may take records away that
// this one has not read yet: such a read is an error, never an empty answer. Thread-safe.
#pragma once

#include "connectors/embedded/disk.h"
#include "connectors/embedded/tail.h"
#include "engine/ports/log.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace trueup::connectors {

class EmbeddedReader final : public ports::Log {
  public:
    /// `path`: the folder of the log itself. `memory_bytes`: as of the one who writes; what lies in
    /// the write-ahead log only comes on top, at most half as much again. kStop, with a sentence
    /// for the operator: there is none, it is damaged or of another format. kRetry: it changed
    /// again and again while it was being opened.
    static Result<std::unique_ptr<EmbeddedReader>> open(const std::string& path,
                                                        std::size_t memory_bytes);

    std::unique_ptr<ports::PendingAppend> append(ports::Partition partition,
                                                 const ports::Entries& entries) override;
    Result<ports::Fetched> read(ports::Partition partition, Offset offset,
                                std::size_t max_bytes) override;
    std::uint64_t changes_seen() const override { return 0; }
    void wait(std::uint64_t /*seen*/, Millis /*max_wait*/) override {}
    void wake() override {}
    Status truncate(ports::Partition partition, Offset offset) override;
    Result<ports::Extent> describe(ports::Partition partition) override;

  private:
    EmbeddedReader(std::unique_ptr<Disk> disk, Extents extents)
        : disk_(std::move(disk)), extents_(std::move(extents)) {}

    const std::unique_ptr<Disk> disk_;
    const Extents extents_;
};

}  // namespace trueup::connectors
