#include "apps/operate.h"

#include "apps/client.h"
#include "apps/findings_text.h"
#include "apps/json_text.h"
#include "apps/why_text.h"
#include "engine/base/result.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

using Json = nlohmann::ordered_json;

constexpr Millis kTimeout{15'000};
constexpr Millis kSaySo{2'000};
constexpr Millis kPoll{100};  // HTTP has no news to wait for
constexpr int kWrong = 2;
constexpr std::size_t kOneByOne = 100;  // findings that are approved by a request each
constexpr std::uint64_t kAll = 20'000;  // more are never kept

Error wrong(std::string sentence) { return {Next::kStop, Code::kInvalid, std::move(sentence)}; }

}  // namespace

int complain(const std::string& sentence) {
    fmt::print(stderr, "trueup: {}\n", sentence);
    return kWrong;
}

namespace {

/// Of several policies, what each of them said.
void print_answer(const Json& answer) {
    const Json answers = answer.value("answers", Json::array());
    if (answers.size() < 2) {
        fmt::print("{}: {}\n", text(answer, "state"), text(answer, "sentence"));
        return;
    }
    for (const Json& one : answers) {
        fmt::print("{}: {}: {}\n", text(one, "policy"), text(one, "state"), text(one, "sentence"));
    }
}

}  // namespace

int ask_engine(const EngineClient& engine, const Json& body, OutputFormat format) {
    const Result<Json> taken = engine.post("/v1/requests", body);
    if (!taken) return complain(taken.error().what);
    const std::string id = text(*taken, "request");
    // A brake that some policy was not told of is none there.
    const Json left = taken->value("not_asked", Json::array());
    for (const Json& policy : left) {
        fmt::print(stderr, "trueup: policy {} was not asked: {}\n", text(policy, "policy"),
                   text(policy, "sentence"));
    }
    const auto start = std::chrono::steady_clock::now();
    bool said = false;
    for (;;) {
        const Result<Json> answer = engine.get("/v1/requests/" + id);
        if (!answer) return complain(answer.error().what);
        const std::string state = text(*answer, "state");
        if (state != "pending") {
            if (format == OutputFormat::kJson) {
                fmt::print("{}\n", answer->dump());
            } else {
                print_answer(*answer);
            }
            return state == "granted" && left.empty() ? 0 : 1;
        }
        const auto waited = std::chrono::steady_clock::now() - start;
        if (waited > kTimeout) {
            return complain(
                fmt::format("request {0} is in the log, but the engine has not processed it yet; "
                            "check it later with GET /v1/requests/{0}",
                            id));
        }
        if (waited > kSaySo && !std::exchange(said, true)) {
            fmt::print(stderr, "waiting for the engine ...\n");
        }
        std::this_thread::sleep_for(kPoll);
    }
}

bool confirmed(bool already, const std::string& question) {
    if (already) return true;
    fmt::print("{} Type yes or no: ", question);
    std::fflush(stdout);
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "yes";
}

namespace {

Json request_of(const OperateOptions& options, const std::string& kind) {
    Json body{{"kind", kind}};
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) body[name] = value;
    };
    add("name", options.name);
    add("policy", options.policy);
    add("subject", options.subject);
    add("rule", options.rule);
    add("source", options.source);
    add("reason", options.reason);
    add("comment", options.comment);
    if (options.seen) body["seen"] = options.seen->value();
    if (options.drop) body["drop"] = true;
    return body;
}

Result<Json> list(const EngineClient& engine, const OperateOptions& options) {
    EngineClient::Params params{{"limit", std::to_string(options.limit)}};
    for (const auto& [name, value] : {std::pair{"policy", &options.policy},
                                      {"rule", &options.rule},
                                      {"reason", &options.reason},
                                      {"subject", &options.subject}}) {
        if (!value->empty()) params.emplace_back(name, *value);
    }
    return engine.get("/v1/findings", params);
}

bool filters(const OperateOptions& options) {
    return !(options.policy.empty() && options.rule.empty() && options.reason.empty() &&
             options.subject.empty());
}

/// The one finding that a handle means; the error says what to write instead.
Result<Json> find(const EngineClient& engine, const std::string& handle) {
    const std::string id = handle.substr(0, handle.find('@'));
    if (id.size() < 4) return wrong("write the id of a finding, from `trueup findings list`");
    const Result<Json> page = engine.get("/v1/findings", {{"id", id}, {"limit", "2"}});
    if (!page) return page.error();
    const Json& found = (*page)["findings"];
    if (found.size() == 1) return found.front();
    return wrong(found.empty() ? "no open finding begins with " + id + "; it may be over already"
                               : id + " matches several findings; write more digits");
}

std::optional<Offset> seen_of(const std::string& handle) {
    const std::size_t at = handle.find('@');
    if (at == std::string::npos) return std::nullopt;
    std::int64_t seen = 0;
    const char* end = handle.data() + handle.size();
    const auto read = std::from_chars(handle.data() + at + 1, end, seen);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return Offset(seen);
}

int ask_about(const OperateOptions& options, const std::string& kind) {
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    const Result<Json> finding = find(*engine, options.handle);
    if (!finding) return complain(finding.error().what);
    OperateOptions about;
    about.comment = options.comment;
    about.drop = options.drop;
    about.subject = text(*finding, "subject");
    about.policy = text(*finding, "policy");
    if (kind == "approve") {
        about.seen = seen_of(options.handle);
        if (!about.seen) {
            return complain("an approval needs the offset at which you saw the finding, as in " +
                            handle_of(*finding));
        }
    }
    Json body = request_of(about, kind);
    body["finding"] = text(*finding, "id");
    return ask_engine(*engine, body, options.format);
}

/// The findings of the page that wait for an operator, and for nothing else.
std::vector<Json> approvable(const Json& page) {
    std::vector<Json> all;
    for (const Json& finding : page["findings"]) {
        const std::string reason = text(finding, "reason");
        if (reason == "approval" || reason == "not_enabled" || reason == "uncorrelated_rows")
            all.push_back(finding);
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
    if (!several_journals(page) && waiting.size() > kOneByOne) {
        std::set<std::string> reasons;
        for (const Json& finding : waiting) reasons.insert(text(finding, "reason"));
        OperateOptions all = options;
        all.seen = Offset(page.value("seen", std::int64_t{-1}));
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
        one.seen = Offset(finding.value("offset", std::int64_t{-1}));
        Json body = request_of(one, "approve");
        body["finding"] = text(finding, "id");
        code = std::max(code, ask_engine(engine, body, options.format));
    }
    return code;
}

/// Shows what waits, asks, and approves it.
int approve_listed(const EngineClient& engine, const OperateOptions& options,
                   const std::string& question, const std::string& refused,
                   const std::string& otherwise) {
    const Result<Json> page = list(engine, options);
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
    if (!json) print_findings(*page, filters(options));
    if (json && options.dry_run) fmt::print("{}\n", page->dump(2));
    if (options.dry_run) return 0;
    if (waiting.empty()) {
        if (json) {
            fmt::print("{}\n", Json{{"approved", 0}}.dump());
        } else {
            fmt::print("{}\n", otherwise);
        }
        return 0;
    }
    if (!confirmed(options.yes, fmt::format(fmt::runtime(question), waiting.size()))) {
        fmt::print("aborted; {}\n", refused);
        return 1;
    }
    return approve_seen(engine, *page, waiting, options);
}

}  // namespace

int run_findings_list(const OperateOptions& options) {
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    const Result<Json> page = list(*engine, options);
    if (!page) return complain(page.error().what);
    if (options.format == OutputFormat::kJson) {
        fmt::print("{}\n", page->dump(2));
    } else {
        print_findings(*page, filters(options));
    }
    return 0;
}

int run_findings_show(const OperateOptions& options) {
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    const std::string id = options.handle.substr(0, options.handle.find('@'));
    const Result<Json> finding = engine->get("/v1/findings/" + id);
    if (!finding) return complain(finding.error().what);
    if (options.format == OutputFormat::kJson) {
        fmt::print("{}\n", finding->dump(2));
    } else {
        print_finding(*finding);
    }
    return 0;
}

int run_findings_approve(const OperateOptions& options) {
    if (!options.handle.empty()) return ask_about(options, "approve");
    if (options.reason.empty() && options.rule.empty()) {
        return complain(
            "no finding is named; write the id of one, from `trueup findings list`, or --rule "
            "RULE, or --reason approval (or not_enabled, uncorrelated_rows), which shows them and "
            "asks");
    }
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    // A script that looked before says what it saw.
    if (options.seen) return ask_engine(*engine, request_of(options, "approve"), options.format);
    OperateOptions all = options;
    all.limit = kAll;
    return approve_listed(*engine, all, "Approve these {}?", "nothing was approved",
                          "no finding waits for an approval");
}

int run_findings_dismiss(const OperateOptions& options) { return ask_about(options, "dismiss"); }

int run_request(const OperateOptions& options, const std::string& kind) {
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    return ask_engine(*engine, request_of(options, kind), options.format);
}

int run_cleanup(const OperateOptions& options) {
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    OperateOptions orphans = options;
    orphans.rule = "orphaned_pod";
    orphans.limit = kAll;
    if (orphans.comment.empty()) orphans.comment = "cleanup";
    return approve_listed(*engine, orphans, "Delete these {} pods?", "nothing was deleted",
                          "no orphan waits for an approval; those in their grace will, if the mode "
                          "of orphaned_pod is approve");
}

}  // namespace trueup::apps
