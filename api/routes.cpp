#include "api/routes.h"

#include "api/why.h"
#include "engine/base/suggest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

namespace trueup::api {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRetryAfter = "60";  // s
constexpr const char* kSoon = "5";         // s
constexpr std::string_view kOneFinding = "/v1/findings/";
constexpr std::string_view kAnswers = "/v1/requests/";

Answer reply(unsigned status, const Json& body) {
    Answer out;
    out.status = status;
    out.body = std::make_shared<const std::string>(
        body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    return out;
}
Answer plain(unsigned status, std::string text) {
    Answer out;
    out.status = status;
    out.type = "text/plain; charset=utf-8";
    out.body = std::make_shared<const std::string>(std::move(text));
    return out;
}
Answer forbidden(const Caller& caller, Role least) {
    return refusal(403, "the role " + std::string(name_of(caller.role)) +
                            " may not do this; it needs " + std::string(name_of(least)));
}

/// The first of that name; empty: none.
std::string value_of(const Plan& plan, std::string_view name) {
    for (const auto& [key, value] : plan.query) {
        if (key == name) return value;
    }
    return {};
}

Json json_of(const FindingEdge& edge, const Snapshot& snapshot) {
    Json json{{"id", to_hex(edge.id)},        {"rule", edge.rule},
              {"subject", edge.subject},      {"object", edge.object_id},
              {"state", name_of(edge.state)}, {"reason", name_of(edge.reason)},
              {"shard", edge.shard.value()},  {"offset", edge.offset}};
    for (const ShardView& shard : snapshot.shards) {
        if (shard.index != edge.shard) continue;
        json["age_seconds"] = (shard.now_ms - to_millis(edge.since)) / 1000;
    }
    for (const RuleView& rule : snapshot.rules) {
        if (rule.rule == edge.rule && !rule.does.empty()) json["does"] = rule.does;
    }
    json["sentence"] = edge.sentence;
    if (edge.command_id) json["command_id"] = to_hex(*edge.command_id);
    json["evidence"] = edge.evidence;
    return json;
}

/// What stands in the way of findings as a whole.
Json pauses_of(const Snapshot& snapshot) {
    Json pauses = Json::array();
    for (const PauseView& pause : snapshot.pauses) {
        Json one{{"by", pause.by}, {"since_ms", pause.since_ms}};
        if (!pause.rule.empty()) one["rule"] = pause.rule;
        if (!pause.comment.empty()) one["comment"] = pause.comment;
        pauses.push_back(std::move(one));
    }
    return pauses;
}

Json quarantines_of(const Snapshot& snapshot) {
    Json quarantines = Json::array();
    for (const SourceView& source : snapshot.sources) {
        std::string why = sentence_of(source.name, source.quarantine);
        if (why.empty()) continue;
        quarantines.push_back({{"source", source.name}, {"sentence", std::move(why)}});
    }
    return quarantines;
}

/// A filter by what does not exist would find nothing, and look like good news.
std::optional<Answer> flaw_of(const projections::FindingsFilter& filter, const Snapshot& snapshot) {
    const auto unknown = [](const char* what, const std::string& word,
                            const std::vector<std::string>& known) -> std::optional<Answer> {
        const bool there = std::find(known.begin(), known.end(), word) != known.end();
        if (word.empty() || there) return std::nullopt;
        return refusal(400, "there is no " + std::string(what) + " '" + word + "'; " +
                                did_you_mean(word, known));
    };
    std::vector<std::string> rules;
    for (const RuleView& rule : snapshot.rules) rules.push_back(rule.rule);
    if (auto flaw = unknown("rule", filter.rule, rules); flaw && !rules.empty()) return flaw;
    return unknown("reason", filter.reason, reason_names());
}

Answer list_findings(const Backend& backend, const Plan& plan) {
    projections::FindingsFilter filter;
    filter.id = value_of(plan, "id");
    filter.rule = value_of(plan, "rule");
    filter.reason = value_of(plan, "reason");
    filter.subject = value_of(plan, "subject");
    if (const std::string text = value_of(plan, "limit"); !text.empty()) {
        const auto read = std::from_chars(text.data(), text.data() + text.size(), filter.limit);
        if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
            return refusal(400, "limit must be a number, as in ?limit=100");
        }
    }
    const Snapshot snapshot = backend.snapshot();
    if (std::optional<Answer> flaw = flaw_of(filter, snapshot)) return std::move(*flaw);
    const auto page = backend.findings(filter);
    Json findings = Json::array();
    for (const FindingEdge& edge : page.findings) findings.push_back(json_of(edge, snapshot));
    return reply(200, {{"seen", page.seen},
                       {"shards", snapshot.partitions},
                       {"pauses", pauses_of(snapshot)},
                       {"quarantines", quarantines_of(snapshot)},
                       {"findings", std::move(findings)},
                       {"more", page.more},
                       {"not_kept", page.hidden}});
}

Json json_of(const FacetView& facet) {
    Json fields = Json::object();
    Json not_sent = Json::array();
    for (const FieldView& field : facet.fields) {
        if (!field.sent) {
            not_sent.push_back(field.name);
        } else {
            fields[field.name] = field.value ? Json(*field.value) : Json(nullptr);
        }
    }
    Json json{{"source", facet.source},           {"object", facet.object},
              {"present", facet.absence.empty()}, {"first_seen_ms", facet.first_seen_ms},
              {"changed_ms", facet.changed_ms},   {"offset", facet.offset},
              {"fields", std::move(fields)}};
    if (!facet.absence.empty()) json["absence"] = facet.absence;
    if (!not_sent.empty()) json["not_sent"] = std::move(not_sent);
    return json;
}

Answer show_finding(const Backend& backend, const std::string& id) {
    const auto found = backend.finding(id);
    if (!found) return refusal(found.error().next == Next::kSkip ? 404 : 503, found.error().what);
    const auto& [edge, subject] = *found;
    Json json = json_of(edge, backend.snapshot());
    json["held"] = subject.held;
    if (subject.command) {
        Json command{{"text", subject.command->text}};
        if (!subject.command->id.empty()) {
            command["id"] = subject.command->id;
            command["issued_ms"] = subject.command->issued_ms;
            command["not_after_ms"] = subject.command->not_after_ms;
        }
        json[subject.command->id.empty() ? "proposes" : "command"] = std::move(command);
    }
    json["sources"] = subject.sources;
    Json facets = Json::array();
    for (const FacetView& facet : subject.facets) facets.push_back(json_of(facet));
    json["objects"] = std::move(facets);
    if (subject.why) json["why"] = json_of(*subject.why);
    return reply(200, json);
}

Answer show_why(const Backend& backend, const Plan& plan) {
    const std::string subject = value_of(plan, "subject");
    if (subject.empty()) {
        return refusal(400, "name a subject, as in ?subject=graph-instances/wrapper-7");
    }
    const Result<WhyView> why = backend.why(subject, value_of(plan, "rule"));
    if (why) return reply(200, json_of(*why));
    return refusal(why.error().next == Next::kSkip ? 404 : 503, why.error().what);
}

/// What each rule means, and whether somebody has enabled that.
Answer show_policy(const Backend& backend) {
    const Snapshot snapshot = backend.snapshot();
    Json shards = Json::array();
    for (const ShardView& shard : snapshot.shards) {
        shards.push_back({{"shard", shard.index.value()}, {"seen", shard.seen}});
    }
    Json rules = Json::array();
    for (const RuleView& rule : snapshot.rules) {
        if (rule.text.empty()) continue;
        rules.push_back({{"rule", rule.rule},
                         {"mode", rule.mode},
                         {"does", rule.does},
                         {"text", rule.text},
                         {"enabled", rule.enabled},
                         {"former", rule.former},
                         {"shown", rule.shown}});
    }
    return reply(200, {{"policy", snapshot.policy},
                       {"partitions", snapshot.partitions},
                       {"shards", std::move(shards)},
                       {"rules", std::move(rules)}});
}

constexpr std::array kKinds{RequestKind::kApprove,   RequestKind::kDismiss, RequestKind::kHold,
                            RequestKind::kRelease,   RequestKind::kPause,   RequestKind::kResume,
                            RequestKind::kReconcile, RequestKind::kRelist,  RequestKind::kTerminate,
                            RequestKind::kEnable,    RequestKind::kDisable};

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

Answer take(const Backend& backend, const Caller& caller, Request request) {
    request.issued_by = caller.name;
    request.role = name_of(caller.role);
    if (const std::optional<std::string> why = backend.too_much(request)) {
        Answer out = refusal(429, *why);
        out.headers.emplace_back("Retry-After", kRetryAfter);
        return out;
    }
    const Result<RequestId> id = backend.ask(std::move(request));
    if (!id) return refusal(503, id.error().what);
    return reply(202, {{"request", to_hex(*id)}});
}

/// Who may only end what is their own may ask for that; whose it is the fold finds out (G8).
Answer ask(const Backend& backend, const Caller& caller, const std::string& body) {
    Result<Request> request = request_of(body);
    if (!request) return refusal(400, request.error().what);
    const bool enables = request->kind == RequestKind::kEnable;
    const Role least = enables ? Role::kAdmin : Role::kOps;
    if (request->kind != RequestKind::kTerminate && caller.role < least) {
        return forbidden(caller, least);
    }
    return take(backend, caller, std::move(*request));
}

Answer show_answer(const Backend& backend, const std::string& hex) {
    const std::optional<RequestId> id = id_from_hex<RequestId>(hex);
    if (!id) return refusal(400, "a request's id must have 32 hex digits");
    const std::optional<AnswerView> answer = backend.answer(*id);
    if (!answer) return reply(200, {{"request", hex}, {"state", "pending"}});
    return reply(200, {{"request", hex},
                       {"state", answer->granted ? "granted" : "refused"},
                       {"kind", name_of(answer->kind)},
                       {"by", answer->by},
                       {"sentence", answer->sentence}});
}

struct Route {
    std::string_view path;
    std::string_view method;
    Page page;
    std::optional<Role> least;  ///< nullopt: everybody
};

/// In the order of `Page`.
constexpr std::array kRoutes{
    Route{"/healthz", "GET", Page::kAlive, std::nullopt},
    Route{"/readyz", "GET", Page::kReady, std::nullopt},
    Route{"/metrics", "GET", Page::kMetrics, std::nullopt},
    Route{"/v1/findings", "GET", Page::kFindings, Role::kViewer},
    Route{kOneFinding, "GET", Page::kFinding, Role::kViewer},
    Route{"/v1/why", "GET", Page::kWhy, Role::kViewer},
    Route{"/v1/requests", "POST", Page::kAsk, Role::kUser},
    Route{kAnswers, "GET", Page::kAnswer, Role::kViewer},
    Route{"/internal/reconcile", "POST", Page::kReconcile, Role::kOps},
    Route{"/v1/policy", "GET", Page::kPolicy, Role::kViewer},
};

bool leads_to(const Route& route, std::string_view path) {
    const std::size_t prefix = route.path.size();
    if (!route.path.ends_with('/')) return route.path == path;
    return path.size() > prefix && path.starts_with(route.path) &&
           path.find('/', prefix) == std::string_view::npos;
}

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::optional<std::string> decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i] == '+' ? ' ' : text[i];
            continue;
        }
        if (text.size() - i < 3) return std::nullopt;
        const int high = digit_of(text[i + 1]);
        const int low = digit_of(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

/// Fills in who asks, and the refusal where the token does not suffice for the route.
void admit(const Tokens& tokens, const Head& head, std::int64_t now, const Route& route,
           Plan& plan) {
    const Tokens::Found found = tokens.find(head.authorization, now, plan.caller);
    plan.known = found == Tokens::Found::kGood;
    if (!route.least) {
        plan.unauthorized = !plan.known && !head.authorization.empty();
        return;
    }
    if (found == Tokens::Found::kUnknown) {
        plan.refusal = refusal(
            401,
            "the token is missing or unknown; send a valid one, as Authorization: Bearer TOKEN");
        plan.refusal->headers.emplace_back("WWW-Authenticate", "Bearer");
    } else if (found == Tokens::Found::kExpired) {
        plan.refusal = refusal(401, "the token has expired; ask for a new one");
        plan.refusal->headers.emplace_back("WWW-Authenticate", "Bearer");
    } else if (plan.caller.role < *route.least) {
        plan.refusal = forbidden(plan.caller, *route.least);
    }
    plan.unauthorized = plan.refusal.has_value();
}

}  // namespace

Answer refusal(unsigned status, const std::string& why) { return reply(status, {{"error", why}}); }

namespace {

/// False: they are no rules.
bool take_rules(Json& body, Request& request) {
    const auto rules = body.find("rules");
    if (rules == body.end()) return true;
    if (!rules->is_array()) return false;
    for (Json& one : *rules) {
        NamedRule& named = request.rules.emplace_back();
        if (one.is_string()) {
            named.rule = one.get<std::string>();
            continue;
        }
        std::string text;
        if (!one.is_object() || !take_text(one, "rule", named.rule)) return false;
        if (!take_text(one, "text", text) || !one.empty()) return false;
        const std::optional<Hash128> hash = hash_from_hex(text);
        if (!hash) return false;
        named.text = *hash;
    }
    body.erase(rules);
    return true;
}

/// An offset, or a list of them by shard; nullptr or what is wrong with it.
const char* take_seen(Json& body, Request& request) {
    const auto seen = body.find("seen");
    if (seen == body.end()) return nullptr;
    if (seen->is_array()) {
        for (const Json& offset : *seen) {
            if (!offset.is_number_integer()) return "seen must list journal offsets, by shard";
            request.seen.push_back(offset.get<std::int64_t>());
        }
    } else {
        if (!seen->is_number_integer()) return "seen must be a journal offset, a number";
        request.scope.finding_offset = seen->get<std::int64_t>();
    }
    body.erase(seen);
    return nullptr;
}

/// Nullptr or what is wrong with it.
const char* take_drop(Json& body, const std::string& kind, Request& request) {
    const auto drop = body.find("drop");
    if (drop == body.end()) return nullptr;
    if (!drop->is_boolean()) return "drop must be true or false";
    if (kind != "dismiss") return "drop is for the kind dismiss only";
    request.drop = drop->get<bool>();
    body.erase(drop);
    return nullptr;
}

/// What only another kind may have; nullptr: nothing.
const char* misplaced(const Request& request) {
    const bool on_rules =
        request.kind == RequestKind::kEnable || request.kind == RequestKind::kDisable;
    if (!on_rules && !(request.rules.empty() && request.seen.empty())) {
        return "rules, and seen as a list, are only for the kinds enable and disable";
    }
    if (on_rules && request.scope.finding_offset) {
        return "seen must be a list of journal offsets here, one for each shard";
    }
    return nullptr;
}

}  // namespace

Result<Request> request_of(const std::string& text) {
    const auto wrong = [](std::string why) {
        return Error{Next::kSkip, Code::kInvalid, std::move(why)};
    };
    Json body = Json::parse(text, nullptr, false);
    if (!body.is_object()) return wrong("the body must be a JSON object, as {\"kind\": \"pause\"}");
    Request request;
    std::string kind;
    std::string finding;
    RequestScope& scope = request.scope;
    for (auto [name, member] : {std::pair{"kind", &kind},
                                {"policy", &scope.policy},
                                {"rule", &scope.rule},
                                {"subject", &scope.subject},
                                {"source", &scope.source},
                                {"reason", &scope.reason},
                                {"finding", &finding},
                                {"comment", &request.comment}}) {
        if (!take_text(body, name, *member)) return wrong(std::string(name) + " is a text");
    }
    if (!take_rules(body, request)) {
        return wrong(
            "rules is for enable and disable: a list of names, or of "
            "{\"rule\": NAME, \"text\": HASH}");
    }
    if (const char* why = take_seen(body, request)) return wrong(why);
    if (const char* why = take_drop(body, kind, request)) return wrong(why);
    if (!body.empty()) return wrong("unknown member '" + body.begin().key() + "'");
    request.kind = kind_of(kind);
    if (request.kind == RequestKind::kUnspecified) {
        return wrong(
            "kind must be approve, dismiss, hold, release, pause, resume, reconcile, relist, "
            "terminate, enable or disable");
    }
    if (const char* why = misplaced(request)) return wrong(why);
    if (finding.empty()) return request;
    scope.finding_id = id_from_hex<FindingId>(finding);
    if (!scope.finding_id) return wrong("finding must be the 32 hex digits of a finding's id");
    return request;
}

std::optional<std::vector<std::pair<std::string, std::string>>> query_of(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> query;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        if (part.empty()) continue;
        const std::size_t equals = std::min(part.find('='), part.size());
        auto name = decoded(part.substr(0, equals));
        auto value = decoded(part.substr(std::min(equals + 1, part.size())));
        if (!name || !value) return std::nullopt;
        query.emplace_back(std::move(*name), std::move(*value));
    }
    return query;
}

std::string_view path_of(Page page) { return kRoutes[static_cast<std::size_t>(page)].path; }

Plan plan(const Tokens& tokens, const Head& head, std::int64_t now) {
    Plan plan;
    std::string_view path = head.target;
    std::string_view query;
    if (const std::size_t mark = path.find('?'); mark != std::string_view::npos) {
        query = path.substr(mark + 1);
        path = path.substr(0, mark);
    }
    const auto route = std::find_if(kRoutes.begin(), kRoutes.end(),
                                    [&](const Route& one) { return leads_to(one, path); });
    if (route == kRoutes.end()) {
        plan.refusal = refusal(404,
                               "not found; see /healthz, /readyz, /metrics, /v1/findings, "
                               "/v1/why, /v1/policy and /v1/requests");
        return plan;
    }
    const std::string_view method = head.method == "HEAD" ? "GET" : std::string_view(head.method);
    if (method != route->method) {
        const std::string allowed = route->method == "GET" ? "GET, HEAD" : "POST";
        plan.refusal = refusal(405, "this takes " + allowed);
        plan.refusal->headers.emplace_back("Allow", allowed);
        return plan;
    }
    plan.page = route->page;
    admit(tokens, head, now, *route, plan);
    if (plan.refusal) return plan;
    if (route->path.ends_with('/')) plan.id = path.substr(route->path.size());
    auto read = query_of(query);
    if (!read) {
        plan.refusal = refusal(400, "a % in the address needs two hex digits");
        return plan;
    }
    plan.query = std::move(*read);
    return plan;
}

Answer serve(const Backend& backend, const Plan& plan, const std::string& body) {
    // Nobody knows yet what there is: no finding would be a lie.
    if (const std::string why = backend.starting(); !why.empty() && !plan.open()) {
        Answer out = refusal(503, "it is still starting: " + why);
        out.headers.emplace_back("Retry-After", kSoon);
        return out;
    }
    switch (plan.page) {
        case Page::kFindings:
            return list_findings(backend, plan);
        case Page::kFinding:
            return show_finding(backend, plan.id);
        case Page::kWhy:
            return show_why(backend, plan);
        case Page::kPolicy:
            return show_policy(backend);
        case Page::kAsk:
            return ask(backend, plan.caller, body);
        case Page::kAnswer:
            return show_answer(backend, plan.id);
        case Page::kReconcile: {
            Request request;
            request.kind = RequestKind::kReconcile;
            return take(backend, plan.caller, std::move(request));
        }
        case Page::kAlive:
        case Page::kReady:
        case Page::kMetrics:
            break;
    }
    return plain(200, "alive\n");
}

Answer readiness(const Snapshot& snapshot, bool known) {
    const std::string why = known ? snapshot.not_ready() : snapshot.not_ready_in_short();
    if (!why.empty()) return plain(503, why + "\n");
    return plain(200, "ready\n" + (known ? snapshot.remarks() : ""));
}

}  // namespace trueup::api
