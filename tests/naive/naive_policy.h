// A second reader of what a policy's text means: one rule, one subject, one moment. Written by the
// truth tables, as slow and as plain as they are, to hold the engine's own judges against. It knows
// nothing of engine/core (tests/layering holds that).
//
// What agrees with it is what the tables say, as far as whoever wrote both did not err in both. It
// does not say what the fold makes of a verdict, nor what a command rests on.
//
// Three values throughout; an unknown one carries the reason of the first thing that was not known.
#pragma once

#include "engine/model/rule.h"
#include "engine/model/subject.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trueup::testing::naive {

/// A source, as its own words prove it.
struct Source {
    SourceId id = kNoSource;
    std::string scope;
    bool known = false;
    bool quarantined = false;
    BrokerTime complete_as_of{};
    SourceTime clock{};
};

/// What is the case beside the subject.
struct Moment {
    std::map<std::string, std::vector<Source>> roles;
    std::map<std::string, std::uint64_t> counts;
    bool counting = false;  ///< a snapshot is on its way: the counts are not final
    JournalTime now{};
    BrokerTime broker_now{};
    BrokerTime watched_since{};
    Millis max_broker_skew{0};
    Millis stale_after{0};
    Millis max_clock_skew{0};
    Millis grace{0};
    Millis create_window{0};
    /// When this rule first found something about the object; nullopt: it does so now.
    std::function<std::optional<JournalTime>(std::string_view object_id)> detected;
    /// How many steps this rule has behind it about the object.
    std::function<std::uint32_t(std::string_view object_id)> steps;
    /// What a source says of a reference; a subject without facets where it says nothing.
    std::function<const Subject&(SourceId source, std::string_view name)> about;
    // How times are written is not what is asked here: the product's own readers.
    std::function<std::optional<SourceTime>(std::string_view text, const policy::Field* field)>
        timestamp;  ///< nullptr: it is declared nowhere
    std::function<std::optional<Millis>(std::string_view text)> duration;
};

struct Judged {
    Verdict::Kind kind = Verdict::Kind::kHealthy;
    Reason reason = Reason::kNone;
    std::string object_id;
    // Of kAct: the first step that is not behind us.
    policy::Verb verb = policy::Verb::kReport;
    std::string target;
    SourceId source = kNoSource;  ///< that the step is for
    bool asks = false;            ///< it wants an approval first
    bool operator==(const Judged&) const = default;
};

Judged judge(const policy::Policy& policy, const policy::Rule& rule, const Subject& subject,
             const Moment& moment);

/// Is it not known whether the object claims its subject?
bool may_claim(const policy::Policy& policy, const std::string& role, const Facet& facet);

/// What the subject adds to each count, in the order of the text; of a count that is `by` a field,
/// to each of its words. Others' objects that a condition asks for are not looked at: what depends
/// on them may be so.
std::vector<std::uint64_t> counted(const policy::Policy& policy, const Subject& subject,
                                   const Moment& moment);

/// What can be seen of how the objects of the policy's ledger ended, each at `moment.now`.
Ledger ends(const policy::Policy& policy, const Subject& subject, const Moment& moment);

/// By role: every field that the case mentions, whatever it may come to: in patterns, in what
/// claims, in keys, in all lines of the conditions that it names, in its deadline, in what its
/// steps are made from; and all that decides whether a case before it finds something.
using Mentioned = std::map<std::string, std::set<std::string>>;
Mentioned mentioned(const policy::Policy& policy, const policy::Rule& rule, std::size_t which);

/// As one line: `act delete a`, `abstain not_synced`, `waiting grace a`, `healthy`.
std::string told(const Judged& judged);

}  // namespace trueup::testing::naive
