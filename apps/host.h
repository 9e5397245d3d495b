// One policy in a process: its log, and whatever of shards, connectors and executors runs here,
// each on a thread of its own. `trueup up` and `trueup demo` run all of them over the log of a
// single process; over Kafka each part may be a process of its own (`trueup engine`, `connect`,
// `execute`). apps/hosts.h has those of several policies, and the HTTP side over them.
#pragma once

#include "api/backend.h"
#include "api/snapshot.h"
#include "api/subject_view.h"
#include "apps/host_settings.h"
#include "apps/quarantine_news.h"
#include "apps/shard_host.h"
#include "apps/source_checks.h"
#include "engine/base/mutex.h"
#include "engine/model/settings.h"
#include "engine/ports/log.h"
#include "engine/runtime/source_hints.h"
#include "engine/runtime/source_loop.h"
#include "executors/dispatcher.h"
#include "executors/executor_loop.h"
#include "projections/views/findings.h"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace trueup::apps {

/// Thread-safe once started.
class Host {
  public:
    /// Makes the state folder; nothing runs yet. kStop: the configuration or a secret is wrong;
    /// kRetry: this machine does not let it now. Errors are one sentence for the operator, here and
    /// below.
    static Result<std::unique_ptr<Host>> open(HostSettings settings);
    /// Opens what is in the state folder (apps/shard_opening.h) and starts the threads. Waits for a
    /// log that does not answer. A source that `checks` has in doubt is left alone; nullptr: none
    /// needs a check.
    Status begin(std::unique_ptr<ports::Log> log, std::vector<SourceSpec> sources,
                 ExecutorSpec executors, std::unique_ptr<SourceChecks> checks);
    /// How to wait before `begin`, so that /readyz says what for.
    Waiting waiting();
    /// Instead of `begin`: why the policy does not run, sentences. Everybody who asks is told.
    void leave_out(const std::string& why) TRUEUP_EXCLUDES(mutex_);
    /// As `stop`.
    ~Host();

    /// Stops the threads; publishes and saves what was folded. Writes that went out have 3 s to end
    /// in their outcome.
    Status stop();
    /// What `stop` begins with, for who has something to do meanwhile.
    void begin_stop() TRUEUP_EXCLUDES(mutex_);
    /// After `begin_stop`: some write that went out has no outcome yet.
    bool settling() const { return settling_; }
    /// No longer waits for such writes: the next start finds out what became of them.
    void hurry();

    api::Snapshot snapshot() const TRUEUP_EXCLUDES(mutex_);
    /// What the HTTP side asks; it must not outlive the host.
    api::Backend backend();
    const std::string& policy() const { return settings_.policy.policy; }
    const HostSettings& settings() const { return settings_; }
    /// `begin` has ended well, and `log` is there.
    bool begun() const { return begun_; }
    ports::Log& log() { return *log_; }
    /// The shards that run here.
    std::vector<PartitionNumber> shards() const { return settings_.shards; }
    /// What runs here, for a person: `shards 0, 1`, `sources pods`, `executors`.
    std::string describe() const;
    /// Why the engine gave up; empty while it runs.
    std::string fatal() const;

  private:
    struct Source {
        SourceSpec spec;
        std::unique_ptr<runtime::SourceLoop> loop;
        std::thread thread;
    };

    Host();
    std::string own_folder(PartitionNumber shard) const {
        return settings_.alone ? "" : "/shard-" + std::to_string(shard.value());
    }
    /// Of the one that is opened next.
    ShardHostSettings shard_settings(PartitionNumber index);
    Status open_shards();
    Status say_what_does_not_act();
    bool say_in_force(PartitionNumber shard, const Settings& before, const Settings& now);
    std::vector<ports::Entry> said_of(const std::set<std::string>& stopped,
                                      PartitionNumber shard) const;
    void add_itself(api::Snapshot& view) const;
    void add_health(api::Snapshot& view, const Source& source) const;
    void add_sources(std::vector<SourceSpec> specs);
    void add_executors(ExecutorSpec spec);
    void start_threads();
    Result<RequestId> ask(Request request) TRUEUP_EXCLUDES(mutex_);
    std::optional<std::string> too_much(const Request& request) const;
    std::int64_t log_millis() const;
    std::string signed_bytes(const Request& request) const;
    Result<std::vector<PartitionNumber>> shards_of(Request& request) const;
    Result<std::vector<PartitionNumber>> looked_at(const Request& request) const;
    bool runs(PartitionNumber shard) const;
    api::Answers answer(const RequestId& id) const TRUEUP_EXCLUDES(mutex_);
    Result<std::pair<FindingEdge, api::SubjectView>> finding(const std::string& id) const;
    Result<api::WhyView> why(const std::string& subject, const std::string& rule) const;
    Result<std::string> settings_in_force() const;
    void wait_for(const std::string& what) TRUEUP_EXCLUDES(mutex_);
    std::string starting() const TRUEUP_EXCLUDES(mutex_);
    std::string left_out() const TRUEUP_EXCLUDES(mutex_);
    std::string unavailable() const TRUEUP_EXCLUDES(mutex_);
    /// What lines of the log call a shard: `POLICY/0`.
    std::string called(PartitionNumber shard) const;
    bool await_admission(const Source& source);
    void admit_to_executors(std::vector<std::string>& in_doubt);
    void run_source(Source& source);
    void run_executor();
    void settle_writes(executors::ExecutorLoop& loop);
    void run_maintenance() TRUEUP_EXCLUDES(mutex_);
    void measure_room();
    void measure_lags() TRUEUP_EXCLUDES(mutex_);
    Millis shorten_log();
    void run_hints();
    void heed(std::size_t slot, const runtime::ShardStatus& status,
              const std::vector<std::string>& wanted);
    void wake_sources();
    bool hurry_sources() const;
    void want_epoch(const std::string& source);

    HostSettings settings_;
    codec::KeyRing request_keys_;
    codec::KeyRing command_keys_;
    QuarantineNews quarantines_;  ///< of the maintenance thread
    projections::FindingsView findings_;
    std::unique_ptr<ports::Log> log_;
    std::vector<std::unique_ptr<ShardHost>> shards_;
    std::vector<std::unique_ptr<std::atomic<bool>>> proof_awaited_;  ///< one for each shard
    std::vector<std::unique_ptr<runtime::SourceHintSender>> hints_;  ///< likewise, unless alone
    std::optional<runtime::SourceHintReader> hint_reader_;
    std::vector<std::unique_ptr<Source>> sources_;
    ExecutorSpec executors_;
    std::unique_ptr<executors::Dispatcher> dispatcher_;
    std::unique_ptr<SourceChecks> checks_;  ///< null: nothing is in doubt
    std::atomic<bool> begun_{false};        ///< what is above is there
    std::thread executor_thread_;
    std::thread maintenance_thread_;
    std::thread hints_thread_;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> settling_{false};
    std::atomic<bool> hurried_{false};
    std::atomic<std::int64_t> log_bytes_{-1};         ///< as last measured; -1: not known
    std::atomic<std::int64_t> state_free_bytes_{-1};  ///< likewise
    std::atomic<bool> hurried_by_others_{false};      ///< shards elsewhere have findings that wait
    mutable Mutex mutex_;
    CondVar stop_asked_;
    /// What it waits for, until it has begun.
    std::string waits_for_ TRUEUP_GUARDED_BY(mutex_) = "it has just begun";
    std::string left_out_ TRUEUP_GUARDED_BY(mutex_);
    std::vector<api::LagView> lags_ TRUEUP_GUARDED_BY(mutex_);  ///< as last measured
    /// How many answers each request gets.
    std::map<RequestId, std::size_t> asked_ TRUEUP_GUARDED_BY(mutex_);
};

}  // namespace trueup::apps
