// One client of a world's API server. Internal to sandbox/; made by World::cluster.
//
// Calls are carried out when they are started and answered in `poll`; watches are fed in `poll`.
#pragma once

#include "engine/ports/cluster.h"
#include "engine/ports/selector.h"
#include "sandbox/pod_json.h"
#include "sandbox/realm.h"

#include <map>
#include <memory>

namespace trueup::sandbox {

class ClusterPort final : public ports::Cluster {
  public:
    ClusterPort(std::shared_ptr<Realm> realm, bool second);

    void list_page(ports::CallId call, const ports::ListPage& request) override;
    void watch(ports::CallId call, const ports::WatchFrom& request) override;
    void get(ports::CallId call, const ports::GetObject& request) override;
    void erase(ports::CallId call, const ports::DeleteObject& request) override;
    void patch(ports::CallId call, const ports::PatchObject& request) override;
    void create(ports::CallId call, const ports::CreateObject& request) override;
    void cancel(ports::CallId call) override;
    void poll(Millis max_wait, std::vector<ports::ClusterEvent>& out) override;
    void wake() override { realm_->wake(woken_); }

  private:
    struct Watch {
        ports::CallId call = 0;
        std::string name_space;
        ports::Selector selector;
        bool bookmarks = false;
        std::uint64_t position = 0;  ///< everything up to here was delivered
        std::uint64_t cuts = 0;
        bool bare = false;  ///< it shows no labels
        SteadyTime deadline;
        SteadyTime next_bookmark;
        std::optional<SteadyTime> last_bookmark;  ///< the one shortly before the deadline
    };

    /// The newest version that its server knows.
    std::uint64_t newest() const TRUEUP_REQUIRES(realm_->mutex);
    PodPtr find(const ApiServer::Key& key) const TRUEUP_REQUIRES(realm_->mutex);

    // Answers, in pieces.
    void head(ports::CallId call, int status, std::int64_t retry_after_ms = 0, Millis after = {});
    void body(ports::CallId call, std::string_view bytes, Millis after = {});
    void end(ports::CallId call, Millis after = {});
    void fail(ports::CallId call, std::string what);
    void answer(ports::CallId call, int status, std::string_view bytes);
    void answer(ports::CallId call, const StatusObject& status, Millis after = {});
    void emit(ports::ClusterEvent event, Millis after);

    /// The call meets a prepared failure. True: it is dealt with and does nothing else.
    bool fails(ports::CallId call, Op op, bool& lose_reply,
               std::optional<Failure::Kind>* flaw = nullptr) TRUEUP_REQUIRES(realm_->mutex);
    bool served(ports::CallId call, const ports::Resource& resource);
    /// The failures that answer with HTTP.
    void answer_with(ports::CallId call, Op op, const Failure& failure)
        TRUEUP_REQUIRES(realm_->mutex);

    void list_snapshot(ports::CallId call, const ports::ListPage& request,
                       const ports::Selector& selector, std::optional<Failure::Kind> flaw)
        TRUEUP_REQUIRES(realm_->mutex);
    /// Is the object there as it is meant by a DELETE or a PATCH? Then it is `pod`.
    template <typename Request>
    Effect attempt(const Request& asked, const Act& act, StatusObject& refusal, PodPtr& pod)
        TRUEUP_REQUIRES(realm_->mutex);
    static std::optional<Pod> made_of(const ports::CreateObject& request);
    static std::optional<Pod> patched(Pod pod, const ports::PatchObject& request);
    void answer_write(ports::CallId call, const Effect& effect, const PodPtr& pod,
                      const StatusObject& refusal, bool lose_reply) TRUEUP_REQUIRES(realm_->mutex);

    void collect(const Act& act, std::vector<ports::ClusterEvent>& out)
        TRUEUP_REQUIRES(realm_->mutex);
    /// Returns false when the watch ended.
    bool feed(Watch& watch, const Act& act) TRUEUP_REQUIRES(realm_->mutex);
    void feed_bookmarks(Watch& watch, SteadyTime now) TRUEUP_REQUIRES(realm_->mutex);
    std::optional<SteadyTime> next_due() const TRUEUP_REQUIRES(realm_->mutex);

    std::shared_ptr<Realm> realm_;
    const bool second_;
    bool woken_ = false;  ///< under the realm's mutex
    std::uint64_t restarts_seen_ = 0;
    SteadyTime now_{};                    ///< of the act under way
    std::map<ports::CallId, bool> open_;  ///< calls without their last event; true: it is a watch
    std::vector<Watch> watches_;
    std::multimap<SteadyTime, ports::ClusterEvent> outbox_;
};

}  // namespace trueup::sandbox
