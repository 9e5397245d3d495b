// What the HTTP side asks of the process. Each function is called from the server's threads.
#pragma once

#include "api/snapshot.h"
#include "api/subject_view.h"
#include "api/tokens.h"
#include "engine/base/result.h"
#include "engine/model/request.h"
#include "projections/views/findings.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::api {

/// What came of a request.
struct AnswerView {
    RequestKind kind = RequestKind::kUnspecified;
    bool granted = false;
    std::string by;
    std::string sentence;
};

/// What is known of a request.
struct Answers {
    bool pending = false;            ///< it was asked here, and something has not answered yet
    std::optional<AnswerView> word;  ///< nullopt: nothing has, or it was forgotten
};

/// One policy of the process.
struct Backend {
    std::string policy;  ///< its name
    /// Why nothing can be asked of it for now, a sentence: until that is over (empty) only
    /// `snapshot` is.
    std::function<std::string()> unavailable = [] { return std::string(); };
    std::function<Snapshot()> snapshot;
    std::function<projections::FindingsView::Page(const projections::FindingsFilter&)> findings;
    /// An open finding, and what is known about its subject. Waits for the shard for a moment.
    /// kSkip: no open finding begins with these digits, or several do; kRetry: the shard does not
    /// answer.
    std::function<Result<std::pair<FindingEdge, SubjectView>>(const std::string& id)> finding;
    /// What each rule makes of a subject, or the one of that name; a subject without `POLICY/` is
    /// of the policy in force. Waits for the shard for a moment. kSkip: unknown subject, or
    /// there is no such rule. kRetry: the shard does not answer.
    std::function<Result<WhyView>(const std::string& subject, const std::string& rule)> why;
    /// The settings in force as one JSON object, `trueup.v1.Settings`. kSkip: no shard runs here;
    /// kRetry: none are in force yet.
    std::function<Result<std::string>()> settings;
    /// Why the engine would refuse it for how much there is already: of the caller's requests, or
    /// of holds. nullopt: it would not, as far as is known now.
    std::function<std::optional<std::string>(const Request&)> too_much;
    /// Signs the request, gives it an id if it has none, and puts it into the log: it is on its way
    /// then.
    std::function<Result<RequestId>(Request)> ask;
    std::function<Answers(const RequestId&)> answer;
};

/// All policies of the process.
struct Backends {
    std::vector<Backend> policies;  ///< in the order of the configuration; at least one
    /// Says one sentence in the process's log.
    std::function<void(const std::string&)> warn = [](const std::string&) {};
    Tokens tokens;
};

}  // namespace trueup::api
