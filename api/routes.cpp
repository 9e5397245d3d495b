#include "api/routes.h"

#include <httplib.h>
#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <ctime>
#include <utility>

namespace trueup::api {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRetryAfter = "60";  // s

void reply(httplib::Response& out, int status, const Json& body) {
    out.status = status;
    out.set_content(body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n",
                    "application/json");
}
void refuse(httplib::Response& out, int status, const std::string& why) {
    reply(out, status, {{"error", why}});
}

/// The caller, if the token is good and the role suffices; else the response says why not.
std::optional<Caller> admit(const Backend& backend, const httplib::Request& in,
                            httplib::Response& out, Role least) {
    Caller caller;
    switch (backend.tokens.find(in.get_header_value("Authorization"), std::time(nullptr), caller)) {
        case Tokens::Found::kUnknown:
            refuse(out, 401, "send a token that is known, as Authorization: Bearer TOKEN");
            out.set_header("WWW-Authenticate", "Bearer");
            return std::nullopt;
        case Tokens::Found::kExpired:
            refuse(out, 401, "the token's time is over; ask for a new one");
            return std::nullopt;
        case Tokens::Found::kGood:
            break;
    }
    if (caller.role >= least) return caller;
    refuse(out, 403,
           "the role " + std::string(name_of(caller.role)) + " may not do this; it takes " +
               std::string(name_of(least)));
    return std::nullopt;
}

Json json_of(const FindingEdge& edge) {
    Json json{{"id", to_hex(edge.id)},        {"rule", edge.rule},
              {"subject", edge.subject},      {"object", edge.object_id},
              {"state", name_of(edge.state)}, {"reason", name_of(edge.reason)},
              {"offset", edge.offset},        {"since_ms", to_millis(edge.since)},
              {"sentence", edge.sentence}};
    if (edge.command_id) json["command"] = to_hex(*edge.command_id);
    return json;
}

void list_findings(const Backend& backend, const httplib::Request& in, httplib::Response& out) {
    projections::FindingsFilter filter;
    filter.rule = in.get_param_value("rule");
    filter.reason = in.get_param_value("reason");
    filter.subject = in.get_param_value("subject");
    if (in.has_param("limit")) {
        const std::string text = in.get_param_value("limit");
        const auto read = std::from_chars(text.data(), text.data() + text.size(), filter.limit);
        if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
            return refuse(out, 400, "limit is a number, as in ?limit=100");
        }
    }
    const auto page = backend.findings(filter);
    Json findings = Json::array();
    for (const FindingEdge& edge : page.findings) findings.push_back(json_of(edge));
    Json quarantines = Json::array();
    for (const SourceView& source : backend.snapshot().sources) {
        std::string why = sentence_of(source.name, source.quarantine);
        if (why.empty()) continue;
        quarantines.push_back({{"source", source.name}, {"sentence", std::move(why)}});
    }
    reply(out, 200,
          {{"seen", page.seen},
           {"quarantines", std::move(quarantines)},
           {"findings", std::move(findings)},
           {"more", page.more},
           {"not_kept", page.hidden}});
}

constexpr std::array kKinds{
    RequestKind::kApprove, RequestKind::kDismiss,    RequestKind::kHold,
    RequestKind::kRelease, RequestKind::kPause,      RequestKind::kResume,
    RequestKind::kPass,    RequestKind::kResnapshot, RequestKind::kTerminate};

RequestKind kind_of(const std::string& name) {
    for (const RequestKind kind : kKinds) {
        if (name_of(kind) == name) return kind;
    }
    return RequestKind::kUnspecified;
}

/// Takes the member of that name, which must be a text where it is there.
bool take_text(Json& body, const char* name, std::string& text) {
    const auto found = body.find(name);
    if (found == body.end()) return true;
    if (!found->is_string()) return false;
    text = found->get<std::string>();
    body.erase(found);
    return true;
}

/// The request in the body, or one sentence.
Result<Request> request_of(const std::string& text) {
    const auto wrong = [](std::string why) { return Error{Next::kSkip, std::move(why)}; };
    Json body = Json::parse(text, nullptr, false);
    if (!body.is_object()) return wrong("the body is a JSON object, as {\"kind\": \"pause\"}");
    Request request;
    std::string kind;
    std::string finding;
    RequestScope& scope = request.scope;
    for (auto [name, member] : {std::pair{"kind", &kind},
                                {"policy", &scope.policy},
                                {"rule", &scope.rule},
                                {"subject", &scope.subject},
                                {"source", &scope.source},
                                {"because", &scope.because},
                                {"finding", &finding},
                                {"reason", &request.reason}}) {
        if (!take_text(body, name, *member)) return wrong(std::string(name) + " is a text");
    }
    if (const auto seen = body.find("seen"); seen != body.end()) {
        if (!seen->is_number_integer()) return wrong("seen is a journal offset, a number");
        scope.finding_offset = seen->get<std::int64_t>();
        body.erase(seen);
    }
    if (const auto drop = body.find("drop"); drop != body.end()) {
        if (!drop->is_boolean()) return wrong("drop is true or false");
        if (kind != "dismiss") return wrong("drop goes with the kind dismiss only");
        request.drop = drop->get<bool>();
        body.erase(drop);
    }
    if (!body.empty()) return wrong("nobody knows what '" + body.begin().key() + "' is");
    request.kind = kind_of(kind);
    if (request.kind == RequestKind::kUnspecified) {
        return wrong(
            "kind is approve, dismiss, hold, release, pause, resume, pass, resnapshot or "
            "terminate");
    }
    if (finding.empty()) return request;
    scope.finding_id = hash_from_hex(finding);
    if (!scope.finding_id) return wrong("finding is the 32 hex digits of a finding's id");
    return request;
}

void take(const Backend& backend, const Caller& caller, Request request, httplib::Response& out) {
    request.issued_by = caller.name;
    request.role = name_of(caller.role);
    if (const std::optional<std::string> why = backend.too_much(request)) {
        out.set_header("Retry-After", kRetryAfter);
        return refuse(out, 429, *why);
    }
    const Result<Hash128> id = backend.ask(std::move(request));
    if (!id) return refuse(out, 503, id.error().what);
    reply(out, 202, {{"request", to_hex(*id)}});
}

void ask(const Backend& backend, const httplib::Request& in, httplib::Response& out) {
    // Who may only end what is their own may ask for that; whose it is the fold finds out (G8).
    const std::optional<Caller> caller = admit(backend, in, out, Role::kUser);
    if (!caller) return;
    Result<Request> request = request_of(in.body);
    if (!request) return refuse(out, 400, request.error().what);
    if (request->kind != RequestKind::kTerminate && !admit(backend, in, out, Role::kOps)) return;
    take(backend, *caller, std::move(*request), out);
}

void show_answer(const Backend& backend, const std::string& hex, httplib::Response& out) {
    const std::optional<Hash128> id = hash_from_hex(hex);
    if (!id) return refuse(out, 400, "a request's id has 32 hex digits");
    const std::optional<AnswerView> answer = backend.answer(*id);
    if (!answer) {
        return reply(out, 200, {{"request", hex}, {"state", "pending"}});
    }
    reply(out, 200,
          {{"request", hex},
           {"state", answer->granted ? "granted" : "refused"},
           {"kind", name_of(answer->kind)},
           {"by", answer->by},
           {"sentence", answer->sentence}});
}

}  // namespace

void add_operator_routes(httplib::Server& server, const std::shared_ptr<const Backend>& backend) {
    server.Get("/v1/findings", [backend](const httplib::Request& in, httplib::Response& out) {
        if (admit(*backend, in, out, Role::kViewer)) list_findings(*backend, in, out);
    });
    server.Post("/v1/requests", [backend](const httplib::Request& in, httplib::Response& out) {
        ask(*backend, in, out);
    });
    server.Get(R"(/v1/requests/([^/]+))",
               [backend](const httplib::Request& in, httplib::Response& out) {
                   if (!admit(*backend, in, out, Role::kViewer)) return;
                   show_answer(*backend, in.matches[1], out);
               });
    server.Post("/internal/reconcile",
                [backend](const httplib::Request& in, httplib::Response& out) {
                    const std::optional<Caller> caller = admit(*backend, in, out, Role::kOps);
                    if (!caller) return;
                    Request request;
                    request.kind = RequestKind::kPass;
                    take(*backend, *caller, std::move(request), out);
                });
}

}  // namespace trueup::api
