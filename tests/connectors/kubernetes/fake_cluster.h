// A scripted API server: records what is asked, answers when and what the test says.
//
// What it gets wrong: it has no world, so it never contradicts its script; it ignores selectors,
// limits and versions; a cancelled call can never be answered by accident; everything that the test
// hands it arrives in the next poll, and no time passes in between.
#pragma once

#include "engine/base/check.h"
#include "engine/ports/cluster.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::testing {

struct Asked {
    enum class Kind { kList, kWatch, kGet, kErase };
    Kind kind = Kind::kList;
    ports::CallId call = 0;
    ports::ListPage list;
    ports::WatchFrom watch;
    ports::GetObject get;
    bool open = true;
};

class FakeCluster final : public ports::Cluster {
  public:
    void list_page(ports::CallId call, const ports::ListPage& request) override {
        Asked asked;
        asked.kind = Asked::Kind::kList;
        asked.list = request;
        add(call, std::move(asked));
    }
    void watch(ports::CallId call, const ports::WatchFrom& request) override {
        Asked asked;
        asked.kind = Asked::Kind::kWatch;
        asked.watch = request;
        add(call, std::move(asked));
    }
    void get(ports::CallId call, const ports::GetObject& request) override {
        Asked asked;
        asked.kind = Asked::Kind::kGet;
        asked.get = request;
        add(call, std::move(asked));
    }
    void erase(ports::CallId call, const ports::DeleteObject& request) override {
        (void)request;
        Asked asked;
        asked.kind = Asked::Kind::kErase;
        add(call, std::move(asked));
    }
    void patch(ports::CallId, const ports::PatchObject&) override {}
    void create(ports::CallId, const ports::CreateObject&) override {}
    void cancel(ports::CallId call) override {
        for (Asked& asked : asked_) asked.open = asked.open && asked.call != call;
        std::erase_if(events_, [call](const auto& event) { return event.call == call; });
    }
    void poll(Millis max_wait, std::vector<ports::ClusterEvent>& out) override {
        last_wait_ = max_wait;
        std::move(events_.begin(), events_.end(), std::back_inserter(out));
        events_.clear();
    }

    void head(ports::CallId call, int status, std::int64_t retry_after_ms = 0) {
        ports::ClusterEvent event = make(call, ports::ClusterEvent::Kind::kHead);
        event.status = status;
        event.retry_after_ms = retry_after_ms;
        events_.push_back(std::move(event));
    }
    void data(ports::CallId call, std::string_view bytes) {
        ports::ClusterEvent event = make(call, ports::ClusterEvent::Kind::kData);
        event.data = std::string(bytes);
        events_.push_back(std::move(event));
    }
    void end(ports::CallId call) {
        events_.push_back(make(call, ports::ClusterEvent::Kind::kEnd));
        close(call);
    }
    void fail(ports::CallId call, std::string why, Code code = Code::kUnavailable) {
        ports::ClusterEvent event = make(call, ports::ClusterEvent::Kind::kFailed);
        event.error = Error{Next::kRetry, code, std::move(why)};
        events_.push_back(std::move(event));
        close(call);
    }
    void answer(ports::CallId call, int status, std::string_view body,
                std::int64_t retry_after_ms = 0) {
        head(call, status, retry_after_ms);
        data(call, body);
        end(call);
    }

    const std::vector<Asked>& asked() const { return asked_; }
    std::vector<Asked> open(Asked::Kind kind) const {
        std::vector<Asked> found;
        for (const Asked& asked : asked_) {
            if (asked.open && asked.kind == kind) found.push_back(asked);
        }
        return found;
    }
    Millis last_wait() const { return last_wait_; }

  private:
    static ports::ClusterEvent make(ports::CallId call, ports::ClusterEvent::Kind kind) {
        ports::ClusterEvent event;
        event.call = call;
        event.kind = kind;
        return event;
    }
    void add(ports::CallId call, Asked asked) {
        for (const Asked& other : asked_) TRUEUP_CHECK(!other.open || other.call != call);
        asked.call = call;
        asked_.push_back(std::move(asked));
    }
    void close(ports::CallId call) {
        for (Asked& asked : asked_) asked.open = asked.open && asked.call != call;
    }

    std::vector<Asked> asked_;
    std::vector<ports::ClusterEvent> events_;
    Millis last_wait_{0};
};

}  // namespace trueup::testing
