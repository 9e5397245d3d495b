// A subject: the thing that several sources speak of, with everything that the engine knows of it
// in one row: the facets, the open findings and their commands.
#pragma once

#include "engine/base/boxed.h"
#include "engine/base/time.h"
#include "engine/model/change.h"
#include "engine/model/object.h"
#include "engine/model/verdict.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

/// How it is known that an object is gone. There is no "not listed": that is not a proof.
enum class Absence : std::uint8_t {
    kPresent = 0,
    kRemoved = 1,  ///< the source said so
    kSwept = 2,    ///< a complete epoch lacks it
};

/// What one source last said of one object that claims the subject.
struct Facet {
    SourceId source = kNoSource;
    std::string object_id;
    Absence absence = Absence::kPresent;
    /// Whose word it was. Versions are compared within one incarnation only: a source that was
    /// restored from a backup starts again below what it said before (S13, S14).
    Incarnation incarnation = -1;
    Version version;               ///< of the last word on it, tombstones included
    std::uint64_t epoch = 0;       ///< the last epoch that listed it
    BrokerTime first_seen{};       ///< append time of the first change of this object
    BrokerTime evidence{};         ///< append time of the last change of its content
    std::int64_t offset = -1;      ///< journal offset of that change
    std::uint64_t gone_since = 0;  ///< complete epochs of the source when it went
    std::string object;            ///< encoded fields; empty once absent

    bool present() const { return absence == Absence::kPresent; }
    ObjectView fields() const { return ObjectView(object); }
    bool operator==(const Facet&) const = default;
};

/// How an object of a subject ended.
enum class End : std::uint8_t {
    kFailed = 0,
    kSucceeded = 1,
    kGone = 2,  ///< it was taken away before it ended by itself
};

/// What became of the objects that a subject had one after the other: pods that run, fail and are
/// made anew. Each end counts once, from when it was first observed, also after its object is
/// forgotten.
struct Ledger {
    struct Entry {
        std::string object_id;
        End end = End::kFailed;
        JournalTime at{};  ///< when it was first observed
        bool operator==(const Entry&) const = default;
    };
    std::string of;  ///< whose objects; a ledger of another begins empty
    std::vector<Entry> entries;
    bool operator==(const Ledger&) const = default;
};

/// What one subject contributes to each of its policy's tallies.
using Tally = std::array<std::uint8_t, 8>;

/// What `Subject::termination` begins with where its owner asked.
inline constexpr std::string_view kOwnersTermination = "owner ";

struct Subject {
    std::string key;
    std::vector<Facet> facets;      ///< ordered by (source, object_id)
    std::vector<Finding> findings;  ///< open ones only, ordered by (rule, object_id)
    /// Append time of our own last outcome on an object of a source (by source id): a rule acts
    /// again only when that source has proven itself past it.
    std::vector<std::pair<SourceId, BrokerTime>> own_writes;
    /// What to wait for, as registered in the shard's tables of waits.
    std::vector<Wait> waits;
    Boxed<Ledger> ledger;  ///< only of policies that make objects anew
    Tally counted{};       ///< what it contributes to the policy's tallies
    bool held = false;     ///< by an operator: nothing happens to it
    /// Who asked that it be ended: `kOwnersTermination` and a name, where only owning it gave the
    /// right to. Empty: nobody. Stays until that was done, refused or dismissed.
    std::string termination;
    bool operator==(const Subject&) const = default;

    /// The part of the key after the policy; the whole key when it has none.
    std::string_view name() const {
        const std::size_t slash = key.find('/');
        return std::string_view(key).substr(slash == std::string::npos ? 0 : slash + 1);
    }
    /// It stands for an object of one source, which other subjects may need, and claims no name.
    bool reference() const { return key.starts_with('!'); }
};

}  // namespace trueup
