#include "engine/core/sides.h"

#include "engine/base/guard.h"
#include "engine/core/seen.h"

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

namespace {

/// How far a source has proven itself, by the broker's clock and by its own, and what must happen
/// before it has further.
struct Proven {
    BrokerTime upto{};
    SourceTime clock{};
    SourceId by = kNoSource;
};

std::optional<Doubt> clock_doubt(const Judgement& on, SourceId id) {
    const SourceState& source = on.references.sources[id];
    const Millis skew =
        source.source_clock.time_since_epoch() - source.complete_as_of.time_since_epoch();
    const bool wrong = skew > on.settings.max_clock_skew || skew < -on.settings.max_clock_skew;
    if (!wrong || !TRUEUP_GUARD("source_clock_skew")) return std::nullopt;
    return Doubt{Reason::kClockSkew, {std::nullopt, id, source.complete_as_of}};
}

/// When the last complete filling began by the word of `row`; nullopt: it does not say, or says a
/// time that has not come yet.
std::optional<SourceTime> filled(const Judgement& on, const FieldAt& field, const Facet& row) {
    const Seen seen = as_seen(row, on.settings, nullptr);
    const PlanRole& role = on.plan.roles[field.role];
    const PlanValue value = value_of(role, field.field, seen);
    if (value.kind != PlanValue::Kind::kText) return std::nullopt;
    const std::optional<SourceTime> time = time_in(role.fields[field.field], value.text);
    const Millis ahead = on.settings.max_clock_skew;
    if (!time || BrokerTime(time->time_since_epoch()) - ahead > on.references.broker_now) {
        return std::nullopt;
    }
    return time;
}

/// What it has proven by the word of one source that tells of its fillings.
std::optional<Doubt> told_by(const Judgement& on, SourceId id, SourceId by, const PlanAsOf& as_of,
                             Proven& proven) {
    const Settings& settings = on.settings;
    const Doubt stale{Reason::kStale, {std::nullopt, by, on.references.sources[by].complete_as_of}};
    bool told = false;
    for (const Facet& row : on.references.about(by, as_of.at).facets) {
        if (row.source != by || !row.present()) continue;
        const std::optional<SourceTime> time = filled(on, as_of.field, row);
        if (!time) return stale;
        told = true;
        const BrokerTime beyond = row.changed + settings.max_broker_skew;
        if (on.references.sources[id].complete_as_of <= beyond) {
            return Doubt{Reason::kAwaitingProgress, {std::nullopt, id, beyond}};
        }
        const BrokerTime upto(time->time_since_epoch() - settings.max_clock_skew);
        if (on.references.broker_now - upto > settings.stale_after) return stale;
        if (upto < proven.upto) proven = {upto, SourceTime(upto.time_since_epoch()), by};
    }
    return told ? std::nullopt : std::optional(stale);
}

/// A table that mirrors something else proves what was so when its last complete filling began, and
/// that only once it was heard past the word that tells of it: before, what was filled in may not
/// be in view.
std::optional<Doubt> mirrored(const Judgement& on, SourceId id, const PlanAsOf& as_of,
                              Proven& proven) {
    const std::vector<SourceId>& tellers = on.plan.roles[as_of.field.role].sources;
    if (tellers.empty()) return Doubt{Reason::kStale, {std::nullopt, id, proven.upto}};
    for (const SourceId by : tellers) {
        if (auto why = doubt(on, by, BrokerTime{}, Millis{0})) return why;
        if (auto why = clock_doubt(on, by)) return why;
        if (auto why = told_by(on, id, by, as_of, proven)) return why;
    }
    return std::nullopt;
}

std::optional<Doubt> prove(const Judgement& on, SourceId id, Proven& proven) {
    const SourceState& source = on.references.sources[id];
    proven = {source.complete_as_of, source.source_clock, id};
    const Role role = on.settings.sources[id].role;
    const bool mirror = role < on.plan.roles.size() && on.plan.roles[role].as_of;
    return mirror ? mirrored(on, id, *on.plan.roles[role].as_of, proven) : std::nullopt;
}

}  // namespace

std::optional<Doubt> doubt(const Judgement& on, SourceId source, BrokerTime evidence,
                           Millis window) {
    const SourceState& side = on.references.sources[source];
    for (const auto& [written, time] : on.subject.own_writes) {
        if (written == source && side.complete_as_of <= time && TRUEUP_GUARD("own_write_barrier")) {
            return Doubt{Reason::kOwnWrite, {std::nullopt, source, time}};
        }
    }
    if (!side.known && TRUEUP_GUARD("absence_needs_proof")) {
        return Doubt{set_aside(side) ? Reason::kQuarantine : Reason::kNotSynced,
                     {std::nullopt, source, side.complete_as_of}};
    }
    Proven proven;
    if (auto why = prove(on, source, proven)) return why;
    // How long a window was that nobody watched, nobody knows: a broker's clock may have leapt.
    const BrokerTime from = std::max(evidence, on.references.watched_since);
    const BrokerTime beyond = from + on.settings.max_broker_skew + window;
    if (proven.upto <= beyond && TRUEUP_GUARD("both_sides_fresh")) {
        const bool own = proven.by == source;
        const BrokerTime past = own ? beyond : on.references.sources[proven.by].complete_as_of;
        return Doubt{Reason::kAwaitingProgress, {std::nullopt, proven.by, past}};
    }
    if (on.references.broker_now - proven.upto > on.settings.stale_after) {
        return Doubt{Reason::kStale, {std::nullopt, source, proven.upto}};
    }
    return std::nullopt;
}

std::optional<Verdict> not_yet(const Judgement& on, const Facet& about,
                               std::span<const Leaning> leanings) {
    std::optional<Doubt> first;
    for (const Leaning& each : leanings) {
        const auto why = doubt(on, each.source, each.past, each.window);
        if (why && why->reason == Reason::kOwnWrite) {
            return Verdict::abstain(Reason::kOwnWrite, why->wait);
        }
        if (!first) first = why;
    }
    const JournalTime due = first_detected(on.subject, on.self, about.object_id, on.now) +
                            on.settings.rules[on.self.value()].grace;
    if (on.now < due) {
        return Verdict::waiting(Reason::kGrace, {due, kNoSource, {}}, about.object_id);
    }
    if (first) return Verdict::waiting(first->reason, first->wait, about.object_id);
    return std::nullopt;
}

std::optional<Verdict> not_due(const Judgement& on, SourceId id, SourceTime deadline) {
    if (const auto why = doubt(on, id, BrokerTime{}, Millis{0})) {
        return Verdict::abstain(why->reason, why->wait);
    }
    if (const auto why = clock_doubt(on, id)) return Verdict::abstain(why->reason, why->wait);
    Proven proven;
    static_cast<void>(prove(on, id, proven));  // there is no doubt
    if (proven.clock > deadline) return std::nullopt;
    const BrokerTime upto = on.references.sources[proven.by].complete_as_of;
    Wait next_proof;
    next_proof.source = proven.by;
    const Millis until = upto.time_since_epoch() + (deadline - proven.clock);
    next_proof.beyond = BrokerTime((until / kDeadlineStep + 1) * kDeadlineStep);
    return Verdict::healthy_until(next_proof);
}

}  // namespace trueup::core
