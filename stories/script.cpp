#include "stories/script.h"

#include "engine/codec/change_codec.h"
#include "engine/codec/outcome_codec.h"
#include "engine/codec/request_codec.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <stdexcept>
#include <utility>

namespace trueup::stories {

namespace {

constexpr Millis kBeat{5'000};

/// Without any state, so that scripts may be moved about.
core::Rows& no_rows() {
    static core::NoRows rows;
    return rows;
}

}  // namespace

Settings begun_empty(Settings settings) {
    for (SourceSettings& source : settings.sources) source.at_least = 0;
    settings.enabled_by = kCommandLine;
    return settings;
}

Script::Script(Settings settings, std::uint64_t journal, Manner manner, std::int32_t shards)
    : settings_(std::move(settings)), manner_(manner), state_(no_rows()) {
    record_.set_genesis({JournalId({journal, 7}), shards, PartitionNumber(0)});
    record_.set_settings(settings_, kNoOffset);
    flush();
}

Script& Script::at(Millis since) {
    now_ = since;
    return *this;
}

Script& Script::tick() {
    flush();
    return *this;
}

Script& Script::quiet_until(Millis until) {
    while (now_ < until) {
        now_ = std::min(until, now_ + kBeat);
        if (manner_.reversed) {
            for (auto each = owners_.rbegin(); each != owners_.rend(); ++each) {
                progress(each->first);
            }
            continue;
        }
        together([&] {
            for (const auto& [source, owner] : owners_) progress(source);
        });
    }
    return *this;
}

Script& Script::silent_until(Millis until) {
    while (now_ < until) at(std::min(until, now_ + kBeat)).tick();
    return *this;
}

Topic Script::topic_of(const std::string& source) const {
    for (const SourceSettings& known : settings_.sources) {
        if (known.name == source) return known.topic;
    }
    throw std::logic_error("no source " + source);
}

Offset Script::enter(Topic topic, std::string bytes, bool authentic) {
    std::vector<Input>& inputs = inputs_[static_cast<std::size_t>(topic)];
    const Offset prev = inputs.empty() ? kNoOffset : inputs.back().offset;
    inputs.push_back({prev, next(prev), broker(now_), std::move(bytes), authentic});
    if (lose_ > 0) {
        --lose_;
    } else {
        const Input& input = inputs.back();
        record_.add_item(topic, input.prev, input.offset, input.append_time, input.bytes,
                         input.authentic);
    }
    return next(prev);
}

void Script::flush() {
    if (depth_ == 0) append(record_.take());
}

void Script::append(std::string record) {
    if (manner_.twice) fold(record);
    fold(std::move(record));
}

void Script::fold(std::string record) {
    const Offset offset(static_cast<std::int64_t>(records_.size()));
    records_.push_back({offset, broker(now_), std::move(record)});
    JournalView view;
    const Status read =
        codec::decode_journal(records_.back().bytes, offset, records_.back().append_time, view);
    if (!read) throw std::logic_error(read.error().what);
    last_.clear();
    if (manner_.judge != nullptr) state_.judge = manner_.judge;
    core::fold(state_, view, last_);
    findings_.insert(findings_.end(), last_.findings.begin(), last_.findings.end());
    commands_.insert(commands_.end(), last_.commands.begin(), last_.commands.end());
    gaps_.insert(gaps_.end(), last_.gaps.begin(), last_.gaps.end());
    parked_.insert(parked_.end(), last_.parked.begin(), last_.parked.end());
    for (News& news : news_of(last_, broker(now_))) news_.push_back(std::move(news));
}

void Script::together(const std::function<void()>& calls) {
    ++depth_;
    calls();
    --depth_;
    flush();
}

void Script::change(const std::string& source, ChangeView change) {
    Owner& owner = owners_[source];
    change.source = source;
    change.incarnation = owner.token;
    change.seq = owner.next_seq++;
    const bool item = change.kind == ChangeKind::kUpsert || change.kind == ChangeKind::kSame;
    if (change.epoch != 0 && item) ++owner.listed;
    enter(topic_of(source), codec::encode_change(change));
    flush();
}

Incarnation Script::own(const std::string& source) {
    together([&] {
        ChangeView start;
        start.kind = ChangeKind::kIncarnationStart;
        start.source = source;
        owners_[source] = Owner{.clock = owners_[source].clock};
        owners_[source].token = enter(topic_of(source), codec::encode_change(start));
        ChangeView first;
        first.kind = ChangeKind::kOwner;
        change(source, first);
    });
    return owners_[source].token;
}

void Script::known(const std::string& source, std::uint64_t as_of) {
    together([&] {
        own(source);
        begin(source, as_of);
        end(source);
    });
}

void Script::all_known() {
    together([&] {
        for (const SourceSettings& source : settings_.sources) known(source.name);
    });
}

void Script::begin(const std::string& source, std::uint64_t as_of, bool rewound) {
    Owner& owner = owners_[source];
    ChangeView begins;
    begins.kind = ChangeKind::kSnapshotBegin;
    begins.epoch = ++owner.epoch;
    begins.version = {as_of, 0};
    begins.rewound = rewound;
    owner.listed = 0;
    change(source, begins);
}

void Script::end(const std::string& source) { end(source, owners_[source].listed); }

void Script::end(const std::string& source, std::uint64_t count) {
    ChangeView ends;
    ends.kind = ChangeKind::kSnapshotEnd;
    ends.epoch = owners_[source].epoch;
    ends.count = count;
    ends.total = count;
    change(source, ends);
}

void Script::progress(const std::string& source, Millis complete_as_of) {
    ChangeView proof;
    proof.kind = ChangeKind::kProgress;
    proof.complete_as_of = broker(complete_as_of);
    proof.source_clock =
        from_millis<SourceTime>(to_millis(proof.complete_as_of)) + owners_[source].clock;
    change(source, proof);
}

void Script::alive(const std::string& source) {
    ChangeView beat;
    beat.kind = ChangeKind::kAlive;
    change(source, beat);
}

void Script::hole(const std::string& source, std::uint64_t width) {
    owners_[source].next_seq += width;
}

std::string Script::key_of(std::string_view name) const {
    return name.starts_with('!') ? std::string(name) : settings_.policy + '/' + std::string(name);
}

void Script::seen(const Seen& object) {
    const std::string key = key_of(object.name);
    ChangeView seen;
    seen.kind = ChangeKind::kUpsert;
    seen.object_id = object.id;
    seen.subject_key = key;
    seen.version = object.version;
    seen.object = object.object;
    if (object.listed) seen.epoch = owners_[object.source].epoch;
    change(object.source, seen);
}

void Script::same(const Seen& object, std::uint64_t base) {
    const std::string key = key_of(object.name);
    ChangeView same;
    same.kind = ChangeKind::kSame;
    same.object_id = object.id;
    same.subject_key = key;
    same.version = object.version;
    same.base = {base, 0};
    same.epoch = owners_[object.source].epoch;
    change(object.source, same);
}

void Script::gone(const Seen& object) {
    const std::string key = key_of(object.name);
    ChangeView gone;
    gone.kind = ChangeKind::kRemove;
    gone.object_id = object.id;
    gone.subject_key = key;
    gone.version = object.version;
    change(object.source, gone);
}

void Script::outcome(const Command& command, OutcomeKind kind, bool retryable) {
    Outcome outcome;
    outcome.command_id = command.id;
    outcome.subject = command.subject;
    outcome.kind = kind;
    outcome.retryable = retryable;
    outcome.executor = "story";
    raw(Topic::kOutcomes, codec::encode_outcome(outcome));
}

void Script::put_in_force(const Settings& settings, std::optional<Offset> after) {
    settings_ = settings;
    record_.set_settings(settings_, after.value_or(state_.meta.settings_at));
    flush();
}

void Script::request(Request request) {
    if (request.id.none()) request.id = RequestId({1, ++requests_});
    if (request.issued_ms == 0) request.issued_ms = to_millis(broker(now_));
    if (request.issued_by.empty()) request.issued_by = "operator";
    // The sequencer checks signatures, and it is not here: what travels says that it was.
    enter(Topic::kRequests, codec::encode_request(request), true);
    flush();
}

void Script::raw(Topic topic, std::string bytes) {
    enter(topic, std::move(bytes));
    flush();
}

void Script::again(Topic topic, Offset after, Offset upto) {
    for (const Input& input : inputs_[static_cast<std::size_t>(topic)]) {
        if (input.offset <= after || input.offset > upto) continue;
        record_.add_item(topic, input.prev, input.offset, input.append_time, input.bytes,
                         input.authentic);
    }
    flush();
}

void Script::repeat_last() { append(std::string(records_.back().bytes)); }

Offset Script::last_offset(Topic topic) const {
    const std::vector<Input>& inputs = inputs_[static_cast<std::size_t>(topic)];
    return inputs.empty() ? kNoOffset : inputs.back().offset;
}

std::string Script::news() {
    std::string text;
    for (const News& news : take_news()) text += news.line + '\n';
    return text;
}

const core::SourceState& Script::source(const std::string& name) const {
    for (const core::SourceState& source : state_.meta.sources) {
        if (source.name == name) return source;
    }
    throw std::logic_error("no source " + name);
}

const Subject* Script::subject(std::string_view name) {
    const core::SubjectTable::Entry* entry = state_.subjects.find(key_of(name));
    return entry == nullptr ? nullptr : &entry->subject;
}

const Facet* Script::facet(std::string_view name, std::string_view object_id) {
    const Subject* found = subject(name);
    if (found == nullptr) return nullptr;
    for (const Facet& facet : found->facets) {
        if (facet.object_id == object_id) return &facet;
    }
    return nullptr;
}

}  // namespace trueup::stories
