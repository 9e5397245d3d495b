// Proves engine/ports/fields.h (design §4.15): what looks like a secret is published as it is only
// by its own name.
#include "engine/ports/fields.h"

#include "engine/model/object_builder.h"

#include <gtest/gtest.h>

namespace trueup::ports {
namespace {

std::string published(const FieldPolicy& policy, std::string_view field, std::string_view text) {
    ObjectBuilder fields;
    policy.add(fields, field, policy.of(field), text);
    const std::string bytes = fields.take();
    return std::string(ObjectView(bytes).text(field).value_or("(nothing)"));
}

FieldPolicy policy() {
    FieldPolicy policy;
    policy.named = {
        {"email", Treatment::kHash}, {"note", Treatment::kDrop}, {"token_count", Treatment::kMap}};
    policy.hash = [](std::string_view text) { return "#" + std::to_string(text.size()); };
    return policy;
}

TEST(FieldPolicy, SecretsAreKnownByTheirNames) {
    for (const char* secret :
         {"password", "db_password", "ApiToken", "client-secret", "connection_config", "api_key",
          "api-key", "dsn", "db_pwd", "credentials", "label.auth"}) {
        EXPECT_TRUE(looks_secret(secret)) << secret;
    }
    for (const char* plain : {"status", "pod_name", "url_slug", "key", "author", "passage_id"}) {
        EXPECT_FALSE(looks_secret(plain)) << plain;
    }
}

TEST(FieldPolicy, AFieldIsPublishedAsItIsNamed_Design_4_15) {
    EXPECT_EQ(published(policy(), "email", "a@b.c"), "#5");
    EXPECT_EQ(published(policy(), "email", ""), "#0") << "empty is not null";
    EXPECT_EQ(published(policy(), "note", "a"), "(nothing)");
    EXPECT_EQ(published(policy(), "status", "running"), "running");
}

TEST(FieldPolicy, WhatLooksLikeASecretIsHashedUnlessItIsNamed_Design_4_15) {
    EXPECT_EQ(published(policy(), "session_token", "abc"), "#3");
    EXPECT_EQ(published(policy(), "token_count", "12"), "12");
}

TEST(FieldPolicy, WithoutAKeyWhatIsToBeHashedIsDropped_Design_4_15) {
    FieldPolicy keyless = policy();
    keyless.hash = nullptr;
    EXPECT_EQ(published(keyless, "email", "a@b.c"), "(nothing)");
    EXPECT_EQ(published(keyless, "password", "a"), "(nothing)");
    EXPECT_EQ(published(keyless, "status", "running"), "running");
}

}  // namespace
}  // namespace trueup::ports
