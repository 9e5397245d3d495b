#include "engine/core/answer.h"

#include "engine/base/suggest.h"
#include "engine/core/quoted.h"

namespace trueup::core {

std::string not_yet_written(const Meta& meta, Offset seen) {
    if (seen <= meta.applied) return {};
    return "journal offset " + std::to_string(seen.value()) + " lies beyond the journal's end (" +
           std::to_string(meta.applied.value()) + "): it does not exist yet";
}

Answer no_such_source(const Meta& meta, const Request& request) {
    std::vector<std::string> names;
    for (const SourceState& source : meta.sources) names.push_back(source.name);
    return {false, "there is no source " + quoted(request.scope.source) + "; " +
                       did_you_mean(request.scope.source, names)};
}

}  // namespace trueup::core
