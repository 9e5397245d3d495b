// `trueup plan`: what every rule would do, and nothing is done.
#pragma once

#include "apps/client.h"
#include "apps/event_printer.h"
#include "apps/rehearsal.h"
#include "apps/stop_signal.h"
#include "engine/model/settings.h"

#include <string>
#include <vector>

namespace trueup::apps {

struct PlanOptions {
    std::string config;
    std::string policy;    ///< empty: all
    EngineAddress engine;  ///< that it is held against; its `config` is the one above
    OutputFormat format = OutputFormat::kText;
};

/// What the configuration lets rules do that what is in force in the running engine does not.
struct Loosening {
    std::vector<std::string> looser;  ///< a sentence each (engine/model/loosened.h)
    std::string unknown;              ///< why that is not known; empty: it is
};
/// Of the policy of these settings. Blocking.
Loosening loosening_of(const EngineAddress& engine, const Settings& settings);

/// 0 nothing was found, 3 something was, 2 the configuration is wrong, 1 a source did not answer.
int run_plan(const PlanOptions& options, StopSignal& stop);

/// What was found, for people: by rule, each finding with what would be done and what would hold
/// it, a line that sums up, and what is looser than before.
std::string plan_text(const Settings& settings, const Rehearsed& rehearsed,
                      const Loosening& loosening = {});
/// The same as one JSON object.
std::string plan_json(const Settings& settings, const Rehearsed& rehearsed,
                      const Loosening& loosening = {});

}  // namespace trueup::apps
