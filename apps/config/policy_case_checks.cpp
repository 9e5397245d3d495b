// What is wrong with one case of a rule as a whole: what its parts ask of each other, the order of
// its steps, and whether enough speaks for them.
#include "apps/config/policy_checks.h"
#include "apps/config/policy_states.h"
#include "apps/config/policy_steps.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <variant>

namespace trueup::config {

namespace {

using policy::Quantifier;
using policy::Verb;

/// As PlanCase::ends: what begins by taking something away, with more to follow, is carried to its
/// end. A list that begins with a look is begun anew each time.
bool ends(const policy::Case& found) {
    return found.steps.size() > 1 && policy::takes_away(found.steps.front().verb);
}

/// The references that a pattern makes to other roles' objects.
std::set<std::string> leans_on(const policy::Pattern& pattern) {
    std::set<std::string> roles;
    const auto add = [&](const policy::Test& test) { roles.insert(test.other.role); };
    each_test(pattern.condition, add);
    for (const policy::Ranking& ranking : pattern.keep) each_test(ranking.condition, add);
    roles.insert({pattern.named.role, pattern.in.role});
    roles.erase("");
    roles.erase(pattern.role);
    return roles;
}

}  // namespace

/// Whatever a text, a deadline or a test asks of another object: a pattern must bind that one.
void PolicyChecks::check_bound(const policy::Case& found) {
    std::set<std::string> bound;
    std::set<std::string> absent;
    for (const policy::Pattern& pattern : found.when) {
        (pattern.quantifier == Quantifier::kNone ? absent : bound).insert(pattern.role);
    }
    std::set<std::string> told;
    const auto wants = [&](const std::string& name, std::string_view what) {
        if (name.empty() || bound.count(name) > 0 || !told.insert(name).second) return;
        refuse(absent.count(name) > 0
                   ? fmt::format("{} needs an object of {}, and `{}: none` binds none", what, name,
                                 name)
                   : fmt::format("{} needs an object of {}, and `when` does not name {}; write {}: "
                                 "one",
                                 what, name, name, name));
    };
    for (const policy::Pattern& pattern : found.when) {
        for (const std::string& name : leans_on(pattern)) wants(name, "when." + pattern.role);
    }
    if (found.past) {
        wants(found.past->from.role, "past");
        if (const auto* field = std::get_if<policy::FieldRef>(&found.past->length)) {
            wants(field->role, "past");
        }
    }
    const auto text = [&](const policy::Text& of) {
        for (const policy::Piece& piece : of) wants(piece.field.role, "do");
    };
    for (const policy::Step& step : found.steps) {
        policy::each_text(step, text);
        for (const policy::FieldRef& read : step.reads) wants(read.role, "do");
        if (policy::sets(step.verb)) wants(step.role, "update");
    }
}

/// Objects are bound one after the other, each by those before it.
void PolicyChecks::check_order(const policy::Case& found) {
    std::set<std::string> open;
    for (const policy::Pattern& pattern : found.when) open.insert(pattern.role);
    for (bool moved = true; moved && !open.empty();) {
        moved = false;
        for (const policy::Pattern& pattern : found.when) {
            if (open.count(pattern.role) == 0) continue;
            const std::set<std::string> needs = leans_on(pattern);
            const bool free = std::none_of(needs.begin(), needs.end(),
                                           [&](const auto& name) { return open.count(name) > 0; });
            if (!free) continue;
            open.erase(pattern.role);
            moved = true;
        }
    }
    if (open.empty()) return;
    refuse(fmt::format("{} refer to each other; write one of them without the others' fields",
                       enumerate({open.begin(), open.end()})));
}

void PolicyChecks::check_steps(const policy::Case& found) {
    if (found.steps.empty()) return;
    const std::size_t last = found.steps.size() - 1;
    for (std::size_t i = 0; i < found.steps.size(); ++i) {
        const policy::Step& step = found.steps[i];
        const bool takes = policy::takes_away(step.verb);
        const bool fits = found.steps.size() == 1 ||
                          (i == 0     ? takes || step.verb == Verb::kVerify
                           : i < last ? step.verb == Verb::kDelete
                                      : step.verb == Verb::kDelete || policy::sets(step.verb));
        // A retraction that is refused would keep what comes behind it from being done.
        const bool alone = found.steps.size() == 1 || step.verb != Verb::kRetract;
        if (!fits || !alone) {
            refuse(
                fmt::format("step {} is {}; a list is: delete, verify or stop first, deletes "
                            "between, an update or a delete last",
                            i + 1, policy::name_of(step.verb)));
        }
        if (!policy::acts(step.verb) || step.role.empty()) continue;
        if (const std::string wrong = policy::making_flaw(policy_, found, step); !wrong.empty()) {
            refuse(fmt::format("it {}s {}: {}", policy::name_of(step.verb), step.role, wrong));
        }
        const policy::Role& target = role(step.role);
        if (target.reference && step.verb != Verb::kInsert) {
            refuse(
                fmt::format("its step is for {}, which is a reference: many subjects share it, "
                            "and rules only read it; make it a role of its own",
                            step.role));
        }
        const bool gone =
            std::any_of(found.steps.begin(), found.steps.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const policy::Step& before) {
                            return before.role == step.role && policy::removes(before.verb);
                        });
        if (gone && policy::sets(step.verb)) {
            refuse(fmt::format("it updates {}, which a step before deletes; leave one of them out",
                               step.role));
        }
        const bool seen = std::any_of(found.when.begin(), found.when.end(),
                                      [&](const auto& each) { return each.role == step.role; });
        if (!seen && takes && !policy::is_name(target.key)) {
            ask("unseen_step",
                fmt::format(
                    "it would {} {} that `when` does not read, by their key {}; name {} in `when`",
                    policy::name_of(step.verb), step.role, policy::key_text(target.key),
                    step.role));
        }
    }
}

namespace {

/// Does it say, among others, all that the other one says?
bool asks_for(const policy::Condition& condition, const policy::Condition& other) {
    if (condition == other) return true;
    const auto& own = condition.parts;
    const bool all = condition.kind == policy::Condition::Kind::kAll;
    const auto has = [&](const policy::Condition& part) {
        return all && std::find(own.begin(), own.end(), part) != own.end();
    };
    if (other.kind != policy::Condition::Kind::kAll) return has(other);
    return std::all_of(other.parts.begin(), other.parts.end(), has);
}

}  // namespace

/// What a list writes last it writes only where that still claims the subject: else its owner has
/// closed it.
void PolicyChecks::check_half_done(const policy::Case& found) {
    if (!ends(found)) return;
    const policy::Step& last = found.steps.back();
    if (!policy::sets(last.verb)) return;
    for (const policy::Pattern& pattern : found.when) {
        if (pattern.role != last.role || pattern.quantifier == Quantifier::kNone) continue;
        const policy::Role& of = role(last.role);
        if (asks_for(pattern.condition, of.live)) continue;
        bool stays = false;
        each_values(policy_, of, {&pattern.condition, &of.live}, [&](const Values& values) {
            stays = stays || (certainty(policy_, pattern.condition, of, values) != Certainty::kNo &&
                              certainty(policy_, of.live, of, values) != Certainty::kYes);
        });
        if (!stays) continue;
        refuse(
            fmt::format("its first step would be done, and {} never written, where that is not "
                        "live (roles.{}.live); ask for the same in when.{}",
                        last.role, last.role, last.role));
    }
}

/// What was begun goes on by its rule, whichever case found it.
void PolicyChecks::check_ending(const policy::Case& found) {
    const auto is_another = [&](const policy::Case& before) {
        return ends(before) && before.steps != found.steps;
    };
    const auto here = rule_->cases.begin() + static_cast<std::ptrdiff_t>(index_);
    if (ends(found) && std::any_of(rule_->cases.begin(), here, is_another)) {
        refuse("it ends things in another way than a case before it; make it a rule of its own");
    }
}

/// A rule that takes away needs another side's word, and time in which that could come.
void PolicyChecks::check_sides(const policy::Case& found) {
    const bool takes = found.takes_away();
    std::set<std::string> sides;
    for (const policy::Pattern& pattern : found.when) {
        if (!role(pattern.role).reference) sides.insert(pattern.role);
    }
    if (takes && sides.size() == 1) {
        ask("deletes_all", fmt::format("it removes {} without reading another side: it would "
                                       "remove everything that the source shows; add a side",
                                       *sides.begin()));
    }
    if (found.rests_on_none() && (takes || found.writes()) && rule_->create_window == Millis{0}) {
        ask("no_window",
            "without a create_window, what is just being written counts as missing; write "
            "create_window: 30s");
    }
    if ((takes || writes_unseen(found)) && !found.past && rule_->grace == Millis{0}) {
        ask("no_grace",
            takes ? "with grace: 0s it removes what is wrong for a moment only; write grace: 30s"
                  : "with grace: 0s it writes what is so for a moment only; write grace: 30s");
    }
    if (!rule_->since_first_seen) return;
    for (const policy::Step& step : found.steps) {
        if (!policy::removes(step.verb)) continue;
        for (const policy::Pattern& pattern : found.when) {
            if (pattern.role != step.role) continue;
            each_test(pattern.condition, [&](const policy::Test& test) {
                const policy::Role& of = role(pattern.role);
                if (policy::find_field(of, test.field) == nullptr) return;
                ask("blind_seen",
                    fmt::format("since: first_seen counts from when the object was first seen, but "
                                "it is deleted because of {}, which changes: the other side may "
                                "describe an earlier state; leave `since` out",
                                test.field));
            });
        }
    }
}

}  // namespace trueup::config
