// Proves apps/one_look.h over the sandbox's servers: one look reads everything there is, whatever a
// first answer lacks, writes nothing, and a server that does not answer is said in one sentence.
#include "apps/one_look.h"

#include "policies/shipped.h"
#include "sandbox/wiring/sandbox_wiring.h"
#include "sandbox/world.h"
#include "tests/support/manual_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace trueup::apps {
namespace {

using sandbox::Failure;
using sandbox::Op;

constexpr const char* kSelector = "app=ryugraph-wrapper";

class OneLook : public ::testing::Test {
  protected:
    static sandbox::WorldSettings settings() {
        sandbox::WorldSettings made;
        made.block_in_poll = false;
        made.evaluate_key = sandbox::evaluate_key;
        return made;
    }

    OneLook() {
        for (int i = 0; i < 9; ++i) {
            const std::string slug = "s" + std::to_string(i);
            pods.insert("wrapper-" + slug);
            world.create_pod("wrapper-" + slug, {{"app", "ryugraph-wrapper"}}, "Running");
            world.insert_row(
                {{"url_slug", slug}, {"status", "running"}, {"pod_name", "wrapper-" + slug}});
        }
        world.create_pod("stranger", {{"app", "other"}}, "Running");
    }

    Result<Look> look_at_pods() {
        const auto cluster = world.cluster();
        return look_at(*cluster, sandbox::sandbox_pods(kSelector), watcher, clock);
    }
    Result<Look> look_at_rows() {
        const auto database = world.database();
        return look_at(*database, sandbox::sandbox_rows(), watcher, clock);
    }

    static std::set<std::string> names(const Look& look) {
        std::set<std::string> names;
        for (const Fact& fact : look.facts) {
            const std::size_t slash = fact.subject_key.find('/');
            if (slash != std::string::npos) names.insert(fact.subject_key.substr(slash + 1));
        }
        return names;
    }

    testing::ManualClock clock{1'700'000'000'000, Millis(20)};  // time passes with each look
    sandbox::World world{7, clock, settings()};
    std::set<std::string> pods;
    Watcher watcher = [](const std::string&, std::uint64_t) { return true; };
};

TEST_F(OneLook, BothSidesAreReadWholeAndNothingIsWritten) {
    const Result<Look> seen = look_at_pods();
    const Result<Look> said = look_at_rows();
    ASSERT_TRUE(seen.ok()) << seen.error().what;
    ASSERT_TRUE(said.ok()) << said.error().what;
    EXPECT_EQ(names(*seen), pods);
    EXPECT_EQ(names(*said), pods);
    EXPECT_EQ(seen->objects(), 9U);
    EXPECT_EQ(seen->clock_ahead, std::nullopt);
    ASSERT_TRUE(said->clock_ahead.has_value());
    EXPECT_LT(abs(*said->clock_ahead), Millis{1'000});
    EXPECT_TRUE(world.effects().empty());
    const auto database = world.database();
    database->drop_slot(1, "trueup_rows");
    std::vector<ports::DatabaseEvent> events;
    database->poll(Millis{0}, events);
    EXPECT_EQ(events.back().kind, ports::DatabaseEvent::Kind::kEnd) << "no slot was left";
}

TEST_F(OneLook, AndIsWhatTheRulesJudge) {
    world.create_pod("orphan", {{"app", "ryugraph-wrapper"}}, "Running");
    world.delete_row("1");
    Settings settings = policies::usual_settings("graph-instances", Mode::kEnforce);
    const Rehearsed result = rehearse(settings, {*look_at_pods(), *look_at_rows()},
                                      from_millis<BrokerTime>(clock.wall_millis()));
    EXPECT_EQ(result.of_rule("orphaned_pod"), 2U);
    EXPECT_EQ(result.proposals.size(), 2U);
    EXPECT_EQ(result.subjects, 10U);
    EXPECT_FALSE(result.quarantined());
}

TEST_F(OneLook, AFirstListThatIsCutOrShortOrEmptyIsNotTheAnswer) {
    for (const Failure::Kind kind : {Failure::Kind::kCutBody, Failure::Kind::kNotJson,
                                     Failure::Kind::kShortPage, Failure::Kind::kEmptyList}) {
        world.fail_next(Op::kList, Failure::of(kind));
        const Result<Look> seen = look_at_pods();
        ASSERT_TRUE(seen.ok()) << seen.error().what;
        EXPECT_EQ(names(*seen), pods) << static_cast<int>(kind);
    }
}

TEST_F(OneLook, AServerThatFailsIsSaidInOneSentence) {
    world.fail_next(Op::kList, Failure::http(403), 9);
    const Result<Look> seen = look_at_pods();
    ASSERT_FALSE(seen.ok());
    EXPECT_EQ(seen.error().next, Next::kRetry);
    EXPECT_NE(seen.error().what.find("source pods: "), std::string::npos) << seen.error().what;
    EXPECT_NE(seen.error().what.find("403"), std::string::npos) << seen.error().what;
    world.fail_no_more();
    world.fail_next(Op::kCopy, Failure::sql("57014"));
    const Result<Look> said = look_at_rows();
    ASSERT_FALSE(said.ok());
    EXPECT_NE(said.error().what.find("source rows: copy of public.instances"), std::string::npos)
        << said.error().what;
}

TEST_F(OneLook, ACopyThatDoesNotGoOnEndsWithASentence) {
    world.fail_next(Op::kCopy, Failure::of(Failure::Kind::kHang));
    const Result<Look> said = look_at_rows();
    ASSERT_FALSE(said.ok());
    EXPECT_EQ(said.error().what,
              "source rows: the copy cannot begin; a long-running transaction keeps its slot from "
              "being created");
}

TEST_F(OneLook, EndsWhenItIsToldTo) {
    watcher = [](const std::string&, std::uint64_t) { return false; };
    EXPECT_EQ(look_at_pods().error().next, Next::kStop);
    EXPECT_EQ(look_at_rows().error().next, Next::kStop);
}

}  // namespace
}  // namespace trueup::apps
