#include "apps/config/policy_states.h"

#include <algorithm>
#include <set>
#include <utility>

namespace trueup::config {

namespace {

using policy::Condition;
using policy::Op;
using policy::Quantifier;
using policy::Verb;

constexpr std::size_t kMost = 50'000;

Certainty opposite(Certainty certainty) {
    if (certainty == Certainty::kFree) return certainty;
    return certainty == Certainty::kYes ? Certainty::kNo : Certainty::kYes;
}
Certainty yes_if(bool yes) { return yes ? Certainty::kYes : Certainty::kNo; }

/// Is nothing true of a value that is not there, neither a test nor its negation? So it is with
/// SQL's NULL, and with a field that an object must have.
bool nothing_is_true(const policy::Role& role, std::string_view field, Op op) {
    if (op == Op::kSet) return false;
    const policy::Field* declared = policy::find_field(role, field);
    if (role.kind == policy::Kind::kRow) return declared == nullptr || !declared->null_unequal;
    return declared != nullptr && declared->required;
}

Certainty of_text(const policy::Test& test, const policy::Text& text) {
    if (test.op == Op::kSet) return Certainty::kYes;
    const bool one = text.size() == 1 && text.front().kind == policy::Piece::Kind::kField;
    if (test.op == Op::kSame && one && text.front().field == test.other) return Certainty::kYes;
    return Certainty::kFree;
}

Certainty of_leaf(const policy::Test& test, const policy::Role& role, const Values& values) {
    const auto found = values.find(test.field);
    if (test.op == Op::kIs || found == values.end()) return Certainty::kFree;
    const ValueClass& value = found->second;
    Certainty plain = Certainty::kFree;
    if (value.kind == ValueClass::Kind::kNull) {
        if (nothing_is_true(role, test.field, test.op)) return Certainty::kNo;
        plain = Certainty::kNo;
    } else if (value.kind == ValueClass::Kind::kText) {
        plain = of_text(test, value.text);
    } else if (test.op == Op::kSet) {
        plain = Certainty::kYes;
    } else if (test.op == Op::kIn) {
        plain = yes_if(value.kind == ValueClass::Kind::kConstant &&
                       std::binary_search(test.values.begin(), test.values.end(), value.constant));
    }
    return test.negated ? opposite(plain) : plain;
}

void collect(const Condition& condition, std::map<std::string, std::set<std::string>>& constants) {
    if (condition.kind == Condition::Kind::kTest) {
        const policy::Test& test = condition.test;
        if (test.op == Op::kIs) return;
        auto& of_field = constants[test.field];
        if (test.op == Op::kIn) of_field.insert(test.values.begin(), test.values.end());
    }
    for (const Condition& part : condition.parts) collect(part, constants);
}

/// What a field with these constants may be.
std::vector<ValueClass> classes_of(const policy::Role& role, const std::string& name,
                                   std::set<std::string> constants) {
    const policy::Field* field = policy::find_field(role, name);
    const bool closed = field != nullptr && !field->words.empty();
    const bool boolean = (field != nullptr && field->type == policy::Field::Type::kBoolean) ||
                         (field == nullptr && (name == "deleting" || name == "in_scope"));
    if (closed) constants.insert(field->words.begin(), field->words.end());
    if (boolean) constants.insert({"true", "false"});
    std::vector<ValueClass> classes;
    classes.reserve(constants.size() + 2);
    for (const std::string& constant : constants) {
        classes.push_back({ValueClass::Kind::kConstant, constant, {}});
    }
    if (!closed && !boolean) classes.push_back({ValueClass::Kind::kOther, {}, {}});
    const bool mapped = field == nullptr && name.find('.') != std::string::npos;  // a label, a tag
    if (mapped || field != nullptr) {
        classes.push_back({ValueClass::Kind::kNull, {}, {}});
    }
    return classes;
}

/// Every choice of one value for each, by counting.
template <typename Item>
bool each_choice(const std::vector<std::vector<Item>>& of,
                 const std::function<void(const std::vector<const Item*>&)>& visit) {
    std::size_t all = 1;
    for (const auto& choices : of) {
        if (choices.empty()) return true;
        all *= choices.size();
        if (all > kMost) return false;
    }
    std::vector<const Item*> chosen(of.size());
    for (std::size_t number = 0; number < all; ++number) {
        std::size_t rest = number;
        for (std::size_t i = 0; i < of.size(); ++i) {
            chosen[i] = &of[i][rest % of[i].size()];
            rest /= of[i].size();
        }
        visit(chosen);
    }
    return true;
}

const policy::Pattern* binding(const policy::Case& found, std::string_view role) {
    for (const policy::Pattern& pattern : found.when) {
        if (pattern.role == role && pattern.quantifier != Quantifier::kNone) return &pattern;
    }
    return nullptr;
}

}  // namespace

Certainty certainty(const Condition& condition, const policy::Role& role, const Values& values) {
    if (condition.kind == Condition::Kind::kTest) return of_leaf(condition.test, role, values);
    const bool all = condition.kind == Condition::Kind::kAll;
    Certainty sum = all ? Certainty::kYes : Certainty::kNo;
    for (const Condition& part : condition.parts) {
        const Certainty one = certainty(part, role, values);
        sum = all ? std::min(sum, one) : std::max(sum, one);
    }
    return sum;
}

bool each_values(const policy::Role& role, const std::vector<const Condition*>& conditions,
                 const std::function<void(const Values&)>& visit) {
    std::map<std::string, std::set<std::string>> constants;
    for (const Condition* condition : conditions) collect(*condition, constants);
    std::vector<std::string> names;
    std::vector<std::vector<ValueClass>> classes;
    for (const auto& [name, of_field] : constants) {
        names.push_back(name);
        classes.push_back(classes_of(role, name, of_field));
    }
    return each_choice<ValueClass>(classes, [&](const std::vector<const ValueClass*>& chosen) {
        Values values;
        for (std::size_t i = 0; i < names.size(); ++i) values[names[i]] = *chosen[i];
        visit(values);
    });
}

Certainty certainty(const policy::Policy& policy, const policy::Case& found, const World& world) {
    Certainty sum = found.duplicates ? Certainty::kFree : Certainty::kYes;
    for (const policy::Pattern& pattern : found.when) {
        const policy::Role* role = policy::find_role(policy, pattern.role);
        const auto object = world.find(pattern.role);
        Certainty one = Certainty::kNo;
        if (role->reference || pattern.quantifier == Quantifier::kSurplus) {
            one = Certainty::kFree;
        } else if (object != world.end()) {
            one = certainty(pattern.condition, *role, object->second);
        }
        if (pattern.quantifier == Quantifier::kNone && !role->reference) one = opposite(one);
        sum = std::min(sum, one);
    }
    return sum;
}

bool each_world(const policy::Policy& policy, const std::vector<const policy::Case*>& cases,
                const std::function<void(const World&)>& visit) {
    std::map<std::string, std::vector<const Condition*>> asked;
    for (const policy::Case* each : cases) {
        for (const policy::Pattern& pattern : each->when) {
            asked[pattern.role].push_back(&pattern.condition);
        }
    }
    using Choice = std::pair<bool, Values>;  // is there one, and which
    std::vector<std::string> names;
    std::vector<std::vector<Choice>> choices;
    for (const auto& [name, conditions] : asked) {
        const policy::Role* role = policy::find_role(policy, name);
        if (role->reference) continue;
        names.push_back(name);
        auto& of_role = choices.emplace_back();
        of_role.push_back({false, {}});
        const bool small = each_values(*role, conditions, [&](const Values& values) {
            of_role.push_back({true, values});
        });
        if (!small) return false;
    }
    return each_choice<Choice>(choices, [&](const std::vector<const Choice*>& chosen) {
        World world;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (chosen[i]->first) world[names[i]] = chosen[i]->second;
        }
        visit(world);
    });
}

World after(const policy::Case& done, World world) {
    for (const policy::Step& step : done.steps) {
        const bool made = step.verb == Verb::kCreate || step.verb == Verb::kInsert;
        if (step.verb == Verb::kDelete || step.verb == Verb::kRetract) world.erase(step.role);
        // What a stop makes of an object is the world's to say.
        if (made || step.verb == Verb::kStop) world[step.role] = {};
        if (!made && step.verb != Verb::kUpdate) continue;
        if (step.verb == Verb::kUpdate && binding(done, step.role) == nullptr) continue;
        for (const policy::Assigned& set : step.sets) {
            ValueClass value;
            const bool literal = set.value && set.value->size() == 1 &&
                                 set.value->front().kind == policy::Piece::Kind::kLiteral;
            if (!set.value) {
                value.kind = ValueClass::Kind::kNull;
            } else if (literal) {
                value = {ValueClass::Kind::kConstant, set.value->front().literal, {}};
            } else {
                value = {ValueClass::Kind::kText, {}, *set.value};
            }
            world[step.role][set.field] = std::move(value);
        }
    }
    return world;
}

}  // namespace trueup::config
