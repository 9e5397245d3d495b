#include "tests/naive/naive_policy.h"

namespace trueup::testing::naive {

namespace {

using policy::Condition;
using policy::Op;

class Mentions {
  public:
    explicit Mentions(const policy::Policy& policy) : policy_(policy) {}

    Mentioned of(const policy::Case& found) {
        ask(found);
        for (const policy::Step& step : found.steps) {
            for (const policy::FieldRef& field : step.reads) add(field);
            policy::each_text(step, [this](const policy::Text& text) { add(text); });
        }
        return std::move(all_);
    }

    /// What decides whether it finds something.
    void ask(const policy::Case& found) {
        for (const policy::Pattern& pattern : found.when) {
            const policy::Role& role = *policy::find_role(policy_, pattern.role);
            add(pattern);
            add(role.live, role.name);
            for (const std::string& field : policy::fields_of(role.key)) add({role.name, field});
        }
        if (found.past) {
            add(found.past->from);
            const auto* length = std::get_if<policy::FieldRef>(&found.past->length);
            if (length != nullptr) add(*length);
        }
    }

  private:
    void add(const policy::FieldRef& field) {
        if (!field.role.empty()) all_[field.role].insert(field.field);
    }
    void add(const policy::Text& text) {
        for (const policy::Piece& piece : text) add(piece.field);
    }
    void add(const policy::Pattern& pattern) {
        add(pattern.condition, pattern.role);
        add(pattern.named);
        add(pattern.in);
        for (const policy::Ranking& ranking : pattern.keep) {
            add(ranking.condition, pattern.role);
            if (!ranking.latest.empty()) add({pattern.role, ranking.latest});
        }
    }
    void add(const Condition& condition, const std::string& role) {
        for (const Condition& part : condition.parts) add(part, role);
        if (condition.kind != Condition::Kind::kTest) return;
        if (condition.test.op != Op::kIs) {
            add({role, condition.test.field});
            add(condition.test.other);
            return;
        }
        for (const policy::NamedCondition& named : policy_.conditions) {
            if (named.name != condition.test.values.front()) continue;
            for (const auto& line : named.lines) {
                for (const policy::Pattern& pattern : line.when) add(pattern);
            }
        }
    }

    const policy::Policy& policy_;
    Mentioned all_;
};

}  // namespace

Mentioned mentioned(const policy::Policy& policy, const policy::Rule& rule, std::size_t which) {
    Mentions all(policy);
    for (std::size_t i = 0; i < which; ++i) all.ask(rule.cases[i]);
    return all.of(rule.cases[which]);
}

}  // namespace trueup::testing::naive
