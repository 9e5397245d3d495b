// Proves design §4, §5 in the small (S6, C1, C3): whatever the order in which two sources and an
// engine act, and wherever one of them dies, nothing is harmed, the rows end as the same, and a
// replay gives them again.
//
// The world: pods a and x, rows a and y. The pod and the row of a belong together; nobody owns the
// pod x; the row y has lost its pod. So exactly two commands are right. The code is the product's:
// source tasks, sequencer, fold, relay and write-behind around one log and one store.
//
// "All" interleavings are these, depth first:
//   - A source acts in three steps: it takes its token and begins its epoch, with x or y in it;
//     ends the epoch and proves it, as of a moment before a was made; shows a, and says how far it
//     is. Any number of these happen, of either source; then the engine does all that it has to do;
//     then time passes, longer than any grace, and the engine acts on that; and so on. The two
//     sources write topics of their own and commute. What comes in while the engine works waits in
//     its topic for the next round, as if it came after; and who waits longer finds nothing else.
//   - One process dies, or none. The engine: before any of its calls that change something outside
//     (an append, a batch of rows); where it dies between two of them makes no difference to the
//     world, and its memory is gone. A source: before its second or third step; another incarnation
//     begins from its first one, and its steps are interleaved as before. The executor: with a
//     command that it has read and that it does not read again.
//   - After that time passes, second by second, with progress of both sources, until the two wrongs
//     are put right; the engine may still die at each of its calls.
//
// It fails when one of the guards `both_sides_fresh` and `outbox_until_outcome` is off, and with
// an-offset-before-its-rows.patch and a-restart-begins-every-grace.patch of tests/mutants. The
// others of docs/guards.md have stories of their own: none that another one backs up can show here,
// since there is one death and no lie.
#include "engine/codec/outcome_codec.h"
#include "engine/core/row.h"
#include "policies/shipped.h"
#include "tests/engine/runtime/shard_fixture.h"
#include "tests/engine/runtime/wrapped_store.h"
#include "tests/support/keys.h"
#include "tests/support/wrapped_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <map>

namespace trueup::runtime::testing {
namespace {

constexpr std::size_t kStorySteps = 3;
constexpr int kMostRounds = 40;
constexpr int kQuietSeconds = 2;
constexpr Millis kGraceIsOver{2'000};
constexpr Millis kStale{60'000};  // longer than all of it: another guard is not what holds
constexpr int kMostSteps = 100;   // of the engine, without news

/// The choices of one run after the other, depth first: each run takes those of the one before, up
/// to the last one that has another option.
class Choices {
  public:
    std::size_t choose(std::size_t options) {
        if (at_ == path_.size()) path_.push_back({0, options});
        TRUEUP_CHECK(path_[at_].options == options);  // or a run depends on more than its choices
        return path_[at_++].taken;
    }
    /// False: that was the last run.
    bool next() {
        while (!path_.empty() && path_.back().taken + 1 == path_.back().options) path_.pop_back();
        at_ = 0;
        if (path_.empty()) return false;
        ++path_.back().taken;
        return true;
    }
    std::string text() const {
        std::string all;
        for (const Choice& choice : path_) all += std::to_string(choice.taken) + " ";
        return all;
    }

  private:
    struct Choice {
        std::size_t taken;
        std::size_t options;
    };
    std::vector<Choice> path_;
    std::size_t at_ = 0;
};

/// The one death that there is, of whoever meets it first.
class Death {
  public:
    explicit Death(Choices& choices) : choices_(choices) {}
    bool strikes() {
        if (spent_ || choices_.choose(2) == 0) return false;
        return spent_ = true;
    }
    /// The engine is about to change something outside. False: it has died, and changes nothing.
    bool spares_engine() {
        if (!engine_dead_) engine_dead_ = strikes();
        return !engine_dead_;
    }
    bool take_engine() { return std::exchange(engine_dead_, false); }
    /// From now on nobody dies any more.
    void end() { spent_ = true; }

  private:
    Choices& choices_;
    bool spent_ = false;
    bool engine_dead_ = false;
};

class NoAnswer final : public ports::PendingAppend {
  public:
    bool ready() const override { return true; }
    Result<ports::Appended> take() override {
        return Error{Next::kRetry, Code::kUnavailable, "the process is dead"};
    }
};

/// The log as the engine has it.
class EngineLog final : public trueup::testing::WrappedLog {
  public:
    EngineLog(MemoryLog& below, Death& death) : WrappedLog(below), death_(death) {}
    std::unique_ptr<ports::PendingAppend> append(ports::Partition partition,
                                                 const ports::Entries& entries) override {
        if (!death_.spares_engine()) return std::make_unique<NoAnswer>();
        return WrappedLog::append(partition, entries);
    }

  private:
    Death& death_;
};

/// A connector and its task, which say three things and after that what they are told.
class Source {
  public:
    Source(std::string name, Topic topic, MemoryLog& log, ManualClock& clock, Fact listed_one,
           Fact streamed)
        : name_(std::move(name)),
          topic_(topic),
          log_(log),
          clock_(clock),
          listed_(std::move(listed_one)),
          streamed_(std::move(streamed)) {
        begin();
    }
    std::size_t left() const { return kStorySteps - done_; }
    bool may_die() const { return done_ > 0; }
    void die() { begin(); }
    void act() {
        if (done_ == 0) connector_->say(epoch_begins(5)).say(listed(listed_));
        if (done_ == 1) connector_->say(epoch_ends()).say(progress(before_));
        if (done_ == 2) connector_->say(streamed_).say(progress(log_.now()));
        ++done_;
        step();
    }
    void say(Fact fact) {
        connector_->say(std::move(fact));
        step();
    }

  private:
    void begin() {
        SourceTaskSettings settings;
        settings.source = name_;
        settings.topic = topic_;
        settings.nonce_seed = ++lives_ * 100;
        task_.reset();
        connector_ = std::make_unique<ScriptedConnector>();
        task_ = std::make_unique<SourceTask>(settings, log_, *connector_);
        done_ = 0;
    }
    void step() { ASSERT_TRUE(task_->step(clock_.steady_now(), Millis{0}).ok()); }

    const std::string name_;
    const Topic topic_;
    MemoryLog& log_;
    ManualClock& clock_;
    const Fact listed_;
    const Fact streamed_;
    const BrokerTime before_ = log_.now();  ///< a was made later
    std::uint64_t lives_ = 0;
    std::size_t done_ = 0;
    std::unique_ptr<ScriptedConnector> connector_;
    std::unique_ptr<SourceTask> task_;
};

ShardSettings engine_settings() {
    ShardSettings settings;
    settings.policy = demo_policy();
    // Only the two that have anything to say here: each start of an engine compiles all there are.
    const auto idle = [](const std::string& rule) {
        return rule != "orphaned_pod" && rule != "missing_pod";
    };
    policy::Policy text = *settings.policy.text;
    std::erase_if(text.rules, [&](const policy::Rule& rule) { return idle(rule.name); });
    std::erase_if(settings.policy.rules, [&](const RuleSettings& rule) { return idle(rule.rule); });
    settings.policy.text = std::move(text);
    for (const char* rule : {"orphaned_pod", "missing_pod"}) {
        policies::rule_settings(settings.policy, rule).grace = Millis{1'000};
        policies::rule_settings(settings.policy, rule).create_window = Millis{0};
    }
    settings.policy.stale_after = kStale;
    settings.new_journal_id = JournalId({7, 7});
    settings.jobs = std::launch::deferred;
    settings.write_behind_every = Millis{0};
    settings.request_keys = settings.command_keys = trueup::testing::test_keys();
    return settings;
}

/// What an engine believes, without the times and offsets that follow from the interleaving.
std::string said(const Subject& subject) {
    std::string text = subject.key;
    for (const Facet& facet : subject.facets) {
        text += " " + std::to_string(facet.source) + ":" + facet.object_id + "@" +
                std::to_string(facet.version.hi) + (facet.present() ? "+" : "-");
        facet.fields().each([&](const Field& field) {
            text += std::string(field.name) + "=" + std::string(field.value.value_or("null")) + ",";
        });
    }
    return text + " findings " + std::to_string(subject.findings.size()) + "\n";
}

class Interleaving {
  public:
    explicit Interleaving(Choices& choices)
        : choices_(choices),
          death_(choices),
          log_(memory_, death_),
          pods_("pods", Topic::kChangesPods, memory_, clock_, pod("x", "uid-x", 5),
                pod("a", "uid-a", 6)),
          rows_("rows", Topic::kChangesRows, memory_, clock_, row("y", "pk-y", 5),
                row("a", "pk-a", 6)) {
        store_.before_apply = [this]() -> Status {
            if (death_.spares_engine()) return Done{};
            return Error{Next::kStop, Code::kUnavailable, "the process is dead"};
        };
    }

    /// What the rows say at the end; the test has failed where a claim does not hold.
    std::string carry_out() {
        while (pods_.left() + rows_.left() > 0) {
            let_sources_act();
            let_engine_act();
            pass(kGraceIsOver);
            let_engine_act();
        }
        for (int round = 0; round < kMostRounds && quiet_ < kQuietSeconds; ++round)
            live_for_a_second();
        EXPECT_EQ(quiet_, kQuietSeconds) << "it never comes to rest";
        EXPECT_EQ(effects_, (std::multiset<std::string>{"delete_pod uid-x",
                                                        "update_row public.instances/pk-y"}));
        return judge_rest();
    }

  private:
    void pass(Millis time) {
        clock_.advance(time);
        memory_.advance(time);
    }
    void let_engine_act() {
        for (int i = 0; i < kMostSteps && step_engine(); ++i) {
        }
    }
    void let_sources_act() {
        const std::size_t options = (pods_.left() + 1) * (rows_.left() + 1) - 1;
        const std::size_t taken = choices_.choose(options) + 1;
        const std::size_t of_pods = taken % (pods_.left() + 1);
        act(rows_, taken / (pods_.left() + 1));
        act(pods_, of_pods);
    }
    void act(Source& source, std::size_t steps) {
        for (; steps > 0; --steps) {
            if (source.may_die() && death_.strikes()) source.die();
            source.act();
        }
    }

    /// True: there is more to do at once.
    bool step_engine() {
        bool more = false;
        if (shard_ == nullptr) {
            auto opened = Shard::open(engine_settings(), log_, store_, clock_);
            if (opened) shard_ = std::move(*opened);
        }
        if (shard_ != nullptr) {
            const Result<bool> stepped = shard_->step();
            more = stepped.ok() && *stepped;
        }
        const bool died = death_.take_engine();
        EXPECT_TRUE(died || (shard_ != nullptr && shard_->status().refused.empty()));
        if (died) shard_.reset();
        return more || died;
    }

    void live_for_a_second() {
        pass(Millis{1'000});
        pods_.say(progress(memory_.now()));
        rows_.say(progress(memory_.now()));
        let_engine_act();
        const bool carried_out = carry_out_commands();
        const core::Meta& meta = shard_->state().meta;
        const bool at_rest = meta.outbox == 0 && meta.open_findings == 0 && effects_.size() == 2;
        quiet_ = at_rest && !carried_out ? quiet_ + 1 : 0;
    }

    /// As an executor does it: each id once, and the sources show what came of it.
    bool carry_out_commands() {
        bool any = false;
        for (const Command& command : commands_in(memory_)) {
            if (!read_.insert({command.id, command.emission}).second) continue;
            if (known_.contains(command.id) || death_.strikes()) continue;
            known_.insert(command.id);
            any = true;
            const Action::Kind kind = command.draft.action.kind;
            const std::string& target = command.draft.target.object_id;
            effects_.insert(std::string(name_of(kind)) + " " + target);
            if (target == "uid-x") pods_.say(gone(pod("x", "uid-x", 5), 7));
            if (target == "public.instances/pk-y") rows_.say(row("y", "pk-y", 7, "failed"));
            Outcome outcome;
            outcome.command_id = command.id;
            outcome.subject = command.subject;
            outcome.kind = OutcomeKind::kDone;
            outcome.executor = "test";
            EXPECT_TRUE(ports::append_now(memory_, {Topic::kOutcomes, PartitionNumber(0)},
                                          {{command.subject, codec::encode_outcome(outcome)}})
                            .ok());
        }
        return any;
    }

    std::string judge_rest() {
        death_.end();
        const core::Meta meta = settled_meta(*shard_);
        projections::MemoryStore replayed;
        EXPECT_EQ(folded(engine_settings(), memory_, replayed, clock_), meta);
        const auto rows = *store_.below.scan({}, {}, 1'000);
        EXPECT_EQ(*replayed.scan({}, {}, 1'000), rows);
        std::string text;
        for (const auto& [key, bytes] : rows) {
            const std::size_t name = key.find("graph-instances/");
            if (name == std::string::npos) continue;  // the meta row
            const std::optional<Subject> subject = core::decode_subject(key.substr(name), bytes);
            EXPECT_TRUE(subject);
            if (subject) text += said(*subject);
        }
        return text;
    }

    Choices& choices_;
    Death death_;
    ManualClock clock_;
    MemoryLog memory_;
    EngineLog log_;
    WrappedStore store_;
    Source pods_;
    Source rows_;
    std::unique_ptr<Shard> shard_;
    std::set<std::pair<CommandId, std::uint32_t>> read_;
    std::set<CommandId> known_;           ///< and carried out
    std::multiset<std::string> effects_;  ///< by target
    int quiet_ = 0;                       ///< seconds in which nothing was open or done
};

TEST(Interleavings, OfTwoPodsTwoRowsTwoSourcesAndOneCrashAllEndTheSame_S6_C1_C3) {
    const auto from = std::chrono::steady_clock::now();
    Choices choices;
    std::string expected;
    std::uint64_t runs = 0;
    do {
        const std::string rows = Interleaving(choices).carry_out();
        if (runs++ == 0) expected = rows;
        EXPECT_EQ(rows, expected);
        ASSERT_FALSE(HasFailure()) << "interleaving " << runs << ": " << choices.text();
    } while (choices.next());
    const auto took = std::chrono::steady_clock::now() - from;
    std::cout << runs << " interleavings in " << std::chrono::duration_cast<Millis>(took).count()
              << " ms; each ended with\n"
              << expected;
    EXPECT_GT(runs, 5'000U) << "it enumerates less than it did";
}

}  // namespace
}  // namespace trueup::runtime::testing
