#include "engine/core/words.h"

#include <chrono>
#include <string_view>
#include <vector>

namespace trueup::core {

namespace {

using policy::Op;
using policy::Quantifier;

std::string listed(const std::vector<std::string>& values) {
    std::string text = "[";
    for (const std::string& value : values) {
        if (text.size() > 1) text += ", ";
        text += value;
    }
    return text + "]";
}

std::string name_of(const Plan& plan, const FieldAt& field) {
    const PlanRole& role = plan.roles[field.role];
    return role.name + "." + role.fields[field.field].name;
}

/// Of a condition only the policy's text knows the name; it has as many as the plan.
std::string name_of_condition(const Judgement& on, std::size_t index) {
    const Shared<policy::Policy>& text = on.settings.text;
    if (text && index < text->conditions.size()) return text->conditions[index].name;
    return "condition " + std::to_string(index + 1);
}

std::string words_of(const Judgement& on, const PlanRole& role, const PlanNode& node) {
    const Plan& plan = on.plan;
    switch (node.kind) {
        case PlanNode::Kind::kTest: {
            const PlanTest& test = role.tests[node.index];
            return role.fields[test.field].name + ": " + core::words_of(test, node.negated);
        }
        case PlanNode::Kind::kJoin: {
            const PlanJoin& join = role.joins[node.index];
            return role.fields[join.field].name + ": " + words_of_join(plan, join, node.negated);
        }
        case PlanNode::Kind::kNamed:
            return (node.negated ? "is_not: " : "is: ") + name_of_condition(on, node.index);
        case PlanNode::Kind::kAll:
        case PlanNode::Kind::kAny:
            break;
    }
    std::string text;
    for (const PlanNode& part : node.parts) {
        if (!text.empty()) text += node.kind == PlanNode::Kind::kAll ? ", " : " or ";
        text += words_of(on, role, part);
    }
    return text;
}

}  // namespace

std::string words_of(Millis lasts) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(lasts).count()) + "s";
}

std::string words_of_join(const Plan& plan, const PlanJoin& join, bool negated) {
    const std::string_view how = join.op == Op::kSame     ? "same as "
                                 : join.op == Op::kBefore ? "before "
                                                          : "after ";
    return (negated ? "not " : "") + std::string(how) + name_of(plan, join.other);
}

std::string words_of(const PlanTest& test, bool negated) {
    const std::string no = negated ? "not " : "";
    switch (test.op) {
        case Op::kIn:
            return no + (test.values.size() == 1 ? test.values.front() : listed(test.values));
        case Op::kSet:
            return negated ? "null" : "set";
        case Op::kStarts:
            return no + "starts with " + test.values.front();
        case Op::kLike:
            return no + "like " + test.values.front();
        case Op::kOver:
            return no + "over " + std::to_string(test.number);
        case Op::kUnder:
            return no + "under " + std::to_string(test.number);
        case Op::kAtLeast:
            return no + "at least " + std::to_string(test.number);
        default:
            return no + "at most " + std::to_string(test.number);
    }
}

std::string words_of(const Judgement& on, const PlanPattern& pattern) {
    const Plan& plan = on.plan;
    const PlanRole& role = plan.roles[pattern.role];
    const std::string_view many = pattern.quantifier == Quantifier::kOne    ? "one"
                                  : pattern.quantifier == Quantifier::kNone ? "none"
                                  : pattern.quantifier == Quantifier::kSome ? "some"
                                                                            : "surplus";
    std::string text = role.name + ": " + std::string(many);
    const std::string asked = words_of(on, role, pattern.condition);
    if (!asked.empty()) text += " {" + asked + "}";
    if (!pattern.named_literal.empty()) text += ", named " + pattern.named_literal;
    if (pattern.named.role != kNoRole && pattern.named_literal.empty()) {
        text += ", named by " + name_of(plan, pattern.named);
    }
    if (pattern.in.role != kNoRole) text += ", in " + name_of(plan, pattern.in);
    return text;
}

}  // namespace trueup::core
