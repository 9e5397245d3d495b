// What rules of a policy file share: conditions, counts, the ledger and requests.
#include "apps/config/policy_reader.h"
#include "apps/config/words.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trueup::config {

namespace {

using Type = policy::Field::Type;

}  // namespace

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
    static const std::vector<std::string> kThen{"true", "false", "transition"};
    if (at.has("then") && std::find(kThen.begin(), kThen.end(), then) == kThen.end()) {
        at.problem("then", fmt::format("is '{}'; {}", then, did_you_mean(then, kThen)));
    }
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
    if (!count.reason.empty() && !is_word(count.reason)) {
        at.problem("reason", fmt::format("is '{}', which is not a name; write lower-case letters, "
                                         "digits and _, starting with a letter",
                                         count.reason));
    }
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
        if (!terms_.may_count(*role, one.line, path + ".objects")) return true;
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

}  // namespace trueup::config
