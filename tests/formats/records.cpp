// Prints, as JSON, what docs/formats is held against (formats_test.py), and what the example
// consumer is tried with: the topics, public records as the relay and an executor really publish
// them (one of each topic, and the whole life of a finding), and the schemas.
#include "engine/base/check.h"
#include "engine/codec/limits.h"
#include "engine/runtime/relay.h"
#include "tests/engine/codec/samples.h"
#include "tests/executors/dispatcher_fixture.h"
#include "tests/support/hex.h"
#include "tests/support/keys.h"
#include "tests/support/memory_log.h"
#include "trueup/v1/change.pb.h"
#include "trueup/v1/command.pb.h"
#include "trueup/v1/finding.pb.h"
#include "trueup/v1/journal.pb.h"
#include "trueup/v1/outcome.pb.h"
#include "trueup/v1/request.pb.h"

#include <google/protobuf/util/json_util.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <string>
#include <string_view>
#include <utility>

namespace trueup {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using nlohmann::ordered_json;
using testing::hex_of;
using testing::MemoryLog;
using testing::StoredRecord;

/// Names and values as the schema has them.
template <typename Message>
ordered_json fields_of(std::string_view bytes) {
    Message message;
    TRUEUP_CHECK(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    google::protobuf::util::JsonPrintOptions options;
    options.preserve_proto_field_names = true;
    std::string text;
    TRUEUP_CHECK(google::protobuf::util::MessageToJsonString(message, &text, options).ok());
    return ordered_json::parse(text);
}

template <typename Message>
ordered_json record_of(const StoredRecord& record) {
    ordered_json headers = ordered_json::array();
    record.headers.each([&](std::string_view name, std::string_view value) {
        headers.push_back({std::string(name), std::string(value)});
    });
    return {{"message", Message::descriptor()->full_name()},
            {"key", record.key},
            {"headers", headers},
            {"value", hex_of(record.value)},
            {"fields", fields_of<Message>(record.value)}};
}

ordered_json public_records() {
    const FindingEdge edge = codec::samples::finding();
    MemoryLog log;
    runtime::Relay relay(log, edge.shard, testing::test_keys(), std::launch::async,
                         FindingHeaders::kCloudEvents);
    TRUEUP_CHECK(relay.resume().ok());
    core::FoldReport report;
    report.findings.add() = edge;
    report.commands.push_back(codec::samples::command());
    relay.offer(edge.journal_id, edge.offset, report);
    TRUEUP_CHECK(relay.drain().ok());

    executors::testing::DispatcherFixture fixture;
    fixture.emit(executors::testing::delete_orphan());
    fixture.step();
    const StoredRecord heartbeat = fixture.log.records(executors::testing::kOutcomes).front();
    const StoredRecord outcome = fixture.log.records(executors::testing::kOutcomes).back();
    TRUEUP_CHECK(heartbeat.key != outcome.key);
    return {{"findings", record_of<v1::Finding>(log.records({Topic::kFindings, edge.shard})[0])},
            {"commands", record_of<v1::Command>(log.records({Topic::kCommands, edge.shard})[0])},
            {"outcomes", record_of<v1::Outcome>(outcome)},
            {"heartbeat", record_of<v1::Outcome>(heartbeat)}};
}

/// All edges of one finding, as the relay publishes them unless it is told otherwise.
ordered_json life() {
    MemoryLog log;
    FindingEdge edge = codec::samples::finding();
    runtime::Relay relay(log, edge.shard, testing::test_keys());
    TRUEUP_CHECK(relay.resume().ok());
    edge.command_id.reset();
    for (const auto& [state, reason] : {std::pair{FindingState::kSuspected, Reason::kGrace},
                                        std::pair{FindingState::kConfirmed, Reason::kBudget},
                                        std::pair{FindingState::kCommanded, Reason::kNone},
                                        std::pair{FindingState::kResolved, Reason::kDone}}) {
        edge.state = state;
        edge.reason = reason;
        edge.offset = next(edge.offset);
        if (state == FindingState::kCommanded) edge.command_id = codec::samples::command().id;
        core::FoldReport report;
        report.findings.add() = edge;
        relay.offer(edge.journal_id, edge.offset, report);
        TRUEUP_CHECK(relay.drain().ok());
    }
    ordered_json records = ordered_json::array();
    for (const StoredRecord& record : log.records({Topic::kFindings, edge.shard})) {
        records.push_back(record_of<v1::Finding>(record));
    }
    return records;
}

std::string type_of(const FieldDescriptor& field) {
    if (field.message_type() != nullptr) return field.message_type()->name();
    if (field.enum_type() == nullptr) return field.type_name();
    const Descriptor* within = field.enum_type()->containing_type();
    return (within != nullptr ? within->name() + "." : std::string()) + field.enum_type()->name();
}

ordered_json values_of(const EnumDescriptor& type) {
    ordered_json values = ordered_json::object();
    for (int i = 0; i < type.value_count(); ++i) {
        values[type.value(i)->name()] = type.value(i)->number();
    }
    return values;
}

ordered_json schema_of(const FileDescriptor& file) {
    ordered_json messages = ordered_json::object();
    ordered_json enums = ordered_json::object();
    for (int i = 0; i < file.enum_type_count(); ++i) {
        enums[file.enum_type(i)->name()] = values_of(*file.enum_type(i));
    }
    for (int i = 0; i < file.message_type_count(); ++i) {
        const Descriptor& message = *file.message_type(i);
        ordered_json fields = ordered_json::array();
        for (int j = 0; j < message.field_count(); ++j) {
            const FieldDescriptor& field = *message.field(j);
            const std::string type = (field.is_repeated() ? "repeated " : "") + type_of(field);
            fields.push_back({field.name(), field.number(), type});
        }
        messages[message.name()] = fields;
        for (int j = 0; j < message.enum_type_count(); ++j) {
            const EnumDescriptor& type = *message.enum_type(j);
            enums[message.name() + "." + type.name()] = values_of(type);
        }
    }
    return {{"package", file.package()}, {"messages", messages}, {"enums", enums}};
}

ordered_json everything() {
    ordered_json topics = ordered_json::array();
    for (std::size_t i = 1; i < kTopics; ++i) {
        topics.push_back(std::string(name_of(static_cast<Topic>(i))));
    }
    ordered_json schema = ordered_json::object();
    for (const FileDescriptor* file :
         {v1::Change::descriptor()->file(), v1::Command::descriptor()->file(),
          v1::Finding::descriptor()->file(), v1::JournalRecord::descriptor()->file(),
          v1::Outcome::descriptor()->file(), v1::Request::descriptor()->file()}) {
        schema[file->name()] = schema_of(*file);
    }
    return {{"topics", topics},
            {"records", public_records()},
            {"life", life()},
            {"schema", schema},
            {"max_item_bytes", codec::kMaxItemBytes},
            {"max_record_bytes", codec::kMaxRecordBytes},
            {"max_key_bytes", codec::kMaxKeyBytes}};
}

}  // namespace
}  // namespace trueup

int main() { std::cout << trueup::everything().dump(1) << '\n'; }
