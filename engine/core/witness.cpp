#include "engine/core/witness.h"

#include "engine/core/words.h"

#include <algorithm>

namespace trueup::core {

namespace {

using Answer = DecidingFact::Answer;
using Kind = DecidingFact::Kind;
using Read = DecidingFact::Read;

Answer answer_of(const Truth& truth) {
    if (truth.no()) return Answer::kNo;
    return truth.yes() ? Answer::kYes : Answer::kUnknown;
}

Read read_of(PlanValue::Kind kind) {
    switch (kind) {
        case PlanValue::Kind::kText:
            return Read::kText;
        case PlanValue::Kind::kNull:
            return Read::kNull;
        case PlanValue::Kind::kNotThere:
            return Read::kNotThere;
        case PlanValue::Kind::kUnsent:
            break;
    }
    return Read::kNotSent;
}

}  // namespace

void Witness::say(std::size_t from, const Truth& truth) {
    for (std::size_t i = from; i < loose_.size(); ++i) {
        loose_[i].came_to = answer_of(truth);
        DecidingFact& fact = loose_[i].fact;
        if (loose_[i].beside) continue;
        fact.answer = answer_of(truth);
        if (truth.is != Truth::Is::kUnknown) fact.why = Reason::kNone;
        if (truth.is == Truth::Is::kUnknown && fact.why == Reason::kNone) fact.why = truth.why;
    }
}

void Witness::keep(std::size_t from, const Truth& whole) {
    const auto other = [&](const Loose& each) { return each.came_to != answer_of(whole); };
    const auto begin = loose_.begin() + static_cast<std::ptrdiff_t>(from);
    loose_.erase(std::remove_if(begin, loose_.end(), other), loose_.end());
}

void Witness::leave_out(std::size_t from, const Truth& part) {
    const auto is = [&](const Loose& each) { return each.came_to == answer_of(part); };
    const auto begin = loose_.begin() + static_cast<std::ptrdiff_t>(from);
    loose_.erase(std::remove_if(begin, loose_.end(), is), loose_.end());
}

void Witness::add(DecidingFact fact, bool beside) {
    const bool known = std::any_of(loose_.begin(), loose_.end(),
                                   [&](const Loose& each) { return each.fact == fact; });
    if (known) return;
    const DecidingFact::Answer answer = fact.answer;
    loose_.push_back({std::move(fact), answer, beside});
}

std::vector<DecidingFact> Witness::take_loose() {
    std::vector<DecidingFact> facts;
    for (Loose& each : loose_) facts.push_back(std::move(each.fact));
    loose_.clear();
    return facts;
}

DecidingFact Witness::of_source(SourceId source, Kind kind) const {
    DecidingFact fact;
    fact.kind = kind;
    fact.source = on_.references.sources[source].name;
    const Role role = on_.settings.sources[source].role;
    if (role < on_.plan.roles.size()) fact.role = on_.plan.roles[role].name;
    return fact;
}

DecidingFact Witness::about(const Facet& facet, Kind kind, const Truth& truth) const {
    DecidingFact fact = of_source(facet.source, kind);
    fact.answer = answer_of(truth);
    fact.why = truth.why;
    fact.object = facet.object_id;
    fact.offset = facet.offset;
    fact.at = facet.changed;
    return fact;
}

DecidingFact Witness::of_field(const Seen& object, std::uint16_t number, std::string asked,
                               const Truth& truth) const {
    const PlanRole& role = on_.plan.roles[object.role];
    DecidingFact fact = about(*object.facet, Kind::kField, truth);
    fact.name = role.fields[number].name;
    const PlanValue value = value_of(role, number, object);
    fact.read = read_of(value.kind);
    fact.value = value.text;
    fact.asked = std::move(asked);
    return fact;
}

void Witness::field(const Seen& object, std::uint16_t number, std::string asked,
                    const Truth& truth) {
    add(of_field(object, number, std::move(asked), truth));
}

void Witness::unbound(const FieldAt& field, std::string asked) {
    const PlanRole& role = on_.plan.roles[field.role];
    DecidingFact fact;
    fact.kind = Kind::kField;
    fact.answer = Answer::kUnknown;
    fact.why = Reason::kIncomplete;
    fact.role = role.name;
    fact.name = role.fields[field.field].name;
    fact.read = Read::kNotSent;
    fact.asked = std::move(asked);
    add(std::move(fact));
}

void Witness::beside(const Seen& object, std::uint16_t number, std::string asked) {
    add(of_field(object, number, std::move(asked), Truth::of(true)), true);
}

void Witness::test(const Seen& object, const PlanTest& test, bool negated, const Truth& truth) {
    field(object, test.field, core::words_of(test, negated), negated ? truth.negated() : truth);
}

void Witness::join(const Seen& object, const PlanJoin& join, bool negated, const Seen* other,
                   const Truth& truth) {
    const auto told = [&](const Seen& one, std::uint16_t number) {
        return value_of(on_.plan.roles[one.role], number, one).kind == PlanValue::Kind::kText;
    };
    // Of two that cannot be compared the one that is there says nothing.
    const bool unknown = truth.is == Truth::Is::kUnknown && truth.why == Reason::kIncomplete;
    const bool own = told(object, join.field);
    const bool theirs = other == nullptr || told(*other, join.other.field);
    const Truth said = negated ? truth.negated() : truth;
    if (!unknown || !own || theirs) {
        field(object, join.field, words_of_join(on_.plan, join, negated), said);
    }
    if (other == nullptr || (unknown && theirs && !own)) return;
    field(*other, join.other.field, "what it is held against", said);
}

void Witness::built_in(const Facet& facet, std::string_view name, std::string asked, bool holds) {
    DecidingFact fact = about(facet, Kind::kField, Truth::of(holds));
    fact.name = name;
    fact.asked = std::move(asked);
    const std::optional<Field> sent = facet.fields().find(name);
    fact.read = !sent             ? Read::kNotThere
                : sent->unchanged ? Read::kNotSent
                : sent->value     ? Read::kText
                                  : Read::kNull;
    if (sent && sent->value) fact.value = *sent->value;
    add(std::move(fact));
}

void Witness::object(const Seen& object, std::string asked, const Truth& truth) {
    DecidingFact fact = about(*object.facet, Kind::kObject, truth);
    fact.asked = std::move(asked);
    add(std::move(fact));
}

void Witness::nobody(Role role, std::span<const SourceId> sources, std::string_view named,
                     const Truth& truth) {
    for (const SourceId id : sources) {
        const SourceState& state = on_.references.sources[id];
        if (!state.known) {
            source(set_aside(state) ? Reason::kQuarantine : Reason::kNotSynced,
                   {std::nullopt, id, {}});
            continue;
        }
        DecidingFact fact = of_source(id, Kind::kNoObject);
        fact.answer = answer_of(truth);
        fact.why = truth.why;
        fact.at = state.complete_as_of;
        fact.asked = "an object of " + on_.plan.roles[role].name;
        fact.name = named;
        for (const Facet& facet : on_.subject.facets) {
            if (facet.source != id || facet.offset <= fact.offset) continue;
            fact.object = facet.object_id;
            fact.offset = facet.offset;
            fact.at = facet.changed;
            fact.value = facet.absence == Absence::kRemoved ? "removed" : "not listed any more";
        }
        add(std::move(fact));
    }
}

void Witness::claims(Role role, std::size_t count, std::string asked, const Truth& truth) {
    DecidingFact fact;
    fact.kind = Kind::kClaims;
    fact.answer = answer_of(truth);
    fact.why = truth.why;
    fact.role = on_.plan.roles[role].name;
    fact.value = std::to_string(count);
    fact.asked = std::move(asked);
    add(std::move(fact));
}

void Witness::source(Reason why, const Wait& wait) {
    if (wait.source == kNoSource) return;
    const SourceState& state = on_.references.sources[wait.source];
    DecidingFact fact = of_source(wait.source, Kind::kSource);
    fact.answer = Answer::kUnknown;
    fact.why = why;
    fact.at = state.complete_as_of;
    fact.name = "heard";
    switch (why) {
        case Reason::kNotSynced:
        case Reason::kQuarantine:
            fact.name = "known";
            fact.value = state.misread                ? "read by another configuration"
                         : why == Reason::kQuarantine ? "in quarantine"
                         : state.open                 ? "listing"
                                                      : "unknown";
            fact.asked = state.misread ? "a connector that reads it by this policy"
                                       : "a complete list of what it has";
            fact.at = state.unknown_since;
            break;
        case Reason::kOwnWrite:
            fact.asked = "past our own last write";
            fact.past = wait.beyond;
            break;
        case Reason::kStale:
            fact.value = "silent";
            fact.asked = "heard within " + core::words_of(on_.settings.stale_after);
            fact.past = on_.references.broker_now - on_.settings.stale_after;
            break;
        default:
            fact.asked = "heard past what was seen";
            fact.past = wait.beyond;
            break;
    }
    add(std::move(fact));
}

/// What says as of when a table is that is filled from elsewhere, where it is that which holds a
/// rule back, and nothing about who says it.
bool Witness::unfilled(const Verdict& held, std::span<const Leaning> leanings) {
    const SourceId by = held.wait.source;
    const bool late = held.reason == Reason::kStale || held.reason == Reason::kAwaitingProgress;
    if (by == kNoSource || !late || doubt(on_, by, BrokerTime{}, Millis{0})) return false;
    const Role said_by = on_.settings.sources[by].role;
    for (const Leaning& each : leanings) {
        const PlanRole& role = on_.plan.roles[on_.settings.sources[each.source].role];
        if (!role.as_of || role.as_of->field.role != said_by) continue;
        as_of(by, *role.as_of, held.reason);
        return true;
    }
    return false;
}

void Witness::as_of(SourceId by, const PlanAsOf& as_of, Reason why) {
    const std::string asked = why == Reason::kStale
                                  ? "filled within " + core::words_of(on_.settings.stale_after)
                                  : "filled past what was seen";
    bool told = false;
    for (const Facet& row : on_.references.about(by, as_of.at).facets) {
        if (row.source != by || !row.present()) continue;
        const Seen seen = as_seen(row, on_.settings, nullptr);
        add(of_field(seen, as_of.field.field, asked, Truth::unknown(why)));
        told = true;
    }
    if (told) return;
    DecidingFact fact = of_source(by, Kind::kNoObject);
    fact.answer = Answer::kUnknown;
    fact.why = why;
    fact.at = on_.references.sources[by].complete_as_of;
    fact.name = as_of.at;
    fact.asked = asked;
    add(std::move(fact));
}

void Witness::heard(SourceId source) {
    DecidingFact fact = of_source(source, Kind::kSource);
    fact.name = "heard";
    fact.at = on_.references.sources[source].complete_as_of;
    add(std::move(fact));
}

void Witness::clock(SourceId source, SourceTime deadline, bool passed) {
    DecidingFact fact = of_source(source, Kind::kClock);
    fact.answer = passed ? Answer::kYes : Answer::kNo;
    fact.name = "clock";
    fact.asked = "past the deadline";
    fact.at = BrokerTime(on_.references.sources[source].source_clock.time_since_epoch());
    fact.past = BrokerTime(deadline.time_since_epoch());
    add(std::move(fact));
}

void Witness::time(std::string_view name, std::string value, std::string asked, Millis left) {
    DecidingFact fact;
    fact.kind = Kind::kTime;
    fact.name = name;
    fact.value = std::move(value);
    fact.asked = std::move(asked);
    if (left > Millis{0}) {
        fact.answer = Answer::kNo;
        fact.left = left;
    }
    add(std::move(fact));
}

void Witness::tally(TallyId tally, bool none) {
    DecidingFact fact;
    fact.kind = Kind::kTally;
    fact.answer = none ? Answer::kYes : Answer::kNo;
    fact.name = on_.plan.tallies[tally].name;
    fact.value = on_.references.sweeping ? "being counted again"
                                         : std::to_string(on_.references.tallies[tally]);
    fact.asked = "0";
    add(std::move(fact));
}

void Witness::kept(std::string_view name, std::string value, std::string asked, bool fine) {
    DecidingFact fact;
    fact.kind = Kind::kKept;
    fact.answer = fine ? Answer::kYes : Answer::kNo;
    fact.name = name;
    fact.value = std::move(value);
    fact.asked = std::move(asked);
    add(std::move(fact));
}

}  // namespace trueup::core
