#include "sandbox/record_json.h"

#include "sandbox/json.h"

#include <simdjson.h>

#include <array>
#include <utility>

namespace trueup::sandbox {

namespace {

using simdjson::dom::element;

// Writing.

void put(JsonWriter& json, const Born& born) { json.member("seed", born.seed); }

void put(JsonWriter& json, const PodEvent& event) {
    const Pod& pod = event.subject();
    json.member("event", event.after ? "put" : "deleted");
    json.member("rv", event.resource_version).member("namespace", pod.name_space);
    json.member("name", pod.name).member("uid", pod.uid);
    if (!event.after) return;
    json.member("labels", pod.labels).member("annotations", pod.annotations);
    json.member("finalizers", pod.finalizers);
    json.member("phase", pod.phase).member("node", pod.node).member("created", pod.created_ms);
    if (!pod.deletion_ms) return;
    json.member("deletion", *pod.deletion_ms).member("grace", pod.grace_seconds);
}

void put(JsonWriter& json, const ClusterMark& mark) {
    json.member("newest", mark.newest).member("oldest", mark.oldest);
}

void put_values(JsonWriter& json, std::string_view name, const Values& values) {
    if (!values) return;
    json.key(name).open_array();
    for (const auto& value : *values) json.text_or_null(value);
    json.close_array();
}

void put(JsonWriter& json, const Commit& commit) {
    json.member("xid", std::uint64_t{commit.xid}).member("commit", commit.commit_lsn);
    json.member("end", commit.end_lsn).member("ms", commit.wall_ms);
    json.key("changes").open_array();
    for (const RowChange& change : commit.changes) {
        json.open_object().member("kind", std::string_view(&change.kind, 1));
        json.member("lsn", change.lsn);
        put_values(json, "before", change.before);
        put_values(json, "after", change.after);
        json.close_object();
    }
    json.close_array();
}

void put(JsonWriter& json, const WalMark& mark) { json.member("lsn", mark.lsn); }

void put(JsonWriter& json, const Slot& slot) {
    json.member("name", slot.name).member("confirmed", slot.confirmed);
    json.member("saved", slot.saved).key("lost").boolean(slot.lost);
}

void put(JsonWriter& json, const SlotDropped& dropped) { json.member("name", dropped.name); }

void put_columns(JsonWriter& json, std::string_view name,
                 const std::vector<ports::ColumnValue>& columns) {
    json.key(name).open_array();
    for (const auto& [column, value] : columns) {
        json.open_array().text(column).text_or_null(value).close_array();
    }
    json.close_array();
}

const char* name_of(Effect::Kind kind) {
    if (kind == Effect::Kind::kDelete) return "delete";
    if (kind == Effect::Kind::kInsert) return "insert";
    if (kind == Effect::Kind::kCreate) return "create";
    return kind == Effect::Kind::kPatch ? "patch" : "update";
}

void put(JsonWriter& json, const Effect& effect) {
    json.member("kind", name_of(effect.kind));
    json.key("accepted").boolean(effect.accepted);
    json.member("why", effect.why).member("ms", effect.wall_ms).member("name", effect.name);
    json.member("uid", effect.uid).member("rv", effect.resource_version);
    if (effect.grace_seconds) json.member("grace", std::uint64_t{*effect.grace_seconds});
    json.member("pk", effect.pk).member("xmin", effect.xmin);
    put_columns(json, "guards", effect.guards);
    put_columns(json, "sets", effect.sets);
}

constexpr std::array<std::string_view, std::variant_size_v<Record>> kNames{
    "world", "pod", "cluster", "commit", "wal", "slot", "slot_dropped", "effect"};

// Reading. A missing or odd member throws simdjson_error, caught in decode_records.

std::string text(element from, const char* name) {
    return std::string(std::string_view(from[name]));
}
std::uint64_t number(element from, const char* name) { return from[name]; }
std::int64_t signed_number(element from, const char* name) { return from[name]; }
bool boolean(element from, const char* name) { return from[name]; }

std::optional<std::string> text_or_null(element from) {
    if (from.is_null()) return std::nullopt;
    return std::string(std::string_view(from));
}

Labels labels(element from, const char* name) {
    Labels out;
    for (const auto [key, value] : simdjson::dom::object(from[name])) {
        out[std::string(key)] = std::string(std::string_view(value));
    }
    return out;
}

PodEvent take_pod(element from) {
    auto pod = std::make_shared<Pod>();
    pod->name_space = text(from, "namespace");
    pod->name = text(from, "name");
    pod->uid = text(from, "uid");
    pod->resource_version = number(from, "rv");
    if (text(from, "event") == "deleted") return {pod->resource_version, pod, nullptr};
    pod->labels = labels(from, "labels");
    pod->annotations = labels(from, "annotations");
    for (const element item : simdjson::dom::array(from["finalizers"])) {
        pod->finalizers.emplace_back(std::string_view(item));
    }
    pod->phase = text(from, "phase");
    pod->node = text(from, "node");
    pod->created_ms = signed_number(from, "created");
    if (from["deletion"].error() == simdjson::SUCCESS) {
        pod->deletion_ms = signed_number(from, "deletion");
        pod->grace_seconds = signed_number(from, "grace");
    }
    return {pod->resource_version, nullptr, pod};
}

Values values(element from, const char* name) {
    if (from[name].error() != simdjson::SUCCESS) return nullptr;
    ports::SqlRow row;
    for (const element item : simdjson::dom::array(from[name])) row.push_back(text_or_null(item));
    return std::make_shared<const ports::SqlRow>(std::move(row));
}

Commit take_commit(element from) {
    Commit commit;
    commit.xid = static_cast<std::uint32_t>(number(from, "xid"));
    commit.commit_lsn = number(from, "commit");
    commit.end_lsn = number(from, "end");
    commit.wall_ms = signed_number(from, "ms");
    for (const element item : simdjson::dom::array(from["changes"])) {
        const std::string kind = text(item, "kind");
        commit.changes.push_back({kind.empty() ? '?' : kind[0], number(item, "lsn"),
                                  values(item, "before"), values(item, "after")});
    }
    return commit;
}

std::vector<ports::ColumnValue> columns(element from, const char* name) {
    std::vector<ports::ColumnValue> out;
    for (const element item : simdjson::dom::array(from[name])) {
        out.push_back({std::string(std::string_view(item.at(0))), text_or_null(item.at(1))});
    }
    return out;
}

Effect take_effect(element from) {
    Effect effect;
    effect.kind = Effect::Kind::kUpdate;
    for (const Effect::Kind kind : {Effect::Kind::kDelete, Effect::Kind::kPatch,
                                    Effect::Kind::kInsert, Effect::Kind::kCreate}) {
        if (text(from, "kind") == name_of(kind)) effect.kind = kind;
    }
    effect.accepted = boolean(from, "accepted");
    effect.why = text(from, "why");
    effect.wall_ms = signed_number(from, "ms");
    effect.name = text(from, "name");
    effect.uid = text(from, "uid");
    effect.resource_version = text(from, "rv");
    if (from["grace"].error() == simdjson::SUCCESS) {
        effect.grace_seconds = static_cast<std::uint32_t>(number(from, "grace"));
    }
    effect.pk = text(from, "pk");
    effect.xmin = text(from, "xmin");
    effect.guards = columns(from, "guards");
    effect.sets = columns(from, "sets");
    return effect;
}

std::optional<Record> take(std::string_view name, element from) {
    if (name == "world") return Born{number(from, "seed")};
    if (name == "pod") return take_pod(from);
    if (name == "cluster") return ClusterMark{number(from, "newest"), number(from, "oldest")};
    if (name == "commit") return take_commit(from);
    if (name == "wal") return WalMark{number(from, "lsn")};
    if (name == "slot") {
        return Slot{text(from, "name"), number(from, "confirmed"), number(from, "saved"),
                    boolean(from, "lost")};
    }
    if (name == "slot_dropped") return SlotDropped{text(from, "name")};
    if (name == "effect") return take_effect(from);
    return std::nullopt;
}

}  // namespace

std::string encode_records(const std::vector<Record>& records) {
    JsonWriter json;
    json.open_array();
    for (const Record& record : records) {
        json.open_object().key(kNames[record.index()]).open_object();
        std::visit([&](const auto& one) { put(json, one); }, record);
        json.close_object().close_object();
    }
    json.close_array();
    return json.take();
}

std::optional<std::vector<Record>> decode_records(std::string_view line) try {
    simdjson::dom::parser parser;
    std::vector<Record> records;
    for (const element item : simdjson::dom::array(parser.parse(line.data(), line.size()))) {
        for (const auto [name, value] : simdjson::dom::object(item)) {
            std::optional<Record> record = take(name, value);
            if (!record) return std::nullopt;
            records.push_back(std::move(*record));
        }
    }
    return records;
} catch (const simdjson::simdjson_error&) {
    return std::nullopt;
}

}  // namespace trueup::sandbox
