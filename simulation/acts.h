// What people do in the world, and what goes wrong: the acts of which schedules are made. An act is
// carried out with nothing but a number that was drawn for it, so that a schedule from which others
// were taken away still means the same.
#pragma once

#include "engine/model/command.h"
#include "engine/model/settings.h"
#include "simulation/random.h"
#include "simulation/stage.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::simulation {

/// Who, or what, acts.
enum class Actor : std::uint8_t {
    kWorkload,   ///< who start, stop, break and mend instances
    kOperators,  ///< owners, who set deadlines, and operators, who ask and approve
    kMisfortune  ///< what goes wrong
};

struct ActKind {
    std::string_view name;
    Actor actor = Actor::kWorkload;
    unsigned weight = 1;  ///< 0: only in plans that name it
    void (*carry_out)(Stage& stage, Random& random) = nullptr;
};

/// All there are, in a fixed order.
const std::vector<ActKind>& act_kinds();
/// nullptr: there is none of that name.
const ActKind* find_act(std::string_view name);

/// `count` instances that are as they should be.
void populate(Stage& stage, std::uint64_t count);
/// Somebody changes what a command is about, between its being given and its being carried out, or
/// right after.
void toctou(Stage& stage, const Command& command, Random random);
/// The same, once it was ordered that an instance ends: what its pod, its owner and operators do
/// between the steps of its end.
void last_word(Stage& stage, const Command& command, Random random);
/// A pod was created just now: somebody deletes it at once, or takes back that it was wanted, and
/// who made it may die before telling.
void undo(Stage& stage, const std::string& name, Random random);
/// Nobody is bound any more by what binds there, nor by what is on its way.
void unbind(Stage& stage, const std::string& bound);
/// Somebody looks at the sources whose lists are not believed, and says that they are right; also
/// of those that lost suspiciously much, if `of_drops`.
void vouch(Stage& stage, bool of_drops);
/// What engines are to have but for modes that changed for a while: the source of services may have
/// left.
Settings settings_now(const Stage& stage);
/// Does something serve that instance that did so before then?
bool served_since(const Stage& stage, const std::string& name, SteadyTime before);
/// Who asked for the end of an instance looks whether it was granted.
void hear_answers(Stage& stage);
/// Owners put away the rows of what we ended, and of what somebody said nothing is to be done
/// about.
void put_away(Stage& stage);
/// Somebody looks at what waits for an approval, and says yes to all of it.
void approve(Stage& stage);
/// The same of what waits for this reason.
void approve_reason(Stage& stage, Reason because);
/// An approval of what each shard shows now.
Request approval(Stage& stage, RequestScope scope);
/// Somebody looks at what the rules that nobody has enabled would do, and enables them; where that
/// cannot be looked at yet, it is asked for.
void enable(Stage& stage);
/// People finish what they had begun and leave things so that they can be put right; everything
/// that failed works again.
void quiesce(Stage& stage);

}  // namespace trueup::simulation
