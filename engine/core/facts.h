// What a subject's objects make of a plan's conditions: one walk over an object's bytes answers all
// that is asked of its role, a bit for each test and for each condition.
//
// Three values: `can` and `may` have a bit where something is not false, `is` where it is true.
// Not thread-safe to build; const access is.
#pragma once

#include "engine/core/plan.h"
#include "engine/model/subject.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace trueup::core {

struct SourceState;

/// Kleene's, with the reason of the first thing that was not known.
struct Truth {
    enum class Is : std::uint8_t { kFalse, kUnknown, kTrue };
    Is is = Is::kTrue;
    Reason why = Reason::kNone;  ///< of kUnknown

    static Truth of(bool value) { return {value ? Is::kTrue : Is::kFalse, Reason::kNone}; }
    static Truth unknown(Reason why) { return {Is::kUnknown, why}; }
    bool no() const { return is == Is::kFalse; }
    bool yes() const { return is == Is::kTrue; }
    Truth negated() const { return is == Is::kUnknown ? *this : of(no()); }
    Truth operator&&(const Truth& other) const {
        if (no() || other.no()) return of(false);
        return is == Is::kUnknown ? *this : other;
    }
    Truth operator||(const Truth& other) const { return (negated() && other.negated()).negated(); }
};

/// Somebody put a hold on the object itself, or nobody can say that there is none (S23).
bool vetoed(const Facet& object);
/// The object is on its way out and must not be touched again (G24).
bool deleting(const Facet& object);
/// The object no longer matches the source's selector: it exists, and it is none of our business.
bool out_of_scope(const Facet& object);
/// Whether the object is any business of ours: only what Kubernetes shows can leave a selector.
bool ours(const PlanRole& role, const Facet& object);

/// The value of one field, as far as it is known.
struct PlanValue {
    enum class Kind : std::uint8_t { kText, kNull, kNotThere, kUnsent };
    Kind kind = Kind::kNotThere;
    std::string_view text;  ///< of the object's bytes, or constant
    bool operator==(const PlanValue&) const = default;
};
/// Nothing but white space: a row that names its pod so names none.
inline bool blank(std::string_view text) {
    // No white space is above it.
    if (!text.empty() && static_cast<unsigned char>(text.front()) > ' ') return false;
    return text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
}
/// The moment that a text of this field means.
std::optional<SourceTime> time_in(const PlanField& field, std::string_view text);
/// A whole number of 64 bits, and nothing else.
std::optional<std::int64_t> number_in(std::string_view text);
/// Is it no number, or neither true nor false, though the field is declared so?
bool unreadable(const PlanField& field, std::string_view text);

/// What a plan's tests and conditions come to, with what an object has no room for.
struct WorkedOut {
    Answers answers;
    std::uint64_t unreadable = 0;  ///< tests that can be so and are not: because of its text
    std::uint64_t unlisted = 0;    ///< likewise, as it is none of the words
};

/// One present object. Points into its subject.
struct Seen {
    const Facet* facet = nullptr;
    const Ledger* ledger = nullptr;  ///< of its subject; may be null
    std::string_view scope;          ///< of its source
    Role role = kNoRole;
    const Answers* answers = nullptr;             ///< the object's own, or those of `worked_out`
    std::shared_ptr<const WorkedOut> worked_out;  ///< nullptr: they are kept with the object

    Truth test(std::uint16_t index) const {
        const std::uint64_t bit = std::uint64_t{1} << index;
        if ((answers->can & bit) == 0) return Truth::of(false);
        if ((answers->is & bit) != 0) return Truth::of(true);
        return Truth::unknown(why_unknown(bit));
    }

  private:
    Reason why_unknown(std::uint64_t bit) const {
        if (worked_out == nullptr) return Reason::kIncomplete;
        if ((worked_out->unreadable & bit) != 0) return Reason::kUnreadable;
        return (worked_out->unlisted & bit) != 0 ? Reason::kUnknownWord : Reason::kIncomplete;
    }
};
PlanValue value_of(const PlanRole& role, std::uint16_t field, const Seen& object);
/// Which is later, or more: below 0 the second one, above 0 the first. What cannot be read is less
/// than what can.
int order_of(const PlanField& field, const PlanValue& a, const PlanValue& b);
/// `same_as`, `before`, `after`, of two objects that may be one.
Truth compared(const Plan& plan, const PlanJoin& join, const Seen& own, const Seen& other);
/// For its values; no test is to be asked.
Seen as_seen(const Facet& object, const Settings& settings, const Ledger* ledger);
/// With an answer to each test and condition of its role: those that are kept with the object, if
/// they are this plan's.
Seen look_at(const Plan& plan, const Facet& object, const Settings& settings, const Ledger* ledger);

/// A digest of what the object, which is present and plays a role, says about all that the rules
/// compare. Its answers are kept with it.
std::uint64_t said_by(const Plan& plan, const Settings& settings, const Subject& subject,
                      const Facet& object);
/// What is kept rests on the subject's ledger, too.
void forget_answers(const Subject& subject);

/// A digest of all that a rule reads of the subject: an equal one, and nothing that it reads is
/// new. The same on every machine.
std::uint64_t said_to(const Plan& plan, const PlanRule& rule, const Subject& subject,
                      const Settings& settings);

/// Fills in what the values of the role's fields make of its tests, once it has all of them.
void tell_apart(PlanRole& role);

/// Nobody who looks on as a condition is asked (core/witness.h).
struct Unwatched {
    std::size_t mark() const { return 0; }
    void say(std::size_t, const Truth&) const {}
    void keep(std::size_t, const Truth&) const {}
};

/// A condition of one object; `leaf` says what a test, a join or a named condition is of it, before
/// that is negated. `watch` is told what came of what.
template <typename Leaf, typename Watching = Unwatched>
Truth truth_of(const PlanNode& node, const Leaf& leaf, const Watching& watch = {}) {
    const std::size_t from = watch.mark();
    const bool all = node.kind == PlanNode::Kind::kAll;
    if (!all && node.kind != PlanNode::Kind::kAny) {
        const Truth said = leaf(node);
        const Truth truth = node.negated ? said.negated() : said;
        watch.say(from, truth);
        return truth;
    }
    Truth sum = Truth::of(all);
    for (const PlanNode& part : node.parts) {
        const Truth one = truth_of(part, leaf, watch);
        sum = all ? sum && one : sum || one;
    }
    watch.keep(from, sum);
    return sum;
}

/// The first line that fits decides; one that may fit ends it as unknown. `fits` says it of a
/// line's pattern.
template <typename Fits, typename Watching = Unwatched>
Truth truth_of(const PlanCondition& condition, const Fits& fits, const Watching& watch = {}) {
    using Then = policy::NamedCondition::Line::Then;
    const std::size_t first = watch.mark();
    for (const PlanCondition::Line& line : condition.lines) {
        const std::size_t from = watch.mark();
        Truth sum = Truth::of(true);
        for (const PlanPattern& pattern : line.when) {
            const std::size_t own = watch.mark();
            const Truth one = fits(pattern);
            watch.say(own, one);
            sum = sum && one;
        }
        watch.keep(from, sum);
        if (sum.no()) continue;
        // Where it stays unknown, the lines before it decide nothing.
        if (!sum.yes() || line.then == Then::kUnknown) watch.keep(first, sum);
        if (!sum.yes()) return sum;
        if (line.then == Then::kUnknown) return Truth::unknown(Reason::kTransition);
        return Truth::of(line.then == Then::kTrue);
    }
    return Truth::of(false);
}

/// Does the object claim its subject, as `live` of its role says? Its source plays one.
Truth claim_of(const Plan& plan, const Facet& object, const Settings& settings);

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
