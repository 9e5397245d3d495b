// Findings that wait for an operator: shown, and approved as they were seen.
#include "apps/ask.h"
#include "apps/findings_text.h"
#include "apps/json_text.h"
#include "apps/operate.h"
#include "apps/operate_requests.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace trueup::apps {

namespace {

using Json = EngineClient::Json;

constexpr std::size_t kOneByOne = 100;  // findings that are approved by a request each
constexpr std::uint64_t kAll = 20'000;  // more are never kept

std::vector<Json> approvable(const Json& page) {
    std::vector<Json> all;
    for (const Json& finding : page["findings"]) {
        if (is_approvable(finding)) all.push_back(finding);
    }
    return all;
}

/// Approves what waits on this page, as it was seen there: what came up since does not slip in.
int approve_seen(const EngineClient& engine, const Json& page, const std::vector<Json>& waiting,
                 const OperateOptions& options) {
    int code = 0;
    // One by one, each by the offset that was shown: a page may show the newest record in part, so
    // that its offset alone could let in what was not on it. Of very many one request for each
    // reason, where there is one journal: a caller has a quota.
    const std::vector<Offset> seen = seen_on(page);
    if (seen.size() == 1 && waiting.size() > kOneByOne) {
        std::set<std::string> reasons;
        for (const Json& finding : waiting) reasons.insert(text(finding, "reason"));
        OperateOptions all = options;
        all.seen = seen;
        for (const std::string& reason : reasons) {
            all.reason = reason;
            code = std::max(code, ask_engine(engine, request_of(all, "approve"), options.format));
        }
        return code;
    }
    for (const Json& finding : waiting) {
        OperateOptions one;
        one.comment = options.comment;
        one.subject = text(finding, "subject");
        one.policy = text(finding, "policy");
        one.seen = {Offset(finding.value("offset", std::int64_t{-1}))};
        Json body = request_of(one, "approve");
        body["finding"] = text(finding, "id");
        code = std::max(code, ask_engine(engine, body, options.format));
    }
    return code;
}

int nothing_waits(const OperateOptions& options, const std::string& otherwise) {
    const bool json = options.format == OutputFormat::kJson;
    fmt::print("{}\n", json ? Json{{"approved", 0}}.dump() : otherwise);
    return 0;
}

/// Shows what waits, asks, and approves it.
int approve_listed(const EngineClient& engine, const OperateOptions& options,
                   const std::string& question, const std::string& refused,
                   const std::string& otherwise) {
    const Result<Json> page = list_findings(engine, options);
    if (!page) return complain(page.error().what);
    if (const auto hidden = not_shown(*page); hidden > 0) {
        return complain(
            fmt::format("{} more findings are open than can be shown, and only what is shown is "
                        "approved; narrow it with --rule, or approve with --reason and --seen",
                        hidden));
    }
    const std::vector<Json> waiting = approvable(*page);
    const bool json = options.format == OutputFormat::kJson;
    if (json && !options.yes && !options.dry_run) {
        return complain("-o json does not ask; add --yes, or --dry-run to show only");
    }
    if (!json) print_findings(*page, has_filters(options));
    if (json && options.dry_run) fmt::print("{}\n", page->dump(2));
    if (options.dry_run) return 0;
    if (waiting.empty()) return nothing_waits(options, otherwise);
    if (!confirmed(options.yes, fmt::format(fmt::runtime(question), waiting.size()))) {
        fmt::print("aborted; {}\n", refused);
        return 1;
    }
    return approve_seen(engine, *page, waiting, options);
}

}  // namespace

int run_findings_approve(const OperateOptions& options) {
    if (!options.handle.empty()) return ask_about(options, "approve");
    if (options.reason.empty() && options.rule.empty()) {
        return complain(
            "no finding is named; write the id of one, from `trueup findings list`, or --rule "
            "RULE, or --reason approval (or not_enabled, recurring, or that of a count), which "
            "shows them and asks");
    }
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    // A script that looked before says what it saw.
    if (!options.seen.empty())
        return ask_engine(*engine, request_of(options, "approve"), options.format);
    OperateOptions all = options;
    all.limit = kAll;
    return approve_listed(*engine, all, "Approve these {}?", "nothing was approved",
                          "no finding waits for an approval");
}

int run_cleanup(const OperateOptions& options) {
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    OperateOptions all = options;
    all.limit = kAll;
    if (all.comment.empty()) all.comment = "cleanup";
    const Result<Json> page = list_findings(*engine, all);
    if (!page) return complain(page.error().what);
    const Result<std::string> rule = cleanup_rule(*page, all.rule);
    if (!rule) return complain(rule.error().what);
    const std::string otherwise =
        "no deletion waits for an approval; what is in its grace will, if the mode of its rule is "
        "approve";
    // Without a rule the list below would be of every rule, whatever that does.
    if (rule->empty()) return nothing_waits(options, otherwise);
    all.rule = *rule;
    return approve_listed(*engine, all, "Delete these {} objects?", "nothing was deleted",
                          otherwise);
}

}  // namespace trueup::apps
