// Proves apps/process.h and apps/parts.h: which shards and which policies a process runs, and what
// of them it reads.
#include "apps/process.h"

#include "apps/client.h"
#include "apps/parts.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

namespace trueup::apps {
namespace {

std::vector<PartitionNumber> shards(std::initializer_list<std::int32_t> numbers) {
    return {numbers.begin(), numbers.end()};
}

TEST(ParseShards, RangesAndNumbersAscendingEachOnce) {
    EXPECT_EQ(parse_shards("0-3", 8).value(), shards({0, 1, 2, 3}));
    EXPECT_EQ(parse_shards("7,2", 8).value(), shards({2, 7}));
    EXPECT_EQ(parse_shards("1-2,2-4,0", 8).value(), shards({0, 1, 2, 3, 4}));
}

TEST(ParseShards, NothingMeansAll) { EXPECT_EQ(parse_shards("", 3).value(), shards({0, 1, 2})); }

TEST(ParseShards, AnythingElseIsRefusedInOneSentence) {
    for (const char* text : {"4", "0-4", "3-1", "-1", "a", "1-", "1,,2", " 1", "0x1"}) {
        const auto shards = parse_shards(text, 4);
        ASSERT_FALSE(shards.ok()) << text;
        EXPECT_EQ(shards.error().what, "--shards is '" + std::string(text) +
                                           "'; write numbers from 0 to 3, as 0-3 or 0,2");
    }
}

/// Two policies in one file; the second one is wrong where `rows` is.
class OfTwo : public ::testing::Test {
  protected:
    void write(const std::string& rows) {
        std::ofstream(file)
            << "version: 1\nstate_dir: " << dir.path() << "/state\nsources:\n"
            << "  eu-pods: {kubernetes: {kubeconfig: k, namespace: eu, selector: a=b}}\n"
            << "  eu-rows: {postgres: {conninfo_env: EU, table: public.eu}}\n"
            << "  us-pods: {kubernetes: {kubeconfig: k, namespace: us, selector: a=b}}\n"
            << "  us-rows: {postgres: {conninfo_env: US, table: public.us}}\n"
            << "policies:\n"
            << "  - {name: eu, use: graph-instances, roles: {pods: eu-pods, rows: "
               "eu-rows}, keys: {rows: pod_name}}\n"
            << "  - {name: us, use: graph-instances, roles: {pods: us-pods, rows: " << rows
            << "}, keys: {rows: pod_name}}\n"
            << "executors: {update_row: [{source: eu-rows}, {source: us-rows, "
               "conninfo_env: US_WRITER}]}\n";
    }
    config::Config load() { return config::load_sound_policies(file).value(); }

    testing::TempDir dir;
    const std::string file = dir / "trueup.yaml";
};

std::vector<std::string> sources_of(const config::Config& policy) {
    std::vector<std::string> names;
    for (const config::SourceConfig& source : policy.sources) names.push_back(source.name);
    return names;
}

// Symptom: with --policy eu, beside a wrong us, the process read the tables of us, under its
// account.
TEST_F(OfTwo, APolicyThatIsNamedHasItsOwnSourcesWhateverIsWrongWithTheOther) {
    for (const char* rows : {"us-rows", "us-row"}) {
        write(rows);
        ProcessOptions options;
        options.policies = {"eu"};
        const auto config = narrowed(load(), options);
        ASSERT_TRUE(config.ok()) << config.error().what;
        const std::vector<config::Config> here = policies_here(*config, options);
        ASSERT_EQ(here.size(), 1U) << rows;
        EXPECT_EQ(sources_of(here[0]), (std::vector<std::string>{"eu-pods", "eu-rows"})) << rows;
        EXPECT_EQ(here[0].executors.size(), 1U) << rows;
        EXPECT_EQ(here[0].memory_bytes, std::uint64_t{256} << 20U) << rows;
    }
}

TEST_F(OfTwo, AConnectorOfOneSourceIsNoneOfTheOtherPolicys) {
    write("us-rows");
    ProcessOptions options;
    options.part = Part::kConnect;
    options.names = {"us-pods"};
    const std::vector<config::Config> here = policies_here(load(), options);
    ASSERT_EQ(here.size(), 1U);
    EXPECT_EQ(sources_used(here[0], options).sources.size(), 1U);
    options.policies = {"asia"};
    options.config = "trueup.yaml";
    EXPECT_EQ(narrowed(load(), options).error().what,
              "there is no policy 'asia' in trueup.yaml; known are eu and us");
}

// Symptom: a typo in one policy, and nobody could pause the other one, which ran.
TEST_F(OfTwo, AnEngineIsFoundThoughOneOfItsPoliciesIsWrong) {
    write("us-row");
    EngineAddress where;
    where.config = file;
    const auto engine = EngineClient::find(where);
    ASSERT_FALSE(engine.ok());
    EXPECT_TRUE(engine.error().what.starts_with("no engine is running in ")) << engine.error().what;
}

}  // namespace
}  // namespace trueup::apps
