// What rules of several policies say of objects, and the commands that they have in common.
#pragma once

#include "engine/core/sides.h"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::core {

/// Someone put a hold on the object itself, or nobody can say that there is none (S23).
bool vetoed(const Facet& facet);
/// The object is on its way out and must not be touched again (G24).
bool deleting(const Facet& object);
/// The object no longer matches the source's selector: it exists, and it is none of our business.
bool out_of_scope(const Facet& object);
/// The pod has ended by itself: Failed or Succeeded.
bool ended(const Facet& pod);

/// The predicate "this object still says what the rule read", for each of the fields, and that
/// nobody put a hold on it.
std::vector<Predicate> still_says(const std::string& source, const Facet& object,
                                  std::span<const std::string_view> fields);
inline std::vector<Predicate> still_says(const std::string& source, const Facet& object,
                                         std::initializer_list<std::string_view> fields) {
    return still_says(source, object, std::span(fields.begin(), fields.size()));
}

/// The command that deletes exactly this pod; its read set says that the pod is there, without a
/// hold, and what the rule adds.
CommandDraft delete_pod(const std::string& source, const Facet& pod);

/// A command that deletes a pod leaves it the time that the rule says, or the pod's own (G1).
void give_time(const Settings& settings, std::uint8_t rule, CommandDraft& draft);

/// The same of an object that is no pod.
CommandDraft delete_object(const std::string& source, const Facet& object);

/// The command with these predicates before its own: the other side is read first.
CommandDraft relying_on(std::vector<Predicate> first, CommandDraft draft);

/// The verdict that creates the pod of that name; it takes nothing away. It is for `about`, whose
/// `fields` it is made from and must still say so.
Verdict create_pod(const std::string& pods, std::string_view name, const std::string& source,
                   const Facet& about, std::initializer_list<std::string_view> fields);

/// How often the subject's objects failed, as its ledger says, and when last.
struct Failures {
    std::uint32_t count = 0;
    JournalTime latest{};
};
Failures failures_of(const Subject& subject);
/// One of its objects has succeeded.
bool has_succeeded(const Subject& subject);

/// When the next object may be made: 0, 5, 10, 20, 40 and 80 s after the latest failure (R2).
JournalTime next_try(const Failures& failures);

}  // namespace trueup::core
