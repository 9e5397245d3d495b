// The rules of a policy: what disagrees, and what is to be done about it, step by step. The whole
// policy. Plain values, as policy.h.
#pragma once

#include "engine/base/time.h"
#include "engine/model/policy.h"
#include "engine/model/step.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trueup::policy {

/// As a rule acknowledges it: that it may be done with one thing again and again within a day.
inline constexpr std::string_view kMayRecur = "recurring";
/// Likewise: that what it deletes does not come back.
inline constexpr std::string_view kIrreversible = "irreversible";

/// A moment that the clock of the role's source must have passed: `from` and a length behind it.
struct Deadline {
    FieldRef from;
    std::variant<Millis, FieldRef> length;
    bool operator==(const Deadline&) const = default;
};

/// One line of the truth table.
struct Case {
    bool duplicates = false;  ///< the report of two claims; nothing else then
    std::vector<Pattern> when;
    std::optional<Deadline> past;
    std::vector<std::string> ask_while;  ///< counts
    std::vector<Step> steps;             ///< at least one
    bool operator==(const Case&) const = default;

    bool takes_away() const;
    bool writes() const;         ///< updates, inserts or creates something
    bool acts() const;           ///< does more than to report
    bool rests_on_none() const;  ///< that something is not there
};

struct Rule {
    std::string name;
    std::string finds;
    std::vector<Case> cases;  ///< the first that is not healthy is the verdict
    bool off = false;         ///< until an operator says more
    Millis grace{0};
    Millis create_window{0};
    bool since_first_seen = false;
    bool keyless = false;  ///< also judges objects whose key cannot be told, and only reports them
    std::vector<Millis> backoff;
    std::string requested;                 ///< judges what this request asks for, and only that
    std::vector<std::string> acknowledge;  ///< what its author knows (ascending)
    bool operator==(const Rule&) const = default;

    bool acknowledges(std::string_view code) const;
};

struct Policy {
    std::uint32_t language = kLanguage;
    std::string name;
    std::string subject;  ///< what one subject is, for people
    Millis stale_after{45'000};
    std::vector<Role> roles;
    std::vector<NamedCondition> conditions;
    std::vector<Count> counts;
    std::optional<Ledger> ledger;
    std::map<std::string, FieldRef> requests;  ///< name → the field of who may ask
    std::vector<Rule> rules;
    bool operator==(const Policy&) const = default;
};

const Role* find_role(const Policy& policy, std::string_view name);
/// Of a step of that case: why nothing could be inserted or created by it without a doubt, as a
/// sentence that says what to write instead; empty: it can, or it makes nothing.
std::string making_flaw(const Policy& policy, const Case& found, const Step& step);
const Field* find_field(const Role& role, std::string_view name);

}  // namespace trueup::policy
