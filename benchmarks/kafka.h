// Topics of one partition and one replica on a real broker, and logs over them.
#pragma once

#include "connectors/kafka/settings.h"
#include "engine/ports/log.h"

#include <memory>

namespace trueup::bench {

/// Makes the topics of `settings.prefix` that are not there.
void make_topics(const connectors::kafka::Settings& settings);

std::unique_ptr<ports::Log> open_kafka(const connectors::kafka::Settings& settings);

}  // namespace trueup::bench
