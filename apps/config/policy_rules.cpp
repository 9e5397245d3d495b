// The rules of a policy file: what they find, when, and since when.
#include "apps/config/policy_reader.h"
#include "apps/config/policy_steps.h"
#include "apps/config/words.h"
#include "engine/base/suggest.h"
#include "engine/model/reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trueup::config {

namespace {

bool only_reports(const policy::Rule& rule) {
    return std::all_of(rule.cases.begin(), rule.cases.end(), [](const policy::Case& each) {
        return std::all_of(each.steps.begin(), each.steps.end(),
                           [](const policy::Step& step) { return !policy::acts(step.verb); });
    });
}

using Type = policy::Field::Type;

constexpr Millis kUsualGrace{30'000};
constexpr Millis kUsualWindow{30'000};

std::string_view trimmed(std::string_view part) {
    const std::size_t first = part.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return part.substr(first, part.find_last_not_of(' ') - first + 1);
}

}  // namespace

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
    if (!rule.requested.empty() && only_reports(rule)) {
        at.problem("requested",
                   "is of a rule that only reports; write what is to be done, or leave it out");
    }
    read_times(at, rule);
    at.finish();
    policy_.rules.push_back(std::move(rule));
}

/// The name of a request of the policy.
void PolicyReader::read_requested(Section& section, policy::Rule& rule) {
    rule.requested = section.text("requested");
    if (rule.requested.empty()) return;
    // What is granted is granted for one rule, and is over once that one has done it.
    for (const policy::Rule& other : policy_.rules) {
        if (other.requested != rule.requested) continue;
        section.problem("requested",
                        fmt::format("is '{}', which rules.{} waits for already; write both as "
                                    "cases of one rule, or give this one a request of its own",
                                    rule.requested, other.name));
    }
    if (policy_.requests.count(rule.requested) != 0) return;
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

/// Defaults wait: a rule that takes away, or writes because something is not there, gives the owner
/// time, and one that rests on `none` a window.
void PolicyReader::read_times(Section& section, policy::Rule& rule) {
    bool takes = false;
    bool writes = false;
    bool past = false;
    bool none = false;
    // It writes because something is not there, and nothing looks first whether it is.
    bool unseen = false;
    for (const policy::Case& each : rule.cases) {
        past = past || each.past.has_value();
        takes = takes || each.takes_away();
        writes = writes || each.writes();
        none = none || each.rests_on_none();
        unseen = unseen || writes_unseen(each);
    }
    const bool waits = !past && (takes || unseen);
    rule.grace = section.duration("grace", waits ? kUsualGrace : Millis{0});
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
        made.ask_while = read_asked(*counts, path + ".ask_while");
    }
    if (const Tree* steps = tree.child("do")) made.steps = read_steps(*steps, path + ".do", terms_);
    rule.cases.push_back(std::move(made));
}

/// Counts by name. What waits for one must not look like what waits for something else.
std::vector<std::string> PolicyReader::read_asked(const Tree& tree, const std::string& path) {
    std::vector<std::string> known;
    for (const policy::Count& count : policy_.counts) known.push_back(count.name);
    const std::vector<std::string> taken = reason_names();
    std::vector<std::string> asked;
    for (const std::string& name : terms_.words(tree, path)) {
        const auto found = std::find(known.begin(), known.end(), name);
        if (found == known.end()) {
            terms_.flaw(tree.line,
                        fmt::format("{}: '{}' is not a count; {}", path, name,
                                    known.empty() ? "there is none, write counts: {…} above"
                                                  : did_you_mean(name, known)));
            continue;
        }
        const policy::Count& count =
            policy_.counts[static_cast<std::size_t>(found - known.begin())];
        const std::string& reason = count.reason.empty() ? count.name : count.reason;
        const bool own = reason != name_of(Reason::kUncorrelatedRows) &&
                         std::find(taken.begin(), taken.end(), reason) != taken.end();
        if (own) {
            terms_.flaw(tree.line,
                        fmt::format("{}: findings have the reason '{}' for another cause; "
                                    "write another `reason` in counts.{}",
                                    path, reason, name));
        }
        asked.push_back(name);
    }
    return asked;
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
    const std::string_view parts(text);
    const auto from = terms_.reference(trimmed(parts.substr(0, plus)), tree.line, path);
    if (!from) return;
    const Type type = terms_.type_of(*from);
    if (type != Type::kTimestamp && type != Type::kDate) {
        terms_.flaw(tree.line, fmt::format("{} begins with {}.{}, which is a {}; write a timestamp",
                                           path, from->role, from->field, name_of(type)));
        return;
    }
    if (auto length = read_length(trimmed(parts.substr(plus + 1)), tree.line, path)) {
        made.past = policy::Deadline{*from, *std::move(length)};
    }
}

/// What stands behind the `+`.
std::optional<std::variant<Millis, policy::FieldRef>> PolicyReader::read_length(
    std::string_view text, int line, const std::string& path) {
    if (const auto fixed = parse_duration(text)) {
        if (*fixed != Millis{0}) return *fixed;
        terms_.flaw(line, fmt::format("{} adds 0s, and without a length there is no deadline; "
                                      "write at least 1ms",
                                      path));
        return std::nullopt;
    }
    const auto field = terms_.reference(text, line, path);
    if (!field) return std::nullopt;
    if (terms_.type_of(*field) == Type::kDuration) return *field;
    terms_.flaw(line, fmt::format("{} adds {}.{}, which is a {}; write a duration", path,
                                  field->role, field->field, name_of(terms_.type_of(*field))));
    return std::nullopt;
}

}  // namespace trueup::config
