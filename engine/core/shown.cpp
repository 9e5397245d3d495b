// The objects that a pattern is about: those of the subject, and references that are looked up; who
// must prove what is said of them, and what it is worth that there are none.
#include "engine/base/guard.h"
#include "engine/core/evaluation_asked.h"

#include <algorithm>

namespace trueup::core {

Evaluation::Shown Evaluation::objects_of(const PlanPattern& pattern, const Found& bound) const {
    Shown found;
    const PlanRole& of = role(pattern.role);
    found.sources = sources_of(pattern, bound);
    for (const SourceId source : found.sources) {
        const bool known = on_.references.sources[source].known;
        // Unknown is not absent: without a complete epoch of the present owner nothing is proven.
        found.known = found.known && (known || !TRUEUP_GUARD("absence_needs_proof"));
    }
    if (!of.reference) {
        for (const Seen& seen : facts_) {
            if (seen.role == pattern.role) found.all.push_back(&seen);
        }
        return found;
    }
    const std::optional<std::string_view> name = looked_up(pattern, bound);
    if (!name) {
        found.known = found.asked = false;
        return found;
    }
    found.named = *name;
    for (const SourceId source : found.sources) {
        for (const Facet& facet : on_.references.about(source, *name).facets) {
            if (facet.source == source && facet.present()) {
                found.looked_up.push_back(look_at(on_.plan, facet, on_.settings, nullptr));
            }
        }
    }
    for (const Seen& seen : found.looked_up) found.all.push_back(&seen);
    return found;
}

std::optional<std::string_view> Evaluation::looked_up(const PlanPattern& pattern,
                                                      const Found& bound) const {
    if (!pattern.named_literal.empty()) return pattern.named_literal;
    const Seen* by = bound[pattern.named.role];
    const PlanValue name = by == nullptr ? PlanValue{PlanValue::Kind::kUnsent, {}}
                                         : value_of(role(by->role), pattern.named.field, *by);
    const std::vector<SourceId>& sources = role(pattern.role).sources;
    const bool may_be = std::all_of(sources.begin(), sources.end(), [&](SourceId source) {
        return may_be_named(on_.references.sources[source].name, name.text);
    });
    if (!may_be) {
        note(pattern.named, "a name to look up", bound, Truth::unknown(Reason::kIncomplete));
        return std::nullopt;
    }
    if (watch_) watch_->beside(*by, pattern.named.field, "the name that is looked up");
    return name.text;
}

/// `in: F`: that of its scope. Which one that is may not be known: then all must prove it.
Sources Evaluation::sources_of(const PlanPattern& pattern, const Found& bound) const {
    const std::vector<SourceId>& all = role(pattern.role).sources;
    const std::optional<std::string_view> scope = scope_of(pattern, bound);
    if (!scope) return Sources(all);
    Sources some;
    for (const SourceId source : all) {
        if (on_.settings.sources[source].scope == *scope) some.push_back(source);
    }
    return some;
}

std::optional<std::string_view> Evaluation::scope_of(const PlanPattern& pattern,
                                                     const Found& bound) const {
    if (pattern.in.role == kNoRole || bound[pattern.in.role] == nullptr) return std::nullopt;
    const Seen& by = *bound[pattern.in.role];
    const PlanValue scope = value_of(role(by.role), pattern.in.field, by);
    if (scope.kind != PlanValue::Kind::kText) return std::nullopt;
    return scope.text;
}

/// `in: F`: does anybody look at that scope? One that nobody looks at proves nothing.
Truth Evaluation::watched(const PlanPattern& pattern, const Found& bound) const {
    if (pattern.in.role == kNoRole) return Truth::of(true);
    const Truth truth = scope_of(pattern, bound) ? Truth::of(!sources_of(pattern, bound).empty())
                                                 : Truth::unknown(Reason::kIncomplete);
    note(pattern.in, "a scope that a source looks at", bound, truth);
    return truth;
}

/// Of a pattern whose role shows nothing.
Truth Evaluation::nobody(const PlanPattern& pattern, const Shown& objects, bool none) const {
    const Reason why = objects.asked ? Reason::kNotSynced : Reason::kIncomplete;
    const Truth truth = objects.known ? Truth::of(none) : Truth::unknown(why);
    if (watch_ && objects.asked) {
        watch_->nobody(pattern.role, objects.sources, objects.named, truth);
    }
    return truth;
}

}  // namespace trueup::core
