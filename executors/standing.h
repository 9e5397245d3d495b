// Whether what a command leans on still stands, and the words for it. Keeps no state: thread-safe.
#pragma once

#include "engine/model/command.h"
#include "executors/async_calls.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace trueup::executors {

/// Whether what the command leans on still stands, and if not, how the command ends.
struct Standing {
    enum class Kind : std::uint8_t { kHolds, kRefused, kFailed };
    Kind kind = Kind::kHolds;
    bool retryable = false;  ///< only of kFailed
    std::string reason;

    static Standing holds() { return {}; }
    static Standing refused(std::string why) { return {Kind::kRefused, false, std::move(why)}; }
    static Standing failed(bool retryable, std::string why) {
        return {Kind::kFailed, retryable, std::move(why)};
    }
    bool ok() const { return kind == Kind::kHolds; }
};

/// `none(rows, key = wrapper-a)`, for reasons and logs.
std::string describe(const Predicate& predicate);

/// A predicate about what there is under a name, whoever it is, not about one known object.
bool is_by_name(const Predicate& predicate);

/// A value for people; without one `null`.
std::string shown(const std::optional<std::string>& value);

/// The predicate cannot be evaluated, and does not hold.
Standing cannot_tell(const Predicate& predicate, std::string_view why);

/// A source in doubt is not asked: the command ends in a failure that may be tried again.
template <typename Source>
Standing asked_of(const std::string& name, const Source& source) {
    if (source.doubt.empty()) return Standing::holds();
    return Standing::failed(true, "source " + name + ": " + source.doubt);
}

/// How an answer that is not 200 ends a command; `what` names the call.
Standing failure_of(const Answer& answer, std::string_view what);

}  // namespace trueup::executors
