#include "simulation/promises.h"

#include "simulation/instances.h"

namespace trueup::simulation {

std::vector<std::string> Promises::open() const {
    std::vector<std::string> open;
    for (const auto& [request, asked] : promised_) {
        if (!kept(request, asked)) open.push_back(request.scope.subject);
    }
    return open;
}

/// Has the instance ended since, does it belong to somebody else by now, or was it told what came
/// of the promise?
bool Promises::kept(const Request& request, Moment asked) const {
    const std::string& subject = request.scope.subject;
    if (told_.count(subject) != 0 || approvals_.dismissed(subject)) return true;
    const bool may = request.role == "ops" || request.role == "admin";
    for (Moment moment = asked; moment <= history_.moment(); ++moment) {
        const auto named = history_.rows_of(subject.substr(subject.find('/') + 1), moment);
        const auto his = [&](const History::Row& row) {
            return wants_pod(row.view) &&
                   (may || row.view.text("owner_username") == request.issued_by);
        };
        // Of two claims none is acted on, and whose pod it is may change.
        if (named.size() != 1 || !his(named.front())) return true;
    }
    return false;
}

}  // namespace trueup::simulation
