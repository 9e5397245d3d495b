// Proves that ids depend on the journal and on nothing else (design §5; C3, C11).
#include "engine/core/command_id.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <set>

namespace trueup::testing {
namespace {

/// An orphan's command; the pod's version is the only thing that differs.
JournalScript orphan(std::uint64_t version, std::uint64_t journal = 1) {
    JournalScript s(graph_settings(), journal);
    s.all_known();
    s.quiet_until(100s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = version});
    s.quiet_until(160s);
    return s;
}

TEST(CommandIds, OneJournalGivesOneId) {
    EXPECT_EQ(orphan(11).commands().front().id, orphan(11).commands().front().id);
    EXPECT_EQ(orphan(11).findings().front().id, orphan(11).findings().front().id);
}

TEST(CommandIds, AJournalThatLostItsTailNamesOthersAtTheSameOffsets_C11) {
    const JournalScript before = orphan(11);
    const JournalScript after = orphan(12);
    ASSERT_EQ(before.findings().back().offset, after.findings().back().offset);
    ASSERT_EQ(before.records().size(), after.records().size());
    EXPECT_NE(before.commands().front().id, after.commands().front().id);
    EXPECT_NE(before.findings().front().id, after.findings().front().id);
}

TEST(CommandIds, AnotherJournalNamesOthers) {
    EXPECT_NE(orphan(11, 1).commands().front().id, orphan(11, 2).commands().front().id);
}

TEST(CommandIds, EachPartOfThePlaceCounts) {
    core::Meta meta;
    meta.journal_id = JournalId({1, 2});
    meta.chain = {3, 4};
    std::set<std::string> ids;
    const auto add = [&](const core::Meta& of, std::int64_t offset, std::uint32_t index) {
        ids.insert(to_hex(core::make_command_id(of, Offset(offset), index)));
    };
    add(meta, 7, 0);
    ids.insert(to_hex(core::make_finding_id(meta, Offset(7), 0)));
    add(meta, 8, 0);
    add(meta, 7, 1);
    core::Meta other = meta;
    other.shard = PartitionNumber(1);
    add(other, 7, 0);
    other = meta;
    other.journal_id = JournalId({1, 3});
    add(other, 7, 0);
    other = meta;
    other.chain = {3, 5};
    add(other, 7, 0);
    EXPECT_EQ(ids.size(), 7U);
    add(meta, 7, 0);
    EXPECT_EQ(ids.size(), 7U) << "and nothing else does";
}

TEST(CommandIds, TheChainDependsOnWhatIsInARecordAndOnTheOrder) {
    const Hash128 start{1, 1};
    const Hash128 base = core::extend_chain(start, 5);
    EXPECT_NE(base, start);
    EXPECT_NE(base, core::extend_chain(start, 6));
    EXPECT_NE(core::extend_chain(base, 6), core::extend_chain(core::extend_chain(start, 6), 5));
}

TEST(CommandIds, DuplicatesAndTicksLeaveTheChainAlone_C3) {
    JournalScript s;
    s.all_known();
    const Hash128 chain = s.meta().chain;
    s.repeat_last();
    s.tick();
    EXPECT_EQ(s.meta().chain, chain);
    s.alive("pods");
    EXPECT_NE(s.meta().chain, chain);
}

TEST(CommandIds, NoIdComesTwiceInARunOf200Orphans) {
    Settings settings = graph_settings();
    settings.rules[0].budget.max = 200;
    JournalScript s(settings);
    s.all_known();
    s.together([&] {
        for (int i = 0; i < 200; ++i) {
            s.pod({.name = "wrapper-" + std::to_string(i), .uid = "u" + std::to_string(i)});
        }
    });
    s.quiet_until(60s);
    ASSERT_EQ(s.commands().size(), 200U);
    std::set<Hash128> ids;
    for (const Command& command : s.commands()) {
        ids.insert(command.id.value());
        ids.insert(command.finding_id.value());
    }
    EXPECT_EQ(ids.size(), 400U);
}

}  // namespace
}  // namespace trueup::testing
