#include "simulation/run.h"

#include "engine/codec/change_codec.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/finding_codec.h"
#include "engine/codec/journal_codec.h"
#include "engine/codec/outcome_codec.h"
#include "engine/codec/request_codec.h"
#include "engine/core/rule_text.h"
#include "simulation/broker_client.h"
#include "simulation/instances.h"
#include "simulation/replay.h"
#include "simulation/run_settings.h"
#include "simulation/staging.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kSilence{60'000};
constexpr Millis kLook{1'000};
constexpr Millis kVouchEvery{60'000};
constexpr Millis kLongestBehind{120'000};  // that a second API server falls

/// All that one run consists of, in the order in which it can go again.
class Run {
  public:
    Run(std::uint64_t seed, const Plan& plan, const Schedule& schedule, Trace* trace)
        : plan_(plan),
          trace_(trace),
          scheduler_(seed ^ 0x5c4edU),
          broker_(scheduler_, seed ^ 0xb40ceU),
          network_{scheduler_, Random(seed ^ 0x4e7U)},
          history_(world_settings(plan)),
          oracles_(scheduler_, history_),
          world_(seed, scheduler_, world_settings(plan)),
          operators_(broker_, life_of_operators_, {}, [] {}),
          around_{scheduler_, broker_,
                  network_,   world_,
                  oracles_,   Random(seed ^ 0x40e5U),
                  keys(),     fleet_settings(plan, begins_enabled(seed))},
          fleet_(around_),
          stage_{scheduler_, world_,   history_,   broker_, network_,
                 fleet_,     oracles_, operators_, keys()} {
        oracles_.races_forbidden = plan.races_forbidden;
        oracles_.every_rule = plan.every_rule;
        oracles_.shards = plan.shards;
        if (!begins_enabled(seed)) enable_later(Random(seed ^ 0xe4ab1eU));
        oracles_.proofs_may_lie = plan.second_server;
        if (plan.second_server) oracles_.evidence_age += kLongestBehind;
        if (plan.policies != nullptr) {
            oracles_.law = plan.policies->law;
            stage_.texts = other_policies(plan, begins_enabled(seed));
            vouch_again();
        }
        around_.asked.rows = &world_;
        if (plan.services) {
            services_ =
                std::make_unique<sandbox::World>(seed ^ 0x5e41U, scheduler_, world_settings(plan));
            around_.asked.services = stage_.services = services_.get();
            services_->observe([this](const std::vector<sandbox::Record>&) {
                scheduler_.after(Millis{0}, [this] { fleet_.world_changed(); });
            });
        }
        world_.observe([this](const std::vector<sandbox::Record>& act) { happened(act); });
        broker_.observe([this](ports::Partition at, const Broker::Record& record) {
            if (at.topic == Topic::kCommands) see_command(at, record);
            if (at.topic == Topic::kJournal && oracles_.law != nullptr) see_settings(record);
            if (at.topic == Topic::kRequests) see_request(at, record);
            if (at.topic == Topic::kOutcomes) see_outcome(record);
            if (at.topic == Topic::kFindings) see_finding(record);
            if (at.topic == Topic::kChangesRows && oracles_.reinsertions().any()) see_row(record);
            if (trace_ != nullptr) trace_->stored(scheduler_.since(), at, record);
        });
        broker_.observe_truncation([this](ports::Partition at, Offset offset) {
            if (offset == kFirstOffset) return;
            const auto& newest =
                broker_.records(at)[static_cast<std::size_t>(previous(offset).value())];
            oracles_.plain().judge_forgotten(name_of(at.topic), newest->stored_at, plan_.forgets);
        });
        if (plan.wrong_first) ask_wrongly(Random(seed ^ 0x3f9U));
        populate(stage_, plan.subjects);
        for (const ScheduledAct& act : schedule) {
            scheduler_.at(scheduler_.steady_now() + act.at, [this, act] {
                without_race(stage_, [this, act] {
                    Random random(act.draw);
                    if (!stage_.over) act.kind->carry_out(stage_, random);
                });
            });
        }
    }

    Report carry_out() {
        scheduler_.run_until(plan_.unrest);
        while (plan_.races_forbidden && oracles_.may_write_still()) {
            scheduler_.run_until(scheduler_.since() + kLook);
        }
        if (asks_wrongly_) ask_rightly();
        quiesce(stage_);
        const Millis since = scheduler_.since();
        Report report;
        const bool settled = settle(plan_.rest);
        report.settled = scheduler_.since() - since;
        if (!settled) oracles_.violate("repaired", "something is open still: " + open());
        judge_rest();
        report.violations = oracles_.violations();
        report.simulated = scheduler_.since();
        report.commands = commands().size();
        report.effects = oracles_.effects();
        report.races = oracles_.races();
        report.events = scheduler_.events();
        each_record(Topic::kJournal, [&](const Broker::Record& record) {
            ++report.records;
            hash_ = combine(
                hash_,
                hash128(record.value, static_cast<std::uint64_t>(to_millis(record.append_time))));
        });
        report.trace = hash_;
        return report;
    }

  private:
    /// The first thing that a source is asked is the wrong one, for some time.
    void ask_wrongly(Random random) {
        constexpr int kOthers = 20;
        constexpr int kRestored = 5;
        oracles_.asks_wrongly(true);
        for (const char* source : {"pods", "rows"}) oracles_.went_back(source);  // to another world
        asks_wrongly_ = random.chance(250) ? "pods" : "rows";
        if (asks_wrongly_ == "pods") {
            around_.asked.selector = "app=ryugraph-wraper";
        } else {
            elsewhere_ =
                std::make_unique<sandbox::World>(random.next(), scheduler_, world_settings(plan_));
            elsewhere_->observe([this](const std::vector<sandbox::Record>& act) {
                for (const sandbox::Record& record : act) {
                    const auto* effect = std::get_if<sandbox::Effect>(&record);
                    if (effect != nullptr) oracles_.wrote_elsewhere(*effect);
                }
            });
            // Empty, another one's, or one that is being restored.
            const std::uint64_t what = random.below(3);
            for (int i = 1; i <= (what == 0 ? 0 : what == 1 ? kOthers : kRestored); ++i) {
                elsewhere_->insert_row(row_for(
                    (what == 1 ? "wrapper-other" : "wrapper-s") + std::to_string(i), "running"));
            }
            around_.asked.rows = elsewhere_.get();
        }
        scheduler_.after(random.between(Millis{100'000}, Millis{240'000}), [this] {
            without_race(stage_, [this] {
                if (asks_wrongly_) ask_rightly();
            });
        });
    }

    void ask_rightly() {
        const std::string source = *std::exchange(asks_wrongly_, std::nullopt);
        oracles_.asks_wrongly(false);
        around_.asked = {.rows = &world_, .services = services_.get()};
        fleet_.ask_elsewhere(source);
        vouch_later(source, fleet_.owner(source));
    }

    /// Somebody looks at what the rules would do after a while, and again until they act.
    void enable_later(Random random) {
        oracles_.restraints().nobody_enabled();
        later(stage_, random.between(Millis{30'000}, Millis{200'000}), [this] { enable_again(); });
    }
    void enable_again() {
        enable(stage_);
        later(stage_, kVouchEvery / 2, [this] { enable_again(); });
    }

    /// Policies that find most of what there is are believed by nobody until somebody looked.
    void vouch_again() {
        later(stage_, kVouchEvery / 3, [this] {
            vouch(stage_, false);
            vouch_again();
        });
    }

    /// Somebody vouches for it once its list is one of the right place. Of one that lost too much
    /// there comes another list.
    void vouch_later(const std::string& source, Incarnation before) {
        later(stage_, kVouchEvery / 4, [this, source, before] {
            if (fleet_.owner(source) > before) vouch(stage_, false);
            vouch_later(source, before);
        });
    }

    void see_command(ports::Partition at, const Broker::Record& record) {
        if (record.value.empty()) return;  // a heartbeat
        const auto command = codec::decode_command(record.value);
        if (!command) return;
        oracles_.given(*command, broker_.stored_at({Topic::kJournal, at.index}, command->issued));
        if (command->emission > 1 || stage_.over) return;
        const bool ends = command->draft.action.kind == Action::Kind::kDeletePod &&
                          command->draft.read_set.front().kind == Predicate::Kind::kField;
        if (ends && !stage_.last_words.empty()) {
            const std::uint64_t draw = stage_.last_words.front();
            stage_.last_words.pop_front();
            last_word(stage_, *command, Random(draw));
        }
        if (stage_.toctous.empty()) return;
        const std::uint64_t draw = stage_.toctous.front();
        stage_.toctous.pop_front();
        toctou(stage_, *command, Random(draw));
    }

    void see_settings(const Broker::Record& record) {
        JournalView view;
        if (!codec::decode_journal(record.value, record.offset, record.append_time, view)) return;
        if (!view.settings) return;
        for (const RuleSettings& rule : view.settings->rules) means_.try_emplace(rule.rule);
        for (auto& [rule, means] : means_) {
            const Hash128 text =
                core::rule_text(*view.settings->text, view.settings->sources, rule).text;
            if (std::exchange(means, text) != text) oracles_.restraints().silenced(rule);
        }
        oracles_.law->in_force(*view.settings, record.stored_at);
        // What a rule means by now may be another thing than somebody took back.
        if (!view.settings->enabled_by.empty()) oracles_.restraints().all_enabled();
    }

    void see_row(const Broker::Record& record) {
        const auto change = codec::decode_change(record.value);
        if (change && change->kind == ChangeKind::kSnapshotBegin)
            oracles_.reinsertions().list_begins();
        if (!change || change->kind != ChangeKind::kRemove) return;
        const std::string_view id = change->object_id;
        oracles_.reinsertions().told_gone(std::string(id.substr(id.rfind('/') + 1)));
    }

    void see_outcome(const Broker::Record& record) {
        if (record.value.empty()) return;  // a heartbeat
        if (const auto outcome = codec::decode_outcome(record.value)) {
            oracles_.ended(*outcome);
        }
    }

    void see_finding(const Broker::Record& record) {
        if (record.value.empty()) return;  // it is over
        if (const auto edge = codec::decode_finding(record.value)) oracles_.found(*edge);
    }

    void see_request(ports::Partition at, const Broker::Record& record) {
        const auto request = codec::decode_request(record.value);
        if (request && request->kind == RequestKind::kActivation) {
            return oracles_.restraints().silenced(request->scope.rule);
        }
        if (request &&
            (request->kind == RequestKind::kPause || request->kind == RequestKind::kHold ||
             request->kind == RequestKind::kDisable)) {
            stage_.placed[request->id].push_back({at.index, record.offset});
        }
        const bool meant = request && request->id.value().hi == kMeant;
        if (meant && request->kind == RequestKind::kEnable) {
            for (const NamedRule& named : request->rules)
                oracles_.restraints().may_be_enabled(named.rule);
        }
        if (meant && seen_.insert(request->id).second) oracles_.approvals().asked(*request);
        // One that comes late may end what was asked for after it.
        const bool ends =
            request && (request->kind == RequestKind::kResume ||
                        (request->kind == RequestKind::kRelease && request->scope.source.empty()));
        if (ends) unbind(stage_, Restraints::bound_by(request->scope));
    }

    void happened(const std::vector<sandbox::Record>& act) {
        if (trace_ != nullptr) trace_->happened(scheduler_.since(), act);
        oracles_.act(act);
        hear_answers(stage_);
        hash_ =
            combine(hash_, {act.size(), static_cast<std::uint64_t>(scheduler_.since().count())});
        scheduler_.after(Millis{0}, [this] { fleet_.world_changed(); });
    }

    bool settle(Millis at_most) {
        const Millis end = scheduler_.since() + at_most;
        fleet_.begin_rest();
        Millis since = scheduler_.since();
        while (scheduler_.since() - since < plan_.settled_for) {
            if (scheduler_.since() >= end) return false;
            scheduler_.run_until(scheduler_.since() + kLook);
            hear_answers(stage_);
            if (scheduler_.since() % kVouchEvery < kLook) {
                vouch(stage_, true);
                enable(stage_);
                if (plan_.every_rule) put_away(stage_);
                if (plan_.every_rule || oracles_.law != nullptr) approve(stage_);
            }
            if (!settled()) since = scheduler_.since();
        }
        return true;
    }

    bool settled() {
        if (oracles_.law == nullptr) return fleet_.settled();
        return fleet_.quiet() && oracles_.law->to_do(history_, scheduler_.steady_now()).empty();
    }

    /// Everything that can be said once nothing happens any more.
    void judge_rest() {
        if (oracles_.law == nullptr) {
            oracles_.repaired().judge_world(
                [this](const std::string& name) { return fleet_.view_of(name); });
        } else {
            oracles_.repaired().judge_open(fleet_.open_findings());
        }
        oracles_.judge_duties([this](const std::string& name, SteadyTime before) {
            return !stage_.dropped && served_since(stage_, name, before);
        });
        const SteadyTime since = scheduler_.steady_now();
        const BrokerTime then = broker_.now();
        scheduler_.run_until(scheduler_.since() + kSilence);
        oracles_.plain().judge_passes(fleet_.passes_since(then));
        oracles_.plain().judge_silence(commands(since));
        const std::vector<Command> all = commands();
        const Budget budget = policy(plan_).rules.front().budget;
        judge_replays();
        // What a server says that is behind may be older than our own write, and a version that was
        // given twice may be of before it.
        if (!oracles_.proofs_may_lie) oracles_.judge_own_writes(all, done_);
        if (oracles_.tail_lost) return;  // nobody knows what was spent there, and engines give up
        oracles_.judge_budget(all, budget, stage_.served);
        oracles_.plain().judge_refused(around_.refusals, around_.refused);
    }

    template <typename Visit>
    void each_record(Topic topic, Visit visit) {
        for (std::int32_t shard = 0; shard < plan_.shards; ++shard) {
            const ports::Partition partition{topic, PartitionNumber(shard)};
            for (const auto& record : broker_.records(partition)) visit(*record);
        }
    }

    /// What was given since then, a shard after the other.
    std::vector<Command> commands(SteadyTime since = {}) {
        std::vector<Command> all;
        each_record(Topic::kCommands, [&](const Broker::Record& record) {
            if (record.value.empty() || record.stored_at < since) return;  // a heartbeat; of before
            auto command = codec::decode_command(record.value);
            if (command) all.push_back(std::move(*command));
        });
        return all;
    }

    std::string open() {
        if (oracles_.law == nullptr) return fleet_.trouble();
        return oracles_.law->to_do(history_, scheduler_.steady_now()) + "; " + fleet_.trouble();
    }

    /// O6, O7: each journal is folded once more.
    void judge_replays() {
        const std::vector<Fleet::Image> images = fleet_.stop_engines();
        const std::int32_t engines = kEnginesOfAShard * plan_.shards;
        if (std::ssize(images) != engines) {
            oracles_.violate("replay", "an engine does not run");
        }
        std::set<std::string> believed;
        for (std::int32_t shard = 0; shard < plan_.shards; ++shard) {
            Replayed made =
                replay(PartitionNumber(shard), broker_, images, oracles_, scheduler_.steady_now());
            believed.merge(made.believed);
            done_.merge(made.done);
        }
        oracles_.plain().judge_projection(believed);
    }

    const Plan& plan_;
    Trace* const trace_;  ///< nullptr: nobody wants to know
    Scheduler scheduler_;
    Broker broker_;
    Network network_;
    History history_;
    Oracles oracles_;
    sandbox::World world_;
    std::unique_ptr<sandbox::World> services_;   ///< what serves instances; nullptr: nothing does
    std::unique_ptr<sandbox::World> elsewhere_;  ///< where a source asks wrongly
    CrashPoint life_of_operators_;
    Broker::Client operators_;
    Environment around_;
    Fleet fleet_;
    Stage stage_;
    std::optional<std::string> asks_wrongly_;  ///< the source that does so now
    Hash128 hash_;
    std::set<RequestId> seen_;  ///< requests
    /// What rules mean that some policy had; none: they are none any more.
    std::map<std::string, Hash128> means_;
    std::map<CommandId, BrokerTime> done_;  ///< commands, by when their journal knew it
};

}  // namespace

Report run(std::uint64_t seed, const Plan& plan, const Schedule& schedule, Trace* trace) {
    return Run(seed, plan, schedule, trace).carry_out();
}

Schedule shrink(std::uint64_t seed, const Plan& plan, const Schedule& schedule, int most) {
    const auto first = [&](const Schedule& tried) {
        const Report report = run(seed, plan, tried);
        return report.good() ? std::string() : report.violations.front().oracle;
    };
    Schedule best = schedule;
    const std::string wanted = first(best);
    // Leaves out halves, then quarters, and so on, down to single acts.
    for (std::size_t part = std::max<std::size_t>(best.size() / 2, 1); most > 0; part /= 2) {
        for (std::size_t from = 0; from < best.size() && most > 0;) {
            Schedule tried = best;
            const auto begin = tried.begin() + static_cast<std::ptrdiff_t>(from);
            tried.erase(begin,
                        begin + static_cast<std::ptrdiff_t>(std::min(part, best.size() - from)));
            --most;
            if (first(tried) == wanted) {
                best = std::move(tried);
            } else {
                from += part;
            }
        }
        if (part <= 1) break;
    }
    return best;
}

}  // namespace trueup::simulation
