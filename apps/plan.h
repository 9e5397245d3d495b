// `trueup plan`: what every rule would do, and nothing is done.
#pragma once

#include "apps/event_printer.h"
#include "apps/rehearsal.h"
#include "apps/stop_signal.h"
#include "engine/model/settings.h"

#include <string>

namespace trueup::apps {

struct PlanOptions {
    std::string config;
    std::string policy;  ///< empty: all
    OutputFormat format = OutputFormat::kText;
};

/// 0 nothing was found, 3 something was, 2 the configuration is wrong, 1 a source did not answer.
int run_plan(const PlanOptions& options, StopSignal& stop);

/// What was found, for people: by rule, each finding with what would be done and what would hold
/// it, and a line that sums up.
std::string plan_text(const Settings& settings, const Rehearsed& rehearsed);
/// The same as one JSON object.
std::string plan_json(const Settings& settings, const Rehearsed& rehearsed);

}  // namespace trueup::apps
