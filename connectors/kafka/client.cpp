#include "connectors/kafka/client.h"

#include "connectors/kafka/conf.h"
#include "connectors/kafka/pinned.h"

#include <string_view>
#include <utility>

namespace trueup::connectors::kafka {

namespace {

const Callbacks& callbacks_of(void* opaque) { return *static_cast<const Callbacks*>(opaque); }

void on_log(const rd_kafka_t* client, int level, const char* facility, const char* line) {
    const Settings& settings = *callbacks_of(rd_kafka_opaque(client)).settings;
    if (settings.on_log) settings.on_log(level, std::string(facility) + ": " + line);
}

void on_delivery(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque) {
    callbacks_of(opaque).delivered(client, message, callbacks_of(opaque).self);
}

void on_error(rd_kafka_t* client, int error, const char* reason, void* opaque) {
    const Callbacks& callbacks = callbacks_of(opaque);
    if (callbacks.failed != nullptr) callbacks.failed(client, error, reason, callbacks.self);
}

void on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t error,
                  rd_kafka_topic_partition_list_t* partitions, void* opaque) {
    callbacks_of(opaque).rebalanced(client, error, partitions, callbacks_of(opaque).self);
}

Status configure(Conf& conf, Callbacks& callbacks) {
    const Settings& settings = *callbacks.settings;
    if (Status set = conf.pass(settings); !set) return set;
    if (Status set = conf.set("bootstrap.servers", settings.bootstrap); !set) return set;
    if (Status set = conf.set("client.id", settings.client_id); !set) return set;
    rd_kafka_conf_set_opaque(conf.get(), &callbacks);
    rd_kafka_conf_set_log_cb(conf.get(), on_log);
    rd_kafka_conf_set_error_cb(conf.get(), on_error);
    return conf.pin(kOfAll);
}

Result<Client> make_consumer(Callbacks& callbacks, const std::string& group) {
    Conf conf;
    if (Status set = configure(conf, callbacks); !set) return set.error();
    if (Status set = conf.pin(kOfReaders); !set) return set.error();
    if (Status set = conf.set("group.id", group); !set) return set.error();
    if (callbacks.rebalanced != nullptr) {
        if (Status set = conf.pin(kOfMembers); !set) return set.error();
        rd_kafka_conf_set_rebalance_cb(conf.get(), on_rebalance);
    }
    Result<Client> made = conf.make(RD_KAFKA_CONSUMER);
    if (made) rd_kafka_poll_set_consumer(made->get());
    return made;
}

}  // namespace

Result<Client> make_producer(Callbacks& callbacks) {
    Conf conf;
    if (Status set = configure(conf, callbacks); !set) return set.error();
    if (Status set = conf.pin(kOfProducers); !set) return set.error();
    rd_kafka_conf_set_dr_msg_cb(conf.get(), on_delivery);
    return conf.make(RD_KAFKA_PRODUCER);
}

// `assign` wants a group's name, though nobody joins it.
Result<Client> make_reader(Callbacks& callbacks) {
    return make_consumer(callbacks, callbacks.settings->prefix + ".readers");
}

Result<Client> make_member(Callbacks& callbacks, const std::string& group) {
    return make_consumer(callbacks, group);
}

std::string topic_name(const Settings& settings, Topic topic) {
    return settings.prefix + "." + std::string(name_of(topic));
}

Topic topic_of(const Settings& settings, std::string_view name) {
    if (!name.starts_with(settings.prefix)) return Topic::kUnspecified;
    name.remove_prefix(settings.prefix.size());
    if (!name.starts_with('.')) return Topic::kUnspecified;
    name.remove_prefix(1);
    for (std::size_t i = 1; i < kTopics; ++i) {
        if (name_of(static_cast<Topic>(i)) == name) return static_cast<Topic>(i);
    }
    return Topic::kUnspecified;
}

Partitions one_partition(const Settings& settings, ports::Partition partition,
                         std::int64_t offset) {
    Partitions list(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(list.get(), topic_name(settings, partition.topic).c_str(),
                                      partition.index.value())
        ->offset = offset;
    return list;
}

std::string partition_name(ports::Partition partition) {
    return std::string(name_of(partition.topic)) + "/" + std::to_string(partition.index.value());
}

Error error_of(rd_kafka_resp_err_t error, const std::string& doing) {
    switch (error) {
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            return {Next::kRetry, Code::kNotFound,
                    doing +
                        ": there is no such topic or partition; `trueup topics create` creates "
                        "what is missing"};
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
            return {Next::kRetry, Code::kDenied,
                    doing +
                        ": the cluster does not permit it; give this user the ACL "
                        "that docs/operations/kafka.md names"};
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
            return {Next::kSkip, Code::kTooLarge,
                    doing +
                        ": the record is larger than the topic's "
                        "max.message.bytes"};
        case RD_KAFKA_RESP_ERR__TIMED_OUT:
        case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
        case RD_KAFKA_RESP_ERR__TRANSPORT:
        case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
            return {Next::kRetry, Code::kUnavailable, doing + ": no answer from the brokers"};
        default:
            return {Next::kRetry, Code::kUnavailable, doing + ": " + rd_kafka_err2str(error)};
    }
}

}  // namespace trueup::connectors::kafka
