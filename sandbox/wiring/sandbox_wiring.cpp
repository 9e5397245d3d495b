#include "sandbox/wiring/sandbox_wiring.h"

#include "engine/base/check.h"

#include <vector>

namespace trueup::sandbox {

namespace {

namespace postgres = connectors::postgres;

constexpr const char* kCorrelate = "coalesce(pod_name, 'wrapper-' || url_slug)";

}  // namespace

std::optional<std::string> evaluate_key(const std::string& expression,
                                        const sandbox::ColumnOf& column_of) {
    // It is asked for row after row.
    thread_local std::pair<std::string, std::optional<postgres::Correlation>> last;
    auto& [text, parsed] = last;
    if (!parsed || text != expression) {
        auto read = postgres::Correlation::parse(expression);
        if (!read) return std::nullopt;
        last = {expression, std::move(*read)};
    }
    std::vector<postgres::Cell> cells;
    for (const std::string& column : parsed->columns()) {
        const std::optional<std::string>* value = column_of(column);
        postgres::Cell& cell = cells.emplace_back();
        if (value != nullptr && *value) cell = {postgres::Cell::Kind::kText, **value};
    }
    const postgres::Correlated key = parsed->evaluate(cells);
    if (key.kind != postgres::Correlated::Kind::kText) return std::nullopt;
    return key.text;
}

connectors::KubernetesSettings sandbox_pods(const std::string& label_selector) {
    connectors::KubernetesSettings settings;
    settings.resource.name_space = "graph";
    settings.label_selector = label_selector;
    settings.subject_prefix = "graph-instances/";
    settings.source_name = "pods";
    return settings;
}

postgres::Settings sandbox_rows() {
    const auto correlate = postgres::Correlation::parse(kCorrelate);
    TRUEUP_CHECK(correlate.ok());
    return {{"public", "instances"},
            "trueup_rows",
            "trueup",
            {"pod_name", "status", "url_slug"},
            *correlate,
            "graph-instances/",
            "rows"};
}

executors::Sources sandbox_reach(ports::Cluster& cluster, ports::Database& database,
                                 const std::string& label_selector) {
    executors::Sources sources;
    executors::PodSource pods;
    pods.cluster = &cluster;
    const auto selector = ports::Selector::parse(label_selector);
    TRUEUP_CHECK(selector.has_value());
    pods.selector = *selector;
    pods.resource.name_space = "graph";
    executors::RowSource rows;
    rows.database = &database;
    rows.table = {"public", "instances"};
    rows.pk_columns = {"id"};
    rows.key_expression = kCorrelate;
    rows.key_columns = {"pod_name", "url_slug"};
    rows.unique = "(" + rows.key_expression + ")";
    sources.pods.emplace("pods", pods);
    sources.rows.emplace("rows", rows);
    return sources;
}

}  // namespace trueup::sandbox
