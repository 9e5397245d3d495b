// One program that runs beside us: without a shell, without a terminal, in a process group of its
// own, watched without ever waiting for it.
#pragma once

#include "engine/base/result.h"

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trueup::connectors {

/// Not thread-safe.
class Child {
  public:
    /// Of what it printed no more than this is kept, and it is killed when it prints more.
    static constexpr std::size_t kMaxOutput = 1U << 20U;
    static constexpr std::size_t kMaxComplaint = 4096;  ///< the same of stderr, whose rest is lost

    struct Ending {
        int code = -1;  ///< its exit code; -1: a signal ended it
        std::string output;
        std::string complaint;
    };

    /// Our environment without `withheld`, and `env` over it; a program without a slash is looked
    /// for in PATH.
    static Result<std::unique_ptr<Child>> start(const std::string& program,
                                                const std::vector<std::string>& args,
                                                const std::map<std::string, std::string>& env,
                                                const std::set<std::string>& withheld = {});
    /// Kills it, with all that it started, and waits for a tenth of a second at most.
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// Takes what it printed; its ending, once. Never waits.
    std::optional<Ending> watch();
    /// With all that it started. `watch` tells when it is gone.
    void kill() const;

  private:
    struct Pipe {
        ~Pipe();
        int reader = -1;
        int writer = -1;
    };
    Child() = default;
    void drain();

    pid_t pid_ = -1;  ///< -1: it is gone
    Pipe out_;
    Pipe err_;
    Ending ending_;
};

}  // namespace trueup::connectors
