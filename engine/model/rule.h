// The rules of a policy: what disagrees, and what is to be done about it, step by step. The whole
// policy. Plain values, as policy.h.
#pragma once

#include "engine/base/time.h"
#include "engine/model/policy.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trueup::policy {

enum class Verb : std::uint8_t {
    kReport = 1,
    kDelete = 2,
    kUpdate = 3,
    kInsert = 4,
    kCreate = 5,
    kVerify = 6,
    kRetract = 7,
    kStop = 8,
    kFollow = 9,
};
std::string_view name_of(Verb verb);
/// Does it take something away, or change what another one wrote?
constexpr bool takes_away(Verb verb) { return verb == Verb::kDelete || verb == Verb::kStop; }

/// One field that a step writes; no text: null, or of an object no field at all.
struct Assigned {
    std::string field;
    std::optional<Text> value;
    bool operator==(const Assigned&) const = default;
};

/// An object as its author wrote it down, with texts at its leaves.
struct Template {
    enum class Kind : std::uint8_t { kText = 1, kList = 2, kMap = 3, kNull = 4 };
    Kind kind = Kind::kMap;
    std::string key;  ///< in the map around it
    Text text;
    std::vector<Template> parts;
    bool operator==(const Template&) const = default;
};

struct Step {
    Verb verb = Verb::kReport;
    std::string role;
    Text name;                   ///< of kCreate
    std::vector<Assigned> sets;  ///< by field
    std::string from;            ///< the builder of kCreate; empty: `object`
    std::optional<Template> object;
    std::optional<std::uint32_t> grace_period;  ///< seconds; of pods
    std::string propagation;                    ///< background, foreground, orphan
    std::string subresource;                    ///< `status`
    std::vector<FieldRef> reads;                ///< what it is made from, beside its texts
    bool operator==(const Step&) const = default;
};

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
    bool writes() const;         ///< updates something
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
const Field* find_field(const Role& role, std::string_view name);

}  // namespace trueup::policy
