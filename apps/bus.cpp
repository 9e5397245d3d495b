#include "apps/bus.h"

#include "connectors/embedded/embedded_log.h"
#include "connectors/kafka/kafka_log.h"
#include "connectors/kafka/membership.h"
#include "engine/base/check.h"
#include "engine/runtime/memory.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <set>
#include <utility>

namespace trueup::apps {

namespace {

/// librdkafka says the same thing for each of its connections, over and over: for debugging only.
void log_client_line(int /*severity*/, const std::string& line) {
    spdlog::debug("kafka: {}", line);
}

class GroupAssignment final : public executors::PartitionAssignment {
  public:
    explicit GroupAssignment(std::unique_ptr<connectors::kafka::Membership> member)
        : member_(std::move(member)) {}
    bool has(PartitionNumber partition) const override { return member_->has(partition); }
    std::string trouble() const override { return member_->trouble(); }

  private:
    std::unique_ptr<connectors::kafka::Membership> member_;
};

}  // namespace

Status make_state_folder(const std::string& state_dir) {
    std::error_code made;
    std::filesystem::create_directories(state_dir, made);
    if (!made) return Done{};
    return Error{Next::kRetry, Code::kUnavailable,
                 "cannot make the state folder " + state_dir + ": " + made.message()};
}

Result<std::unique_ptr<ports::Log>> open_embedded(const std::string& state_dir, bool fsync,
                                                  std::size_t memory_bytes) {
    if (Status made = make_state_folder(state_dir); !made) return made.error();
    connectors::EmbeddedLog::Settings settings;
    settings.path = state_dir + "/log";
    settings.fsync = fsync;
    settings.memory_bytes = runtime::memory_shares(memory_bytes).log;
    auto opened = connectors::EmbeddedLog::open(settings);
    if (!opened) return opened.error();
    return std::unique_ptr<ports::Log>(std::move(*opened));
}

connectors::kafka::Settings kafka_settings(const config::Config& config, const std::string& part) {
    TRUEUP_CHECK(config.kafka.has_value());
    connectors::kafka::Settings settings;
    settings.bootstrap = config.kafka->bootstrap;
    settings.prefix = config.kafka->prefix;
    settings.client_id = "trueup-" + part;
    settings.client = config.kafka->client;
    settings.memory_bytes = runtime::memory_shares(config.memory_bytes).log;
    settings.on_log = log_client_line;
    return settings;
}

Result<std::unique_ptr<ports::Log>> open_bus(const config::Config& config,
                                             const std::string& part) {
    if (!config.kafka) return open_embedded(config.state_dir, config.fsync, config.memory_bytes);
    auto opened = connectors::kafka::KafkaLog::open(kafka_settings(config, part));
    if (!opened) return opened.error();
    return std::unique_ptr<ports::Log>(std::move(*opened));
}

Result<std::shared_ptr<const executors::PartitionAssignment>> join_executors(
    const config::Config& config, const std::vector<Action::Kind>& kinds) {
    // Those of other kinds have a group of their own: each of its members does all that it is for.
    std::set<std::string> names;
    for (const Action::Kind kind : kinds) names.insert(std::string(name_of(kind)));
    std::string group = "executors";
    for (const std::string& name : names) group += "." + name;
    auto joined = connectors::kafka::Membership::join(kafka_settings(config, "execute"), group,
                                                      Topic::kCommands);
    if (!joined) return joined.error();
    return std::shared_ptr<const executors::PartitionAssignment>(
        std::make_shared<GroupAssignment>(std::move(*joined)));
}

}  // namespace trueup::apps
