// A dispatcher at work: a log, the two fakes, a clock that the test moves.
#pragma once

#include "engine/codec/outcome_codec.h"
#include "executors/dispatcher.h"
#include "tests/executors/execution_fixture.h"
#include "tests/support/keys.h"
#include "tests/support/memory_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trueup::executors::testing {

using trueup::testing::MemoryLog;

inline constexpr ports::Partition kCommands{Topic::kCommands, PartitionNumber(0)};
inline constexpr ports::Partition kOutcomes{Topic::kOutcomes, PartitionNumber(0)};

class DispatcherFixture {
  public:
    MemoryLog log;
    FakeCluster cluster;
    FakeDatabase database;
    DispatcherSettings settings;
    std::vector<ParkedCommand> parked;
    SteadyTime now = from_millis<SteadyTime>(5'000);

    DispatcherFixture() {
        settings.executor = "fixture";
        settings.command_keys = settings.request_keys = trueup::testing::test_keys();
        settings.on_parked = [this](const ParkedCommand& what) { parked.push_back(what); };
        cluster.pods["wrapper-a"] = {};
    }
    Dispatcher& dispatcher() {
        if (!dispatcher_) {
            dispatcher_ =
                std::make_unique<Dispatcher>(log, sources_of(cluster, database), settings);
        }
        return *dispatcher_;
    }
    void restart() { dispatcher_.reset(); }
    Command live(Command command) const {
        command.issued = log.now();
        command.not_after = log.now() + Millis(60'000);
        return command;
    }
    Command emit(Command command) {
        command = live(std::move(command));
        append(Topic::kCommands, trueup::testing::signed_bytes(command));
        return command;
    }
    /// What an operator asks for now.
    Request request(RequestKind kind) {
        Request made;
        made.id = RequestId({9, ++requests_});
        made.kind = kind;
        made.issued_by = "olga";
        made.issued_ms = to_millis(log.now());
        return made;
    }
    /// An operator's word, signed and in time.
    void say(RequestKind kind, const std::string& rule = {}, const std::string& subject = {}) {
        Request said = request(kind);
        said.scope.rule = rule;
        said.scope.subject = subject;
        append(Topic::kRequests, trueup::testing::signed_bytes(said));
    }
    void append(Topic topic, std::string value, std::string key = "graph/wrapper-a",
                std::int32_t partition = 0) {
        ASSERT_TRUE(append_now(log, {topic, PartitionNumber(partition)},
                               {{std::move(key), std::move(value), {}}})
                        .ok());
    }
    void pass(Millis time) {
        now += time;
        log.advance(time);
    }
    void step(int times = 12) {
        for (int i = 0; i < times; ++i) {
            dispatcher().step(now, Millis(0));
            pass(Millis(1));
        }
    }
    std::vector<Outcome> outcomes(std::int32_t partition = 0) const {
        std::vector<Outcome> found;
        for (const auto& record : log.records({Topic::kOutcomes, PartitionNumber(partition)})) {
            if (record.key == "!heartbeat") continue;
            found.push_back(codec::decode_outcome(record.value).value());
        }
        return found;
    }
    std::size_t heartbeats() const {
        std::size_t n = 0;
        for (const auto& record : log.records(kOutcomes)) {
            n += record.key == "!heartbeat" && record.value.empty() ? 1U : 0U;
        }
        return n;
    }

  private:
    std::uint64_t requests_ = 0;
    std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace trueup::executors::testing
