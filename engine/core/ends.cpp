// What can be seen of how a subject's objects ended.
#include "engine/core/by_itself.h"
#include "engine/core/facts.h"

#include <algorithm>
#include <string>

namespace trueup::core {

namespace {

/// `uid=time uid=true`. By whose clock is unknown, so that each counts from its first observation,
/// as every end does (R1, R9).
void add_known(std::string_view text, JournalTime now, Ledger& ledger) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view uid = text.substr(0, std::min(text.find('='), end));
        if (!uid.empty()) ledger.entries.push_back({std::string(uid), End::kFailed, now});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// Whose ends a ledger has; nullptr: nobody's, or of two, and nobody knows whose.
const Seen* whose(const Plan& plan, const Facts& facts) {
    const PlanLedger& ledger = *plan.ledger;
    const Seen* of = nullptr;
    for (const Seen& each : facts.seen) {
        const PlanRole& role = plan.roles[each.role];
        if (each.role != ledger.role || !ours(role, *each.facet)) continue;
        if (by_itself(plan, role.live, each).no()) continue;
        if (of != nullptr) return nullptr;
        of = &each;
    }
    return of;
}

/// How this object came to its end; nullopt: it has not, or was not of `of`.
std::optional<End> end_of(const Plan& plan, const Facet& facet, const Settings& settings,
                          const Seen& of) {
    const PlanLedger& ledger = *plan.ledger;
    if (!facet.present()) {
        // What it was is forgotten; one that came before is of an earlier one of the name.
        const bool its_own = facet.first_seen >= of.facet->first_seen;
        return ledger.gone_failed && its_own ? std::optional(End::kGone) : std::nullopt;
    }
    const Seen object = look_at(plan, facet, settings, of.ledger);
    if (!by_itself(plan, ledger.belongs, object, &of).yes()) return std::nullopt;
    if (by_itself(plan, ledger.failed, object, &of).yes()) return End::kFailed;
    if (by_itself(plan, ledger.succeeded, object, &of).yes()) return End::kSucceeded;
    return std::nullopt;
}

}  // namespace

Ledger ends_of(const Plan& plan, const Subject& subject, const Settings& settings,
               const Facts& facts, JournalTime now) {
    const PlanLedger& ledger = *plan.ledger;
    Ledger seen;
    const Seen* of = whose(plan, facts);
    if (of == nullptr) return seen;
    if (ledger.by_identity) {
        seen.of = of->facet->object_id;
    } else {
        const PlanValue value = value_of(plan.roles[of->role], ledger.of.field, *of);
        if (value.kind != PlanValue::Kind::kText) return seen;
        seen.of = value.text;
    }
    for (const Facet& facet : subject.facets) {
        if (settings.sources[facet.source].role != ledger.objects) continue;
        const std::optional<End> end = end_of(plan, facet, settings, *of);
        if (end) seen.entries.push_back({facet.object_id, *end, now});
    }
    if (ledger.known.role == of->role) {
        add_known(value_of(plan.roles[of->role], ledger.known.field, *of).text, now, seen);
    }
    return seen;
}

}  // namespace trueup::core
