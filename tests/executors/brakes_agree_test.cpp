// Proves executors/brakes.h against engine/core/requests.cpp (design §8): over any
// row of words, forged, late, repeated and far too many, the engine holds what executors refuse.
#include "executors/brakes.h"
#include "tests/executors/execution_fixture.h"
#include "tests/support/graph_script.h"
#include "tests/support/keys.h"
#include "tests/support/memory_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

namespace trueup::executors::testing {
namespace {

using trueup::testing::JournalScript;
using trueup::testing::MemoryLog;
using trueup::testing::quiet_world;
using trueup::testing::signed_bytes;
using trueup::testing::test_keys;

constexpr std::array<const char*, 3> kRules{"", "orphaned_pod", "missing_pod"};
constexpr std::array<const char*, 3> kPolicies{"", "graph-instances", "processors"};
constexpr std::array<const char*, 4> kSubjects{
    "graph-instances/wrapper-1", "graph-instances/wrapper-2", "processors/wrapper-1", "wrapper-1"};
constexpr std::array<RequestKind, 8> kKinds{
    RequestKind::kPause,     RequestKind::kResume,    RequestKind::kHold,    RequestKind::kRelease,
    RequestKind::kTerminate, RequestKind::kReconcile, RequestKind::kDismiss, RequestKind::kResume};

/// The same records for an engine and for an executor.
class Both {
  public:
    explicit Both(std::uint64_t seed) : random_(seed) {}

    void say() {
        Request said;
        if (!said_.empty() && chance(15)) {
            said = said_[below(said_.size())];  // recorded, and sent again
        } else {
            said.id = RequestId({1, said_.size() + 1});
            said.kind = kKinds[below(kKinds.size())];
            said.scope.rule = kRules[below(kRules.size())];
            if (chance(30)) said.scope.policy = kPolicies[below(kPolicies.size())];
            if (chance(60)) said.scope.subject = kSubjects[below(kSubjects.size())];
            if (said.kind == RequestKind::kRelease && chance(20)) said.scope.source = "pods";
            said.issued_by = chance(70) ? "alice" : "olga";
            said.issued_ms = to_millis(trueup::testing::broker(engine.now()));
            if (chance(15)) said.issued_ms -= 600'000;
            said_.push_back(said);
        }
        engine.request(said);
        log.set_now(trueup::testing::broker(engine.now()));
        ASSERT_TRUE(ports::append_now(log, {Topic::kRequests, PartitionNumber(0)},
                                      {{"", signed_bytes(said), {}}})
                        .ok());
    }

    void expect_agreement(const Brakes& brakes) {
        Command command = delete_orphan();
        command.policy = "graph-instances";
        command.issued = log.now() + Millis{1};
        for (const char* rule : {"orphaned_pod", "missing_pod"}) {
            for (const char* name : {"wrapper-1", "wrapper-2"}) {
                command.rule = rule;
                command.subject = std::string("graph-instances/") + name;
                const Subject* subject = engine.subject(name);
                const bool held = subject != nullptr && subject->held;
                EXPECT_EQ(brakes.against(command, PartitionNumber(0)).has_value(),
                          held || paused(rule))
                    << rule << " " << name << " after " << said_.size() << " words";
            }
        }
    }

    JournalScript engine = quiet_world();
    MemoryLog log;

  private:
    bool paused(std::string_view rule) {
        const RuleNumber number = engine.state().plan->rule(rule);
        const auto& pauses = engine.meta().pauses;
        return std::any_of(pauses.begin(), pauses.end(), [&](const core::Pause& pause) {
            return pause.rule == core::kEveryRule || pause.rule == number;
        });
    }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
    bool chance(std::size_t percent) { return below(100) < percent; }

    std::mt19937_64 random_;
    std::vector<Request> said_;
};

TEST(BrakesAgree, AnExecutorRefusesWhatTheEngineHoldsAndNothingElse_S40) {
    const char* wanted = std::getenv("SEED");
    const std::uint64_t seed =
        wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : std::random_device{}();
    SCOPED_TRACE("SEED=" + std::to_string(seed) + " executors_brakes_agree_test");
    Both both(seed);
    Brakes brakes(both.log, {PartitionNumber(0)}, test_keys());
    for (int i = 0; i < 3'000 && !::testing::Test::HasFailure(); ++i) {
        // A flood at first, so that quotas and memories are full; then as people ask.
        if (i > 1'500) both.engine.quiet_until(both.engine.now() + Millis{1'000 * (i % 7)});
        both.say();
        brakes.step();
        both.expect_agreement(brakes);
    }
    Brakes late(both.log, {PartitionNumber(0)}, test_keys());
    late.step();
    both.expect_agreement(late);
}

}  // namespace
}  // namespace trueup::executors::testing
