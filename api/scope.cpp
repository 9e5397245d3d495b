#include "api/pages.h"
#include "engine/base/suggest.h"

#include <utility>

namespace trueup::api {

namespace {

constexpr const char* kSoon = "5";  // s

std::vector<std::string> names_of(const Backends& backends) {
    std::vector<std::string> names;
    for (const Backend& each : backends.policies) names.push_back(each.policy);
    return names;
}

}  // namespace

Answer not_yet(const std::string& why) {
    Answer out = refusal(503, why);
    out.headers.emplace_back("Retry-After", kSoon);
    return out;
}

Scope named(const Backends& backends, const std::string& policy) {
    Scope scope;
    for (const Backend& each : backends.policies) {
        if (policy.empty() || each.policy == policy) scope.policies.push_back(&each);
    }
    if (scope.policies.empty()) {
        scope.refusal = refusal(404, "there is no policy '" + policy + "'; " +
                                         did_you_mean(policy, names_of(backends)));
    }
    return scope;
}

Scope the_one(Scope scope, const std::string& what) {
    if (scope.policies.size() < 2) return scope;
    std::string names;
    for (const Backend* each : scope.policies) names += (names.empty() ? "" : ", ") + each->policy;
    scope.refusal = refusal(400, what + "; name one of the policies " + names);
    return scope;
}

Scope one_named(const Backends& backends, const std::string& policy, const std::string& what) {
    return the_one(named(backends, policy), what);
}

Scope of_subject(const Backends& backends, const std::string& subject) {
    const std::size_t slash = subject.find('/');
    if (slash != std::string::npos) return named(backends, subject.substr(0, slash));
    return one_named(backends, {},
                     subject + " may be of several policies: write POLICY/" + subject);
}

}  // namespace trueup::api
