#include "connectors/kafka/client.h"

#include <array>
#include <string_view>
#include <utility>

namespace trueup::connectors::kafka {

namespace {

struct Pinned {
    const char* name;
    const char* value;
};

// Every setting that is not librdkafka's default, and why.
constexpr std::array kOfAll{
    // A broker that comes back is found within half a second and not within ten.
    Pinned{"reconnect.backoff.ms", "50"},
    Pinned{"reconnect.backoff.max.ms", "500"},
    Pinned{"retry.backoff.ms", "50"},
    // Small requests go at once (the default only from 2.10 on).
    Pinned{"socket.nagle.disable", "true"},
    Pinned{"socket.keepalive.enable", "true"},
    // Topics are made by `trueup topics create`; a typo in the prefix must not make others.
    Pinned{"allow.auto.create.topics", "false"},
    // A topic that was just made is known soon.
    Pinned{"topic.metadata.refresh.fast.interval.ms", "50"},
    Pinned{"topic.metadata.propagation.max.ms", "5000"},
    // Records of 8 MiB, their headers and the protocol around them.
    Pinned{"message.max.bytes", "9437184"},
};

constexpr std::array kOfProducers{
    // A retry inside the client neither doubles nor reorders, and what is acknowledged is on every
    // replica in sync.
    Pinned{"enable.idempotence", "true"},
    Pinned{"acks", "all"},
    // Batches are gathered before they get here (producer.h). Any other value costs a millisecond
    // an append: the network thread waits in whole ones.
    Pinned{"linger.ms", "0"},
    // The journal is kept long, on each replica. Measured, a million changes: lz4 50 MB and 0.4 s
    // of processor, zstd 30 MB and 1.4 s. Readers unpack either.
    Pinned{"compression.codec", "lz4"},
    Pinned{"batch.num.messages", "100000"},
    Pinned{"batch.size", "1048576"},
    // The bound is ours; librdkafka's is lifted.
    Pinned{"queue.buffering.max.messages", "10000000"},
    Pinned{"queue.buffering.max.kbytes", "2097151"},
    // An append has an answer within half a minute, also when no broker is there.
    Pinned{"delivery.timeout.ms", "30000"},
    Pinned{"request.timeout.ms", "10000"},
};

constexpr std::array kOfReaders{
    // An offset that is not there is an error, never a silent jump to either end.
    Pinned{"auto.offset.reset", "error"},
    Pinned{"enable.auto.commit", "false"},
    Pinned{"enable.auto.offset.store", "false"},
    // An empty answer means that the end was reached.
    Pinned{"enable.partition.eof", "true"},
    Pinned{"check.crcs", "true"},
    // A partition that is added waits for the fetch that is under way to come back.
    Pinned{"fetch.wait.max.ms", "50"},
    Pinned{"fetch.error.backoff.ms", "50"},
    Pinned{"fetch.message.max.bytes", "4194304"},
    // When its queue reaches either limit, 2.0.2 stops fetching for up to a second. The bound is
    // ours: a stream that is not read is paused (streams.h).
    Pinned{"queued.min.messages", "10000000"},
    Pinned{"queued.max.messages.kbytes", "1048576"},
};

/// What an operator may set: how to reach the cluster, not how this program uses it.
bool may_pass(std::string_view name) {
    for (const std::string_view begin : {"security.", "sasl.", "ssl.", "enable.ssl.",
                                         "broker.address.", "client.rack", "socket.connection."}) {
        if (name.starts_with(begin)) return true;
    }
    return false;
}

class Conf {
  public:
    Conf() : conf_(rd_kafka_conf_new()) {}
    ~Conf() {
        if (conf_ != nullptr) rd_kafka_conf_destroy(conf_);
    }
    Conf(const Conf&) = delete;
    Conf& operator=(const Conf&) = delete;

    Status set(const std::string& name, const std::string& value) {
        std::array<char, 512> why{};
        if (rd_kafka_conf_set(conf_, name.c_str(), value.c_str(), why.data(), why.size()) ==
            RD_KAFKA_CONF_OK) {
            return Done{};
        }
        return Error{Next::kStop, Code::kConfiguration,
                     "bus.kafka.client." + name + ": " + why.data()};
    }

    template <std::size_t n>
    Status pin(const std::array<Pinned, n>& pinned) {
        for (const Pinned& one : pinned) {
            if (Status done = set(one.name, one.value); !done) return done;
        }
        return Done{};
    }

    rd_kafka_conf_t* get() { return conf_; }

    Result<Client> make(rd_kafka_type_t type) {
        std::array<char, 512> why{};
        rd_kafka_t* made = rd_kafka_new(type, conf_, why.data(), why.size());
        if (made == nullptr) {
            return Error{Next::kStop, Code::kConfiguration, std::string("kafka: ") + why.data()};
        }
        conf_ = nullptr;  // it belongs to the client now
        return Client(made);
    }

  private:
    rd_kafka_conf_t* conf_;
};

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
    for (const auto& [name, value] : settings.client) {
        if (!may_pass(name)) {
            return Error{Next::kStop, Code::kConfiguration,
                         "bus.kafka.client." + name +
                             " is pinned; only security.*, sasl.*, ssl.* and how to reach the "
                             "cluster can be set"};
        }
        if (Status set = conf.set(name, value); !set) return set;
    }
    if (Status set = conf.set("bootstrap.servers", settings.bootstrap); !set) return set;
    if (Status set = conf.set("client.id", settings.client_id); !set) return set;
    rd_kafka_conf_set_opaque(conf.get(), &callbacks);
    rd_kafka_conf_set_log_cb(conf.get(), on_log);
    rd_kafka_conf_set_error_cb(conf.get(), on_error);
    return conf.pin(kOfAll);
}

constexpr std::array kOfMembers{
    // One that died gives its partitions back after this. The broker allows no less than 6 s.
    Pinned{"session.timeout.ms", "10000"},
    Pinned{"heartbeat.interval.ms", "3000"},
};

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
