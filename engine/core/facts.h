// What a subject's objects come to: those that a plan sees, and what its rules, counts and ledger
// make of all of them.
//
// Three values: `may` has a bit where something is not false, `is` where it is true.
// Not thread-safe to build; const access is.
#pragma once

#include "engine/core/plan.h"
#include "engine/core/seen.h"
#include "engine/model/subject.h"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace trueup::core {

struct References;
struct SourceState;

/// A digest of all that a rule reads of the subject, and of what it looks up for it: an equal one,
/// and nothing that it reads is new. The same on every machine.
std::uint64_t said_to(const Plan& plan, const PlanRule& rule, const Subject& subject,
                      const Settings& settings, const References& references);

/// What the cases look up for the subject, whoever of it names them: what is gone, too.
void each_reference(const Plan& plan, const PlanRule& rule, const Subject& subject,
                    const Settings& settings, const References& references,
                    const std::function<void(const Facet&)>& then);

/// What all present objects of one subject come to.
struct Word {
    Bits shown;               ///< some object may be so
    Bits two;                 ///< two may be so
    Bits is;                  ///< some object is so
    std::uint32_t roles = 0;  ///< that show one: a bit for each

    void add(Role role, const Answers& answers) {
        two |= shown & answers.may;
        shown |= answers.may;
        is |= answers.sure;
        roles |= 1U << role;
    }
};
/// `shown`, and what nobody knows of, as a source of its role is not known. `sources` by SourceId.
Bits may_be(const Plan& plan, const std::vector<SourceState>& sources, const Word& word);

/// Of one subject. Keeps its memory for the next one.
struct Facts {
    std::vector<Seen> seen;  ///< present objects that play a role, in the order of the facets
    Word word;
    Bits may;  ///< `may_be` of it

    /// False: whatever is asked besides, the case is healthy, and waits for nothing.
    bool fit(const Mask& mask) const { return fits(mask, may, word); }
    static bool fits(const Mask& mask, const Bits& may, const Word& word) {
        return may.has_all(mask.may) && !word.is.has_any(mask.never) &&
               (!mask.asks_pairs || word.two.has_any(mask.pairs));
    }
};
/// What an object has no answers of this plan to is worked out, and kept with it. `sources` by
/// SourceId.
void look_at(const Plan& plan, const Subject& subject, const Settings& settings,
             const std::vector<SourceState>& sources, Facts& facts);

/// What the subject counts for, and the bits of its objects, which keep their answers. What one
/// that is being ended has is nobody else's.
Tally tally_of(const Plan& plan, const Subject& subject, const Settings& settings, Word& word);

/// May `who` ask for what the rule does to the subject? Who has a role that may is not asked.
bool owned_by(const Plan& plan, const PlanRule& rule, const Facts& facts, std::string_view who);

/// What can be seen now of how the subject's objects ended; nothing where that is not told by a
/// single object. The plan has a ledger.
Ledger ends_of(const Plan& plan, const Subject& subject, const Settings& settings,
               const Facts& facts, JournalTime now);

}  // namespace trueup::core
