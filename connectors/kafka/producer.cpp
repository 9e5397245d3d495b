#include "connectors/kafka/producer.h"

#include "engine/base/check.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors::kafka {

namespace {

constexpr std::size_t kMostBatches = 4;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20U;
constexpr std::size_t kLarge = std::size_t{256} << 10U;  // goes out beside others of its partition
constexpr int kPollMs = 100;  // the client library ends it sooner; else a stop waits as long

Error unanswered(ports::Partition partition) {
    return {Next::kRetry, Code::kUnavailable,
            "append to " + partition_name(partition) +
                ": it has no answer yet, and this process stops"};
}

/// What went out just before it failed.
Error unsent(ports::Partition partition) {
    return {Next::kRetry, Code::kUnavailable,
            "append to " + partition_name(partition) + ": one before it failed"};
}

std::size_t bytes_of(const ports::Entry& entry) { return entry.key.size() + entry.value.size(); }

/// A copy: librdkafka takes the headers over with the message.
rd_kafka_headers_t* headers_of(const ports::Entry& entry) {
    if (entry.headers.empty()) return nullptr;
    rd_kafka_headers_t* headers = rd_kafka_headers_new(8);
    entry.headers.each([&](std::string_view name, std::string_view value) {
        rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                            static_cast<ssize_t>(value.size()));
    });
    return headers;
}

}  // namespace

Producer::Producer(const Settings& settings, OnAppended told, OnAnswered answered,
                   OnTrouble worried)
    : settings_(settings),
      told_(std::move(told)),
      answered_(std::move(answered)),
      worried_(std::move(worried)),
      batches_(kMostBatches, 0) {
    callbacks_.settings = &settings_;
    callbacks_.self = this;
    callbacks_.delivered = [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
        static_cast<Producer*>(self)->delivered(*message);
    };
    callbacks_.failed = [](rd_kafka_t*, int error, const char* reason, void* self) {
        if (error != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return;  // others are tried
        static_cast<Producer*>(self)->worried_(reason);
    };
}

Result<std::unique_ptr<Producer>> Producer::start(const Settings& settings, OnAppended told,
                                                  OnAnswered answered, OnTrouble worried) {
    std::unique_ptr<Producer> producer(
        new Producer(settings, std::move(told), std::move(answered), std::move(worried)));
    {
        const MutexLock lock(producer->mutex_);
        if (Status made = producer->renew(); !made) return made.error();
    }
    producer->thread_ = std::thread([raw = producer.get()] { raw->run(); });
    return producer;
}

Producer::~Producer() {
    {
        const MutexLock lock(mutex_);
        while (!turns_.empty() || !sent_.empty()) idle_.wait(mutex_);
        stopping_ = true;
    }
    if (thread_.joinable()) thread_.join();
    topics_.clear();
    reports_.reset();
}

Status Producer::renew() {
    Result<Client> made = make_producer(callbacks_);
    if (!made) return made.error();
    topics_.clear();
    reports_.reset();
    client_ = std::move(*made);
    reports_.reset(rd_kafka_queue_get_main(client_.get()));
    doomed_ = false;
    return Done{};
}

/// Pieces of about a batch each.
std::vector<Producer::UnitRef> Producer::cut(ports::Partition partition,
                                             const ports::Entries& entries) {
    const auto whole = std::make_shared<Whole>();
    std::vector<UnitRef> pieces;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (pieces.empty() || pieces.back()->bytes >= kBatchBytes) {
            pieces.push_back(std::make_unique<Unit>());
            pieces.back()->partition = partition;
            pieces.back()->whole = whole;
            pieces.back()->entries = entries;
            pieces.back()->first = i;
        }
        pieces.back()->bytes += bytes_of(entries[i]);
        ++pieces.back()->count;
    }
    whole->pieces = pieces.size();
    return pieces;
}

std::shared_ptr<ports::AppendAnswer> Producer::append(ports::Partition partition,
                                                      const ports::Entries& entries) {
    TRUEUP_CHECK(!entries.empty());
    for (const ports::Entry& entry : entries) {
        if (bytes_of(entry) <= kMaxRecordBytes) continue;
        auto answer = std::make_shared<ports::AppendAnswer>();
        answer->give(Error{Next::kSkip, Code::kTooLarge,
                           "a record of " + std::to_string(bytes_of(entry)) + " bytes for " +
                               partition_name(partition) + " is above the limit of " +
                               std::to_string(kMaxRecordBytes)});
        return answer;
    }
    std::vector<UnitRef> pieces = cut(partition, entries);
    std::shared_ptr<ports::AppendAnswer> answer = pieces.front()->whole->answer;
    const MutexLock lock(mutex_);
    while (queued_bytes_ > settings_.memory_bytes / 4) room_.wait(mutex_);
    if (out_of_time()) {
        answer->give(unanswered(partition));
        return answer;
    }
    Line& line = lines_[partition];
    if (line.queue.empty()) turns_.push_back(partition);
    for (UnitRef& piece : pieces) {
        piece->line = &line;
        queued_bytes_ += piece->bytes;
        line.bytes += piece->bytes;
        line.queue.push_back(std::move(piece));
    }
    rd_kafka_queue_yield(reports_.get());  // ends the poll: the thread sends
    return answer;
}

void Producer::begin_stop(Millis wait) {
    const MutexLock lock(mutex_);
    if (!until_) until_ = CondVar::in(wait);
}

bool Producer::out_of_time() const { return until_ && *until_ <= CondVar::in(Millis{0}); }

/// What is queued has failed, and what is under way is reported so by the next polls.
void Producer::give_up() {
    for (auto& [partition, line] : lines_) {
        for (const UnitRef& unit : line.queue) {
            unit->whole->fail(unanswered(partition));
            finish(*unit);
        }
        line.queue.clear();
        line.bytes = 0;
    }
    turns_.clear();
    if (sent_.empty()) return;
    for (const auto& [unit, owned] : sent_) unit->whole->fail(unanswered(unit->partition));
    doom();
}

/// Batches that may go out now; partitions take turns.
std::vector<Producer::Unit*> Producer::next_units() {
    std::vector<Unit*> out;
    std::size_t passed = 0;  // partitions in a row that have to wait
    while (!doomed_ && open_batches_ < kMostBatches && passed < turns_.size()) {
        const ports::Partition partition = turns_.front();
        turns_.pop_front();
        Line& line = lines_.at(partition);
        const bool goes = line.batches == 0 || line.bytes >= kLarge;
        passed = goes ? 0 : passed + 1;
        if (goes) take_batch(line, out);
        if (!line.queue.empty()) turns_.push_back(partition);
    }
    return out;
}

void Producer::take_batch(Line& line, std::vector<Unit*>& out) {
    const auto slot = std::find(batches_.begin(), batches_.end(), std::size_t{0});
    const std::size_t before = out.size();
    for (std::size_t bytes = 0; !line.queue.empty() && bytes < kBatchBytes;) {
        UnitRef unit = std::move(line.queue.front());
        line.queue.pop_front();
        line.bytes -= unit->bytes;
        if (unit->whole->error) {  // its beginning failed: the rest must not be there
            finish(*unit);
            continue;
        }
        bytes += unit->bytes;
        unit->batch = static_cast<std::size_t>(slot - batches_.begin());
        unit->outstanding = unit->count;
        out.push_back(unit.get());
        sent_.emplace(unit.get(), std::move(unit));
    }
    if (out.size() == before) return;
    *slot = out.size() - before;
    ++line.batches;
    ++open_batches_;
}

rd_kafka_topic_t* Producer::topic(Topic topic) {
    TopicHandle& handle = topics_[topic];
    if (!handle) {
        const std::string name = topic_name(settings_, topic);
        handle.reset(rd_kafka_topic_new(client_.get(), name.c_str(), nullptr));
    }
    return handle.get();
}

/// Zero copy: the unit stays until its last report, which comes with a later poll.
void Producer::send(Unit& unit) {
    if (doomed_) unit.whole->fail(unsent(unit.partition));
    if (unit.whole->error) {  // or its beginning failed just now
        unit.outstanding = 0;
        return;
    }
    rd_kafka_topic_t* const topic = this->topic(unit.partition.topic);
    // librdkafka only reads what it is not to free, though its types do not say so.
    const auto bytes = [](const std::string& text) { return const_cast<char*>(text.data()); };
    for (std::size_t i = unit.first; i < unit.first + unit.count; ++i) {
        const ports::Entry& entry = unit.entries[i];
        rd_kafka_headers_t* headers = headers_of(entry);
        rd_kafka_vu_t fields[] = {
            {.vtype = RD_KAFKA_VTYPE_RKT, .u = {.rkt = topic}},
            {.vtype = RD_KAFKA_VTYPE_PARTITION, .u = {.i32 = unit.partition.index.value()}},
            {.vtype = RD_KAFKA_VTYPE_KEY,
             .u = {.mem = {.ptr = bytes(entry.key), .size = entry.key.size()}}},
            {.vtype = RD_KAFKA_VTYPE_VALUE,
             .u = {.mem = {.ptr = bytes(entry.value), .size = entry.value.size()}}},
            {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u = {.ptr = &unit}},
            {.vtype = RD_KAFKA_VTYPE_HEADERS, .u = {.headers = headers}},
        };
        const std::size_t count = headers == nullptr ? 5 : 6;
        const Owned<rd_kafka_error_t, rd_kafka_error_destroy> error(
            rd_kafka_produceva(client_.get(), fields, count));
        if (!error) continue;
        if (headers != nullptr) rd_kafka_headers_destroy(headers);
        --unit.outstanding;
        unit.whole->fail(error_of(rd_kafka_error_code(error.get()),
                                  "append to " + partition_name(unit.partition)));
    }
    if (unit.whole->error) doom();
}

/// Nothing more goes out by this producer; what is under way is reported as failed at once.
void Producer::doom() {
    if (std::exchange(doomed_, true)) return;
    rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                      RD_KAFKA_PURGE_F_NON_BLOCKING);
}

void Producer::delivered(const rd_kafka_message_t& message) {
    const MutexLock lock(mutex_);
    auto& unit = *static_cast<Unit*>(message._private);
    --unit.outstanding;
    Whole& whole = *unit.whole;
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    const std::int64_t time = rd_kafka_message_timestamp(&message, &type);
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        whole.fail(error_of(message.err, "append to " + partition_name(unit.partition)));
        doom();
    } else if (message.offset < 0 || time < 0 || type != RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME) {
        // A retry that the broker had seen before: it is there, but nobody says where. librdkafka
        // counts the offsets of a batch up from -1 then, and gives them the time of the client.
        whole.fail(
            {Next::kRetry, Code::kUnavailable,
             "append to " + partition_name(unit.partition) + ": stored at an unknown offset"});
    } else {
        const Offset offset(message.offset);
        if (whole.appended.first_offset < kFirstOffset) whole.appended.first_offset = offset;
        whole.appended.last_offset = offset;
        whole.appended.append_time = from_millis<BrokerTime>(time);
    }
    settle(unit);
}

/// Takes leave of a piece whose last report is in.
void Producer::settle(Unit& unit) {
    if (unit.outstanding > 0) return;
    const auto found = sent_.find(&unit);
    TRUEUP_CHECK(found != sent_.end());
    const UnitRef owned = std::move(found->second);
    sent_.erase(found);
    if (--batches_[unit.batch] == 0) {
        --open_batches_;
        --unit.line->batches;
    }
    finish(unit);
}

/// Answers the append whose last piece this is.
void Producer::finish(const Unit& unit) {
    Whole& whole = *unit.whole;
    queued_bytes_ -= unit.bytes;
    room_.notify_all();
    if (--whole.pieces > 0) return;
    if (whole.error) {
        whole.answer->give(*whole.error);
    } else {
        told_(unit.partition, whole.appended);
        whole.answer->give(whole.appended);
    }
    answered_();
}

/// A record that could not even be queued has no report.
void Producer::settle_unsent() {
    std::vector<Unit*> dead;
    for (const auto& [unit, owned] : sent_) {
        if (unit->outstanding == 0) dead.push_back(unit);
    }
    for (Unit* unit : dead) settle(*unit);
}

void Producer::run() {
    for (;;) {
        rd_kafka_poll(client_.get(), kPollMs);
        std::vector<Unit*> units;
        {
            const MutexLock lock(mutex_);
            if (out_of_time()) give_up();
            if (doomed_) settle_unsent();
            if (doomed_ && sent_.empty() && !out_of_time()) {
                ++renewals_;
                if (Status made = renew(); !made) continue;
            }
            units = next_units();
            if (turns_.empty() && sent_.empty()) {
                idle_.notify_all();
                if (stopping_) return;
            }
        }
        for (Unit* unit : units) send(*unit);
    }
}

}  // namespace trueup::connectors::kafka
