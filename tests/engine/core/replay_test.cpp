// Proves that what the fold says depends on the journal alone: not on restarts, write-behind, the
// cache, or where records are cut (C1, C7, C8; invariant R1 of engine/core/subject_table.h).
#include "stories/replay.h"

#include "tests/engine/core/random_story.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace trueup::testing {
namespace {

using stories::Emissions;
using stories::Replay;

/// One of everything: three sources' worth of news, two incarnations, a hole, commands with each
/// outcome, a sweep in small steps.
JournalScript short_run() {
    Settings settings = graph_settings();
    settings.sweep_step = 3;
    JournalScript s(settings);
    s.all_known();
    for (int i = 0; i < 8; ++i) {
        s.pod({.name = "wrapper-" + std::to_string(i), .uid = "u" + std::to_string(i)});
    }
    s.row({.pk = "1", .name = "wrapper-1", .version = 50});
    s.row({.pk = "9", .name = "wrapper-9", .version = 51});
    s.row({.pk = "5", .name = "wrapper-5", .version = 52, .tracked = false});
    s.quiet_until(65s);
    s.outcome(s.commands()[0], OutcomeKind::kDone);
    s.outcome(s.commands()[1], OutcomeKind::kFailed, true);
    s.outcome(s.commands()[2], OutcomeKind::kRefused);
    s.pod_gone("wrapper-0", "u0", 60);
    s.hole("rows");
    s.alive("rows");
    s.own("rows");
    s.rows_listed(70, {{.pk = "1", .name = "wrapper-1", .version = 70},
                       {.pk = "5", .name = "wrapper-5", .version = 70}});
    s.pods_listed(80, {{.name = "wrapper-1", .uid = "u1"}, {.name = "wrapper-2", .uid = "u2"}});
    s.quiet_until(140s);
    s.pods_listed(81, {{.name = "wrapper-1", .uid = "u1"}, {.name = "wrapper-2", .uid = "u2"}});
    s.raw(Topic::kChangesPods, "rubbish");
    s.lose_next(1);
    s.alive("pods");
    s.alive("pods");
    s.again(Topic::kChangesPods, s.meta().last[static_cast<std::size_t>(Topic::kChangesPods)]);
    s.repeat_last();
    s.pods_listed(82, {{.name = "wrapper-1", .uid = "u1"}, {.name = "wrapper-2", .uid = "u2"}});
    s.quiet_until(260s);
    return s;
}

TEST(Restart, AtEveryOffsetEndsTheSame_C7_C8) {
    const JournalScript s = short_run();
    const std::vector<Recorded>& records = s.records();
    ASSERT_GT(records.size(), 60U);
    ASSERT_GT(s.commands().size(), 5U);
    Replay straight;
    const std::vector<Emissions> all = straight.fold(records, 0, records.size());
    const core::Meta end = straight.settled_meta();
    for (std::size_t k = 0; k <= records.size(); ++k) {
        Replay replay;
        replay.fold(records, 0, k);
        replay.write_behind();
        replay.restart(k % 2 == 0 ? 0 : 1'000'000);
        ASSERT_EQ(replay.meta().applied, previous(Offset(static_cast<std::int64_t>(k))));
        const std::vector<Emissions> tail = replay.fold(records, k, records.size());
        const std::vector<Emissions> expected(all.begin() + static_cast<std::ptrdiff_t>(k),
                                              all.end());
        ASSERT_EQ(tail, expected) << "restarted before offset " << k;
        ASSERT_EQ(replay.settled_meta(), end) << "restarted before offset " << k;
    }
}

TEST(Restart, WhatWasNotWrittenIsFoldedAgain_C1) {
    const JournalScript s = short_run();
    const std::vector<Recorded>& records = s.records();
    Replay straight;
    straight.fold(records, 0, records.size());
    Replay replay;
    replay.fold(records, 0, 30);
    replay.write_behind();
    replay.fold(records, 30, 50);  // lost with the process
    replay.restart(0);
    EXPECT_EQ(replay.meta().applied, Offset(29));
    replay.fold(records, 30, records.size());
    EXPECT_EQ(replay.settled_meta(), straight.settled_meta());
}

TEST(Restart, TheScriptsOwnFoldSaysTheSameAsTheReplay) {
    const JournalScript s = short_run();
    Replay replay;
    std::vector<Command> commands;
    std::vector<FindingEdge> findings;
    for (const Emissions& e : replay.fold(s.records(), 0, s.records().size())) {
        commands.insert(commands.end(), e.commands.begin(), e.commands.end());
        findings.insert(findings.end(), e.findings.begin(), e.findings.end());
    }
    EXPECT_EQ(commands, s.commands());
    EXPECT_EQ(findings, s.findings());
}

RC_GTEST_PROP(Restart, AtRandomMomentsOfARandomStoryChangesNothing_C7, ()) {
    const Story story = *any_story();
    Settings settings = graph_settings();
    settings.sweep_step = *rc::gen::element(1U, 2U, 5U, 2'000U);
    JournalScript s(settings);
    Storyteller(s).play(story);
    Replay straight;
    const std::vector<Emissions> all = straight.fold(s.records(), 0, s.records().size());
    const core::Meta end = straight.settled_meta();

    // 0–4 nothing, 5 write-behind, 6 evict all, 7 write-behind and evict, 8 and restart.
    const auto deeds =
        *rc::gen::container<std::vector<int>>(s.records().size(), rc::gen::inRange(0, 9));
    Replay replay;
    for (std::size_t i = 0; i < s.records().size(); ++i) {
        RC_ASSERT(replay.fold(s.records()[i]) == all[i]);
        if (deeds[i] == 5 || deeds[i] >= 7) replay.write_behind();
        if (deeds[i] == 6 || deeds[i] == 7) replay.evict(0);
        if (deeds[i] == 8) replay.restart(i % 2 == 0 ? 0 : 1'000'000);
    }
    RC_ASSERT(replay.settled_meta() == end);
}

/// `source subject object`, version and fields of everything that is present, and what is known.
std::map<std::string, std::string> beliefs(core::State& state) {
    std::map<std::string, std::string> beliefs;
    for (const core::SourceState& source : state.meta.sources) {
        beliefs[source.name] = std::to_string(source.incarnation.value()) +
                               (source.known ? " known" : "") + (source.hole ? " hole " : " ") +
                               std::to_string(source.population) + " epochs " +
                               std::to_string(source.epochs);
    }
    for (const auto* entry : state.subjects.after("", 1'000)) {
        const Subject& subject = entry->subject;
        for (const Facet& facet : subject.facets) {
            if (!facet.present()) continue;
            beliefs[std::to_string(facet.source) + ' ' + subject.key + ' ' + facet.object_id] =
                std::to_string(facet.version.hi) + ' ' + facet.object;
        }
    }
    return beliefs;
}

struct Item {
    ItemView view;  ///< its own bytes are gone
    std::string bytes;
};

std::vector<Item> items_of(const std::vector<Recorded>& records) {
    std::vector<Item> items;
    for (const Recorded& record : records) {
        JournalView view;
        RC_ASSERT(
            codec::decode_journal(record.bytes, record.offset, record.append_time, view).ok());
        for (const ItemView& item : view.items) items.push_back({item, std::string(item.bytes)});
    }
    return items;
}

bool ends_epoch(const ItemView& item) {
    const auto* change = std::get_if<ChangeView>(&item.body);
    return change != nullptr && change->kind == ChangeKind::kSnapshotEnd;
}

RC_GTEST_PROP(Records, WhereTheyAreCutChangesNoFacet, ()) {
    const Story story = *any_story();
    JournalScript s;
    // Tombstones are forgotten at the end of a record, so words from before them are left out here.
    Storyteller(s, true).play(story);

    const std::vector<Item> items = items_of(s.records());
    const std::size_t widest = *rc::gen::element<std::size_t>(1, 2, 5, 1'000);
    JournalScript other;
    codec::JournalRecordBuilder builder;
    bool epoch_ended = false;
    const auto cut = [&] {
        other.append(builder.take());
        epoch_ended = false;
    };
    for (const Item& item : items) {
        // A population counts once its sweep is through: at most one epoch ends per record.
        const bool ends = ends_epoch(item.view);
        if (builder.count() == widest || (ends && epoch_ended)) cut();
        epoch_ended = epoch_ended || ends;
        other.at(std::chrono::duration_cast<Millis>(item.view.append_time - broker(0ms)));
        builder.add_item(item.view.topic, item.view.prev_offset, item.view.offset,
                         item.view.append_time, item.bytes);
    }
    cut();
    RC_ASSERT(beliefs(other.state()) == beliefs(s.state()));
}

}  // namespace
}  // namespace trueup::testing
