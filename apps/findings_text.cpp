#include "apps/findings_text.h"

#include "apps/json_text.h"
#include "apps/seen_offsets.h"
#include "apps/why_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trueup::apps {

namespace {

using Json = FindingsJson;

/// `45s`, `12m`, `3h`, `2d`: the largest unit that is full.
std::string age_text(const Json& finding) {
    const auto found = finding.find("age_seconds");
    if (found == finding.end()) return "-";
    constexpr std::int64_t kMinute = 60;
    constexpr std::int64_t kHour = 60 * kMinute;
    constexpr std::int64_t kDay = 24 * kHour;
    const auto seconds = found->get<std::int64_t>();
    if (seconds < 2 * kMinute) return fmt::format("{}s", seconds);
    if (seconds < 2 * kHour) return fmt::format("{}m", seconds / kMinute);
    if (seconds < 2 * kDay) return fmt::format("{}h", seconds / kHour);
    return fmt::format("{}d", seconds / kDay);
}

bool several_policies(const Json& page) { return page["policies"].size() > 1; }

void print_brakes(const Json& page) {
    for (const Json& policy : page["policies"]) {
        const std::string why = text(policy, "unavailable");
        if (!why.empty()) fmt::print("not shown: {}\n", why);
    }
    for (const Json& pause : page.value("pauses", Json::array())) {
        const std::string rule = text(pause, "rule");
        const std::string comment = text(pause, "comment");
        fmt::print("paused: {}{}, by {}{}\n", rule.empty() ? "every rule" : rule,
                   several_policies(page) ? " of policy " + text(pause, "policy") : "",
                   text(pause, "by"), comment.empty() ? "" : ": " + comment);
    }
    for (const Json& quarantine : page.value("quarantines", Json::array())) {
        fmt::print("quarantine: {}\n", text(quarantine, "sentence"));
    }
}

/// Where a finding lives, as far as there is a choice: `POLICY  SHARD`.
std::string place_text(const Json& page, const std::string& policy, const std::string& shard) {
    std::string place;
    if (several_policies(page)) place += fmt::format("{:<16} ", policy);
    const Json& policies = page["policies"];
    const bool shards = std::any_of(policies.begin(), policies.end(),
                                    [](const Json& one) { return one.value("shards", 1) > 1; });
    return shards ? place + fmt::format("{:<6}", shard) : place;
}

/// Is it done by one deletion and nothing else?
bool is_deletion(const Json& finding) {
    const std::string does = text(finding, "does");
    return does.starts_with("delete ") && does.find(',') == std::string::npos;
}

}  // namespace

bool is_approvable(const Json& finding) {
    // An engine of a build before does not say so itself.
    const std::string reason = text(finding, "reason");
    const bool known =
        reason == "approval" || reason == "not_enabled" || reason == "uncorrelated_rows";
    return finding.value("approvable", known);
}

Result<std::string> cleanup_rule(const Json& page, const std::string& named) {
    std::set<std::string> rules;
    for (const Json& finding : page["findings"]) {
        if (is_approvable(finding) && is_deletion(finding)) rules.insert(text(finding, "rule"));
    }
    const auto refused = [](std::string why) {
        return Error{Next::kStop, Code::kInvalid, std::move(why)};
    };
    if (named.empty() && rules.size() > 1) {
        return refused(
            fmt::format("deletions of {} rules wait ({}), and a cleanup is of one; "
                        "write --rule {}",
                        rules.size(), fmt::join(rules, ", "), *rules.begin()));
    }
    const std::string rule = named.empty() && !rules.empty() ? *rules.begin() : named;
    for (const Json& finding : page["findings"]) {
        if (text(finding, "rule") != rule || is_deletion(finding)) continue;
        return refused(
            fmt::format("{} does more than one deletion ({}); write findings approve "
                        "--rule {}",
                        rule, text(finding, "does"), rule));
    }
    return rule;
}

std::string handle_of(const Json& finding) {
    return text(finding, "id").substr(0, 8) + "@" +
           std::to_string(finding.value("offset", std::int64_t{-1}));
}

std::vector<Offset> seen_on(const Json& page) {
    std::vector<Offset> seen;
    const auto found = page.find("seen");
    if (found == page.end()) return seen;
    if (!found->is_array()) return {Offset(found->get<std::int64_t>())};
    for (const Json& offset : *found) seen.emplace_back(offset.get<std::int64_t>());
    return seen;
}

std::uint64_t not_shown(const Json& page) {
    return page.value("more", std::uint64_t{0}) + page.value("not_kept", std::uint64_t{0});
}

namespace {

/// The last line: how many there are, and as of when.
void print_count(const Json& page, bool filtered) {
    const std::uint64_t more = not_shown(page);
    if (more > 0) fmt::print("... and {} more\n", more);
    const std::vector<Offset> seen = seen_on(page);
    const bool judged =
        std::any_of(seen.begin(), seen.end(), [](Offset offset) { return offset >= kFirstOffset; });
    const std::string offset = seen.empty() ? ""
                               : !judged    ? "; nothing has been judged yet"
                                            : ", as of journal offset " + text_of(seen);
    fmt::print("{} open{}{}\n", page["findings"].size() + more, filtered ? " that match" : "",
               offset);
}

void print_object(const Json& object) {
    const bool present = object.value("present", true);
    fmt::print("  {:<9} {}{}, changed {}, journal offset {}\n", text(object, "source"),
               plain(text(object, "object")),
               present ? "" : " is gone (" + text(object, "absence") + ")",
               time_text(object, "changed_ms"), object.value("offset", std::int64_t{-1}));
    for (const auto& [name, value] : object["fields"].items()) {
        fmt::print("            {} = {}\n", name,
                   value.is_string() ? plain(value.get<std::string>()) : "null");
    }
    for (const Json& name : object.value("not_sent", Json::array())) {
        fmt::print("            {}: not sent with the last change\n", name.get<std::string>());
    }
}

}  // namespace

void print_findings(const Json& page, bool filtered) {
    constexpr std::string_view kRow = "{:<17} {:<21} {:<10} {:<18} {:>5} {}{}\n";
    print_brakes(page);
    if (!page["findings"].empty()) {
        fmt::print(kRow, "FINDING", "RULE", "STATE", "REASON", "AGE",
                   place_text(page, "POLICY", "SHARD"), "WHAT");
    }
    for (const Json& finding : page["findings"]) {
        const std::string does = text(finding, "does");
        fmt::print(
            kRow, handle_of(finding), text(finding, "rule"), text(finding, "state"),
            text(finding, "reason"), age_text(finding),
            place_text(page, text(finding, "policy"), std::to_string(finding.value("shard", 0))),
            text(finding, "sentence") + (does.empty() ? "" : " -> " + does));
    }
    print_count(page, filtered);
}

void print_finding(const Json& finding) {
    const auto line = [](const char* name, const std::string& value) {
        if (!value.empty()) fmt::print("{:<10} {}\n", name, plain(value));
    };
    line("finding", handle_of(finding));
    const std::string does = text(finding, "does");
    line("rule", text(finding, "rule") + (does.empty() ? " (only reports)" : " -> " + does));
    line("subject", text(finding, "subject"));
    line("state",
         text(finding, "state") + ", " + text(finding, "reason") + ", for " + age_text(finding));
    line("what", text(finding, "sentence"));
    if (finding.value("held", false)) line("hold", "the subject is on hold");
    if (const auto proposes = finding.find("proposes"); proposes != finding.end()) {
        line("proposes", text(*proposes, "text"));
    }
    if (const auto command = finding.find("command"); command != finding.end()) {
        line("command", text(*command, "text"));
        line("",
             fmt::format("id {}, issued {}, not after {}", text(*command, "id"),
                         time_text(*command, "issued_ms"), time_text(*command, "not_after_ms")));
    }
    fmt::print("sides\n");
    const Json objects = finding.value("objects", Json::array());
    for (const Json& source : finding.value("sources", Json::array())) {
        bool any = false;
        for (const Json& object : objects) {
            if (text(object, "source") != source) continue;
            print_object(object);
            any = true;
        }
        if (!any) fmt::print("  {:<9} nothing\n", source.get<std::string>());
    }
    if (const auto why = finding.find("why"); why != finding.end()) {
        fmt::print("why\n{}", stages_text(*why));
    }
    line("evidence", "journal offsets " + finding.value("evidence", Json::array()).dump());
}

}  // namespace trueup::apps
