// `trueup why SUBJECT [RULE]`: at which stage each rule stopped, and the facts that decided it.
//
// Exit codes: 0 it was shown; 1 nobody knows the subject, or there is no such rule; 2 nothing was
// asked, since the engine does not answer or the command line is wrong.
#pragma once

#include "apps/operate.h"

namespace trueup::apps {

int run_why(const OperateOptions& options);

}  // namespace trueup::apps
