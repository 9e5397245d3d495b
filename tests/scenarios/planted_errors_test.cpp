// What the comparison with the naive reader is worth: each of these errors, planted into a compiled
// plan, is noticed by it over random policies and worlds. An error of a kind that is not here may
// still pass unseen; a new part of a plan wants a line here.
#include "engine/core/told.h"
#include "engine/model/verb.h"
#include "tests/scenarios/both_readers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <random>
#include <utility>

namespace trueup::testing {
namespace {

using core::Plan;
using core::PlanCase;
using core::PlanField;
using core::PlanNode;
using core::PlanPattern;
using policy::Op;
using policy::Quantifier;
using From = PlanField::From;

/// What an error may be planted into, of one plan.
class Site {
  public:
    Site(Plan& plan, naive::Dice& dice) : plan_(plan), dice_(dice) {}

    Plan& plan() { return plan_; }
    naive::Dice& dice() { return dice_; }

    /// One of those that fit; nullptr: there is none.
    template <typename Part>
    Part* one(const std::vector<Part*>& all, const std::function<bool(const Part&)>& fits) {
        std::vector<Part*> some = all;
        std::erase_if(some, [&](Part* each) { return !fits(*each); });
        return some.empty() ? nullptr : some[dice_.below(some.size())];
    }

    std::vector<PlanCase*> cases() {
        std::vector<PlanCase*> all;
        for (core::PlanRule& rule : plan_.rules) {
            for (PlanCase& each : rule.cases) all.push_back(&each);
        }
        return all;
    }
    std::vector<PlanPattern*> patterns() {
        std::vector<PlanPattern*> all;
        for (PlanCase* each : cases()) {
            for (PlanPattern& pattern : each->patterns) all.push_back(&pattern);
        }
        return all;
    }
    std::vector<PlanNode*> nodes() {
        std::vector<PlanNode*> all;
        for (PlanPattern* pattern : patterns()) add(pattern->condition, all);
        for (core::PlanCondition& condition : plan_.conditions) {
            for (auto& line : condition.lines) {
                for (PlanPattern& pattern : line.when) add(pattern.condition, all);
            }
        }
        return all;
    }
    std::vector<core::PlanTest*> tests() {
        std::vector<core::PlanTest*> all;
        for (core::PlanRole& role : plan_.roles) {
            for (core::PlanTest& test : role.tests) all.push_back(&test);
        }
        return all;
    }
    std::vector<core::PlanJoin*> joins() {
        std::vector<core::PlanJoin*> all;
        for (core::PlanRole& role : plan_.roles) {
            for (core::PlanJoin& join : role.joins) all.push_back(&join);
        }
        return all;
    }
    std::vector<PlanField*> fields() {
        std::vector<PlanField*> all;
        for (core::PlanRole& role : plan_.roles) {
            for (PlanField& field : role.fields) all.push_back(&field);
        }
        return all;
    }
    std::vector<core::PlanRole*> roles() { return pointers(plan_.roles); }
    std::vector<core::PlanRule*> rules() { return pointers(plan_.rules); }
    std::vector<core::PlanCondition*> conditions() { return pointers(plan_.conditions); }

  private:
    static void add(PlanNode& node, std::vector<PlanNode*>& all) {
        all.push_back(&node);
        for (PlanNode& part : node.parts) add(part, all);
    }
    template <typename Part>
    static std::vector<Part*> pointers(std::vector<Part>& of) {
        std::vector<Part*> all;
        for (Part& each : of) all.push_back(&each);
        return all;
    }

    Plan& plan_;
    naive::Dice& dice_;
};

/// False: there is nothing in this plan that it could be planted into.
using Plant = std::function<bool(Site&)>;
struct Error {
    const char* name;
    Plant plant;
    /// It is in what follows from the other parts of a plan, which are worked out again otherwise.
    bool in_tables = false;
};

/// One of `all` that fits is changed.
template <typename Part>
Plant in(std::vector<Part*> (Site::*all)(), std::function<bool(const Part&)> fits,
         std::function<void(Part&)> change) {
    return [=](Site& site) {
        Part* part = site.one<Part>((site.*all)(), fits);
        if (part != nullptr) change(*part);
        return part != nullptr;
    };
}

Plant test_as(Op op, Op taken_for) {
    return in<core::PlanTest>(
        &Site::tests, [=](const core::PlanTest& test) { return test.op == op; },
        [=](core::PlanTest& test) { test.op = taken_for; });
}
Plant pattern_as(Quantifier quantifier, Quantifier taken_for) {
    return in<PlanPattern>(
        &Site::patterns,
        [=](const PlanPattern& pattern) { return pattern.quantifier == quantifier; },
        [=](PlanPattern& pattern) { pattern.quantifier = taken_for; });
}
Plant field_of(From from, From taken_for) {
    return in<PlanField>(
        &Site::fields, [=](const PlanField& field) { return field.from == from; },
        [=](PlanField& field) { field.from = taken_for; });
}
Plant node_as(PlanNode::Kind kind, PlanNode::Kind taken_for) {
    return in<PlanNode>(
        &Site::nodes,
        [=](const PlanNode& node) { return node.kind == kind && node.parts.size() > 1; },
        [=](PlanNode& node) { node.kind = taken_for; });
}
Plant flag_of(bool PlanField::*flag) {
    return in<PlanField>(
        &Site::fields, [=](const PlanField& field) { return field.*flag && field.tests != 0; },
        [=](PlanField& field) { field.*flag = false; });
}
/// The whole list of a case is forgotten.
template <typename Part>
Plant without(std::vector<Part> PlanCase::*list) {
    return in<PlanCase>(
        &Site::cases, [=](const PlanCase& each) { return !(each.*list).empty(); },
        [=](PlanCase& each) { (each.*list).clear(); });
}
/// Another field of the same role.
bool next_field(const Plan& plan, core::FieldAt& field) {
    if (field.role == kNoRole || plan.roles[field.role].fields.size() < 2) return false;
    field.field =
        static_cast<std::uint16_t>((field.field + 1) % plan.roles[field.role].fields.size());
    return true;
}
Plant ledger(const std::function<bool(core::PlanLedger&)>& change) {
    return [=](Site& site) { return site.plan().ledger && change(*site.plan().ledger); };
}
PlanNode always() { return {}; }

bool of_a_listed_word(const core::PlanTest& test) {
    return test.op == Op::kIn && test.values.size() > 1;
}

std::vector<Error> of_conditions() {
    using Kind = PlanNode::Kind;
    const auto leaf = [](const PlanNode& node) {
        return node.kind != Kind::kAll && node.kind != Kind::kAny;
    };
    return {
        {"a_negation_is_lost", in<PlanNode>(
                                   &Site::nodes, [](const PlanNode& node) { return node.negated; },
                                   [](PlanNode& node) { node.negated = false; })},
        {"a_test_is_negated",
         in<PlanNode>(&Site::nodes, leaf, [](PlanNode& node) { node.negated = !node.negated; })},
        {"any_is_taken_for_all", node_as(Kind::kAny, Kind::kAll)},
        {"all_is_taken_for_any", node_as(Kind::kAll, Kind::kAny)},
        {"a_part_is_lost",
         in<PlanNode>(
             &Site::nodes, [](const PlanNode& node) { return node.parts.size() > 1; },
             [](PlanNode& node) { node.parts.pop_back(); })},
        {"a_list_is_one_word_short",
         in<core::PlanTest>(&Site::tests, of_a_listed_word,
                            [](core::PlanTest& test) { test.values.pop_back(); })},
        {"over_is_taken_for_at_least", test_as(Op::kOver, Op::kAtLeast)},
        {"at_most_is_taken_for_under", test_as(Op::kAtMost, Op::kUnder)},
        {"at_least_is_taken_for_at_most", test_as(Op::kAtLeast, Op::kAtMost)},
        {"like_is_taken_for_starts", test_as(Op::kLike, Op::kStarts)},
        {"a_value_is_taken_for_its_being_there", test_as(Op::kIn, Op::kSet)},
        {"a_limit_is_off_by_one", in<core::PlanTest>(
                                      &Site::tests,
                                      [](const core::PlanTest& test) {
                                          return test.op >= Op::kOver && test.op <= Op::kAtMost;
                                      },
                                      [](core::PlanTest& test) { ++test.number; })},
        {"before_is_taken_for_after",
         in<core::PlanJoin>(
             &Site::joins, [](const core::PlanJoin& join) { return join.op == Op::kBefore; },
             [](core::PlanJoin& join) { join.op = Op::kAfter; })},
        {"another_field_is_compared_with",
         [](Site& site) {
             core::PlanJoin* join =
                 site.one<core::PlanJoin>(site.joins(), [](const auto&) { return true; });
             return join != nullptr && next_field(site.plan(), join->other);
         }},
        {"a_conditions_lines_are_reversed",
         in<core::PlanCondition>(
             &Site::conditions, [](const auto& each) { return each.lines.size() > 2; },
             [](auto& each) { std::reverse(each.lines.begin(), each.lines.end() - 1); })},
        {"an_unknown_line_is_taken_for_true",
         in<core::PlanCondition>(
             &Site::conditions, [](const auto& /*each*/) { return true; },
             [](auto& each) {
                 using Then = policy::NamedCondition::Line::Then;
                 for (auto& line : each.lines) {
                     if (line.then == Then::kUnknown) line.then = Then::kTrue;
                 }
             })},
        {"a_lines_other_pattern_is_lost",
         in<core::PlanCondition>(
             &Site::conditions, [](const auto& each) { return each.lines.front().when.size() > 1; },
             [](auto& each) { each.lines.front().when.pop_back(); })},
    };
}

std::vector<Error> of_fields() {
    return {
        {"required_is_lost", flag_of(&PlanField::required)},
        {"null_unequal_is_lost", flag_of(&PlanField::null_unequal)},
        {"blank_is_value_is_lost", flag_of(&PlanField::blank_is_value)},
        {"a_known_word_is_not_listed",
         in<PlanField>(
             &Site::fields, [](const PlanField& field) { return field.words.size() > 1; },
             [](PlanField& field) { field.words.pop_back(); })},
        {"any_word_is_known",
         in<PlanField>(
             &Site::fields,
             [](const PlanField& field) { return !field.words.empty() && field.tests; },
             [](PlanField& field) { field.words.clear(); })},
        {"deleting_is_the_usual", field_of(From::kFalseUnlessSent, From::kTrueUnlessSent)},
        {"in_scope_is_asked_of_the_source", field_of(From::kTrueUnlessSent, From::kSent)},
        {"a_uid_is_asked_of_the_source", field_of(From::kUid, From::kSent)},
        {"a_scope_is_asked_of_the_source", field_of(From::kScope, From::kSent)},
        {"failures_are_taken_for_successes", field_of(From::kFailures, From::kSucceeded)},
        {"a_test_does_not_know_its_field",
         in<PlanField>(
             &Site::fields, [](const PlanField& field) { return field.tests != 0; },
             [](PlanField& field) { field.tests &= field.tests - 1; })},
        {"a_keys_field_tells_which_one_it_is",
         [](Site& site) {
             for (PlanField* field : site.fields()) field->in_key = false;
             return std::any_of(site.plan().rules.begin(), site.plan().rules.end(),
                                [](const core::PlanRule& rule) { return rule.keyless; });
         }},
        {"a_time_is_taken_for_a_text",
         in<PlanField>(
             &Site::fields,
             [](const PlanField& field) { return field.type == policy::Field::Type::kTimestamp; },
             [](PlanField& field) { field.type = policy::Field::Type::kText; })},
    };
}

/// Of what a field's values come to.
Plant told(const std::function<void(PlanField&)>& change) {
    return in<PlanField>(
        &Site::fields, [](const PlanField& field) { return field.tests != 0; }, change);
}

std::vector<Error> of_tables() {
    return {
        {"a_value_comes_to_what_another_text_does",
         in<PlanField>(
             &Site::fields, [](const PlanField& field) { return !field.values.empty(); },
             [](PlanField& field) { field.told[0] = field.told[field.values.size()]; }),
         true},
        {"another_text_comes_to_what_the_last_value_does",
         in<PlanField>(
             &Site::fields, [](const PlanField& field) { return !field.values.empty(); },
             [](PlanField& field) {
                 field.told[field.values.size()] = field.told[field.values.size() - 1];
             }),
         true},
        {"null_is_taken_for_another_text", told([](PlanField& field) {
             field.told[field.values.size() + 1] = field.told[field.values.size()];
         }),
         true},
        {"what_was_not_sent_is_taken_for_null", told([](PlanField& field) {
             field.told[field.values.size() + 3] = field.told[field.values.size() + 1];
         }),
         true},
        {"no_test_is_asked_by_hand", told([](PlanField& field) { field.by_hand = 0; }), true},
        {"what_is_not_said_denies_nothing",
         in<PlanField>(
             &Site::fields, [](const PlanField& field) { return field.unsaid.denied != Bits{}; },
             [](PlanField& field) { field.unsaid.denied = {}; }),
         true},
        {"what_is_not_said_is_sure",
         in<PlanField>(
             &Site::fields,
             [](const PlanField& field) { return field.unsaid.unsure != field.unsaid.denied; },
             [](PlanField& field) { field.unsaid.unsure = {}; }),
         true},
        {"a_listed_value_is_taken_for_another_text",
         in<PlanField>(
             &Site::fields, [](const PlanField& field) { return !field.prefixes.empty(); },
             [](PlanField& field) { ++field.prefixes.front(); }),
         true},
        {"a_condition_of_several_objects_is_not_asked",
         in<core::PlanRole>(
             &Site::roles, [](const auto& role) { return !role.walked.empty(); },
             [](auto& role) { role.walked.pop_back(); }),
         true},
        {"what_left_its_selector_is_asked_all_the_same",
         in<core::PlanRole>(
             &Site::roles, [](const auto& role) { return role.scoped != Bits{}; },
             [](auto& role) { role.scoped = {}; }),
         true},
        {"a_field_is_not_read",
         in<core::PlanRole>(
             &Site::roles,
             [](const auto& role) {
                 return role.read.size() > 1 && role.fields[role.read.front().field].tests != 0;
             },
             [](auto& role) { role.read.erase(role.read.begin()); }),
         true},
    };
}

std::vector<Error> of_patterns() {
    const auto keeps = [](const PlanPattern& pattern) { return pattern.keep.size() > 1; };
    return {
        {"none_is_taken_for_one", pattern_as(Quantifier::kNone, Quantifier::kOne)},
        {"one_is_taken_for_none", pattern_as(Quantifier::kOne, Quantifier::kNone)},
        {"one_is_taken_for_some", pattern_as(Quantifier::kOne, Quantifier::kSome)},
        {"some_is_taken_for_one", pattern_as(Quantifier::kSome, Quantifier::kOne)},
        {"surplus_is_taken_for_some", pattern_as(Quantifier::kSurplus, Quantifier::kSome)},
        {"what_is_kept_is_reversed", in<PlanPattern>(&Site::patterns, keeps,
                                                     [](PlanPattern& pattern) {
                                                         std::reverse(pattern.keep.begin(),
                                                                      pattern.keep.end());
                                                     })},
        {"the_latest_of_another_field_is_kept",
         [](Site& site) {
             for (PlanPattern* pattern : site.patterns()) {
                 for (core::PlanRanking& rank : pattern->keep) {
                     if (!rank.latest) continue;
                     core::FieldAt field{pattern->role, *rank.latest};
                     if (!next_field(site.plan(), field)) continue;
                     rank.latest = field.field;
                     return true;
                 }
             }
             return false;
         }},
        {"a_reference_of_another_name_is_asked",
         in<PlanPattern>(
             &Site::patterns,
             [](const PlanPattern& pattern) { return !pattern.named_literal.empty(); },
             [](PlanPattern& pattern) { pattern.named_literal = "n-1"; })},
        {"a_reference_is_named_by_another_field",
         [](Site& site) {
             PlanPattern* pattern = site.one<PlanPattern>(
                 site.patterns(), [](const auto& each) { return each.named.role != kNoRole; });
             return pattern != nullptr && next_field(site.plan(), pattern->named);
         }},
        {"in_is_lost",
         in<PlanPattern>(
             &Site::patterns, [](const PlanPattern& pattern) { return pattern.in.role != kNoRole; },
             [](PlanPattern& pattern) { pattern.in = {}; })},
    };
}

std::vector<Error> of_roles() {
    return {
        {"a_role_of_several_is_taken_for_a_single_one",
         in<core::PlanRole>(
             &Site::roles, [](const auto& role) { return role.several; },
             [](auto& role) { role.several = false; })},
        {"a_single_role_is_taken_for_one_of_several",
         in<core::PlanRole>(
             &Site::roles, [](const auto& role) { return !role.several; },
             [](auto& role) { role.several = true; })},
        {"whatever_there_is_claims",
         in<core::PlanRole>(
             &Site::roles, [](const auto& role) { return role.live != PlanNode{}; },
             [](auto& role) { role.live = always(); })},
        {"a_source_is_forgotten",
         in<core::PlanRole>(
             &Site::roles, [](const auto& role) { return role.sources.size() > 1; },
             [](auto& role) { role.sources.pop_back(); })},
    };
}

/// Of what a condition's bit says before any pattern is read.
std::vector<Error> of_bits() {
    const auto any = [](const auto& /*each*/) { return true; };
    return {
        {"a_pattern_has_anothers_bit",
         [](Site& site) {
             std::vector<PlanCase*> cases = site.cases();
             PlanCase* found = site.one<PlanCase>(
                 cases, [](const PlanCase& each) { return each.patterns.size() > 1; });
             if (found == nullptr) return false;
             for (const core::PlanRole& role : site.plan().roles) found->mask.may.set(role.claims);
             return true;
         }},
        {"a_none_asks_the_mask_for_another_bit",
         [=](Site& site) {
             PlanCase* found = site.one<PlanCase>(site.cases(), any);
             if (found == nullptr) return false;
             for (const core::PlanRole& role : site.plan().roles) {
                 found->mask.never.set(role.claims);
             }
             return true;
         }},
        {"objects_that_left_are_counted",
         [](Site& site) {
             bool some = false;
             for (core::PlanRole* role : site.roles()) {
                 for (core::PlanAsked& asked : role->asked) {
                     some = some || asked.in_scope;
                     asked.in_scope = false;
                 }
             }
             return some && !site.plan().counts.empty();
         }},
        {"a_bit_asks_for_one_test_less",
         [](Site& site) {
             for (core::PlanRole* role : site.roles()) {
                 for (core::PlanAsked& asked : role->asked) {
                     if (asked.all == 0) continue;
                     asked.none |= asked.all & (asked.all - 1);
                     asked.all &= ~(asked.all - 1);
                     std::swap(asked.all, asked.none);
                     return true;
                 }
             }
             return false;
         }},
    };
}

/// What nothing deletes no compiled plan deletes, however wrong it is.
bool can_delete(const core::PlanRole& role) {
    const policy::Use* use = policy::use_of(policy::Verb::kDelete, role.kind);
    return use != nullptr && use->action != Action::Kind::kUnspecified;
}

std::vector<Error> of_cases() {
    const auto has_past = [](const PlanCase& each) { return each.past.has_value(); };
    const auto steps = [](const PlanCase& each) { return each.steps.size() > 1; };
    return {
        {"a_deadline_is_lost",
         in<PlanCase>(&Site::cases, has_past, [](PlanCase& each) { each.past.reset(); })},
        {"a_deadline_begins_at_another_field",
         [=](Site& site) {
             PlanCase* found = site.one<PlanCase>(site.cases(), has_past);
             return found != nullptr && next_field(site.plan(), found->past->from);
         }},
        {"a_deadline_is_a_second_longer",
         in<PlanCase>(
             &Site::cases,
             [](const PlanCase& each) {
                 return each.past && std::holds_alternative<Millis>(each.past->length);
             },
             [](PlanCase& each) { std::get<Millis>(each.past->length) += Millis{1'000}; })},
        {"it_does_not_ask", without(&PlanCase::asks)},
        {"texts_are_not_known", without(&PlanCase::texts)},
        {"what_it_is_made_from_is_not_known", without(&PlanCase::reads)},
        {"what_conditions_asked_is_not_leaned_on", without(&PlanCase::looked_up)},
        {"a_command_rests_on_a_field_less",
         in<PlanCase>(
             &Site::cases, [](const PlanCase& each) { return !each.mentions.empty(); },
             [](PlanCase& each) {
                 for (auto& fields : each.mentions) {
                     if (!fields.empty()) fields.pop_back();
                 }
             })},
        {"the_ledgers_side_is_not_leaned_on",
         in<PlanCase>(
             &Site::cases, [](const PlanCase& each) { return each.by_ledger; },
             [](PlanCase& each) { each.by_ledger = false; })},
        {"steps_are_reversed",
         in<PlanCase>(&Site::cases, steps,
                      [](PlanCase& each) { std::reverse(each.steps.begin(), each.steps.end()); })},
        {"the_last_step_is_lost",
         in<PlanCase>(&Site::cases, steps, [](PlanCase& each) { each.steps.pop_back(); })},
        {"a_report_deletes",
         [](Site& site) {
             PlanCase* found = site.one<PlanCase>(site.cases(), [&](const PlanCase& each) {
                 return each.steps.front().verb == policy::Verb::kReport && !each.duplicates &&
                        can_delete(site.plan().roles[each.roles.front()]);
             });
             if (found == nullptr) return false;
             found->steps.front().verb = policy::Verb::kDelete;
             found->steps.front().role = found->roles.front();
             return true;
         }},
    };
}

std::vector<Error> of_rules() {
    using Rule = core::PlanRule;
    return {
        {"cases_are_reversed",
         in<Rule>(
             &Site::rules, [](const Rule& rule) { return rule.cases.size() > 1; },
             [](Rule& rule) { std::reverse(rule.cases.begin(), rule.cases.end()); })},
        {"evidence_is_the_first_sight",
         in<Rule>(
             &Site::rules, [](const Rule& rule) { return !rule.since_first_seen; },
             [](Rule& rule) { rule.since_first_seen = true; })},
        {"what_has_no_key_is_judged",
         in<Rule>(
             &Site::rules, [](const Rule& rule) { return !rule.keyless; },
             [](Rule& rule) { rule.keyless = true; })},
        {"the_ladder_has_a_step_less",
         in<Rule>(
             &Site::rules, [](const Rule& rule) { return !rule.backoff.empty(); },
             [](Rule& rule) { rule.backoff.pop_back(); })},
        {"anybody_may_ask", in<Rule>(
                                &Site::rules, [](const Rule& rule) { return rule.on_request(); },
                                [](Rule& rule) { rule.owner = {}; })},
    };
}

std::vector<Error> of_counts_and_ledgers() {
    using Ledger = core::PlanLedger;
    return {
        {"a_count_takes_none_for_some",
         [](Site& site) {
             for (core::PlanCount& count : site.plan().counts) {
                 for (core::Mask& mask : count.any) {
                     if (mask.never == Bits{}) continue;
                     mask.may |= std::exchange(mask.never, {});
                     return true;
                 }
             }
             return false;
         }},
        {"a_count_knows_one_way_only",
         [](Site& site) {
             for (core::PlanCount& count : site.plan().counts) {
                 if (count.any.size() < 2) continue;
                 count.any.pop_back();
                 return true;
             }
             return false;
         }},
        {"a_count_of_objects_is_lost",
         in<core::PlanRole>(
             &Site::roles, [](const auto& role) { return !role.counted.empty(); },
             [](auto& role) { role.counted.pop_back(); })},
        {"a_count_of_subjects_is_lost",
         [](Site& site) {
             if (site.plan().of_subjects.empty()) return false;
             site.plan().of_subjects.pop_back();
             return true;
         }},
        {"a_role_has_no_source_that_may_be_silent",
         [](Site& site) { return std::exchange(site.plan().sourced, 0U) != 0; }},
        {"counts_are_filed_by_the_next_word",
         [](Site& site) {
             bool some = false;
             for (core::PlanCount& count : site.plan().counts) {
                 if (count.words.empty() || count.first + 2U >= Tally{}.size()) continue;
                 ++count.first;
                 some = true;
             }
             return some;
         }},
        {"gone_is_not_failed", ledger([](Ledger& of) {
             of.gone_failed = !of.gone_failed;
             return true;
         })},
        {"failed_is_taken_for_succeeded", ledger([](Ledger& of) {
             std::swap(of.failed, of.succeeded);
             return true;
         })},
        {"whatever_there_is_belongs", ledger([](Ledger& of) {
             return of.belongs != PlanNode{} && (of.belongs = always(), true);
         })},
        {"a_ledger_is_of_an_identity",
         ledger([](Ledger& of) { return !std::exchange(of.by_identity, true); })},
        {"what_a_status_lists_is_lost",
         ledger([](Ledger& of) { return std::exchange(of.known, {}).role != kNoRole; })},
    };
}

std::vector<Error> errors() {
    std::vector<Error> all;
    for (auto* some : {of_conditions, of_fields, of_tables, of_patterns, of_roles, of_bits,
                       of_cases, of_rules, of_counts_and_ledgers}) {
        for (Error& each : some()) all.push_back(std::move(each));
    }
    return all;
}

class PlantedError : public ::testing::TestWithParam<Error> {};

TEST_P(PlantedError, IsNoticed) {
    constexpr std::size_t kMostPlans = 8'000;  ///< that it is planted into
    const std::size_t first = as_told("TRUEUP_RANDOM_SEED", std::random_device{}());
    naive::Dice dice(first);
    Shares shares;
    std::size_t planted = 0;
    std::size_t seed = first;
    for (; planted < kMostPlans && seed < first + 20 * kMostPlans; ++seed) {
        const policy::Policy text = naive::random_policy(seed);
        RandomWorlds worlds(text, seed);
        Result<Plan> plan = core::compile(text, worlds.settings());
        ASSERT_TRUE(plan) << plan.error().what;
        Site site(*plan, dice);
        if (!GetParam().plant(site)) continue;
        if (!GetParam().in_tables) {
            for (core::PlanRole& role : plan->roles) core::tell_apart(role);
        }
        ++planted;
        for (int i = 0; i < 8; ++i) {
            const RandomWorld world = worlds.draw();
            const std::string what = disagreement(text, *plan, worlds.settings(), world, shares);
            if (what.empty()) continue;
            std::cout << "noticed in plan " << planted << ": " << what << std::endl;
            return;
        }
    }
    ADD_FAILURE() << "not noticed in " << planted << " plans from seed " << first;
}

INSTANTIATE_TEST_SUITE_P(Plan, PlantedError, ::testing::ValuesIn(errors()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace trueup::testing
