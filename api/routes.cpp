#include "api/routes.h"

#include "api/pages.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace trueup::api {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOneFinding = "/v1/findings/";
constexpr std::string_view kAnswers = "/v1/requests/";

Answer plain(unsigned status, std::string text) {
    Answer out;
    out.status = status;
    out.type = "text/plain; charset=utf-8";
    out.body = std::make_shared<const std::string>(std::move(text));
    return out;
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
    Route{"/v1/settings", "GET", Page::kSettings, Role::kViewer},
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

Answer reply(unsigned status, const Json& body) {
    Answer out;
    out.status = status;
    out.body = std::make_shared<const std::string>(
        body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
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

Answer refusal(unsigned status, const std::string& why) { return reply(status, {{"error", why}}); }

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
                               "/v1/why, /v1/policy, /v1/settings and /v1/requests");
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

Answer serve(const Backends& backends, const Plan& plan, const std::string& body) {
    switch (plan.page) {
        case Page::kFindings:
            return list_findings(backends, plan);
        case Page::kFinding:
            return show_finding(backends, plan.id);
        case Page::kWhy:
            return show_why(backends, plan);
        case Page::kPolicy:
            return show_policy(backends, plan);
        case Page::kSettings:
            return show_settings(backends, plan);
        case Page::kAsk:
            return ask(backends, plan.caller, body);
        case Page::kAnswer:
            return show_answer(backends, plan.id);
        case Page::kReconcile: {
            Request request;
            request.kind = RequestKind::kReconcile;
            return take(backends, plan.caller, std::move(request));
        }
        case Page::kAlive:
        case Page::kReady:
        case Page::kMetrics:
            break;
    }
    return plain(200, "alive\n");
}

Answer readiness(const std::vector<Snapshot>& policies, bool known) {
    std::string why;
    std::string remarks;
    for (const Snapshot& one : policies) {
        const std::string who = policies.size() > 1 ? "policy " + one.policy + ": " : "";
        const std::string sentence = known ? one.not_ready() : one.not_ready_in_short();
        // A stranger is told no name, nor how many there are.
        if (!known && why.empty()) why = sentence.empty() ? "" : sentence + "\n";
        if (known && !sentence.empty()) why += who + sentence + "\n";
        // What is of the process, each says.
        const std::string said = known ? one.remarks() : "";
        if (remarks.find(said) == std::string::npos) remarks += said;
    }
    return why.empty() ? plain(200, "ready\n" + remarks) : plain(503, std::move(why));
}

}  // namespace trueup::api
