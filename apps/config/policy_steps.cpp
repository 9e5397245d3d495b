#include "apps/config/policy_steps.h"

#include "apps/config/words.h"
#include "engine/base/suggest.h"
#include "engine/model/field_path.h"
#include "engine/model/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace trueup::config {

namespace {

using policy::Kind;
using policy::Verb;

/// The verbs that can be done to an object of the kind, by name.
std::vector<std::string> offered(Kind kind) {
    std::vector<std::string> verbs;
    for (const policy::VerbLine& line : policy::kVerbs) {
        if (policy::use_of(line.verb, kind) != nullptr) verbs.emplace_back(line.name);
    }
    return verbs;
}

bool mentions_now(const policy::Text& text) {
    return std::any_of(text.begin(), text.end(), [](const policy::Piece& piece) {
        return piece.kind == policy::Piece::Kind::kNow;
    });
}

class StepReader {
  public:
    explicit StepReader(PolicyTerms& terms) : terms_(terms) {}

    std::vector<policy::Step> read(const Tree& tree, const std::string& path);

  private:
    std::optional<policy::Step> read_step(const Tree& tree, const std::string& path);
    /// The verb that the step is made of; nullptr where there is not one, which is noted.
    const policy::VerbLine* verb_of(const Tree& tree, const std::string& path);
    void read_step_option(const Tree& tree, policy::Step& step, const policy::Role& role,
                          const std::string& path);
    bool read_create_option(const Tree& tree, policy::Step& step, const policy::Role& role,
                            const std::string& path);
    void read_grace_period(const Tree& tree, policy::Step& step, const std::string& path);
    void check_literal(const Tree& tree, const std::string& path, const policy::Field& field,
                       const std::string& value);
    void check_now(const Tree& tree, const std::string& path,
                   const std::optional<policy::Field>& field, const policy::Text& value);
    void read_propagation(const Tree& tree, policy::Step& step, const std::string& path);
    void check_step(const Tree& tree, const policy::Step& step, const std::string& path);
    void check_places(const Tree& tree, const policy::Step& step, const policy::Role& role,
                      const std::string& path);
    void read_sets(const Tree& tree, policy::Step& step, const policy::Role& role,
                   const std::string& path);
    policy::Template read_template(const Tree& tree, const std::string& path);
    void check_object(const Tree& tree, const policy::Role& role, const std::string& path);

    PolicyTerms& terms_;
};

std::vector<policy::Step> StepReader::read(const Tree& tree, const std::string& path) {
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

const policy::VerbLine* StepReader::verb_of(const Tree& tree, const std::string& path) {
    const policy::VerbLine* used = nullptr;
    for (const policy::VerbLine& verb : policy::kVerbs) {
        if (!policy::acts(verb.verb) || tree.child(verb.name) == nullptr) continue;
        if (used != nullptr) {
            terms_.flaw(tree.line, fmt::format("{} has two verbs, {} and {}; write a list of two "
                                               "steps",
                                               path, used->name, verb.name));
            return nullptr;
        }
        used = &verb;
    }
    if (used == nullptr) {
        std::vector<std::string> known;
        known.reserve(policy::kVerbs.size());
        for (const policy::VerbLine& verb : policy::kVerbs) known.emplace_back(verb.name);
        const std::string first = tree.children.empty() ? "" : tree.children.front().key;
        terms_.flaw(tree.line, fmt::format("{}: '{}' is not a verb; {}", path, first,
                                           did_you_mean(first, known)));
    }
    return used;
}

std::optional<policy::Step> StepReader::read_step(const Tree& tree, const std::string& path) {
    policy::Step step;
    if (tree.kind == Tree::Kind::kText && tree.text == "report") return step;
    if (tree.kind != Tree::Kind::kMap) {
        terms_.flaw(
            tree.line,
            fmt::format("{} is not a step; write report, or {{VERB: ROLE}} as in {{delete: pods}}",
                        path));
        return std::nullopt;
    }
    const policy::VerbLine* used = verb_of(tree, path);
    if (used == nullptr) return std::nullopt;
    const Tree* target = tree.child(used->name);
    step.verb = used->verb;
    const policy::Role* role =
        terms_.role(terms_.word(*target, path), target->line, path + '.' + target->key);
    if (role == nullptr) return std::nullopt;
    step.role = role->name;
    if (policy::use_of(step.verb, role->kind) == nullptr) {
        terms_.flaw(target->line,
                    fmt::format("{}: nothing can {} a {}; for {} (kind {}) there are {}", path,
                                used->name, name_of(role->kind), role->name, name_of(role->kind),
                                enumerate(offered(role->kind))));
    }
    for (const Tree& each : tree.children) {
        if (each.key != used->name) read_step_option(each, step, *role, path);
    }
    const bool kubernetes = policy::in_kubernetes(role->kind);
    if (step.verb == Verb::kDelete && kubernetes && step.propagation.empty()) {
        step.propagation = "background";
    }
    check_step(tree, step, path);
    if (policy::sets(step.verb) && kubernetes) check_places(tree, step, *role, path);
    return step;
}

void StepReader::read_step_option(const Tree& tree, policy::Step& step, const policy::Role& role,
                                  const std::string& path) {
    const bool kubernetes = policy::in_kubernetes(role.kind);
    const bool sets = policy::sets(step.verb) || policy::makes(step.verb);
    const std::string where = path + '.' + tree.key;
    if (tree.key == "grace_period" && step.verb == Verb::kDelete && role.kind == Kind::kPod) {
        read_grace_period(tree, step, where);
    } else if (tree.key == "propagation" && step.verb == Verb::kDelete && kubernetes) {
        read_propagation(tree, step, where);
    } else if (tree.key == "set" && sets) {
        read_sets(tree, step, role, where);
    } else if (step.verb == Verb::kCreate && read_create_option(tree, step, role, where)) {
        return;
    } else if (tree.key == "subresource" && policy::sets(step.verb) && kubernetes) {
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
bool StepReader::read_create_option(const Tree& tree, policy::Step& step, const policy::Role& role,
                                    const std::string& path) {
    if (tree.key == "name") {
        step.name = terms_.text(tree, path);
    } else if (tree.key == "from") {
        step.from = terms_.word(tree, path);
    } else if (tree.key == "object") {
        step.object = read_template(tree, path);
        if (terms_.is_map(tree, path)) check_object(tree, role, path);
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

void StepReader::read_grace_period(const Tree& tree, policy::Step& step, const std::string& path) {
    const auto period = parse_duration(terms_.word(tree, path));
    if (!period || period->count() % 1000 != 0) {
        terms_.flaw(tree.line,
                    fmt::format("{} is '{}'; write whole seconds, as in 30s", path, tree.text));
    } else if (*period == Millis(0)) {
        terms_.flaw(
            tree.line,
            fmt::format("{} is 0s, with which a pod is killed: its name and its volumes are "
                        "free while its processes may still run; write 1s or more, or leave "
                        "it out. Who runs it may kill: rules.RULE.grace_period in trueup.yaml",
                        path));
    } else if (*period > std::chrono::hours(24)) {
        terms_.flaw(tree.line,
                    fmt::format("{} is '{}'; write at most 24h, or leave it out: then each pod's "
                                "own terminationGracePeriodSeconds applies",
                                path, tree.text));
    } else {
        step.grace_period = static_cast<std::uint32_t>(period->count() / 1000);
    }
}

void StepReader::read_propagation(const Tree& tree, policy::Step& step, const std::string& path) {
    step.propagation = terms_.word(tree, path);
    if (step.propagation != "background" && step.propagation != "foreground" &&
        step.propagation != "orphan") {
        terms_.flaw(tree.line, fmt::format("{} is '{}'; write background, foreground or orphan",
                                           path, step.propagation));
    }
}

/// What a step of its verb cannot be without.
void StepReader::check_step(const Tree& tree, const policy::Step& step, const std::string& path) {
    if ((policy::sets(step.verb) || step.verb == Verb::kInsert) && step.sets.empty()) {
        terms_.flaw(tree.line, fmt::format("{} sets nothing; write set: {{FIELD: TEXT}}", path));
    }
    const auto now = [](const policy::Assigned& set) {
        return set.value && mentions_now(*set.value);
    };
    if (policy::sets(step.verb) && !step.sets.empty() &&
        std::all_of(step.sets.begin(), step.sets.end(), now)) {
        terms_.flaw(tree.line, fmt::format("{} sets nothing but {{now}}, so that it would never be "
                                           "known as done; set a field that says what happened, "
                                           "too, as in status: ended",
                                           path));
    }
    if (mentions_now(step.name)) {
        terms_.flaw(tree.line, fmt::format("{}: {{now}} is for what is set, not for a name; write "
                                           "name: \"{{subject}}\"",
                                           path));
    }
    if (step.verb != Verb::kCreate) return;
    if (step.from.empty() == !step.object.has_value()) {
        terms_.flaw(tree.line,
                    fmt::format("{} needs what to create; write from: BUILDER or object: "
                                "{{…}}, one of them",
                                path));
    }
    if (step.object && !step.sets.empty()) {
        terms_.flaw(tree.line,
                    fmt::format("{} has set, which is for a builder; write it in object", path));
    }
    if (step.from.empty() && step.name.empty()) {
        terms_.flaw(tree.line, fmt::format("{} needs a name; write name: \"{{subject}}\"", path));
    }
}

/// Where in an object each field stands, and whether a patch may set it there.
void StepReader::check_places(const Tree& tree, const policy::Step& step, const policy::Role& role,
                              const std::string& path) {
    for (const policy::Assigned& set : step.sets) {
        const std::string where = path + ".set." + set.field;
        const policy::Field* field = policy::find_field(role, set.field);
        const bool placed = field != nullptr && !field->path.empty();
        const std::string& at = policy::place_of(role, set.field);
        const bool marked = at.starts_with("label.") || at.starts_with("annotation.");
        if (!placed && !marked) {
            terms_.flaw(tree.line,
                        fmt::format("{}: nobody knows where in an object {} stands; declare it by "
                                    "path, as in roles.{}.fields: {{{}: {{text: spec.{}}}}}",
                                    where, set.field, role.name, set.field, set.field));
            continue;
        }
        Result<policy::FieldPath> place = policy::FieldPath::parse(set.field, at);
        if (!place) continue;  // said where it is declared
        if (!(*place).writable()) {
            terms_.flaw(tree.line,
                        fmt::format("{}: {} cannot be set: neither an element of a list, nor what "
                                    "says which object it is; set a field of its own, a label or "
                                    "an annotation",
                                    where, at));
        }
        const bool status = (*place).steps.front().name == "status";
        if (!step.subresource.empty() && !status) {
            terms_.flaw(tree.line, fmt::format("{}: {} is not below status; set it in a step "
                                               "without subresource: status",
                                               where, at));
        }
        for (const policy::Field& beside : role.fields) {
            if (beside.name == set.field || beside.path.empty()) continue;
            const auto read = policy::FieldPath::parse(beside.name, beside.path);
            if (!read || !(*read).overlaps(*place)) continue;
            terms_.flaw(tree.line, fmt::format("{}: {} stands at the same place; give one place "
                                               "one name",
                                               where, beside.name));
        }
        if (placed && at.starts_with("label.")) {
            terms_.flaw(tree.line, fmt::format("{}: a label has its name already; write {{{}: …}}, "
                                               "and so where it is asked for",
                                               where, at));
        }
    }
}

/// A text that the column would refuse is never written, and what was done before it stays done.
void StepReader::check_literal(const Tree& tree, const std::string& path,
                               const policy::Field& field, const std::string& value) {
    using Type = policy::Field::Type;
    if (field.type == Type::kBoolean && value != "true" && value != "false") {
        terms_.flaw(tree.line, fmt::format("{} is '{}', and {} is a boolean; write true or false",
                                           path, value, field.name));
    }
    if (field.type == Type::kNumber && !is_integer(value)) {
        terms_.flaw(tree.line, fmt::format("{} is '{}', and {} is a number; write a whole one, "
                                           "without zeros before it",
                                           path, value, field.name));
    }
}

/// The moment at which the command is issued, and nothing else: what is read back is compared.
void StepReader::check_now(const Tree& tree, const std::string& path,
                           const std::optional<policy::Field>& field, const policy::Text& value) {
    using Type = policy::Field::Type;
    if (!mentions_now(value)) return;
    if (value.size() != 1) {
        terms_.flaw(tree.line, fmt::format("{}: {{now}} has to stand alone; write {}: \"{{now}}\", "
                                           "and the rest of the text in another field",
                                           path, tree.key));
    }
    if (!field) return;
    const bool takes_it =
        field->words.empty() && (field->type == Type::kText || field->type == Type::kTimestamp);
    if (!takes_it) {
        terms_.flaw(tree.line, fmt::format("{}: {{now}} is a time, and {} is declared as something "
                                           "else; set a timestamp, or declare {}: timestamp",
                                           path, tree.key, tree.key));
    }
    // A column without a time zone keeps the digits of what is written, whatever zone they are in.
    if (!field->zone.empty() && policy::parse_zone(field->zone) != Millis(0)) {
        terms_.flaw(tree.line,
                    fmt::format("{}: {{now}} is written in UTC, and {} is read in the zone {}; "
                                "make the column a timestamptz and leave the zone out",
                                path, tree.key, field->zone));
    }
}

void StepReader::read_sets(const Tree& tree, policy::Step& step, const policy::Role& role,
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
        if (field && literal) check_literal(each, where, *field, set.value->front().literal);
        if (set.value) check_now(each, where, field, *set.value);
        step.sets.push_back(std::move(set));
    }
    std::sort(
        step.sets.begin(), step.sets.end(),
        [](const policy::Assigned& a, const policy::Assigned& b) { return a.field < b.field; });
}

/// As JSON writes a number or a boolean.
bool is_bare(std::string_view text) {
    if (text == "true" || text == "false") return true;
    if (text.starts_with('-')) text.remove_prefix(1);
    const auto digits = [](std::string_view part) {
        return !part.empty() &&
               std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::string_view whole = text.substr(0, point);
    const bool exact = digits(whole) && (whole.size() == 1 || whole.front() != '0');
    return exact && (point == text.size() || digits(text.substr(point + 1)));
}

std::size_t size_of(const Tree& tree) {
    std::size_t size = tree.key.size() + tree.text.size() + 4;
    for (const Tree& each : tree.children) size += size_of(each);
    return size;
}

/// What a template cannot say: who the object is comes from the step and from the source.
void StepReader::check_object(const Tree& tree, const policy::Role& role, const std::string& path) {
    constexpr std::size_t kMost = std::size_t{32} * 1024;
    const auto refuse = [&](const Tree* in, const std::string& at, const char* key,
                            const char* why) {
        const Tree* said = in == nullptr ? nullptr : in->child(key);
        if (said == nullptr) return;
        terms_.flaw(said->line, fmt::format("{}.{} is {}; leave it out", at, key, why));
    };
    refuse(&tree, path, "apiVersion", "what the source says");
    refuse(&tree, path, "status", "what the server and its controllers write");
    const Tree* metadata = tree.child("metadata");
    const std::string below = path + ".metadata";
    refuse(metadata, below, "name", "what the step's own name says");
    refuse(metadata, below, "generateName", "no name that anybody would know again");
    refuse(metadata, below, "namespace", "what the source says");
    for (const char* key : {"uid", "resourceVersion", "creationTimestamp"}) {
        refuse(metadata, below, key, "what the server writes");
    }
    const Tree* kind = tree.child("kind");
    const bool pod = role.kind == Kind::kPod;
    if (pod && kind != nullptr && kind->text != "Pod") {
        terms_.flaw(kind->line, fmt::format("{}.kind is '{}', and {} are pods; leave it out", path,
                                            kind->text, role.name));
    }
    if (!pod && (kind == nullptr || kind->text.empty())) {
        terms_.flaw(tree.line, fmt::format("{} needs the kind; write kind: KIND, as the manifests "
                                           "of {} have it",
                                           path, role.name));
    }
    if (size_of(tree) > kMost) {
        terms_.flaw(tree.line, fmt::format("{} has more than 32 KiB; put what is long into an "
                                           "object that it names",
                                           path));
    }
}

policy::Template StepReader::read_template(const Tree& tree, const std::string& path) {
    policy::Template made;
    made.key = tree.key;
    switch (tree.kind) {
        case Tree::Kind::kNull:
            made.kind = policy::Template::Kind::kNull;
            break;
        case Tree::Kind::kText:
            made.kind = policy::Template::Kind::kText;
            if (tree.plain && is_bare(tree.text)) {
                made.kind = policy::Template::Kind::kBare;
                made.text = {{policy::Piece::Kind::kLiteral, tree.text, {}}};
                break;
            }
            made.text = terms_.text(tree, path);
            if (mentions_now(made.text)) {
                terms_.flaw(tree.line,
                            fmt::format("{}: {{now}} is for what is set; a new object has a time "
                                        "of its own, metadata.creationTimestamp",
                                        path));
            }
            break;
        case Tree::Kind::kList:
            made.kind = policy::Template::Kind::kList;
            break;
        case Tree::Kind::kMap:
            (void)terms_.is_map(tree, path);
            break;
    }
    for (const Tree& each : tree.children) {
        const bool list = made.kind == policy::Template::Kind::kList;
        const std::string at = list ? fmt::format("[{}]", made.parts.size()) : '.' + each.key;
        made.parts.push_back(read_template(each, path + at));
    }
    return made;
}

}  // namespace

bool writes_unseen(const policy::Case& found) {
    return found.writes() && found.rests_on_none() && found.steps.front().verb != Verb::kVerify;
}

std::vector<policy::Step> read_steps(const Tree& tree, const std::string& path,
                                     PolicyTerms& terms) {
    return StepReader(terms).read(tree, path);
}

}  // namespace trueup::config
