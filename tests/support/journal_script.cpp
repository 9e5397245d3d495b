#include "tests/support/journal_script.h"

#include "engine/codec/change_codec.h"
#include "engine/codec/outcome_codec.h"
#include "policies/shipped.h"
#include "tests/support/keys.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <stdexcept>
#include <utility>

namespace trueup::testing {

namespace {

constexpr std::int64_t kStart = 1'700'000'000'000;
constexpr Millis kBeat{5'000};

std::string row_id(const std::string& pk) { return "public.instances/" + pk; }

std::string object_of(const Pod& pod) {
    ObjectBuilder object;
    if (pod.deleting) object.add("deleting", "true");
    if (pod.hold) object.add("hold", "true");
    if (pod.unlabelled) object.add_unchanged("hold");
    if (!pod.in_scope) object.add("in_scope", "false");
    return object.add("name", pod.name).add("namespace", "graphs").add("phase", pod.phase).take();
}

/// As PostgreSQL writes a timestamptz in UTC.
std::string timestamp(Millis since) {
    const auto at = to_millis(broker(since));
    const std::time_t seconds = static_cast<std::time_t>(at / 1000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 64> text{};
    const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
    const std::string millis = std::to_string(1000 + at % 1000).substr(1);
    return std::string(text.data(), size) + '.' + millis + "+00";
}

std::string object_of(const Row& row) {
    ObjectBuilder object;
    if (row.created) object.add("created_at", timestamp(*row.created));
    if (row.hold) object.add("hold", "true");
    if (row.timeout) object.add("inactivity_timeout", *row.timeout);
    if (row.active) object.add("last_activity_at", timestamp(*row.active));
    if (!row.owner.empty()) object.add("owner_username", row.owner);
    if (row.toast) {
        object.add_unchanged("pod_name");
    } else if (row.tracked) {
        object.add("pod_name", row.name);
    } else {
        object.add_null("pod_name");
    }
    if (row.status) object.add("status", *row.status);
    if (row.ttl) object.add("ttl", *row.ttl);
    return object.take();
}

/// Without any state, so that scripts may be moved about.
core::Rows& no_rows() {
    static core::NoRows rows;
    return rows;
}

std::string_view short_name(std::string_view key) { return key.substr(key.find('/') + 1); }

}  // namespace

Settings begun_empty(Settings settings) {
    for (SourceSettings& source : settings.sources) source.at_least = 0;
    settings.enabled_by = kCommandLine;
    return settings;
}

Settings graph_settings(Mode mode) {
    Settings settings = begun_empty(policies::usual_settings("graph-instances", Mode::kOff));
    for (const char* name : {"orphaned_pod", "missing_pod", "status_drift"}) {
        policies::rule_settings(settings, name).mode = mode;
    }
    policies::rule_settings(settings, "missing_pod").grace = 0s;
    return settings;
}

BrokerTime broker(Millis since) { return from_millis<BrokerTime>(kStart) + since; }

std::string tell(const core::FoldReport& report, BrokerTime at) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(at - broker(Millis{0})).count();
    const std::string when = std::to_string(seconds) + "s ";
    std::string text;
    for (const FindingEdge& edge : report.findings) {
        text += when;
        text += name_of(edge.state);
        text += ' ' + edge.rule + ' ';
        text += short_name(edge.subject);
        text += ' ' + edge.object_id;
        if (edge.reason != Reason::kNone) (text += ": ") += name_of(edge.reason);
        text += '\n';
    }
    for (const Command& command : report.commands) {
        text += when;
        text += name_of(command.draft.action.kind);
        text += ' ';
        text += short_name(command.subject);
        text += ' ' + command.draft.target.object_id;
        if (command.emission > 1) text += " again " + std::to_string(command.emission);
        text += '\n';
    }
    return text;
}

JournalScript::JournalScript(Settings settings, std::uint64_t journal, Manner manner,
                             std::int32_t shards)
    : settings_(std::move(settings)), manner_(manner), state_(no_rows()) {
    record_.set_genesis({JournalId({journal, 7}), shards, 0});
    record_.set_settings(settings_);
    flush();
}

JournalScript quiet_world() {
    JournalScript s;
    s.all_known();
    s.quiet_until(100s);
    return s;
}

JournalScript orphan_at(Millis until, Settings settings) {
    JournalScript s(std::move(settings));
    s.all_known();
    s.quiet_until(100s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(until);
    return s;
}

JournalScript observed_world() {
    JournalScript s(graph_settings(Mode::kObserve));
    s.all_known();
    return s;
}

JournalScript approving_world() {
    Settings settings = graph_settings();
    settings.rules[0].mode = Mode::kApprove;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.pod({.name = "wrapper-8", .uid = "b", .version = 11});
    s.quiet_until(170s);
    s.news();
    return s;
}

JournalScript& JournalScript::at(Millis since) {
    now_ = since;
    return *this;
}

JournalScript& JournalScript::tick() {
    flush();
    return *this;
}

JournalScript& JournalScript::quiet_until(Millis until) {
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

JournalScript& JournalScript::silent_until(Millis until) {
    while (now_ < until) at(std::min(until, now_ + kBeat)).tick();
    return *this;
}

Topic JournalScript::topic_of(const std::string& source) const {
    for (const SourceSettings& known : settings_.sources) {
        if (known.name == source) return known.topic;
    }
    throw std::logic_error("no source " + source);
}

std::int64_t JournalScript::enter(Topic topic, std::string bytes, bool authentic) {
    std::vector<Input>& inputs = inputs_[static_cast<std::size_t>(topic)];
    const std::int64_t prev = inputs.empty() ? -1 : inputs.back().offset;
    inputs.push_back({prev, prev + 1, broker(now_), std::move(bytes), authentic});
    if (lose_ > 0) {
        --lose_;
    } else {
        const Input& input = inputs.back();
        record_.add_item(topic, input.prev, input.offset, input.append_time, input.bytes,
                         input.authentic);
    }
    return prev + 1;
}

void JournalScript::flush() {
    if (depth_ == 0) append(record_.take());
}

void JournalScript::append(std::string record) {
    if (manner_.twice) fold(record);
    fold(std::move(record));
}

void JournalScript::fold(std::string record) {
    const auto offset = static_cast<std::int64_t>(records_.size());
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
    news_ += tell(last_, broker(now_));
}

void JournalScript::together(const std::function<void()>& calls) {
    ++depth_;
    calls();
    --depth_;
    flush();
}

void JournalScript::change(const std::string& source, ChangeView change) {
    Owner& owner = owners_[source];
    change.source = source;
    change.incarnation = owner.token;
    change.seq = owner.next_seq++;
    const bool item = change.kind == ChangeKind::kUpsert || change.kind == ChangeKind::kSame;
    if (change.epoch != 0 && item) ++owner.listed;
    enter(topic_of(source), codec::encode_change(change));
    flush();
}

Incarnation JournalScript::own(const std::string& source) {
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

void JournalScript::known(const std::string& source, std::uint64_t as_of) {
    together([&] {
        own(source);
        begin(source, as_of);
        end(source);
    });
}

void JournalScript::all_known() {
    together([&] {
        for (const SourceSettings& source : settings_.sources) known(source.name);
    });
}

void JournalScript::begin(const std::string& source, std::uint64_t as_of, bool rewound) {
    Owner& owner = owners_[source];
    ChangeView begins;
    begins.kind = ChangeKind::kSnapshotBegin;
    begins.epoch = ++owner.epoch;
    begins.version = {as_of, 0};
    begins.rewound = rewound;
    owner.listed = 0;
    change(source, begins);
}

void JournalScript::end(const std::string& source) { end(source, owners_[source].listed); }

void JournalScript::end(const std::string& source, std::uint64_t count) {
    ChangeView ends;
    ends.kind = ChangeKind::kSnapshotEnd;
    ends.epoch = owners_[source].epoch;
    ends.count = count;
    ends.total = count;
    change(source, ends);
}

void JournalScript::progress(const std::string& source, Millis complete_as_of) {
    ChangeView proof;
    proof.kind = ChangeKind::kProgress;
    proof.complete_as_of = broker(complete_as_of);
    proof.source_clock =
        from_millis<SourceTime>(to_millis(proof.complete_as_of)) + owners_[source].clock;
    change(source, proof);
}

void JournalScript::alive(const std::string& source) {
    ChangeView beat;
    beat.kind = ChangeKind::kAlive;
    change(source, beat);
}

void JournalScript::hole(const std::string& source, std::uint64_t width) {
    owners_[source].next_seq += width;
}

std::string JournalScript::key_of(std::string_view name) const {
    return name.starts_with('!') ? std::string(name) : settings_.policy + '/' + std::string(name);
}

void JournalScript::seen(const Seen& object) {
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

void JournalScript::same(const Seen& object, std::uint64_t base) {
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

void JournalScript::gone(const Seen& object) {
    const std::string key = key_of(object.name);
    ChangeView gone;
    gone.kind = ChangeKind::kRemove;
    gone.object_id = object.id;
    gone.subject_key = key;
    gone.version = object.version;
    change(object.source, gone);
}

void JournalScript::pod(const Pod& pod) {
    seen({"pods", pod.name, pod.uid, {pod.version, 0}, object_of(pod), pod.listed});
}

void JournalScript::row(const Row& row) {
    seen({"rows", row.name, row_id(row.pk), {row.version, row.order}, object_of(row), row.listed});
}

void JournalScript::pod_gone(const std::string& name, const std::string& uid,
                             std::uint64_t version) {
    gone({"pods", name, uid, {version, 0}, {}});
}

void JournalScript::row_gone(const std::string& name, const std::string& pk,
                             std::uint64_t version) {
    gone({"rows", name, row_id(pk), {version, 0}, {}});
}

void JournalScript::pods_listed(std::uint64_t as_of, std::vector<Pod> pods) {
    begin("pods", as_of);
    for (Pod& each : pods) {
        each.listed = true;
        pod(each);
    }
    end("pods");
}

void JournalScript::rows_listed(std::uint64_t as_of, std::vector<Row> rows) {
    begin("rows", as_of);
    for (Row& each : rows) {
        each.listed = true;
        row(each);
    }
    end("rows");
}

void JournalScript::outcome(const Command& command, OutcomeKind kind, bool retryable) {
    Outcome outcome;
    outcome.command_id = command.id;
    outcome.subject = command.subject;
    outcome.kind = kind;
    outcome.retryable = retryable;
    outcome.executor = "test";
    raw(Topic::kOutcomes, codec::encode_outcome(outcome));
}

void JournalScript::put_in_force(const Settings& settings) {
    settings_ = settings;
    record_.set_settings(settings_);
    flush();
}

void JournalScript::request(Request request) {
    if (request.id.none()) request.id = RequestId({1, ++requests_});
    if (request.issued_ms == 0) request.issued_ms = to_millis(broker(now_));
    if (request.issued_by.empty()) request.issued_by = "operator";
    // The sequencer checks signatures, and it is not here: what travels says that it was.
    enter(Topic::kRequests, signed_bytes(request), true);
    flush();
}

void JournalScript::raw(Topic topic, std::string bytes) {
    enter(topic, std::move(bytes));
    flush();
}

void JournalScript::again(Topic topic, std::int64_t after, std::int64_t upto) {
    for (const Input& input : inputs_[static_cast<std::size_t>(topic)]) {
        if (input.offset <= after || input.offset > upto) continue;
        record_.add_item(topic, input.prev, input.offset, input.append_time, input.bytes,
                         input.authentic);
    }
    flush();
}

void JournalScript::repeat_last() { append(std::string(records_.back().bytes)); }

std::int64_t JournalScript::last_offset(Topic topic) const {
    const std::vector<Input>& inputs = inputs_[static_cast<std::size_t>(topic)];
    return inputs.empty() ? -1 : inputs.back().offset;
}

std::string JournalScript::news() { return std::exchange(news_, {}); }

const core::SourceState& JournalScript::source(const std::string& name) const {
    for (const core::SourceState& source : state_.meta.sources) {
        if (source.name == name) return source;
    }
    throw std::logic_error("no source " + name);
}

const Subject* JournalScript::subject(std::string_view name) {
    const core::SubjectTable::Entry* entry = state_.subjects.find(key_of(name));
    return entry == nullptr ? nullptr : &entry->subject;
}

const Facet* JournalScript::facet(std::string_view name, std::string_view object_id) {
    const Subject* found = subject(name);
    if (found == nullptr) return nullptr;
    for (const Facet& facet : found->facets) {
        if (facet.object_id == object_id) return &facet;
    }
    return nullptr;
}

}  // namespace trueup::testing
