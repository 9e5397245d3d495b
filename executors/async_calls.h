// The executors' calls on the world: starts them under ids of its own, gathers the events of each
// into one whole answer, and ends those that take too long.
//
// An answer is handed over by `take`, never inside the call that starts or polls: what an execution
// does next is decided with the clock that the caller of `take` brings.
//
// Owns no port; while it uses a port nobody else may poll it. Not thread-safe.
#pragma once

#include "engine/ports/cluster.h"
#include "engine/ports/database.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::executors {

/// Who waits for an answer: a number that the dispatcher gives each execution.
using Owner = std::uint64_t;

/// An API server that starts refuses everything until it has read who has which right: a 403 is
/// final only after so long of nothing else about one object, for reading and for writing it each.
inline constexpr Millis kRightsComeUp{300'000};

/// All of what came back for one call.
struct Answer {
    Owner owner = 0;
    ports::CallId call = 0;
    bool for_good = false;  ///< of a 403: nothing else was heard for kRightsComeUp
    bool failed = false;  ///< no whole answer came: `error`, and `sqlstate` where the server spoke
    int status = 0;       ///< HTTP; 0 for a database
    std::string body;
    std::vector<ports::SqlRow> rows;
    std::string sqlstate;
    Error error;
};

class AsyncCalls {
  public:
    /// A call without a whole answer after `timeout` is cancelled and counts as failed.
    explicit AsyncCalls(Millis timeout) : timeout_(timeout) {}

    ports::CallId get(Owner owner, ports::Cluster& cluster, const ports::GetObject& request,
                      SteadyTime now);
    ports::CallId list(Owner owner, ports::Cluster& cluster, const ports::ListPage& request,
                       SteadyTime now);
    ports::CallId erase(Owner owner, ports::Cluster& cluster, const ports::DeleteObject& request,
                        SteadyTime now);
    ports::CallId patch(Owner owner, ports::Cluster& cluster, const ports::PatchObject& request,
                        SteadyTime now);
    ports::CallId create(Owner owner, ports::Cluster& cluster, const ports::CreateObject& request,
                         SteadyTime now);
    ports::CallId read_rows(Owner owner, ports::Database& database, const ports::ReadRows& request,
                            SteadyTime now);
    ports::CallId update_row(Owner owner, ports::Database& database,
                             const ports::UpdateRow& request, SteadyTime now);
    ports::CallId insert_row(Owner owner, ports::Database& database,
                             const ports::InsertRow& request, SteadyTime now);

    /// Ends every call of an owner; no answer of them follows.
    void cancel_all(Owner owner);

    /// True while a call is under way.
    bool waiting() const { return !open_.empty(); }

    /// When the first of them has taken too long.
    std::optional<SteadyTime> due() const;

    /// Collects events; waits at most `max_wait` in all when there is nothing yet.
    void poll(Millis max_wait);

    /// The answers that are complete, in the order of their completion, and those overdue by `now`.
    std::vector<Answer> take(SteadyTime now);

  private:
    /// What may be refused: reading or writing one object of a cluster. An admission webhook
    /// refuses a single one, and whatever is answered about others says nothing of it.
    struct Asked {
        ports::Cluster* cluster = nullptr;
        bool writes = false;
        /// `api/namespace/plural/name`: a pod's service may have its name; of a list `?selector`.
        std::string object;
        auto operator<=>(const Asked&) const = default;
    };
    struct Open {
        Answer answer;
        SteadyTime due{};
        Asked asked;                          ///< of a cluster, or none
        ports::Database* database = nullptr;  ///< else
        void cancel() const;
    };
    Open& open(Owner owner, SteadyTime now);
    ports::CallId open(Owner owner, ports::Database& database, SteadyTime now);
    ports::CallId open(Owner owner, Asked asked, SteadyTime now);
    void close(std::map<ports::CallId, Open>::iterator which);
    void poll_cluster(ports::Cluster& cluster, const ports::Interest& others, Millis max_wait);
    void poll_database(ports::Database& database, const ports::Interest& others, Millis max_wait);
    void handle(const ports::ClusterEvent& event);
    void handle(ports::DatabaseEvent& event);
    struct Refused {
        SteadyTime since{};
        SteadyTime last{};
    };
    void judge_rights(Answer& answer, const Asked& asked, SteadyTime now);

    Millis timeout_;
    ports::CallId next_ = 1;
    std::map<ports::CallId, Open> open_;
    std::vector<std::pair<Answer, Asked>> complete_;
    std::map<Asked, Refused> refused_;  ///< whose last answer was a 403, not long ago
    std::vector<ports::ClusterEvent> cluster_events_;
    std::vector<ports::DatabaseEvent> database_events_;
};

}  // namespace trueup::executors
