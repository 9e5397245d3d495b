// The shard's rows in a store: how they are keyed, read ahead, written behind and loaded again.
//
// Keys: shard (2 bytes, big-endian), a table tag (1 byte), then the row's own key:
//   'm' meta (one row)   't' the text of its policy (one row, written when it changes)
//   's' subjects by subject key   'p' parked items by topic and offset
// One batch holds the rows and the meta row that names their journal offset, so what is found after
// a crash is a consistent prefix of the journal.
//
// A batch is applied on a thread of its own, one at a time, while the shard folds on; whoever needs
// rows from the store waits for it.
//
// Not thread-safe: the shard's thread owns it.
#pragma once

#include "engine/base/result.h"
#include "engine/core/fold.h"
#include "engine/ports/store.h"

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::runtime {

class Projection final : public core::Rows {
  public:
    /// `store` must outlive the projection. `jobs`: deferred has batches applied by whoever asks.
    Projection(ports::Store& store, PartitionNumber shard, std::launch jobs = std::launch::async);

    /// What the meta row says. nullopt: nothing was written yet. kSkip: it cannot be read.
    Result<std::optional<core::Meta>> meta();
    /// The same, once the rows were held against its digest. Ends with kRetry when `stop`, which is
    /// asked now and then, says so.
    Result<core::Meta> verified(const std::function<bool()>& stop);

    /// Fills an empty state from the rows: meta, waits, and a check of the digest over every row.
    /// kSkip: the rows are damaged; set them aside and fold the journal from its start.
    /// `budget`: subjects are kept in memory up to about this many bytes. `visit` sees each
    /// subject.
    Status load(core::State& state, std::size_t budget,
                const std::function<void(const Subject&)>& tell = {});

    /// Begins to write everything dirty and the meta row in one batch, once the batch before is
    /// there. `parked` goes with it.
    Status write_behind(core::State& state, std::vector<core::Parked>& parked);
    /// Is the last batch still being applied?
    bool writing() const;
    /// Waits for the last batch. After an error the rows in memory count as written though they are
    /// not: the state is of no more use.
    Status settle();
    /// How the batches ended whose answer is in; the first error stays.
    const Status& written() const { return written_; }

    /// Reads the cold subjects that the record's changes name, all at once.
    Status read_ahead(core::State& state, const JournalView& record);

    /// How reading went since the start; the first error stays. Behind it the state is of no more
    /// use: what could not be read was folded as if it was not there. Nothing is written any more.
    const Status& read() const { return read_; }

    // core::Rows. A fold cannot stop half-way, so a row that cannot be read is none to it, and
    // after a batch that failed the rows are older than they should be: look at `read` and
    // `written` behind the fold, before anything that it said is used.
    std::optional<std::string> load(std::string_view key) override;
    void load_many(const std::vector<std::string_view>& keys,
                   const core::Rows::VisitRow& visit) override;
    void each_after(std::string_view after, std::size_t limit,
                    const core::Rows::Visit& visit) override;

    std::uint64_t rows_written() const { return rows_written_; }

  private:
    using Check = std::function<Status(std::string_view subject_key, std::string_view bytes)>;
    std::string key(char table, std::string_view rest) const;
    Result<Shared<policy::Policy>> text();
    Status get_many(const std::vector<std::string_view>& keys, const core::Rows::VisitRow& visit);
    void note(const Error& error);
    Status add_up(const core::Meta& meta, const Check& check);

    ports::Store& store_;
    std::string prefix_;      ///< the shard's two bytes
    std::uint64_t rows_ = 0;  ///< subjects in the store
    std::uint64_t rows_written_ = 0;
    const std::launch jobs_;
    ports::StoreBatch batch_;      ///< of the last write: its memory is used again
    Shared<policy::Policy> text_;  ///< that is in the store
    std::future<Status> writing_;
    Status written_ = Done{};
    Status read_ = Done{};
};

}  // namespace trueup::runtime
