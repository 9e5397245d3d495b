// The safety guards by name. In a product build TRUEUP_GUARD(name) is the constant true and costs
// nothing: there is no switch that an accident could throw. In a test build (TRUEUP_MUTANTS) a test
// names one guard in the environment variable TRUEUP_MUTANT, or several with commas between them,
// and proves that their absence is noticed (docs/guards.md lists each guard and the test that fails
// without it, and what the simulator makes of it).
#pragma once

namespace trueup::base {

#ifdef TRUEUP_MUTANTS
/// True unless the environment names this guard among others. Thread-safe.
bool guard_holds(const char* name);
#define TRUEUP_GUARD(name) (::trueup::base::guard_holds(name))
#else
#define TRUEUP_GUARD(name) (true)
#endif

}  // namespace trueup::base
