#include "engine/runtime/source_task.h"

#include "engine/base/guard.h"
#include "engine/base/id.h"
#include "engine/codec/change_codec.h"
#include "engine/codec/limits.h"
#include "engine/model/object.h"

#include <algorithm>
#include <utility>

namespace trueup::runtime {

namespace {

constexpr std::size_t kMostInFlight = 4;
constexpr std::size_t kMostEntries = 2'000;  // of one append
constexpr Millis kFlightPoll{2};

/// What is published instead of an object that is too large: enough to see it, nothing to act on.
std::string oversized(std::string_view object) {
    ObjectBuilder fields;
    fields.add("oversized", "true");
    fields.add("xxh3", to_hex(hash128(object)));
    return fields.take();
}

}  // namespace

SourceTask::SourceTask(SourceTaskSettings settings, ports::Log& log, ports::Connector& connector)
    : settings_(std::move(settings)), log_(log), connector_(connector) {
    batch_.resize(static_cast<std::size_t>(settings_.partitions));
}

Status SourceTask::step(SteadyTime now, Millis max_wait) {
    if (incarnation_ < 0) {
        if (now < not_before_) return Done{};
        if (Status begun = begin(now); !begun) {
            not_before_ = now + settings_.backoff;
            return begun;
        }
    }
    if (Status settled = settle(now, false); !settled) return settled;
    if (flights_.size() >= kMostInFlight) {
        return settle(now, true);  // the log is slower than the source: the source waits
    }
    if (connector_.needs_new_incarnation()) {
        end_incarnation(now);
        return Done{};
    }
    facts_.clear();
    connector_.step(now, flights_.empty() ? max_wait : std::min(max_wait, kFlightPoll), facts_);
    for (const Fact& fact : facts_) publish(fact);
    flush();
    return Done{};
}

Status SourceTask::drain() {
    while (!flights_.empty()) {
        if (Status settled = settle(SteadyTime{}, true); !settled) return settled;
    }
    return Done{};
}

/// The offset of an IncarnationStart of our own. An append whose answer was lost may be there all
/// the same: it is then a token that nobody uses, and the next one is higher.
Result<Incarnation> SourceTask::take_token() {
    const std::string nonce =
        to_hex(hash128(settings_.source, settings_.nonce_seed + incarnations_));
    ChangeView start;
    start.kind = ChangeKind::kIncarnationStart;
    start.source = settings_.source;
    start.nonce = nonce;
    std::vector<ports::Entry> entries;
    entries.push_back({settings_.source, codec::encode_change(start)});
    const auto appended = ports::append_now(log_, {settings_.topic, 0}, entries);
    if (!appended) return appended.error();
    return appended->first_offset;
}

Status SourceTask::begin(SteadyTime now) {
    ++incarnations_;
    if (!TRUEUP_GUARD("token_first")) connector_.restart(now);
    const Result<Incarnation> token = take_token();
    if (!token) return token.error();
    incarnation_ = *token;
    epoch_ = 0;
    seq_.assign(batch_.size(), 0);
    counts_.assign(batch_.size(), 0);
    ChangeView owner;
    owner.kind = ChangeKind::kOwner;
    if (TRUEUP_GUARD("owner_everywhere")) add_everywhere(owner);
    flush();
    if (TRUEUP_GUARD("token_first")) connector_.restart(now);
    return Done{};
}

void SourceTask::end_incarnation(SteadyTime now) {
    incarnation_ = -1;
    flights_.clear();
    for (std::vector<ports::Entry>& entries : batch_) entries.clear();
    not_before_ = now + settings_.backoff;
}

Status SourceTask::settle(SteadyTime now, bool wait) {
    while (!flights_.empty() && (wait || flights_.front().append->ready())) {
        Flight flight = std::move(flights_.front());
        flights_.pop_front();
        const auto appended = flight.append->take();
        if (!appended) {
            if (TRUEUP_GUARD("lost_append_ends_it")) end_incarnation(now);
            return Error{Next::kRetry, settings_.source + ": " + appended.error().what};
        }
        published_ += flight.records;
        if (flight.marker) connector_.marker_appended(appended->append_time, now);
        if (flight.confirm != 0) connector_.delivered(flight.confirm);
        wait = false;
    }
    return Done{};
}

void SourceTask::publish(const Fact& fact) {
    ChangeView change;
    change.event_id = fact.event_id;
    change.object_id = fact.object_id;
    change.subject_key = fact.subject_key;
    change.version = fact.version;
    change.source_time = fact.source_time;
    switch (fact.kind) {
        case Fact::Kind::kUpsert:
            change.kind = ChangeKind::kUpsert;
            change.object = fact.object;
            return upsert(change, fact.in_epoch);
        case Fact::Kind::kRemove:
            change.kind = ChangeKind::kRemove;
            return upsert(change, false);
        case Fact::Kind::kSnapshotBegin:
            change.kind = ChangeKind::kSnapshotBegin;
            change.epoch = ++epoch_;
            std::fill(counts_.begin(), counts_.end(), 0);
            return add_everywhere(change);
        case Fact::Kind::kSnapshotEnd:
            change.kind = ChangeKind::kSnapshotEnd;
            change.epoch = epoch_;
            for (std::size_t i = 0; i < batch_.size(); ++i) {
                change.count = counts_[i];
                add(static_cast<std::int32_t>(i), change);
            }
            return;
        case Fact::Kind::kMarker:
            change.kind = ChangeKind::kMarker;
            flush();
            add(0, change);
            flush();
            if (!flights_.empty()) flights_.back().marker = true;
            return;
        case Fact::Kind::kProgress:
            change.kind = ChangeKind::kProgress;
            change.complete_as_of = fact.complete_as_of;
            change.source_clock = fact.source_clock;
            return add_everywhere(change);
        case Fact::Kind::kAlive:
            change.kind = ChangeKind::kAlive;
            return add_everywhere(change);
        case Fact::Kind::kConfirm:
            flush();
            if (flights_.empty()) {
                connector_.delivered(fact.confirm);
            } else {
                flights_.back().confirm = fact.confirm;
            }
            return;
    }
}

/// An item goes to its subject's partition; a reference (`!`) goes to all of them.
void SourceTask::upsert(ChangeView change, bool in_epoch) {
    std::string replaced;
    if (change.object.size() + 1024 > codec::kMaxItemBytes) {
        replaced = oversized(change.object);
        change.object = replaced;
    }
    if (in_epoch) change.epoch = epoch_;
    const bool reference = !change.subject_key.empty() && change.subject_key.front() == '!';
    const std::int32_t home = partition_of(change.subject_key, settings_.partitions);
    for (std::int32_t p = 0; p < settings_.partitions; ++p) {
        if (!reference && p != home) continue;
        if (in_epoch) ++counts_[static_cast<std::size_t>(p)];
        add(p, change);
    }
}

void SourceTask::add(std::int32_t partition, ChangeView change) {
    const auto index = static_cast<std::size_t>(partition);
    change.source = settings_.source;
    change.incarnation = incarnation_;
    change.seq = ++seq_[index];
    const std::string_view key =
        change.subject_key.empty() ? std::string_view(settings_.source) : change.subject_key;
    batch_[index].push_back({std::string(key), codec::encode_change(change)});
    if (batch_[index].size() >= kMostEntries) flush();
}

void SourceTask::add_everywhere(ChangeView change) {
    for (std::int32_t p = 0; p < settings_.partitions; ++p) add(p, change);
}

void SourceTask::flush() {
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        if (batch_[i].empty()) continue;
        Flight flight;
        flight.records = batch_[i].size();
        flight.append = log_.append({settings_.topic, static_cast<std::int32_t>(i)},
                                    std::exchange(batch_[i], {}));
        flights_.push_back(std::move(flight));
    }
}

}  // namespace trueup::runtime
