#include "engine/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace trueup::base {

void check_failed(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: invariant lost: %s\n", file, line, expression);
    std::abort();
}

}  // namespace trueup::base
