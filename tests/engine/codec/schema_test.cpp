// Proves the rules of schemas/trueup/v1 (design §10): every scalar says whether it is there, no
// maps, enums start at _UNSPECIFIED, everything is commented, and numbers agree with engine/model.
#include "engine/model/finding.h"
#include "engine/model/reason.h"
#include "engine/model/topic.h"
#include "trueup/v1/change.pb.h"
#include "trueup/v1/command.pb.h"
#include "trueup/v1/finding.pb.h"
#include "trueup/v1/journal.pb.h"
#include "trueup/v1/outcome.pb.h"
#include "trueup/v1/request.pb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace trueup::codec {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

std::vector<const FileDescriptor*> files() {
    return {v1::Change::descriptor()->file(),  v1::Command::descriptor()->file(),
            v1::Finding::descriptor()->file(), v1::JournalRecord::descriptor()->file(),
            v1::Outcome::descriptor()->file(), v1::Request::descriptor()->file()};
}

void gather(const Descriptor* message, std::vector<const Descriptor*>& messages,
            std::vector<const EnumDescriptor*>& enums) {
    messages.push_back(message);
    for (int i = 0; i < message->enum_type_count(); ++i) enums.push_back(message->enum_type(i));
    for (int i = 0; i < message->nested_type_count(); ++i) {
        gather(message->nested_type(i), messages, enums);
    }
}

struct Schemas {
    std::vector<const Descriptor*> messages;
    std::vector<const EnumDescriptor*> enums;
    Schemas() {
        for (const FileDescriptor* file : files()) {
            for (int i = 0; i < file->enum_type_count(); ++i) enums.push_back(file->enum_type(i));
            for (int i = 0; i < file->message_type_count(); ++i) {
                gather(file->message_type(i), messages, enums);
            }
        }
    }
};

TEST(Schema, EveryFileIsProto3OfOnePackage) {
    for (const FileDescriptor* file : files()) {
        EXPECT_EQ(file->package(), "trueup.v1") << file->name();
        EXPECT_EQ(file->syntax(), FileDescriptor::SYNTAX_PROTO3) << file->name();
    }
}

TEST(Schema, EveryScalarSaysWhetherItIsThereAndThereAreNoMaps) {
    for (const Descriptor* message : Schemas().messages) {
        for (int i = 0; i < message->field_count(); ++i) {
            const FieldDescriptor* field = message->field(i);
            EXPECT_FALSE(field->is_map()) << field->full_name();
            EXPECT_TRUE(field->is_repeated() || field->has_presence()) << field->full_name();
        }
    }
}

TEST(Schema, EveryEnumStartsAtUnspecified) {
    for (const EnumDescriptor* type : Schemas().enums) {
        const std::string& first = type->value(0)->name();
        EXPECT_EQ(type->value(0)->number(), 0) << type->full_name();
        EXPECT_TRUE(first.size() > 12 && first.ends_with("_UNSPECIFIED")) << first;
    }
}

TEST(Schema, ObjectHasTheNumbersThatTheModelReads) {
    const Descriptor* field = v1::Field::descriptor();
    EXPECT_EQ(v1::Object::descriptor()->FindFieldByName("fields")->number(), 1);
    EXPECT_EQ(v1::Object::descriptor()->field_count(), 1);
    EXPECT_EQ(field->FindFieldByName("name")->number(), 1);
    EXPECT_EQ(field->FindFieldByName("value")->number(), 2);
    EXPECT_EQ(field->FindFieldByName("unchanged")->number(), 3);
    EXPECT_EQ(field->field_count(), 3);
}

TEST(Schema, CommandsAndRequestsHaveRoomForASignature) {
    for (const Descriptor* message : {v1::Command::descriptor(), v1::Request::descriptor()}) {
        ASSERT_NE(message->FindFieldByName("key_id"), nullptr) << message->name();
        ASSERT_NE(message->FindFieldByName("mac"), nullptr) << message->name();
        EXPECT_EQ(message->FindFieldByName("mac")->type(), FieldDescriptor::TYPE_BYTES);
    }
}

/// `PREFIX_CHANGES_PODS` as `changes.pods` or `changes_pods`.
std::string word(std::string name, const std::string& prefix, char between) {
    name = name.substr(prefix.size());
    for (char& c : name) c = c == '_' ? between : static_cast<char>(std::tolower(c));
    return name;
}

TEST(Schema, NumbersAndNamesAreThoseOfTheModel) {
    const EnumDescriptor* reasons = v1::Reason_descriptor();
    for (int i = 1; i < reasons->value_count(); ++i) {
        const auto reason = static_cast<Reason>(reasons->value(i)->number());
        EXPECT_EQ(word(reasons->value(i)->name(), "REASON_", '_'), name_of(reason));
    }
    const EnumDescriptor* states = v1::FindingState_descriptor();
    for (int i = 0; i < states->value_count(); ++i) {
        const auto state = static_cast<FindingState>(states->value(i)->number());
        EXPECT_EQ(word(states->value(i)->name(), "FINDING_STATE_", '_'), name_of(state));
    }
    const EnumDescriptor* topics = v1::Topic_descriptor();
    ASSERT_EQ(static_cast<std::size_t>(topics->value_count()), kTopics);
    for (int i = 1; i < topics->value_count(); ++i) {
        const auto topic = static_cast<Topic>(topics->value(i)->number());
        EXPECT_EQ(word(topics->value(i)->name(), "TOPIC_", '.'), name_of(topic));
    }
    const EnumDescriptor* outcomes = v1::OutcomeKind_descriptor();
    for (int i = 0; i < outcomes->value_count(); ++i) {
        const auto kind = static_cast<OutcomeKind>(outcomes->value(i)->number());
        EXPECT_EQ(word(outcomes->value(i)->name(), "OUTCOME_KIND_", '_'), name_of(kind));
    }
    const EnumDescriptor* actions = v1::Action::Kind_descriptor();
    for (int i = 0; i < actions->value_count(); ++i) {
        // To the model a kDeletePod without `grace_seconds`, and a kDeleteObject with `propagation`
        // (messages_test.cpp).
        if (actions->value(i)->number() == v1::Action::KIND_DELETE_POD_IN_ITS_TIME) continue;
        if (actions->value(i)->number() == v1::Action::KIND_DELETE_OBJECT_AS_SAID) continue;
        const auto kind = static_cast<Action::Kind>(actions->value(i)->number());
        EXPECT_EQ(word(actions->value(i)->name(), "KIND_", '_'), name_of(kind));
    }
}

TEST(Schema, EveryReasonAndStateOfTheModelIsInTheSchema) {
    for (int n = 1; n < 256; ++n) {
        const bool known = name_of(static_cast<Reason>(n)) != "unknown";
        EXPECT_EQ(v1::Reason_IsValid(n), known) << n;
        EXPECT_EQ(v1::FindingState_IsValid(n),
                  name_of(static_cast<FindingState>(n)) != "unspecified")
            << n;
    }
}

TEST(Schema, EveryDeclarationIsCommented) {
    for (const FileDescriptor* file : files()) {
        std::ifstream text(std::string(TRUEUP_SOURCE_DIR) + "/schemas/" + file->name());
        ASSERT_TRUE(text.good()) << file->name();
        std::string before;
        for (std::string line; std::getline(text, line); before = line) {
            const std::string code =
                line.substr(std::min(line.find_first_not_of(' '), line.size()));
            const bool declares =
                code.starts_with("message ") || code.starts_with("enum ") ||
                (!code.starts_with("//") && code.find(" = ") != std::string::npos &&
                 !code.starts_with("syntax"));
            if (declares) {
                EXPECT_NE(before.find("//"), std::string::npos) << file->name() << line;
            }
        }
    }
}

}  // namespace
}  // namespace trueup::codec
