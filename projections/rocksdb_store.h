// The store of the projection in RocksDB (design §6): one column family, no write-ahead log. A
// small batch is one WriteBatch, a large one a sorted file that is ingested. What a crash loses the
// journal has; what is left is a prefix of the batches, because one column family flushes its
// memtables in order, each in one manifest edit, and before an ingested file that overlaps them.
//
// A key that one batch erases and puts holds the put value.
//
// A checkpoint shares its tables with this database (hard links), which never change: it costs
// little until compaction has replaced them. What ruins a table on the disk ruins it in both.
//
// Memory: `memory_bytes` covers memtables, blocks, indexes and filters. Only blocks that a read is
// using at the moment come on top.
//
// Errors of every call: kSkip when the database is damaged, and only then: set it aside and rebuild
// it from the journal; kRetry for the rest (disk full).
#pragma once

#include "engine/ports/store.h"

#include <cstddef>
#include <memory>
#include <string>

namespace trueup::projections {

/// Thread-safe for reads; one thread applies.
class RocksdbStore final : public ports::Store {
  public:
    struct Settings {
        std::string path;  ///< a folder of its own; made when it is not there
        std::size_t memory_bytes = std::size_t{64} << 20U;
    };

    /// kSkip: damaged, see `set_aside`. kStop: another process holds it.
    static Result<std::unique_ptr<RocksdbStore>> open(Settings settings);
    /// Renames the folder of a damaged database to `<path>.corrupt-<n>`, n from 1. The database is
    /// closed.
    static Status set_aside(const std::string& path);
    /// Puts a second image of a checkpoint at `path`, where nothing is. The checkpoint is left as
    /// it was.
    static Status put_in_place(const std::string& checkpoint, const std::string& path);

    /// Flushes what was applied.
    ~RocksdbStore() override;

    Result<std::optional<std::string>> get(std::string_view key) override;
    Result<std::vector<std::optional<std::string>>> get_many(
        const std::vector<std::string_view>& keys) override;
    Status each(std::string_view prefix, std::string_view after, std::size_t limit,
                const Visit& visit) override;
    Status apply(const ports::StoreBatch& batch) override;
    Status flush() override;
    Result<std::string> checkpoint(const std::string& folder, const NameImage& name) override;

  private:
    struct Rocks;
    explicit RocksdbStore(std::unique_ptr<Rocks> rocks);
    static Result<std::string> name_of(const std::string& image, const NameImage& name);
    std::unique_ptr<Rocks> rocks_;
};

}  // namespace trueup::projections
