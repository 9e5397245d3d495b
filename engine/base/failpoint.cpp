#include "engine/base/failpoint.h"

#ifdef TRUEUP_MUTANTS
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace trueup::base {

namespace {

std::string of_environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

}  // namespace

void pass_failpoint(const char* name) {
    static const std::string kWanted = of_environment("TRUEUP_FAILPOINT");  // <point>:<pass>
    static std::atomic<unsigned> passes{0};
    const std::string point = std::string(name) + ':';
    if (kWanted.compare(0, point.size(), point) != 0) return;
    const std::string pass = std::to_string(++passes);
    if (kWanted.substr(point.size()) != pass) return;
    std::FILE* markers = std::fopen(of_environment("TRUEUP_FAILPOINT_MARKERS").c_str(), "a");
    if (markers != nullptr) {
        std::fprintf(markers, "%s %s\n", name, pass.c_str());
        std::fclose(markers);
    }
    std::raise(SIGKILL);
}

}  // namespace trueup::base
#endif
