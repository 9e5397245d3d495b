// What acts have in common. Internal to simulation/.
#pragma once

#include "engine/model/request.h"
#include "simulation/acts.h"

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace trueup::simulation {

inline constexpr const char* kHoldLabel = "trueup.io/hold";
/// The first half of the ids of requests that somebody meant, and of those that must not count.
inline constexpr std::uint64_t kMeant = 1;
inline constexpr std::uint64_t kMischief = 2;

/// What a row means, whatever it says: the name that it was made with.
std::string meant_by(const History::Row& row);
/// What every pod that the source selects carries.
const sandbox::Labels& labels();
std::string fresh_name(Stage& stage);
sandbox::Row row_for(const std::string& name, const std::string& status);

/// Owners give every instance time whose deadline has not passed, and clocks are set.
void settle_deadlines(Stage& stage);

/// At once, or where races are forbidden when no executor is between its look and its write.
void without_race(Stage& stage, std::function<void()> what);

/// One of these, or under other policies one of theirs.
std::string any_rule(const Stage& stage, Random& random,
                     std::initializer_list<const char*> shipped);

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
RequestId ask(Stage& stage, RequestKind kind, const RequestScope& scope);
/// A request as it is, with an id and the time if it has none; `sign`: by somebody who has the key.
RequestId ask(Stage& stage, Request request, bool sign = true);
/// Appended for as long as it takes to be known to be there.
void put(Stage& stage, const std::string& subject, const std::string& request);
RequestScope about(const std::string& subject);
/// A pause or a hold, which ends some time later. In between there is a time in which nobody may
/// write, whatever came of it: that it is in the log is enough.
void brake(Stage& stage, Random& random, const RequestScope& scope);
/// A rule acts on approval only, from when everybody can know of it until somebody enables it
/// again.
void disable(Stage& stage, const std::string& rule);
/// What somebody wrote a while ago becomes visible, unless it is so already.
void commit(Stage& stage, const std::shared_ptr<sandbox::Transaction>& open);
void set_database_clock(Stage& stage, Millis ahead);

/// Somebody asks for the end of an instance.
void terminate(Stage& stage, Request request);
void set_ttl(Stage& stage, const History::Row& row, std::uint64_t seconds);
std::string database_time(const Stage& stage);
std::string subject_of(const History::Row& row);

/// Any pod, or any row, is gone.
void lose_pod(Stage& stage, Random& random);
void lose_row(Stage& stage, Random& random);

/// What people do, and what goes wrong, for `act_kinds`.
std::vector<ActKind> workload();
std::vector<ActKind> meddlers();
std::vector<ActKind> operators();
std::vector<ActKind> odd_workload();
std::vector<ActKind> dying();
std::vector<ActKind> faults();
std::vector<ActKind> wanting();

}  // namespace trueup::simulation
