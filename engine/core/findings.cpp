// Findings and their edges: opened, told of, approved, dismissed, resolved.
#include "engine/core/findings.h"

#include "engine/base/guard.h"
#include "engine/base/hash.h"
#include "engine/base/rfc3339.h"
#include "engine/core/command_id.h"
#include "engine/core/edges.h"
#include "engine/core/ending.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

bool under_way(const Subject& subject, RuleNumber rule) {
    return std::any_of(subject.findings.begin(), subject.findings.end(),
                       [&](const Finding& f) { return f.rule == rule && f.command.has_value(); });
}

bool is_about(const Finding& finding, RuleNumber rule, const std::optional<FindingId>& id) {
    return (rule == kEveryRule || finding.rule == rule) && (!id || finding.id == *id);
}

bool waits_for_approval(const Finding& finding) {
    return !finding.command && !finding.approved && !finding.dismissed && !finding.proposal.none();
}

namespace {

/// Is its reason the one that was approved, or were all?
bool waits_for(const Plan& plan, const Finding& finding, const Approval& approval) {
    if (approval.reason == Reason::kNone) return true;
    if (finding.reason != approval.reason) return false;
    if (approval.count_reason.empty()) return true;
    const TallyId count = plan.tally(finding.count);
    return count != kNoTally && plan.tallies[count].reason == approval.count_reason;
}

/// By what each source that it asks is known here: an executor with another configuration would ask
/// by another key.
void say_mappings(const Settings& settings, CommandDraft& draft) {
    const auto asks = [&](const std::string& source) {
        return draft.target.source == source ||
               std::any_of(draft.read_set.begin(), draft.read_set.end(),
                           [&](const Predicate& each) { return each.source == source; });
    };
    for (const SourceSettings& source : settings.sources) {
        if (source.mapping == 0 || !asks(source.name)) continue;
        draft.read_set.push_back(
            {Predicate::Kind::kReadBy, source.name, {}, {}, to_hex(source.mapping)});
    }
}

}  // namespace

/// Orders it, in the name of the finding.
void Findings::issue(Entry& entry, Finding& finding, CommandDraft draft, Millis lasts) {
    const bool ends_it = ends(entry.subject, finding);
    const RuleNumber rule = ends_it ? entry.subject.ending->by : finding.rule;
    Command command;
    command.id = make_command_id(meta_, record_.offset, index_);
    command.policy = meta_.settings.policy;
    command.rule = state_.plan->rules[rule.value()].name;
    command.finding_id = finding.id;
    command.subject = entry.subject.key;
    command.draft = std::move(draft);
    say_mappings(meta_.settings, command.draft);
    command.issued = meta_.broker_now;
    for (Assignment& set : command.draft.action.sets) {
        if (set.now) set.value = rfc3339(to_millis(command.issued));
    }
    command.not_after = meta_.broker_now + lasts;
    put_evidence(entry.subject, command.evidence);
    finding.command = command;
    finding.state = FindingState::kCommanded;
    finding.reason = Reason::kNone;
    finding.count.clear();
    finding.emit_again = meta_.now + meta_.settings.emit_again;
    ++meta_.rules[finding.rule.value()].commands;
    ++meta_.outbox;
    note_edge(entry, finding);
    ++index_;
    report_.commands.push_back(std::move(command));
}

/// A dismissal is of what was there. Another object is another question.
void Findings::void_dismissals(Entry& entry) {
    Subject& subject = entry.subject;
    const auto news = [&](const Finding& finding) {
        return finding.dismissed &&
               std::any_of(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
                   const auto& known = finding.dismissed_of;
                   return facet.present() &&
                          std::find(known.begin(), known.end(), facet.object_id) == known.end();
               });
    };
    if (std::erase_if(subject.findings, news) > 0) state_.subjects.mark_dirty(entry);
}

Finding& Findings::open(Entry& entry, RuleNumber rule, std::string_view object_id) {
    std::vector<Finding>& findings = entry.subject.findings;
    const auto place = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) {
        return f.rule > rule || (f.rule == rule && f.object_id >= object_id);
    });
    if (place != findings.end() && place->rule == rule && place->object_id == object_id) {
        return *place;
    }
    Finding& fresh = *findings.emplace(place);
    fresh.id = make_finding_id(meta_, record_.offset, index_);
    fresh.rule = rule;
    fresh.object_id = object_id;
    fresh.since = meta_.now;
    ++meta_.rules[rule.value()].detected;
    ++meta_.open_findings;
    state_.subjects.mark_dirty(entry);
    return fresh;
}

/// Where what was asked of the rule came to no finding yet: it is about to end, which has to be
/// told.
void Findings::open_of_request(Entry& entry, RuleNumber rule) {
    const std::vector<Finding>& findings = entry.subject.findings;
    if (std::none_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.rule == rule; })) {
        open(entry, rule, entry.subject.request->target);
    }
}

void Findings::set_waiting(Entry& entry, Finding& finding, Reason reason, std::string_view count) {
    const bool fresh = finding.state == FindingState::kUnspecified;
    const bool same = finding.reason == reason && finding.count == count;
    if (!fresh && same && finding.state != FindingState::kCommanded) return;
    // Backing off after a failure is the better explanation until it is over.
    if (finding.emit_again > meta_.now && !fresh) return;
    finding.state = state_of(reason);
    finding.reason = reason;
    if (finding.count != count) finding.count = count;
    note_edge(entry, finding);
}

void Findings::resolve(Entry& entry, std::size_t index, Reason reason) {
    std::vector<Finding>& findings = entry.subject.findings;
    Finding& finding = findings[index];
    finding.state = FindingState::kResolved;
    finding.reason = reason;
    note_edge(entry, finding);
    findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(index));
    --meta_.open_findings;
}

void Findings::note_found(Entry& entry, Finding& finding, bool found) {
    if (finding.lapsed != found) return;
    finding.lapsed = !found;
    if (found) {
        finding.since = meta_.now;
    } else if (!ends(entry.subject, finding)) {  // whose steps its record counts
        finding.steps = 0;
        finding.more = false;
    }
    state_.subjects.mark_dirty(entry);
}

void Findings::note_edge(Entry& entry, Finding& finding) {
    const bool opened = finding.last_change < kFirstOffset;
    finding.last_change = record_.offset;
    FindingEdge& edge = report_.findings.add();
    fill_edge(meta_, *state_.plan, entry.subject, finding, edge);
    edge.opened = opened;
    edge.index = index_++;
    edge.append_time = record_.append_time;
    state_.subjects.mark_dirty(entry);
}

/// Approves what waits in this subject and has not changed since it was looked at. How many.
std::uint32_t Findings::approve(Entry& entry, const Approval& approval,
                                std::optional<FindingId> only) {
    std::uint32_t count = 0;
    for (Finding& finding : entry.subject.findings) {
        const bool moved = finding.last_change > approval.offset;
        const bool meant =
            is_about(finding, approval.rule, only) && waits_for(*state_.plan, finding, approval);
        if (!meant || !waits_for_approval(finding)) continue;
        if (moved && TRUEUP_GUARD("approval_of_last_change")) continue;
        finding.approved = true;
        state_.subjects.mark_dirty(entry);
        ++count;
    }
    return count;
}

/// What the subject shows now: another object that comes into it is another question.
void Findings::dismiss(Entry& entry, Finding& finding) {
    finding.dismissed = true;
    finding.dismissed_of.clear();
    for (const Facet& facet : entry.subject.facets) {
        if (facet.present()) finding.dismissed_of.push_back(facet.object_id);
    }
    finding.approved = false;
    finding.state = FindingState::kResolved;
    finding.reason = Reason::kDismissed;
    note_edge(entry, finding);
    --meta_.open_findings;
}

/// Takes back what was asked for, where that is meant and no command of it is under way; also
/// where it came to no finding yet. Its name; empty: nothing is taken back.
std::string Findings::withdraw(Entry& entry, RuleNumber rule, const std::optional<FindingId>& id) {
    auto& request = entry.subject.request;
    const std::vector<PlanRule>& rules = state_.plan->rules;
    bool meant = !id && (rule == kEveryRule || rules[rule.value()].asked_by(request));
    for (const Finding& finding : entry.subject.findings) {
        if (!rules[finding.rule.value()].asked_by(request)) continue;
        if (finding.command) return {};
        meant = meant || is_about(finding, rule, id);
    }
    if (!request || !meant) return {};
    std::string name = std::move(request->name);
    request.reset();
    state_.subjects.mark_dirty(entry);
    return name;
}

}  // namespace trueup::core
