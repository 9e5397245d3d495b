// What operators and users ask for: which policies a request is about, and what came of it.
#include "api/pages.h"

#include <algorithm>
#include <utility>

namespace trueup::api {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRetryAfter = "60";  // s

bool has_source(const Backend& policy, const std::string& name) {
    const Snapshot snapshot = policy.snapshot();
    return std::any_of(snapshot.sources.begin(), snapshot.sources.end(),
                       [&](const SourceView& source) { return source.name == name; });
}

bool has_finding(const Backend& policy, const FindingId& id) {
    projections::FindingsFilter filter;
    filter.id = to_hex(id);
    filter.limit = 1;
    return !policy.findings(filter).findings.empty();
}

/// Those of all that it is true of; where it is of none, the only policy, which says why.
template <typename Has>
Scope having(const Backends& backends, const Has& has, const std::string& none) {
    Scope scope;
    for (const Backend& policy : backends.policies) {
        if (policy.unavailable().empty() && has(policy)) scope.policies.push_back(&policy);
    }
    if (!scope.policies.empty()) return scope;
    if (backends.policies.size() == 1) return named(backends, {});
    scope.refusal = refusal(404, none);
    return scope;
}

/// A brake without a name is for all; what lets something go on, and what goes by a journal's
/// offset, is for one, which was looked at.
Scope targets_of(const Backends& backends, const Request& request) {
    const RequestScope& scope = request.scope;
    if (!scope.policy.empty()) return named(backends, scope.policy);
    // An object whose key cannot be told has no policy in its name.
    const bool keyless = scope.subject.starts_with('!');
    if (!scope.subject.empty() && !keyless) return of_subject(backends, scope.subject);
    if (scope.finding_id) {
        return having(
            backends, [&](const Backend& policy) { return has_finding(policy, *scope.finding_id); },
            "no open finding has this id; it may be over already");
    }
    if (keyless) {
        return one_named(backends, {}, scope.subject + " may be of several policies");
    }
    if (!scope.source.empty()) {
        return the_one(
            having(
                backends, [&](const Backend& policy) { return has_source(policy, scope.source); },
                "no policy has a source " + scope.source),
            "several policies have this source, each with a quarantine of its own");
    }
    if (request.kind == RequestKind::kResume) {
        return the_one(
            having(
                backends, [](const Backend& policy) { return !policy.snapshot().pauses.empty(); },
                "nothing is paused"),
            "several policies are paused, perhaps by several people");
    }
    const bool for_all =
        request.kind == RequestKind::kPause || request.kind == RequestKind::kReconcile;
    if (for_all) return named(backends, {});
    return one_named(backends, {},
                     "each policy has its own rules and its own journal, so an offset does not say "
                     "what was seen");
}

/// A subject is told to the engine as `POLICY/NAME`.
void complete(Request& request, const Backend& policy) {
    std::string& subject = request.scope.subject;
    if (!subject.empty() && subject.find('/') == std::string::npos) {
        subject = policy.policy + "/" + subject;
    }
}

/// Why a policy was not asked: a sentence, and the answer where it is the only one.
struct NotAsked {
    std::string sentence;
    Answer answer;
};

/// Gives the request to that policy, and the id to the request: all are asked under the one that
/// the first of them gives. nullopt: it was asked.
std::optional<NotAsked> ask_one(const Backend& policy, Request& request) {
    if (std::string why = policy.unavailable(); !why.empty()) return NotAsked{why, not_yet(why)};
    if (const std::optional<std::string> why = policy.too_much(request)) {
        NotAsked busy{*why, refusal(429, *why)};
        busy.answer.headers.emplace_back("Retry-After", kRetryAfter);
        return busy;
    }
    const Result<RequestId> id = policy.ask(request);
    if (!id) return NotAsked{id.error().what, refusal(503, id.error().what)};
    request.id = *id;
    return std::nullopt;
}

/// May one approval by reason let it go? One that only reports waits for nobody, nor does one of an
/// object whose key cannot be told.
bool may_go(const FindingEdge& edge, const Snapshot& snapshot) {
    const auto acts = [&](const RuleView& rule) {
        return rule.rule == edge.rule && !rule.does.empty();
    };
    return !edge.subject.starts_with('!') &&
           std::any_of(snapshot.rules.begin(), snapshot.rules.end(), acts);
}

/// How many findings an approval by reason is about, as they are shown here now; nullopt: it is an
/// approval of one subject or none at all, or not all of them are kept.
std::optional<std::uint64_t> waiting_for(const Backend& policy, const Request& request) {
    const RequestScope& scope = request.scope;
    const bool of_one = !scope.subject.empty() || scope.finding_id.has_value();
    const bool says = scope.finding_offset || !request.seen.empty();
    if (request.kind != RequestKind::kApprove || of_one || !says) return std::nullopt;
    projections::FindingsFilter filter;
    filter.rule = scope.rule;
    filter.reason = scope.reason;
    filter.limit = projections::FindingsView::kMost;
    const auto page = policy.findings(filter);
    if (page.hidden > 0) return std::nullopt;
    const Snapshot snapshot = policy.snapshot();
    const auto meant = [&](const FindingEdge& edge) {
        return edge.offset <= seen_in(request, edge.shard).value_or(kNoOffset) &&
               may_go(edge, snapshot);
    };
    return std::count_if(page.findings.begin(), page.findings.end(), meant);
}

}  // namespace

Answer take(const Backends& backends, const Caller& caller, Request request) {
    request.issued_by = caller.name;
    request.role = name_of(caller.role);
    Scope scope = targets_of(backends, request);
    if (scope.refusal) return std::move(*scope.refusal);
    Json left = Json::array();
    std::optional<std::uint64_t> waiting;
    std::optional<Answer> first;  // of those that were not asked
    for (const Backend* policy : scope.policies) {
        complete(request, *policy);
        waiting = waiting_for(*policy, request);  // before it lets them go
        std::optional<NotAsked> why = ask_one(*policy, request);
        if (!why) continue;
        left.push_back({{"policy", policy->policy}, {"sentence", why->sentence}});
        if (!first) first = std::move(why->answer);
    }
    // What one of them cannot take stops none of the others: a brake is for as many as it reaches.
    if (left.size() == scope.policies.size()) return std::move(*first);
    Json json{{"request", to_hex(request.id)}};
    if (waiting) json["waiting"] = *waiting;
    if (!left.empty()) json["not_asked"] = std::move(left);
    return reply(202, json);
}

Answer ask(const Backends& backends, const Caller& caller, const std::string& body) {
    Result<Request> request = request_of(body);
    if (!request) return refusal(400, request.error().what);
    const bool enables = request->kind == RequestKind::kEnable;
    const Role least = enables ? Role::kAdmin : Role::kOps;
    const bool as_owner =
        request->kind == RequestKind::kTerminate || request->kind == RequestKind::kRequest;
    if (!as_owner && caller.role < least) {
        return forbidden(caller, least);
    }
    return take(backends, caller, std::move(*request));
}

/// Granted or refused once each policy that was asked has said so; where they differ, `mixed`.
Answer show_answer(const Backends& backends, const std::string& hex) {
    const std::optional<RequestId> id = id_from_hex<RequestId>(hex);
    if (!id) return refusal(400, "a request's id must have 32 hex digits");
    std::optional<AnswerView> word;
    std::size_t granted = 0;
    Json answers = Json::array();
    bool pending = false;
    for (const Backend& policy : backends.policies) {
        if (!policy.unavailable().empty()) continue;
        Answers told = policy.answer(*id);
        pending = pending || told.pending;
        if (!told.word) continue;
        if (told.word->granted) ++granted;
        answers.push_back({{"policy", policy.policy},
                           {"state", told.word->granted ? "granted" : "refused"},
                           {"sentence", told.word->sentence}});
        if (!word || word->granted) word = std::move(told.word);
    }
    if (pending || !word) {
        return reply(200, {{"request", hex}, {"state", "pending"}, {"answers", answers}});
    }
    const bool all = granted == answers.size();
    return reply(200, {{"request", hex},
                       {"state", all           ? "granted"
                                 : granted > 0 ? "mixed"
                                               : "refused"},
                       {"kind", name_of(word->kind)},
                       {"by", word->by},
                       {"sentence", word->sentence},
                       {"answers", answers}});
}

}  // namespace trueup::api
