// One shard over an embedded log (or one that is given) and a RocksDB store in a folder, its memory
// shared out as `trueup` shares it out, and driven as `trueup` drives it.
#pragma once

#include "benchmarks/load.h"
#include "connectors/embedded/embedded_log.h"
#include "engine/ports/store.h"
#include "engine/runtime/shard.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trueup::bench {

struct EngineSettings {
    std::string folder;
    std::size_t memory = std::size_t{512} << 20U;
    bool fsync = true;
    Mode mode = Mode::kObserve;
};

class Engine {
  public:
    explicit Engine(const EngineSettings& settings);
    Engine(const EngineSettings& settings, std::unique_ptr<ports::Log> log);

    ports::Log& log() { return *log_; }
    ports::Store& store() { return *store_; }
    runtime::Shard& shard() { return *shard_; }
    /// Opens the store and the shard; until then only the log is there.
    void open();
    /// One round, and a wait when there is nothing to do.
    void step();
    /// Publishes, writes behind, flushes.
    void stop();
    /// Closes store and shard and opens them again, which checks every row against the digest.
    void reopen();

  private:
    EngineSettings settings_;
    std::unique_ptr<ports::Log> log_;
    std::unique_ptr<ports::Store> store_;
    std::unique_ptr<runtime::Shard> shard_;
};

/// Appends inputs in units of up to `kUnit` records, several at once.
class Feeder {
  public:
    static constexpr std::size_t kUnit = 1'000;
    explicit Feeder(ports::Log& log) : log_(log) {}
    void add(Input input);
    /// Waits until everything is durable.
    void finish();

  private:
    void send(Topic topic);
    void settle(std::size_t most);

    ports::Log& log_;
    std::array<std::vector<ports::Entry>, kTopics> waiting_;
    std::vector<std::unique_ptr<ports::PendingAppend>> pending_;
};

}  // namespace trueup::bench
