#include "api/snapshot.h"

namespace trueup::api {

std::string Snapshot::not_ready() const {
    if (!refused.empty()) return "the shard does not emit: " + refused;
    if (!log_trouble.empty()) return log_trouble;
    if (!executor_trouble.empty()) return "the executors wait: " + executor_trouble;
    if (!caught_up)
        return "the journal is still being read, at offset " + std::to_string(journal_offset);
    for (const SourceView& source : sources) {
        const std::string name = "source " + source.name;
        if (!source.trouble.empty()) return name + ": " + source.trouble;
        if (source.quarantined) {
            return name +
                   " lost suspiciously much at once: nothing destructive leans on it until "
                   "an epoch lists its objects again";
        }
        if (!source.known) return name + " has not listed everything yet";
        if (!source.fresh) return name + " has not proven its progress lately";
    }
    return {};
}

}  // namespace trueup::api
