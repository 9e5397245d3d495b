#include "connectors/postgres/failure.h"

#include <string>
#include <string_view>

namespace trueup::connectors::postgres {

namespace {

bool says(const ports::DatabaseEvent& event, std::string_view words) {
    return event.error.what.find(words) != std::string::npos;
}

}  // namespace

Failure classify_failure(const ports::DatabaseEvent& event) {
    const std::string_view code = event.sqlstate;
    if (code == "55006") return Failure::kSlotBusy;
    if (code == "58P01") return Failure::kSlotGone;  // "requested WAL segment ... removed"
    if (code == "55000") {
        const bool lost = says(event, "from logical replication slot") ||
                          says(event, "from replication slot") || says(event, "invalidated") ||
                          says(event, "exceeded the maximum reserved size");
        return lost ? Failure::kSlotGone : Failure::kRefused;
    }
    if (code == "42704") {
        if (says(event, "publication")) return Failure::kPublicationGone;
        return says(event, "replication slot") ? Failure::kSlotGone : Failure::kRefused;
    }
    const std::string_view family = code.substr(0, 2);
    if (family == "28" || family == "42" || family == "3D" || family == "22" || family == "0A") {
        return Failure::kRefused;
    }
    return code.empty() && event.error.next == Next::kStop ? Failure::kRefused
                                                           : Failure::kTransient;
}

}  // namespace trueup::connectors::postgres
