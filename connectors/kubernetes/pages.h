// A consistent list, page by page: the raw material of an epoch. All pages show one version of the
// collection or the list is given up: a `continue` token that expired (410) brings a fresh one that
// goes on inconsistently, which is never used, since absence could not be concluded from it. Why no
// watch-list (sendInitialEvents) takes its place: docs/adr/0014.
//
// A page that is too large, or does not come in time, ends the list; the next one asks for pages of
// half as many objects (50 at least, where time is the reason), and for twice as many again after
// three whole lists in a row, or where the list went on for longer than its `continue` token lives.
//
// Not thread-safe.
#pragma once

#include "connectors/kubernetes/decode.h"
#include "connectors/kubernetes/settings.h"
#include "connectors/kubernetes/unary_call.h"
#include "engine/ports/call_ids.h"

#include <optional>

namespace trueup::connectors {

class PagedList {
  public:
    struct Flaw {
        std::string what;
        Millis retry_after{0};
    };
    struct Part {
        std::optional<Flaw> flaw;  ///< the list is over and proves nothing
        KubePage page;
        bool first = false;
        bool last = false;
    };

    PagedList(ports::Cluster& cluster, ports::CallIds& ids, Decoder& decoder,
              const KubernetesSettings& settings)
        : cluster_(cluster),
          ids_(ids),
          decoder_(decoder),
          settings_(settings),
          page_(cluster),
          limit_(settings.page_limit) {}

    /// Asks for the first page of the newest state.
    void begin(SteadyTime now);
    bool running() const { return page_.running(); }
    bool owns(ports::CallId call) const { return page_.owns(call); }
    SteadyTime deadline() const { return page_.deadline(); }
    void cancel() { page_.cancel(); }

    /// What an event brought; the next page is asked for by itself.
    std::optional<Part> feed(const ports::ClusterEvent& event, SteadyTime now);
    std::optional<Part> expire(SteadyTime now);

  private:
    void ask(std::string continue_token, SteadyTime now);
    Part take(const Answer& answer, SteadyTime now);
    void adapt(const Answer& answer);
    void resize(std::uint32_t limit);
    void grow();

    ports::Cluster& cluster_;
    ports::CallIds& ids_;
    Decoder& decoder_;
    const KubernetesSettings& settings_;
    UnaryCall page_;
    std::uint64_t version_ = 0;  ///< of the first page; 0: it did not come yet
    std::uint32_t limit_;        ///< objects of a page
    std::uint32_t whole_ = 0;    ///< lists in a row, since it changed
};

}  // namespace trueup::connectors
