// The verbs of a step and, of each, on what it is done and by which executors: one line each. What
// a policy may write, what is weighed before a step, which right it takes and whose executor is
// meant follow from these lines, wherever that is asked. How an action is carried out stands in
// executors/write_target.cpp.
//
// Constants; thread-safe.
#pragma once

#include "engine/model/command.h"
#include "engine/model/role.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

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

/// What a step of the verb makes of the object that it is done to.
enum class Effect : std::uint8_t {
    kNone,     ///< a finding is all
    kRemoves,  ///< it is there no more
    kStops,    ///< it is there, and what it does has an end
    kSets,     ///< fields of it say something else
    kMakes,    ///< it is there, which it was not
    kLooks,    ///< it is looked at
};

struct VerbLine {
    Verb verb;
    std::string_view name;  ///< in a policy
    Effect effect;
};
inline constexpr std::array<VerbLine, 9> kVerbs{{
    {Verb::kReport, "report", Effect::kNone},
    {Verb::kDelete, "delete", Effect::kRemoves},
    {Verb::kUpdate, "update", Effect::kSets},
    {Verb::kInsert, "insert", Effect::kMakes},
    {Verb::kCreate, "create", Effect::kMakes},
    {Verb::kVerify, "verify", Effect::kLooks},
    {Verb::kRetract, "retract", Effect::kRemoves},
    {Verb::kStop, "stop", Effect::kStops},
    {Verb::kFollow, "follow", Effect::kLooks},
}};

constexpr const VerbLine& line_of(Verb verb) { return kVerbs[static_cast<std::size_t>(verb) - 1]; }
static_assert(std::all_of(kVerbs.begin(), kVerbs.end(),
                          [](const VerbLine& line) { return &line == &line_of(line.verb); }));

constexpr std::string_view name_of(Verb verb) { return line_of(verb).name; }
constexpr Effect effect_of(Verb verb) { return line_of(verb).effect; }
constexpr bool acts(Verb verb) { return effect_of(verb) != Effect::kNone; }
constexpr bool removes(Verb verb) { return effect_of(verb) == Effect::kRemoves; }
constexpr bool sets(Verb verb) { return effect_of(verb) == Effect::kSets; }
constexpr bool makes(Verb verb) { return effect_of(verb) == Effect::kMakes; }
/// Does it take something away, or end what runs?
constexpr bool takes_away(Verb verb) { return removes(verb) || effect_of(verb) == Effect::kStops; }
/// Is the world another one behind it?
constexpr bool changes(Verb verb) { return acts(verb) && effect_of(verb) != Effect::kLooks; }

/// Which of the ways of a verb a step takes.
enum class Way : std::uint8_t {
    kUsual,
    kStatus,  ///< by the object's subresource
    kBuilt,   ///< made by a named builder, and not from a template
};

/// One verb on one kind of object.
struct Use {
    Verb verb;
    Kind of;
    std::string_view right;  ///< that it takes, as the source's server calls it; empty: to read
    Way way = Way::kUsual;
    Action::Kind action = Action::Kind::kUnspecified;  ///< kUnspecified: no command says it yet
    std::string_view executors = {};  ///< their section of the configuration; empty: there are none
};
inline constexpr std::array<Use, 19> kUses{{
    {Verb::kDelete, Kind::kPod, "delete", {}, Action::Kind::kDeletePod, "delete_pod"},
    {Verb::kDelete, Kind::kObject, "delete", {}, Action::Kind::kDeleteObject, "delete_object"},
    {Verb::kDelete, Kind::kRow, "DELETE"},
    {Verb::kDelete, Kind::kEc2, "TerminateInstances"},
    {Verb::kUpdate, Kind::kRow, "UPDATE", {}, Action::Kind::kUpdateRow, "update_row"},
    {Verb::kUpdate, Kind::kPod, "patch", {}, Action::Kind::kUpdateObject, "update_object"},
    {Verb::kUpdate, Kind::kObject, "patch", {}, Action::Kind::kUpdateObject, "update_object"},
    {Verb::kUpdate, Kind::kPod, "patch", Way::kStatus, Action::Kind::kUpdateStatus,
     "update_object"},
    {Verb::kUpdate, Kind::kObject, "patch", Way::kStatus, Action::Kind::kUpdateStatus,
     "update_object"},
    {Verb::kInsert, Kind::kRow, "INSERT", {}, Action::Kind::kInsertRow, "insert_row"},
    {Verb::kCreate, Kind::kPod, "create", {}, Action::Kind::kCreateObject, "create_object"},
    {Verb::kCreate, Kind::kObject, "create", {}, Action::Kind::kCreateObject, "create_object"},
    {Verb::kCreate, Kind::kPod, "create", Way::kBuilt, Action::Kind::kCreatePod},
    {Verb::kCreate, Kind::kObject, "create", Way::kBuilt, Action::Kind::kCreateObject},
    {Verb::kVerify, Kind::kEc2, "", {}, Action::Kind::kVerifyGone},
    {Verb::kRetract, Kind::kObject, "delete", {}, Action::Kind::kRetractRecord, "retract_record"},
    {Verb::kStop, Kind::kObject, ""},
    {Verb::kStop, Kind::kEc2, "StopInstances"},
    {Verb::kFollow, Kind::kPod, ""},
}};

/// nullptr: nothing is done so to such an object.
constexpr const Use* use_of(Verb verb, Kind of, Way way = Way::kUsual) {
    for (const Use& use : kUses) {
        if (use.verb == verb && use.of == of && use.way == way) return &use;
    }
    return nullptr;
}

/// Do executors of that section act on such objects?
constexpr bool act_on(std::string_view executors, Kind of) {
    return std::any_of(kUses.begin(), kUses.end(), [&](const Use& use) {
        return use.of == of && !executors.empty() && use.executors == executors;
    });
}

}  // namespace trueup::policy
