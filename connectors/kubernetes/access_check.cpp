#include "connectors/kubernetes/access_check.h"

#include "connectors/kubernetes/decode.h"
#include "connectors/kubernetes/paths.h"
#include "connectors/kubernetes/unary_call.h"
#include "engine/base/json_string.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace trueup::connectors {

namespace {

constexpr Millis kLimit{5'000};
constexpr ports::CallId kList = 1;
constexpr ports::CallId kGet = 2;
constexpr ports::CallId kWatch = 3;
constexpr ports::CallId kNamespace = 4;
constexpr ports::CallId kReady = 5;
constexpr ports::CallId kReview = 6;  // and those after it

class Asker {
  public:
    Asker(ports::Cluster& cluster, ports::Clock& clock)
        : cluster_(cluster), clock_(clock), deadline_(clock.steady_now() + kLimit) {}

    /// The answer to a call that was just started. A watch is answered by its head alone.
    Answer wait(ports::CallId call, bool head_is_enough) {
        UnaryCall pending(cluster_);
        pending.begin(call, deadline_);
        while (true) {
            const SteadyTime now = clock_.steady_now();
            if (std::optional<Answer> late = pending.expire(now)) return *std::move(late);
            std::vector<ports::ClusterEvent> events;
            cluster_.poll(std::min(deadline_ - now, Millis(100)), events);
            for (const ports::ClusterEvent& event : events) {
                if (event.call != call) continue;
                if (std::optional<Answer> answer = pending.feed(event)) return *std::move(answer);
                if (!head_is_enough || event.kind != ports::ClusterEvent::Kind::kHead) continue;
                if (event.status == 200) {
                    pending.cancel();
                    return Answer{200, Millis(0), "", std::nullopt};
                }
            }
        }
    }

  private:
    ports::Cluster& cluster_;
    ports::Clock& clock_;
    SteadyTime deadline_;
};

std::string name_of(const ports::Resource& resource) {
    return resource.plural + " (" + resource.api_path + ") in " + ports::place_text(resource);
}

/// The sentence around it says that already.
std::string without(std::string_view prefix, const std::string& what) {
    return what.starts_with(prefix) ? what.substr(prefix.size()) : what;
}

/// `reason` is the failure in full.
Error unanswered(const Error& failure, const std::string& reason) {
    if (failure.code == Code::kUntrusted) {
        return Error{Next::kRetry, Code::kUntrusted,
                     "the API server's TLS certificate, or ours, was not accepted: " +
                         without("TLS: ", failure.what)};
    }
    if (failure.code == Code::kDenied) {
        return Error{
            Next::kRetry, Code::kDenied,
            "no credentials for the API server: " + without("credentials: ", failure.what)};
    }
    return Error{Next::kRetry, failure.code, "the API server does not answer: " + reason};
}

Error refused(const Answer& answer, const std::string& verb, const ports::Resource& resource,
              Decoder& decoder) {
    const std::string reason = explain(answer, decoder);
    if (answer.failure) return unanswered(*answer.failure, reason);
    switch (answer.status) {
        case 401:
            return Error{Next::kStop, Code::kDenied,
                         "the API server does not know our credentials (" + reason +
                             "): check the token, the client certificate or the exec "
                             "command"};
        case 403:
            return Error{Next::kStop, Code::kDenied,
                         "no right to " + verb + " " + name_of(resource) + " (" + reason +
                             "): grant the verbs get, list and watch"};
        case 404:
            return Error{Next::kStop, Code::kNotFound,
                         "the API server has no " + name_of(resource) + " (" + reason +
                             "): check api and plural, and that the CRD is there"};
        case 400:
            return Error{Next::kStop, Code::kInvalid,
                         "the API server rejects the request, most likely its label "
                         "selector: " +
                             reason};
        default:
            return Error{Next::kRetry, Code::kUnavailable,
                         "cannot " + verb + " " + name_of(resource) + ": " + reason};
    }
}

/// Until a server has read whom it knows, who has which right and which resources there are, it
/// answers 401, 403 and 404 to those who did nothing wrong. One that does not tell may be anything;
/// one that does not know us here either is not about to.
bool may_be_starting(const Answer& refused, ports::Cluster& cluster, Asker& asker) {
    if (refused.failure) return false;
    if (refused.status != 401 && refused.status != 403 && refused.status != 404) return false;
    cluster.list_page(kReady, ports::ListPage{{"", "", "readyz"}, "", 0, "", ""});
    const Answer ready = asker.wait(kReady, false);
    return !ready.good() && !(refused.status == 401 && ready.status == 401);
}

/// What a server that may just be starting refuses, it may grant in a minute.
Error judged(Error refusal, const Answer& answer, ports::Cluster& cluster, Asker& asker) {
    if (!may_be_starting(answer, cluster, asker)) return refusal;
    return Error{Next::kRetry, Code::kUnavailable, refusal.what + "; it is not ready (/readyz)"};
}

std::string review_body(const ports::Resource& resource, const std::string& verb) {
    // `/api/v1` is the group without a name, `/apis/GROUP/VERSION` any other.
    constexpr std::string_view kApis = "/apis/";
    std::string_view group;
    if (std::string_view(resource.api_path).starts_with(kApis)) {
        group = std::string_view(resource.api_path).substr(kApis.size());
        group = group.substr(0, group.find('/'));
    }
    const std::size_t slash = std::min(verb.find('/'), verb.size());
    std::string body = R"({"apiVersion":"authorization.k8s.io/v1",)";
    body += R"("kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"namespace":)";
    body += json_string(resource.name_space) + R"(,"verb":)" + json_string(verb.substr(0, slash));
    body += R"(,"group":)" + json_string(group) + R"(,"resource":)" + json_string(resource.plural);
    if (slash < verb.size()) body += R"(,"subresource":)" + json_string(verb.substr(slash + 1));
    return body + "}}}";
}

std::optional<bool> read_review(const std::string& body) {
    simdjson::dom::parser parser;
    bool allowed = false;
    const auto read = parser.parse(body).at_pointer("/status/allowed").get_bool().get(allowed);
    return read == simdjson::SUCCESS ? std::optional(allowed) : std::nullopt;
}

}  // namespace

Status check_access(ports::Cluster& cluster, const ports::Resource& resource,
                    const std::string& label_selector, ports::Clock& clock) {
    Decoder decoder(Mapping{});
    Asker asker(cluster, clock);
    const auto refuse = [&](const Answer& answer, const std::string& verb) {
        return judged(refused(answer, verb, resource, decoder), answer, cluster, asker);
    };
    cluster.list_page(kList, ports::ListPage{resource, label_selector, 1, "", ""});
    const Answer list = asker.wait(kList, false);
    if (!list.good()) return refuse(list, "list");
    const Result<KubePage> page = decoder.page(list.body);
    if (!page) {
        return Error{Next::kRetry, Code::kInvalid,
                     "what answers is not a Kubernetes API server: " + page.error().what};
    }
    const bool placed = !label_selector.empty() && !resource.name_space.empty();
    if (placed || resource.cluster_scoped) {
        // Only the right is of interest: that this name does not exist is the good answer.
        const std::string name = "trueup-access-check";
        cluster.get(kGet, ports::GetObject{resource, name});
        const Answer get = asker.wait(kGet, false);
        const bool known = get.good() || (!get.failure && get.status == 404);
        if (!known) return refuse(get, "get");
        // Where such objects lie in namespaces there is nothing at such a path, whatever the name.
        if (!get.good() && resource.cluster_scoped && get.body.find(name) == std::string::npos) {
            return Error{Next::kStop, Code::kConfiguration,
                         resource.plural + " (" + resource.api_path +
                             ") lie in namespaces; write namespace: NAME instead of "
                             "cluster_scoped: true"};
        }
    }
    cluster.watch(
        kWatch, ports::WatchFrom{resource, label_selector, std::to_string(page->version), 1, true});
    const Answer watch = asker.wait(kWatch, true);
    if (!watch.good()) return refuse(watch, "watch");
    return Done{};
}

std::optional<bool> namespace_exists(ports::Cluster& cluster, const std::string& name,
                                     ports::Clock& clock) {
    cluster.get(kNamespace, ports::GetObject{{"/api/v1", "", "namespaces"}, name});
    const Answer answer = Asker(cluster, clock).wait(kNamespace, false);
    if (answer.good()) return true;
    if (answer.failure || answer.status != 404) return std::nullopt;
    // A proxy has a 404 too; the server says of what.
    Decoder decoder(Mapping{});
    const auto said = decoder.status(answer.body);
    return said && said->not_found(name, "namespaces") ? std::optional(false) : std::nullopt;
}

std::optional<std::vector<std::string>> missing_verbs(ports::Cluster& cluster, const Post& post,
                                                      const ports::Resource& resource,
                                                      const std::vector<std::string>& verbs,
                                                      ports::Clock& clock) {
    Asker asker(cluster, clock);
    std::vector<std::string> missing;
    ports::CallId call = kReview;
    for (const std::string& verb : verbs) {
        post(++call, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
             review_body(resource, verb));
        const Answer answer = asker.wait(call, false);
        if (answer.failure || answer.status != 201) return std::nullopt;
        const std::optional<bool> allowed = read_review(answer.body);
        if (!allowed) return std::nullopt;
        if (!*allowed) missing.push_back(verb);
    }
    return missing;
}

}  // namespace trueup::connectors
