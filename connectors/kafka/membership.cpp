#include "connectors/kafka/membership.h"

#include <utility>

namespace trueup::connectors::kafka {

namespace {

constexpr int kPollMs = 100;  // the client library ends it sooner; else a stop waits as long

}  // namespace

Membership::Membership(Settings settings) : settings_(std::move(settings)) {
    callbacks_.settings = &settings_;
    callbacks_.self = this;
    callbacks_.rebalanced = [](rd_kafka_t*, rd_kafka_resp_err_t error,
                               rd_kafka_topic_partition_list_t* partitions, void* self) {
        static_cast<Membership*>(self)->rebalanced(error, partitions);
    };
}

Result<std::unique_ptr<Membership>> Membership::join(Settings settings, const std::string& group,
                                                     Topic topic) {
    std::unique_ptr<Membership> member(new Membership(std::move(settings)));
    member->group_ = member->settings_.prefix + "." + group;
    Result<Client> made = make_member(member->callbacks_, member->group_);
    if (!made) return made.error();
    member->client_ = std::move(*made);
    const Partitions wanted(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(wanted.get(), topic_name(member->settings_, topic).c_str(),
                                      RD_KAFKA_PARTITION_UA);
    const rd_kafka_resp_err_t error = rd_kafka_subscribe(member->client_.get(), wanted.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_of(error, "join the group " + member->group_);
    }
    member->thread_ = std::thread([raw = member.get()] { raw->run(); });
    return member;
}

Membership::~Membership() {
    leaving_ = true;
    if (thread_.joinable()) thread_.join();
    if (client_) rd_kafka_consumer_close(client_.get());
}

bool Membership::has(PartitionNumber partition) const {
    const MutexLock lock(mutex_);
    return ours_.contains(partition);
}

std::string Membership::trouble() const {
    const MutexLock lock(mutex_);
    return trouble_;
}

void Membership::note(std::string trouble) {
    const MutexLock lock(mutex_);
    trouble_ = std::move(trouble);
}

std::set<PartitionNumber> ours_after(rd_kafka_resp_err_t word,
                                     const rd_kafka_topic_partition_list_t& partitions) {
    std::set<PartitionNumber> ours;
    if (word != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) return ours;
    for (int i = 0; i < partitions.cnt; ++i) {
        ours.insert(PartitionNumber(partitions.elems[i].partition));
    }
    return ours;
}

/// A member that does not poll is put out of its group.
void Membership::run() {
    while (!leaving_) {
        const Message message(rd_kafka_consumer_poll(client_.get(), kPollMs));
        if (!message || message->err == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) continue;
        note(error_of(message->err, "join the group " + group_).what);
    }
}

/// What is ours is assigned, since the client wants it so, and paused: nothing of it is fetched.
/// When it is taken back, the group says a moment later what is ours instead.
void Membership::rebalanced(rd_kafka_resp_err_t error,
                            rd_kafka_topic_partition_list_t* partitions) {
    std::set<PartitionNumber> ours = ours_after(error, *partitions);
    if (error != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        {
            const MutexLock lock(mutex_);
            ours_ = std::move(ours);
        }
        rd_kafka_assign(client_.get(), nullptr);
        return;
    }
    for (int i = 0; i < partitions->cnt; ++i) partitions->elems[i].offset = RD_KAFKA_OFFSET_END;
    rd_kafka_assign(client_.get(), partitions);
    rd_kafka_pause_partitions(client_.get(), partitions);
    const MutexLock lock(mutex_);
    ours_ = std::move(ours);
    trouble_.clear();
}

}  // namespace trueup::connectors::kafka
