#include "apps/operate.h"

#include "apps/ask.h"
#include "apps/findings_text.h"
#include "apps/operate_requests.h"
#include "engine/base/result.h"

#include <fmt/core.h>

namespace trueup::apps {

namespace {

using Json = EngineClient::Json;

}  // namespace

int run_findings_list(const OperateOptions& options) {
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    const Result<Json> page = list_findings(*engine, options);
    if (!page) return complain(page.error().what);
    if (options.format == OutputFormat::kJson) {
        fmt::print("{}\n", page->dump(2));
    } else {
        print_findings(*page, has_filters(options));
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

int run_findings_dismiss(const OperateOptions& options) { return ask_about(options, "dismiss"); }

int run_request(const OperateOptions& options, const std::string& kind) {
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    return ask_engine(*engine, request_of(options, kind), options.format);
}

}  // namespace trueup::apps
