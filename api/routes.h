// The routes behind a token: what is open, and what operators may ask for.
//
//   GET  /v1/findings?rule=&reason=&subject=&limit=   any role
//   POST /v1/requests         {"kind": "approve", "subject": "…", "finding": "…", "seen": 17, …}
//   GET  /v1/requests/<id>    what came of it
//   POST /internal/reconcile  starts a pass at once
//
// 401 without a token that is known and not over, 403 with one whose role does not suffice, 400
// with one sentence where the body is wrong. A request that was taken is answered 202 with its id.
#pragma once

#include "api/backend.h"

#include <memory>

namespace httplib {
class Server;
}

namespace trueup::api {

void add_operator_routes(httplib::Server& server, const std::shared_ptr<const Backend>& backend);

}  // namespace trueup::api
