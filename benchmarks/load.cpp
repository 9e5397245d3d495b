#include "benchmarks/load.h"

#include "engine/codec/change_codec.h"
#include "engine/model/object_builder.h"
#include "policies/shipped.h"

#include <algorithm>
#include <cstdio>

namespace trueup::bench {

namespace {

constexpr char kAbsent = -1;
constexpr std::array<std::array<const char*, 4>, 2> kWords{
    {{"Pending", "Running", "Succeeded", "Failed"}, {"starting", "running", "stopped", "failed"}}};
constexpr std::array<const char*, 2> kNames{"pods", "rows"};

template <typename... Args>
std::string format(const char* how, Args... args) {
    std::array<char, 64> text{};
    const int length = std::snprintf(text.data(), text.size(), how, args...);
    return {text.data(), static_cast<std::size_t>(length)};
}

std::string name_of(std::uint32_t subject) { return format("wrapper-%07u", subject); }

std::string object_id_of(Side side, std::uint32_t subject) {
    if (side == Side::kRows) return format("public.instances/%07u", subject);
    return format("%08x-6b1f-4c55-9d0e-%012x", subject * 2654435761U, subject);
}

std::string fields_of(Side side, std::uint32_t subject, const char* status, std::uint32_t version) {
    ObjectBuilder object;
    if (side == Side::kPods) {
        object.add("name", name_of(subject)).add("namespace", "graphs");
        object.add("node", format("node-%03u", subject % 200)).add("phase", status);
    } else {
        object.add("pod_name", name_of(subject)).add("region", "eu-central-1");
        object.add("status", status);
        object.add("updated_at", format("2026-01-01 00:00:%010u+00", version));
    }
    return object.take();
}

}  // namespace

Settings load_settings(Mode mode) {
    Settings settings = policies::usual_settings("graph-instances", mode);
    settings.enabled_by = kCommandLine;
    for (SourceSettings& source : settings.sources) source.at_least = 0;  // a load begins empty
    for (const char* name : {"ttl_expired", "inactive"}) {
        policies::rule_settings(settings, name).mode = Mode::kOff;
    }
    policies::rule_settings(settings, "missing_pod").grace = Millis{0};
    for (RuleSettings& rule : settings.rules) rule.budget.max = 1'000'000'000;  // no brake
    return settings;
}

Load::Load(std::uint32_t subjects, std::uint64_t seed) : subjects_(subjects), random_(seed) {
    for (Source& source : sources_) {
        source.versions.assign(subjects, 0);
        source.status.assign(subjects, kAbsent);
    }
}

std::string Load::key_of(std::uint32_t subject) { return "graph-instances/" + name_of(subject); }

Topic Load::topic_of(Side side) {
    return side == Side::kPods ? Topic::kChangesPods : Topic::kChangesRows;
}

std::uint32_t Load::any(std::uint32_t below) {
    return static_cast<std::uint32_t>(random_() % below);
}

Input Load::publish(Side side, ChangeView change, std::uint32_t subject) {
    change.source = kNames[static_cast<std::size_t>(side)];
    change.incarnation = kFirstOffset;
    change.seq = ++source(side).seq;
    return {topic_of(side), subject, codec::encode_change(change)};
}

std::vector<Input> Load::owners() {
    std::vector<Input> inputs;
    for (const Side side : {Side::kPods, Side::kRows}) {
        ChangeView owner;
        owner.kind = ChangeKind::kOwner;
        inputs.push_back(publish(side, owner, 0));
    }
    return inputs;
}

std::vector<Input> Load::opening() {
    std::vector<Input> inputs = owners();
    for (const Side side : {Side::kPods, Side::kRows}) {
        inputs.push_back(begin(side));
        inputs.push_back(end(side));
    }
    return inputs;
}

Input Load::object(Side side, std::uint32_t subject, const char* status, std::uint64_t epoch) {
    const std::uint32_t version = source(side).versions[subject];
    const std::string object_id = object_id_of(side, subject);
    const std::string key = key_of(subject);
    const std::string fields = fields_of(side, subject, status, version);
    const std::string event_id = format("%010u", version);
    ChangeView change;
    change.kind = ChangeKind::kUpsert;
    change.epoch = epoch;
    change.event_id = event_id;
    change.object_id = object_id;
    change.subject_key = key;
    change.version = {version, 0};
    change.source_time = from_millis<SourceTime>(1'767'225'600'000);
    change.object = fields;
    return publish(side, change, subject);
}

void Load::make(Side side, std::uint32_t subject, const char* status) {
    Source& to = source(side);
    const auto& words = kWords[static_cast<std::size_t>(side)];
    const auto word = std::find(words.begin(), words.end(), std::string_view(status));
    to.versions[subject] = ++version_;
    to.status[subject] = static_cast<char>(word - words.begin());
}

Input Load::put(Side side, std::uint32_t subject, const char* status) {
    make(side, subject, status);
    return object(side, subject, status, 0);
}

Input Load::change() {
    const std::uint32_t subject = any(subjects_);
    const Side side = any(2) == 0 ? Side::kPods : Side::kRows;
    Source& of = source(side);
    if (any(10) != 0) {
        // Mostly what runs well: one in a hundred has failed, a few are on their way.
        const std::uint32_t dice = any(100);
        const std::size_t word = dice == 0 ? 3 : dice < 3 ? 2 : dice < 10 ? 0 : 1;
        return put(side, subject, kWords[static_cast<std::size_t>(side)][word]);
    }
    of.versions[subject] = ++version_;
    of.status[subject] = kAbsent;
    const std::string object_id = object_id_of(side, subject);
    const std::string key = key_of(subject);
    const std::string event_id = format("%010u", version_);
    ChangeView change;
    change.kind = ChangeKind::kRemove;
    change.event_id = event_id;
    change.object_id = object_id;
    change.subject_key = key;
    change.version = {version_, 0};
    change.source_time = from_millis<SourceTime>(1'767'225'600'000);
    return publish(side, change, subject);
}

bool Load::present(Side side, std::uint32_t subject) const {
    return sources_[static_cast<std::size_t>(side)].status[subject] != kAbsent;
}

Input Load::repeat() {
    for (;;) {
        const std::uint32_t subject = any(subjects_);
        const Side side = any(2) == 0 ? Side::kPods : Side::kRows;
        if (!present(side, subject)) continue;
        const auto word = static_cast<std::size_t>(source(side).status[subject]);
        return object(side, subject, kWords[static_cast<std::size_t>(side)][word], 0);
    }
}

Input Load::begin(Side side) {
    Source& of = source(side);
    of.listed = 0;
    ChangeView change;
    change.kind = ChangeKind::kSnapshotBegin;
    change.epoch = ++of.epoch;
    change.version = {version_, 0};
    return publish(side, change, 0);
}

Input Load::listed(Side side, std::uint32_t subject) {
    Source& of = source(side);
    ++of.listed;
    const auto word = static_cast<std::size_t>(of.status[subject]);
    return object(side, subject, kWords[static_cast<std::size_t>(side)][word], of.epoch);
}

Input Load::end(Side side) {
    ChangeView change;
    change.kind = ChangeKind::kSnapshotEnd;
    change.epoch = source(side).epoch;
    change.count = source(side).listed;
    return publish(side, change, 0);
}

Input Load::progress(Side side, BrokerTime complete_as_of) {
    ChangeView change;
    change.kind = ChangeKind::kProgress;
    change.complete_as_of = complete_as_of;
    change.source_clock = from_millis<SourceTime>(to_millis(complete_as_of));
    return publish(side, change, 0);
}

}  // namespace trueup::bench
