// The roles of a policy file, with their keys and fields.
#include "apps/config/policy_reader.h"
#include "engine/base/suggest.h"
#include "engine/model/field_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace trueup::config {

namespace {

using policy::Kind;
using Type = policy::Field::Type;

const std::vector<std::string>& type_names() {
    static const std::vector<std::string> kNames{"text", "number",   "boolean", "timestamp",
                                                 "date", "duration", "ends"};
    return kNames;
}

std::optional<Type> type_named(std::string_view name) {
    const auto found = std::find(type_names().begin(), type_names().end(), name);
    if (found == type_names().end()) return std::nullopt;
    return static_cast<Type>(found - type_names().begin() + 1);
}

}  // namespace

void PolicyReader::read_role(const Tree& tree) {
    policy::Role role;
    role.name = tree.key;
    lines_.roles[role.name] = tree.line;
    Section at = section(tree, "roles." + role.name);
    if (!at.present()) return;
    at.require("kind", "kind: pod");
    role.kind = static_cast<Kind>(at.choice("kind", 2, {"pod", "object", "row", "ec2"}) + 1);
    at.require("key", "key: name");
    read_key(at, role);
    role.several = at.flag("several", false);
    role.optional = at.flag("optional", false);
    role.reference = at.flag("reference", false);
    role.scope = at.text("scope");
    at.take_tree("live");
    at.take_tree("as_of");
    if (const Tree* fields = at.take_tree("fields")) {
        read_fields(*fields, role, at.path() + ".fields");
    }
    at.finish();
    declare_key(at, role);
    policy_.roles.push_back(std::move(role));
}

void PolicyReader::read_key(Section& section, policy::Role& role) {
    const std::string text = section.text("key");
    if (text.empty()) return;
    const Result<policy::Key> key = policy::parse_key(text);
    if (key) {
        role.key = *key;
    } else {
        section.problem("key", "is not a key: " + key.error().what);
    }
}

/// A column that only the key reads needs no declaration: it is a text.
void PolicyReader::declare_key(Section& section, policy::Role& role) {
    std::vector<std::string> declared;
    for (const policy::Field& field : role.fields) declared.push_back(field.name);
    for (const std::string& name : policy::fields_of(role.key)) {
        if (terms_.field_of(role, name)) continue;
        const std::string meant = nearest(name, declared);
        if (role.kind != Kind::kRow || !meant.empty()) {
            section.problem(
                "key",
                meant.empty()
                    ? fmt::format("reads '{}', which is not a field of {}; declare it under fields",
                                  name, role.name)
                    : fmt::format("reads '{}'; did you mean '{}'? Else declare it under "
                                  "fields",
                                  name, meant));
            continue;
        }
        policy::Field field;
        field.name = name;
        role.fields.push_back(std::move(field));
    }
    std::sort(role.fields.begin(), role.fields.end(),
              [](const policy::Field& a, const policy::Field& b) { return a.name < b.name; });
}

void PolicyReader::read_live(const Tree& tree) {
    const auto role = std::find_if(policy_.roles.begin(), policy_.roles.end(),
                                   [&](const policy::Role& each) { return each.name == tree.key; });
    if (role == policy_.roles.end()) return;
    const std::string path = "roles." + role->name;
    if (const Tree* live = tree.child("live")) {
        role->live = terms_.condition(*live, *role, path + ".live");
    }
    if (const Tree* as_of = tree.child("as_of")) read_as_of(*as_of, *role);
}

/// `as_of: {field: ROLE.FIELD, at: NAME}`.
void PolicyReader::read_as_of(const Tree& tree, policy::Role& role) {
    Section at = section(tree, "roles." + role.name + ".as_of");
    if (!at.present()) return;
    at.require("field", "field: ROLE.FIELD");
    at.require("at", "at: NAME");
    const std::string field = at.text("field");
    role.as_of_field = field;
    role.as_of_at = at.text("at");
    at.finish();
    if (field.empty()) return;
    const auto from = terms_.reference(field, at.line_of("field"), at.path() + ".field");
    if (!from) return;
    if (terms_.type_of(*from) != Type::kTimestamp) {
        at.problem(
            "field",
            fmt::format("is {}, which is a {}; write the timestamp of the last complete fill",
                        field, name_of(terms_.type_of(*from))));
    }
    role.as_of = *from;
}

void PolicyReader::read_fields(const Tree& tree, policy::Role& role, const std::string& path) {
    if (!terms_.is_map(tree, path)) return;
    for (const Tree& each : tree.children) {
        const std::string where = path + '.' + each.key;
        if (each.key == "any" || each.key == "is" || each.key == "is_not") {
            terms_.flaw(
                each.line,
                fmt::format("{}: '{}' is a keyword of conditions and cannot be a field's name",
                            path, each.key));
            continue;
        }
        if (tree.child(each.key) == &each) role.fields.push_back(read_field(each, role, where));
    }
}

policy::Field PolicyReader::read_field(const Tree& tree, const policy::Role& role,
                                       const std::string& path) {
    policy::Field field;
    field.name = tree.key;
    if (tree.kind == Tree::Kind::kMap) {
        read_type_options(tree, role, field, path);
    } else {
        read_type(tree, field, path);
    }
    return field;
}

/// A type's name, or the list of the words that the field may have.
void PolicyReader::read_type(const Tree& tree, policy::Field& field, const std::string& path) {
    if (tree.kind == Tree::Kind::kList) {
        field.words = terms_.words(tree, path);
        std::sort(field.words.begin(), field.words.end());
        if (std::adjacent_find(field.words.begin(), field.words.end()) != field.words.end()) {
            terms_.flaw(tree.line, fmt::format("{} lists a value twice", path));
        }
        return;
    }
    const std::string name = terms_.word(tree, path);
    const std::optional<Type> type = type_named(name);
    if (!type) {
        terms_.flaw(tree.line, fmt::format("{}: '{}' is neither a type nor a list of values; {}",
                                           path, name, did_you_mean(name, type_names())));
        return;
    }
    field.type = *type;
}

/// `{TYPE: PATH, required: true}` of an object's field, `{TYPE: COLUMN?, null: unequal}` of a
/// row's.
void PolicyReader::read_type_options(const Tree& tree, const policy::Role& role,
                                     policy::Field& field, const std::string& path) {
    for (const Tree& each : tree.children) read_type_option(each, role, field, path);
    std::vector<std::string> types;
    for (const Tree& each : tree.children) {
        if (type_named(each.key)) types.push_back(each.key);
    }
    if (types.empty() && tree.child("words") == nullptr) {
        terms_.flaw(tree.line, fmt::format("{} has no type; write {{text: …}}", path));
    } else if (types.size() > 1) {
        terms_.flaw(tree.line, fmt::format("{} is a {} and a {}; leave one of them out", path,
                                           types[0], types[1]));
    } else if (tree.child("words") != nullptr && !types.empty() && types[0] != "text") {
        terms_.flaw(tree.line, fmt::format("{} is a {} and lists words, which are texts; leave one "
                                           "of them out",
                                           path, types[0]));
    }
    if (!field.zone.empty() && field.type != Type::kDate && field.type != Type::kTimestamp) {
        terms_.flaw(tree.line, fmt::format("{} has a zone, and is no date and no timestamp; leave "
                                           "the zone out",
                                           path));
    }
    if (field.type == Type::kDate && field.zone.empty()) {
        terms_.flaw(
            tree.line,
            fmt::format("{} is a date, which begins at a different moment in each time zone; add "
                        "zone: UTC, as in {{date: {}, zone: UTC}}",
                        path, field.path.empty() ? field.name : field.path));
    }
}

void PolicyReader::read_type_option(const Tree& tree, const policy::Role& role,
                                    policy::Field& field, const std::string& path) {
    const bool row = role.kind == Kind::kRow;
    const std::string where = path + '.' + tree.key;
    if (tree.key == "words") {
        read_type(tree, field, where);
    } else if (const std::optional<Type> type = type_named(tree.key)) {
        field.type = *type;
        if (tree.kind != Tree::Kind::kNull) field.path = terms_.word(tree, where);
        if (row && field.path == field.name) field.path.clear();  // its own column
        if (row && !field.path.empty()) {
            terms_.flaw(tree.line,
                        fmt::format("{} is a path, but a row's field is its column; write {}: {} "
                                    "(what lies within a json column needs a column of its own)",
                                    where, field.name, tree.key));
        } else if (policy::in_kubernetes(role.kind) && !field.path.empty()) {
            const auto parsed = policy::FieldPath::parse({}, field.path);
            if (!parsed) terms_.flaw(tree.line, where + ": " + parsed.error().what);
        }
    } else if (tree.key == "required" && !row) {
        field.required = flag(tree, where);
    } else if (tree.key == "null" && row && tree.text == "unequal") {
        field.null_unequal = true;
    } else if (tree.key == "blank" && row && tree.text == "value") {
        field.blank_is_value = true;
    } else if (tree.key == "zone") {
        field.zone = terms_.word(tree, where);
        if (policy::parse_zone(field.zone)) return;
        terms_.flaw(tree.line,
                    fmt::format("{}: '{}' is neither UTC nor an offset that is the same all year; "
                                "write zone: UTC or zone: \"+01:00\", or make the column a "
                                "timestamptz, which knows its own",
                                where, field.zone));
    } else {
        terms_.flaw(tree.line, fmt::format("{}: '{}' is not allowed here; a field of a {} has {}",
                                           path, tree.key, name_of(role.kind),
                                           row ? "TYPE, words, null: unequal, blank: value and zone"
                                               : "TYPE: PATH, words, required and zone"));
    }
}

}  // namespace trueup::config
