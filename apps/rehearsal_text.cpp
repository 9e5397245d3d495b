// What a rehearsal proposes in words, and what statuses a look has seen.
#include "apps/rehearsal.h"
#include "engine/base/check.h"
#include "engine/core/fold.h"

#include <fmt/format.h>

namespace trueup::apps {

std::string text_of(const CommandDraft& draft) {
    std::string text =
        fmt::format("{} {}", name_of(draft.action.kind),
                    draft.target.name.empty() ? draft.target.object_id : draft.target.name);
    if (draft.action.kind == Action::Kind::kDeletePod) {
        const auto& seconds = draft.action.grace_seconds;  // none: the pod's own
        const std::string to_end = seconds ? fmt::format(", {} s to end", *seconds) : "";
        return text + fmt::format(" (uid {}{})", draft.target.object_id, to_end);
    }
    for (const Assignment& set : draft.action.sets) {
        text += fmt::format(" {}={}", set.column, set.value ? "'" + *set.value + "'" : "null");
    }
    return text;
}

namespace {

/// The first field that decides whether an object is live; empty: every object is.
std::string status_field(const policy::Condition& live) {
    const bool asks = live.kind == policy::Condition::Kind::kTest;
    if (asks && live.test.op != policy::Op::kIs) return live.test.field;
    for (const policy::Condition& part : live.parts) {
        if (std::string field = status_field(part); !field.empty()) return field;
    }
    return {};
}

}  // namespace

Statuses statuses_of(const Look& look, const Settings& settings) {
    Statuses statuses;
    const Result<core::Plan> plan = core::compile(*settings.text, settings);
    TRUEUP_CHECK(plan.ok());  // the configuration was checked
    Role role = kNoRole;
    Facet row;
    for (std::size_t id = 0; id < settings.sources.size(); ++id) {
        if (settings.sources[id].name != look.source) continue;
        row.source = static_cast<SourceId>(id);
        role = settings.sources[id].role;
    }
    if (role >= plan->roles.size()) return statuses;
    const std::string field = status_field(settings.text->roles[role].live);
    for (const Fact& fact : look.facts) {
        if (fact.kind != Fact::Kind::kUpsert) continue;
        row.object = fact.object;
        const std::optional<std::string_view> status =
            field.empty() ? "any" : row.fields().text(field);
        ++statuses.count[status ? std::string(*status) : "(none)"];
        if (!core::claim_of(*plan, row, settings).no()) ++statuses.live;
    }
    return statuses;
}

}  // namespace trueup::apps
