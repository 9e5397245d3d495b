#include "engine/core/ending.h"

#include "engine/core/draft.h"

#include <algorithm>

namespace trueup::core {

bool stays(const Facet& facet) { return facet.present() && !deleting(facet); }

const Facet* shown(const Subject& subject, SourceId source, std::string_view object_id) {
    const auto found = std::find_if(
        subject.facets.begin(), subject.facets.end(),
        [&](const Facet& f) { return f.source == source && f.object_id == object_id; });
    return found == subject.facets.end() ? nullptr : &*found;
}

const Facet* shown_by(const Subject& subject, const Settings& settings, Role role,
                      std::string_view object_id) {
    const auto found =
        std::find_if(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
            return settings.sources[facet.source].role == role && facet.object_id == object_id;
        });
    return found == subject.facets.end() ? nullptr : &*found;
}

SourceId source_of(const Meta& meta, const CommandDraft& draft) {
    for (SourceId id = 0; id < meta.source_count(); ++id) {
        if (meta.sources[id].name == draft.target.source) return id;
    }
    return kNoSource;
}

Bound bound_to(Role role, const Facet& object) {
    Bound bound{};
    bound[role] = &object;
    return bound;
}

std::size_t step_of(const PlanRule& rule, const Settings& settings, const Meta& meta,
                    const CommandDraft& draft) {
    const SourceId source = source_of(meta, draft);
    const Role role = source == kNoSource ? kNoRole : settings.sources[source].role;
    const auto step = std::find_if(rule.ending.begin(), rule.ending.end(), [&](const PlanStep& s) {
        return role != kNoRole && s.role == role;
    });
    return static_cast<std::size_t>(step - rule.ending.begin());
}

bool has_values(const Plan& plan, const Settings& settings, const PlanStep& step,
                const Subject& subject, const Facet& object) {
    return std::all_of(step.sets.begin(), step.sets.end(), [&](const PlanAssigned& set) {
        const std::optional<Field> now = object.fields().find(set.field);
        if (set.now()) return !now || now->unchanged || now->value.has_value();
        if (!now || now->unchanged) return false;
        if (!set.value) return !now->value;
        const auto wanted = written(plan, settings, set, subject, bound_to(step.role, object));
        return wanted && now->value && spelled(set, *now->value) == *wanted;
    });
}

/// Can be told what the step writes?
bool values_known(const Plan& plan, const Settings& settings, const PlanStep& step,
                  const Subject& subject, const Facet& object) {
    return std::all_of(step.sets.begin(), step.sets.end(), [&](const PlanAssigned& set) {
        return !set.value || written(plan, settings, set, subject, bound_to(step.role, object));
    });
}

bool ends(const Subject& subject, const Finding& finding) {
    return subject.ending && subject.ending->rule == finding.rule &&
           subject.ending->object_id == finding.object_id;
}

std::string progress_of(const Plan& plan, const Ending& ending) {
    const std::span<const PlanStep> steps = plan.rules[ending.rule.value()].ending;
    std::string text =
        std::to_string(ending.next) + " of " + std::to_string(steps.size()) + " steps done; left: ";
    for (std::size_t i = ending.next; i < steps.size(); ++i) {
        if (i > ending.next) text += ", ";
        text += policy::name_of(steps[i].verb);
        text += ' ' + plan.roles[steps[i].role].name;
    }
    return text;
}

}  // namespace trueup::core
