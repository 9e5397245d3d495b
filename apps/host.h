// One process with everything in it: log, shard, connectors, executors and the HTTP side, each on a
// thread of its own. `trueup up` fills it with real sources, `trueup demo` with the sandbox.
#pragma once

#include "api/server.h"
#include "api/snapshot.h"
#include "apps/events.h"
#include "apps/key_watch.h"
#include "connectors/embedded/embedded_log.h"
#include "engine/model/settings.h"
#include "engine/ports/cluster.h"
#include "engine/ports/connector.h"
#include "engine/ports/database.h"
#include "engine/ports/store.h"
#include "engine/runtime/checkpoints.h"
#include "engine/runtime/shard.h"
#include "engine/runtime/source_task.h"
#include "executors/dispatcher.h"
#include "executors/sources.h"
#include "projections/views/findings.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace trueup::apps {

/// A source with its machine and the port that the machine owns.
struct SourceSpec {
    std::string name;
    Topic topic = Topic::kUnspecified;
    Millis pace_idle{15'000};
    Millis pace_waiting{2'000};
    Millis resnapshot{std::chrono::hours(6)};
    std::unique_ptr<ports::Cluster> cluster;
    std::unique_ptr<ports::Database> database;
    std::unique_ptr<ports::Connector> connector;
};

/// The executors' own ports and what they may touch through them.
struct ExecutorSpec {
    std::vector<std::unique_ptr<ports::Cluster>> clusters;
    std::vector<std::unique_ptr<ports::Database>> databases;
    executors::Sources sources;
    executors::DispatcherSettings settings;
};

struct HostSettings {
    std::string state_dir;
    std::size_t memory_bytes = std::size_t{512} << 20U;
    bool fsync = true;
    Settings policy;
    std::string listen;  ///< empty: no HTTP
    Millis checkpoint_every{std::chrono::minutes(15)};
    std::size_t checkpoints_kept = 3;
};

/// Thread-safe once started.
class Host {
  public:
    /// Opens what is in the state folder (apps/shard_opening.h) and starts the threads. The error
    /// is one sentence for the operator.
    static Result<std::unique_ptr<Host>> start(HostSettings settings,
                                               std::vector<SourceSpec> sources,
                                               ExecutorSpec executors);
    /// As `stop`.
    ~Host();

    /// Stops the threads; publishes and saves what was folded. Writes that went out have 3 s to end
    /// in their outcome.
    Status stop();
    /// What `stop` begins with, for who has something to do meanwhile.
    void begin_stop();
    /// After `begin_stop`: some write that went out has no outcome yet.
    bool settling() const { return settling_; }
    /// No longer waits for such writes: the next start finds out what became of them.
    void hurry() { hurried_ = true; }

    api::Snapshot snapshot() const;
    ports::Log& log() { return *log_; }
    /// `host:port` of the HTTP side; empty without one.
    std::string address() const { return server_ ? server_->address() : std::string(); }
    /// Why the engine gave up; empty while it runs.
    std::string fatal() const;

  private:
    struct Source {
        SourceSpec spec;
        std::unique_ptr<runtime::SourceTask> task;
        std::thread thread;
        std::atomic<bool> wants_epoch{false};
        mutable std::mutex mutex;
        ports::SourceHealth health;
        std::uint64_t published = 0;
    };

    Host();
    Status load_secrets();
    Status take_tokens(const Result<std::string>& text);
    Status open_shard();
    api::Backend backend();
    Result<Hash128> ask(Request request);
    std::optional<api::AnswerView> answer(const Hash128& id) const;
    void run_shard();
    void run_source(Source& source);
    void run_executor();
    void settle_writes();
    void run_chores();
    Millis make_checkpoint();
    void add_checkpoint(api::Snapshot& view) const;
    void give_up(const std::string& why);
    void tell_sources();

    HostSettings settings_;
    codec::KeyRing request_keys_;
    codec::KeyRing command_keys_;
    api::Tokens tokens_;
    KeyWatch key_watch_;  ///< of the chores' thread
    projections::FindingsView findings_;
    PassLog passes_;  ///< of the shard's thread
    std::unique_ptr<connectors::EmbeddedLog> log_;
    std::unique_ptr<ports::Store> store_;
    std::unique_ptr<runtime::Shard> shard_;
    std::optional<runtime::Checkpoints> checkpoints_;
    std::vector<std::unique_ptr<Source>> sources_;
    ExecutorSpec executors_;
    std::unique_ptr<executors::Dispatcher> dispatcher_;
    std::unique_ptr<api::Server> server_;
    std::thread shard_thread_;
    std::thread executor_thread_;
    std::thread chores_thread_;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> settling_{false};
    std::atomic<bool> hurried_{false};
    std::atomic<bool> findings_wait_{false};
    mutable std::mutex mutex_;
    std::condition_variable stop_asked_;
    std::string fatal_;
    std::int64_t checkpoint_offset_ = -1;  ///< of the newest one; -1: there is none
    std::int64_t checkpoint_made_at_ = 0;  ///< in milliseconds since 1970
    Status stopped_ = Done{};
};

}  // namespace trueup::apps
