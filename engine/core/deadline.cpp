// The deadline of a case: whether it is passed, by whose clock, and what to say until then.
#include "engine/core/decisions.h"
#include "engine/core/evaluation_asked.h"
#include "engine/core/row_time.h"

namespace trueup::core {

namespace {

/// Are both objects bound that the deadline is read from?
bool binds(const PlanDeadline& past, const Found& bound) {
    const auto* length = std::get_if<FieldAt>(&past.length);
    return bound[past.from.role] != nullptr &&
           (length == nullptr || bound[length->role] != nullptr);
}

/// Is there a value, and can it be read?
Truth readable(const PlanValue& value, bool read) {
    if (value.kind == PlanValue::Kind::kUnsent) return Truth::unknown(Reason::kIncomplete);
    if (value.kind != PlanValue::Kind::kText) return Truth::of(false);
    return read ? Truth::of(true) : Truth::unknown(Reason::kUnreadable);
}

}  // namespace

/// It is only reported, once it is due; of a deadline that another object has nothing is known.
Decision Evaluation::without_key(const PlanCase& found, const Found& bound,
                                 const Facet& about) const {
    if (found.past) {
        const bool asked = binds(*found.past, bound);
        const auto early = asked ? before(*found.past, bound) : std::nullopt;
        if (early) return *early;
    }
    return reported(about);
}

/// `nullopt` once the source's own clock has passed it; else what to say until then.
std::optional<Decision> Evaluation::before(const PlanDeadline& past, const Found& bound) const {
    // A plan that compiles binds both. Where one did not, nobody would know when it is over.
    if (!binds(past, bound)) return abstain(Reason::kIncomplete);
    const Seen& object = *bound[past.from.role];
    const PlanValue from = value_of(role(object.role), past.from.field, object);
    const auto* field = std::get_if<FieldAt>(&past.length);
    using Kind = PlanValue::Kind;
    PlanValue length{Kind::kText, {}};
    if (field != nullptr) {
        length = value_of(role(field->role), field->field, *bound[field->role]);
    }
    const std::optional<SourceTime> begins =
        time_in(role(object.role).fields[past.from.field], from.text);
    const std::optional<Millis> lasts = field == nullptr
                                            ? std::optional(std::get<Millis>(past.length))
                                            : parse_duration(length.text);
    if (watch_) note_deadline(past, bound, readable(from, begins.has_value()), length, lasts);
    if (from.kind == Kind::kUnsent || length.kind == Kind::kUnsent) {
        return abstain(Reason::kIncomplete);
    }
    if (from.kind != Kind::kText || length.kind != Kind::kText) return Decision{};
    if (!begins || !lasts) return waiting(Reason::kUnreadable, *object.facet);
    if (*lasts <= Millis{0}) return Decision{};
    const auto early = not_due(on_, object.facet->source, *begins + *lasts);
    if (watch_) note_clock(early, object.facet->source, *begins + *lasts);
    return early ? std::optional(as_said(*early, *object.facet)) : std::nullopt;
}

void Evaluation::note_deadline(const PlanDeadline& past, const Found& bound, const Truth& begins,
                               const PlanValue& length, const std::optional<Millis>& lasts) const {
    watch_.at(Stage::kDeadline);
    note(past.from, "the time that the deadline counts from", bound, begins);
    const auto* field = std::get_if<FieldAt>(&past.length);
    if (field == nullptr) return;
    const bool never = lasts && *lasts <= Millis{0};
    note(*field, "how long it lasts", bound,
         never ? Truth::of(false) : readable(length, lasts.has_value()));
}

void Evaluation::note_clock(const std::optional<Verdict>& early, SourceId source,
                            SourceTime deadline) const {
    const bool told =
        !early || early->kind == Verdict::Kind::kHealthy || early->reason == Reason::kClockSkew;
    if (told) return watch_->clock(source, deadline, !early);
    watch_.forget(0);
    watch_->source(early->reason, early->wait);
}

}  // namespace trueup::core
