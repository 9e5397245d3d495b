#include "apps/config/policy_file.h"

#include "apps/config/policy_lines.h"
#include "apps/config/policy_terms.h"
#include "apps/config/words.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace trueup::config {

namespace {

using policy::Kind;
using policy::Verb;
using Type = policy::Field::Type;

constexpr std::size_t kMostRules = 254;  // of a policy over its life, as numbers in a journal
constexpr std::size_t kMostCounts = 16;
constexpr std::size_t kMostLines = 16;  // of a condition, steps, cases
constexpr Millis kUsualGrace{30'000};
constexpr Millis kUsualWindow{30'000};

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

struct VerbUse {
    Verb verb;
    std::string_view name;
    std::array<bool, 4> of;  ///< pod, object, row, ec2
};
// What executors of each kind of role offer.
constexpr std::array<VerbUse, 8> kVerbs{{{Verb::kDelete, "delete", {true, true, true, true}},
                                         {Verb::kUpdate, "update", {false, true, true, false}},
                                         {Verb::kInsert, "insert", {false, false, true, false}},
                                         {Verb::kCreate, "create", {true, true, false, false}},
                                         {Verb::kVerify, "verify", {false, false, false, true}},
                                         {Verb::kRetract, "retract", {false, true, false, false}},
                                         {Verb::kStop, "stop", {false, true, false, true}},
                                         {Verb::kFollow, "follow", {true, false, false, false}}}};

bool offers(Kind kind, const VerbUse& verb) { return verb.of[static_cast<std::size_t>(kind) - 1]; }

/// Does it have the key, whose one word this is?
bool said(Section& section, std::string_view key, std::string_view word) {
    const std::string text = section.text(key);
    if (!text.empty() && text != word) {
        section.problem(key, fmt::format("accepts only {}: {}", key, word));
    }
    return text == word;
}

/// Everything but the notes is in the policy that is being made.
class PolicyReader {
  public:
    PolicyReader(policy::Policy& policy, PolicyLines& lines, Problems& problems)
        : policy_(policy), lines_(lines), problems_(problems), terms_(policy, problems) {}

    void read(const Tree& tree);

  private:
    /// What stands above the parts; false where there is nothing to read.
    bool read_head(const Tree& tree);
    void read_role(const Tree& tree);
    void read_live(const Tree& tree);
    void read_as_of(const Tree& tree, policy::Role& role);
    void read_fields(const Tree& tree, policy::Role& role, const std::string& path);
    policy::Field read_field(const Tree& tree, const policy::Role& role, const std::string& path);
    void read_type(const Tree& tree, policy::Field& field, const std::string& path);
    void read_type_options(const Tree& tree, const policy::Role& role, policy::Field& field,
                           const std::string& path);
    void read_type_option(const Tree& tree, const policy::Role& role, policy::Field& field,
                          const std::string& path);
    void read_key(Section& section, policy::Role& role);
    void declare_key(Section& section, policy::Role& role);
    void read_condition(const Tree& tree);
    void read_line(const Tree& tree, policy::NamedCondition& made, const std::string& path);
    void read_count(const Tree& tree);
    void read_counted_subjects(const Tree& tree, policy::Count& count, const std::string& path);
    bool read_counted_objects(const Tree& tree, policy::Count& count, const std::string& path);
    void begin_ledger(const Tree& tree);
    void read_ledger(const Tree& tree);
    void read_known(Section& section, const std::string& known, policy::Ledger& ledger);
    void read_requests(const Tree& tree);
    void read_rule(const Tree& tree);
    void read_requested(Section& section, policy::Rule& rule);
    void read_cases(Section& section, const Tree& tree, policy::Rule& rule);
    void read_case(Section& section, const Tree& tree, policy::Rule& rule);
    void read_times(Section& section, policy::Rule& rule);
    void read_past(const Tree& tree, policy::Case& made, const std::string& path);
    std::vector<policy::Step> read_steps(const Tree& tree, const std::string& path);
    std::optional<policy::Step> read_step(const Tree& tree, const std::string& path);
    /// The verb that the step is made of; nullptr where there is not one, which is noted.
    const VerbUse* verb_of(const Tree& tree, const std::string& path);
    void read_step_option(const Tree& tree, policy::Step& step, const policy::Role& role,
                          const std::string& path);
    bool read_create_option(const Tree& tree, policy::Step& step, const std::string& path);
    void read_grace_period(const Tree& tree, policy::Step& step, const std::string& path);
    void read_propagation(const Tree& tree, policy::Step& step, const std::string& path);
    void check_step(const Tree& tree, const policy::Step& step, const std::string& path);
    void read_sets(const Tree& tree, policy::Step& step, const policy::Role& role,
                   const std::string& path);
    policy::Template read_template(const Tree& tree, const std::string& path);
    /// The entries of the map under `key`; notes what has no name that a policy may use.
    std::vector<const Tree*> named(const Tree& tree, std::string_view key);
    bool flag(const Tree& tree, const std::string& path);
    Section section(const Tree& tree, const std::string& path) {
        return {&tree, path, tree.line, problems_};
    }

    policy::Policy& policy_;
    PolicyLines& lines_;
    Problems& problems_;
    PolicyTerms terms_;
};

std::vector<const Tree*> PolicyReader::named(const Tree& tree, std::string_view key) {
    std::vector<const Tree*> all;
    const Tree* map = tree.child(key);
    if (map == nullptr || !terms_.is_map(*map, std::string(key))) return all;
    for (const Tree& each : map->children) {
        const bool plain = !each.key.empty() &&
                           each.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                               std::string::npos &&
                           each.key.front() > '9';
        if (!plain || each.key.size() > 63) {
            terms_.flaw(each.line, fmt::format("{}: '{}' is not a name; write lower-case letters, "
                                               "digits and _, starting with a letter, at most 63",
                                               key, each.key));
        } else if (map->child(each.key) == &each) {
            all.push_back(&each);
        }
    }
    return all;
}

bool PolicyReader::flag(const Tree& tree, const std::string& path) {
    const std::string value = terms_.word(tree, path);
    if (value != "true" && value != "false") {
        terms_.flaw(tree.line, fmt::format("{} is '{}'; write true or false", path, value));
    }
    return value == "true";
}

bool PolicyReader::read_head(const Tree& tree) {
    Section top = section(tree, "");
    if (!top.present()) return false;
    top.require("policy", "policy: my-policy");
    policy_.name = top.text("policy");
    if (!policy_.name.empty() && !is_name(policy_.name)) {
        top.problem(
            "policy",
            fmt::format("is '{}', which is not a name; write letters, digits and -", policy_.name));
    }
    top.require("language", "language: 1");
    policy_.language = top.count("language", policy::kLanguage);
    if (policy_.language != policy::kLanguage) {
        top.problem("language", "is not known to this build; write language: 1");
    }
    policy_.subject = top.text("subject");
    policy_.stale_after = top.duration("stale_after", policy_.stale_after);
    top.require("roles", "roles: {pods: {kind: pod, key: name}}");
    top.require("rules", "rules: {my_rule: {finds: …, when: {…}, do: report}}");
    for (const char* key : {"roles", "conditions", "counts", "ledger", "requests", "rules"}) {
        top.take_tree(key);
    }
    top.finish();
    return true;
}

void PolicyReader::read(const Tree& tree) {
    if (!read_head(tree)) return;
    for (const Tree* role : named(tree, "roles")) read_role(*role);
    // What a role's `live` may ask for is declared by all roles and the ledger.
    if (const Tree* ledger = tree.child("ledger")) begin_ledger(*ledger);
    for (const Tree* role : named(tree, "roles")) read_live(*role);
    for (const Tree* condition : named(tree, "conditions")) read_condition(*condition);
    if (const Tree* ledger = tree.child("ledger")) read_ledger(*ledger);
    for (const Tree* count : named(tree, "counts")) read_count(*count);
    if (policy_.counts.size() > kMostCounts) {
        terms_.flaw(tree.line,
                    fmt::format("counts: {} are more than {}", policy_.counts.size(), kMostCounts));
    }
    read_requests(tree);
    for (const Tree* rule : named(tree, "rules")) read_rule(*rule);
    if (policy_.rules.size() > kMostRules) {
        terms_.flaw(tree.line,
                    fmt::format("rules: {} are more than {}", policy_.rules.size(), kMostRules));
    }
}

// ------------------------------------------------------------------ roles

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
    const bool typed = std::any_of(
        tree.children.begin(), tree.children.end(),
        [](const Tree& each) { return each.key == "words" || type_named(each.key).has_value(); });
    if (!typed) {
        terms_.flaw(tree.line, fmt::format("{} has no type; write {{text: …}}", path));
    }
    if (field.type == Type::kDate && field.zone.empty()) {
        terms_.flaw(
            tree.line,
            fmt::format(
                "{} is a date, which begins at a different moment in each time zone; add zone: UTC",
                path));
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
        if (row && !field.path.empty()) {
            terms_.flaw(tree.line,
                        fmt::format("{} is a path, but a row's field is its column; write {}: {}",
                                    where, field.name, tree.key));
        }
    } else if (tree.key == "required" && !row) {
        field.required = flag(tree, where);
    } else if (tree.key == "null" && row && tree.text == "unequal") {
        field.null_unequal = true;
    } else if (tree.key == "blank" && row && tree.text == "value") {
        field.blank_is_value = true;
    } else if (tree.key == "zone") {
        field.zone = terms_.word(tree, where);
    } else {
        terms_.flaw(tree.line, fmt::format("{}: '{}' is not allowed here; a field of a {} has {}",
                                           path, tree.key, name_of(role.kind),
                                           row ? "TYPE, words, null: unequal, blank: value and zone"
                                               : "TYPE: PATH, words, required and zone"));
    }
}

// ------------------------------------------------------------------ conditions, counts, ledger

void PolicyReader::read_condition(const Tree& tree) {
    policy::NamedCondition made;
    made.name = tree.key;
    const std::string path = "conditions." + made.name;
    Section at = section(tree, path);
    if (!at.present()) return;
    at.require("about", "about: ROLE");
    made.about = at.text("about");
    at.require("first", "first: [{if: {…}, then: true}, {then: false}]");
    const Tree* first = at.take_tree("first");
    at.finish();
    const policy::Role* about =
        made.about.empty() ? nullptr : terms_.role(made.about, at.line_of("about"), path);
    if (about == nullptr || first == nullptr) return;
    if (first->kind != Tree::Kind::kList || first->children.empty() ||
        first->children.size() > kMostLines) {
        terms_.flaw(first->line,
                    fmt::format("{}.first is not a list of 1 to {} lines", path, kMostLines));
        return;
    }
    for (const Tree& line : first->children) read_line(line, made, path + ".first");
    if (!made.lines.empty() && !made.lines.back().when.empty()) {
        terms_.flaw(first->children.back().line,
                    fmt::format("{}: the last line has an `if`, so what matches none of them is "
                                "undecided; end with {{then: false}}",
                                path));
    }
    policy_.conditions.push_back(std::move(made));
}

/// `{if: {ROLE: …}, then: WORD}`: a condition for the role that it is about, patterns for others.
void PolicyReader::read_line(const Tree& tree, policy::NamedCondition& made,
                             const std::string& path) {
    Section at = section(tree, path);
    if (!at.present()) return;
    policy::NamedCondition::Line line;
    using Then = policy::NamedCondition::Line::Then;
    at.require("then", "then: true");
    const std::string then = at.text("then");
    line.then = then == "true" ? Then::kTrue : then == "false" ? Then::kFalse : Then::kUnknown;
    if (line.then == Then::kUnknown) line.because = then;
    const Tree* when = at.take_tree("if");
    at.finish();
    if (when != nullptr && terms_.is_map(*when, path + ".if")) {
        Tree others = *when;
        std::erase_if(others.children, [&](const Tree& each) { return each.key == made.about; });
        line.when = terms_.patterns(others, path + ".if");
        if (const Tree* own = when->child(made.about)) {
            policy::Pattern itself;
            itself.role = made.about;
            itself.condition = terms_.condition(*own, *policy::find_role(policy_, made.about),
                                                path + ".if." + made.about);
            line.when.insert(line.when.begin(), std::move(itself));
        }
        if (line.when.empty()) {
            terms_.flaw(when->line, fmt::format("{}.if tests nothing; leave it out", path));
        }
    }
    made.lines.push_back(std::move(line));
}

void PolicyReader::read_count(const Tree& tree) {
    policy::Count count;
    count.name = tree.key;
    const std::string path = "counts." + count.name;
    Section at = section(tree, path);
    if (!at.present()) return;
    const Tree* subjects = at.take_tree("subjects");
    const Tree* objects = at.take_tree("objects");
    count.reason = at.text("reason");
    const std::string by = at.text("by");
    at.finish();
    if ((subjects == nullptr) == (objects == nullptr)) {
        terms_.flaw(tree.line, fmt::format("{} counts {}; write subjects: {{ROLE: PATTERN}} or "
                                           "objects: {{ROLE: CONDITION}}",
                                           path, subjects == nullptr ? "nothing" : "two things"));
        return;
    }
    if (subjects != nullptr) read_counted_subjects(*subjects, count, path);
    if (objects != nullptr && !read_counted_objects(*objects, count, path)) return;
    if (!by.empty()) {
        const auto field = terms_.reference(by, at.line_of("by"), path + ".by");
        if (field && field->role != count.role) {
            at.problem("by", "names a field of a role other than the counted one");
        } else if (field) {
            count.by = field->field;
        }
    }
    policy_.counts.push_back(std::move(count));
}

/// `{ROLE: PATTERN}`, or a list of such.
void PolicyReader::read_counted_subjects(const Tree& tree, policy::Count& count,
                                         const std::string& path) {
    if (tree.kind != Tree::Kind::kList) {
        count.subjects.push_back(terms_.counted(tree, path + ".subjects"));
        return;
    }
    for (const Tree& each : tree.children) {
        count.subjects.push_back(terms_.counted(each, path + ".subjects"));
    }
}

/// `{ROLE: CONDITION}`; false where it does not name exactly one role.
bool PolicyReader::read_counted_objects(const Tree& tree, policy::Count& count,
                                        const std::string& path) {
    if (!terms_.is_map(tree, path + ".objects")) return true;  // noted already
    if (tree.children.size() != 1) {
        terms_.flaw(tree.line, fmt::format("{}.objects names {} roles; write one", path,
                                           tree.children.size()));
        return false;
    }
    const Tree& one = tree.children.front();
    if (const policy::Role* role = terms_.role(one.key, one.line, path)) {
        count.role = role->name;
        count.objects = terms_.condition(one, *role, path + ".objects." + one.key);
    }
    return true;
}

/// Whose it is must be known before conditions may ask for `failures`.
void PolicyReader::begin_ledger(const Tree& tree) {
    if (tree.kind != Tree::Kind::kMap) return;
    const Tree* of = tree.child("of");
    if (of == nullptr || of->kind != Tree::Kind::kText) return;
    policy::Ledger ledger;
    ledger.of.role = of->text.substr(0, of->text.find('.'));
    policy_.ledger = std::move(ledger);
}

void PolicyReader::read_ledger(const Tree& tree) {
    Section at = section(tree, "ledger");
    if (!at.present()) return;
    at.require("of", "of: ROLE");
    at.require("objects", "objects: ROLE");
    at.require("failed", "failed: {phase: Failed}");
    const std::string of = at.text("of");
    const std::string objects = at.text("objects");
    const bool gone_failed = said(at, "gone", "failed");
    const std::string known = at.text("known");
    const Tree* belongs = at.take_tree("belongs");
    const Tree* failed = at.take_tree("failed");
    const Tree* succeeded = at.take_tree("succeeded");
    at.finish();
    if (of.empty() || objects.empty()) return;
    policy::Ledger ledger;
    ledger.gone_failed = gone_failed;
    if (of.find('.') == std::string::npos) {
        const policy::Role* role = terms_.role(of, at.line_of("of"), "ledger.of");
        if (role != nullptr) ledger.of.role = role->name;
    } else if (const auto field = terms_.reference(of, at.line_of("of"), "ledger.of")) {
        ledger.of = *field;
    }
    const policy::Role* role = terms_.role(objects, at.line_of("objects"), "ledger.objects");
    if (role == nullptr) return;
    ledger.objects = role->name;
    if (belongs) ledger.belongs = terms_.condition(*belongs, *role, "ledger.belongs");
    if (failed) ledger.failed = terms_.condition(*failed, *role, "ledger.failed");
    if (succeeded) {
        ledger.succeeded = terms_.condition(*succeeded, *role, "ledger.succeeded");
    } else {
        ledger.succeeded.kind = policy::Condition::Kind::kAny;  // of nothing: never
    }
    if (!known.empty()) read_known(at, known, ledger);
    policy_.ledger = std::move(ledger);
}

/// `known: ROLE.FIELD`, of type ends.
void PolicyReader::read_known(Section& section, const std::string& known, policy::Ledger& ledger) {
    const auto field = terms_.reference(known, section.line_of("known"), "ledger.known");
    if (field && terms_.type_of(*field) != Type::kEnds) {
        section.problem("known", fmt::format("is a {}; write a field of type ends",
                                             name_of(terms_.type_of(*field))));
    } else if (field) {
        ledger.known = *field;
    }
}

void PolicyReader::read_requests(const Tree& tree) {
    for (const Tree* request : named(tree, "requests")) {
        const std::string path = "requests." + request->key;
        Section at = section(*request, path);
        if (!at.present()) continue;
        at.require("owner", "owner: ROLE.FIELD");
        const std::string owner = at.text("owner");
        at.finish();
        if (owner.empty()) continue;
        if (const auto field = terms_.reference(owner, at.line_of("owner"), path + ".owner")) {
            policy_.requests[request->key] = *field;
        }
    }
}

// ------------------------------------------------------------------ rules

void PolicyReader::read_rule(const Tree& tree) {
    policy::Rule rule;
    rule.name = tree.key;
    const std::string path = "rules." + rule.name;
    Section at = section(tree, path);
    if (!at.present()) return;
    at.require("finds", "finds: what is wrong, in a few words");
    rule.finds = at.text("finds");
    const std::string mode = at.text("mode");
    if (!mode.empty() && mode != "off") {
        at.problem("mode",
                   "can only be off in a policy's file; other modes belong to the configuration, "
                   "under policies[].rules");
    }
    rule.off = mode == "off";
    rule.since_first_seen = said(at, "since", "first_seen");
    rule.keyless = said(at, "keyless", "report");
    read_requested(at, rule);
    rule.acknowledge = at.texts("acknowledge");
    std::sort(rule.acknowledge.begin(), rule.acknowledge.end());
    read_cases(at, tree, rule);
    read_times(at, rule);
    at.finish();
    policy_.rules.push_back(std::move(rule));
}

/// The name of a request of the policy.
void PolicyReader::read_requested(Section& section, policy::Rule& rule) {
    rule.requested = section.text("requested");
    if (rule.requested.empty() || policy_.requests.count(rule.requested) != 0) return;
    std::vector<std::string> known;
    for (const auto& [name, owner] : policy_.requests) known.push_back(name);
    section.problem("requested",
                    known.empty()
                        ? fmt::format("is '{}', and there is no request; write requests: "
                                      "{{{}: {{owner: ROLE.FIELD}}}} above",
                                      rule.requested, rule.requested)
                        : fmt::format("is '{}', which is not a request; {}", rule.requested,
                                      did_you_mean(rule.requested, known)));
}

/// The list under `cases`, or the rule itself as the only one.
void PolicyReader::read_cases(Section& section, const Tree& tree, policy::Rule& rule) {
    const Tree* cases = section.take_tree("cases");
    if (cases == nullptr) {
        read_case(section, tree, rule);
        return;
    }
    if (cases->kind != Tree::Kind::kList || cases->children.empty() ||
        cases->children.size() > kMostLines) {
        section.problem("cases", fmt::format("is not a list of 1 to {} cases", kMostLines));
        return;
    }
    for (const Tree& each : cases->children) {
        Section one = this->section(each, section.path() + ".cases");
        if (!one.present()) continue;
        read_case(one, each, rule);
        one.finish();
    }
}

/// Defaults wait: a rule that takes away gives the owner time, and one that rests on `none` a
/// window.
void PolicyReader::read_times(Section& section, policy::Rule& rule) {
    bool takes = false;
    bool writes = false;
    bool past = false;
    bool none = false;
    for (const policy::Case& each : rule.cases) {
        past = past || each.past.has_value();
        takes = takes || each.takes_away();
        writes = writes || each.writes();
        none = none || each.rests_on_none();
    }
    rule.grace = section.duration("grace", takes && !past ? kUsualGrace : Millis{0});
    rule.create_window =
        section.duration("create_window", none && (takes || writes) ? kUsualWindow : Millis{0});
    if (const Tree* ladder = section.take_tree("backoff")) {
        for (const std::string& step : terms_.words(*ladder, section.path() + ".backoff")) {
            const auto pause = parse_duration(step);
            if (!pause) {
                section.problem(
                    "backoff",
                    fmt::format("has '{}', which is not a duration; write [0s, 5s, 10s]", step));
                break;
            }
            rule.backoff.push_back(*pause);
        }
        if (!policy_.ledger) {
            section.problem("backoff",
                            "counts failures, but there is no ledger; write one: {of: ROLE, "
                            "objects: ROLE, failed: {…}}");
        }
    }
}

/// Of the rule's own section, or of one of its cases.
void PolicyReader::read_case(Section& section, const Tree& tree, policy::Rule& rule) {
    policy::Case made;
    const std::string& path = section.path();
    lines_.cases[rule.name].push_back(tree.line);
    for (const char* key : {"when", "past", "ask_while", "do"}) section.take_tree(key);
    section.require("when", "when: {ROLE: one}");
    section.require("do", "do: report");
    if (const Tree* when = tree.child("when")) {
        made.duplicates = when->kind == Tree::Kind::kText && when->text == "duplicates";
        if (!made.duplicates) made.when = terms_.patterns(*when, path + ".when");
        if (!made.duplicates && made.when.empty() && when->kind == Tree::Kind::kMap) {
            terms_.flaw(when->line,
                        fmt::format("{}.when tests nothing; write {{ROLE: one}}", path));
        }
    }
    if (const Tree* past = tree.child("past")) read_past(*past, made, path + ".past");
    if (const Tree* counts = tree.child("ask_while")) {
        std::vector<std::string> known;
        for (const policy::Count& count : policy_.counts) known.push_back(count.name);
        for (const std::string& name : terms_.words(*counts, path + ".ask_while")) {
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                terms_.flaw(counts->line,
                            fmt::format("{}.ask_while: '{}' is not a count; {}", path, name,
                                        known.empty() ? "there is none, write counts: {…} above"
                                                      : did_you_mean(name, known)));
                continue;
            }
            made.ask_while.push_back(name);
        }
    }
    if (const Tree* steps = tree.child("do")) made.steps = read_steps(*steps, path + ".do");
    rule.cases.push_back(std::move(made));
}

/// `ROLE.TIMESTAMP + ROLE.DURATION`, or `+ 15m`.
void PolicyReader::read_past(const Tree& tree, policy::Case& made, const std::string& path) {
    const std::string text = terms_.word(tree, path);
    const std::size_t plus = text.find('+');
    if (plus == std::string::npos) {
        terms_.flaw(tree.line, fmt::format("{} is '{}'; write ROLE.TIMESTAMP + ROLE.DURATION, or "
                                           "ROLE.TIMESTAMP + 15m",
                                           path, text));
        return;
    }
    const auto trimmed = [](std::string_view part) {
        const std::size_t first = part.find_first_not_of(' ');
        if (first == std::string_view::npos) return std::string_view();
        return part.substr(first, part.find_last_not_of(' ') - first + 1);
    };
    const std::string_view length = trimmed(std::string_view(text).substr(plus + 1));
    const auto from =
        terms_.reference(trimmed(std::string_view(text).substr(0, plus)), tree.line, path);
    if (!from) return;
    const Type type = terms_.type_of(*from);
    if (type != Type::kTimestamp && type != Type::kDate) {
        terms_.flaw(tree.line, fmt::format("{} begins with {}.{}, which is a {}; write a timestamp",
                                           path, from->role, from->field, name_of(type)));
        return;
    }
    if (const auto fixed = parse_duration(length)) {
        made.past = policy::Deadline{*from, *fixed};
        return;
    }
    const auto field = terms_.reference(length, tree.line, path);
    if (!field) return;
    if (terms_.type_of(*field) != Type::kDuration) {
        terms_.flaw(tree.line,
                    fmt::format("{} adds {}.{}, which is a {}; write a duration", path, field->role,
                                field->field, name_of(terms_.type_of(*field))));
        return;
    }
    made.past = policy::Deadline{*from, *field};
}

// ------------------------------------------------------------------ steps

std::vector<policy::Step> PolicyReader::read_steps(const Tree& tree, const std::string& path) {
    std::vector<policy::Step> steps;
    if (tree.kind != Tree::Kind::kList) {
        if (auto step = read_step(tree, path)) steps.push_back(std::move(*step));
        return steps;
    }
    if (tree.children.empty() || tree.children.size() > kMostLines) {
        terms_.flaw(tree.line, fmt::format("{} is not a list of 1 to {} steps", path, kMostLines));
    }
    for (const Tree& each : tree.children) {
        if (auto step = read_step(each, path)) steps.push_back(std::move(*step));
    }
    return steps;
}

const VerbUse* PolicyReader::verb_of(const Tree& tree, const std::string& path) {
    const VerbUse* used = nullptr;
    for (const VerbUse& verb : kVerbs) {
        if (tree.child(verb.name) == nullptr) continue;
        if (used != nullptr) {
            terms_.flaw(tree.line, fmt::format("{} has two verbs, {} and {}; write a list of two "
                                               "steps",
                                               path, used->name, verb.name));
            return nullptr;
        }
        used = &verb;
    }
    if (used == nullptr) {
        std::vector<std::string> known{"report"};
        for (const VerbUse& verb : kVerbs) known.emplace_back(verb.name);
        const std::string first = tree.children.empty() ? "" : tree.children.front().key;
        terms_.flaw(tree.line, fmt::format("{}: '{}' is not a verb; {}", path, first,
                                           did_you_mean(first, known)));
    }
    return used;
}

std::optional<policy::Step> PolicyReader::read_step(const Tree& tree, const std::string& path) {
    policy::Step step;
    if (tree.kind == Tree::Kind::kText && tree.text == "report") return step;
    if (tree.kind != Tree::Kind::kMap) {
        terms_.flaw(
            tree.line,
            fmt::format("{} is not a step; write report, or {{VERB: ROLE}} as in {{delete: pods}}",
                        path));
        return std::nullopt;
    }
    const VerbUse* used = verb_of(tree, path);
    if (used == nullptr) return std::nullopt;
    const Tree* target = tree.child(used->name);
    step.verb = used->verb;
    const policy::Role* role =
        terms_.role(terms_.word(*target, path), target->line, path + '.' + target->key);
    if (role == nullptr) return std::nullopt;
    step.role = role->name;
    if (!offers(role->kind, *used)) {
        std::vector<std::string> offered;
        for (const VerbUse& verb : kVerbs) {
            if (offers(role->kind, verb)) offered.emplace_back(verb.name);
        }
        terms_.flaw(
            target->line,
            fmt::format("{}: nothing can {} a {}; for {} (kind {}) there are {}", path, used->name,
                        name_of(role->kind), role->name, name_of(role->kind), enumerate(offered)));
    }
    for (const Tree& each : tree.children) {
        if (each.key != used->name) read_step_option(each, step, *role, path);
    }
    const bool kubernetes = role->kind == Kind::kPod || role->kind == Kind::kObject;
    if (step.verb == Verb::kDelete && kubernetes && step.propagation.empty()) {
        step.propagation = "background";
    }
    check_step(tree, step, path);
    return step;
}

void PolicyReader::read_step_option(const Tree& tree, policy::Step& step, const policy::Role& role,
                                    const std::string& path) {
    const bool kubernetes = role.kind == Kind::kPod || role.kind == Kind::kObject;
    const bool sets =
        step.verb == Verb::kUpdate || step.verb == Verb::kInsert || step.verb == Verb::kCreate;
    const std::string where = path + '.' + tree.key;
    if (tree.key == "grace_period" && step.verb == Verb::kDelete && role.kind == Kind::kPod) {
        read_grace_period(tree, step, where);
    } else if (tree.key == "propagation" && step.verb == Verb::kDelete && kubernetes) {
        read_propagation(tree, step, where);
    } else if (tree.key == "set" && sets) {
        read_sets(tree, step, role, where);
    } else if (step.verb == Verb::kCreate && read_create_option(tree, step, where)) {
        return;
    } else if (tree.key == "subresource" && step.verb == Verb::kUpdate && kubernetes) {
        step.subresource = terms_.word(tree, where);
        if (step.subresource != "status") {
            terms_.flaw(tree.line, fmt::format("{} accepts only subresource: status", where));
        }
    } else {
        terms_.flaw(tree.line,
                    fmt::format("{}: '{}' cannot be used with {}: {} (kind {})", path, tree.key,
                                policy::name_of(step.verb), role.name, name_of(role.kind)));
    }
}

/// False: `create` has no such option.
bool PolicyReader::read_create_option(const Tree& tree, policy::Step& step,
                                      const std::string& path) {
    if (tree.key == "name") {
        step.name = terms_.text(tree, path);
    } else if (tree.key == "from") {
        step.from = terms_.word(tree, path);
    } else if (tree.key == "object") {
        step.object = read_template(tree, path);
    } else if (tree.key == "reads") {
        for (const std::string& name : terms_.words(tree, path)) {
            if (const auto field = terms_.reference(name, tree.line, path)) {
                step.reads.push_back(*field);
            }
        }
    } else {
        return false;
    }
    return true;
}

void PolicyReader::read_grace_period(const Tree& tree, policy::Step& step,
                                     const std::string& path) {
    const auto period = parse_duration(terms_.word(tree, path));
    if (!period || period->count() % 1000 != 0) {
        terms_.flaw(tree.line,
                    fmt::format("{} is '{}'; write whole seconds, as in 30s", path, tree.text));
    } else {
        step.grace_period = static_cast<std::uint32_t>(period->count() / 1000);
    }
}

void PolicyReader::read_propagation(const Tree& tree, policy::Step& step, const std::string& path) {
    step.propagation = terms_.word(tree, path);
    if (step.propagation != "background" && step.propagation != "foreground" &&
        step.propagation != "orphan") {
        terms_.flaw(tree.line, fmt::format("{} is '{}'; write background, foreground or orphan",
                                           path, step.propagation));
    }
}

/// What a step of its verb cannot be without.
void PolicyReader::check_step(const Tree& tree, const policy::Step& step, const std::string& path) {
    if ((step.verb == Verb::kUpdate || step.verb == Verb::kInsert) && step.sets.empty()) {
        terms_.flaw(tree.line, fmt::format("{} sets nothing; write set: {{FIELD: TEXT}}", path));
    }
    if (step.verb != Verb::kCreate) return;
    if (step.from.empty() == !step.object.has_value()) {
        terms_.flaw(tree.line,
                    fmt::format("{} needs what to create; write from: BUILDER or object: "
                                "{{…}}, one of them",
                                path));
    }
    if (step.from.empty() && step.name.empty()) {
        terms_.flaw(tree.line, fmt::format("{} needs a name; write name: \"{{subject}}\"", path));
    }
}

void PolicyReader::read_sets(const Tree& tree, policy::Step& step, const policy::Role& role,
                             const std::string& path) {
    if (!terms_.is_map(tree, path)) return;
    for (const Tree& each : tree.children) {
        if (tree.child(each.key) != &each) continue;
        const std::string where = path + '.' + each.key;
        policy::Assigned set;
        set.field = each.key;
        if (each.kind != Tree::Kind::kNull) set.value = terms_.text(each, where);
        const auto field = terms_.field_of(role, each.key);
        const bool literal = set.value && set.value->size() == 1 &&
                             set.value->front().kind == policy::Piece::Kind::kLiteral;
        if (field && literal && !field->words.empty() &&
            !std::binary_search(field->words.begin(), field->words.end(),
                                set.value->front().literal)) {
            terms_.flaw(each.line,
                        fmt::format("{}: {} is one of {}, but not '{}'; {}", where, each.key,
                                    enumerate(field->words), set.value->front().literal,
                                    did_you_mean(set.value->front().literal, field->words)));
        }
        step.sets.push_back(std::move(set));
    }
    std::sort(
        step.sets.begin(), step.sets.end(),
        [](const policy::Assigned& a, const policy::Assigned& b) { return a.field < b.field; });
}

policy::Template PolicyReader::read_template(const Tree& tree, const std::string& path) {
    policy::Template made;
    made.key = tree.key;
    switch (tree.kind) {
        case Tree::Kind::kNull:
            made.kind = policy::Template::Kind::kNull;
            break;
        case Tree::Kind::kText:
            made.kind = policy::Template::Kind::kText;
            made.text = terms_.text(tree, path);
            break;
        case Tree::Kind::kList:
            made.kind = policy::Template::Kind::kList;
            break;
        case Tree::Kind::kMap:
            (void)terms_.is_map(tree, path);
            break;
    }
    for (const Tree& each : tree.children) {
        made.parts.push_back(read_template(each, path + '.' + each.key));
    }
    return made;
}

}  // namespace

namespace {

void note_lines(const Tree& tree, const std::string& path, std::map<std::string, int>& lines) {
    for (std::size_t i = 0; i < tree.children.size(); ++i) {
        const Tree& child = tree.children[i];
        const bool map = tree.kind == Tree::Kind::kMap;
        std::string below = path;
        if (map && !below.empty()) below += '.';
        below += map ? child.key : '[' + std::to_string(i) + ']';
        lines.emplace(below, child.line);
        note_lines(child, below, lines);
    }
}

}  // namespace

Result<PolicyFile> parse_policy(std::string_view text, const std::string& file_name) {
    if (text.size() > kMostPolicyBytes) {
        return Error{Next::kStop, Code::kConfiguration,
                     fmt::format("{}: the file has {} KiB; a policy has at most {}", file_name,
                                 text.size() / 1024, kMostPolicyBytes / 1024)};
    }
    const Result<Tree> tree = read_tree(text, file_name);
    if (!tree) return tree.error();
    PolicyFile made;
    PolicyLines lines;
    Problems problems(file_name);
    Problems warnings(file_name);
    PolicyReader(made.policy, lines, problems).read(*tree);
    // What rests on a part that could not be read would be said of something that is not there.
    if (problems.none()) check_policy(made.policy, lines, problems, warnings);
    if (!problems.none()) return Error{Next::kStop, Code::kConfiguration, problems.text()};
    made.warnings = warnings.text();
    note_lines(*tree, {}, made.lines);
    return made;
}

Result<PolicyFile> load_policy(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return Error{Next::kStop, Code::kConfiguration,
                     path + ": cannot be opened; check the path"};
    }
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    return parse_policy(text, path);
}

}  // namespace trueup::config
