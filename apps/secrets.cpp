#include "apps/secrets.h"

#include "apps/keys.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace trueup::apps {

Secrets::Secrets(std::string folder)
    : folder_(std::move(folder)), watch_([](const std::string& sentence, bool wrong) {
          spdlog::log(wrong ? spdlog::level::warn : spdlog::level::info, "{}", sentence);
      }) {}

Result<std::shared_ptr<Secrets>> Secrets::load(const std::string& folder, bool make) {
    std::shared_ptr<Secrets> made(new Secrets(folder));
    if (Status read = made->load_keys_of("requests", made->requests_, make); !read) {
        return read.error();
    }
    if (Status read = made->load_keys_of("commands", made->commands_, make); !read) {
        return read.error();
    }
    if (Status taken = made->take_tokens(load_tokens(folder)); !taken) return taken.error();
    const MutexLock lock(made->mutex_);
    made->watch_.add(key_file(folder, "tokens"),
                     [self = made.get()] { return self->take_tokens(read_tokens(self->folder_)); });
    return made;
}

Status Secrets::load_keys_of(const std::string& role, codec::KeyRing& keys, bool make) {
    const Result<codec::KeyRing> loaded =
        make ? load_keys(folder_, role) : read_keys(folder_, role);
    if (!loaded && !make) {
        return Error{Next::kStop, loaded.error().code,
                     loaded.error().what +
                         "; `trueup topics create` creates the keys, and every process needs the "
                         "same ones"};
    }
    if (!loaded) return loaded.error();
    keys.become(*loaded);
    const MutexLock lock(mutex_);
    // A key that was exchanged counts at once for all that share the ring: no restart.
    watch_.add(key_file(folder_, role), [this, role, ring = &keys]() -> Status {
        const Result<codec::KeyRing> now = read_keys(folder_, role);
        if (!now) return now.error();
        ring->become(*now);
        return Done{};
    });
    return Done{};
}

/// A file that cannot be read leaves the tokens that were read before in force.
Status Secrets::take_tokens(const Result<std::string>& text) {
    if (!text) return text.error();
    const Result<api::Tokens> tokens = api::Tokens::parse(*text);
    if (!tokens) {
        return Error{Next::kStop, tokens.error().code, folder_ + "/" + tokens.error().what};
    }
    tokens_.become(*tokens);
    return Done{};
}

void Secrets::look(SteadyTime now) {
    const MutexLock lock(mutex_);
    watch_.look(now);
}

}  // namespace trueup::apps
