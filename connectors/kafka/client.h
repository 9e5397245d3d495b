// librdkafka's handles with an owner each, and the settings that this program pins.
//
// Written for librdkafka 2.0.2 (Debian 12) and run against newer ones too. Free functions;
// handles are as thread-safe as librdkafka makes them.
#pragma once

#include "connectors/kafka/settings.h"
#include "engine/base/result.h"
#include "engine/ports/records.h"

#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>

namespace trueup::connectors::kafka {

/// Ends a client without waiting for anything: whoever needs to wait does so before.
struct DestroyClient {
    void operator()(rd_kafka_t* client) const {
        rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }
};
using Client = std::unique_ptr<rd_kafka_t, DestroyClient>;

/// An owner for whatever librdkafka destroys by a function of its own.
template <auto destroy>
struct Destroy {
    template <typename T>
    void operator()(T* thing) const {
        destroy(thing);
    }
};
template <typename T, auto destroy>
using Owned = std::unique_ptr<T, Destroy<destroy>>;

using Queue = Owned<rd_kafka_queue_t, rd_kafka_queue_destroy>;
using Message = Owned<rd_kafka_message_t, rd_kafka_message_destroy>;
using Partitions = Owned<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>;
using TopicHandle = Owned<rd_kafka_topic_t, rd_kafka_topic_destroy>;
using Metadata = Owned<const rd_kafka_metadata_t, rd_kafka_metadata_destroy>;

/// What librdkafka calls back, with `self`. What a client does not use stays empty.
struct Callbacks {
    const Settings* settings = nullptr;
    void* self = nullptr;
    void (*delivered)(rd_kafka_t*, const rd_kafka_message_t*, void* self) = nullptr;
    void (*failed)(rd_kafka_t*, int error, const char* reason, void* self) = nullptr;
    void (*rebalanced)(rd_kafka_t*, rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*,
                       void* self) = nullptr;
};

/// The callbacks and their settings outlive the client. kStop names a setting that does not do.
Result<Client> make_producer(Callbacks& callbacks);
/// For `assign` at exact offsets; joins no group.
Result<Client> make_reader(Callbacks& callbacks);
/// A member of `group`, which decides the partitions and nothing else.
Result<Client> make_member(Callbacks& callbacks, const std::string& group);

/// `PREFIX.changes.pods`
std::string topic_name(const Settings& settings, Topic topic);
/// kUnspecified: not one of ours.
Topic topic_of(const Settings& settings, std::string_view name);
/// A list of this one partition, as librdkafka takes it; its `offset` may also be a time or a code.
Partitions one_partition(const Settings& settings, ports::Partition partition, std::int64_t offset);
/// `changes.pods/3`, for sentences.
std::string partition_name(ports::Partition partition);

/// A sentence, and the caller's next move.
Error error_of(rd_kafka_resp_err_t error, const std::string& doing);

}  // namespace trueup::connectors::kafka
