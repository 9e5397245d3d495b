// Proves that what is written today is byte for byte what was written when the golden files were
// made (design §10): each message of schemas/trueup/v1 as hex, 32 bytes a line.
// After a deliberate change of a format: TRUEUP_WRITE_GOLDEN=1 engine_codec_golden_test
#include "engine/codec/change_codec.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/finding_codec.h"
#include "engine/codec/outcome_codec.h"
#include "engine/codec/request_codec.h"
#include "engine/codec/settings_codec.h"
#include "tests/engine/codec/samples.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace trueup::codec {
namespace {

std::string hex(const std::string& bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
        if (i % 32 == 31 || i + 1 == bytes.size()) text += '\n';
    }
    return text;
}

void expect_golden(const std::string& name, const std::string& bytes) {
    const std::string path =
        std::string(TRUEUP_SOURCE_DIR) + "/tests/engine/codec/golden/" + name + ".hex";
    if (std::getenv("TRUEUP_WRITE_GOLDEN") != nullptr) std::ofstream(path) << hex(bytes);
    std::ifstream file(path);
    ASSERT_TRUE(file.good()) << path;
    const std::string wanted{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(hex(bytes), wanted) << name << " is written in other bytes than before";
}

TEST(Golden, Changes) {
    expect_golden("change_upsert", encode_change(samples::upsert()));
    expect_golden("change_progress", encode_change(samples::progress()));
}

TEST(Golden, Journal) {
    expect_golden("journal_record", samples::journal_record());
    expect_golden("genesis", encode_genesis(samples::genesis()));
    expect_golden("settings", encode_settings(samples::settings()));
}

TEST(Golden, PublicMessages) {
    expect_golden("command", encode_command(samples::command()));
    expect_golden("outcome", encode_outcome(samples::outcome()));
    expect_golden("finding", encode_finding(samples::finding()));
    expect_golden("request", encode_request(samples::request()));
    expect_golden("request_enable", encode_request(samples::enabling()));
}

}  // namespace
}  // namespace trueup::codec
