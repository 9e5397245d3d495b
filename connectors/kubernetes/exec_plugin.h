// Our credentials by a kubeconfig's exec plugin: the program is run when they are needed and no
// longer good, and never waited for.
//
// Invariants:
//   E1  At most one run at a time, and runs begin kRunGap apart: a plugin that fails, or whose
//       credentials are refused, is not run in a loop.
//   E2  A run ends within kRunLimit.
#pragma once

#include "connectors/kubernetes/child.h"
#include "connectors/kubernetes/exec_config.h"
#include "connectors/kubernetes/exec_credential.h"
#include "engine/ports/clock.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace trueup::connectors {

/// Not thread-safe.
class ExecPlugin {
  public:
    /// Shorter than a call's time-out, so that the call can say why it failed.
    static constexpr Millis kRunLimit{20'000};
    static constexpr Millis kRunGap{5'000};
    /// A run for new credentials begins this long before the old ones expire.
    static constexpr Millis kMargin{10'000};

    enum class State : std::uint8_t {
        kReady,    ///< `credential` may be used
        kRunning,  ///< ask again soon
        kFailed,   ///< there is none: `failure`
    };

    explicit ExecPlugin(ExecConfig config, ports::Clock& clock = ports::system_clock())
        : config_(std::move(config)), clock_(clock) {}

    /// Credentials are needed: starts a run where that takes one.
    State advance();
    /// Sees to a run that is under way. True: there is one.
    bool tend();

    const ExecCredential& credential() const { return credential_; }
    /// Counts the credentials; 0: none came yet.
    std::uint64_t generation() const { return generation_; }
    /// The server knows the credentials of that generation no more.
    void refused(std::uint64_t generation);
    /// One sentence; the plugin's own words are in it, what it printed as credentials is not.
    const Error& failure() const { return failure_; }

  private:
    /// The credentials are good, and will be for that much longer.
    bool last(Millis more) const;
    void start(SteadyTime now);
    void take(const Child::Ending& ending);
    void fail(const std::string& why);

    ExecConfig config_;
    ports::Clock& clock_;
    std::unique_ptr<Child> child_;
    bool late_ = false;  ///< the run was killed
    SteadyTime began_{};
    SteadyTime next_run_{};
    ExecCredential credential_;
    std::uint64_t generation_ = 0;
    bool refused_ = false;
    bool failed_ = false;  ///< the last run
    Error failure_;
};

}  // namespace trueup::connectors
