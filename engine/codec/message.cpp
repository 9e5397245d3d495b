#include "engine/codec/message.h"

#include <google/protobuf/stubs/logging.h>

#include <cstdio>

namespace trueup::codec {

namespace {

void only_what_is_fatal(google::protobuf::LogLevel level, const char* file, int line,
                        const std::string& what) {
    if (level != google::protobuf::LOGLEVEL_FATAL) return;
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

}  // namespace

void quiet_protobuf() {
    static const bool kQuiet = [] {
        google::protobuf::SetLogHandler(only_what_is_fatal);
        return true;
    }();
    (void)kQuiet;
}

}  // namespace trueup::codec
