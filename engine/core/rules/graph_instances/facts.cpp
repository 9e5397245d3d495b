#include "engine/core/rules/graph_instances/facts.h"

namespace trueup::core::graph_instances {

bool vetoed(const Facet& facet) { return facet.fields().is("hold", "true"); }
bool terminating(const Facet& pod) { return pod.fields().is("deleting", "true"); }
bool out_of_scope(const Facet& pod) { return pod.fields().is("in_scope", "false"); }

bool live(const Facet& row) {
    const std::optional<std::string_view> status = row.fields().text("status");
    return !status || *status == "starting" || *status == "running";
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

CommandDraft mark_failed(const std::string& source, const Facet& row, std::string message) {
    CommandDraft draft;
    draft.target = {source, row.object_id, {}, {}};
    draft.action.kind = Action::Kind::kUpdateRow;
    draft.action.sets = {{"status", "failed"},
                         {"error_code", "UNEXPECTED_TERMINATION"},
                         {"error_message", std::move(message)}};
    return draft;
}

}  // namespace trueup::core::graph_instances
