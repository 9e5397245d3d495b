// Which commands a recorded journal would have led to under one text of its policy and not under
// another. The journal is folded under both side by side; nothing is written to it, and nobody is
// asked.
//
// Commands are told apart by rule, subject, target and action, never by their ids, which depend on
// the text. What one finding orders again (a retry, a command that expired) is one command. A
// command that both order, at whatever time, is in both.
//
// The journal goes on with what came of the commands that were really given: from the first command
// that differs on, what is compared is what would have been, had the world gone on as it did.
#pragma once

#include "apps/event_printer.h"
#include "apps/other_text.h"
#include "engine/base/id.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/ports/log.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace trueup::apps {

/// A command as people read it.
struct Ordered {
    std::string rule;
    std::string subject;
    std::string source;
    std::string target;  ///< the object's id
    std::string action;  ///< `delete_pod`
    std::string text;    ///< `delete_pod wrapper-7 (uid a)`
    BrokerTime at{};     ///< when it was first ordered
    PartitionNumber shard;
    Offset offset = kNoOffset;  ///< of the journal record that led to it
};

struct CommandsDiff {
    std::uint64_t before = 0;          ///< commands under the old text
    std::uint64_t now = 0;             ///< under the new one
    std::uint64_t both = 0;            ///< under both
    std::vector<Ordered> only_before;  ///< by time
    std::vector<Ordered> only_now;     ///< by time
    std::set<std::string> enabled;     ///< rules that were taken as enabled, under both texts
    std::vector<std::string> notes;    ///< sentences on what the comparison cannot tell
    std::uint64_t records = 0;         ///< of all shards
    BrokerTime from{};                 ///< append time of the first record ...
    BrokerTime to{};                   ///< ... and of the last one that was folded
    /// More than kMost differ: it ends at `to`, before the journal does.
    bool cut = false;
    static constexpr std::size_t kMost = 100'000;

    bool none() const { return only_before.empty() && only_now.empty(); }
};

/// Is told now and then how many records were folded. False: stop.
using WatchFold = std::function<bool(std::uint64_t records)>;

/// Folds every shard of the journal, up to where it ended when this began. Rows that do not fit
/// into memory lie in a folder below TMPDIR, gone at the end. The error is one sentence: no journal
/// there, one without its beginning, of another policy, logic or format; kCancelled: `watch` said
/// so. Blocking.
Result<CommandsDiff> commands_that_differ(ports::Log& log, const OtherText& before,
                                          const OtherText& now, const WatchFold& watch);

/// For people, some lines.
std::string commands_text(const CommandsDiff& diff);
nlohmann::ordered_json commands_json(const CommandsDiff& diff);

}  // namespace trueup::apps
