#include "connectors/kubernetes/probe.h"

#include "connectors/kubernetes/decode.h"
#include "connectors/kubernetes/exchange.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace trueup::connectors {

namespace {

constexpr Millis kLimit{5'000};
constexpr ports::CallId kList = 1;
constexpr ports::CallId kGet = 2;
constexpr ports::CallId kWatch = 3;

class Asker {
  public:
    Asker(ports::Cluster& cluster, ports::Clock& clock)
        : cluster_(cluster), clock_(clock), deadline_(clock.steady_now() + kLimit) {}

    /// The answer to a call that was just started. A watch is answered by its head alone.
    Answer wait(ports::CallId call, bool head_is_enough) {
        Exchange exchange(cluster_);
        exchange.begin(call, deadline_);
        while (true) {
            const SteadyTime now = clock_.steady_now();
            if (std::optional<Answer> late = exchange.expire(now)) return *std::move(late);
            std::vector<ports::ClusterEvent> events;
            cluster_.poll(std::min(deadline_ - now, Millis(100)), events);
            for (const ports::ClusterEvent& event : events) {
                if (event.call != call) continue;
                if (std::optional<Answer> answer = exchange.feed(event)) return *std::move(answer);
                if (!head_is_enough || event.kind != ports::ClusterEvent::Kind::kHead) continue;
                if (event.status == 200) {
                    exchange.cancel();
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
    const std::string where =
        resource.name_space.empty() ? "all namespaces" : "namespace " + resource.name_space;
    return resource.plural + " (" + resource.api_path + ") in " + where;
}

Error refused(const Answer& answer, const std::string& verb, const ports::Resource& resource,
              Decoder& decoder) {
    const std::string reason = explain(answer, decoder);
    if (answer.failure) {
        if (answer.failure->what.starts_with("TLS: ")) {
            return Error{Next::kStop,
                         "the API server's TLS certificate or ours was not accepted: " +
                             answer.failure->what.substr(5)};
        }
        if (answer.failure->what.starts_with("credentials: ")) {
            return Error{Next::kRetry,
                         "no credentials for the API server: " + answer.failure->what.substr(13)};
        }
        return Error{Next::kRetry, "the API server does not answer: " + reason};
    }
    switch (answer.status) {
        case 401:
            return Error{Next::kStop, "the API server does not know our credentials (" + reason +
                                          "): check the token, the client certificate or the exec "
                                          "command"};
        case 403:
            return Error{Next::kStop, "no right to " + verb + " " + name_of(resource) + " (" +
                                          reason + "): grant the verbs get, list and watch"};
        case 404:
            return Error{Next::kStop, "the API server has no " + name_of(resource) + " (" + reason +
                                          "): check api and plural, and that the CRD is there"};
        case 400:
            return Error{Next::kStop,
                         "the API server rejects the request, most likely its label "
                         "selector: " +
                             reason};
        default:
            return Error{Next::kRetry, "cannot " + verb + " " + name_of(resource) + ": " + reason};
    }
}

}  // namespace

Status check_access(ports::Cluster& cluster, const ports::Resource& resource,
                    const std::string& label_selector, ports::Clock& clock) {
    Decoder decoder(Mapping{});
    Asker asker(cluster, clock);
    cluster.list_page(kList, ports::ListPage{resource, label_selector, 1, "", ""});
    const Answer list = asker.wait(kList, false);
    if (!list.good()) return refused(list, "list", resource, decoder);
    const Result<KubePage> page = decoder.page(list.body);
    if (!page) {
        return Error{Next::kStop,
                     "what answers is not a Kubernetes API server: " + page.error().what};
    }
    if (!label_selector.empty() && !resource.name_space.empty()) {
        // Only the right is of interest: that this name does not exist is the good answer.
        cluster.get(kGet, ports::GetObject{resource, "trueup-access-check"});
        const Answer get = asker.wait(kGet, false);
        const bool known = get.good() || (!get.failure && get.status == 404);
        if (!known) return refused(get, "get", resource, decoder);
    }
    cluster.watch(
        kWatch, ports::WatchFrom{resource, label_selector, std::to_string(page->version), 1, true});
    const Answer watch = asker.wait(kWatch, true);
    if (!watch.good()) return refused(watch, "watch", resource, decoder);
    return Done{};
}

}  // namespace trueup::connectors
