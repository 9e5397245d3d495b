// A failure of the world in words: what went wrong, for programs and for people, and what the
// caller does next. Most functions return it in a Result (result.h); events and reports carry it
// alone. A plain value.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace trueup
