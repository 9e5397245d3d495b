#include "apps/config/policy_terms.h"

#include "apps/config/words.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

namespace trueup::config {

namespace {

using policy::Condition;
using policy::Field;
using policy::Op;
using policy::Quantifier;
using Type = policy::Field::Type;

struct BuiltIn {
    std::string_view name;
    Type type;
};
// Of what Kubernetes keeps: all but the first. Of EC2 the first three.
constexpr std::array<BuiltIn, 8> kBuiltIn{{{"id", Type::kText},
                                           {"created", Type::kTimestamp},
                                           {"scope", Type::kText},
                                           {"uid", Type::kText},
                                           {"name", Type::kText},
                                           {"namespace", Type::kText},
                                           {"deleting", Type::kBoolean},
                                           {"in_scope", Type::kBoolean}}};
constexpr std::size_t kOfEc2 = 3;

bool in_kubernetes(policy::Kind kind) {
    return kind == policy::Kind::kPod || kind == policy::Kind::kObject;
}

std::span<const BuiltIn> built_in(policy::Kind kind) {
    const std::span<const BuiltIn> all(kBuiltIn);
    if (kind == policy::Kind::kRow) return {};
    return in_kubernetes(kind) ? all.subspan(1) : all.first(kOfEc2);
}

Field made(std::string_view name, Type type) {
    Field field;
    field.name = name;
    field.type = type;
    return field;
}

std::vector<std::string> field_names(const policy::Role& role) {
    std::vector<std::string> names;
    for (const Field& field : role.fields) names.push_back(field.name);
    for (const BuiltIn& each : built_in(role.kind)) names.emplace_back(each.name);
    return names;
}

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

bool is_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string_view name_of(Type type) {
    switch (type) {
        case Type::kText:
            return "text";
        case Type::kNumber:
            return "number";
        case Type::kBoolean:
            return "boolean";
        case Type::kTimestamp:
            return "timestamp";
        case Type::kDate:
            return "date";
        case Type::kDuration:
            return "duration";
        case Type::kEnds:
            return "ends";
    }
    return "";
}

std::string_view name_of(policy::Kind kind) {
    switch (kind) {
        case policy::Kind::kPod:
            return "pod";
        case policy::Kind::kObject:
            return "object";
        case policy::Kind::kRow:
            return "row";
        case policy::Kind::kEc2:
            return "ec2";
    }
    return "";
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

std::optional<Field> PolicyTerms::field_of(const policy::Role& role, std::string_view name) const {
    if (const Field* declared = policy::find_field(role, name)) return *declared;
    if (policy_.ledger && policy_.ledger->of.role == role.name) {
        if (name == "failures") return made(name, Type::kNumber);
        if (name == "succeeded") return made(name, Type::kBoolean);
    }
    if (role.kind == policy::Kind::kRow) return std::nullopt;
    const bool kubernetes = in_kubernetes(role.kind);
    const bool mapped = kubernetes ? name.starts_with("label.") || name.starts_with("annotation.")
                                   : name.starts_with("tag.");
    if (mapped) return made(name, Type::kText);
    for (const BuiltIn& each : built_in(role.kind)) {
        if (each.name == name) return made(name, each.type);
    }
    return std::nullopt;
}

const policy::Role* PolicyTerms::role(std::string_view name, int line, const std::string& path) {
    if (const policy::Role* found = policy::find_role(policy_, name)) return found;
    std::vector<std::string> known;
    for (const policy::Role& each : policy_.roles) known.push_back(each.name);
    flaw(line, fmt::format("{}: '{}' is not a role of this policy; {}", path, name,
                           did_you_mean(name, known)));
    return nullptr;
}

std::optional<policy::FieldRef> PolicyTerms::reference(std::string_view text, int line,
                                                       const std::string& path,
                                                       const policy::Role* home) {
    const std::size_t dot = text.find('.');
    const policy::Role* found = home;
    std::string_view field = text;
    // `label.K` of the home role has a dot, too.
    const bool own = home != nullptr && field_of(*home, text).has_value();
    if (!own) {
        if (dot == std::string_view::npos && home == nullptr) {
            flaw(line, fmt::format("{}: '{}' is not a reference; write ROLE.FIELD", path, text));
            return std::nullopt;
        }
        if (dot != std::string_view::npos) {
            found = role(text.substr(0, dot), line, path);
            field = text.substr(dot + 1);
        }
    }
    if (found == nullptr) return std::nullopt;
    if (!field_of(*found, field)) {
        flaw(line, fmt::format("{}: '{}' is not a field of {}; {}", path, field, found->name,
                               did_you_mean(field, field_names(*found))));
        return std::nullopt;
    }
    return policy::FieldRef{found->name, std::string(field)};
}

Type PolicyTerms::type_of(const policy::FieldRef& reference) const {
    const policy::Role* found = policy::find_role(policy_, reference.role);
    const auto field = found == nullptr ? std::nullopt : field_of(*found, reference.field);
    return field ? field->type : Type::kText;
}

std::string PolicyTerms::word(const Tree& tree, const std::string& path) {
    if (tree.kind == Tree::Kind::kText) return tree.text;
    flaw(tree.line, fmt::format("{} is not a single value; write one word", path));
    return {};
}

std::vector<std::string> PolicyTerms::words(const Tree& tree, const std::string& path) {
    if (tree.kind == Tree::Kind::kText) return {tree.text};
    std::vector<std::string> all;
    if (tree.kind != Tree::Kind::kList) {
        flaw(tree.line, fmt::format("{} is not a list; write one word, or [one, two]", path));
    }
    for (const Tree& item : tree.children) {
        if (item.kind == Tree::Kind::kText) {
            all.push_back(item.text);
        } else if (item.kind == Tree::Kind::kNull) {
            flaw(item.line,
                 fmt::format("{}: null cannot be in a list; write {{any: [null, [one, two]]}}",
                             path));
        } else {
            flaw(item.line, fmt::format("{} has an item that is not a single value", path));
        }
    }
    return all;
}

bool PolicyTerms::is_map(const Tree& tree, const std::string& path) {
    if (tree.kind != Tree::Kind::kMap) {
        flaw(tree.line, fmt::format("{} is not a map; write {{NAME: …}}", path));
        return false;
    }
    refuse_twins(tree, path, problems_);
    return true;
}

// ------------------------------------------------------------------ tests

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
        flaw(tree.line, fmt::format("{} is '{}'; write a whole number", path, value));
    }
    return leaf({.field = asked.field.name, .op = op, .values = {value}, .other = {}});
}

// ------------------------------------------------------------------ patterns

std::vector<policy::Pattern> PolicyTerms::patterns(const Tree& tree, const std::string& path) {
    return patterns(tree, path, false);
}
std::vector<policy::Pattern> PolicyTerms::counted(const Tree& tree, const std::string& path) {
    return patterns(tree, path, true);
}

std::vector<policy::Pattern> PolicyTerms::patterns(const Tree& tree, const std::string& path,
                                                   bool counting) {
    std::vector<policy::Pattern> all;
    if (!is_map(tree, path)) return all;
    for (const Tree& child : tree.children) {
        const std::string where = path + '.' + child.key;
        const policy::Role* found = role(child.key, child.line, path);
        if (found == nullptr) continue;
        if (child.kind != Tree::Kind::kList) {
            if (auto one = pattern(child, *found, where)) all.push_back(std::move(*one));
            continue;
        }
        // One of several may bind the role's object, the others say what there must not be.
        std::size_t binding = 0;
        for (const Tree& item : child.children) {
            auto one = pattern(item, *found, where);
            if (!one) continue;
            if (one->quantifier != Quantifier::kNone) ++binding;
            all.push_back(std::move(*one));
        }
        if (binding > 1 && !counting) {
            flaw(child.line, fmt::format("{} binds {} objects; of several patterns of a role only "
                                         "one may bind, the others must be none",
                                         where, binding));
        }
    }
    return all;
}

std::optional<policy::Pattern> PolicyTerms::pattern(const Tree& tree, const policy::Role& role,
                                                    const std::string& path) {
    policy::Pattern made;
    made.role = role.name;
    if (tree.kind == Tree::Kind::kText) {
        Tree bare;
        bare.kind = Tree::Kind::kMap;
        bare.line = tree.line;
        bare.key = tree.text;
        quantify(bare, role, made, path);
        return made;
    }
    if (!is_map(tree, path)) return std::nullopt;
    std::size_t quantifiers = 0;
    for (const Tree& child : tree.children) {
        const std::string where = path + '.' + child.key;
        if (child.key == "named") {
            name_reference(child, made, where);
        } else if (child.key == "in") {
            look_in(child, role, made, where);
        } else if (child.key == "keep") {
            keep(child, role, made, where);
        } else {
            ++quantifiers;
            quantify(child, role, made, path);
        }
    }
    if (quantifiers != 1) {
        flaw(
            tree.line,
            fmt::format(
                "{} has {} of one, none, some and surplus; write one of them, as in {{one: {{…}}}}",
                path, quantifiers == 0 ? "none" : "more than one"));
    }
    check_lookup(tree, role, made, path);
    return made;
}

void PolicyTerms::look_in(const Tree& tree, const policy::Role& role, policy::Pattern& pattern,
                          const std::string& path) {
    if (role.scope.empty()) {
        flaw(tree.line, fmt::format("{}: {} has no scope; leave `in` out, or write scope: "
                                    "NAME under roles.{}",
                                    path, role.name, role.name));
    }
    const auto in = reference(word(tree, path), tree.line, path);
    if (in) pattern.in = *in;
}

/// A reference is looked up by name, and nothing else is.
void PolicyTerms::check_lookup(const Tree& tree, const policy::Role& role,
                               const policy::Pattern& pattern, const std::string& path) {
    const bool looks_up = !pattern.named.role.empty() || !pattern.named_literal.empty();
    if (looks_up == role.reference) return;
    flaw(tree.line,
         looks_up
             ? fmt::format("{} looks up {} by name; write reference: true under roles.{}", path,
                           role.name, role.name)
             : fmt::format(
                   "{}: {} is a reference, which is looked up by name; write named: ROLE.FIELD",
                   path, role.name));
}

void PolicyTerms::quantify(const Tree& tree, const policy::Role& role, policy::Pattern& pattern,
                           const std::string& path) {
    static const std::vector<std::string> kNames{"one", "none", "some", "surplus"};
    const auto found = std::find(kNames.begin(), kNames.end(), tree.key);
    if (found == kNames.end()) {
        flaw(tree.line, fmt::format("{}: '{}' is not a pattern; {}", path, tree.key,
                                    did_you_mean(tree.key, kNames)));
        return;
    }
    pattern.quantifier = static_cast<Quantifier>(found - kNames.begin() + 1);
    pattern.condition = condition(tree, role, path + '.' + tree.key);
}

void PolicyTerms::keep(const Tree& tree, const policy::Role& role, policy::Pattern& pattern,
                       const std::string& path) {
    if (tree.kind != Tree::Kind::kList || tree.children.empty()) {
        flaw(tree.line, fmt::format("{} is not a list; write what makes an object worth keeping, "
                                    "best first: keep: [{{phase: Running}}, {{latest: created}}]",
                                    path));
        return;
    }
    for (const Tree& item : tree.children) {
        policy::Ranking ranking;
        if (item.kind == Tree::Kind::kMap && item.children.size() == 1 &&
            item.children.front().key == "latest") {
            const Tree& latest = item.children.front();
            const auto field = reference(word(latest, path), latest.line, path, &role);
            if (field && type_of(*field) != Type::kTimestamp && type_of(*field) != Type::kNumber) {
                flaw(latest.line, fmt::format("{}: the latest of {} is asked for, which is a {}",
                                              path, field->field, name_of(type_of(*field))));
            }
            if (field) ranking.latest = field->field;
        } else {
            ranking.condition = condition(item, role, path);
        }
        pattern.keep.push_back(std::move(ranking));
    }
}

/// `ROLE.FIELD`, or a literal: a name without a dot, or anything in quotes of its own.
void PolicyTerms::name_reference(const Tree& tree, policy::Pattern& pattern,
                                 const std::string& path) {
    const std::string name = word(tree, path);
    if (name.size() > 2 && name.front() == '\'' && name.back() == '\'') {
        pattern.named_literal = name.substr(1, name.size() - 2);
    } else if (!name.empty() && name.find('.') == std::string::npos) {
        pattern.named_literal = name;
    } else if (const auto from = reference(name, tree.line, path)) {
        pattern.named = *from;
    }
}

// ------------------------------------------------------------------ texts

policy::Text PolicyTerms::text(const Tree& tree, const std::string& path) {
    policy::Text text;
    if (tree.kind != Tree::Kind::kText) {
        flaw(tree.line,
             fmt::format(
                 "{} is not text; write one value, with {{role.field}} for what is to be filled in",
                 path));
        return text;
    }
    using Kind = policy::Piece::Kind;
    std::string literal;
    const auto put = [&](policy::Piece piece) {
        if (!literal.empty()) text.push_back({Kind::kLiteral, std::exchange(literal, {}), {}});
        text.push_back(std::move(piece));
    };
    const std::string_view all = tree.text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool doubled = i + 1 < all.size() && all[i] == all[i + 1];
        if ((all[i] == '{' || all[i] == '}') && doubled) {
            literal += all[i++];
            continue;
        }
        if (all[i] != '{') {
            literal += all[i];
            continue;
        }
        const std::size_t end = all.find('}', i);
        if (end == std::string_view::npos) {
            flaw(tree.line,
                 fmt::format("{} has a {{ without its end; write {{{{ for the character itself",
                             path));
            break;
        }
        const std::string_view name = all.substr(i + 1, end - i - 1);
        i = end;
        if (auto made = piece(name, tree, path)) put(std::move(*made));
    }
    if (!literal.empty()) text.push_back({Kind::kLiteral, std::move(literal), {}});
    return text;
}

/// What `{name}` stands for; nullopt where that is unknown, which is noted.
std::optional<policy::Piece> PolicyTerms::piece(std::string_view name, const Tree& tree,
                                                const std::string& path) {
    using Kind = policy::Piece::Kind;
    if (name == "subject") return policy::Piece{Kind::kSubject, {}, {}};
    if (name == "now") return policy::Piece{Kind::kNow, {}, {}};
    if (const auto field = reference(name, tree.line, path)) {
        return policy::Piece{Kind::kField, {}, *field};
    }
    return std::nullopt;
}

}  // namespace trueup::config
