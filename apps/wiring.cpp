#include "apps/wiring.h"

#include "apps/keys.h"
#include "apps/source_work.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace trueup::apps {

using config::Config;
using config::SourceConfig;

Status add_hash(const Config& config, ports::FieldPolicy& policy) {
    const bool hashes =
        std::any_of(policy.named.begin(), policy.named.end(),
                    [](const auto& field) { return field.second == ports::Treatment::kHash; });
    if (!hashes) return Done{};
    Result<codec::KeyRing> keys =
        config.kafka ? read_keys(config.keys, "fields") : load_keys(config.keys, "fields");
    if (!keys) return keys.error();
    policy.hash = [keys = std::move(*keys)](std::string_view text) { return keys.hash(text); };
    return Done{};
}
Result<std::vector<SourceSpec>> make_sources(const Config& config) {
    std::vector<SourceSpec> specs;
    for (const SourceConfig& source : config.sources) {
        SourceSpec& spec = specs.emplace_back();
        spec.name = source.name;
        spec.topic = source.topic();
        spec.mapping = config::mapping_of(config, source);
        spec.pace_idle = source.idle;
        spec.pace_waiting = source.active;
        spec.relist_every = source.relist_every;
        if (Status opened = work_of(source).open(config, source, spec); !opened) {
            return opened.error();
        }
    }
    return specs;
}

Result<ExecutorSpec> make_executors(const Config& config) {
    ExecutorSpec spec;
    // An executor reads the other side too, so it gets every source, not only the one it writes.
    for (const SourceConfig& source : config.sources) {
        if (Status reached = work_of(source).reach(config, source, spec); !reached) {
            return reached.error();
        }
    }
    spec.settings.max_broker_skew = std::max(spec.settings.max_broker_skew, config.max_broker_skew);
    return spec;
}

std::vector<SourceCheck> source_checks(const Config& config, const std::string& file) {
    std::vector<SourceCheck> checks;
    const auto kept = std::make_shared<const Config>(config);
    for (const SourceConfig& source : kept->sources) {
        SourceCheck check;
        check.name = source.name;
        check.place = file + ":" + std::to_string(source.line);
        check.ask = work_of(source).check(kept, source);
        checks.push_back(std::move(check));
    }
    return checks;
}

Flaws check_sources(const Config& config, const std::string& file) {
    Flaws flaws;
    for (const SourceCheck& check : source_checks(config, file)) {
        const auto right = check.ask();
        if (right) continue;
        auto& kind = unanswered(right.error()) ? flaws.unanswered : flaws.wrong;
        kind.push_back(sentence_of(check, right.error()));
    }
    return flaws;
}

}  // namespace trueup::apps
