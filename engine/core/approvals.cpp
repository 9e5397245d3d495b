// What operators say of findings that wait: approved, dismissed, or left half done.
#include "engine/core/approvals.h"

#include "engine/core/aftermaths.h"
#include "engine/core/answer.h"
#include "engine/core/ending.h"
#include "engine/core/endings.h"
#include "engine/core/findings.h"
#include "engine/core/marks.h"
#include "engine/core/quoted.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trueup::core {

namespace {

/// What may wait for an approval under any policy.
std::array<Reason, 3> of_every_policy() {
    return {Reason::kApproval, Reason::kNotEnabled, Reason::kRecurring};
}

std::string many(std::uint32_t count) {
    return std::to_string(count) + (count == 1 ? " finding" : " findings");
}

}  // namespace

Answer Approvals::approve(const Request& request) {
    const RequestScope& scope = request.scope;
    const std::optional<Offset> seen = seen_in(request, meta_.shard);
    if (!seen) return {false, "an approval must name the journal offset that you saw"};
    // What changes between now and then would be approved unseen.
    if (std::string why = not_yet_written(meta_, *seen); !why.empty()) return {false, why};
    const RuleNumber rule = state_.plan->rule(scope.rule);
    if (scope.subject.empty() && scope.finding_id) {
        return {false, "an approval of one finding must name its subject"};
    }
    if (scope.subject.empty()) return approve_all(scope, {Reason::kNone, rule, *seen});
    Entry* entry = marks_.find(scope.subject);
    if (entry == nullptr || entry->subject.findings.empty()) {
        return {false, quoted(scope.subject) + " has no open finding"};
    }
    const std::vector<Finding>& findings = entry->subject.findings;
    if (std::none_of(findings.begin(), findings.end(), waits_for_approval)) {
        return {false, "nothing about " + quoted(scope.subject) + " waits for an approval"};
    }
    const std::uint32_t count =
        findings_.approve(*entry, {Reason::kNone, rule, *seen}, scope.finding_id);
    if (count == 0) {
        return {false, "it has changed since journal offset " + std::to_string(seen->value()) +
                           ", or this is another finding: look again, and approve what you see"};
    }
    marks_.mark(*entry);
    return {true, many(count) + " approved"};
}

/// Everything that waits for one reason, in one word: it must be said which.
Answer Approvals::approve_all(const RequestScope& scope, Approval approval) {
    const std::string& wanted = scope.reason;
    if (!name_reason(scope, approval)) return {false, which_reason(wanted)};
    const Offset seen = approval.offset;
    Sweep sweep;
    sweep.what = Sweep::What::kApproval;
    sweep.approval = std::move(approval);
    meta_.sweeps.push_back(std::move(sweep));
    return {true, "everything that waits for " + wanted +
                      " and has not changed since journal "
                      "offset " +
                      std::to_string(seen.value()) + " is approved"};
}

/// False: nothing waits for an approval with this reason.
bool Approvals::name_reason(const RequestScope& scope, Approval& approval) const {
    for (const Reason known : of_every_policy()) {
        if (scope.reason == name_of(known)) approval.reason = known;
    }
    if (approval.reason != Reason::kNone) return true;
    approval.reason = Reason::kUncorrelatedRows;
    if (!scope.reason_of_policy) return scope.reason == name_of(approval.reason);
    approval.count_reason = scope.reason;
    const std::vector<std::string> counts = state_.plan->count_reasons();
    return std::find(counts.begin(), counts.end(), scope.reason) != counts.end();
}

/// Of the policy in force.
std::string Approvals::which_reason(const std::string& wanted) const {
    std::vector<std::string> words;
    for (const Reason known : of_every_policy()) words.emplace_back(name_of(known));
    for (std::string& count : state_.plan->count_reasons()) words.push_back(std::move(count));
    std::string said = wanted.empty() ? "an approval of many findings must name their reason: "
                                      : "nothing waits for an approval with the reason " +
                                            quoted(wanted) + "; write ";
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) said += i + 1 < words.size() ? ", " : " or ";
        said += words[i];
    }
    return said;
}

Answer Approvals::dismiss(const Request& request) {
    const RequestScope& scope = request.scope;
    Entry* entry = scope.subject.empty() ? nullptr : marks_.find(scope.subject);
    if (entry == nullptr) return {false, "a dismissal must name a subject that has findings"};
    const RuleNumber rule = state_.plan->rule(scope.rule);
    if (entry->subject.ending) return drop_ending(*entry, request, rule);
    std::uint32_t count = 0;
    const std::string withdrawn = findings_.withdraw(*entry, rule, scope.finding_id);
    for (Finding& finding : entry->subject.findings) {
        const bool meant = is_about(finding, rule, scope.finding_id);
        if (!meant || finding.command || finding.dismissed) continue;
        findings_.dismiss(*entry, finding);
        ++count;
    }
    if (count == 0 && withdrawn.empty()) {
        return {false, "nothing open about " + quoted(scope.subject) +
                           " is meant, or its command is under way"};
    }
    marks_.mark(*entry);
    if (count == 0) return {true, "the request " + quoted(withdrawn) + " is withdrawn"};
    // Not meant, or its command is under way.
    const bool goes_on = entry->subject.request.has_value();
    return {
        true,
        many(count) + " dismissed until the disagreement is gone" +
            (goes_on ? "; the request " + quoted(entry->subject.request->name) + " goes on" : "")};
}

/// What is half done is left so only by an operator who says that he knows.
Answer Approvals::drop_ending(Entry& entry, const Request& request, RuleNumber rule) {
    const Ending& ending = *entry.subject.ending;
    Finding& face = findings_.open(entry, ending.rule, ending.object_id);
    const std::string by(state_.plan->rules[ending.rule.value()].name);
    if (!is_about(face, rule, request.scope.finding_id)) {
        return {false, "it is being ended by " + by + ": nothing else about it can be dismissed"};
    }
    if (face.command) return {false, "a command is under way; wait for its outcome"};
    if (ending.stage == Ending::Stage::kTaking) {
        return {false, "it is not known yet what was done; ask again in a minute"};
    }
    if (!request.drop) {
        return {false, "it is half done: " + progress_of(*state_.plan, ending) +
                           "; write --drop to leave it so"};
    }
    // An executor may still carry its last command out.
    const BrokerTime quiet = ending.not_after + meta_.settings.max_broker_skew;
    if (quiet >= meta_.broker_now) aftermaths_.aftermath_of(entry).quiet_until = quiet;
    const std::string left = progress_of(*state_.plan, ending);
    findings_.dismiss(entry, face);
    endings_.forget_ending(entry);
    entry.subject.request.reset();
    marks_.mark(entry);
    return {true, "dropped: " + left};
}

}  // namespace trueup::core
