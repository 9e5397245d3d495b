#include "executors/standing.h"

#include "executors/pod.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace trueup::executors {
namespace {

using Kind = Predicate::Kind;

std::string listed(const std::vector<std::string>& ids) {
    std::string text;
    for (const std::string& id : ids) text += ", " + id;
    return text;
}

}  // namespace

std::string shown(const std::optional<std::string>& value) { return value ? *value : "null"; }

bool is_by_name(const Predicate& predicate) {
    return predicate.kind == Kind::kNone || predicate.kind == Kind::kNoneBut ||
           predicate.kind == Kind::kOnly;
}

Standing cannot_tell(const Predicate& predicate, std::string_view why) {
    return Standing::failed(false,
                            describe(predicate) + ": cannot be evaluated: " + std::string(why));
}

std::string describe(const Predicate& predicate) {
    const std::string about = predicate.source + ", ";
    switch (predicate.kind) {
        case Kind::kExists:
            return "exists(" + about + predicate.object_id + ")";
        case Kind::kNoVeto:
            return "no_veto(" + about + predicate.object_id + ")";
        case Kind::kNone:
            return "none(" + about + predicate.field + " = " + shown(predicate.value) + ")";
        case Kind::kOnly:
            return "only(" + about + predicate.field + " = " + shown(predicate.value) + ", " +
                   predicate.object_id + listed(predicate.besides) + ")";
        case Kind::kNoneBut:
            return "none_but(" + about + predicate.field + " = " + shown(predicate.value) + ", " +
                   predicate.object_id + listed(predicate.besides) + ")";
        case Kind::kReadBy:
            return "read_by(" + about + shown(predicate.value) + ")";
        case Kind::kField:
            return "field(" + about + predicate.object_id + ", " + predicate.field + " = " +
                   shown(predicate.value) + ")";
        case Kind::kUnspecified:
            break;
    }
    return "unspecified(" + about + predicate.object_id + ")";
}

Standing failure_of(const Answer& answer, std::string_view what) {
    const std::string call(what);
    if (answer.failed && !answer.sqlstate.empty()) {
        const std::string_view state = std::string_view(answer.sqlstate).substr(0, 2);
        // 55P03: somebody else holds the row, longer than we wait for it.
        const bool transient = state == "08" || state == "57" || state == "53" || state == "40" ||
                               answer.sqlstate == "55P03";
        std::string why = call + ": " + answer.error.what + " (SQLSTATE " + answer.sqlstate + ")";
        if (answer.sqlstate == "42501") {
            const bool inserts = call.starts_with("INSERT");
            why += inserts ? "; GRANT SELECT, INSERT on the table, and USAGE on a sequence that "
                             "fills one of its columns, to the executor's database user"
                           : "; GRANT SELECT, UPDATE on the table to the executor's database user";
        }
        return Standing::failed(transient, std::move(why));
    }
    if (answer.failed) {
        return Standing::failed(answer.error.next != Next::kSkip, call + ": " + answer.error.what);
    }
    const std::string said =
        call + ": HTTP " + std::to_string(answer.status) + ": " + message_of(answer.body);
    // A quota and an admission webhook refuse by the same number as a missing right.
    const bool right = said.ends_with(": ") || said.find(" cannot ") != std::string::npos;
    if (answer.status == 403 && call.starts_with("CREATE ") && !right) {
        return Standing::failed(false, said);
    }
    if (answer.status == 403) {
        std::string verb = call.substr(0, call.find(' '));
        std::transform(verb.begin(), verb.end(), verb.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return Standing::failed(!answer.for_good,
                                said + "; grant the executor's account the verb " + verb);
    }
    // 401: a token that was rotated is read again by the transport. 404 without the server's own
    // word is a wrong path or a proxy (S3).
    const bool transient = answer.status == 401 || answer.status == 404 || answer.status == 408 ||
                           answer.status == 429 || answer.status >= 500;
    return Standing::failed(transient, said);
}

}  // namespace trueup::executors
