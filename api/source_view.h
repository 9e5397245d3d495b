// What the HTTP side shows of a source, and what is said of one in quarantine. Plain values.
#pragma once

#include <cstdint>
#include <string>

namespace trueup::api {

/// Why nothing that takes away leans on a source for now.
enum class Quarantine : std::uint8_t {
    kNone,
    kDrop,     ///< it lost suspiciously much at once
    kEmpty,    ///< it has shown fewer objects than are expected
    kWrong,    ///< its first list would make most of the world wrong
    kRewound,  ///< it went back in time
    kMisread,  ///< its connector reads it by another configuration than the engine's
};

struct QuarantineView {
    Quarantine kind = Quarantine::kNone;
    /// kDrop, kRewound: objects before it; kEmpty: objects shown so far; kWrong: subjects that
    /// would be wrong.
    std::uint64_t figure = 0;
    std::uint64_t at_least = 0;  ///< of kEmpty: objects that are expected
    std::uint64_t subjects = 0;  ///< of kWrong: all of them
    /// Of kMisread, by what its connector reads it, and by what it should.
    std::string read_by = {};
    std::string wanted = {};
};

/// What happened, what holds until when, and the command that ends it; empty: nothing did.
std::string sentence_of(const std::string& source, const QuarantineView& quarantine);

struct SourceView {
    std::string name;
    bool answering = false;
    bool known = false;       ///< everything that it has was listed
    bool fresh = false;       ///< its progress is younger than stale_after
    double lag_seconds = -1;  ///< since its last proven progress; -1: none yet
    std::uint64_t objects = 0;
    std::uint64_t published = 0;
    std::uint64_t failures = 0;
    std::uint64_t epochs = 0;
    double clock_skew_seconds = 0;  ///< of its own clock against the broker's
    QuarantineView quarantine;
    std::string trouble;                    ///< one sentence while something is wrong
    std::string slot_wal_status;            ///< of a PostgreSQL slot; empty: it has none
    std::uint64_t slot_retained_bytes = 0;  ///< of WAL, which the server keeps for it
};

}  // namespace trueup::api
