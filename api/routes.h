// What is served, and to whom.
//
//   GET  /healthz, /readyz, /metrics           everybody; /readyz says why not to a token only
//   GET  /v1/findings?policy=&rule=&reason=&subject=&limit=, /v1/findings/<id>      any role
//   GET  /v1/policy?policy=                    any role: what each rule means, and may do
//   GET  /v1/why?subject=&rule=                any role: what each rule makes of a subject
//   POST /v1/requests {"kind": "approve", "subject": "…", "finding": "…", "seen": 17, …}
//   GET  /v1/requests/<id>                     what came of it
//   POST /internal/reconcile                   starts a pass at once
//
// 401 without a token that is known and not over, 403 with one whose role does not suffice, 400
// with one sentence where the body is wrong. A request that was taken is answered 202 with its id.
// Where several policies run, what names none is of all of them, or is refused with their names.
// HEAD goes where GET goes. A header alone decides who may speak: `plan` never sees a body.
#pragma once

#include "api/backend.h"
#include "api/http.h"
#include "engine/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::api {

enum class Page : std::uint8_t {
    kAlive,
    kReady,
    kMetrics,
    kFindings,
    kFinding,
    kWhy,
    kAsk,
    kAnswer,
    kReconcile,
    kPolicy,
    kSettings
};

/// What a header led to.
struct Plan {
    std::optional<Answer> refusal;  ///< answered at once, and the connection ends
    bool unauthorized = false;  ///< the token was wrong or did not suffice: 401, 403, or /readyz
    Page page = Page::kAlive;
    bool known = false;  ///< a good token was shown
    Caller caller;       ///< where known
    std::vector<std::pair<std::string, std::string>> query;
    std::string id;  ///< of kFinding and kAnswer: what follows the path

    bool takes_body() const { return page == Page::kAsk || page == Page::kReconcile; }
    /// Made without a token: from one look at the process for all who wait.
    bool open() const { return page <= Page::kMetrics; }
};

/// The path of a page, as a person writes it.
std::string_view path_of(Page page);

/// Decides by the header. Asks nothing of the engine. `now`: seconds since 1970.
Plan plan(const Tokens& tokens, const Head& head, std::int64_t now);
/// What a plan that is not `open` comes to; may wait for the engine and for the log.
Answer serve(const Backends& backends, const Plan& plan, const std::string& body);
/// `/readyz`, in few words to strangers: ready once each policy is.
Answer readiness(const std::vector<Snapshot>& policies, bool known);

/// One sentence as JSON.
Answer refusal(unsigned status, const std::string& why);
/// The request in a body, or one sentence.
Result<Request> request_of(const std::string& text);
/// `a=b&c=%20`, decoded; nullopt: a `%` without two hex digits.
std::optional<std::vector<std::pair<std::string, std::string>>> query_of(std::string_view text);

}  // namespace trueup::api
