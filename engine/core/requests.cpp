// What operators ask. Each authentic request is answered once, and the answer is kept: who asked,
// when, and what it did or why not. One that is forged, repeated, late or about something that
// moved on changes nothing (design §4.9, §4.15). Executors take the same ones (model/intake.h).
#include "engine/core/requests.h"

#include "engine/base/guard.h"
#include "engine/base/suggest.h"
#include "engine/core/answer.h"
#include "engine/core/approvals.h"
#include "engine/core/brake.h"
#include "engine/core/enablings.h"
#include "engine/core/findings.h"
#include "engine/core/marks.h"
#include "engine/core/park.h"
#include "engine/core/quoted.h"
#include "engine/core/trust.h"
#include "engine/model/intake.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

bool by_role(const Request& request) { return request.role == "ops" || request.role == "admin"; }

/// What the same request was before goes on to hold of it.
void renew(StandingRequest& now, const StandingRequest& former, bool begun) {
    // Somebody with a role asked for it, whoever owns it by then.
    if (now.owners && !former.owners) {
        now.by = former.by;
        now.owners = false;
    }
    if (begun) now.target = former.target;
}

}  // namespace

void Requests::take_request(const ItemView& item, const Request& request) {
    if (!item.authentic && TRUEUP_GUARD("request_authentic")) {
        ++meta_.counters.unauthenticated;
        return park(meta_, report_, item, "a request that is not signed with a known key");
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

Answer Requests::answer(const ItemView& item, const Request& request) {
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

Answer Requests::grant(const ItemView& item, const Request& request) {
    switch (request.kind) {
        case RequestKind::kApprove:
            return approvals_.approve(request);
        case RequestKind::kDismiss:
            return approvals_.dismiss(request);
        case RequestKind::kHold:
            return hold(request, true);
        case RequestKind::kRelease:
            return request.scope.source.empty() ? hold(request, false)
                                                : trust_.release_source(request);
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
            return enablings_.enable(request);
        case RequestKind::kDisable:
            return enablings_.disable(request);
        case RequestKind::kSourceHint:
        case RequestKind::kActivation:
        case RequestKind::kUnspecified:
            break;
    }
    return {false, "this build does not know this kind of request"};
}

/// Also of a subject that nobody has spoken of yet: whoever comes under that name is held.
Answer Requests::hold(const Request& request, bool held) {
    const std::string& key = request.scope.subject;
    Entry* entry = key.empty() ? nullptr : marks_.find(key);
    const bool ours = state_.plan == nullptr || key.starts_with(meta_.settings.policy + "/");
    if (entry == nullptr && !(held && ours && names_subject(key))) {
        return {false, "there is no subject " + quoted(key) +
                           "; write policy/name, as in graph-instances/wrapper-7"};
    }
    if (entry != nullptr && entry->subject.held == held) {
        return {true, held ? "it is on hold already" : "it is not on hold"};
    }
    if (held && meta_.holds >= kMostHolds) return {false, too_many_holds_sentence()};
    if (entry == nullptr) entry = &marks_.subject_of(key);
    entry->subject.held = held;
    meta_.holds = held ? meta_.holds + 1 : meta_.holds - 1;
    state_.subjects.mark_dirty(*entry);
    marks_.mark(*entry);
    return {true, held ? "nothing will be done to it until it is released" : "released"};
}

Answer Requests::pause(const ItemView& item, const Request& request) {
    const bool of_all = request.scope.rule.empty();
    const RuleNumber rule = of_all ? kEveryRule : state_.plan->rule(request.scope.rule);
    const auto same = [&](const Pause& known) { return known.rule == rule; };
    if (std::any_of(meta_.pauses.begin(), meta_.pauses.end(), same)) {
        return {true, "it is paused already"};
    }
    meta_.pauses.push_back({rule, item.append_time, request.issued_by, request.comment});
    marks_.judge_all();
    return {true, of_all ? "no rule issues a command until you resume"
                         : request.scope.rule + " issues no command until you resume"};
}

Answer Requests::resume(const Request& request) {
    const RuleNumber rule = state_.plan->rule(request.scope.rule);
    const auto same = [&](const Pause& known) { return known.rule == rule; };
    const auto kept = std::remove_if(meta_.pauses.begin(), meta_.pauses.end(), same);
    if (kept == meta_.pauses.end()) {
        return {false, rule == kEveryRule ? "there is no pause of all rules; name the rule"
                                          : request.scope.rule + " is not paused by itself"};
    }
    meta_.pauses.erase(kept, meta_.pauses.end());
    marks_.judge_all();
    return {true, "resumed"};
}

Answer Requests::relist(const Request& request) {
    bool known = false;
    for (SourceId id = 0; id < meta_.source_count(); ++id) {
        const std::string& name = meta_.sources[id].name;
        if (!request.scope.source.empty() && request.scope.source != name) continue;
        report_.wants_epoch.push_back(id);
        known = true;
    }
    if (!known) {
        return no_such_source(meta_, request);
    }
    return {true, "the source is listed again soon"};
}

/// Why it cannot be asked of the subject by who asks; empty: it can. Who asks must own it, or have
/// a role that may ask it of those of others (G8).
std::string Requests::against(const Entry& entry, const Request& request, RuleNumber number) {
    const PlanRule& rule = state_.plan->rules[number.value()];
    const Subject& subject = entry.subject;
    look_at(*state_.plan, subject, meta_.settings, meta_.sources, facts_);
    const bool owns =
        !request.issued_by.empty() && owned_by(*state_.plan, rule, facts_, request.issued_by);
    if (!by_role(request) && !owns && TRUEUP_GUARD("terminate_needs_owner")) {
        return quoted(request.issued_by) + " neither owns " + quoted(subject.key) +
               " nor has the role ops or admin";
    }
    if (!brakes_.acting(number)) {
        return "nothing comes of the request " + quoted(rule.requested) + ": " + rule.name +
               " is set to " + std::string(name_of(meta_.settings.rules[number.value()].mode)) +
               "; set its mode to approve or enforce";
    }
    const auto& standing = subject.request;
    // One that the policy does not know any more is over as soon as somebody looks at it.
    const bool known = standing && rule_for(standing->name) != kEveryRule;
    if (known && standing->name != rule.requested) {
        return standing->by + " asked for " + quoted(standing->name) +
               ", and that is not done yet: wait for it, or dismiss it";
    }
    const bool others = known && standing->owners && standing->by != request.issued_by;
    if (others && !by_role(request) && owned_by(*state_.plan, rule, facts_, standing->by)) {
        return standing->by + " asked for it already";
    }
    const bool same = subject.ending && rule.ending_hash == subject.ending->steps;
    if (subject.ending && !same) {
        return being_ended(subject) + ": nothing else can be asked of it";
    }
    return {};
}

/// Has the rule that waits for it do about the subject what it does.
Answer Requests::make_request(const Request& request) {
    const std::string& key = request.scope.subject;
    Entry* entry = key.empty() ? nullptr : marks_.find(key);
    if (entry == nullptr || entry->subject.facets.empty()) {
        return {false, "there is no subject " + quoted(key)};
    }
    const std::string name(asked_name(request));
    const RuleNumber number = rule_for(name);
    if (number == kEveryRule) return no_such_request(request);
    const PlanRule& rule = state_.plan->rules[number.value()];
    if (std::string why = against(*entry, request, number); !why.empty()) return {false, why};
    Subject& subject = entry->subject;
    const Boxed<StandingRequest> former = subject.request;
    // As his who asks now, and not as theirs who asked before.
    subject.request = StandingRequest{name, request.issued_by, !by_role(request), meta_.now};
    const Verdict verdict = state_.judge(
        {*state_.plan, subject, facts_, marks_.references(), meta_.settings, number, meta_.now});
    // If what is under way comes to nothing, what was asked for now is still to be done.
    const bool begun = subject.ending || under_way(subject, number);
    if (verdict.kind == Verdict::Kind::kHealthy && !begun) {
        subject.request = former;
        return {false, "there is nothing to do: " + rule.name + " does not apply to " +
                           quoted(key) + "; `trueup why` says why"};
    }
    if (former && former->name == name) renew(*subject.request, *former, begun);
    if (subject.ending) return join_ending(*entry, number);
    // What was dismissed was another request's.
    if (!former) {
        std::erase_if(subject.findings,
                      [&](const Finding& f) { return f.rule == number && f.dismissed; });
    }
    state_.subjects.mark_dirty(*entry);
    marks_.mark(*entry);
    if (begun) return {true, rule.name + " is carrying it out already"};
    const bool asks = meta_.settings.rules[number.value()].mode == Mode::kApprove;
    if (brakes_.enabled(number) && !asks) return {true, rule.name + " carries it out"};
    return {true, rule.name + " carries it out once an operator approves it: " +
                      (asks ? "its mode is approve" : "it is not enabled")};
}

/// It is being ended already, by the very list of the rule of the request (`against`). One that
/// stands still, since its own rule was switched off, goes on under that one.
Answer Requests::join_ending(Entry& entry, RuleNumber rule) {
    Ending& ending = *entry.subject.ending;
    if (!brakes_.goes_on(ending) && brakes_.enabled(rule)) ending.by = rule;
    state_.subjects.mark_dirty(entry);
    marks_.mark(entry);
    return {true, being_ended(entry.subject)};
}

/// By which rule, and since when.
std::string Requests::being_ended(const Subject& subject) const {
    const Ending& ending = *subject.ending;
    const auto since = std::chrono::duration_cast<std::chrono::seconds>(meta_.now - ending.since);
    return "being ended by " + std::string(state_.plan->rules[ending.by.value()].name) +
           ", since " + std::to_string(since.count()) + " s";
}

/// The rule that waits for being asked by that name; kEveryRule: the policy has none.
RuleNumber Requests::rule_for(std::string_view name) const {
    const auto rules = static_cast<std::uint8_t>(state_.plan->rules.size());
    for (std::uint8_t number = 0; number < rules; ++number) {
        const PlanRule& rule = state_.plan->rules[number];
        if (rule.on_request() && rule.requested == name) return RuleNumber(number);
    }
    return kEveryRule;
}

Answer Requests::no_such_request(const Request& request) const {
    std::vector<std::string> names;
    for (const PlanRule& rule : state_.plan->rules) {
        if (rule.on_request()) names.push_back(rule.requested);
    }
    const std::string name(asked_name(request));
    return {false, "no rule of this policy waits for the request " + quoted(name) +
                       (names.empty() ? "" : "; " + did_you_mean(name, names))};
}

}  // namespace trueup::core
