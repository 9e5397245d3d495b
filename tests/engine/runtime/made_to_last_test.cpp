// Proves C10: a journal and the rows of a build before are gone on with by one that has a rule, a
// count, a role or a source more or less. What that build left is committed, as bytes.
//
// After a deliberate change of a format or of what is decided:
// TRUEUP_WRITE_GOLDEN=1 engine_runtime_made_to_last_test
#include "tests/engine/runtime/shard_fixture.h"
#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>

namespace trueup::runtime::testing {
namespace {

using trueup::testing::bytes_of_hex;
using trueup::testing::hex_of;

constexpr const char* kGolden = TRUEUP_SOURCE_DIR "/tests/engine/runtime/golden/left.hex";
const ports::Partition kJournal = partition(Topic::kJournal);

/// What an engine left: a line `journal TIME VALUE`, or `tail …` for one behind the rows, for each
/// record, and `row KEY VALUE` for each row.
struct Left {
    MemoryLog log;
    projections::MemoryStore store;
    Offset tail = kFirstOffset;  ///< of the journal: not in the rows yet
};

void write(ShardFixture& from, Offset applied) {
    std::ofstream out(kGolden);
    for (const StoredRecord& record : from.log.records(kJournal)) {
        out << (record.offset > applied ? "tail " : "journal ") << to_millis(record.append_time)
            << ' ' << hex_of(record.value) << '\n';
    }
    const auto rows = from.store.scan({}, {}, 1'000'000);
    for (const auto& [key, value] : *rows) {
        out << "row " << hex_of(key) << ' ' << hex_of(value) << '\n';
    }
}

std::unique_ptr<Left> read() {
    auto left = std::make_unique<Left>();
    std::ifstream in(kGolden);
    ports::StoreBatch batch;
    for (std::string kind, first, value; in >> kind >> first >> value;) {
        if (kind == "row") {
            batch.put(bytes_of_hex(first), bytes_of_hex(value));
            continue;
        }
        if (kind == "journal") left->tail = next(left->tail);
        left->log.set_now(from_millis<BrokerTime>(std::stoll(first)));
        EXPECT_TRUE(ports::append_now(left->log, kJournal, {{{}, bytes_of_hex(value)}}).ok());
    }
    EXPECT_TRUE(left->store.apply(batch).ok());
    return left;
}

/// A role that no rule asks for, before all others: their numbers move.
void put_in_front(const std::string& name, Settings& settings, policy::Policy& text) {
    policy::Role role = text.roles.front();
    role.name = name;
    role.optional = true;
    text.roles.insert(text.roles.begin(), role);
    for (SourceSettings& source : settings.sources) ++source.role;
}

void take_from_front(Settings& settings, policy::Policy& text) {
    text.roles.erase(text.roles.begin());
    for (SourceSettings& source : settings.sources) --source.role;
}

/// By a policy that has one role too many.
void begin(ShardSettings& settings) {
    policy::Policy text = *settings.policy.text;
    put_in_front("spare", settings.policy, text);
    settings.policy.text = std::move(text);
}

/// An installation of some minutes: findings of several rules, commands with and without outcomes,
/// pods and rows that came and went. A part of the journal is behind the rows: up to where they
/// are.
Offset live_through(ShardFixture& fixture) {
    std::mt19937_64 random(3);
    auto shard = fixture.open();
    fixture.settle(*shard);
    fixture.all_known({pod("wrapper-0", "uid-wrapper-0", 5)}, {row("wrapper-1", "1", 5)});
    fixture.live(*shard, Millis{8'000});
    for (int i = 0; i < 20; ++i) {
        fixture.random_act(random);
        fixture.settle(*shard);
    }
    const Offset applied = settled_meta(*shard).applied;
    fixture.settings.write_behind_every = Millis{1'000'000};
    for (int i = 0; i < 4; ++i) {
        fixture.random_act(random);
        fixture.settle(*shard);
    }
    return applied;
}

class MadeToLast : public ::testing::Test {
  protected:
    MadeToLast() { begin(fixture_.settings); }

    static void SetUpTestSuite() {
        if (std::getenv("TRUEUP_WRITE_GOLDEN") == nullptr) return;
        ShardFixture fixture;
        begin(fixture.settings);
        const Offset applied = live_through(fixture);
        write(fixture, applied);
    }

    /// Of the policy that was in force.
    using Change = std::function<void(Settings&, policy::Policy&)>;

    /// A leader goes on with what was left under the changed policy, and what was open is open.
    void goes_on(const Change& change) {
        const std::multiset<std::string> before = open_under({});
        ASSERT_GT(before.size(), 2U);
        EXPECT_EQ(open_under(change), before);
    }

    /// The same of what came with one build and left with the next one.
    void comes_and_leaves(const Change& change) {
        const std::multiset<std::string> before = open_under({});
        const std::unique_ptr<Left> left = read();
        EXPECT_TRUE(left->log.truncate(kJournal, left->tail).ok());
        EXPECT_EQ(open_under(change, *left), before);
        EXPECT_EQ(open_under({}, *left), before);
    }

    /// Subject and rule of each open finding, but those of rules that are called `more`.
    std::multiset<std::string> open_under(const Change& change) {
        const std::unique_ptr<Left> left = read();
        // What is in the rows is nowhere else any more.
        EXPECT_TRUE(left->log.truncate(kJournal, left->tail).ok());
        return open_under(change, *left);
    }
    std::multiset<std::string> open_under(const Change& change, Left& left) {
        ShardSettings settings = fixture_.settings;
        if (change) {
            policy::Policy text = *settings.policy.text;
            change(settings.policy, text);
            settings.policy.text = std::move(text);
        }
        auto shard = Shard::open(settings, left.log, left.store, fixture_.clock);
        EXPECT_TRUE(shard.ok()) << shard.error().what;
        if (!shard) return {};
        for (int i = 0; i < 20; ++i) EXPECT_TRUE((*shard)->step().ok());
        const core::State& state = (*shard)->state();
        EXPECT_EQ(state.halted, "");
        std::multiset<std::string> open;
        state.subjects.each_cached([&](const Subject& subject) {
            for (const Finding& finding : subject.findings) {
                const std::string& rule = state.meta.settings.rules[finding.rule.value()].rule;
                if (rule != "more") open.insert(subject.key + ' ' + rule);
            }
        });
        return open;
    }

    ShardFixture fixture_;
};

TEST_F(MadeToLast, RowsAndTailAreTheFoldOfTheWholeJournal_C8) {
    const std::unique_ptr<Left> left = read();
    projections::MemoryStore empty;
    const core::Meta whole = folded(fixture_.settings, *copy_of(left->log), empty, fixture_.clock);
    EXPECT_EQ(folded(fixture_.settings, left->log, left->store, fixture_.clock), whole);
}

TEST_F(MadeToLast, ARuleMoreOrLess_C10) {
    goes_on([](Settings& settings, policy::Policy& text) {
        policy::Rule rule = text.rules.front();
        rule.name = "more";
        rule.cases.front().ask_while.clear();
        rule.cases.front().steps = {policy::Step{}};
        text.rules.insert(text.rules.begin(), rule);
        settings.rules.insert(settings.rules.begin(), {"more", Mode::kObserve});
    });
    goes_on([](Settings& settings, policy::Policy& text) {
        const auto none = [](const auto& rule) { return rule == "stopping_with_pod"; };
        std::erase_if(text.rules, [&](const policy::Rule& rule) { return none(rule.name); });
        std::erase_if(settings.rules, [&](const RuleSettings& rule) { return none(rule.rule); });
    });
}

TEST_F(MadeToLast, ACountMoreOrLess_C10) {
    goes_on([](Settings&, policy::Policy& text) {
        policy::Count count = text.counts.front();
        count.name = "more";
        text.counts.insert(text.counts.begin(), count);
    });
    goes_on([](Settings&, policy::Policy& text) { text.counts.pop_back(); });
}

TEST_F(MadeToLast, ARoleMoreOrLess_C10) {
    goes_on([](Settings& settings, policy::Policy& text) { put_in_front("more", settings, text); });
    goes_on(take_from_front);
}

TEST_F(MadeToLast, ASourceAndItsTopicMoreOrLess_C10) {
    const Change more = [](Settings& settings, policy::Policy&) {
        SourceSettings source;
        source.name = "machines";
        source.topic = Topic::kChangesEc2;
        source.role = 0;
        settings.sources.push_back(source);
    };
    goes_on(more);
    comes_and_leaves(more);
}

TEST_F(MadeToLast, AnActionMoreOrLess_C10) {
    goes_on([](Settings& settings, policy::Policy& text) {
        policy::Rule rule = text.rules.front();
        rule.name = "more";
        rule.cases.front().ask_while.clear();
        rule.cases.front().steps.assign(1, policy::Step{});
        rule.cases.front().steps.front().verb = policy::Verb::kUpdate;
        rule.cases.front().steps.front().sets = {
            {"label.seen", policy::Text{{policy::Piece::Kind::kLiteral, "yes", {}}}}};
        rule.cases.front().steps.front().role = rule.cases.front().when.front().role;
        text.rules.push_back(rule);
        settings.rules.push_back({"more", Mode::kObserve});
    });
    // Nothing is deleted by it any more: what was found is found still.
    goes_on([](Settings&, policy::Policy& text) {
        for (policy::Rule& rule : text.rules) {
            for (policy::Case& each : rule.cases) {
                const bool deletes = std::any_of(
                    each.steps.begin(), each.steps.end(),
                    [](const policy::Step& step) { return step.verb == policy::Verb::kDelete; });
                if (deletes) each.steps.assign(1, policy::Step{});
            }
        }
    });
}

TEST_F(MadeToLast, AReasonMoreOrLess_C10) {
    goes_on([](Settings&, policy::Policy& text) {
        ASSERT_TRUE(text.counts.front().reason.empty());
        text.counts.front().reason = "more";
    });
    goes_on([](Settings&, policy::Policy& text) {
        const auto count = std::find_if(text.counts.begin(), text.counts.end(),
                                        [](const auto& each) { return !each.reason.empty(); });
        ASSERT_NE(count, text.counts.end());
        count->reason.clear();
    });
}

}  // namespace
}  // namespace trueup::runtime::testing
