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
    if (!draft.action.propagation.empty()) text += ", propagation " + draft.action.propagation;
    for (const Assignment& set : draft.action.sets) {
        text += fmt::format(" {}={}", set.column, set.value ? "'" + *set.value + "'" : "null");
    }
    return text;
}

namespace {

/// The first field with a list of words that decides whether an object is live; empty: there is
/// none. Other fields may say anything.
std::string status_field(const policy::Role& role, const policy::Condition& live) {
    if (live.kind == policy::Condition::Kind::kTest) {
        const policy::Field* field = policy::find_field(role, live.test.field);
        return field == nullptr || field->words.empty() ? std::string() : field->name;
    }
    for (const policy::Condition& part : live.parts) {
        if (std::string field = status_field(role, part); !field.empty()) return field;
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
    const policy::Role& text = settings.text->roles[role];
    const std::string field = status_field(text, text.live);
    for (const Fact& fact : look.facts) {
        if (fact.kind != Fact::Kind::kUpsert) continue;
        row.object = fact.object;
        const std::optional<std::string_view> status = row.fields().text(field);
        if (!field.empty()) ++statuses.count[status ? std::string(*status) : "(none)"];
        if (!core::claim_of(*plan, row, settings).no()) ++statuses.live;
    }
    return statuses;
}

}  // namespace trueup::apps
