// Policies: named sets of rules. A rule is a pure function of one subject; everything that it may
// lean on comes in as an argument.
#pragma once

#include "engine/core/meta.h"
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
    BrokerTime broker_now{};         ///< append time of the record being folded
    std::uint64_t uncorrelated = 0;  ///< live rows that may own any pod without a row
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
};

struct Policy {
    std::string_view name;
    std::span<const Rule> rules;
    /// Does this subject hold a live row that may own a pod which nobody can tell (G25)?
    bool (*uncorrelated)(const Subject& subject, const Settings& settings);
};

/// The built-in policy of that name, or nullptr.
const Policy* find_policy(std::string_view name);

/// Writes one line for people into `text`: what was found and where it is now.
void explain(const Rule& rule, const Subject& subject, const Finding& finding, JournalTime now,
             std::string& text);

}  // namespace trueup::core
