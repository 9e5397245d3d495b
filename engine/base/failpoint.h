// Places at which a test has the process killed. In a product build TRUEUP_FAILPOINT(name) is
// nothing. In a test build (TRUEUP_MUTANTS) the environment names one point and a pass through it:
// TRUEUP_FAILPOINT=write_behind:3 sends SIGKILL in the third pass, after one line "write_behind 3"
// was added to the file TRUEUP_FAILPOINT_MARKERS: the proof that it was there that the process
// died. tests/integration/test_kills.py restarts what was killed.
#pragma once

namespace trueup::base {

#ifdef TRUEUP_MUTANTS
/// Does not return in the pass that the environment names. Thread-safe.
void pass_failpoint(const char* name);
#define TRUEUP_FAILPOINT(name) (::trueup::base::pass_failpoint(name))
#else
#define TRUEUP_FAILPOINT(name) (static_cast<void>(0))
#endif

}  // namespace trueup::base
