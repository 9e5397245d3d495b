#include "engine/core/sides.h"

#include "engine/base/guard.h"

#include <algorithm>

namespace trueup::core {

namespace {

/// Deadlines are looked at in steps of this: what many subjects wait for is one moment then.
constexpr Millis kDeadlineStep{10'000};

}  // namespace

const Finding* open_finding(const Subject& subject, RuleNumber rule, std::string_view object_id) {
    const auto found =
        std::find_if(subject.findings.begin(), subject.findings.end(),
                     [&](const Finding& f) { return f.rule == rule && f.object_id == object_id; });
    return found == subject.findings.end() ? nullptr : &*found;
}

JournalTime first_detected(const Subject& subject, RuleNumber rule, std::string_view object_id,
                           JournalTime now) {
    const Finding* finding = open_finding(subject, rule, object_id);
    return finding == nullptr || finding->lapsed ? now : finding->since;
}

std::optional<Doubt> doubt(const Subject& subject, const References& references,
                           const Settings& settings, SourceId source, BrokerTime evidence,
                           Millis window) {
    const SourceState& side = references.sources[source];
    const BrokerTime proven = side.complete_as_of;
    for (const auto& [written, time] : subject.own_writes) {
        if (written == source && proven <= time && TRUEUP_GUARD("own_write_barrier")) {
            return Doubt{Reason::kOwnWrite, {std::nullopt, source, time}};
        }
    }
    if (!side.known && TRUEUP_GUARD("absence_needs_proof")) {
        return Doubt{
            side.quarantine != Quarantine::kNone ? Reason::kQuarantine : Reason::kNotSynced,
            {std::nullopt, source, proven}};
    }
    // How long a window was that nobody watched, nobody knows: a broker's clock may have leapt.
    const BrokerTime from = std::max(evidence, references.watched_since);
    const BrokerTime beyond = from + settings.max_broker_skew + window;
    if (proven <= beyond && TRUEUP_GUARD("both_sides_fresh")) {
        return Doubt{Reason::kAwaitingProgress, {std::nullopt, source, beyond}};
    }
    if (references.broker_now - proven > settings.stale_after) {
        return Doubt{Reason::kStale, {std::nullopt, source, proven}};
    }
    return std::nullopt;
}

std::optional<Verdict> not_yet(const Subject& subject, const References& references,
                               const Settings& settings, RuleNumber self, JournalTime now,
                               const Facet& about, std::span<const Leaning> leanings) {
    std::optional<Doubt> first;
    for (const Leaning& each : leanings) {
        const auto why = doubt(subject, references, settings, each.source, each.past, each.window);
        if (why && why->reason == Reason::kOwnWrite) {
            return Verdict::abstain(Reason::kOwnWrite, why->wait);
        }
        if (!first) first = why;
    }
    const JournalTime due =
        first_detected(subject, self, about.object_id, now) + settings.rules[self.value()].grace;
    if (now < due) {
        return Verdict::waiting(Reason::kGrace, {due, kNoSource, {}}, about.object_id);
    }
    if (first) return Verdict::waiting(first->reason, first->wait, about.object_id);
    return std::nullopt;
}

std::optional<Verdict> not_due(const Subject& subject, const References& references,
                               const Settings& settings, SourceId id, SourceTime deadline) {
    if (const auto why = doubt(subject, references, settings, id, BrokerTime{}, Millis{0})) {
        return Verdict::abstain(why->reason, why->wait);
    }
    const SourceState& source = references.sources[id];
    const BrokerTime proven = source.complete_as_of;
    Wait next_proof;
    next_proof.source = id;
    next_proof.beyond = proven;
    const Millis skew = source.source_clock.time_since_epoch() - proven.time_since_epoch();
    if ((skew > settings.max_clock_skew || skew < -settings.max_clock_skew) &&
        TRUEUP_GUARD("source_clock_skew")) {
        return Verdict::abstain(Reason::kClockSkew, next_proof);
    }
    if (source.source_clock > deadline) return std::nullopt;
    const Millis until = proven.time_since_epoch() + (deadline - source.source_clock);
    next_proof.beyond = BrokerTime((until / kDeadlineStep + 1) * kDeadlineStep);
    return Verdict::healthy_until(next_proof);
}

}  // namespace trueup::core
