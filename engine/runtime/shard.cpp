#include "engine/runtime/shard.h"

#include "engine/base/failpoint.h"
#include "engine/codec/journal_codec.h"

#include <algorithm>
#include <utility>

namespace trueup::runtime {

namespace {

constexpr std::size_t kReadBytes = std::size_t{4} << 20U;
constexpr Millis kStatusEvery{200};
// By the clock a shard waits for what falls due. Answers of appends and the end of a batch's
// encoding end that wait; that rows were applied it looks up when it writes the next ones.
constexpr Millis kTickAtLeast{20};
constexpr Millis kLookEvery{1'000};
constexpr int kPutOff = 5;
// Rows are written for a twentieth of the time at most: where all subjects change all the time,
// each is written once for many changes.
constexpr int kWriteShare = 20;

/// With which record its writer has folded; first, where there is a choice: what follows compresses
/// better.
void name_folded(const core::Meta& meta, codec::JournalRecordBuilder& record) {
    if (meta.record != 0) record.set_folded({meta.applied, meta.record});
}

}  // namespace

void Shard::refuse(std::string why) {
    if (refused_.empty()) refused_ = std::move(why);
}

Result<bool> Shard::step() {
    Result<bool> busy = round();
    if (busy) return busy;
    if (busy.error().next == Next::kStop) refuse(busy.error().what);
    publish_status();
    return busy;
}

Result<bool> Shard::round() {
    const Result<bool> folded = fold_journal();
    if (!folded) return folded.error();
    bool busy = *folded;
    const bool full = relay_.full();
    if (settings_.lead) {
        if (Status moved = lead(); !moved) return moved.error();
        if (caught_up_ && refused_.empty()) {
            const Result<bool> sequenced = sequence();
            if (!sequenced) return sequenced.error();
            busy = busy || *sequenced;
        }
    }
    busy = busy || (full && !relay_.full());  // it can fold on
    if (Status written = check_rows(); !written) return written.error();
    if (write_due()) {
        if (Status written = write_behind(); !written) return written.error();
    }
    const bool due = !busy || clock_.steady_now() - last_status_ >= kStatusEvery;
    if (due && has_news()) publish_status();
    return busy;
}

/// What has an answer by now, and what can be published.
Status Shard::lead() {
    if (Status settled = settle_appends(); !settled) return settled;
    active_.look(!appends_.empty());
    relay_.defer(!active_.ours());
    const SteadyTime now = clock_.steady_now();
    if (!active_.ours() && !relay_.idle() && now >= next_look_) {
        next_look_ = now + kLookEvery;
        if (Status looked = relay_.look(); !looked) return looked;
    }
    return relay_.step();
}

/// Subjects take nearly all the memory that they may. Those that are not dirty make room for
/// others.
bool Shard::crowded() const {
    const std::size_t most = settings_.cache_bytes;
    return state_.subjects.bytes() + state_.waits.bytes() > most - most / 8;
}

bool Shard::write_due() const {
    if (written_ >= state_.meta.applied) return false;
    const std::size_t dirty = state_.subjects.dirty_bytes();
    const bool heavy = crowded() && dirty > settings_.write_behind_bytes;
    // What another engine publishes is there in a moment; writing now would publish it twice.
    const bool soon = settings_.lead && !active_.ours() && !relay_.idle();
    const Millis longest = settings_.write_behind_every * kPutOff;
    const Millis share = std::min(last_took_ * kWriteShare, longest);
    const Millis every = soon ? longest : std::max(settings_.write_behind_every, share);
    if (!heavy && clock_.steady_now() - last_write_ < every) return false;
    // With twice as much, it waits for the batch that is being applied.
    return !projection_.writing() || dirty > 2 * settings_.write_behind_bytes;
}

Result<bool> Shard::fold_journal() {
    if (!refused_.empty() || relay_.full()) return false;
    if (Status sure = lineage_.settle(); !sure) return with_way_out(sure.error());
    const ports::Partition journal{Topic::kJournal, settings_.shard};
    const auto fetched = log_.read(journal, next(state_.meta.applied), kReadBytes);
    if (!fetched) return fetched.error();
    for (const ports::Record& record : fetched->records) {
        if (Status folded = fold_record(record); !folded) return folded.error();
    }
    if (!fetched->records.empty()) {
        last_record_ = clock_.steady_now();
        // Waits cannot be evicted, so subjects make room for them.
        state_.subjects.evict(settings_.cache_bytes -
                              std::min(settings_.cache_bytes, state_.waits.bytes()));
    }
    caught_up_ = fetched->records.empty();
    if (caught_up_ && !sequencing_) {
        sequencing_ = true;
        sequencer_.resume(state_.meta);
    }
    if (Status filled = fill_gaps(); !filled) return filled.error();
    return !caught_up_;
}

/// A gap is forgotten only once the sequencer went back, or a record that was under way filled it.
Status Shard::fill_gaps() {
    for (; !gaps_.empty(); gaps_.pop_back()) {
        const core::Gap& gap = gaps_.back();
        const bool filled = state_.meta.last[static_cast<std::size_t>(gap.topic)] > gap.last;
        if (filled || !sequencing_ || !settings_.lead) continue;
        if (Status rewound = sequencer_.rewind(gap); !rewound) return rewound;
    }
    return Done{};
}

Status Shard::fold_record(const ports::Record& record) {
    Status decoded = codec::decode_journal(record.value, record.offset, record.append_time, view_);
    if (!decoded) return decoded.error();
    if (Status ours = lineage_.admit(view_); !ours) return with_way_out(ours.error());
    const Status read = projection_.read_ahead(state_, view_);
    if (Status written = check_rows(); !written) return written;
    if (!read) return read.error();
    report_.clear();
    const auto before = state_.meta.last;
    core::fold(state_, view_, report_);
    if (Status written = check_rows(); !written) return written;
    if (!state_.halted.empty()) return Error{Next::kStop, Code::kUnsupported, state_.halted};
    lineage_.folded(view_);
    if (Status ours = check_partitions(); view_.genesis && !ours) return ours;
    more_work_ = report_.more_work;
    if (sequencing_ && view_.settings && state_.meta.settings_at == record.offset) {
        settings_taken_ = settings_taken_ || *view_.settings == settings_.policy;
    }
    if (sequencing_ && (view_.items.empty() || state_.meta.last != before)) {
        active_.accepted(record.offset, clock_.steady_now());
    }
    for (const SourceId id : report_.wants_epoch) {
        const bool known =
            std::find(wants_epoch_.begin(), wants_epoch_.end(), id) != wants_epoch_.end();
        if (!known) wants_epoch_.push_back(id);
    }
    gaps_.insert(gaps_.end(), report_.gaps.begin(), report_.gaps.end());
    std::move(report_.parked.begin(), report_.parked.end(), std::back_inserter(parked_));
    if (settings_.on_finding) {
        for (const FindingEdge& edge : report_.findings) {
            const core::SubjectTable::Entry* entry = state_.subjects.find(edge.subject);
            settings_.on_finding(edge, entry == nullptr ? nullptr : &entry->subject);
        }
    }
    if (settings_.lead) relay_.offer(state_.meta.journal_id, record.offset, report_);
    return Done{};
}

/// Has the next round read again everything that was not folded. What comes twice is dropped.
void Shard::go_back() {
    first_.reset();
    for (const Topic topic : kInputTopics) {
        gaps_.push_back({topic, state_.meta.last[static_cast<std::size_t>(topic)]});
    }
}

/// A failed append may be stored or not; the sequencer goes back in either case.
Status Shard::settle_appends() {
    while (!appends_.empty() && appends_.front()->ready()) {
        const auto appended = appends_.front()->take();
        appends_.pop_front();
        if (appended) {
            appended_ = appended->last_offset;
            TRUEUP_FAILPOINT("appended");  // no write-behind has this record yet
            active_.appended(appended->last_offset);
            continue;
        }
        if (appended.error().next == Next::kStop) return appended.error();
        go_back();
        return Error{Next::kRetry, appended.error().code,
                     "journal append: " + appended.error().what};
    }
    return Done{};
}

/// False: another engine sequences. What it leaves lying for too long makes it our turn.
Result<bool> Shard::our_turn() {
    if (active_.ours()) return true;
    const Result<bool> behind = sequencer_.follow(state_.meta);
    if (!behind) return behind.error();
    return active_.step_in(*behind || tick_due(), clock_.steady_now());
}

/// Our settings go first and alone, and once more where others came into force just before them:
/// what is appended beside them would be judged by those, or by none. They wait for nobody's turn,
/// but for what comes in: who cannot read it leaves the journal alone.
Result<bool> Shard::put_settings() {
    if (!appends_.empty() || state_.meta.applied < appended_) return false;  // are they taken?
    if (!first_) {
        first_.emplace(last_size_);
        const Result<bool> more = sequencer_.gather(*first_, settings_.record_bytes);
        if (!more) {
            go_back();
            return more.error();
        }
    }
    if (settings_.on_settings && state_.plan != nullptr) {
        std::exchange(settings_.on_settings, nullptr)(state_.meta.settings);
    }
    codec::JournalRecordBuilder record(0);
    name_folded(state_.meta, record);
    record.set_settings(settings_.policy, state_.meta.settings_at);
    append(std::move(record));
    return false;
}

void Shard::append(codec::JournalRecordBuilder record) {
    std::vector<ports::Entry> entries;
    entries.push_back({{}, record.take()});
    last_size_ = entries.front().value.size();
    appends_.push_back(log_.append({Topic::kJournal, settings_.shard}, std::move(entries)));
    last_record_ = clock_.steady_now();
}

Result<bool> Shard::sequence() {
    if (!settings_taken_) return put_settings();
    if (first_ && first_->count() > 0) {
        name_folded(state_.meta, *first_);
        append(std::move(*first_));
    }
    first_.reset();
    const Result<bool> turn = our_turn();
    if (!turn) return turn.error();
    if (!*turn || appends_.size() >= settings_.in_flight) return false;
    codec::JournalRecordBuilder record(last_size_);
    name_folded(state_.meta, record);
    const Result<bool> more = sequencer_.gather(record, settings_.record_bytes);
    if (!more) {
        go_back();  // some topics were read, and the record is dropped
        return more.error();
    }
    if (record.count() == 0 && !tick_due()) return false;
    append(std::move(record));
    return *more;
}

/// A record without items lets journal time pass: soon when a bounded step left work or a timer is
/// due, and in any case before a step of journal time would be clamped.
bool Shard::tick_due() const {
    const Millis since = clock_.steady_now() - last_record_;
    if (!appends_.empty() || since < kTickAtLeast) return false;
    if (more_work_ || since >= state_.meta.settings.max_clock_step / 2) return true;
    const std::optional<JournalTime> due = state_.waits.next_due();
    return due && state_.meta.now + since >= *due;
}

Millis Shard::idle_time() const {
    if (more_work_) return kTickAtLeast;
    Millis longest =
        std::min(settings_.write_behind_every, state_.meta.settings.max_clock_step / 4);
    if (const std::optional<JournalTime> due = state_.waits.next_due()) {
        longest = std::min(longest, Millis(*due - state_.meta.now));
    }
    if (!active_.ours()) longest = std::min(longest, settings_.timeout / 4);
    return std::clamp(longest, kTickAtLeast, Millis{500});
}

/// Rows never run ahead of what was published: after a restart the tail is folded again, and what
/// it led to is published again.
Status Shard::write_behind() {
    if (settings_.lead) {
        if (!active_.ours()) {
            if (Status looked = relay_.look(); !looked) return looked;
        }
        if (Status drained = relay_.drain(); !drained) return drained;
    }
    const SteadyTime begin = clock_.steady_now();
    if (projection_.write_behind(state_, parked_)) written_ = state_.meta.applied;
    Status right = check_rows();
    last_write_ = clock_.steady_now();
    last_took_ = last_write_ - begin;
    return right;
}

/// After a batch that failed its rows count as written: what came after would be an image with
/// holes, and what is read from the store is old.
Status Shard::check_rows() {
    if (!projection_.writing()) static_cast<void>(projection_.settle());
    if (const Status& read = projection_.read(); !read) {
        return Error{Next::kStop, read.error().code,
                     "the projection cannot be read: " + read.error().what};
    }
    const Status& written = projection_.written();
    if (written) return Done{};
    return Error{Next::kStop, written.error().code,
                 "the projection cannot be written: " + written.error().what};
}

Status Shard::stop() {
    while (!appends_.empty()) {
        const auto appended = appends_.front()->take();
        appends_.pop_front();
        if (!appended) break;
    }
    const Result<bool> folded = fold_journal();
    if (folded && refused_.empty()) {
        if (Status written = write_behind(); !written) return written;
    }
    static_cast<void>(projection_.settle());
    publish_status();
    if (Status written = check_rows(); !written) return written;
    return store_.flush();
}

}  // namespace trueup::runtime
