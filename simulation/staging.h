// What acts have in common. Internal to simulation/.
#pragma once

#include "engine/model/request.h"
#include "simulation/acts.h"

#include <functional>
#include <string>
#include <vector>

namespace trueup::simulation {

inline constexpr const char* kHoldLabel = "trueup.io/hold";

/// What every pod that the source selects carries.
const sandbox::Labels& labels();
std::string fresh_name(Stage& stage);
sandbox::Row row_for(const std::string& name, const std::string& status);

/// Something that follows later, unless everything is over by then.
void later(Stage& stage, Millis delay, std::function<void()> what);

// As it is now.
std::vector<sandbox::PodPtr> pods(const Stage& stage);
std::vector<History::Row> rows(const Stage& stage);
bool has_row(const Stage& stage, const std::string& name);
bool has_pod(const Stage& stage, const std::string& name);

/// nullptr: there are none.
template <typename Item>
const Item* pick(const std::vector<Item>& items, Random& random) {
    return items.empty() ? nullptr : &items[random.below(items.size())];
}

/// A request of somebody who may, about a subject or a source; its id.
Hash128 ask(Stage& stage, RequestKind kind, const RequestScope& scope);
RequestScope about(const std::string& subject);

/// What people do, and what goes wrong, for `act_kinds`.
std::vector<ActKind> people();
std::vector<ActKind> faults();

}  // namespace trueup::simulation
