// `trueup topics create` and `trueup topics check`: what a Kafka bus needs before anything runs.
#pragma once

#include "apps/config/config.h"
#include "apps/event_printer.h"
#include "engine/base/result.h"

#include <string>

namespace trueup::apps {

struct TopicsOptions {
    std::string config;
    OutputFormat format = OutputFormat::kText;
};

/// Makes what is missing of topics, journals' first records and keys; changes nothing that is
/// there. Exit codes: 0 all is well now; 1 the brokers did not answer; 2 something contradicts the
/// configuration, one sentence for each.
int run_topics_create(const TopicsOptions& options);
/// The same without making anything.
int run_topics_check(const TopicsOptions& options);

/// Before a process starts: kStop with what is wrong, one sentence a line; kRetry where the brokers
/// do not answer.
Status require_topics(const config::Config& config);

}  // namespace trueup::apps
