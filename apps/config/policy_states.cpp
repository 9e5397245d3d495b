#include "apps/config/policy_states.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace trueup::config {

namespace {

using policy::Condition;
using policy::Op;

constexpr std::size_t kMost = 50'000;

Certainty yes_if(bool yes) { return yes ? Certainty::kYes : Certainty::kNo; }

/// Is nothing true of a value that is not there, neither a test nor its negation? So it is with
/// SQL's NULL, and with a field that an object must have.
bool nothing_is_true(const policy::Role& role, std::string_view field, Op op) {
    if (op == Op::kSet) return false;
    const policy::Field* declared = policy::find_field(role, field);
    if (role.kind == policy::Kind::kRow) return declared == nullptr || !declared->null_unequal;
    return declared != nullptr && declared->required;
}

/// The parts between the stars, each where it first is behind the one before; the last at the end.
bool matches(std::string_view text, std::string_view pattern) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return text == pattern;
    if (!text.starts_with(pattern.substr(0, star))) return false;
    text.remove_prefix(star);
    pattern.remove_prefix(star + 1);
    for (std::size_t next = 0; (next = pattern.find('*')) != std::string_view::npos;) {
        const std::string_view part = pattern.substr(0, next);
        const std::size_t at = text.find(part);
        if (at == std::string_view::npos) return false;
        text.remove_prefix(at + part.size());
        pattern.remove_prefix(next + 1);
    }
    return text.ends_with(pattern);
}

/// What every text of that kind begins with.
std::string beginning(const policy::Text& text) {
    const bool literal = text.front().kind == policy::Piece::Kind::kLiteral;
    return literal ? text.front().literal : std::string();
}

/// Could the text be just that?
bool may_be(const policy::Text& text, std::string_view constant) {
    if (!constant.starts_with(beginning(text))) return false;
    std::string pattern;
    for (const policy::Piece& piece : text) {
        // A star in a literal would match too much: then it may be.
        pattern += piece.kind == policy::Piece::Kind::kLiteral ? piece.literal : "*";
    }
    return matches(constant, pattern);
}

/// May the field hold few words only?
bool is_closed(const policy::Role& role, std::string_view name) {
    const policy::Field* field = policy::find_field(role, name);
    return field != nullptr &&
           (!field->words.empty() || field->type == policy::Field::Type::kBoolean);
}

Certainty of_text(const policy::Test& test, const policy::Role& role, const ValueClass& value) {
    const policy::Text& text = value.text;
    if (test.op == Op::kSet) return Certainty::kYes;
    if (test.op == Op::kIn) {
        const bool any = std::any_of(test.values.begin(), test.values.end(),
                                     [&](const std::string& each) { return may_be(text, each); });
        if (!any) return Certainty::kNo;
        // Of some subject it is none of them, and there the rule goes on for ever.
        return value.open && !is_closed(role, test.field) ? Certainty::kNo : Certainty::kFree;
    }
    if (test.op != Op::kStarts && test.op != Op::kLike) return Certainty::kFree;
    const std::string& asked = test.values.front();
    const std::string prefix = asked.substr(0, asked.find('*'));
    const std::string begins = beginning(text);
    if (begins.starts_with(prefix)) {
        return test.op == Op::kStarts ? Certainty::kYes : Certainty::kFree;
    }
    return prefix.starts_with(begins) ? Certainty::kFree : Certainty::kNo;
}

/// Was it made of the very field that it is compared with?
bool is_copy(const ValueClass& value, const policy::Test& test) {
    return test.op == Op::kSame && value.text.size() == 1 &&
           value.text.front().kind == policy::Piece::Kind::kField &&
           value.text.front().field == test.other;
}

bool compares(const policy::Test& test) {
    return test.op == Op::kSame || test.op == Op::kBefore || test.op == Op::kAfter;
}
bool counts(Op op) {
    return op == Op::kOver || op == Op::kUnder || op == Op::kAtLeast || op == Op::kAtMost;
}

/// Under which what a comparison of two fields, or a condition that looks at others, comes to is
/// kept beside an object's values: it is one more of them.
std::string name_of(const policy::Test& test) {
    if (test.op == Op::kIs) return "is " + test.values.front();
    return "compare " + test.field + ' ' + std::to_string(static_cast<int>(test.op)) + ' ' +
           test.other.role + '.' + test.other.field;
}
Certainty told(const Values& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? Certainty::kFree : yes_if(found->second.constant == "true");
}

std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Of a value that is there, by constants.
Certainty of_constant(const policy::Test& test, const ValueClass& value) {
    const bool known = value.kind == ValueClass::Kind::kConstant;
    const std::string& first = test.values.empty() ? value.constant : test.values.front();
    if (test.op == Op::kSet) return Certainty::kYes;
    if (test.op == Op::kIn) {
        return yes_if(known &&
                      std::binary_search(test.values.begin(), test.values.end(), value.constant));
    }
    if (!known) return Certainty::kFree;  // it may match one prefix, or two
    if (test.op == Op::kStarts) return yes_if(value.constant.starts_with(first));
    if (test.op == Op::kLike) return yes_if(matches(value.constant, first));
    if (!counts(test.op)) return Certainty::kFree;
    const auto is = number(value.constant);
    const auto limit = number(first);
    if (!is || !limit) return Certainty::kFree;
    if (test.op == Op::kOver) return yes_if(*is > *limit);
    if (test.op == Op::kUnder) return yes_if(*is < *limit);
    return yes_if(test.op == Op::kAtLeast ? *is >= *limit : *is <= *limit);
}

const policy::NamedCondition* find_condition(const policy::Policy& policy,
                                             const std::string& name) {
    for (const policy::NamedCondition& condition : policy.conditions) {
        if (condition.name == name) return &condition;
    }
    return nullptr;
}

bool names_another(const Condition& condition) {
    if (condition.kind == Condition::Kind::kTest) return condition.test.op == Op::kIs;
    return std::any_of(condition.parts.begin(), condition.parts.end(), names_another);
}

/// Does it look at its own object only, and at no other condition?
bool by_itself(const policy::NamedCondition& condition) {
    return std::all_of(condition.lines.begin(), condition.lines.end(), [&](const auto& line) {
        return std::all_of(line.when.begin(), line.when.end(), [&](const policy::Pattern& each) {
            return each.role == condition.about && !names_another(each.condition);
        });
    });
}

/// The first line that fits decides.
Certainty of_named(const policy::Policy& policy, const policy::NamedCondition& condition,
                   const Values& values) {
    using Then = policy::NamedCondition::Line::Then;
    const policy::Role& role = *policy::find_role(policy, condition.about);
    for (const auto& line : condition.lines) {
        Certainty fits = Certainty::kYes;
        for (const policy::Pattern& pattern : line.when) {
            fits = std::min(fits, certainty(policy, pattern.condition, role, values));
        }
        if (fits == Certainty::kNo) continue;
        if (fits == Certainty::kFree || line.then == Then::kUnknown) return Certainty::kFree;
        return yes_if(line.then == Then::kTrue);
    }
    return Certainty::kNo;
}

Certainty of_leaf(const policy::Policy& policy, const policy::Test& test, const policy::Role& role,
                  const Values& values) {
    Certainty plain = Certainty::kFree;
    const auto found = values.find(test.field);
    if (test.op == Op::kIs) {
        const policy::NamedCondition* named = find_condition(policy, test.values.front());
        if (named == nullptr) return Certainty::kFree;
        plain = by_itself(*named) ? of_named(policy, *named, values) : told(values, name_of(test));
    } else if (found != values.end() && is_copy(found->second, test)) {
        plain = Certainty::kYes;
    } else if (found != values.end() && found->second.kind == ValueClass::Kind::kText) {
        plain = of_text(test, role, found->second);
    } else if (found != values.end() && found->second.kind == ValueClass::Kind::kNull) {
        if (nothing_is_true(role, test.field, test.op)) return Certainty::kNo;
        plain = Certainty::kNo;
    } else if (compares(test)) {
        plain = told(values, name_of(test));
    } else if (found != values.end()) {
        plain = of_constant(test, found->second);
    }
    return test.negated ? opposite(plain) : plain;
}

/// By field: what it is compared with; by name: what is one value more.
struct Asked {
    std::map<std::string, std::set<std::string>> constants;
    std::map<std::string, std::set<std::string>> samples;  ///< of prefixes and patterns
    std::set<std::string> more;
};

/// A text that fits none of them, unless one fits all.
constexpr const char* kFitsNone = "\x02";

/// A text of that kind, which no other kind is meant to have.
std::string sample(const std::string& pattern) {
    std::string text;
    for (const char each : pattern)
        text += each == '*' ? std::string("\x01") : std::string(1, each);
    return text;
}

void collect(const policy::Policy& policy, const Condition& condition, Asked& asked) {
    for (const Condition& part : condition.parts) collect(policy, part, asked);
    if (condition.kind != Condition::Kind::kTest) return;
    const policy::Test& test = condition.test;
    if (test.op == Op::kIs) {
        const policy::NamedCondition* named = find_condition(policy, test.values.front());
        if (named == nullptr) return;
        if (!by_itself(*named)) {
            asked.more.insert(name_of(test));
            return;
        }
        for (const auto& line : named->lines) {
            for (const policy::Pattern& pattern : line.when) {
                if (pattern.role == named->about) collect(policy, pattern.condition, asked);
            }
        }
        return;
    }
    auto& constants = asked.constants[test.field];
    if (compares(test)) asked.more.insert(name_of(test));
    if (test.op == Op::kIn || counts(test.op)) {
        constants.insert(test.values.begin(), test.values.end());
    }
    if (test.op == Op::kStarts) asked.samples[test.field].insert(test.values.front() + '\x01');
    if (test.op == Op::kLike) asked.samples[test.field].insert(sample(test.values.front()));
}

/// What a field with these constants may be.
std::vector<ValueClass> classes_of(const policy::Role& role, const std::string& name,
                                   std::set<std::string> constants,
                                   const std::set<std::string>& samples) {
    const policy::Field* field = policy::find_field(role, name);
    const bool closed = field != nullptr && !field->words.empty();
    const bool boolean = (field != nullptr && field->type == policy::Field::Type::kBoolean) ||
                         (field == nullptr && (name == "deleting" || name == "in_scope"));
    if (closed) constants.insert(field->words.begin(), field->words.end());
    if (boolean) constants.insert({"true", "false"});
    const bool numbers = field != nullptr && field->type == policy::Field::Type::kNumber;
    if (numbers) {  // and what lies between them
        for (const std::string& constant : std::set(constants)) {
            const auto is = number(constant);
            using Limits = std::numeric_limits<std::int64_t>;
            if (is && *is != Limits::min()) constants.insert(std::to_string(*is - 1));
            if (is && *is != Limits::max()) constants.insert(std::to_string(*is + 1));
        }
    } else if (!closed && !boolean) {
        constants.insert(samples.begin(), samples.end());
        if (!samples.empty()) constants.insert(kFitsNone);
    }
    std::vector<ValueClass> classes;
    classes.reserve(constants.size() + 2);
    for (const std::string& constant : constants) {
        classes.push_back({ValueClass::Kind::kConstant, constant, {}});
    }
    const bool all_named = closed || boolean || (numbers && !constants.empty());
    if (!all_named) classes.push_back({ValueClass::Kind::kOther, {}, {}});
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

}  // namespace

Certainty certainty(const policy::Policy& policy, const Condition& condition,
                    const policy::Role& role, const Values& values) {
    if (condition.kind == Condition::Kind::kTest) {
        return of_leaf(policy, condition.test, role, values);
    }
    const bool all = condition.kind == Condition::Kind::kAll;
    Certainty sum = all ? Certainty::kYes : Certainty::kNo;
    for (const Condition& part : condition.parts) {
        const Certainty one = certainty(policy, part, role, values);
        sum = all ? std::min(sum, one) : std::max(sum, one);
    }
    return sum;
}

namespace {

/// `fields`: what is asked for beside the conditions.
bool each_values(const policy::Policy& policy, const policy::Role& role,
                 const std::vector<const Condition*>& conditions,
                 const std::set<std::string>& fields,
                 const std::function<void(const Values&)>& visit) {
    Asked asked;
    for (const Condition* condition : conditions) collect(policy, *condition, asked);
    for (const std::string& field : fields) asked.constants[field];
    std::vector<std::string> names;
    std::vector<std::vector<ValueClass>> classes;
    for (const auto& [name, of_field] : asked.constants) {
        names.push_back(name);
        classes.push_back(classes_of(role, name, of_field, asked.samples[name]));
    }
    for (const std::string& name : asked.more) {
        names.push_back(name);
        classes.push_back({{ValueClass::Kind::kConstant, "true", {}},
                           {ValueClass::Kind::kConstant, "false", {}}});
    }
    return each_choice<ValueClass>(classes, [&](const std::vector<const ValueClass*>& chosen) {
        Values values;
        for (std::size_t i = 0; i < names.size(); ++i) values[names[i]] = *chosen[i];
        visit(values);
    });
}

/// The fields of which the case makes texts, by role: those of few words, where somebody asks for
/// what is set.
void collect_made(const policy::Policy& policy, const policy::Case& found,
                  const std::map<std::string, Asked>& asked,
                  std::map<std::string, std::set<std::string>>& made) {
    for (const policy::Step& step : found.steps) {
        const auto of_role = asked.find(step.role);
        if (of_role == asked.end()) continue;
        for (const policy::Assigned& set : step.sets) {
            if (!set.value || of_role->second.constants.count(set.field) == 0) continue;
            for (const policy::Piece& piece : *set.value) {
                if (piece.kind != policy::Piece::Kind::kField) continue;
                const policy::Role* role = policy::find_role(policy, piece.field.role);
                if (role == nullptr || !is_closed(*role, piece.field.field)) continue;
                made[piece.field.role].insert(piece.field.field);
            }
        }
    }
}

}  // namespace

bool each_values(const policy::Policy& policy, const policy::Role& role,
                 const std::vector<const Condition*>& conditions,
                 const std::function<void(const Values&)>& visit) {
    return each_values(policy, role, conditions, {}, visit);
}

bool each_world(const policy::Policy& policy, const std::vector<const policy::Case*>& cases,
                const std::function<void(const World&)>& visit, bool with_made) {
    std::map<std::string, std::vector<const Condition*>> asked;
    std::map<std::string, Asked> fields;
    for (const policy::Case* each : cases) {
        for (const policy::Pattern& pattern : each->when) {
            asked[pattern.role].push_back(&pattern.condition);
            if (with_made) collect(policy, pattern.condition, fields[pattern.role]);
        }
    }
    std::map<std::string, std::set<std::string>> made;
    for (const policy::Case* each : cases) collect_made(policy, *each, fields, made);
    using Choice = std::pair<bool, Values>;  // is there one, and which
    std::vector<std::string> names;
    std::vector<std::vector<Choice>> choices;
    for (const auto& [name, conditions] : asked) {
        const policy::Role* role = policy::find_role(policy, name);
        if (role->reference) continue;
        names.push_back(name);
        auto& of_role = choices.emplace_back();
        of_role.push_back({false, {}});
        const bool small =
            each_values(policy, *role, conditions, made[name], [&](const Values& values) {
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

}  // namespace trueup::config
