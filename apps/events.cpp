#include "apps/events.h"

#include "engine/core/row_time.h"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace trueup::apps {

namespace {

using Json = nlohmann::ordered_json;

/// Begins the payload of an event; no plain message begins with it.
constexpr char kMark = '\x1e';

std::atomic<bool> json_events{false};

std::string_view name_in(std::string_view subject) { return subject.substr(subject.find('/') + 1); }

std::string dumped(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A text that needs no quotes: it can look neither like another line nor like another field.
bool is_plain(const Json& value) {
    if (!value.is_string()) return false;
    const auto& text = value.get_ref<const std::string&>();
    return !text.empty() && std::none_of(text.begin(), text.end(), [](char one) {
        return static_cast<unsigned char>(one) <= ' ' || one == '"' || one == '=';
    });
}

}  // namespace

void use_json_events(bool json) { json_events = json; }

void log_event(std::string_view event, const nlohmann::ordered_json& fields) {
    if (json_events) {
        Json members{{"event", event}};
        members.update(fields);
        spdlog::info("{}{}", kMark, dumped(members));
        return;
    }
    std::string text(event);
    for (const auto& [name, value] : fields.items()) {
        text += ' ' + name + '=' + (is_plain(value) ? value.get<std::string>() : dumped(value));
    }
    spdlog::info("{}", text);
}

std::string_view event_members(std::string_view payload) {
    if (payload.size() < 3 || payload.front() != kMark) return {};
    return payload.substr(2, payload.size() - 3);
}

void log_finding(const FindingEdge& edge, const Subject* subject, std::int64_t wall_millis) {
    if (edge.rule != "orphaned_pod" || !edge.opened) return;
    Json fields{{"pod_name", name_in(edge.subject)}};
    if (subject != nullptr) {
        for (const Facet& facet : subject->facets) {
            if (facet.object_id != edge.object_id) continue;
            fields["namespace"] = facet.fields().text("namespace").value_or("");
            const auto created = core::parse_timestamp(facet.fields().text("created").value_or(""));
            if (!created) continue;
            const std::int64_t hundredths = (wall_millis - to_millis(*created)) / 36'000;
            fields["age_hours"] = static_cast<double>(hundredths) / 100.0;
        }
    }
    fields["uid"] = edge.object_id;
    log_event("orphaned_pod_detected", fields);
}

void log_outcome(const Command& command, const Outcome& outcome, std::int64_t wall_millis) {
    log_event("command_ended", {{"command_id", to_hex(command.id)},
                                {"rule", command.rule},
                                {"subject", command.subject},
                                {"action", name_of(command.draft.action.kind)},
                                {"target", command.draft.target.object_id},
                                {"outcome", name_of(outcome.kind)},
                                {"detail", outcome.detail}});
    if (command.rule != "orphaned_pod" || outcome.kind != OutcomeKind::kDone) return;
    log_event("orphaned_pod_deleted", {{"pod_name", command.draft.target.name},
                                       {"namespace", command.draft.target.name_space},
                                       {"uid", command.draft.target.object_id},
                                       {"duration_ms", wall_millis - to_millis(command.issued)}});
}

void log_request(const Request& request, const std::string& policy) {
    Json fields{{"id", to_hex(request.id)},
                {"policy", policy},
                {"kind", name_of(request.kind)},
                {"by", request.issued_by},
                {"role", request.role}};
    const RequestScope& scope = request.scope;
    for (const auto& [name, value] : {std::pair<const char*, std::string>{"name", request.name},
                                      {"subject", scope.subject},
                                      {"rule", scope.rule},
                                      {"source", scope.source},
                                      {"comment", request.comment}}) {
        if (!value.empty()) fields[name] = value;
    }
    log_event("request", fields);
}

}  // namespace trueup::apps
