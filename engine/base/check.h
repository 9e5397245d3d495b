// What a process does when it finds that it lost an invariant: it stops, in every build, before it
// deletes something. Never used on bytes that came from outside; those are a `Result`.
#pragma once

namespace trueup::base {

/// Prints `file:line: expression` to stderr and aborts.
[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace trueup::base

#define TRUEUP_CHECK(expression) \
    ((expression) ? void(0) : ::trueup::base::check_failed(#expression, __FILE__, __LINE__))
