// What somebody sees of executors from outside: which answers one has read, and what it knew when
// it sent a write. That is what oracles hold an effect against. Not thread-safe.
#pragma once

#include "engine/base/time.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace trueup::simulation {

/// Counts what happens in the world; an answer belongs to a moment.
using Moment = std::uint64_t;

/// A read that was answered, as of when it reached its server.
struct Look {
    Moment moment = 0;
    SteadyTime at{};
};

/// What a process has read, by what it asked for: `pod/NAME`, `key/KEY` (rows by their correlation
/// key), `row/PK`.
using Knowledge = std::map<std::string, Look, std::less<>>;

/// Sees the writes of executors; of connectors nobody does, for they make none.
class Witness {
  public:
    virtual ~Witness() = default;
    virtual Moment moment() const = 0;
    /// An executor's read reaches its server.
    virtual void looked() = 0;
    /// A write is sent, of this target (pod uid, or primary key) at this version of it; its sender
    /// knows this.
    virtual void write_sent(const std::string& target, const std::string& version,
                            const Knowledge& known) = 0;
    /// What is to be made of what there is none of reaches its server now. It has no version: it
    /// was sent under this word in the place of one, which is no other's.
    virtual void arrives(const std::string& word) = 0;
};

/// What one executor knows, through all of its links.
struct Mind {
    Witness& witness;
    Knowledge known;
    std::string of;  ///< which one, and of which life
};

}  // namespace trueup::simulation
