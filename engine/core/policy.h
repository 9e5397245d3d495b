// Policies: named sets of rules. A rule is a pure function of one subject; everything that it may
// lean on comes in as an argument.
#pragma once

#include "engine/core/meta.h"
#include "engine/model/finding_edge.h"
#include "engine/model/settings.h"
#include "engine/model/subject.h"
#include "engine/model/verdict.h"

#include <span>
#include <string>
#include <string_view>

namespace trueup::core {

/// What rules may know beside the subject: how far each source has proven itself, and facts that
/// many subjects share. Read-only.
struct References {
    std::span<const SourceState> sources;
    BrokerTime broker_now{};                 ///< append time of the record being folded
    std::span<const std::uint64_t> tallies;  ///< of the policy, over all subjects
    bool sweeping = false;  ///< an epoch is on its way, so that the tallies are not final
};

/// Judges one subject. `self` is the index of the rule in its policy (the subject's findings carry
/// it). Equal arguments give equal verdicts.
using Judge = Verdict (*)(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now);

struct Rule {
    std::string_view name;
    Judge judge;
    /// What is wrong, in a few words that fit before "; " and a reason.
    std::string_view finds;
    bool on_request = false;  ///< it judges what somebody asked for, and only that
};

struct Policy {
    std::string_view name;
    std::span<const Rule> rules;
    /// What is counted over all subjects: names for metrics, by TallyId.
    std::span<const std::string_view> tallies;
    /// What this subject contributes.
    Tally (*count)(const Subject& subject, const Settings& settings);
    /// May `who` have the subject's instance ended (G8)? Who has a role that may is not asked.
    bool (*owned_by)(const Subject& subject, const Settings& settings, std::string_view who);
};

/// The number of the rule of that name; kEveryRule: there is none.
std::uint8_t rule_number(const Policy& policy, std::string_view name);

/// The built-in policy of that name, or nullptr.
const Policy* find_policy(std::string_view name);

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
