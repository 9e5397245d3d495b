#include "engine/runtime/source_task.h"

#include "engine/base/guard.h"
#include "engine/base/id.h"
#include "engine/codec/change_codec.h"

#include <algorithm>
#include <utility>

namespace trueup::runtime {

namespace {

constexpr PartitionNumber kFirst(0);  // has all of what tells whose the source is
constexpr std::size_t kMostInFlight = 4;
// While it stands by: a partition that is not being read brings no news, so it looks for them.
constexpr Millis kListenAgain{500};
constexpr std::uint64_t kLateTokens = 16;  // of our own that may still come
constexpr std::size_t kReadBytes = std::size_t{1} << 20U;

}  // namespace

SourceTask::SourceTask(SourceTaskSettings settings, ports::Log& log, ports::Connector& connector)
    : settings_(std::move(settings)), log_(log), connector_(connector) {
    batch_.resize(static_cast<std::size_t>(settings_.partitions));
}

Status SourceTask::step(SteadyTime now, Millis max_wait) {
    if (stands_by()) {
        if (Status listened = listen(now, max_wait); !listened) {
            return pause_after(listened, max_wait);
        }
        if (stands_by()) return Done{};
    }
    if (incarnation_ < kFirstOffset) {
        if (now < not_before_) {
            log_.wait(log_.changes_seen(), std::min(max_wait, not_before_ - now));
            return Done{};
        }
        if (Status begun = begin(); !begun) {
            not_before_ = now + settings_.backoff;
            return begun;
        }
    }
    if (Status settled = settle(now, false); !settled) return settled;
    if (Status looked = look_at_others(now); !looked) return pause_after(looked, max_wait);
    if (stands_by()) return Done{};
    // The log is slower than the source: the source waits.
    if (flights_.size() >= (claimed_ ? kMostInFlight : 1)) return settle(now, true);
    if (!claimed_) claim(now);
    if (connector_.needs_new_incarnation()) {
        end_incarnation(now);
        return Done{};
    }
    facts_.clear();
    connector_.step(now, max_wait, facts_);  // an answer of the log ends its wait, too
    for (const Fact& fact : facts_) publish(fact);
    flush();
    return Done{};
}

void SourceTask::list_again() {
    // The versions still count: what a list that is under way shows may be older than the stream.
    for (auto& [place, told] : told_) told.missed = true;
    connector_.relist();
}

Status SourceTask::drain() {
    while (!flights_.empty()) {
        if (Status settled = settle(SteadyTime{}, true); !settled) return settled;
    }
    return Done{};
}

std::string SourceTask::nonce(std::uint64_t incarnation) const {
    return to_hex(hash128(settings_.source, settings_.nonce_seed + incarnation));
}

/// The offset of an IncarnationStart of our own. An append whose answer was lost may be there all
/// the same: it is then a token that nobody uses, and the next one is higher.
Result<Incarnation> SourceTask::take_token() {
    const std::string said = nonce(incarnations_);
    ChangeView start;
    start.kind = ChangeKind::kIncarnationStart;
    start.source = settings_.source;
    start.nonce = said;
    start.mapping = settings_.mapping;
    std::vector<ports::Entry> entries;
    entries.push_back({settings_.source, codec::encode_change(start)});
    const auto appended = ports::append_now(log_, {settings_.topic, kFirst}, entries);
    if (!appended) return appended.error();
    return appended->first_offset;
}

Status SourceTask::begin() {
    ++incarnations_;
    const Result<Incarnation> token = take_token();
    if (!token) return token.error();
    incarnation_ = *token;
    expected_ = read_from_ = read_to_ = next(*token);
    epoch_ = 0;
    told_.clear();
    seq_.assign(batch_.size(), 0);
    counts_.assign(batch_.size(), 0);
    ChangeView owner;
    owner.kind = ChangeKind::kOwner;
    owner.mapping = settings_.mapping;
    if (TRUEUP_GUARD("owner_everywhere")) add_everywhere(owner);
    flush();
    claimed_ = false;
    return Done{};
}

/// What the owner before us still told lies before our first record everywhere. A list that was
/// asked for sooner could be older than that, and be taken for a source that went back in time.
void SourceTask::claim(SteadyTime now) {
    claimed_ = true;
    connector_.restart(now);
}

void SourceTask::end_incarnation(SteadyTime now) {
    incarnation_ = kNoOffset;
    told_.clear();
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
            return Error{Next::kRetry, appended.error().code,
                         settings_.source + ": " + appended.error().what};
        }
        if (flight.partition == kFirst) note_place(*appended);
        published_ += flight.records;
        if (flight.marker) connector_.marker_appended(appended->append_time, now);
        if (flight.confirm != 0) connector_.delivered(flight.confirm);
        wait = false;
    }
    return Done{};
}

bool SourceTask::is_ours(std::string_view said) const {
    const std::uint64_t oldest = incarnations_ > kLateTokens ? incarnations_ - kLateTokens : 0;
    for (std::uint64_t n = incarnations_; n > oldest; --n) {
        if (nonce(n) == said) return true;
    }
    return false;
}

/// Who writes alone finds each append right behind the one before, and need not read.
void SourceTask::note_place(const ports::Appended& place) {
    if (place.first_offset > expected_) {
        if (read_to_ <= read_from_) read_from_ = expected_;
        read_to_ = place.first_offset;
    }
    expected_ = std::max(expected_, next(place.last_offset));
}

/// Is there a token above ours between our own records?
Status SourceTask::look_at_others(SteadyTime now) {
    if (read_from_ >= read_to_) return Done{};
    if (Status read = read_others(read_to_, now); !read) return read;
    if (!stands_by()) return Done{};
    end_incarnation(now);
    connector_.restart(now);  // ends its calls; it is given no step before the next incarnation
    return Done{};
}

/// A log that refuses refuses at once: it is asked again after a while.
Status SourceTask::pause_after(const Status& failed, Millis max_wait) {
    log_.wait(log_.changes_seen(), std::min(max_wait, settings_.backoff));
    return failed;
}

/// The owner's records keep us waiting; its silence ends that.
Status SourceTask::listen(SteadyTime now, Millis max_wait) {
    const std::uint64_t seen = log_.changes_seen();
    const auto extent = log_.describe({settings_.topic, kFirst});
    if (!extent) return extent.error();
    if (Status read = read_others(extent->next_offset, now); !read) return read;
    if (now - heard_ >= settings_.timeout) {
        owner_ = kNoOffset;
        return Done{};
    }
    log_.wait(seen, std::min(max_wait, kListenAgain));
    return Done{};
}

Status SourceTask::read_others(Offset end, SteadyTime now) {
    while (read_from_ < end) {
        const auto fetched = log_.read({settings_.topic, kFirst}, read_from_, kReadBytes);
        // What retention took was written long ago.
        if (!fetched && fetched.error().next == Next::kStop) read_from_ = end;
        if (!fetched) return fetched.error();
        for (const ports::Record& record : fetched->records) {
            if (record.offset >= end) break;
            const Result<ChangeView> change = codec::decode_change(record.value);
            if (!change || change->source != settings_.source) continue;
            const bool token = change->kind == ChangeKind::kIncarnationStart;
            const Incarnation says = token ? record.offset : change->incarnation;
            if (says <= std::max(owner_, incarnation_) && says != owner_) continue;
            if (says > record.offset) continue;  // nobody can have that token
            owner_ = says;
            // Nobody uses a token of ours that came late, and everybody obeys it.
            const bool ours = token && is_ours(change->nonce);
            heard_ = ours ? now - settings_.timeout : now;
        }
        if (fetched->next_offset <= read_from_) break;  // the rest is not to be read yet
        read_from_ = std::min(fetched->next_offset, end);
    }
    return Done{};
}

/// A flight of its own, whose append time the machine waits for.
void SourceTask::mark(ChangeView change) {
    change.kind = ChangeKind::kMarker;
    flush();
    add(kFirst, change);
    flush();
    if (!flights_.empty()) flights_.back().marker = true;
}

/// To the machine, once all that was published before is durable.
void SourceTask::confirm(std::uint64_t what) {
    flush();
    if (flights_.empty()) {
        connector_.delivered(what);
    } else {
        flights_.back().confirm = what;
    }
}

void SourceTask::flush() {
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        if (batch_[i].empty()) continue;
        Flight flight;
        flight.partition = PartitionNumber(static_cast<std::int32_t>(i));
        flight.records = batch_[i].size();
        flight.append =
            log_.append({settings_.topic, flight.partition}, std::exchange(batch_[i], {}));
        flight.append->tell([this] { connector_.wake(); });
        flights_.push_back(std::move(flight));
    }
}

}  // namespace trueup::runtime
