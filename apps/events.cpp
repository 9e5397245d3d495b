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

namespace {

/// What an event begins with: which object it is of.
Json object_fields(bool pod, std::string_view name, std::string_view name_space) {
    Json fields{{pod ? "pod_name" : "name", name}};
    if (pod || !name_space.empty()) fields["namespace"] = name_space;
    return fields;
}

Json found_fields(bool pod, const FindingEdge& edge, const Subject* subject,
                  std::int64_t wall_millis) {
    Json fields{{pod ? "pod_name" : "name", name_in(edge.subject)}};
    if (subject != nullptr) {
        for (const Facet& facet : subject->facets) {
            if (facet.object_id != edge.object_id) continue;
            fields = object_fields(pod, name_in(edge.subject),
                                   facet.fields().text("namespace").value_or(""));
            const auto created = core::parse_timestamp(facet.fields().text("created").value_or(""));
            if (!created) continue;
            const std::int64_t hundredths = (wall_millis - to_millis(*created)) / 36'000;
            fields["age_hours"] = static_cast<double>(hundredths) / 100.0;
        }
    }
    fields["uid"] = edge.object_id;
    return fields;
}

}  // namespace

void log_finding(const std::vector<policy::Event>& events, const FindingEdge& edge,
                 const Subject* subject, std::int64_t wall_millis) {
    if (!edge.opened) return;
    for (const policy::Event& event : events) {
        if (event.rule != edge.rule || event.on != policy::Event::On::kFound) continue;
        log_event(event.name, found_fields(event.of_pods, edge, subject, wall_millis));
    }
}

void log_outcome(const std::vector<policy::Event>& events, const Command& command,
                 const Outcome& outcome, std::int64_t wall_millis) {
    const Target& target = command.draft.target;
    log_event("command_ended", {{"command_id", to_hex(command.id)},
                                {"rule", command.rule},
                                {"subject", command.subject},
                                {"action", name_of(command.draft.action.kind)},
                                {"target", target.object_id},
                                {"outcome", name_of(outcome.kind)},
                                {"detail", outcome.detail}});
    if (outcome.kind != OutcomeKind::kDone) return;
    for (const policy::Event& event : events) {
        if (event.rule != command.rule || event.on != policy::Event::On::kDone) continue;
        const bool pod = command.draft.action.kind == Action::Kind::kDeletePod;
        const std::string_view name =
            pod || !target.name.empty() ? std::string_view(target.name) : name_in(command.subject);
        Json fields = object_fields(pod, name, target.name_space);
        fields["uid"] = target.object_id;
        fields["duration_ms"] = wall_millis - to_millis(command.issued);
        log_event(event.name, fields);
    }
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
