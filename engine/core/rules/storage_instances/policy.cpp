#include "engine/core/rules/storage_instances/policy.h"

#include "engine/core/rules/objects.h"

#include <array>
#include <utility>

namespace trueup::core::storage_instances {

namespace {

constexpr Standing kOurs{Standing::Kind::kOurs, Reason::kNone};
constexpr Standing kOrphaned{Standing::Kind::kOrphaned, Reason::kNone};
constexpr Standing undecided(Reason why) { return {Standing::Kind::kUndecided, why}; }

std::string_view text(const Facet& facet, std::string_view field) {
    return facet.fields().text(field).value_or("");
}

/// An instance that may be recorded: it runs, and it has an identity (L15).
bool candidate(const Facet& instance) {
    const std::string_view state = text(instance, "state");
    return state != "starting" && state != "stopping" && state != "stopped" &&
           !text(instance, "uuid").empty();
}

/// The decision of L1 to L5 over the one custom resource.
Standing by_object(const Facet& object, const Facet& instance) {
    const std::optional<std::string_view> desired = object.fields().text("desire_state");
    const std::optional<std::string_view> current = object.fields().text("current_state");
    if (!desired || !current) return undecided(Reason::kIncomplete);
    if (*desired != *current) return undecided(Reason::kTransition);  // L2
    const bool elsewhere = text(object, "manager") != text(instance, "manager");
    if (*current == "running") {  // L3
        if (text(object, "owner") != text(object, "node")) return undecided(Reason::kTransition);
        return elsewhere ? kOrphaned : kOurs;
    }
    if (*current == "stopped") return elsewhere ? kOrphaned : kOurs;  // L4
    return undecided(Reason::kTransition);                            // L5
}

/// The place that the instance runs in: its manager runs, its node is there. Where it is not, there
/// is nothing to record (L7).
Standing by_place(const References& references, const Settings& settings, const Facet& instance) {
    const SourceId managers = settings.source(kManagers);
    const SourceId nodes = settings.source(kNodes);
    const Side manager(references.about(managers, text(instance, "manager")), references, managers);
    const Side node(references.about(nodes, text(instance, "node")), references, nodes);
    if (manager.unknown() || node.unknown()) return undecided(Reason::kNotSynced);
    if (manager.absent() || node.absent()) return kOurs;
    if (text(*manager.present().front(), "state") != "running") return kOurs;
    return node.present().front()->fields().is("evicted", "true") ? kOurs : kOrphaned;
}

bool records(const Facet& record, const Facet& instance) {
    return text(record, "manager") == text(instance, "manager") &&
           text(record, "data_engine") == text(instance, "data_engine");
}

bool has_record(const Subject& subject, const Settings& settings, const Facet& instance) {
    for (const Facet* record : PresentFacets(subject, settings.source(kOrphans))) {
        if (records(*record, instance)) return true;
    }
    return false;
}

CommandDraft create_record(const Subject& subject, const References& references,
                           const Settings& settings, const Facet& instance) {
    const std::string& orphans = references.sources[settings.source(kOrphans)].name;
    const SourceId objects = settings.source(kObjects);
    const std::string name(subject.name());
    CommandDraft draft;
    draft.target = {orphans, instance.object_id, name, {}};
    draft.action.kind = Action::Kind::kCreateObject;
    for (const char* field : {"data_engine", "manager", "node", "uuid"}) {
        draft.action.sets.push_back({field, std::string(text(instance, field))});
    }
    draft.read_set = still_says(references.sources[settings.source(kInstances)].name, instance,
                                {"state", "uuid"});
    const PresentFacets present(subject, objects);
    const std::string& source = references.sources[objects].name;
    if (present.empty()) {
        draft.read_set.push_back({Predicate::Kind::kNone, source, {}, "name", name});
    } else {
        const std::vector<Predicate> still =
            still_says(source, *present.front(), {"desire_state", "current_state", "manager"});
        draft.read_set.insert(draft.read_set.end(), still.begin(), still.end());
    }
    return draft;
}

CommandDraft retract(const Subject& subject, const References& references, const Settings& settings,
                     const Facet& record) {
    const std::string& orphans = references.sources[settings.source(kOrphans)].name;
    CommandDraft draft;
    draft.target = {orphans, record.object_id, std::string(subject.name()), {}};
    draft.action.kind = Action::Kind::kRetractRecord;
    draft.read_set = {{Predicate::Kind::kExists, orphans, record.object_id, {}, {}}};
    return draft;
}

}  // namespace

Standing standing_of(const Subject& subject, const References& references, const Settings& settings,
                     const Facet& instance) {
    if (!candidate(instance)) return kOurs;
    const Side objects(subject, references, settings.source(kObjects));
    if (objects.unknown()) return undecided(Reason::kNotSynced);
    if (objects.present().size() > 1) return undecided(Reason::kDuplicateClaim);
    const Standing standing =
        objects.present().empty() ? kOrphaned : by_object(*objects.present().front(), instance);
    if (standing.kind != Standing::Kind::kOrphaned) return standing;
    return by_place(references, settings, instance);
}

Verdict judge_orphaned_instance(const Subject& subject, const References& references,
                                const Settings& settings, std::uint8_t self, JournalTime now) {
    Verdict otherwise = Verdict::healthy();
    for (const Facet* instance : PresentFacets(subject, settings.source(kInstances))) {
        const Standing standing = standing_of(subject, references, settings, *instance);
        if (standing.kind == Standing::Kind::kUndecided) otherwise = Verdict::abstain(standing.why);
        if (standing.kind != Standing::Kind::kOrphaned) continue;
        if (has_record(subject, settings, *instance)) continue;
        if (vetoed(*instance)) return Verdict::abstain(Reason::kVeto);
        const Disagreement found{*instance, BrokerTime{}, settings.source(kObjects),
                                 instance->first_seen, settings.rules[self].create_window};
        if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
        if (auto held = unheard(
                subject, references, settings,
                {settings.source(kManagers), settings.source(kNodes), settings.source(kOrphans)},
                instance->object_id)) {
            return *held;
        }
        Verdict verdict = Verdict::act(instance->object_id,
                                       create_record(subject, references, settings, *instance));
        verdict.harmless = true;
        return verdict;
    }
    return otherwise;
}

Verdict judge_stale_record(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now) {
    const Side instances(subject, references, settings.source(kInstances));
    for (const Facet* record : PresentFacets(subject, settings.source(kOrphans))) {
        if (deleting(*record)) continue;
        if (instances.unknown()) return Verdict::abstain(Reason::kNotSynced);
        Standing standing = kOurs;
        for (const Facet* instance : instances.present()) {
            if (!records(*record, *instance)) continue;
            standing = standing_of(subject, references, settings, *instance);
            if (standing.kind != Standing::Kind::kOurs) break;
        }
        if (standing.kind == Standing::Kind::kOrphaned) continue;
        if (standing.kind == Standing::Kind::kUndecided) return Verdict::abstain(standing.why);
        if (vetoed(*record)) return Verdict::abstain(Reason::kVeto);
        const Disagreement found{*record, BrokerTime{}, settings.source(kInstances),
                                 record->first_seen};
        if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
        if (auto held = unheard(
                subject, references, settings,
                {settings.source(kObjects), settings.source(kManagers), settings.source(kNodes)},
                record->object_id)) {
            return *held;
        }
        return Verdict::act(record->object_id, retract(subject, references, settings, *record));
    }
    return Verdict::healthy();
}

namespace {

constexpr std::array<RoleKind, 5> kRoles{
    {{.name = "objects", .topic = Topic::kChangesResources},
     {.name = "instances", .topic = Topic::kChangesResources},
     {.name = "managers", .topic = Topic::kChangesResources, .reference = true},
     {.name = "nodes", .topic = Topic::kChangesResources, .reference = true},
     {.name = "orphans", .topic = Topic::kChangesResources}}};

constexpr std::array<Rule, 2> kRules{{
    {.name = "orphaned_instance",
     .judge = judge_orphaned_instance,
     .finds = "instance that should not run there"},
    {.name = "stale_record", .judge = judge_stale_record, .finds = "record of no orphan any more"},
}};

}  // namespace

const Policy kPolicy{.name = "storage-instances",
                     .roles = kRoles,
                     .rules = kRules,
                     .tallies = {},
                     .count = count_nothing,
                     .owned_by = owned_by_nobody};

}  // namespace trueup::core::storage_instances
