#include "engine/core/rules/graph_instances/facts.h"

#include <algorithm>
#include <utility>

namespace trueup::core::graph_instances {

std::size_t pods_of(const Subject& subject) {
    std::size_t pods = 0;
    for (std::size_t phase = kPodsPending; phase <= kPodsUnknown; ++phase) {
        pods += subject.counted[phase];
    }
    return pods;
}

bool vetoed(const Facet& facet) { return facet.fields().is("hold", "true"); }
bool terminating(const Facet& pod) { return pod.fields().is("deleting", "true"); }
bool out_of_scope(const Facet& pod) { return pod.fields().is("in_scope", "false"); }

bool live(const Facet& row) {
    const std::optional<std::string_view> status = row.fields().text("status");
    return !status || *status == "starting" || *status == "running";
}

bool untracked(const Facet& row) {
    const std::optional<Field> pod_name = row.fields().find("pod_name");
    return pod_name && !pod_name->value && !pod_name->unchanged;
}

LiveRows live_rows(const PresentFacets& rows) {
    LiveRows found;
    for (const Facet* row : rows) {
        if (!live(*row)) continue;
        if (found.count++ == 0) found.first = row;
    }
    return found;
}

bool keyless(const Subject& subject) { return subject.key.starts_with('!'); }

bool being_ended(const Subject& subject) {
    return std::any_of(subject.findings.begin(), subject.findings.end(),
                       [](const Finding& finding) { return finding.steps > 0; });
}

std::vector<Predicate> row_still_says(const std::string& source, const Facet& row,
                                      std::initializer_list<std::string_view> columns) {
    std::vector<Predicate> predicates;
    for (const std::string_view column : columns) {
        const std::optional<std::string_view> value = row.fields().text(column);
        predicates.push_back({Predicate::Kind::kField, source, row.object_id, std::string(column),
                              value ? std::optional<std::string>(*value) : std::nullopt});
    }
    predicates.push_back({Predicate::Kind::kNoVeto, source, row.object_id, {}, {}});
    return predicates;
}

CommandDraft mark_failed(const std::string& source, const Facet& row, std::string_view code,
                         std::string message) {
    CommandDraft draft;
    draft.target = {source, row.object_id, {}, {}};
    draft.action.kind = Action::Kind::kUpdateRow;
    draft.action.sets = {{"status", "failed"},
                         {"error_code", std::string(code)},
                         {"error_message", std::move(message)}};
    return draft;
}

CommandDraft delete_pod(const std::string& source, const Facet& pod) {
    constexpr std::uint32_t kGracePeriodSeconds = 30;  // of the DELETE (G1)
    CommandDraft draft;
    draft.target = {source, pod.object_id, std::string(pod.fields().text("name").value_or("")),
                    std::string(pod.fields().text("namespace").value_or(""))};
    draft.action.kind = Action::Kind::kDeletePod;
    draft.action.grace_seconds = kGracePeriodSeconds;
    draft.read_set = {
        {Predicate::Kind::kExists, source, pod.object_id, {}, {}},
        {Predicate::Kind::kNoVeto, source, pod.object_id, {}, {}},
    };
    return draft;
}

}  // namespace trueup::core::graph_instances
