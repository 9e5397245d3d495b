#include "engine/base/guard.h"

#ifdef TRUEUP_MUTANTS
#include <cstdlib>
#include <string_view>

namespace trueup::base {

bool guard_holds(const char* name) {
    static const char* const kMutant = std::getenv("TRUEUP_MUTANT");
    return kMutant == nullptr || std::string_view(kMutant) != name;
}

}  // namespace trueup::base
#endif
