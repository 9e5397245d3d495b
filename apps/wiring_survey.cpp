// What the sources of a policy have, and what our accounts may do there, read once.
#include "apps/wiring_survey.h"

#include "apps/connections.h"
#include "apps/source_work.h"
#include "engine/base/hash.h"

#include <utility>

namespace trueup::apps {

void add_passing_hash(ports::FieldPolicy& policy) {
    policy.hash = [](std::string_view text) { return to_hex(hash128(text)); };
}

Result<std::vector<Surveyed>> survey(const config::Config& config, const Watcher& watcher,
                                     Depth depth) {
    std::vector<Surveyed> all;
    const config::PolicyConfig& policy = policy_of(config);
    for (const config::SourceConfig& source : config.sources) {
        if (policy.role_of(source.name) == nullptr) continue;
        auto asked = work_of(source).survey(config, source, watcher, depth);
        if (!asked) return asked.error();
        all.push_back(std::move(*asked));
    }
    return all;
}

}  // namespace trueup::apps
