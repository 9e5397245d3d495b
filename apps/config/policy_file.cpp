#include "apps/config/policy_file.h"

#include "apps/config/policy_lines.h"
#include "apps/config/policy_reader.h"
#include "apps/config/tree.h"
#include "apps/config/words.h"

#include <fmt/format.h>

#include <utility>

namespace trueup::config {

namespace {

constexpr std::size_t kMostRules = 254;  // of a policy over its life, as numbers in a journal
constexpr std::size_t kMostCounts = 16;

}  // namespace

std::vector<const Tree*> PolicyReader::named(const Tree& tree, std::string_view key) {
    std::vector<const Tree*> all;
    const Tree* map = tree.child(key);
    if (map == nullptr || !terms_.is_map(*map, std::string(key))) return all;
    for (const Tree& each : map->children) {
        if (!is_word(each.key)) {
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
    for (const char* key :
         {"roles", "conditions", "counts", "ledger", "requests", "rules", "metrics", "events"}) {
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
    read_exports(tree);
}

bool PolicyReader::said(Section& section, std::string_view key, std::string_view word) {
    const std::string text = section.text(key);
    if (!text.empty() && text != word) {
        section.problem(key, fmt::format("accepts only {}: {}", key, word));
    }
    return text == word;
}

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
                     fmt::format("{}: the file has more than {} KiB, the most that a policy has",
                                 file_name, kMostPolicyBytes / 1024)};
    }
    const Result<Tree> tree = read_tree(text, file_name);
    if (!tree) return tree.error();
    PolicyFile made;
    made.digest = hash128(text);
    PolicyLines lines;
    Problems problems(file_name);
    Problems warnings(file_name);
    PolicyReader reader(made.policy, lines, problems);
    reader.read(*tree);
    made.exports = reader.exports();
    // What rests on a part that could not be read would be said of something that is not there.
    if (problems.none()) check_policy(made.policy, lines, problems, warnings);
    if (!problems.none()) return Error{Next::kStop, Code::kConfiguration, problems.text()};
    made.warnings = warnings.text();
    note_lines(*tree, {}, made.lines);
    return made;
}

Result<PolicyFile> load_policy(const std::string& path) {
    const Result<std::string> text = read_file(path, "the policy", kMostPolicyBytes);
    if (!text) return text.error();
    return parse_policy(*text, path);
}

}  // namespace trueup::config
