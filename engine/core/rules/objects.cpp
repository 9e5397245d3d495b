#include "engine/core/rules/objects.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trueup::core {

bool vetoed(const Facet& facet) {
    const std::optional<Field> hold = facet.fields().find("hold");
    return hold && (hold->unchanged || hold->value == "true");
}
bool deleting(const Facet& object) { return object.fields().is("deleting", "true"); }
bool out_of_scope(const Facet& object) { return object.fields().is("in_scope", "false"); }

bool ended(const Facet& pod) {
    const std::string_view phase = pod.fields().text("phase").value_or("");
    return phase == "Failed" || phase == "Succeeded";
}

std::vector<Predicate> still_says(const std::string& source, const Facet& object,
                                  std::span<const std::string_view> fields) {
    std::vector<Predicate> predicates;
    for (const std::string_view field : fields) {
        const std::optional<std::string_view> value = object.fields().text(field);
        predicates.push_back({Predicate::Kind::kField, source, object.object_id, std::string(field),
                              value ? std::optional<std::string>(*value) : std::nullopt});
    }
    predicates.push_back({Predicate::Kind::kNoVeto, source, object.object_id, {}, {}});
    return predicates;
}

CommandDraft delete_pod(const std::string& source, const Facet& pod) {
    CommandDraft draft;
    draft.target = {source, pod.object_id, std::string(pod.fields().text("name").value_or("")),
                    std::string(pod.fields().text("namespace").value_or(""))};
    draft.action.kind = Action::Kind::kDeletePod;
    draft.read_set = {
        {Predicate::Kind::kExists, source, pod.object_id, {}, {}},
        {Predicate::Kind::kNoVeto, source, pod.object_id, {}, {}},
    };
    return draft;
}

void give_time(const Settings& settings, std::uint8_t rule, CommandDraft& draft) {
    constexpr std::uint32_t kOnce = 30;
    const bool pod = draft.action.kind == Action::Kind::kDeletePod;
    if (settings.logic < kLogicOfGracePeriods) {
        if (pod || draft.action.kind == Action::Kind::kDeleteObject)
            draft.action.grace_seconds = kOnce;
    } else if (pod) {
        draft.action.grace_seconds = settings.rules[rule].grace_period;
    }
}

CommandDraft delete_object(const std::string& source, const Facet& object) {
    CommandDraft draft = delete_pod(source, object);
    draft.action.kind = Action::Kind::kDeleteObject;
    return draft;
}

CommandDraft relying_on(std::vector<Predicate> first, CommandDraft draft) {
    first.insert(first.end(), draft.read_set.begin(), draft.read_set.end());
    draft.read_set = std::move(first);
    return draft;
}

Verdict create_pod(const std::string& pods, std::string_view name, const std::string& source,
                   const Facet& about, std::initializer_list<std::string_view> fields) {
    CommandDraft draft;
    draft.target = {pods, std::string(name), std::string(name),
                    std::string(about.fields().text("namespace").value_or(""))};
    draft.action.kind = Action::Kind::kCreatePod;
    draft.read_set = still_says(source, about, fields);
    draft.read_set.insert(draft.read_set.begin(),
                          {Predicate{Predicate::Kind::kNone, pods, {}, "name", std::string(name)},
                           Predicate{Predicate::Kind::kExists, source, about.object_id, {}, {}}});
    Verdict verdict = Verdict::act(about.object_id, std::move(draft));
    verdict.harmless = true;
    return verdict;
}

Failures failures_of(const Subject& subject) {
    Failures failures;
    if (!subject.ledger) return failures;
    for (const Ledger::Entry& entry : subject.ledger->entries) {
        if (entry.end == End::kSucceeded) continue;
        ++failures.count;
        failures.latest = std::max(failures.latest, entry.at);
    }
    return failures;
}

bool has_succeeded(const Subject& subject) {
    if (!subject.ledger) return false;
    const auto& entries = subject.ledger->entries;
    return std::any_of(entries.begin(), entries.end(),
                       [](const Ledger::Entry& entry) { return entry.end == End::kSucceeded; });
}

JournalTime next_try(const Failures& failures) {
    static constexpr std::array<int, 6> kSeconds{0, 5, 10, 20, 40, 80};
    const std::size_t step = std::min<std::size_t>(failures.count, kSeconds.size() - 1);
    return failures.latest + std::chrono::seconds(kSeconds[step]);
}

}  // namespace trueup::core
