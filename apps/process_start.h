// How a process starts: each of its policies is checked, opened and begun.
#pragma once

#include "apps/config/config.h"
#include "apps/hosts.h"
#include "apps/parts.h"
#include "apps/process.h"
#include "apps/source_checks.h"
#include "apps/stop_signal.h"
#include "engine/base/mutex.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/ports/log.h"

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trueup::apps {

inline constexpr Millis kNoNews = std::chrono::hours(1);  ///< only news or a signal end it

// Exit codes.
inline constexpr int kGaveUp = 1;
inline constexpr int kWrong = 2;

/// Why it does not start, with the exit code that says whether another start may do.
struct Refusal {
    int code = kGaveUp;
    std::string what;
};

/// A policy on its way to running.
struct Policy {
    config::Config config;
    std::optional<Refusal> refused = std::nullopt;  ///< it does not run, though others may
    std::unique_ptr<SourceChecks> checks = nullptr;
    Parts parts = {};
    std::unique_ptr<ports::Log> log = nullptr;
    Host* host = nullptr;

    const std::string& name() const { return config.policies.front().name; }
};

/// The start of all policies: one that is refused leaves the others alone.
class Start {
  public:
    Start(const config::Config& config, const ProcessOptions& options, StopSignal& stop);

    /// Fills in the hosts once each policy runs or is refused. Nullopt where one runs, or where it
    /// was asked to stop meanwhile.
    std::optional<Refusal> run(std::unique_ptr<Hosts>& hosts);

  private:
    std::string self() const { return "trueup " + name_of(options_.part); }

    /// Why nothing runs, where nothing does; else what is refused is told, once. Another start may
    /// do as soon as one policy says so.
    std::optional<Refusal> none_left();
    void leave_out(Policy& policy);
    /// Of any thread.
    void leave_out(const std::string& name, const std::string& why, Host* host)
        TRUEUP_EXCLUDES(mutex_);
    std::optional<Refusal> make_parts();
    /// A host for each, also for those that do not run: who asks is told why.
    std::optional<Refusal> open_hosts(std::unique_ptr<Hosts>& hosts);
    api::ServerSettings http() const;
    /// Each on a thread of its own: one that waits for its topics lets the others begin.
    void begin_all();
    /// Of the threads that begin policies. True: it is to stop.
    bool wait(Millis pause) TRUEUP_EXCLUDES(mutex_);

    const config::Config& config_;
    const ProcessOptions& options_;
    StopSignal& stop_;
    std::vector<Policy> policies_;
    std::vector<config::LeftOut> left_out_;
    Mutex mutex_;
    std::set<std::string> told_ TRUEUP_GUARDED_BY(mutex_);
    CondVar stopped_news_;
    bool stopped_ TRUEUP_GUARDED_BY(mutex_) = false;
};

}  // namespace trueup::apps
