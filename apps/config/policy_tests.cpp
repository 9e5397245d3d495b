// What a policy asks of one object: the tests of its fields, and conditions of them.
#include "apps/config/policy_terms.h"
#include "apps/config/words.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace trueup::config {

namespace {

using policy::Condition;
using policy::Field;
using policy::Op;
using Type = policy::Field::Type;

Condition leaf(policy::Test test) {
    Condition condition;
    condition.kind = Condition::Kind::kTest;
    condition.test = std::move(test);
    return condition;
}

/// All of them, without a node around a single one.
Condition joined(Condition::Kind kind, std::vector<Condition> parts) {
    if (parts.size() == 1) return std::move(parts.front());
    Condition condition;
    condition.kind = kind;
    condition.parts = std::move(parts);
    return condition;
}

}  // namespace

bool is_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() &&
           std::to_string(value) == text;
}

Condition negated(Condition condition) {
    using Kind = Condition::Kind;
    if (condition.kind == Kind::kTest) {
        condition.test.negated = !condition.test.negated;
        return condition;
    }
    condition.kind = condition.kind == Kind::kAll ? Kind::kAny : Kind::kAll;
    for (Condition& part : condition.parts) part = negated(std::move(part));
    return condition;
}

struct PolicyTerms::Asked {
    const policy::Role& role;
    Field field;
    std::string path;
};

Condition PolicyTerms::condition(const Tree& tree, const policy::Role& role,
                                 const std::string& path) {
    Condition none;
    if (!is_map(tree, path)) return none;
    std::vector<Condition> all;
    for (const Tree& child : tree.children) {
        const std::string where = path + '.' + child.key;
        if (child.key == "any") {
            if (child.kind != Tree::Kind::kList) {
                flaw(child.line,
                     fmt::format("{} is not a list of conditions; write any: [{{…}}, {{…}}]",
                                 where));
                continue;
            }
            std::vector<Condition> any;
            for (const Tree& part : child.children) any.push_back(condition(part, role, where));
            all.push_back(joined(Condition::Kind::kAny, std::move(any)));
        } else if (child.key == "is") {
            all.push_back(is(child, role, where));
        } else if (child.key == "is_not") {
            all.push_back(negated(is(child, role, where)));
        } else if (const auto field = field_of(role, child.key)) {
            all.push_back(test(child, {role, *field, where}));
        } else {
            flaw(child.line, fmt::format("{}: '{}' is not a field of {}; {}", path, child.key,
                                         role.name, did_you_mean(child.key, field_names(role))));
        }
    }
    return joined(Condition::Kind::kAll, std::move(all));
}

Condition PolicyTerms::is(const Tree& tree, const policy::Role& role, const std::string& path) {
    const std::string name = word(tree, path);
    std::vector<std::string> known;
    for (const policy::NamedCondition& each : policy_.conditions) {
        if (each.name == name && each.about == role.name) {
            return leaf({.field = {}, .op = Op::kIs, .values = {name}, .other = {}});
        }
        if (each.about == role.name) known.push_back(each.name);
    }
    if (name.empty()) return {};
    flaw(tree.line,
         known.empty()
             ? fmt::format("{}: '{}' is not a condition over {}; there is none above this", path,
                           name, role.name)
             : fmt::format("{}: '{}' is not a condition over {}; {}", path, name, role.name,
                           did_you_mean(name, known)));
    return {};
}

Condition PolicyTerms::test(const Tree& tree, const Asked& asked) {
    switch (tree.kind) {
        case Tree::Kind::kNull:
            return leaf({.field = asked.field.name,
                         .op = Op::kSet,
                         .negated = true,
                         .values = {},
                         .other = {}});
        case Tree::Kind::kText:
        case Tree::Kind::kList:
            return equals(words(tree, asked.path), tree, asked);
        case Tree::Kind::kMap:
            break;
    }
    if (!is_map(tree, asked.path)) return {};
    if (tree.children.empty()) {
        flaw(tree.line,
             fmt::format("{} tests nothing; write a value, a list or a test", asked.path));
    }
    std::vector<Condition> all;
    for (const Tree& child : tree.children) all.push_back(named_test(child, asked));
    return joined(Condition::Kind::kAll, std::move(all));
}

Condition PolicyTerms::equals(std::vector<std::string> values, const Tree& tree,
                              const Asked& asked) {
    if (asked.field.type != Type::kText && asked.field.type != Type::kNumber &&
        asked.field.type != Type::kBoolean) {
        flaw(tree.line, fmt::format("{} is a {}, which no constant equals; `past:` compares times, "
                                    "and {{set: true}} tests whether it is set",
                                    asked.path, name_of(asked.field.type)));
        return {};
    }
    std::erase_if(values, [&](const std::string& value) { return !readable(value, tree, asked); });
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return leaf(
        {.field = asked.field.name, .op = Op::kIn, .values = std::move(values), .other = {}});
}

/// Can the field hold this at all?
bool PolicyTerms::readable(const std::string& value, const Tree& tree, const Asked& asked) {
    const Field& field = asked.field;
    if (field.type == Type::kBoolean && value != "true" && value != "false") {
        flaw(tree.line, fmt::format("{} is '{}', but the field is a boolean; write true or false",
                                    asked.path, value));
        return false;
    }
    if (field.type == Type::kNumber && !is_integer(value)) {
        flaw(tree.line, fmt::format("{} is '{}', but the field is a number; write a whole number",
                                    asked.path, value));
        return false;
    }
    const auto& words = field.words;
    if (words.empty() || std::binary_search(words.begin(), words.end(), value)) return true;
    flaw(tree.line, fmt::format("{}: {} is one of {}, but not '{}'; {}", asked.path, field.name,
                                enumerate(words), value, did_you_mean(value, words)));
    return false;
}

Condition PolicyTerms::named_test(const Tree& tree, const Asked& asked) {
    const std::string& name = tree.key;
    const Asked inner{asked.role, asked.field, asked.path + '.' + name};
    if (name == "not") return negated(test(tree, inner));
    if (name == "any") return any_of(tree, inner);
    if (name == "same_as") return same_as(tree, inner);
    if (name == "set") {
        const std::string value = word(tree, inner.path);
        if (value != "true" && value != "false") {
            flaw(tree.line, fmt::format("{} is '{}'; write true or false", inner.path, value));
        }
        return leaf({.field = asked.field.name,
                     .op = Op::kSet,
                     .negated = value == "false",
                     .values = {},
                     .other = {}});
    }
    return compares(tree, asked);
}

Condition PolicyTerms::any_of(const Tree& tree, const Asked& asked) {
    if (tree.kind != Tree::Kind::kList || tree.children.empty()) {
        flaw(tree.line, fmt::format("{} is not a list of tests; write any: [null, {{same_as: …}}]",
                                    asked.path));
        return {};
    }
    std::vector<Condition> any;
    for (const Tree& part : tree.children) any.push_back(test(part, asked));
    return joined(Condition::Kind::kAny, std::move(any));
}

Condition PolicyTerms::same_as(const Tree& tree, const Asked& asked) {
    const auto other = reference(word(tree, asked.path), tree.line, asked.path, &asked.role);
    if (!other) return {};
    const Type type = type_of(*other);
    if (type != asked.field.type) {
        flaw(tree.line,
             fmt::format("{} compares a {} with {}.{}, which is a {}", asked.path,
                         name_of(asked.field.type), other->role, other->field, name_of(type)));
        return {};
    }
    return leaf({.field = asked.field.name, .op = Op::kSame, .values = {}, .other = *other});
}

Condition PolicyTerms::compares(const Tree& tree, const Asked& asked) {
    static constexpr std::array<std::pair<std::string_view, Op>, 8> kTests{
        {{"starts", Op::kStarts},
         {"like", Op::kLike},
         {"over", Op::kOver},
         {"under", Op::kUnder},
         {"at_least", Op::kAtLeast},
         {"at_most", Op::kAtMost},
         {"before", Op::kBefore},
         {"after", Op::kAfter}}};
    const auto found = std::find_if(kTests.begin(), kTests.end(),
                                    [&](const auto& each) { return each.first == tree.key; });
    if (found == kTests.end()) {
        flaw(tree.line,
             fmt::format(
                 "{}: '{}' is not a test; {}", asked.path, tree.key,
                 did_you_mean(tree.key, {"not", "any", "set", "same_as", "starts", "like", "over",
                                         "under", "at_least", "at_most", "before", "after"})));
        return {};
    }
    const Op op = found->second;
    return op == Op::kBefore || op == Op::kAfter ? compares_objects(op, tree, asked)
                                                 : compares_value(op, tree, asked);
}

Condition PolicyTerms::compares_objects(Op op, const Tree& tree, const Asked& asked) {
    const Type type = asked.field.type;
    const std::string path = asked.path + '.' + tree.key;
    if (type != Type::kTimestamp && type != Type::kNumber) {
        flaw(tree.line, fmt::format("{} is a {}; before and after compare timestamps or "
                                    "numbers of two objects",
                                    path, name_of(type)));
        return {};
    }
    const Condition same = same_as(tree, {asked.role, asked.field, path});
    if (same.always()) return {};
    return leaf({.field = asked.field.name, .op = op, .values = {}, .other = same.test.other});
}

Condition PolicyTerms::compares_value(Op op, const Tree& tree, const Asked& asked) {
    const Type type = asked.field.type;
    const std::string path = asked.path + '.' + tree.key;
    const std::string value = word(tree, path);
    const bool text = op == Op::kStarts || op == Op::kLike;
    if (text ? type != Type::kText : type != Type::kNumber) {
        const std::string_view what = text ? "a text" : "numbers";
        flaw(tree.line,
             fmt::format("{} is a {}, and {{{}: {}}} compares {}; `past:` compares times",
                         asked.path, name_of(type), tree.key, value, what));
        return {};
    }
    if (text && value.empty()) {
        flaw(tree.line, fmt::format("{} is empty, which matches every text", path));
    }
    if (!text && !is_integer(value)) {
        const bool field =
            value.find('.') != std::string::npos && (op == Op::kUnder || op == Op::kOver);
        const std::string_view other = op == Op::kUnder ? "before" : "after";
        flaw(tree.line,
             fmt::format(
                 "{} is '{}'; write a whole number{}", path, value,
                 field ? fmt::format(", or {{{}: {}}} to compare with that field", other, value)
                       : ""));
    }
    return leaf({.field = asked.field.name, .op = op, .values = {value}, .other = {}});
}

}  // namespace trueup::config
