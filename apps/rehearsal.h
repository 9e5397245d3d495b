// What the rules would do about a world that was looked at once: the shipped fold over a journal in
// memory. For `trueup plan` and `config check`. Nothing is written, and nobody carries anything
// out.
//
// Every rule that is not off is judged as if it were enforced, without a budget, in any window, and
// whatever waits for an approval gets one in the end; what would hold a command in earnest stands
// beside it. Journal time goes on past every grace and create window, and ends at `now`, so that
// deadlines are judged by the sources' own clocks as they are.
#pragma once

#include "engine/base/time.h"
#include "engine/model/command.h"
#include "engine/model/fact.h"
#include "engine/model/finding_edge.h"
#include "engine/model/settings.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trueup::apps {

/// Everything that a source said when it was asked once.
struct Look {
    std::string source;
    std::vector<Fact> facts;            ///< one whole epoch: begin, objects, end
    std::optional<Millis> clock_ahead;  ///< of ours; nullopt: it has none
    std::uint64_t objects() const { return facts.size() < 2 ? 0 : facts.size() - 2; }
};

/// One disagreement, and what would be done about it.
struct Proposal {
    std::string rule;
    std::string subject;
    std::string object_id;
    std::string finds;                    ///< what is wrong, in a few words
    std::optional<CommandDraft> command;  ///< the first one; nullopt: nothing is done
    /// Why it would not be done now, or why nothing is done: names of modes and reasons.
    std::vector<std::string> held;
};

struct Rehearsed {
    std::vector<Proposal> proposals;  ///< by rule, then in the order in which they would be done
    std::uint64_t subjects = 0;       ///< that the sides speak of
    std::uint64_t wrong = 0;          ///< about which something would be done
    std::uint64_t of_rule(std::string_view rule) const;
    /// A source that shows fewer objects than `expect.at_least` says.
    struct TooFew {
        std::string source;
        std::uint64_t shown = 0;
        std::uint64_t expected = 0;
    };
    std::vector<TooFew> too_few;
    /// Fields with words that the policy does not list, which may mean anything.
    struct UnknownWords {
        std::string field;  ///< ROLE.FIELD
        std::uint64_t objects = 0;
        std::set<std::string> words;  ///< the first of them, kMostWords at most
        std::string text() const;
    };
    static constexpr std::size_t kMostWords = 5;
    std::vector<UnknownWords> unknown_words;
    /// So much is more likely the question's fault than the world's.
    bool mostly_wrong() const;
    /// A first snapshot that says it is not acted upon until an operator vouches for it.
    bool quarantined() const { return mostly_wrong() || !too_few.empty(); }
};

/// `settings` as the configuration has them; `looks` are of its sources. Takes about as long as a
/// restart of an engine on as many objects.
Rehearsed rehearse(const Settings& settings, const std::vector<Look>& looks, BrokerTime now);

/// What a command does, in one line: `delete_pod wrapper-7 (uid …)`.
std::string text_of(const CommandDraft& draft);

/// How many objects have which status, `(none)` without one, where the policy lists the words of
/// the field that decides who is live; and how many may be alive by what the
/// policy says of their role.
struct Statuses {
    std::map<std::string, std::uint64_t> count;
    std::uint64_t live = 0;
};
Statuses statuses_of(const Look& look, const Settings& settings);

}  // namespace trueup::apps
