// What operators ask. Each authentic request is answered once, and the answer is kept: who asked,
// when, and what it did or why not. One that is forged, repeated, late or about something that
// moved on changes nothing (design §4.9, §4.15). Executors take the same ones (model/intake.h).
#include "engine/base/guard.h"
#include "engine/base/suggest.h"
#include "engine/core/fold_run.h"
#include "engine/core/quoted.h"
#include "engine/model/intake.h"

#include <algorithm>

namespace trueup::core {

namespace {

bool by_role(const Request& request) { return request.role == "ops" || request.role == "admin"; }

bool takes_away(const PlanRule& rule) {
    return std::any_of(rule.cases.begin(), rule.cases.end(), [](const PlanCase& each) {
        return std::any_of(each.steps.begin(), each.steps.end(),
                           [](const PlanStep& step) { return policy::takes_away(step.verb); });
    });
}

}  // namespace

void FoldRun::take_request(const ItemView& item, const Request& request) {
    if (!item.authentic && TRUEUP_GUARD("request_authentic")) {
        ++meta_.counters.unauthenticated;
        return park(item, "a request that is not signed with a known key");
    }
    // An engine's own word, meant for connectors or for executors.
    if (request.kind == RequestKind::kSourceHint || request.kind == RequestKind::kActivation)
        return;
    std::vector<Answered>& answers = meta_.answered;
    if (came_before(answers, request, item.append_time) && TRUEUP_GUARD("request_once")) {
        ++meta_.counters.duplicates;
        return;
    }
    const bool crowded = too_many(answers, request, item.append_time);
    make_room(answers, item.append_time);
    Answer given =
        crowded ? Answer{false, too_many_sentence(request.issued_by)} : answer(item, request);
    answers.push_back({request.id, request.kind, given.granted, item.append_time, request.issued_by,
                       std::move(given.sentence)});
}

FoldRun::Answer FoldRun::answer(const ItemView& item, const Request& request) {
    const bool late = !only_restricts(request.kind) && !timely(request, item.append_time);
    if (late && TRUEUP_GUARD("request_timely")) {
        const Millis age = item.append_time - from_millis<BrokerTime>(request.issued_ms);
        return {false, "it was asked " + std::to_string(age.count() / 1000) +
                           " s before it arrived, by the sender's clock; more than 300 s in either "
                           "direction is not accepted: set the clock, and ask again"};
    }
    if (state_.plan == nullptr) {
        // Executors follow these whatever is in force.
        if (request.kind == RequestKind::kHold) return hold(request, true);
        const bool of_all = request.kind == RequestKind::kPause && request.scope.rule.empty();
        return of_all ? pause(item, request) : Answer{false, "no policy is in force yet"};
    }
    const RequestScope& scope = request.scope;
    if (!scope.policy.empty() && scope.policy != meta_.settings.policy) {
        return {false,
                "there is no policy " + quoted(scope.policy) + "; write " + meta_.settings.policy};
    }
    if (!scope.rule.empty() && state_.plan->rule(scope.rule) == kEveryRule) {
        std::vector<std::string> names;
        for (const PlanRule& rule : state_.plan->rules) names.emplace_back(rule.name);
        return {false,
                "there is no rule " + quoted(scope.rule) + "; " + did_you_mean(scope.rule, names)};
    }
    return grant(item, request);
}

FoldRun::Answer FoldRun::grant(const ItemView& item, const Request& request) {
    switch (request.kind) {
        case RequestKind::kApprove:
            return approve(request);
        case RequestKind::kDismiss:
            return dismiss(request);
        case RequestKind::kHold:
            return hold(request, true);
        case RequestKind::kRelease:
            return request.scope.source.empty() ? hold(request, false) : release_source(request);
        case RequestKind::kPause:
            return pause(item, request);
        case RequestKind::kResume:
            return resume(request);
        case RequestKind::kRelist:
            return relist(request);
        case RequestKind::kReconcile:
            meta_.pass.asked = true;
            return {true, "every subject is judged again now"};
        case RequestKind::kTerminate:
        case RequestKind::kRequest:
            return make_request(request);
        case RequestKind::kEnable:
            return enable(request);
        case RequestKind::kDisable:
            return disable(request);
        case RequestKind::kSourceHint:
        case RequestKind::kActivation:
        case RequestKind::kUnspecified:
            break;
    }
    return {false, "this build does not know this kind of request"};
}

/// Also of a subject that nobody has spoken of yet: whoever comes under that name is held.
FoldRun::Answer FoldRun::hold(const Request& request, bool held) {
    const std::string& key = request.scope.subject;
    Entry* entry = key.empty() ? nullptr : find(key);
    const bool ours = state_.plan == nullptr || key.starts_with(meta_.settings.policy + "/");
    if (entry == nullptr && !(held && ours && names_subject(key))) {
        return {false, "there is no subject " + quoted(key) +
                           "; write policy/name, as in graph-instances/wrapper-7"};
    }
    if (entry != nullptr && entry->subject.held == held) {
        return {true, held ? "it is on hold already" : "it is not on hold"};
    }
    if (held && meta_.holds >= kMostHolds) return {false, too_many_holds_sentence()};
    if (entry == nullptr) entry = &subject_of(key);
    entry->subject.held = held;
    meta_.holds = held ? meta_.holds + 1 : meta_.holds - 1;
    state_.subjects.mark_dirty(*entry);
    mark(*entry);
    return {true, held ? "nothing will be done to it until it is released" : "released"};
}

bool FoldRun::paused(RuleNumber rule) const {
    return std::any_of(meta_.pauses.begin(), meta_.pauses.end(), [&](const Pause& pause) {
        return pause.rule == kEveryRule || pause.rule == rule;
    });
}

FoldRun::Answer FoldRun::pause(const ItemView& item, const Request& request) {
    const bool of_all = request.scope.rule.empty();
    const RuleNumber rule = of_all ? kEveryRule : state_.plan->rule(request.scope.rule);
    const auto same = [&](const Pause& known) { return known.rule == rule; };
    if (std::any_of(meta_.pauses.begin(), meta_.pauses.end(), same)) {
        return {true, "it is paused already"};
    }
    meta_.pauses.push_back({rule, item.append_time, request.issued_by, request.comment});
    judge_all();
    return {true, of_all ? "no rule issues a command until you resume"
                         : request.scope.rule + " issues no command until you resume"};
}

FoldRun::Answer FoldRun::resume(const Request& request) {
    const RuleNumber rule = state_.plan->rule(request.scope.rule);
    const auto same = [&](const Pause& known) { return known.rule == rule; };
    const auto kept = std::remove_if(meta_.pauses.begin(), meta_.pauses.end(), same);
    if (kept == meta_.pauses.end()) {
        return {false, rule == kEveryRule ? "there is no pause of all rules; name the rule"
                                          : request.scope.rule + " is not paused by itself"};
    }
    meta_.pauses.erase(kept, meta_.pauses.end());
    judge_all();
    return {true, "resumed"};
}

FoldRun::Answer FoldRun::no_such_source(const Request& request) const {
    std::vector<std::string> names;
    for (const SourceState& source : meta_.sources) names.push_back(source.name);
    return {false, "there is no source " + quoted(request.scope.source) + "; " +
                       did_you_mean(request.scope.source, names)};
}

FoldRun::Answer FoldRun::relist(const Request& request) {
    bool known = false;
    for (SourceId id = 0; id < source_count(); ++id) {
        const std::string& name = meta_.sources[id].name;
        if (!request.scope.source.empty() && request.scope.source != name) continue;
        report_.wants_epoch.push_back(id);
        known = true;
    }
    if (!known) {
        return no_such_source(request);
    }
    return {true, "the source is listed again soon"};
}

/// Why the one who asks may not; empty: he may. Who asks must own the subject, or have a role that
/// may ask it of those of others (G8).
std::string FoldRun::may_not_ask(Entry& entry, const Request& request, const PlanRule& rule) {
    if (by_role(request) || !TRUEUP_GUARD("terminate_needs_owner")) return {};
    look(entry, facts_);
    const bool owns =
        !request.issued_by.empty() && owned_by(*state_.plan, rule, facts_, request.issued_by);
    return owns ? ""
                : quoted(request.issued_by) + " neither owns " + quoted(request.scope.subject) +
                      " nor has the role ops or admin";
}

/// Has the rule that waits for it do about the subject what it does.
FoldRun::Answer FoldRun::make_request(const Request& request) {
    const std::string& key = request.scope.subject;
    Entry* entry = key.empty() ? nullptr : find(key);
    if (entry == nullptr || entry->subject.facets.empty()) {
        return {false, "there is no subject " + quoted(key)};
    }
    const std::string name(asked_name(request));
    const RuleNumber number = rule_for(name);
    if (number == kEveryRule) return no_such_request(request);
    const PlanRule& rule = state_.plan->rules[number.value()];
    if (std::string why = may_not_ask(*entry, request, rule); !why.empty()) return {false, why};
    if (!acting(number)) {
        return {false, "nothing comes of the request " + quoted(name) + ": " + rule.name +
                           " is set to " +
                           std::string(name_of(meta_.settings.rules[number.value()].mode)) +
                           "; set its mode to approve or enforce"};
    }
    Subject& subject = entry->subject;
    if (subject.request && subject.request->name != name) {
        return {false, subject.request->by + " asked for " + quoted(subject.request->name) +
                           ", and that is not done yet: wait for it, or dismiss it"};
    }
    if (subject.ending && !takes_away(rule)) {
        return {false, being_ended(subject) + ": nothing else can be asked of it"};
    }
    subject.request = StandingRequest{name, request.issued_by, !by_role(request), meta_.now};
    // If that one comes to nothing, what was asked for now is still to be done.
    if (subject.ending) return join_ending(*entry, number);
    look(*entry, facts_);
    const Verdict verdict = state_.judge(
        {*state_.plan, subject, facts_, references(), meta_.settings, number, meta_.now});
    if (verdict.kind == Verdict::Kind::kHealthy) {
        subject.request.reset();
        return {false, "there is nothing to do: " + rule.name + " does not apply to " +
                           quoted(key) + "; `trueup why` says why"};
    }
    state_.subjects.mark_dirty(*entry);
    mark(*entry);
    if (enabled(number)) return {true, rule.name + " carries it out"};
    return {true, rule.name + " carries it out once an operator approves it: it is not enabled"};
}

/// It is being ended already. One that stands still, since its rule was switched off, goes on under
/// the rule of requests where that does the same.
FoldRun::Answer FoldRun::join_ending(Entry& entry, RuleNumber rule) {
    Ending& ending = *entry.subject.ending;
    const bool same = state_.plan->rules[rule.value()].ending_hash == ending.steps;
    if (!goes_on(ending) && same && enabled(rule)) {
        ending.by = rule;
    }
    state_.subjects.mark_dirty(entry);
    mark(entry);
    return {true, being_ended(entry.subject)};
}

/// By which rule, and since when.
std::string FoldRun::being_ended(const Subject& subject) const {
    const Ending& ending = *subject.ending;
    const auto since = std::chrono::duration_cast<std::chrono::seconds>(meta_.now - ending.since);
    return "being ended by " + std::string(state_.plan->rules[ending.by.value()].name) +
           ", since " + std::to_string(since.count()) + " s";
}

/// The rule that waits for being asked by that name; kEveryRule: the policy has none.
RuleNumber FoldRun::rule_for(std::string_view name) const {
    const auto rules = static_cast<std::uint8_t>(state_.plan->rules.size());
    for (std::uint8_t number = 0; number < rules; ++number) {
        const PlanRule& rule = state_.plan->rules[number];
        if (rule.on_request() && rule.requested == name) return RuleNumber(number);
    }
    return kEveryRule;
}

FoldRun::Answer FoldRun::no_such_request(const Request& request) const {
    std::vector<std::string> names;
    for (const PlanRule& rule : state_.plan->rules) {
        if (rule.on_request()) names.push_back(rule.requested);
    }
    const std::string name(asked_name(request));
    return {false, "no rule of this policy waits for the request " + quoted(name) +
                       (names.empty() ? "" : "; " + did_you_mean(name, names))};
}

}  // namespace trueup::core
