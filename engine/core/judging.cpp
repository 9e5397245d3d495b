// One subject is judged by the rules that may have something to say of it.
#include "engine/core/judging.h"

#include "engine/base/guard.h"
#include "engine/core/aftermaths.h"
#include "engine/core/awaited.h"
#include "engine/core/brake.h"
#include "engine/core/carrying_on.h"
#include "engine/core/endings.h"
#include "engine/core/findings.h"
#include "engine/core/marks.h"
#include "engine/core/outcomes.h"
#include "engine/core/rule_set.h"
#include "engine/core/verdicts.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trueup::core {

namespace {

constexpr Millis kRequestHolds{86'400'000};

constexpr std::size_t kMostEnds = 16;  // that a ledger needs to know: backoffs stop growing sooner

/// Those that the bits do not rule out.
RuleSet that_fit(const Plan& plan, const Bits& may, const Word& word) {
    RuleSet rules;
    for (const RuleMask& each : plan.masks) {
        if (Facts::fits(each.mask, may, word)) rules.add(each.rule);
    }
    return rules;
}

/// Those of which the subject has something that a verdict could change, if it is healthy; of an
/// object without a key also those that report it.
void add_open(const Plan& plan, const Subject& subject, RuleSet& rules) {
    for (const Finding& finding : subject.findings) rules.add(finding.rule);
    if (!subject.request && !subject.reference()) return;
    for (std::size_t i = 0; i < plan.rules.size(); ++i) {
        const bool asked = plan.rules[i].asked_by(subject.request);
        if (asked || (subject.reference() && plan.rules[i].keyless)) {
            rules.add(RuleNumber(static_cast<std::uint8_t>(i)));
        }
    }
}

}  // namespace

void Judging::judge(Marks::Marked& marked) {
    Entry& entry = *marked.entry;
    Subject& subject = entry.subject;
    if (entry.erased) return;
    awaited_.clear();
    const bool found = !subject.findings.empty();
    if (found) outcomes_.tend_commands(entry);
    if (state_.plan->ledger) keep_ledger(entry, marked.word);
    if (found) findings_.void_dismissals(entry);
    if (subject.aftermath) aftermaths_.tend_aftermath(entry);
    if (subject.ending) carrying_on_.tend_ending(entry);
    if (subject.request) expire_request(entry);
    if (!subject.ending || !TRUEUP_GUARD("ending_stands_alone")) {
        judge_rules(entry, marked.word);
    } else if (subject.ending->stage == Ending::Stage::kTaking) {
        note_lapse(entry);
    }
    if (subject.ending) endings_.stand_back(entry);
    for (const Finding& finding : subject.findings) {
        if (finding.command) {
            // When it expires, if the broker's clock and the watched one go on side by side.
            const JournalTime over =
                meta_.now + (finding.command->not_after + meta_.settings.max_broker_skew +
                             Millis{1} - meta_.broker_now);
            const bool again = !brakes_.stopped(subject, finding);
            awaited_.wait_for({again ? std::min(finding.emit_again, over) : over, kNoSource, {}});
        } else if (finding.emit_again > meta_.now) {
            awaited_.wait_for({finding.emit_again, kNoSource, {}});
        }
    }
    if (!subject.own_writes.empty()) forget_seen_writes(entry);
    if (subject.aftermath) {
        const std::optional<JournalTime> forgets = aftermaths_.forgets_at(subject);
        if (forgets) awaited_.wait_for({*forgets, kNoSource, {}});
    }
    awaited_.renew_waits(entry);
    recount(entry);
}

/// Keeps the counts of subjects that are there, and of those that are wrong: about which a rule
/// would do something. What is only reported says nothing against a source.
void Judging::recount(Entry& entry) {
    Subject& subject = entry.subject;
    const bool present =
        !subject.reference() &&
        std::any_of(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
            return facet.present() && meta_.settings.sources[facet.source].role != kNoRole;
        });
    const auto counts = [&](const Finding& finding) {
        return !finding.dismissed && !state_.plan->rules[finding.rule.value()].does.empty();
    };
    const bool wrong =
        present && std::any_of(subject.findings.begin(), subject.findings.end(), counts);
    if (present == subject.present && wrong == subject.wrong) return;
    meta_.present = meta_.present + (present ? 1 : 0) - (subject.present ? 1 : 0);
    meta_.wrong = meta_.wrong + (wrong ? 1 : 0) - (subject.wrong ? 1 : 0);
    subject.present = present;
    subject.wrong = wrong;
    state_.subjects.mark_dirty(entry);
}

/// What was granted a day ago and never came to an act is told so, and is nobody's wish any more.
void Judging::expire_request(Entry& entry) {
    Subject& subject = entry.subject;
    if (subject.ending) return;
    const std::vector<PlanRule>& rules = state_.plan->rules;
    const auto asked = std::find_if(rules.begin(), rules.end(), [&](const PlanRule& rule) {
        return rule.asked_by(subject.request);
    });
    // The policy has no rule for it any more. One that comes back later was not asked for.
    if (asked == rules.end()) {
        subject.request.reset();
        return state_.subjects.mark_dirty(entry);
    }
    const JournalTime over = subject.request->since + kRequestHolds;
    if (meta_.now < over) return awaited_.wait_for({over, kNoSource, {}});
    findings_.open_of_request(entry, RuleNumber(static_cast<std::uint8_t>(asked - rules.begin())));
    for (std::size_t i = subject.findings.size(); i > 0; --i) {
        const Finding& finding = subject.findings[i - 1];
        const PlanRule& rule = state_.plan->rules[finding.rule.value()];
        if (!rule.asked_by(subject.request) || finding.dismissed) continue;
        if (finding.command) return;  // its outcome comes first
        findings_.resolve(entry, i - 1, Reason::kExpired);
    }
    subject.request.reset();
    state_.subjects.mark_dirty(entry);
}

void Judging::judge_rules(Entry& entry, const Word& word) {
    const Plan& plan = *state_.plan;
    const Subject& subject = entry.subject;
    const bool reference = subject.reference();
    RuleSet fit;
    if (!reference) fit = that_fit(plan, may_be(plan, meta_.sources, word), word);
    RuleSet open = fit;
    add_open(plan, subject, open);
    bool looked = false;
    open.each([&](RuleNumber rule) {
        const bool judged = reference ? plan.rules[rule.value()].keyless : fit.has(rule);
        if (!judged || meta_.settings.rules[rule.value()].mode == Mode::kOff) {
            verdicts_.settle(entry, rule, Verdict::healthy());
            return true;
        }
        if (!std::exchange(looked, true)) look(entry);
        verdicts_.settle(entry, rule,
                         state_.judge({plan, subject, facts_, marks_.references(), meta_.settings,
                                       rule, meta_.now}));
        // It has begun with this.
        return !subject.ending || !TRUEUP_GUARD("ending_stands_alone");
    });
}

/// Nothing is judged while the first deletion of an ending is under way. Whether its rule finds the
/// same still decides from when on the grace of the next one counts, should this one fail.
void Judging::note_lapse(Entry& entry) {
    Subject& subject = entry.subject;
    const RuleNumber rule = subject.ending->rule;
    if (meta_.settings.rules[rule.value()].mode == Mode::kOff) return;
    look(entry);
    auto ending = std::exchange(subject.ending, {});
    const Verdict verdict = state_.judge(
        {*state_.plan, subject, facts_, marks_.references(), meta_.settings, rule, meta_.now});
    subject.ending = std::move(ending);
    if (verdict.kind == Verdict::Kind::kAbstain) return;
    const bool found =
        verdict.kind != Verdict::Kind::kHealthy && verdict.object_id == subject.ending->object_id;
    for (Finding& finding : subject.findings) {
        const bool face = finding.rule == rule && finding.object_id == subject.ending->object_id;
        if (face) findings_.note_found(entry, finding, found);
    }
}

/// Writes down each end that is seen for the first time.
void Judging::keep_ledger(Entry& entry, Word& word) {
    Subject& subject = entry.subject;
    look(entry);
    Ledger seen = ends_of(*state_.plan, subject, meta_.settings, facts_, meta_.now);
    const bool same = subject.ledger && subject.ledger->of == seen.of;
    if (!same && seen.entries.empty() && !subject.ledger) return;
    Ledger kept = same ? *subject.ledger : Ledger{std::move(seen.of), {}};
    const auto has = [](const Ledger& ledger, const std::string& object_id) {
        return std::any_of(ledger.entries.begin(), ledger.entries.end(),
                           [&](const Ledger::Entry& e) { return e.object_id == object_id; });
    };
    for (const Ledger::Entry& end : seen.entries) {
        if (!has(kept, end.object_id)) kept.entries.push_back(end);
    }
    // What can still be seen must stay known, or it would count anew.
    while (kept.entries.size() > kMostEnds && !has(seen, kept.entries.front().object_id)) {
        kept.entries.erase(kept.entries.begin());
    }
    if (same && kept == *subject.ledger) return;
    subject.ledger = std::move(kept);
    state_.subjects.mark_dirty(entry);
    forget_answers(subject);
    look(entry);
    word = facts_.word;
}

/// A write that its source has proven itself past is in view.
void Judging::forget_seen_writes(Entry& entry) {
    auto& writes = entry.subject.own_writes;
    const auto seen = [&](const std::pair<SourceId, BrokerTime>& write) {
        return meta_.sources[write.first].complete_as_of > write.second;
    };
    const auto kept = std::remove_if(writes.begin(), writes.end(), seen);
    if (kept == writes.end()) return;
    writes.erase(kept, writes.end());
    state_.subjects.mark_dirty(entry);
}

}  // namespace trueup::core
