// The disk of one engine: what of its projection outlives its process, and the store over it.
//
// A crash takes back the last batches that were applied and not flushed, none to all of them, each
// whole (engine/ports/store.h, T1 and T2). Checkpoints are not simulated.
#pragma once

#include "engine/ports/store.h"
#include "simulation/crash_point.h"
#include "simulation/random.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::simulation {

class Disk {
  public:
    using Rows = std::map<std::string, std::string, std::less<>>;

    const Rows& rows() const { return rows_; }
    /// The process died: what was on its way may be there or not.
    void crash(Random& random);
    /// Another, empty disk.
    void wipe();
    /// While true nothing can be written.
    void fill_up(bool full) { full_ = full; }
    bool full() const { return full_; }

  private:
    friend class DiskStore;
    using Before = std::vector<std::pair<std::string, std::optional<std::string>>>;

    Rows rows_;
    std::deque<Before> batches_;  ///< what the last ones replaced
    bool full_ = false;
};

/// Lives as long as its process. Not thread-safe.
class DiskStore final : public ports::Store {
  public:
    DiskStore(Disk& disk, CrashPoint& life) : disk_(disk), life_(life) {}

    Result<std::optional<std::string>> get(std::string_view key) override;
    Result<std::vector<std::optional<std::string>>> get_many(
        const std::vector<std::string_view>& keys) override;
    Status each(std::string_view prefix, std::string_view after, std::size_t limit,
                const Visit& visit) override;
    Status apply(const ports::StoreBatch& batch) override;
    Status flush() override;
    Result<std::string> checkpoint(const std::string& folder, const NameImage& name) override;

  private:
    Disk& disk_;
    CrashPoint& life_;
};

}  // namespace trueup::simulation
