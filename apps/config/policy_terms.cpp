#include "apps/config/policy_terms.h"

#include "apps/config/section.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

namespace trueup::config {

namespace {

using policy::Field;
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

std::span<const BuiltIn> built_in(policy::Kind kind) {
    const std::span<const BuiltIn> all(kBuiltIn);
    if (kind == policy::Kind::kRow) return {};
    return policy::in_kubernetes(kind) ? all.subspan(1) : all.first(kOfEc2);
}

Field made(std::string_view name, Type type) {
    Field field;
    field.name = name;
    field.type = type;
    return field;
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

std::optional<Field> PolicyTerms::field_of(const policy::Role& role, std::string_view name) const {
    if (const Field* declared = policy::find_field(role, name)) return *declared;
    if (policy_.ledger && policy_.ledger->of.role == role.name) {
        if (name == "failures") return made(name, Type::kNumber);
        if (name == "succeeded") return made(name, Type::kBoolean);
    }
    if (role.kind == policy::Kind::kRow) return std::nullopt;
    const bool kubernetes = policy::in_kubernetes(role.kind);
    const bool mapped = kubernetes ? name.starts_with("label.") || name.starts_with("annotation.")
                                   : name.starts_with("tag.");
    if (mapped) return made(name, Type::kText);
    for (const BuiltIn& each : built_in(role.kind)) {
        if (each.name == name) return made(name, each.type);
    }
    return std::nullopt;
}

std::vector<std::string> PolicyTerms::field_names(const policy::Role& role) {
    std::vector<std::string> names;
    for (const Field& field : role.fields) names.push_back(field.name);
    for (const BuiltIn& each : built_in(role.kind)) names.emplace_back(each.name);
    return names;
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
