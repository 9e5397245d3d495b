#include "engine/core/rules/graph_instances/facts.h"

#include <utility>

namespace trueup::core::graph_instances {

std::size_t pods_of(const Subject& subject) {
    std::size_t pods = 0;
    for (std::size_t phase = kPodsPending; phase <= kPodsUnknown; ++phase) {
        pods += subject.counted[phase];
    }
    return pods;
}

bool live(const Facet& row) {
    const std::optional<std::string_view> status = row.fields().text("status");
    return !status || *status == "starting" || *status == "running";
}

bool untracked(const Facet& row) {
    const std::optional<Field> pod_name = row.fields().find("pod_name");
    return pod_name && !pod_name->unchanged && (!pod_name->value || blank(*pod_name->value));
}

bool names_pod(const Facet& row) {
    const std::optional<std::string_view> pod_name = row.fields().text("pod_name");
    return pod_name && !blank(*pod_name);
}

LiveRows live_rows(const PresentFacets& rows) {
    LiveRows found;
    for (const Facet* row : rows) {
        if (!live(*row)) continue;
        if (found.count++ == 0) found.first = row;
    }
    return found;
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

}  // namespace trueup::core::graph_instances
