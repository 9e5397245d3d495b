#include "benchmarks/kafka.h"

#include "benchmarks/report.h"
#include "connectors/kafka/kafka_log.h"
#include "connectors/kafka/topics.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace trueup::bench {

namespace kafka = connectors::kafka;

void make_topics(const kafka::Settings& settings) {
    auto admin = kafka::Admin::connect(settings);
    if (!admin) fail(admin.error().what);
    const auto plan = kafka::plan_topics(settings, {1, 1, 1});
    const auto flaws = kafka::check_topics(**admin, plan, false);
    if (!flaws) fail(flaws.error().what);
    const std::vector<std::string>& missing = flaws.value().missing;
    for (const kafka::TopicPlan& one : plan) {
        if (std::find(missing.begin(), missing.end(), one.name) == missing.end()) continue;
        if (Status made = (*admin)->create(one); !made) fail(made.error().what);
    }
}

std::unique_ptr<ports::Log> open_kafka(const kafka::Settings& settings) {
    auto log = kafka::KafkaLog::open(settings);
    if (!log) fail(log.error().what);
    return std::move(*log);
}

}  // namespace trueup::bench
