// The graph-instances policy at a pace that a reader, or a test, can follow.
#pragma once

#include "engine/model/settings.h"

namespace trueup::apps {

/// Sources `pods` and `rows`, the rules that the small world needs enforced: G1 waits 5 s and 3 s
/// of create window, G2 3 s and 2 s, a source is stale after 15 s.
inline Settings quick_policy() {
    Settings settings;
    settings.policy = settings.use = "graph-instances";
    settings.sources = {{"pods", Topic::kChangesPods}, {"rows", Topic::kChangesRows}};
    settings.pods = 0;
    settings.rows = 1;
    settings.rules = {{"orphaned_pod", Mode::kEnforce, Millis{5'000}, Millis{3'000}},
                      {"missing_pod", Mode::kEnforce, Millis{3'000}, Millis{2'000}},
                      {"status_drift", Mode::kEnforce, Millis{0}, Millis{0}},
                      {"ttl_expired", Mode::kOff, Millis{0}, Millis{0}},
                      {"inactive", Mode::kOff, Millis{0}, Millis{0}},
                      {"untracked_record", Mode::kOff, Millis{3'000}, Millis{2'000}},
                      {"stuck_transition", Mode::kOff, Millis{60'000}, Millis{2'000}},
                      {"finished_pod", Mode::kObserve, Millis{0}, Millis{0}},
                      {"duplicate_claim", Mode::kObserve, Millis{0}, Millis{0}},
                      {"termination_requested", Mode::kOff, Millis{0}, Millis{0}}};
    // Much goes wrong here, and nobody has five minutes.
    for (RuleSettings& rule : settings.rules) rule.budget = {100, 50, Millis{60'000}};
    settings.max_step = Millis{1'000};
    settings.stale_after = Millis{15'000};
    return settings;
}

}  // namespace trueup::apps
