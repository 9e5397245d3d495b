// The Kubernetes API at wire level: typed requests down, bytes up. connectors/kubernetes/transport
// speaks HTTP below it, sandbox/ answers from memory; everything above (pages, watches, 410,
// preconditions, JSON) is the same code in both.
//
// Asynchronous: a call is started under an id that the caller chooses (unique while the call runs)
// and answered by events in `poll`. Not thread-safe: one thread owns a port. Several instances may
// talk to one server.
#pragma once

#include "engine/base/error.h"
#include "engine/base/time.h"
#include "engine/ports/call_ids.h"
#include "engine/ports/interest.h"
#include "engine/ports/resource.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trueup::ports {

/// GET of one page of a list.
struct ListPage {
    Resource resource;
    std::string label_selector;    ///< empty: everything
    std::uint32_t limit = 500;     ///< 0: no paging
    std::string continue_token;    ///< empty: first page
    std::string resource_version;  ///< empty: the newest, consistent
};

/// GET with watch=1; the answer is a stream of newline-delimited JSON events.
struct WatchFrom {
    Resource resource;
    std::string label_selector;
    std::string resource_version;
    std::uint32_t timeout_seconds = 290;
    bool bookmarks = true;
};

struct GetObject {
    Resource resource;
    std::string name;
};

/// DELETE with preconditions. Both are always sent; there is no way to leave them out.
struct DeleteObject {
    Resource resource;
    std::string name;
    std::string uid;
    std::string resource_version;
    std::optional<std::uint32_t> grace_period_seconds;  ///< nullopt: the object's own
    /// Later than this it is not sent any more, whatever kept it (a connection, credentials), and
    /// fails: what it was decided on is too old by then.
    Millis send_within{2'000};
    /// What becomes of what the object owns: `background`, `foreground` or `orphan`.
    std::string propagation = "background";
};

/// PATCH of single places by a merge patch, with preconditions, as a DELETE's always sent.
struct PatchObject {
    struct Set {
        std::vector<std::string> path;     ///< names from the object's top, at least one
        std::optional<std::string> value;  ///< nullopt: takes it out
        bool bare = false;                 ///< a number or a boolean, as JSON writes it
    };
    Resource resource;
    std::string name;
    std::string subresource;  ///< empty: the object itself
    std::string uid;
    std::string resource_version;
    std::vector<Set> sets;      ///< none is, or lies below, another one's place
    Millis send_within{2'000};  ///< as of a DELETE
};

/// POST of a new object. A server has one of a name at most: that there is none is its
/// precondition.
struct CreateObject {
    Resource resource;
    std::string name;           ///< as `body` says it, too
    std::string body;           ///< the whole object, JSON
    Millis send_within{2'000};  ///< as of a DELETE
};

struct ClusterEvent {
    enum class Kind : std::uint8_t {
        kHead,    ///< status line came: `status`, `retry_after_ms` (0: none said)
        kData,    ///< some bytes of the body, cut anywhere
        kEnd,     ///< the body ended as the protocol says (for a watch: plain EOF)
        kFailed,  ///< connection, TLS, time-out, cut body: `error`; nothing follows
    };
    CallId call = 0;
    Kind kind = Kind::kFailed;
    int status = 0;
    std::int64_t retry_after_ms = 0;
    std::string data;
    Error error;
};

class Cluster {
  public:
    virtual ~Cluster() = default;

    virtual void list_page(CallId call, const ListPage& request) = 0;
    virtual void watch(CallId call, const WatchFrom& request) = 0;
    virtual void get(CallId call, const GetObject& request) = 0;
    virtual void erase(CallId call, const DeleteObject& request) = 0;
    virtual void patch(CallId call, const PatchObject& request) = 0;
    virtual void create(CallId call, const CreateObject& request) = 0;

    /// Ends a call; no event of it follows. Unknown ids are ignored.
    virtual void cancel(CallId call) = 0;

    /// Appends what came in to `out`; waits at most `max_wait` when there is nothing yet.
    virtual void poll(Millis max_wait, std::vector<ClusterEvent>& out) = 0;
    /// As `poll`; its wait ends for `others` too, which it does not touch (interest.h).
    virtual void poll_beside(const Interest& others, Millis max_wait,
                             std::vector<ClusterEvent>& out) {
        poll(std::min(max_wait, others.without_sockets()), out);
    }

    /// Adds what its `poll` would wait for, `wake` left out, to a wait in another place. Valid
    /// until the port is used again. False: it cannot say.
    virtual bool interest(Interest& all) const {
        static_cast<void>(all);
        return false;
    }

    /// Ends the wait of the `poll` that is under way, or of the next one (wakeup.h). For any
    /// thread. A port whose `poll` never waits need not.
    virtual void wake() {}
};

}  // namespace trueup::ports
