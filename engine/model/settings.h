// What the operator decided: sources, rules, modes and times. Settings are part of the journal (a
// Policy control record), so a replay judges with what was in force.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/shared.h"
#include "engine/base/time.h"
#include "engine/model/rule.h"
#include "engine/model/rule_settings.h"
#include "engine/model/source_settings.h"
#include "engine/model/wait.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

/// The version of the rules and of the fold that this build has. Decisions of one version never
/// change: what changes them is another version.
inline constexpr std::uint32_t kLogic = 24;

/// Who started the process with `--enable-all`, in the journal.
inline constexpr std::string_view kCommandLine = "command line";

struct Settings {
    std::uint32_t logic = kLogic;
    std::string policy;                   ///< its name; the first part of every subject key
    Shared<policy::Policy> text;          ///< what its rules are; empty: there is none yet
    std::vector<SourceSettings> sources;  ///< a SourceId is an index in here
    std::vector<RuleSettings> rules;      ///< one for each rule of the text
    /// What rules may mean and act without being enabled by a request, once a reconcile has ended
    /// under it: `policies[].enabled` (docs/adr/0034).
    std::vector<Hash128> enabled;
    /// Who enabled every rule with these settings, at once: kCommandLine. Empty: nobody did.
    std::string enabled_by;
    Millis max_clock_step{10'000};        ///< the longest step of journal time per record
    Millis max_broker_skew{0};            ///< between append times of different partitions
    Millis stale_after{45'000};           ///< a source silent for longer holds what leans on it
    Millis max_clock_skew{60'000};        ///< of a source's clock; beyond it no TTL is judged
    Millis reconcile_every{300'000};      ///< journal time between passes; 0: on request only
    std::vector<Window> windows;          ///< commands are issued in these only; none: always
    Millis command_ttl{60'000};           ///< from issue to not_after
    Millis emit_again{10'000};            ///< a command without an outcome is emitted once more
    std::uint32_t max_drop_percent = 50;  ///< an epoch that loses more (and > 10) is not believed
    std::uint32_t max_outbox = 10'000;
    std::uint32_t sweep_step =
        2'000;  ///< subjects that one record may sweep; half as many it may wake
    bool operator==(const Settings&) const = default;

    /// The first source of that role; kNoSource: none.
    SourceId source(Role role) const {
        for (std::size_t id = 0; id < sources.size(); ++id) {
            if (sources[id].role == role) return static_cast<SourceId>(id);
        }
        return kNoSource;
    }
    /// The source of that role that sees `scope`; kNoSource: none.
    SourceId source(Role role, std::string_view scope) const {
        for (std::size_t id = 0; id < sources.size(); ++id) {
            if (sources[id].role == role && sources[id].scope == scope) {
                return static_cast<SourceId>(id);
            }
        }
        return kNoSource;
    }
};

}  // namespace trueup
