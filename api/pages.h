// What the routes have in common: which policies a request is about, and how an answer is made. For
// the files of this folder only.
#pragma once

#include "api/backend.h"
#include "api/http.h"
#include "api/routes.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::api {

Answer reply(unsigned status, const nlohmann::ordered_json& body);
Answer forbidden(const Caller& caller, Role least);
/// 503 with the sentence, and when to ask again.
Answer not_yet(const std::string& why);
/// The first of that name; empty: none.
std::string value_of(const Plan& plan, std::string_view name);

/// The policies that something is about, at least one; or why there is none.
struct Scope {
    std::vector<const Backend*> policies;
    std::optional<Answer> refusal;
};
/// The policy of that name; empty: all.
Scope named(const Backends& backends, const std::string& policy);
/// The same, or a refusal with their names where there are several; `what` says why one has to be
/// named, and begins the sentence.
Scope the_one(Scope scope, const std::string& what);
/// The policy of that name; empty: the only one.
Scope one_named(const Backends& backends, const std::string& policy, const std::string& what);
/// The policy of `POLICY/NAME`; of a name alone the only one.
Scope of_subject(const Backends& backends, const std::string& subject);

Answer list_findings(const Backends& backends, const Plan& plan);
Answer show_finding(const Backends& backends, const std::string& id);
Answer show_why(const Backends& backends, const Plan& plan);
Answer show_policy(const Backends& backends, const Plan& plan);
Answer show_settings(const Backends& backends, const Plan& plan);
/// What a caller asks for in a body; whose an instance is the fold finds out (G8).
Answer ask(const Backends& backends, const Caller& caller, const std::string& body);
/// Gives the request to each policy that it is about.
Answer take(const Backends& backends, const Caller& caller, Request request);
Answer show_answer(const Backends& backends, const std::string& hex);

}  // namespace trueup::api
