// Policies: named sets of rules. A rule is a pure function of one subject; everything that it may
// lean on comes in as an argument.
#pragma once

#include "engine/core/meta.h"
#include "engine/model/finding_edge.h"
#include "engine/model/settings.h"
#include "engine/model/subject.h"
#include "engine/model/verdict.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace trueup::core {

/// What rules may know beside the subject: how far each source has proven itself, and facts that
/// many subjects share. Read-only.
struct References {
    std::span<const SourceState> sources;
    BrokerTime broker_now{};                 ///< append time of the record being folded
    BrokerTime watched_since{};              ///< before it, how long anything lasted is not known
    std::span<const std::uint64_t> tallies;  ///< of the policy, over all subjects
    bool sweeping = false;  ///< an epoch is on its way, so that the tallies are not final
    /// The reference of that name, seen by `source`; one that nobody spoke of has no facets. Valid
    /// until the judgement ends. When a reference changes, every subject is judged again.
    std::function<const Subject&(SourceId source, std::string_view name)> about;
};

/// Judges one subject. `self` is the index of the rule in its policy (the subject's findings carry
/// it). Equal arguments give equal verdicts.
using Judge = Verdict (*)(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now);

/// One step of a rule that does more than one thing.
struct Step {
    enum class Verb : std::uint8_t {
        kDelete = 0,  ///< each object of the role that is not on its way out
        kUpdate = 1,  ///< the object that the finding is about; the last step of its list
    };
    struct Set {
        std::string_view field;
        std::string_view value;
    };
    Verb verb = Verb::kDelete;
    Role role = kNoRole;
    std::span<const Set> sets = {};  ///< of kUpdate
};

struct Rule {
    std::string_view name;
    Judge judge;
    /// What is wrong, in a few words that fit before "; " and a reason.
    std::string_view finds;
    /// What is done about it, as a person says it: `delete the pod`. Empty: it only reports.
    std::string_view does = {};
    Millis grace{0};          ///< what is usual; settings say what is in force
    Millis create_window{0};  ///< likewise
    bool on_request = false;  ///< it judges what somebody asked for, and only that
    bool references = false;  ///< it judges subjects that are references, too
    /// What it does, in order, where it begins by taking something away and more follows: the rule
    /// judges the first deletion, the fold carries out what comes behind it (core/ending.h).
    std::span<const Step> steps = {};
};

/// What a policy needs to know of the world. Most roles have one source each.
struct RoleKind {
    std::string_view name;
    Topic topic;
    bool shared = false;     ///< by several sources, each with a scope of its own
    bool reference = false;  ///< what it has, other subjects need
    bool optional = false;   ///< the policy does without it where no source plays it
    /// Does this object claim its subject? Null: all of them do.
    bool (*live)(const Facet& object) = nullptr;
    /// The fields that make up claim and key: what writes the object must find them as they were.
    std::span<const std::string_view> claim = {};
};

struct Policy {
    std::string_view name;
    std::span<const RoleKind> roles;  ///< by Role
    std::span<const Rule> rules;
    /// What is counted over all subjects: names for metrics, by TallyId.
    std::span<const std::string_view> tallies;
    /// What this subject contributes.
    Tally (*count)(const Subject& subject, const Settings& settings);
    /// May `who` have the subject's instance ended (G8)? Who has a role that may is not asked.
    bool (*owned_by)(const Subject& subject, const Settings& settings, std::string_view who);
    /// What can be seen now of how the subject's objects ended; null: nobody needs a ledger.
    Ledger (*ends)(const Subject& subject, const Settings& settings, JournalTime now) = nullptr;
    Millis stale_after{45'000};  ///< what is usual; settings say what is in force
};

/// A subject whose policy counts nothing, and that nobody owns.
Tally count_nothing(const Subject& subject, const Settings& settings);
bool owned_by_nobody(const Subject& subject, const Settings& settings, std::string_view who);

/// The number of the rule of that name; kEveryRule: there is none.
std::uint8_t rule_number(const Policy& policy, std::string_view name);

/// The number of the role of that name; kNoRole: there is none.
Role role_number(const Policy& policy, std::string_view name);

/// The built-in policy of that name, or nullptr.
const Policy* find_policy(std::string_view name);

/// The policy as it is usually set, with one source for each role that it cannot do without, under
/// the role's name; every rule is in `mode`. The name is that of a built-in policy.
Settings usual_settings(std::string_view name, Mode mode);
/// The settings of the rule of that name, which is one of them.
RuleSettings& rule_settings(Settings& settings, std::string_view rule);

/// Writes one line for people into `text`: what was found and where it is now.
void explain(const Rule& rule, const Subject& subject, const Finding& finding, JournalTime now,
             std::string& text);

/// Puts the journal offsets of the facts that the subject's facets stand on, ascending.
void put_evidence(const Subject& subject, std::vector<std::int64_t>& offsets);

/// Fills in what a subject's row says of a finding: its last edge. Place and time of the record
/// that made it are left to the caller, who may know more than the finding's `last_change`.
void fill_edge(const Meta& meta, const Rule& rule, const Subject& subject, const Finding& finding,
               FindingEdge& edge);

}  // namespace trueup::core
