// A real broker for tests. KAFKA_BOOTSTRAP says where it is (tools/services/kafka up).
#pragma once

#include "connectors/kafka/admin.h"
#include "connectors/kafka/client.h"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace trueup::connectors::kafka {

inline std::string bootstrap() {
    const char* address = std::getenv("KAFKA_BOOTSTRAP");
    if (address == nullptr) {
        throw std::runtime_error(
            "KAFKA_BOOTSTRAP is not set: eval \"$(tools/services/kafka up)\" first");
    }
    return address;
}

/// A prefix that no other test has.
inline Settings fresh_settings() {
    static int count = 0;
    Settings settings;
    settings.bootstrap = bootstrap();
    settings.prefix = "log-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
    return settings;
}

inline void make_topics(const Settings& settings, const std::vector<Topic>& topics) {
    const auto admin = Admin::connect(settings);
    if (!admin.ok()) throw std::runtime_error(admin.error().what);
    for (const Topic topic : topics) {
        const Status made = admin.value()->create(
            {topic,
             topic_name(settings, topic),
             2,
             1,
             {{"message.timestamp.type", "LogAppendTime"}, {"max.message.bytes", "9437184"}}});
        if (!made.ok()) throw std::runtime_error(made.error().what);
    }
}

}  // namespace trueup::connectors::kafka
