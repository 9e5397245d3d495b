// What operators said to executors: pauses and holds, read from `requests` (design §8). The engine
// issues nothing against them; this is for what it had issued before.
//
//   B1  Nothing is written before the requests of every partition were read to their end.
//   B2  A command that was issued before the last pause or hold of its scope is never carried out,
//       also when that has ended meanwhile.
//   B3  What is not signed, comes late or comes again is nobody's word: the engine takes none of it
//       either.
//   B4  A partition's requests are about the commands of that partition, and are read as if there
//       was no other: what is for all of them is in each, under one id.
//
// Not thread-safe.
#pragma once

#include "engine/codec/signature.h"
#include "engine/model/command.h"
#include "engine/model/request.h"
#include "engine/ports/log.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::executors {

class Brakes {
  public:
    /// `log` and `keys` outlive it.
    Brakes(ports::Log& log, const std::vector<std::int32_t>& partitions,
           const codec::KeyRing& keys);

    /// Reads on to the end. True: there was something new.
    bool step();
    /// Everything was read, as of the last step.
    bool current() const { return current_; }
    /// Reads on to where the partition ends now, by the log's own word: what was read ahead may be
    /// older. False: not there yet, or the log does not say.
    bool reach_end(std::int32_t partition);
    /// Why it is not; empty while it is.
    const std::string& trouble() const { return trouble_; }

    /// Why this command, which came from that partition, must not be carried out; nullopt: nothing
    /// is against it.
    std::optional<std::string> against(const Command& command, std::int32_t partition) const;

  private:
    /// The last pause or hold of one scope.
    struct Brake {
        bool on = false;
        BrokerTime since{};
        std::string by;
    };
    using Scopes = std::map<std::string, Brake, std::less<>>;
    /// One partition: where its reader is, and what was said there up to that place.
    struct Lane {
        std::int32_t index = 0;
        std::optional<std::int64_t> next = std::nullopt;
        Scopes pauses = {};  ///< by rule; empty: every rule
        Scopes holds = {};   ///< by subject
        std::map<Hash128, BrokerTime> seen = {};
    };
    bool read(Lane& lane);
    void take(Lane& lane, const ports::Record& record) const;
    static void set(Scopes& brakes, const std::string& scope, bool on, const Request& request,
                    BrokerTime at);

    ports::Log& log_;
    const codec::KeyRing& keys_;
    std::vector<Lane> lanes_;
    bool current_ = false;
    std::string trouble_;
};

}  // namespace trueup::executors
