// The roles of a policy: what it needs to know of each part of the world, field by field. Plain
// values, as policy.h.
#pragma once

#include "engine/base/time.h"
#include "engine/model/condition.h"
#include "engine/model/key.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::policy {

/// What an object is: its topic, its connector, and what can be done with it.
enum class Kind : std::uint8_t { kPod = 1, kObject = 2, kRow = 3, kEc2 = 4 };
constexpr bool in_kubernetes(Kind kind) { return kind == Kind::kPod || kind == Kind::kObject; }

struct Field {
    enum class Type : std::uint8_t {
        kText = 1,
        kNumber = 2,  ///< 64 bits, signed
        kBoolean = 3,
        kTimestamp = 4,
        kDate = 5,  ///< a day in `zone`
        kDuration = 6,
        kEnds = 7,  ///< `uid=time …`: how objects ended
    };
    std::string name;
    Type type = Type::kText;
    std::vector<std::string> words;  ///< ascending: the values that are known; empty: any text
    std::string path;                ///< in the object; empty: the source's mapping of that name
    std::string zone;                ///< of kDate, and of times without one: see parse_zone
    bool required = false;           ///< not there is unknown, not false
    bool null_unequal = false;       ///< a comparison with NULL is false, not unknown
    bool blank_is_value = false;     ///< white space is a value, not NULL
    bool operator==(const Field&) const = default;
};

/// What a policy needs to know of one part of the world.
struct Role {
    std::string name;
    Kind kind = Kind::kRow;
    Key key;  ///< which subject an object belongs to
    /// Fields that may say it by themselves, whatever the key makes of them: a live look asks for
    /// each. Beside those of the key.
    std::vector<std::string> also;
    std::vector<Field> fields;  ///< by name
    Condition live;             ///< which of its objects claim their subject
    bool several = false;       ///< two claims are normal
    bool optional = false;      ///< the policy does without it where no source plays it
    bool reference = false;     ///< looked up by name from other subjects
    std::string scope;          ///< what its sources share it out by, as `region`
    std::string as_of_field;    ///< `as_of`: when its table was last filled from elsewhere ...
    FieldRef as_of;             ///< ... is said by this field of a reference ...
    std::string as_of_at;       ///< ... of this name
    bool operator==(const Role&) const = default;
};

/// `UTC`, or an offset that is the same all year, as `+05:30` or `-08`: how far east.
std::optional<Millis> parse_zone(std::string_view text);

}  // namespace trueup::policy
