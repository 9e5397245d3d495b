#include "connectors/kafka/admin.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace trueup::connectors::kafka {

namespace {

constexpr int kAnswerMs = 10'000;

using Event = Owned<rd_kafka_event_t, rd_kafka_event_destroy>;

/// Sends a request and waits for the event that answers it.
Result<Event> ask(rd_kafka_t* client, const std::string& doing,
                  const std::function<void(rd_kafka_queue_t*)>& send) {
    const Queue queue(rd_kafka_queue_new(client));
    send(queue.get());
    Event event(rd_kafka_queue_poll(queue.get(), kAnswerMs));
    if (!event) return error_of(RD_KAFKA_RESP_ERR__TIMED_OUT, doing);
    const rd_kafka_resp_err_t error = rd_kafka_event_error(event.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(error, doing);
    return event;
}

/// The client goes by what it learned a while ago: that a topic was not there, though it was made
/// since, or who led a partition.
bool is_stale(rd_kafka_resp_err_t error) {
    return error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
           error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
           error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
           error == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION ||
           error == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
}

}  // namespace

Admin::Admin(const Settings& settings) : settings_(settings) { callbacks_.settings = &settings_; }

Result<std::unique_ptr<Admin>> Admin::connect(const Settings& settings) {
    std::unique_ptr<Admin> admin(new Admin(settings));
    Result<Client> made = make_reader(admin->callbacks_);
    if (!made) return made.error();
    admin->client_ = std::move(*made);
    if (const auto brokers = admin->brokers(); !brokers) {
        return Error{brokers.error().next, brokers.error().code,
                     "kafka at " + settings.bootstrap + ": " + brokers.error().what};
    }
    if (Status learnt = admin->learn_cluster(); !learnt) return learnt.error();
    return admin;
}

Status Admin::learn_cluster() {
    char* id = rd_kafka_clusterid(client_.get(), kAnswerMs);
    if (id == nullptr) {
        return Error{Next::kRetry, Code::kUnavailable,
                     "kafka at " + settings_.bootstrap +
                         ": the brokers do not report their cluster id; Kafka 0.10.1 and later do"};
    }
    cluster_ = id;
    rd_kafka_mem_free(client_.get(), id);
    return Done{};
}

Result<std::int32_t> Admin::brokers() {
    const rd_kafka_metadata_t* raw = nullptr;
    const rd_kafka_resp_err_t error = rd_kafka_metadata(client_.get(), 0, nullptr, &raw, kAnswerMs);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(error, "ask for the brokers");
    const Metadata metadata(raw);
    return metadata->broker_cnt;
}

rd_kafka_resp_err_t Admin::look_up(ports::Partition partition, std::int64_t time,
                                   std::int64_t& offset) {
    const Partitions list = one_partition(settings_, partition, time);
    const rd_kafka_resp_err_t error =
        rd_kafka_offsets_for_times(client_.get(), list.get(), kAnswerMs);
    offset = list->elems[0].offset;
    return error != RD_KAFKA_RESP_ERR_NO_ERROR ? error : list->elems[0].err;
}

Result<ports::Extent> Admin::extent(ports::Partition partition) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    // One after the other: what asks for both at once has no end in 2.0.2 while no broker answers.
    const auto query = [&] {
        const rd_kafka_resp_err_t error = look_up(partition, RD_KAFKA_OFFSET_BEGINNING, low);
        return error != RD_KAFKA_RESP_ERR_NO_ERROR ? error
                                                   : look_up(partition, RD_KAFKA_OFFSET_END, high);
    };
    rd_kafka_resp_err_t error = query();
    if (is_stale(error)) {
        const std::string name = topic_name(settings_, partition.topic);
        if (const auto looked = metadata(name); !looked) return looked.error();
        error = query();
    }
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_of(error, "describe " + partition_name(partition));
    }
    return ports::Extent{Offset(low), Offset(high)};
}

Result<Offset> Admin::offset_at(ports::Partition partition, BrokerTime time) {
    // What is appended after the question is younger: the end as it was before it will do.
    const Result<ports::Extent> extent = this->extent(partition);
    if (!extent) return extent.error();
    const std::int64_t millis = std::max<std::int64_t>(to_millis(time), 0);
    std::int64_t found = 0;
    const rd_kafka_resp_err_t error = look_up(partition, millis, found);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_of(error, "look for a time in " + partition_name(partition));
    }
    return found < 0 ? extent->next_offset : Offset(found);
}

Status Admin::delete_before(ports::Partition partition, Offset offset) {
    const Partitions list = one_partition(settings_, partition, offset.value());
    Owned<rd_kafka_DeleteRecords_t, rd_kafka_DeleteRecords_destroy> request(
        rd_kafka_DeleteRecords_new(list.get()));
    rd_kafka_DeleteRecords_t* requests[] = {request.get()};
    const std::string doing = "truncate " + partition_name(partition);
    const Result<Event> event = ask(client_.get(), doing, [&](rd_kafka_queue_t* queue) {
        rd_kafka_DeleteRecords(client_.get(), requests, 1, nullptr, queue);
    });
    if (!event) return event.error();
    const auto* results = rd_kafka_event_DeleteRecords_result(event.value().get());
    const auto* offsets = rd_kafka_DeleteRecords_result_offsets(results);
    const rd_kafka_resp_err_t error = offsets->elems[0].err;
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(error, doing);
    return Done{};
}

Result<Metadata> Admin::metadata(const std::string& name) {
    const TopicHandle topic(rd_kafka_topic_new(client_.get(), name.c_str(), nullptr));
    const rd_kafka_metadata_t* raw = nullptr;
    const rd_kafka_resp_err_t error =
        rd_kafka_metadata(client_.get(), 0, topic.get(), &raw, kAnswerMs);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(error, "look at topic " + name);
    return Metadata(raw);
}

Result<TopicState> Admin::topic(const std::string& name) {
    const Result<Metadata> known = metadata(name);
    if (!known) return known.error();
    const rd_kafka_metadata_topic_t& topic = known.value()->topics[0];
    if (topic.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) return TopicState{};
    if (topic.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_of(topic.err, "look at topic " + name);
    }
    TopicState state{true, topic.partition_cnt, 0, {}};
    if (topic.partition_cnt > 0) state.replicas = topic.partitions[0].replica_cnt;

    Owned<rd_kafka_ConfigResource_t, rd_kafka_ConfigResource_destroy> resource(
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name.c_str()));
    rd_kafka_ConfigResource_t* resources[] = {resource.get()};
    const std::string doing = "look at the settings of topic " + name;
    const Result<Event> event = ask(client_.get(), doing, [&](rd_kafka_queue_t* queue) {
        rd_kafka_DescribeConfigs(client_.get(), resources, 1, nullptr, queue);
    });
    if (!event) return event.error();
    std::size_t count = 0;
    const auto* described = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event.value().get()), &count);
    if (count != 1) return error_of(RD_KAFKA_RESP_ERR__FAIL, doing);
    const rd_kafka_resp_err_t error = rd_kafka_ConfigResource_error(described[0]);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(error, doing);
    const auto* entries = rd_kafka_ConfigResource_configs(described[0], &count);
    for (std::size_t i = 0; i < count; ++i) {
        const char* value = rd_kafka_ConfigEntry_value(entries[i]);
        state.settings[rd_kafka_ConfigEntry_name(entries[i])] = value == nullptr ? "" : value;
    }
    return state;
}

Status Admin::create(const TopicPlan& plan) {
    std::array<char, 512> why{};
    Owned<rd_kafka_NewTopic_t, rd_kafka_NewTopic_destroy> topic(rd_kafka_NewTopic_new(
        plan.name.c_str(), plan.partitions, plan.replicas, why.data(), why.size()));
    if (!topic) {
        return Error{Next::kStop, Code::kConfiguration, "topic " + plan.name + ": " + why.data()};
    }
    for (const auto& [name, value] : plan.settings) {
        rd_kafka_NewTopic_set_config(topic.get(), name.c_str(), value.c_str());
    }
    rd_kafka_NewTopic_t* topics[] = {topic.get()};
    const std::string doing = "make topic " + plan.name;
    const Result<Event> event = ask(client_.get(), doing, [&](rd_kafka_queue_t* queue) {
        rd_kafka_CreateTopics(client_.get(), topics, 1, nullptr, queue);
    });
    if (!event) return event.error();
    std::size_t count = 0;
    const auto* results = rd_kafka_CreateTopics_result_topics(
        rd_kafka_event_CreateTopics_result(event.value().get()), &count);
    if (count != 1) return error_of(RD_KAFKA_RESP_ERR__FAIL, doing);
    const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[0]);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Done{};
    const char* said = rd_kafka_topic_result_error_string(results[0]);
    return Error{Next::kStop, error_of(error, doing).code,
                 doing + ": " + (said == nullptr ? rd_kafka_err2str(error) : said)};
}

}  // namespace trueup::connectors::kafka
