// The parts of trueup.v1.Policy (codec/policy_codec.h), one pair of functions a message. Not for
// other users.
//
// `take` is false at a number that this build does not know.
#pragma once

#include "engine/model/rule.h"
#include "trueup/v1/policy.pb.h"

#include <string>
#include <vector>

namespace trueup::codec {

/// A struct, so that each knows all others.
struct PolicyWire {
    template <typename Message, typename Value>
    static void put_all(const std::vector<Value>& values,
                        ::google::protobuf::RepeatedPtrField<Message>& messages) {
        for (const Value& value : values) put(value, *messages.Add());
    }
    template <typename Message, typename Value>
    static bool take_all(const ::google::protobuf::RepeatedPtrField<Message>& messages,
                         std::vector<Value>& values) {
        for (const Message& message : messages) {
            if (!take(message, values.emplace_back())) return false;
        }
        return true;
    }
    static void put_texts(const std::vector<std::string>& texts,
                          ::google::protobuf::RepeatedPtrField<std::string>& out) {
        for (const std::string& text : texts) *out.Add() = text;
    }

    /// The numbers of the model's enumerators are those of the wire; 0 is never written.
    template <typename Enum, typename Wire>
    static bool take_number(Wire number, bool (*valid)(int), Enum& out) {
        if (number == 0 || !valid(number)) return false;
        out = static_cast<Enum>(number);
        return true;
    }

    // policy_wire.cpp: roles, and what is asked of their objects
    static void put(const policy::FieldRef& field, v1::PolicyFieldRef& m);
    static bool take(const v1::PolicyFieldRef& m, policy::FieldRef& field);
    static void put(const policy::Key& key, v1::PolicyKey& m);
    static bool take(const v1::PolicyKey& m, policy::Key& key);
    static void put(const policy::Field& field, v1::PolicyField& m);
    static bool take(const v1::PolicyField& m, policy::Field& field);
    static void put(const policy::Condition& condition, v1::PolicyCondition& m);
    static bool take(const v1::PolicyCondition& m, policy::Condition& condition);
    static void put(const policy::Role& role, v1::PolicyRole& m);
    static bool take(const v1::PolicyRole& m, policy::Role& role);
    static void put(const policy::Ranking& ranking, v1::PolicyRanking& m);
    static bool take(const v1::PolicyRanking& m, policy::Ranking& ranking);
    static void put(const policy::Pattern& pattern, v1::PolicyPattern& m);
    static bool take(const v1::PolicyPattern& m, policy::Pattern& pattern);
    static void put(const std::vector<policy::Pattern>& patterns, v1::PolicyPatterns& m);
    static bool take(const v1::PolicyPatterns& m, std::vector<policy::Pattern>& patterns);
    static void put(const policy::NamedCondition& condition, v1::PolicyNamedCondition& m);
    static bool take(const v1::PolicyNamedCondition& m, policy::NamedCondition& condition);
    static void put(const policy::Count& count, v1::PolicyCount& m);
    static bool take(const v1::PolicyCount& m, policy::Count& count);
    static void put(const policy::Ledger& ledger, v1::PolicyLedger& m);
    static bool take(const v1::PolicyLedger& m, policy::Ledger& ledger);

    // policy_wire_rules.cpp: what is to be done
    static void put(const policy::Piece& piece, v1::PolicyPiece& m);
    static bool take(const v1::PolicyPiece& m, policy::Piece& piece);
    static void put(const policy::Text& text, v1::PolicyText& m);
    static bool take(const v1::PolicyText& m, policy::Text& text);
    static void put(const policy::Assigned& assigned, v1::PolicyAssigned& m);
    static bool take(const v1::PolicyAssigned& m, policy::Assigned& assigned);
    static void put(const policy::Template& part, v1::PolicyTemplate& m);
    static bool take(const v1::PolicyTemplate& m, policy::Template& part);
    static void put(const policy::Step& step, v1::PolicyStep& m);
    static bool take(const v1::PolicyStep& m, policy::Step& step);
    static void put(const policy::Deadline& deadline, v1::PolicyDeadline& m);
    static bool take(const v1::PolicyDeadline& m, policy::Deadline& deadline);
    static void put(const policy::Case& found, v1::PolicyCase& m);
    static bool take(const v1::PolicyCase& m, policy::Case& found);
    static void put(const policy::Rule& rule, v1::PolicyRule& m);
    static bool take(const v1::PolicyRule& m, policy::Rule& rule);
};

}  // namespace trueup::codec
