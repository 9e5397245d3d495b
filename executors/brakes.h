// What operators said to executors: pauses and holds, read from `requests` (design §8), which rules
// were enabled or disabled, and which ones an engine found set to observe or off, or meaning
// something else, when it started. The engine issues nothing against them; this is for what it had
// issued before.
//
//   B1  Nothing is written before the requests of every partition were read to their end.
//   B2  A command that was issued before the last pause or hold of its scope is never carried out,
//       also when that has ended meanwhile; nor one from before its rule was found not to act, was
//       enabled, disabled, or came to mean something else. Only its age is judged here: what is
//       enabled is the engine's question.
//   B3  Requests are taken as the engine takes them (model/intake.h): a pause or a hold whatever
//       its age and number, its end only in time; what is not signed is nobody's word. What the
//       engine refuses and is taken here (a rule or a subject that does not exist) is about no
//       command.
//   B4  A partition's requests are about the commands of that partition, and are read as if there
//       was no other: what is for all of them is in each, under one id.
//
// Not thread-safe.
#pragma once

#include "engine/codec/signature.h"
#include "engine/model/command.h"
#include "engine/model/intake.h"
#include "engine/model/request.h"
#include "engine/ports/log.h"

#include <compare>
#include <cstddef>
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
    Brakes(ports::Log& log, const std::vector<PartitionNumber>& partitions,
           const codec::KeyRing& keys);

    /// Reads on to the end. True: there was something new.
    bool step();
    /// Everything was read, as of the last step.
    bool current() const { return current_; }
    /// Reads on to where the partition ends now, by the log's own word: what was read ahead may be
    /// older. False: not there yet, or the log does not say.
    bool reach_end(PartitionNumber partition);
    /// Why it is not; empty while it is.
    const std::string& trouble() const { return trouble_; }

    /// Why this command, which came from that partition, must not be carried out; nullopt: nothing
    /// is against it.
    std::optional<std::string> against(const Command& command, PartitionNumber partition) const;

  private:
    /// Whose commands a pause is about.
    struct Rules {
        std::string policy;  ///< empty: any
        std::string rule;    ///< empty: every one
        auto operator<=>(const Rules&) const = default;
    };
    /// The last pause or hold of one scope.
    struct Brake {
        bool on = false;
        BrokerTime since{};
        std::string by;
        std::uint64_t word = 0;  ///< which of all words it was that set or ended it
    };
    /// A request as it is remembered, whether it was taken or not.
    struct Seen {
        RequestId id;
        RequestKind kind = RequestKind::kUnspecified;
        BrokerTime at{};
        std::string by;
    };
    /// One partition: where its reader is, and what was said there up to that place.
    struct Lane {
        PartitionNumber index;
        std::optional<Offset> next = std::nullopt;
        std::map<Rules, Brake> pauses = {};
        std::map<Rules, BrokerTime> turns = {};  ///< activations, enablings, disablings
        std::map<std::string, Brake, std::less<>> holds = {};       ///< by subject
        std::map<std::string, std::size_t, std::less<>> held = {};  ///< in force, by policy
        std::vector<Seen> seen = {};
        std::uint64_t words = 0;
    };
    bool read(Lane& lane);
    void take(Lane& lane, const ports::Record& record) const;
    static void turn(Lane& lane, const Request& request, BrokerTime at);
    static void hold(Lane& lane, const Request& request, BrokerTime at);
    static void set(Brake& brake, bool on, Lane& lane, const Request& request, BrokerTime at);
    static void forget_outlived(Lane& lane, BrokerTime now);

    ports::Log& log_;
    const codec::KeyRing& keys_;
    std::vector<Lane> lanes_;
    bool current_ = false;
    std::string trouble_;
};

}  // namespace trueup::executors
