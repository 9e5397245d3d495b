// Proves that the fold believes what a naive reading of the same journal believes (C3, C4, C6;
// S12).
#include "tests/engine/core/random_story.h"
#include "tests/support/naive_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace trueup::testing {
namespace {

JournalView view_of(const Recorded& record) {
    JournalView view;
    const Status read =
        codec::decode_journal(record.bytes, record.offset, record.append_time, view);
    RC_ASSERT(read.ok());
    return view;
}

using Present = std::map<std::string, std::pair<Version, std::string>>;

/// The present objects of a source as the fold has them: `subject object` → version and fields.
Present present_in(core::State& state, SourceId source) {
    Present present;
    for (const auto* entry : state.subjects.after("", 1'000)) {
        for (const Facet& facet : entry->subject.facets) {
            if (facet.source != source || !facet.present()) continue;
            present[entry->subject.key + ' ' + facet.object_id] = {facet.version, facet.object};
        }
    }
    return present;
}

Present present_in(const NaiveModel::Source& source) {
    Present present;
    for (const auto& [key, object] : source.objects) {
        if (object.present) {
            present[key.first + ' ' + key.second] = {object.version, object.fields};
        }
    }
    return present;
}

void expect_same(core::State& state, NaiveModel& model) {
    for (SourceId id = 0; id < state.meta.sources.size(); ++id) {
        const core::SourceState& ours = state.meta.sources[id];
        const NaiveModel::Source& theirs = model.sources.at(ours.name);
        RC_ASSERT(ours.incarnation == theirs.owner);
        RC_ASSERT(ours.next_seq == theirs.next_seq);
        RC_ASSERT(ours.known == theirs.known);
        RC_ASSERT(ours.hole == theirs.hole);
        RC_ASSERT(ours.open.has_value() == theirs.open.has_value());
        RC_ASSERT(ours.epochs == theirs.complete_epochs);
        RC_ASSERT(ours.quarantined_at == theirs.quarantined_at);
        RC_ASSERT(ours.complete_as_of == theirs.fresh_until);
        RC_ASSERT(ours.population == theirs.population());
        RC_ASSERT(present_in(state, id) == present_in(theirs));
    }
}

RC_GTEST_PROP(NaiveModel, TheFoldBelievesTheSameAfterEveryRecord, ()) {
    const Story story = *any_story();
    JournalScript s;
    Storyteller(s).play(story);
    core::NoRows rows;
    core::State state(rows);
    NaiveModel model;
    core::FoldReport report;
    for (const Recorded& record : s.records()) {
        const JournalView view = view_of(record);
        report.clear();
        core::fold(state, view, report);
        model.fold(view);
        RC_ASSERT(!report.more_work);
        expect_same(state, model);
    }
}

RC_GTEST_PROP(NaiveModel, CountersOfTheShardAddUp, ()) {
    const Story story = *any_story();
    JournalScript s;
    Storyteller(s).play(story);
    std::uint64_t open = 0;
    std::uint64_t outbox = 0;
    decltype(core::Meta::tallies) tallies{};
    std::uint64_t subjects = 0;
    for (const auto* entry : s.state().subjects.after("", 1'000)) {
        const Subject& subject = entry->subject;
        ++subjects;
        open += subject.findings.size();
        for (std::size_t i = 0; i < tallies.size(); ++i) tallies[i] += subject.counted[i];
        for (const Finding& finding : subject.findings) outbox += finding.command ? 1U : 0U;
    }
    RC_ASSERT(s.meta().open_findings == open);
    RC_ASSERT(s.meta().outbox == outbox);
    RC_ASSERT(s.meta().tallies == tallies);
    RC_ASSERT(s.meta().subjects == subjects);
    RC_ASSERT(s.meta().rules[0].detected + s.meta().rules[1].detected +
                  s.meta().rules[2].detected >=
              open);
}

}  // namespace
}  // namespace trueup::testing
