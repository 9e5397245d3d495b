#include "apps/operate_requests.h"

#include "apps/ask.h"
#include "apps/findings_text.h"
#include "apps/json_text.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

namespace trueup::apps {

namespace {

using Json = EngineClient::Json;

Error wrong(std::string sentence) { return {Next::kStop, Code::kInvalid, std::move(sentence)}; }

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

}  // namespace

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
    if (options.seen.size() == 1) body["seen"] = options.seen.front().value();
    if (options.seen.size() > 1) {
        for (const Offset offset : options.seen) body["seen"].push_back(offset.value());
    }
    if (options.drop) body["drop"] = true;
    return body;
}

Result<Json> list_findings(const EngineClient& engine, const OperateOptions& options) {
    EngineClient::Params params{{"limit", std::to_string(options.limit)}};
    for (const auto& [name, value] : {std::pair{"policy", &options.policy},
                                      {"rule", &options.rule},
                                      {"reason", &options.reason},
                                      {"subject", &options.subject}}) {
        if (!value->empty()) params.emplace_back(name, *value);
    }
    return engine.get("/v1/findings", params);
}

bool has_filters(const OperateOptions& options) {
    return !(options.policy.empty() && options.rule.empty() && options.reason.empty() &&
             options.subject.empty());
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
        const std::optional<Offset> seen = seen_of(options.handle);
        if (!seen) {
            return complain("an approval needs the offset at which you saw the finding, as in " +
                            handle_of(*finding));
        }
        about.seen = {*seen};
    }
    Json body = request_of(about, kind);
    body["finding"] = text(*finding, "id");
    return ask_engine(*engine, body, options.format);
}

}  // namespace trueup::apps
