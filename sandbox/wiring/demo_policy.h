// The graph-instances policy at a pace that a reader, or a test, can follow.
#pragma once

#include "engine/model/settings.h"
#include "policies/shipped.h"

namespace trueup::sandbox {

/// Sources `pods` and `rows`, the rules that the small world needs enforced: G1 waits 5 s and 3 s
/// of create window, G2 3 s and 2 s, a source is stale after 15 s. All rules are enabled.
inline Settings demo_policy() {
    Settings settings = policies::usual_settings("graph-instances", Mode::kOff);
    const auto set = [&](std::string_view name, Mode mode, Millis grace, Millis window) {
        RuleSettings& rule = policies::rule_settings(settings, name);
        rule.mode = mode;
        rule.grace = grace;
        rule.create_window = window;
    };
    set("orphaned_pod", Mode::kEnforce, Millis{5'000}, Millis{3'000});
    set("missing_pod", Mode::kEnforce, Millis{3'000}, Millis{2'000});
    set("status_drift", Mode::kEnforce, Millis{0}, Millis{0});
    set("untracked_record", Mode::kOff, Millis{3'000}, Millis{2'000});
    set("stuck_transition", Mode::kOff, Millis{60'000}, Millis{2'000});
    set("finished_pod", Mode::kObserve, Millis{0}, Millis{0});
    set("duplicate_claim", Mode::kObserve, Millis{0}, Millis{0});
    // Much goes wrong here, and nobody has five minutes.
    for (RuleSettings& rule : settings.rules) rule.budget = {100, 50, Millis{60'000}};
    // A small world may begin empty.
    for (SourceSettings& source : settings.sources) source.at_least = 0;
    settings.enabled_by = kCommandLine;
    settings.max_clock_step = Millis{1'000};
    settings.stale_after = Millis{15'000};
    return settings;
}

}  // namespace trueup::sandbox
