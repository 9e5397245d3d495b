// Publishes for one source: drives its connector's machine and gives every fact its envelope.
//
// One task is one incarnation at a time. It appends a token-less IncarnationStart, takes that
// record's offset as token, and only then lets the machine read the source. Every record that it
// writes to a partition has the next seq of that partition; if an append fails for good, the
// incarnation ends, so progress is never reported over a hole (design §4.2, §4.3).
//
// Not thread-safe: one thread owns task, machine and port.
#pragma once

#include "engine/base/result.h"
#include "engine/model/change.h"
#include "engine/ports/connector.h"
#include "engine/ports/log.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace trueup::runtime {

struct SourceTaskSettings {
    std::string source;
    Topic topic = Topic::kUnspecified;
    std::int32_t partitions = 1;
    std::uint64_t nonce_seed = 0;  ///< makes this process's nonces its own
    Millis backoff{500};           ///< before a new incarnation after a failed append
};

class SourceTask {
  public:
    SourceTask(SourceTaskSettings settings, ports::Log& log, ports::Connector& connector);

    /// One round: starts an incarnation if there is none, lets the machine work (waiting at most
    /// `max_wait`), appends its facts. Errors are kRetry: call again.
    Status step(SteadyTime now, Millis max_wait);

    /// Waits for what is under way. For a clean stop.
    Status drain();

    Incarnation incarnation() const { return incarnation_; }
    std::uint64_t incarnations() const { return incarnations_; }
    std::uint64_t published() const { return published_; }

  private:
    struct Flight {
        std::unique_ptr<ports::PendingAppend> append;
        std::uint64_t records = 0;
        bool marker = false;        ///< its append time is what the machine waits for
        std::uint64_t confirm = 0;  ///< to be confirmed once this and all before are durable
    };

    Status begin(SteadyTime now);
    Result<Incarnation> take_token();
    Status settle(SteadyTime now, bool wait);
    void publish(const Fact& fact);
    void add(std::int32_t partition, ChangeView change);
    void add_everywhere(ChangeView change);
    void upsert(ChangeView change, bool in_epoch);
    void flush();
    void end_incarnation(SteadyTime now);

    SourceTaskSettings settings_;
    ports::Log& log_;
    ports::Connector& connector_;
    Incarnation incarnation_ = -1;
    std::uint64_t incarnations_ = 0;
    std::uint64_t published_ = 0;
    std::uint64_t epoch_ = 0;
    SteadyTime not_before_{};
    std::vector<std::uint64_t> seq_;     ///< last one used, per partition
    std::vector<std::uint64_t> counts_;  ///< items of the running epoch, per partition
    std::vector<std::vector<ports::Entry>> batch_;
    std::deque<Flight> flights_;
    std::vector<Fact> facts_;
};

}  // namespace trueup::runtime
