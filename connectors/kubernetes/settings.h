// What a connector is told about its source: which collection, under which selector, and what of
// each object is worth publishing.
#pragma once

#include "engine/base/time.h"
#include "engine/model/field_path.h"
#include "engine/ports/fields.h"
#include "engine/ports/resource.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trueup::connectors {

struct KubernetesSettings {
    ports::Resource resource;
    std::string label_selector;  ///< empty: every object of the collection
    std::string subject_prefix;  ///< `graph-instances/`, or `!nodes/` for a reference
    std::string source_name;     ///< in the keys of objects that have none of their own
    /// Its value stands for the name in the key; empty: the name. An object without that label has
    /// no key: it is nobody's, and nobody's absence. By its name it would be another subject's.
    std::string key_label;
    std::vector<std::string> mapped_labels;     ///< published as `label.<key>`
    std::vector<policy::FieldPath> paths;       ///< published under their own names
    ports::FieldPolicy fields;                  ///< how these, `created` and `node` are published
    std::string veto_label = "trueup.io/hold";  ///< label or annotation that vetoes
    std::uint32_t page_limit = 500;
    std::uint32_t watch_seconds = 290;  ///< how long one watch is asked to last
    std::uint32_t probe_seconds = 5;    ///< the same for a probe; below 3 none has a bookmark
    std::uint32_t proof_rounds = 3;     ///< probes without a proof before a full epoch
    std::uint32_t stuck_to_relist =
        3;                            ///< watches in a row that could not go on from their version
    std::size_t max_followed = 1000;  ///< objects out of the selector that are remembered
    std::size_t parallel_verifications = 8;
    Millis call_timeout{30'000};  ///< a page or a GET without its whole answer
    Millis watch_slack{30'000};   ///< silence beyond `watch_seconds`: the watch is deaf
    Millis backoff_min{500};
    Millis backoff_max{30'000};
    std::uint64_t jitter_seed = 1;  ///< equal seeds wait equally
};

}  // namespace trueup::connectors
