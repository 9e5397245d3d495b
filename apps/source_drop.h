// `trueup source drop NAME`: removes what a source has left at its server.
//
// Exit codes: 0 nothing is left (or, without --yes, it was only said what there is); 1 something is
// left, and stays; 2 nothing was asked, since the configuration is wrong or the server does not
// answer.
#pragma once

#include "apps/event_printer.h"

#include <string>

namespace trueup::apps {

struct SourceDropOptions {
    std::string config;
    std::string name;
    bool yes = false;
    bool dry_run = false;
    OutputFormat format = OutputFormat::kText;
};

int run_source_drop(const SourceDropOptions& options);

}  // namespace trueup::apps
