// A request as the body of a POST says it.
#include "api/routes.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace trueup::api {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kKinds{RequestKind::kApprove,   RequestKind::kDismiss, RequestKind::kHold,
                            RequestKind::kRelease,   RequestKind::kPause,   RequestKind::kResume,
                            RequestKind::kReconcile, RequestKind::kRelist,  RequestKind::kTerminate,
                            RequestKind::kRequest,   RequestKind::kEnable,  RequestKind::kDisable};

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
            request.seen.emplace_back(offset.get<std::int64_t>());
        }
    } else {
        if (!seen->is_number_integer()) return "seen must be a journal offset, a number";
        request.scope.finding_offset = Offset(seen->get<std::int64_t>());
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
    if (!on_rules && !request.rules.empty()) {
        return "rules is only for the kinds enable and disable";
    }
    if (!on_rules && request.kind != RequestKind::kApprove && !request.seen.empty()) {
        return "seen as a list is only for the kinds approve, enable and disable";
    }
    const bool by_name = request.kind == RequestKind::kRequest;
    if (by_name == request.name.empty()) {
        return by_name ? "the kind request needs a name: of one of the policy's requests"
                       : "name is for the kind request only";
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
                                {"name", &request.name},
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
    scope.reason_of_policy = !scope.reason.empty();
    request.kind = kind_of(kind);
    if (request.kind == RequestKind::kUnspecified) {
        return wrong(
            "kind must be approve, dismiss, hold, release, pause, resume, reconcile, relist, "
            "terminate, request, enable or disable");
    }
    if (const char* why = misplaced(request)) return wrong(why);
    if (finding.empty()) return request;
    scope.finding_id = id_from_hex<FindingId>(finding);
    if (!scope.finding_id) return wrong("finding must be the 32 hex digits of a finding's id");
    return request;
}

}  // namespace trueup::api
