// Proves apps/config/policy_file.h: the shipped policies are read, and each file under
// tests/policies/wrong is refused, or warned of, with the sentence that its first lines name.
#include "apps/config/policy_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace trueup::config {
namespace {

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::filesystem::path> files(const std::string& folder) {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".yaml") all.push_back(entry.path());
    }
    std::sort(all.begin(), all.end());
    return all;
}

std::string name_of(const ::testing::TestParamInfo<std::filesystem::path>& info) {
    std::string name = info.param.stem().string();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class ShippedPolicy : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(ShippedPolicy, IsReadWithoutAFlaw) {
    const Result<PolicyFile> file = load_policy(GetParam().string());
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_EQ(file->policy.name, GetParam().stem().string());
    EXPECT_FALSE(file->policy.rules.empty());
}
INSTANTIATE_TEST_SUITE_P(Files, ShippedPolicy, ::testing::ValuesIn(files(TRUEUP_POLICIES)),
                         name_of);

/// `# LINE: SENTENCE` at its head: what must be said of it, in parts. `# warns LINE: SENTENCE`: it
/// is read, and that is the warning.
class WrongPolicy : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(WrongPolicy, IsToldWhatToWriteInstead) {
    const std::string text = read(GetParam());
    const Result<PolicyFile> file = parse_policy(text, "p.yaml");
    std::istringstream lines(text);
    std::string line;
    std::string said = file ? file->warnings : file.error().what;
    std::size_t wanted = 0;
    while (std::getline(lines, line) && line.starts_with("# ")) {
        const bool warns = line.starts_with("# warns ");
        EXPECT_EQ(file.ok(), warns) << said;
        const std::string sentence = "p.yaml:" + line.substr(warns ? 8 : 2);
        EXPECT_NE(said.find(sentence), std::string::npos) << sentence << "\nbut it was\n" << said;
        ++wanted;
    }
    EXPECT_GT(wanted, 0U) << "begin it with what must be said";
    const auto sentences = static_cast<std::size_t>(std::count(said.begin(), said.end(), '\n')) +
                           (said.empty() ? 0 : 1);
    EXPECT_EQ(sentences, wanted) << said;
}
/// What sounds as if its rules went round in a circle, or excluded each other, and does not.
class RightPolicy : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(RightPolicy, IsTaken) {
    const Result<PolicyFile> file = load_policy(GetParam().string());
    EXPECT_TRUE(file) << file.error().what;
}
INSTANTIATE_TEST_SUITE_P(Files, RightPolicy,
                         ::testing::ValuesIn(files(std::string(TRUEUP_WRONG) + "/../right")),
                         name_of);

TEST(PolicyFile, RulesThatBeginAlikeOrExcludeEachOtherDoNotOverlap) {
    const std::string crossed = read(std::string(TRUEUP_WRONG) + "/warns_overlap.yaml");
    const auto warned = [&](const std::string& from, const std::string& to) {
        std::string text = crossed;
        text.replace(text.find(from), from.size(), to);
        const Result<PolicyFile> file = parse_policy(text, "p.yaml");
        return file ? file->warnings : file.error().what;
    };
    EXPECT_NE(warned("policy: p", "policy: q"), "");
    EXPECT_EQ(warned("set: {status: draining}", "set: {status: dead}"), "") << "alike";
    EXPECT_EQ(warned("{not: Running}", "Pending"), "") << "never of one subject";
    EXPECT_EQ(
        warned("set: {status: draining}}}", "set: {status: draining}}, acknowledge: [overlap]}"),
        "");
}

// Symptom: a file of 2 KiB kept its reader busy for hours.
TEST(PolicyFile, SmallOnesAreReadAtOnceWhateverTheyAsk) {
    std::string text =
        "policy: p\nlanguage: 1\nroles:\n"
        "  rows: {kind: row, key: name, fields: {name: text, status: text}}\nconditions:\n"
        "  c0: {about: rows, first: [{if: {rows: {status: up}}, then: true}, {then: false}]}\n";
    for (int i = 1; i < 40; ++i) {
        const std::string before = "c" + std::to_string(i - 1);
        text += "  c" + std::to_string(i) +
                ": {about: rows, first: [{if: {rows: {any: [{is: " + before +
                "}, {is_not: " + before + "}]}}, then: true}, {then: false}]}\n";
    }
    text +=
        "rules:\n  r: {finds: x, when: {rows: {one: {is: c39}}}, do: {update: rows, set: {status: "
        "down}}}\n";
    EXPECT_NE(parse_policy(text, "p.yaml").error().what.find("deep"), std::string::npos);
    const std::string long_text =
        "policy: p\nlanguage: 1\nroles:\n"
        "  rows: {kind: row, key: name, fields: {name: text, status: [up, down]}}\nrules:\n"
        "  r: {finds: x, when: {rows: {one: {status: up, name: {any: [" +
        std::string(200, 'a') +
        ", {like: '*a*a*a*a*a*a*a*a*a*a*b'}]}}}}, do: {update: rows, set: {status: down}}}\n";
    EXPECT_TRUE(parse_policy(long_text, "p.yaml"));
}

INSTANTIATE_TEST_SUITE_P(Files, WrongPolicy, ::testing::ValuesIn(files(TRUEUP_WRONG)), name_of);

}  // namespace
}  // namespace trueup::config
