// Failures of the world as values. Three kinds of error are never mixed: a programmer's error is a
// TRUEUP_CHECK, an expected answer is an enumerator of the return type, and a failure of the world
// is a `Result` whose error names the caller's next move and, for programs, what went wrong.
#pragma once

#include "engine/base/check.h"

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace trueup {

/// Named after the caller's next move, not after where the failure came from.
enum class Next : unsigned char {
    kRetry,    ///< transient; the same call may succeed after backoff
    kRefresh,  ///< our view is stale (409, 410, CAS miss): re-read, then decide again
    kSkip,     ///< this record can never succeed: park it and go on
    kStop,     ///< we are fenced or misconfigured: leave the shard
};

/// What went wrong, for programs; two errors are told apart by this and never by their words. It
/// does not say what to do: a server that is starting denies what it grants a minute later.
enum class Code : unsigned char {
    kInternal,       ///< what nobody outside can mend: a fault of ours, or of a library
    kUnavailable,    ///< what we need does not answer, or turns everybody away for now
    kTimeout,        ///< it was asked and did not answer in time; it may have been done
    kCancelled,      ///< we were asked to end before it was done
    kConflict,       ///< somebody else holds it, or changed it meanwhile
    kStale,          ///< what we go by is out of date: another offset, version or server
    kDenied,         ///< our credentials or rights do not do
    kUntrusted,      ///< the other side does not prove who it is
    kNotFound,       ///< there is no such thing
    kLost,           ///< what must be there is gone, or another thing is in its place
    kCorrupt,        ///< bytes that cannot be read as what they are to be
    kInvalid,        ///< an argument, a request or an answer that makes no sense
    kTooLarge,       ///< one thing above the limit for one
    kExhausted,      ///< no room left: disk, connections
    kUnsupported,    ///< of a format, a version or a kind that this build does not have
    kConfiguration,  ///< the settings, or a setup outside, have to be changed
};

/// `unavailable`, `not_found`, …
constexpr std::string_view name_of(Code code) {
    switch (code) {
        case Code::kInternal:
            return "internal";
        case Code::kUnavailable:
            return "unavailable";
        case Code::kTimeout:
            return "timeout";
        case Code::kCancelled:
            return "cancelled";
        case Code::kConflict:
            return "conflict";
        case Code::kStale:
            return "stale";
        case Code::kDenied:
            return "denied";
        case Code::kUntrusted:
            return "untrusted";
        case Code::kNotFound:
            return "not_found";
        case Code::kLost:
            return "lost";
        case Code::kCorrupt:
            return "corrupt";
        case Code::kInvalid:
            return "invalid";
        case Code::kTooLarge:
            return "too_large";
        case Code::kExhausted:
            return "exhausted";
        case Code::kUnsupported:
            return "unsupported";
        case Code::kConfiguration:
            return "configuration";
    }
    return "internal";
}

/// `what` is one line for the operator: ids included, secrets never, and what to do where known.
/// Whoever puts words before another error's keeps its code.
struct Error {
    Next next = Next::kStop;
    Code code = Code::kInternal;
    std::string what;
};

/// A value or an Error. Reading the side that is not there stops the process.
template <typename T>
class [[nodiscard]] Result {
  public:
    // Both are implicit on purpose: a function returns its value or its error.
    Result(T value)  // NOLINT(google-explicit-constructor)
        : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error)  // NOLINT(google-explicit-constructor)
        : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return checked(), std::get<0>(state_); }
    const T& value() const& { return checked(), std::get<0>(state_); }
    T&& value() && { return checked(), std::get<0>(std::move(state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const {
        TRUEUP_CHECK(!ok());
        return std::get<1>(state_);
    }

  private:
    void checked() const { TRUEUP_CHECK(ok()); }
    std::variant<T, Error> state_;
};

/// The Result of an action that yields nothing.
struct Done {};
using Status = Result<Done>;

}  // namespace trueup
