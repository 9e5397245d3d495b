// The secrets of a process, shared by all that runs in it: the keys of requests and commands, and
// the tokens of the HTTP side. A file that is exchanged counts at once, without a restart.
#pragma once

#include "api/tokens.h"
#include "apps/key_watch.h"
#include "engine/base/mutex.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/codec/signature.h"

#include <memory>
#include <string>

namespace trueup::apps {

/// Thread-safe.
class Secrets {
  public:
    /// Reads them from `folder`. `make`: those that are not there are made; else that is an error.
    static Result<std::shared_ptr<Secrets>> load(const std::string& folder, bool make);

    const codec::KeyRing& requests() const { return requests_; }
    const codec::KeyRing& commands() const { return commands_; }
    const api::Tokens& tokens() const { return tokens_; }
    /// Reads what has changed (apps/key_watch.h); of any thread, as often as it likes.
    void look(SteadyTime now) TRUEUP_EXCLUDES(mutex_);

  private:
    explicit Secrets(std::string folder);
    Status load_keys_of(const std::string& role, codec::KeyRing& keys, bool make);
    Status take_tokens(const Result<std::string>& text);

    const std::string folder_;
    codec::KeyRing requests_;
    codec::KeyRing commands_;
    api::Tokens tokens_;
    Mutex mutex_;
    KeyWatch watch_ TRUEUP_GUARDED_BY(mutex_);
};

}  // namespace trueup::apps
