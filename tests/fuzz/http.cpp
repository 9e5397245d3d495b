// What a stranger writes to the HTTP side, from its header to what is asked: nobody is known
// without a token, a refusal says why, and what is asked in a body is a kind that there is. The
// first two lines are the request's line and its Authorization, what comes behind them the body.
#include "api/routes.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>

namespace {

std::string_view line_of(std::string_view& bytes) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
    return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    static const api::Tokens kTokens =
        api::Tokens::parse("olga ops oooooooooooooooooooo\nvera viewer vvvvvvvvvvvvvvvvvvvv")
            .value();
    std::string_view bytes = fuzz::text(data, size);
    const std::string_view line = line_of(bytes);
    const std::string_view authorization = line_of(bytes);
    const std::string_view method = line.substr(0, line.find(' '));
    const std::string_view target = line.substr(std::min(line.size(), method.size() + 1));
    const api::Plan plan = api::plan(
        kTokens, {std::string(method), std::string(target), std::string(authorization)}, 0);
    const bool good = authorization == "Bearer oooooooooooooooooooo" ||
                      authorization == "Bearer vvvvvvvvvvvvvvvvvvvv";
    TRUEUP_CHECK(!plan.known || good);
    if (plan.refusal) {
        TRUEUP_CHECK(plan.refusal->status >= 400 && plan.refusal->status < 500);
        TRUEUP_CHECK(plan.refusal->body && plan.refusal->body->starts_with("{\"error\":\""));
    } else {
        TRUEUP_CHECK(plan.open() || plan.known);
        TRUEUP_CHECK(plan.page != api::Page::kReconcile || plan.caller.role >= api::Role::kOps);
    }
    const Result<Request> request = api::request_of(std::string(bytes));
    if (!request) {
        fuzz::check_refusal(request.error(), Next::kSkip);
    } else {
        TRUEUP_CHECK(request->kind != RequestKind::kUnspecified);
        TRUEUP_CHECK(request->issued_by.empty() && request->role.empty());
    }
    return 0;
}
