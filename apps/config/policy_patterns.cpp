// The patterns of a policy: which objects there must be, which of several is worth least, and what
// is looked up by name.
#include "apps/config/policy_terms.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trueup::config {

namespace {

using policy::Quantifier;
using Type = policy::Field::Type;

}  // namespace

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
        if (found == nullptr || (counting && !may_count(*found, child.line, path))) continue;
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

/// What is looked up is no subject's.
bool PolicyTerms::may_count(const policy::Role& role, int line, const std::string& path) {
    if (!role.reference) return true;
    flaw(line, fmt::format("{} counts {}, which is a reference: it is nobody's, and rules look it "
                           "up by name; count a role of its own",
                           path, role.name));
    return false;
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
    if (!pattern.named_literal.empty() && !policy::can_be_a_name(pattern.named_literal)) {
        flaw(tree.line, fmt::format("{}: '{}' is no name of anything: it has a slash, or a blank "
                                    "at an end",
                                    path, pattern.named_literal));
    }
}

}  // namespace trueup::config
