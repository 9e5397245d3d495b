#include "engine/base/guard.h"

#ifdef TRUEUP_MUTANTS
#include <cstdlib>
#include <string_view>

namespace trueup::base {

bool guard_holds(const char* name) {
    static const char* const kMutants = std::getenv("TRUEUP_MUTANT");
    if (kMutants == nullptr) return true;
    for (std::string_view names = kMutants; !names.empty();) {
        const std::size_t comma = names.find(',');
        if (names.substr(0, comma) == name) return false;
        names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
    }
    return true;
}

}  // namespace trueup::base
#endif
