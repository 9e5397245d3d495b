// How often each address was refused for its token lately: who fails on and on is told to wait. It
// never shuts out a good token, so that nobody locks an operator out from behind the same address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace trueup::api {

/// Not thread-safe: of the server's I/O thread. Keeps at most `kAddresses` of them.
class Attempts {
  public:
    static constexpr std::size_t kAddresses = 1024;
    static constexpr unsigned kAMinute = 10;     ///< of one address
    static constexpr unsigned kLogAMinute = 60;  ///< of all addresses together

    struct Verdict {
        std::int64_t wait = 0;       ///< seconds until it is answered as before; 0: it is now
        bool log = false;            ///< say so in the log
        std::uint64_t unlogged = 0;  ///< failures that went before it without a word
    };
    /// One more failure of that address. `now` in seconds, of a clock that does not go back.
    Verdict failed(const std::string& address, std::int64_t now);

    std::size_t size() const { return since_.size(); }

  private:
    struct Window {
        std::int64_t since = 0;
        unsigned failures = 0;
    };
    bool may_log(std::int64_t now);

    std::map<std::string, Window> since_;
    Window logged_;
    std::uint64_t unlogged_ = 0;
};

}  // namespace trueup::api
