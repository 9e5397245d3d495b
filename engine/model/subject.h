// A subject: the thing that several sources speak of, with everything that the engine knows of it
// in one row: the facets, the open findings and their commands.
#pragma once

#include "engine/base/time.h"
#include "engine/model/change.h"
#include "engine/model/object.h"
#include "engine/model/verdict.h"

#include <array>
#include <cstdint>
#include <string>
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

/// What one subject contributes to each of its policy's tallies.
using Tally = std::array<std::uint8_t, 8>;

struct Subject {
    std::string key;
    std::vector<Facet> facets;      ///< ordered by (source, object_id)
    std::vector<Finding> findings;  ///< open ones only, ordered by (rule, object_id)
    /// Append time of our own last outcome on an object of a source (by source id): a rule acts
    /// again only when that source has proven itself past it.
    std::vector<std::pair<SourceId, BrokerTime>> own_writes;
    /// What to wait for, as registered in the shard's tables of waits.
    std::vector<Wait> waits;
    Tally counted{};    ///< what it contributes to the policy's tallies
    bool held = false;  ///< by an operator: nothing happens to it
    /// Who asked that it be ended; empty: nobody. Stays until that was done, refused or dismissed.
    std::string termination;
    bool operator==(const Subject&) const = default;

    /// The part of the key after the policy; the whole key when it has none.
    std::string_view name() const {
        const std::size_t slash = key.find('/');
        return std::string_view(key).substr(slash == std::string::npos ? 0 : slash + 1);
    }
};

}  // namespace trueup
