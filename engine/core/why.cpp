#include "engine/core/why.h"

#include "engine/core/brake.h"
#include "engine/core/budget.h"
#include "engine/core/draft.h"
#include "engine/core/ending.h"
#include "engine/core/row.h"
#include "engine/core/sides.h"
#include "engine/core/witness.h"
#include "engine/core/words.h"

#include <algorithm>
#include <string>
#include <utility>

namespace trueup::core {

namespace {

class Tracing {
  public:
    Tracing(State& state, const Judgement& on)
        : state_(state), meta_(state.meta), on_(on), witness_(on) {}

    RuleTrace run() {
        const PlanRule& rule = on_.rule();
        told_.rule = rule.name;
        told_.finds = rule.finds;
        told_.mode = settings().mode;
        if (told_.mode == Mode::kOff) {
            witness_.at(Stage::kAsked);
            kept("mode", rule.unable.empty() ? "off" : "off: " + rule.unable,
                 "observe, approve or enforce");
            witness_.end({});
            told_.stages = witness_.take();
            return std::move(told_);
        }
        const Decision decision = decide(on_, &witness_);
        Verdict verdict = verdict_of(on_, decision);
        take(verdict);
        told_.stages = witness_.take();
        fold(verdict);
        return std::move(told_);
    }

  private:
    const RuleSettings& settings() const { return meta_.settings.rules[on_.self.value()]; }

    void kept(std::string_view name, std::string value, std::string asked) {
        witness_.kept(name, std::move(value), std::move(asked), false);
    }

    void take(Verdict& verdict) {
        told_.kind = verdict.kind;
        told_.reason = verdict.reason;
        told_.count_reason = on_.plan.count_reason(verdict.wait.none_of);
        told_.object_id = verdict.object_id;
        take(verdict.wait);
        if (!verdict.command) return;
        give_time(meta_.settings, on_.self, *verdict.command);
        told_.draft = *verdict.command;
    }

    void take(const Wait& wait) {
        if (wait.due) told_.again = std::max(Millis{0}, *wait.due - meta_.now);
        if (wait.source != kNoSource) told_.until = meta_.sources[wait.source].name;
        if (wait.none_of != kNoTally) told_.until = on_.plan.tallies[wait.none_of].name;
    }

    /// The finding that speaks for the rule: the one about what it found now, else the one whose
    /// command is under way.
    const Finding* finding() const {
        const Finding* busy = nullptr;
        for (const Finding& each : on_.subject.findings) {
            if (each.rule != on_.self) continue;
            if (!told_.object_id.empty() && each.object_id == told_.object_id) return &each;
            if (each.command || ends(on_.subject, each)) busy = &each;
        }
        return busy;
    }

    /// What settle and may_act make of the verdict (core/verdicts.cpp, core/brake.cpp), in their
    /// order.
    void fold(const Verdict& verdict) {
        const Finding* finding = this->finding();
        if (finding != nullptr) told_.finding = finding->id;
        if (finding != nullptr && (finding->command || ends(on_.subject, *finding))) {
            return under_way(*finding);
        }
        const bool found =
            verdict.kind == Verdict::Kind::kWaiting || verdict.kind == Verdict::Kind::kAct;
        if (found && finding != nullptr && finding->dismissed) {
            begin(Stage::kDismissed, Reason::kDismissed);
            kept("finding", "dismissed by an operator", "one that is not dismissed");
            return end();
        }
        if (verdict.kind != Verdict::Kind::kAct) return;
        Finding fresh;
        fresh.rule = on_.self;
        fresh.object_id = verdict.object_id;
        fresh.since = meta_.now;
        brake(finding == nullptr ? fresh : *finding, verdict);
    }

    void under_way(const Finding& finding) {
        begin(Stage::kUnderWay, finding.reason);
        if (ends(on_.subject, finding)) {
            kept("ending", progress_of(on_.plan, *on_.subject.ending), "all of its steps");
        }
        if (finding.command) {
            told_.draft = finding.command->draft;
            DecidingFact fact;
            fact.kind = DecidingFact::Kind::kKept;
            fact.answer = DecidingFact::Answer::kNo;
            fact.name = "command";
            fact.object = finding.command->draft.target.object_id;
            fact.source = finding.command->draft.target.source;
            fact.value = to_hex(finding.command->id);
            fact.asked = "its outcome";
            fact.at = finding.command->issued;
            fact.past = finding.command->not_after;
            facts_.push_back(std::move(fact));
        }
        end();
    }

    void brake(const Finding& finding, const Verdict& verdict) {
        const Brake brake = Brakes(state_).brake_on(on_.subject, finding, verdict);
        // Those before it were asked and hold nothing.
        for (auto stage = static_cast<std::uint8_t>(Stage::kHold);
             stage < static_cast<std::uint8_t>(brake.stage); ++stage) {
            told_.stages.push_back({static_cast<Stage>(stage), 0, {}, false, {}});
        }
        if (brake.stage == Stage::kAct) return;
        begin(brake.stage, brake.reason);
        if (brake.reason == Reason::kUncorrelatedRows)
            told_.count_reason = on_.plan.count_reason(verdict.wait.none_of);
        take(brake.wait);
        add_facts(brake, finding, verdict);
        end();
    }

    void begin(Stage stage, Reason reason) {
        told_.reason = reason;
        told_.count_reason.clear();
        witness_.begin_case(0);
        witness_.at(stage);
    }

    void end() {
        witness_.end({});
        for (StageAnswer& each : witness_.take()) told_.stages.push_back(std::move(each));
        auto& facts = told_.stages.back().facts;
        facts.insert(facts.end(), facts_.begin(), facts_.end());
    }

    void add_facts(const Brake& brake, const Finding& finding, const Verdict& verdict) {
        switch (brake.stage) {
            case Stage::kHold:
                return kept("hold", "an operator holds the subject", "no hold");
            case Stage::kMode:
                return kept("mode", std::string(name_of(settings().mode)), "approve or enforce");
            case Stage::kPause:
                return pauses();
            case Stage::kWindow:
                return window(brake);
            case Stage::kDoubt:
                return in_doubt();
            case Stage::kRefused:
                return refused(finding);
            case Stage::kApproval:
                return approval(brake, finding, verdict);
            case Stage::kRetry:
                return witness_.time("retry",
                                     "tried " + std::to_string(finding.failures) + " times",
                                     "the next try", finding.emit_again - meta_.now);
            case Stage::kBusy:
                return busy();
            case Stage::kOutbox:
                return kept("outbox", std::to_string(meta_.outbox) + " commands under way",
                            "under " + std::to_string(meta_.settings.max_outbox));
            case Stage::kBudget:
                return budget();
            default:
                return;
        }
    }

    void pauses() {
        for (const Pause& pause : meta_.pauses) {
            if (pause.rule != kEveryRule && pause.rule != on_.self) continue;
            DecidingFact fact;
            fact.kind = DecidingFact::Kind::kKept;
            fact.answer = DecidingFact::Answer::kNo;
            fact.name = "pause";
            fact.value = "by " + pause.by + (pause.comment.empty() ? "" : ": " + pause.comment);
            fact.asked = "no pause";
            fact.at = pause.since;
            facts_.push_back(std::move(fact));
        }
    }

    void window(const Brake& brake) {
        if (brake.wait.due) {
            return witness_.time("window", "closed", "open", *brake.wait.due - meta_.now);
        }
        kept("window", "never open", "open");
    }

    void in_doubt() {
        const auto sources = static_cast<SourceId>(meta_.sources.size());
        for (SourceId id = 0; id < sources; ++id) {
            const SourceState& source = meta_.sources[id];
            if (meta_.settings.sources[id].role == kNoRole || !doubted(source)) continue;
            DecidingFact fact;
            fact.kind = DecidingFact::Kind::kSource;
            fact.answer = DecidingFact::Answer::kNo;
            fact.why = Reason::kQuarantine;
            fact.source = source.name;
            fact.role = on_.plan.roles[meta_.settings.sources[id].role].name;
            fact.name = "believed";
            fact.value = source.on_trial                             ? "its first list is judged"
                         : source.quarantine == Quarantine::kRewound ? "it went back in time"
                                                                     : "most of the world is wrong "
                                                                       "by its first list";
            fact.asked = "an operator who vouches for it";
            fact.at = source.complete_as_of;
            facts_.push_back(std::move(fact));
        }
    }

    void refused(const Finding& finding) {
        for (const Refusal& refusal : on_.subject.aftermath->refusals) {
            if (refusal.rule != finding.rule || refusal.object_id != finding.object_id) continue;
            DecidingFact fact;
            fact.kind = DecidingFact::Kind::kKept;
            fact.answer = DecidingFact::Answer::kNo;
            fact.name = "refusal";
            fact.object = refusal.object_id;
            fact.value = "a live look refused it";
            fact.asked = "news since";
            for (const Facet& each : on_.subject.facets) {
                if (each.object_id != refusal.object_id) continue;
                fact.source = meta_.sources[each.source].name;
            }
            facts_.push_back(std::move(fact));
        }
    }

    void approval(const Brake& brake, const Finding& finding, const Verdict& verdict) {
        if (verdict.wait.none_of != kNoTally) witness_.tally(verdict.wait.none_of, false);
        const bool other = finding.approved || (!finding.proposal.none() &&
                                                finding.proposal != hash_of(*verdict.command));
        if (brake.reason == Reason::kNotEnabled) {
            kept("enabled", "the rule is not enabled as it is now", "a rule that is enabled");
        }
        if (brake.reason == Reason::kRecurring) {
            kept("recurring", "the rule did the same here twice within a day",
                 "an approval each time");
        }
        kept("approval", other ? "of another command" : "not given", "of this command");
    }

    void busy() {
        const auto& after = on_.subject.aftermath;
        if (after && after->quiet_until >= meta_.broker_now) {
            return witness_.time("dropped ending", "its last command may still be carried out",
                                 "its end", after->quiet_until + Millis{1} - meta_.broker_now);
        }
        for (const Finding& other : on_.subject.findings) {
            if (!other.command) continue;
            kept("command",
                 on_.plan.rules[other.rule.value()].name + " " + to_hex(other.command->id),
                 "no other command under way");
        }
    }

    void budget() {
        const Budget& budget = settings().budget;
        const std::uint64_t left = left_of(budget, meta_.rules[on_.self.value()].spending, meta_);
        kept("budget", left == 0 ? "spent" : "another finding has waited longer",
             "room in a window of " + words_of(budget.window));
    }

    State& state_;
    const Meta& meta_;
    const Judgement& on_;
    Witness witness_;
    std::vector<DecidingFact> facts_;  ///< that a witness has no words for
    RuleTrace told_;
};

}  // namespace

std::vector<RuleTrace> trace(State& state, const Subject& subject, const Facts& facts,
                             const References& references) {
    std::vector<RuleTrace> all;
    const auto rules = static_cast<std::uint8_t>(state.plan->rules.size());
    for (std::uint8_t number = 0; number < rules; ++number) {
        const RuleNumber rule(number);
        // One that left the policy keeps its number, and nothing else.
        if (state.plan->rules[rule.value()].cases.empty()) continue;
        const Judgement on{*state.plan,         subject, facts,         references,
                           state.meta.settings, rule,    state.meta.now};
        all.push_back(Tracing(state, on).run());
    }
    return all;
}

}  // namespace trueup::core
