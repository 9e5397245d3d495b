// The roles of a plan, and which of their fields something asks for.
#include "engine/base/prefix.h"
#include "engine/core/plan_compiler.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace trueup::core {

namespace {

using policy::Condition;
using policy::Op;

/// What an object keeps for all its life, or what its source alone knows.
constexpr std::array<std::string_view, 8> kNotLookedAt{
    "created", "failures", "id", "in_scope", "namespace", "scope", "succeeded", "uid"};

void add_fields(const Condition& condition, std::set<std::string>& names) {
    const bool test = condition.kind == Condition::Kind::kTest;
    if (test && condition.test.op != Op::kIs) names.insert(condition.test.field);
    for (const Condition& part : condition.parts) add_fields(part, names);
}

}  // namespace

void PlanCompiler::want(const policy::FieldRef& field) {
    if (field.field.empty()) return;
    const Role role = number(field.role);
    if (role == kNoRole) return;
    wanted_[role].insert(field.field);
    if (compared_) news_[role].insert(field.field);
}

void PlanCompiler::want(const Condition& condition, const std::string& role) {
    if (condition.kind == Condition::Kind::kTest) {
        if (condition.test.op != Op::kIs) want({role, condition.test.field});
        if (!condition.test.other.role.empty()) want(condition.test.other);
    }
    for (const Condition& part : condition.parts) want(part, role);
}

void PlanCompiler::want(const std::vector<policy::Pattern>& patterns) {
    for (const policy::Pattern& pattern : patterns) {
        want(pattern.condition, pattern.role);
        want(pattern.named);
        want(pattern.in);
        for (const policy::Ranking& ranking : pattern.keep) {
            want(ranking.condition, pattern.role);
            if (!ranking.latest.empty()) want({pattern.role, ranking.latest});
        }
    }
}

void PlanCompiler::want(const policy::Text& text) {
    for (const policy::Piece& piece : text) want(piece.field);
}

void PlanCompiler::want(const policy::Case& found) {
    want(found.when);
    compared_ = false;
    if (found.past) {
        want(found.past->from);
        if (const auto* field = std::get_if<policy::FieldRef>(&found.past->length)) want(*field);
    }
    for (const policy::Step& step : found.steps) {
        policy::each_text(step, [this](const policy::Text& text) { want(text); });
        for (const policy::FieldRef& field : step.reads) want(field);
    }
    compared_ = true;
}

/// What is read of each role, so that one walk over an object meets it all.
void PlanCompiler::name_fields() {
    wanted_.resize(policy_.roles.size());
    news_.resize(policy_.roles.size());
    for (const policy::Role& role : policy_.roles) {
        want(role.live, role.name);
        for (const std::string& field : policy::fields_of(role.key)) want({role.name, field});
    }
    for (const policy::NamedCondition& condition : policy_.conditions) {
        for (const auto& line : condition.lines) want(line.when);
    }
    compared_ = false;
    for (const policy::Role& role : policy_.roles) want(role.as_of);
    for (const policy::Count& count : policy_.counts) {
        for (const auto& subjects : count.subjects) want(subjects);
        want(count.objects, count.role);
        want({count.role, count.by});
    }
    compared_ = true;
    if (policy_.ledger) {
        const policy::Ledger& ledger = *policy_.ledger;
        want(ledger.of);
        for (const Condition* each : {&ledger.belongs, &ledger.failed, &ledger.succeeded}) {
            want(*each, ledger.objects);
        }
        want(ledger.known);
    }
    for (const auto& [name, owner] : policy_.requests) want(owner);
    for (const policy::Rule& rule : policy_.rules) {
        for (const policy::Case& each : rule.cases) want(each);
    }
}

void PlanCompiler::begin_role(Role number) {
    const policy::Role& text = policy_.roles[number];
    PlanRole& role = plan_.roles.emplace_back();
    role.name = text.name;
    role.kind = text.kind;
    role.several = text.several;
    role.reference = text.reference;
    role.optional = text.optional;
    for (std::size_t id = 0; id < settings_.sources.size(); ++id) {
        if (settings_.sources[id].role == number) {
            role.sources.push_back(static_cast<SourceId>(id));
            plan_.sourced |= 1U << number;
        }
    }
    for (const std::string& name : wanted_[number]) {
        role.fields.push_back(field_of(text, role, name));
    }
    const bool name_is_key = text.key.op == policy::Key::Op::kField;
    if (text.kind == policy::Kind::kRow) role.keys.emplace_back("key");
    if (text.kind == policy::Kind::kRow || name_is_key) {
        for (const auto& fields : {policy::alone_in(text.key), text.also}) {
            for (const std::string& field : fields) {
                const auto known = std::find(role.keys.begin(), role.keys.end(), field);
                if (known == role.keys.end()) role.keys.push_back(field);
            }
        }
    }
    if (role.keys.empty()) role.keys.emplace_back("key");
    std::set<std::string> claim;
    add_fields(text.live, claim);
    for (const std::string& field : policy::fields_of(text.key)) claim.insert(field);
    // Executors ask for the selection and the uid by themselves, and the rest never changes.
    if (role.kubernetes()) {
        for (const char* field : {"created", "in_scope", "scope", "uid"}) {
            if (policy::find_field(text, field) == nullptr) claim.erase(field);
        }
    }
    role.claim.assign(claim.begin(), claim.end());
}

PlanField PlanCompiler::field_of(const policy::Role& text, const PlanRole& role,
                                 const std::string& name) {
    PlanField field;
    field.name = name;
    field.prefix = prefix_of(name);
    const bool declared = policy::find_field(text, name) != nullptr;
    const std::vector<std::string> key = policy::fields_of(text.key);
    field.in_key = std::find(key.begin(), key.end(), name) != key.end();
    field.is_news = news_[number(text.name)].count(name) > 0;
    // Any column may be called so.
    field.looked_at =
        declared || role.kind == policy::Kind::kRow ||
        std::find(kNotLookedAt.begin(), kNotLookedAt.end(), name) == kNotLookedAt.end();
    // A pod's or an object's name is its identity beside the uid.
    if (role.kubernetes() && name == "name") field.looked_at = false;
    if (const policy::Field* known = policy::find_field(text, name)) {
        declare(text, *known, field);
        return field;
    }
    const bool ledger = policy_.ledger && policy_.ledger->of.role == text.name;
    if (ledger && name == "failures") field.from = PlanField::From::kFailures;
    if (ledger && name == "succeeded") field.from = PlanField::From::kSucceeded;
    if (field.from != PlanField::From::kSent) field.looked_at = false;
    if (name == "scope" && !text.scope.empty()) field.from = PlanField::From::kScope;
    if (name == "created" && role.kind != policy::Kind::kRow) {
        field.type = policy::Field::Type::kTimestamp;
    }
    if (!role.kubernetes()) return field;
    if (name == "deleting") field.from = PlanField::From::kFalseUnlessSent;
    if (name == "in_scope") field.from = PlanField::From::kTrueUnlessSent;
    if (name == "uid") field.from = PlanField::From::kUid;
    return field;
}

void PlanCompiler::declare(const policy::Role& text, const policy::Field& known, PlanField& field) {
    field.type = known.type;
    field.words = known.words;
    field.required = known.required;
    field.null_unequal = known.null_unequal;
    field.blank_is_value = known.blank_is_value;
    field.zone = policy::parse_zone(known.zone);
    const bool needed = field.type == policy::Field::Type::kDate;
    if (!field.zone && (needed || !known.zone.empty())) {
        flaw("the zone of " + text.name + "." + known.name + " is '" + known.zone +
             "', which is neither UTC nor an offset as +01:00");
    }
}

std::uint16_t PlanCompiler::field_number(Role role, const std::string& name) const {
    const std::set<std::string>& names = wanted_[role];
    return static_cast<std::uint16_t>(std::distance(names.begin(), names.find(name)));
}

/// Of a mirror of a mirror nobody could tell as of when it is.
void PlanCompiler::date(Role number) {
    const policy::Role& text = policy_.roles[number];
    if (text.as_of_field.empty()) return;
    const PlanAsOf as_of{at(text.as_of), text.as_of_at};
    const policy::Role* by = policy::find_role(policy_, text.as_of.role);
    if (by == nullptr || !by->reference || !by->as_of_field.empty()) {
        return flaw("as of when " + text.name + " is, is said by no reference");
    }
    if (!plan_.roles[number].sources.empty() && plan_.roles[as_of.field.role].sources.empty()) {
        return flaw("as of when " + text.name + " is, is said by " + by->name +
                    ", and no source has any");
    }
    plan_.roles[number].as_of = as_of;
}

/// kNoRole where nothing is meant.
FieldAt PlanCompiler::at(const policy::FieldRef& field) {
    if (field.role.empty() && field.field.empty()) return {};
    const Role role = named(field.role);
    if (wanted_[role].count(field.field) == 0) {
        flaw("the policy has no field '" + field.role + "." + field.field + "'");
        return {role, 0};
    }
    return {role, field_number(role, field.field)};
}

}  // namespace trueup::core
