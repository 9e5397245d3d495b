#include "api/snapshot.h"

#include <utility>

namespace trueup::api {

std::string Snapshot::not_ready() const { return why_not().second; }

std::string Snapshot::not_ready_in_short() const {
    const std::string what = why_not().first;
    return what.empty() ? what : "not ready: " + what + "; with a token /readyz says more";
}

std::string Snapshot::remarks() const {
    std::string lines;
    if (!configuration.empty()) lines += configuration + "\n";
    for (const TallyView& tally : tallies) {
        if (tally.name != kUnknownWords || tally.value == 0) continue;
        lines += std::to_string(tally.value) + " objects have a word in " + tally.label + "." +
                 tally.word + " that the policy does not list: `trueup config check` shows which\n";
    }
    return lines;
}

std::pair<std::string, std::string> Snapshot::why_not() const {
    if (!left_out.empty()) return {"a policy does not run", "the policy does not run: " + left_out};
    if (!starting.empty()) return {"it is still starting", "it is still starting: " + starting};
    if (!refused.empty()) {
        return {"the shard does not emit", "the shard does not emit: " + refused};
    }
    if (!log_trouble.empty()) return {"the log has a problem", log_trouble};
    if (!executor_trouble.empty()) {
        return {"the executors wait", "the executors wait: " + executor_trouble};
    }
    if (!caught_up) {
        return {"the journal is still being read", "the journal is still being read, at offset " +
                                                       std::to_string(journal_offset.value())};
    }
    for (const SourceView& source : sources) {
        const std::string name = "source " + source.name;
        if (!source.trouble.empty())
            return {"a source has a problem", name + ": " + source.trouble};
        if (std::string why = sentence_of(source.name, source.quarantine); !why.empty()) {
            return {"a source is in quarantine", std::move(why)};
        }
        if (!source.known) {
            return {"a source is not synced yet",
                    name + " has not delivered a complete snapshot yet"};
        }
        if (!source.fresh) {
            return {"a source is stale",
                    name + " is stale: no proof of progress within stale_after"};
        }
    }
    return {};
}

}  // namespace trueup::api
