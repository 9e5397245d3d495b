// One object of a subject as a plan sees it: the values of its fields, and an answer to all that is
// asked of its role. One walk over its bytes makes a bit for each test and for each condition.
//
// Three values: `can` and `may` have a bit where something is not false, `is` where it is true.
// Not thread-safe: answers are kept with the object.
#pragma once

#include "engine/core/plan.h"
#include "engine/core/truth.h"
#include "engine/model/subject.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace trueup::core {

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

/// Does the object claim its subject, as `live` of its role says? Its source plays one.
Truth claim_of(const Plan& plan, const Facet& object, const Settings& settings);

}  // namespace trueup::core
