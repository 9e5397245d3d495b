// What the operator decided: sources, rules, modes and times. Settings are part of the journal (a
// Policy control record), so a replay judges with what was in force.
#pragma once

#include "engine/base/id.h"
#include "engine/base/shared.h"
#include "engine/base/time.h"
#include "engine/model/rule.h"
#include "engine/model/topic.h"
#include "engine/model/verdict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

enum class Mode : std::uint8_t {
    kUnspecified = 0,
    kObserve = 1,  ///< finds and explains, never acts; the default
    kEnforce = 2,  ///< acts
    kApprove = 3,  ///< acts on what an operator approved, finding by finding
    kOff = 4,      ///< is not judged at all
};

/// May a rule in that mode have anything done?
constexpr bool acts(Mode mode) { return mode == Mode::kEnforce || mode == Mode::kApprove; }

/// `observe`, `approve`, `enforce`, `off`.
constexpr std::string_view name_of(Mode mode) {
    switch (mode) {
        case Mode::kObserve:
            return "observe";
        case Mode::kEnforce:
            return "enforce";
        case Mode::kApprove:
            return "approve";
        case Mode::kOff:
            return "off";
        case Mode::kUnspecified:
            break;
    }
    return "unspecified";
}

/// A time of the week, UTC, in which commands may be issued: on each of `days`, from `from` up to,
/// not with, `to`.
struct Window {
    std::uint8_t days = 0;   ///< bit 0: Monday … bit 6: Sunday
    std::uint16_t from = 0;  ///< minutes of the day
    std::uint16_t to = 0;    ///< above `from`, at most 24 × 60
    bool operator==(const Window&) const = default;
};

/// How many commands a rule may issue in one window, over all shards (core/budget.h).
struct Budget {
    std::uint32_t max = 10;      ///< in any case; divided among the shards
    std::uint32_t percent = 20;  ///< of the subjects, where that is more
    Millis window{300'000};      ///< windows follow each other without gaps
    bool operator==(const Budget&) const = default;
};

struct RuleSettings {
    std::string rule;  ///< `orphaned_pod`
    Mode mode = Mode::kObserve;
    Millis grace{60'000};          ///< journal time from first detection
    Millis create_window{30'000};  ///< broker time in which the other side may still be written
    Budget budget{};
    /// Seconds that a pod which the rule deletes is given to end; nullopt: the pod's own. 0 kills.
    std::optional<std::uint32_t> grace_period = {};
    bool operator==(const RuleSettings&) const = default;
};

/// What a source is to the rules: its place in the policy's list of roles. kNoRole: nothing.
using Role = std::uint8_t;
inline constexpr Role kNoRole = 0xff;

struct SourceSettings {
    std::string name;
    Topic topic = Topic::kUnspecified;  ///< the one topic that it writes
    Role role = kNoRole;
    std::string scope = {};  ///< what it sees of a role that several sources share, as a region
    /// A first snapshot of fewer objects proves nothing: more often than not somebody asked in the
    /// wrong place. 0: empty is right.
    std::uint32_t at_least = 1;
    /// Where it looks and what it selects there, in one line without secrets: part of what the
    /// rules mean that lean on it. Empty: it is not said.
    std::string selects = {};
    bool operator==(const SourceSettings&) const = default;
};

/// The version of the rules and of the fold that this build has. Decisions of one version never
/// change: what changes them is another version.
inline constexpr std::uint32_t kLogic = 15;

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
        2'000;  ///< facets that one record may sweep, or subjects it may wake
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
