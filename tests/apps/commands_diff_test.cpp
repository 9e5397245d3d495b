// Proves apps/commands_diff.h: a recorded journal, folded under two texts, tells the commands that
// only one of them leads to; what operators decided stays in force, and a text that means the same
// orders the same. The journals are written by the product's own fold (stories/script.h).
#include "apps/commands_diff.h"

#include "apps/config/policy_file.h"
#include "apps/recorded_journal.h"
#include "connectors/embedded/embedded_log.h"
#include "engine/model/object_builder.h"
#include "policies/shipped.h"
#include "stories/script.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_log.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {
namespace {

using namespace std::chrono_literals;
using stories::begun_empty;
using stories::broker;
using stories::Recorded;
using stories::Script;
using testing::MemoryLog;

constexpr const char* kText = R"(policy: small
language: 1
subject: a pod
roles:
  pods: {kind: pod, key: name, fields: {phase: [Pending, Running, Failed]}}
  rows:
    kind: row
    key: pod
    live: {status: up}
    fields: {pod: text, status: [up, down], owner: text}
rules:
  orphan:
    finds: pod without a row
    when: {pods: one, rows: none}
    since: first_seen
    grace: 1m
    acknowledge: [keyless]
    do: {delete: pods, grace_period: 30s}
  failed:
    finds: row of a pod that failed
    when: {pods: {one: {phase: Failed}}, rows: {one: {status: up}}}
    do: {update: rows, set: {status: down}}
)";

using Edits = std::vector<std::pair<std::string, std::string>>;

Shared<policy::Policy> parsed(const Edits& edits) {
    std::string text = kText;
    for (const auto& [from, to] : edits) {
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    }
    auto file = config::parse_policy(text, "small.yaml");
    if (!file) throw std::logic_error(file.error().what);
    return file->policy;
}

/// Both rules in that mode, all enabled.
Settings settings_of(Mode mode = Mode::kEnforce) {
    return begun_empty(policies::usual_settings(parsed({}), mode));
}

std::string pod_object(const std::string& name, const std::string& phase) {
    return ObjectBuilder().add("name", name).add("namespace", "jobs").add("phase", phase).take();
}
std::string row_object(const std::string& pod, const std::string& status,
                       const std::string& owner) {
    return ObjectBuilder().add("owner", owner).add("pod", pod).add("status", status).take();
}

/// A quiet world at 100 s.
Script quiet_world(Settings settings = settings_of()) {
    Script s(std::move(settings));
    s.all_known();
    s.quiet_until(100s);
    return s;
}
void show_pod(Script& s, const std::string& phase, std::uint64_t version = 11) {
    s.seen({"pods", "w-7", "a", {version, 0}, pod_object("w-7", phase)});
}
void show_row(Script& s, const std::string& status, const std::string& owner,
              std::uint64_t version) {
    s.seen({"rows", "w-7", "public.rows/7", {version, 0}, row_object("w-7", status, owner)});
}
/// The pod comes at 100 s and goes again, and nobody owns it.
Script orphan_until(Millis until, Settings settings = settings_of()) {
    Script s = quiet_world(std::move(settings));
    show_pod(s, "Running");
    s.quiet_until(until);
    s.gone({"pods", "w-7", "a", {12, 0}, {}});
    s.quiet_until(until + 100s);
    return s;
}

constexpr ports::Partition kJournal{Topic::kJournal, PartitionNumber(0)};

void write(const std::vector<Recorded>& records, MemoryLog& log) {
    for (const Recorded& record : records) {
        log.set_now(record.append_time);
        EXPECT_TRUE(ports::append_now(log, kJournal, {{{}, record.bytes}}));
    }
}

bool go_on(std::uint64_t /*records*/) { return true; }

Result<CommandsDiff> compared(const Script& s, const Edits& before, const Edits& now) {
    MemoryLog log;
    write(s.records(), log);
    return commands_that_differ(log, {"old.yaml", parsed(before)}, {"new.yaml", parsed(now)},
                                go_on);
}

CommandsDiff diff(const Script& s, const Edits& before, const Edits& now) {
    auto all = compared(s, before, now);
    EXPECT_TRUE(all) << all.error().what;
    return all ? *std::move(all) : CommandsDiff{};
}

std::string error_of(const Script& s, const Edits& before, const Edits& now) {
    const auto all = compared(s, before, now);
    return all ? "there was none" : all.error().what;
}

bool notes(const CommandsDiff& diff, const std::string& part) {
    return std::any_of(diff.notes.begin(), diff.notes.end(), [&](const std::string& note) {
        return note.find(part) != std::string::npos;
    });
}

const Edits kFailedOnly{{"{pods: one, rows: none}", "{pods: {one: {phase: Failed}}, rows: none}"},
                        {"[keyless]", "[keyless, blind_seen]"}};

TEST(CommandsDiff, OfTextsThatMeanTheSameThereAreNone) {
    const Script s = orphan_until(200s);
    ASSERT_EQ(s.commands().front().issued, broker(160s));
    const CommandsDiff all = diff(s, {}, {{"finds: pod without a row", "finds: a stray pod"}});
    EXPECT_TRUE(all.none());
    EXPECT_EQ(all.before, 1U);
    EXPECT_EQ(all.now, 1U);
    EXPECT_EQ(all.both, 1U);
    EXPECT_EQ(all.records, s.records().size());
    EXPECT_TRUE(all.enabled.empty());
    EXPECT_TRUE(all.notes.empty()) << all.notes.front();
    EXPECT_EQ(commands_text(all).find("counterfactual"), std::string::npos);
}

TEST(CommandsDiff, WhatOnlyOneTextOrdersIsSaidWithItsTime) {
    const Script s = orphan_until(200s);
    const CommandsDiff less = diff(s, {}, kFailedOnly);
    ASSERT_EQ(less.only_before.size(), 1U);
    EXPECT_TRUE(less.only_now.empty());
    const Ordered& order = less.only_before.front();
    EXPECT_EQ(order.rule, "orphan");
    EXPECT_EQ(order.subject, "small/w-7");
    EXPECT_EQ(order.source, "pods");
    EXPECT_EQ(order.target, "a");
    EXPECT_EQ(order.action, "delete_pod");
    EXPECT_EQ(order.at, broker(160s));
    EXPECT_EQ(less.enabled, std::set<std::string>{"orphan"});
    const std::string text = commands_text(less);
    EXPECT_NE(text.find("orphan small/w-7: delete_pod w-7 (uid a, 30 s to end)\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("1 command under OLD, 0 under NEW: 0 under both, 1 only under OLD (-), 0 "
                        "only under NEW (+)\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("this is counterfactual"), std::string::npos);
    const auto json = commands_json(less);
    EXPECT_EQ(json["only_old"][0]["target"], "a");
    EXPECT_EQ(json["counterfactual_from"], json["only_old"][0]["at"]);

    const CommandsDiff more = diff(s, kFailedOnly, {});
    EXPECT_TRUE(more.only_before.empty());
    EXPECT_EQ(more.only_now.size(), 1U);
    EXPECT_TRUE(notes(more, "old.yaml is not what the journal had in force"));
}

TEST(CommandsDiff, AnotherActionIsAnotherCommand) {
    const CommandsDiff all =
        diff(orphan_until(200s), {}, {{"grace_period: 30s", "grace_period: 31s"}});
    EXPECT_EQ(all.only_before.size(), 1U);
    EXPECT_EQ(all.only_now.size(), 1U);
}

// Nothing else would ever differ: a changed rule is enabled by nobody.
// Two texts of which one takes away what an object owns, and the other leaves it, gave the same
// commands.
TEST(CommandsDiff, WhatBecomesOfWhatAnObjectOwnsIsPartOfTheCommand) {
    const Edits object{{"kind: pod", "kind: object"}, {", grace_period: 30s", ""}};
    Edits orphaning = object;
    orphaning.back().second = ", propagation: orphan";
    const Settings settings = begun_empty(policies::usual_settings(parsed(object), Mode::kEnforce));
    const CommandsDiff all = diff(orphan_until(300s, settings), object, orphaning);
    EXPECT_EQ(all.both, 0U);
    ASSERT_EQ(all.only_before.size(), 1U);
    ASSERT_EQ(all.only_now.size(), 1U);
    EXPECT_EQ(all.only_now.front().text, all.only_before.front().text + ", propagation orphan");
}

TEST(CommandsDiff, ARuleThatChangedCountsAsEnabledUnderBoth) {
    Settings settings = settings_of();
    settings.enabled_by.clear();
    const Script s = orphan_until(200s, settings);
    ASSERT_TRUE(s.commands().empty());
    const CommandsDiff changed = diff(s, {}, kFailedOnly);
    EXPECT_EQ(changed.only_before.size(), 1U);
    const CommandsDiff same = diff(s, {}, {});
    EXPECT_EQ(same.before, 0U) << "what did not change was not enabled";
}

TEST(CommandsDiff, WhatWasEnabledAndDisabledByARequestStaysSo) {
    Settings settings = settings_of();
    settings.enabled_by.clear();
    settings.reconcile_every = 30s;
    Script s = quiet_world(settings);
    Request disable;
    disable.kind = RequestKind::kDisable;
    disable.role = "admin";
    disable.rules = {{"orphan", {}}};
    s.request(disable);
    show_pod(s, "Running");
    s.quiet_until(200s);
    EXPECT_EQ(diff(s, {}, kFailedOnly).before, 0U) << "a person disabled it";
    Request enable = disable;
    enable.kind = RequestKind::kEnable;
    const core::Plan& plan = *s.state().plan;
    enable.rules = {{"orphan", plan.rules[plan.rule("orphan").value()].text}};
    enable.seen = {s.meta().applied};
    s.request(enable);
    ASSERT_TRUE(s.answered().granted) << s.answered().sentence;
    s.quiet_until(205s);  // before it is said once more
    ASSERT_EQ(s.commands().size(), 1U);
    EXPECT_EQ(diff(s, {}, {}).both, 1U);
    const Edits other{{"grace_period: 30s", "grace_period: 31s"}};
    const CommandsDiff all = diff(s, {}, other);
    EXPECT_EQ(all.before, 1U);
    EXPECT_EQ(all.now, 1U) << "the enabling is of the rule, whatever its text is here";
}

TEST(CommandsDiff, APauseOfTheJournalHoldsUnderBoth) {
    Script s = quiet_world();
    Request pause;
    pause.kind = RequestKind::kPause;
    pause.role = "ops";
    s.request(pause);
    show_pod(s, "Running");
    s.quiet_until(300s);
    const CommandsDiff all = diff(s, {}, kFailedOnly);
    EXPECT_EQ(all.before + all.now, 0U);
}

TEST(CommandsDiff, ARuleThatOnlyObservedOrdersNothingAndThatIsSaid) {
    const CommandsDiff all = diff(orphan_until(200s, settings_of(Mode::kObserve)), {}, kFailedOnly);
    EXPECT_TRUE(all.none());
    EXPECT_TRUE(
        notes(all,
              "off or in mode observe all the time, so that they order nothing here: failed, "
              "orphan"));
}

TEST(CommandsDiff, ARuleThatIsNewIsJudgedAsOneThatActs) {
    const Edits without{{R"(  orphan:
    finds: pod without a row
    when: {pods: one, rows: none}
    since: first_seen
    grace: 1m
    acknowledge: [keyless]
    do: {delete: pods, grace_period: 30s}
)",
                         ""}};
    Script s(begun_empty(policies::usual_settings(parsed(without), Mode::kObserve)));
    s.all_known();
    s.quiet_until(100s);
    show_pod(s, "Running");
    s.quiet_until(200s);
    EXPECT_EQ(diff(s, without, {}).only_now.size(), 1U);
    EXPECT_EQ(diff(orphan_until(200s), {}, without).only_before.size(), 1U) << "and one that left";
}

// A grace of the text is the text's; one that an operator set is the operator's.
TEST(CommandsDiff, TimesOfTheTextFollowItAndThoseOfTheOperatorStay) {
    const Edits longer{{"grace: 1m", "grace: 3m"}};
    const CommandsDiff later = diff(orphan_until(400s), {}, longer);
    EXPECT_TRUE(later.none()) << "ordered later is ordered all the same";
    EXPECT_EQ(later.both, 1U);
    EXPECT_EQ(diff(orphan_until(200s), {}, longer).only_before.size(), 1U) << "it was gone by then";
    Settings own = settings_of();
    policies::rule_settings(own, "orphan").grace = 45s;
    EXPECT_EQ(diff(orphan_until(200s, own), {}, longer).both, 1U);
}

TEST(CommandsDiff, WhatIsTriedAgainIsOneCommand) {
    Script s = quiet_world();
    show_pod(s, "Running");
    s.quiet_until(165s);
    s.outcome(s.commands().back(), OutcomeKind::kFailed, true);
    s.quiet_until(300s);
    ASSERT_GT(std::count_if(s.commands().begin(), s.commands().end(),
                            [](const Command& each) { return each.emission == 1; }),
              1);
    EXPECT_EQ(diff(s, {}, {}).both, 1U);
    EXPECT_EQ(diff(s, {}, kFailedOnly).only_before.size(), 1U);
}

// The same row is put right twice; a text that does so once has left one out.
TEST(CommandsDiff, TheSameCommandTwiceIsTwoCommands) {
    Script s = quiet_world();
    show_pod(s, "Failed");
    std::uint64_t version = 20;
    for (const char* owner : {"ann", "bob"}) {
        show_row(s, "up", owner, ++version);
        s.quiet_until(s.now() + 50s);
        s.outcome(s.commands().back(), OutcomeKind::kDone);
        show_row(s, "down", owner, ++version);
        s.quiet_until(s.now() + 50s);
    }
    const CommandsDiff all =
        diff(s, {}, {{"rows: {one: {status: up}}}", "rows: {one: {status: up, owner: ann}}}"}});
    EXPECT_EQ(all.before, 2U);
    EXPECT_EQ(all.both, 1U);
    EXPECT_EQ(all.only_before.size(), 1U);
    EXPECT_TRUE(all.only_now.empty());
}

TEST(CommandsDiff, RolesAreToldByTheirNames) {
    const std::string pods =
        "  pods: {kind: pod, key: name, fields: {phase: [Pending, Running, Failed]}}\n";
    const Edits moved{{pods, ""}, {"rules:\n", pods + "rules:\n"}};
    const CommandsDiff all = diff(orphan_until(200s), {}, moved);
    EXPECT_TRUE(all.none());
    EXPECT_EQ(all.both, 1U);
}

TEST(CommandsDiff, WhatWasNotRecordedIsSaid) {
    const CommandsDiff all =
        diff(orphan_until(200s), {}, {{"owner: text}", "owner: text, at: text}"}});
    EXPECT_TRUE(notes(all, "new.yaml reads rows.at, which may not be in the journal"));
}

TEST(CommandsDiff, TextsThatAJournalCannotTellApartAreRefused) {
    const Script s = orphan_until(200s);
    EXPECT_NE(error_of(s, {}, {{"key: pod\n", "key: coalesce(pod, owner)\n"}})
                  .find("the role rows has another key in new.yaml than in old.yaml"),
              std::string::npos);
    EXPECT_NE(
        error_of(s, {}, {{"policy: small", "policy: large"}}).find("old.yaml is policy small"),
        std::string::npos);
    EXPECT_NE(
        error_of(s, {{"policy: small", "policy: large"}}, {{"policy: small", "policy: large"}})
            .find("the journal is of policy small"),
        std::string::npos);
    const Edits asks{
        {"rules:\n", "  nodes: {kind: row, key: name, fields: {name: text}}\nrules:\n"},
        {"rows: none}", "rows: none, nodes: none}"}};
    EXPECT_NE(error_of(s, {}, asks)
                  .find("new.yaml has the role nodes, which no source of the "
                        "journal plays"),
              std::string::npos)
        << error_of(s, {}, asks);
}

TEST(CommandsDiff, AJournalThatCannotBeFoldedIsRefusedWithWhatToDo) {
    const OtherText text{"old.yaml", parsed({})};
    MemoryLog empty;
    EXPECT_NE(commands_that_differ(empty, text, text, go_on).error().what.find("is empty"),
              std::string::npos);
    MemoryLog cut;
    write(orphan_until(200s).records(), cut);
    EXPECT_TRUE(cut.truncate(kJournal, Offset(5)));
    EXPECT_NE(commands_that_differ(cut, text, text, go_on).error().what.find("begins at offset 5"),
              std::string::npos);
    Settings later = settings_of();
    later.logic = kLogic + 1;
    const std::string logic = error_of(Script(later), {}, {});
    EXPECT_NE(logic.find("logic version"), std::string::npos) << logic;
    MemoryLog strange;
    EXPECT_TRUE(ports::append_now(strange, kJournal, {{{}, "no journal record"}}));
    EXPECT_EQ(commands_that_differ(strange, text, text, go_on).error().next, Next::kStop);
    MemoryLog whole;
    write(orphan_until(200s).records(), whole);
    const auto stopped =
        commands_that_differ(whole, text, text, [](std::uint64_t) { return false; });
    EXPECT_EQ(stopped.error().code, Code::kCancelled);
}

TEST(CommandsDiff, NothingIsLeftBehindHoweverItEnds) {
    const testing::TempDir dir;
    const char* const before = std::getenv("TMPDIR");
    const std::string former = before == nullptr ? "" : before;
    ASSERT_EQ(::setenv("TMPDIR", dir.path().c_str(), 1), 0);
    const Script s = orphan_until(200s);
    EXPECT_TRUE(compared(s, {}, {}));
    const Edits large{{"policy: small", "policy: large"}};
    EXPECT_FALSE(compared(s, large, large));
    EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
    if (before == nullptr) {
        ::unsetenv("TMPDIR");
    } else {
        ::setenv("TMPDIR", former.c_str(), 1);
    }
}

TEST(CommandsDiff, AnEngineMayRunOverTheJournalMeanwhile) {
    const testing::TempDir dir;
    const std::string folder = dir / "policies/small";
    std::filesystem::create_directories(folder);
    testing::ManualClock clock(to_millis(broker(0s)));
    auto running = connectors::EmbeddedLog::open(
        {.path = folder + "/log", .fsync = false, .clock = &clock, .memory_bytes = 1U << 20U});
    ASSERT_TRUE(running) << running.error().what;
    const Script s = orphan_until(200s);
    for (const Recorded& record : s.records()) {
        clock.advance(record.append_time - from_millis<BrokerTime>(clock.wall_millis()));
        ASSERT_TRUE(ports::append_now(**running, kJournal, {{{}, record.bytes}}));
    }
    for (const std::string& named : {dir.path(), folder, folder + "/log"}) {
        const auto log = open_recorded(named, "small");
        ASSERT_TRUE(log) << log.error().what;
        const auto all = commands_that_differ(**log, {"old.yaml", parsed({})},
                                              {"new.yaml", parsed(kFailedOnly)}, go_on);
        ASSERT_TRUE(all) << all.error().what;
        EXPECT_EQ(all->only_before.size(), 1U) << named;
    }
    EXPECT_TRUE(ports::append_now(**running, kJournal, {{{}, "and it goes on"}}));
}

TEST(CommandsDiff, WhereThereIsNoJournalItIsSaidWhatToName) {
    const testing::TempDir dir;
    const std::string none = open_recorded(dir.path(), "small").error().what;
    EXPECT_NE(none.find("there is no journal in " + dir.path()), std::string::npos) << none;
    const std::string missing = open_recorded(dir / "nowhere", "small").error().what;
    EXPECT_NE(missing.find("name the state_dir of an engine"), std::string::npos) << missing;
    for (const std::string name : {"one", "two"}) {
        const std::string log = dir / ("policies/" + name + "/log");
        std::filesystem::create_directories(log);
        ASSERT_TRUE(connectors::EmbeddedLog::open({.path = log, .fsync = false}));
    }
    const std::string several = open_recorded(dir.path(), "small").error().what;
    EXPECT_NE(several.find("there are several journals"), std::string::npos) << several;
}

}  // namespace
}  // namespace trueup::apps
