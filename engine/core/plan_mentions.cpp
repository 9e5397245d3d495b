// Which fields a case mentions: what its command rests on.
#include "engine/core/plan_compiler.h"

#include <algorithm>

namespace trueup::core {

namespace {

/// Once, whatever else is asked of it.
void look_up(const PlanPattern& pattern, std::vector<PlanPattern>& all) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const PlanPattern& each) {
        return each.role == pattern.role && each.named == pattern.named &&
               each.named_literal == pattern.named_literal && each.in == pattern.in;
    });
    if (!known) all.push_back(pattern);
}

}  // namespace

/// A case finds something only where none before it does.
void PlanCompiler::mention(PlanCase& found, const std::vector<PlanCase>& before) {
    Mentions all(plan_.roles.size());
    for (const PlanCase& earlier : before) {
        PlanCase asked;
        mention_asked(earlier, all, asked);
        for (const PlanPattern& pattern : earlier.patterns) look_up(pattern, found.before);
        for (const PlanPattern& pattern : asked.looked_up) look_up(pattern, found.before);
    }
    mention_asked(found, all, found);
    for (const FieldAt& field : found.reads) mention(field, all);
    for (const PlanStep& step : found.steps) {
        mention(step.name, all, found);
        for (const PlanAssigned& set : step.sets) {
            if (set.value) mention(*set.value, all, found);
        }
    }
    for (const std::set<std::uint16_t>& fields : all) {
        found.mentions.emplace_back(fields.begin(), fields.end());
    }
}

/// What decides whether that case finds something; `into` gets what it looks up.
void PlanCompiler::mention_asked(const PlanCase& asked, Mentions& all, PlanCase& into) const {
    for (const PlanPattern& pattern : asked.patterns) {
        mention(pattern, all, into);
        mention(plan_.roles[pattern.role].live, pattern.role, all, into);
        for (const std::string& field : policy::fields_of(policy_.roles[pattern.role].key)) {
            all[pattern.role].insert(field_number(pattern.role, field));
        }
    }
    if (!asked.past) return;
    mention(asked.past->from, all);
    if (const auto* field = std::get_if<FieldAt>(&asked.past->length)) mention(*field, all);
}

void PlanCompiler::mention(const FieldAt& field, Mentions& all) {
    if (field.role != kNoRole) all[field.role].insert(field.field);
}

void PlanCompiler::mention(const PlanText& text, Mentions& all, PlanCase& found) {
    for (const PlanPiece& piece : text) {
        if (piece.field.role == kNoRole) continue;
        mention(piece.field, all);
        found.texts.push_back(piece.field);
    }
}

void PlanCompiler::mention(const PlanPattern& pattern, Mentions& all, PlanCase& found) const {
    mention(pattern.condition, pattern.role, all, found);
    for (const PlanRanking& ranking : pattern.keep) {
        mention(ranking.condition, pattern.role, all, found);
        if (ranking.latest) mention(FieldAt{pattern.role, *ranking.latest}, all);
    }
    mention(pattern.named, all);
    mention(pattern.in, all);
}

void PlanCompiler::mention(const PlanNode& node, Role role, Mentions& all, PlanCase& found) const {
    const PlanRole& of = plan_.roles[role];
    if (node.kind == PlanNode::Kind::kTest && node.index < of.tests.size()) {
        mention(FieldAt{role, of.tests[node.index].field}, all);
    } else if (node.kind == PlanNode::Kind::kJoin) {
        mention(FieldAt{role, of.joins[node.index].field}, all);
        mention(of.joins[node.index].other, all);
    } else if (node.kind == PlanNode::Kind::kNamed) {
        if (node.index >= plan_.conditions.size()) return;  // the plan is refused
        for (const PlanCondition::Line& line : plan_.conditions[node.index].lines) {
            for (const PlanPattern& pattern : line.when) {
                mention(pattern, all, found);
                const bool own = pattern.role == plan_.conditions[node.index].about;
                if (!own) look_up(pattern, found.looked_up);
            }
        }
    }
    for (const PlanNode& part : node.parts) mention(part, role, all, found);
}

}  // namespace trueup::core
