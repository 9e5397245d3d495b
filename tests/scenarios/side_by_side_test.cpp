// Holds every judgement of every story against the naive reader of the policy's text
// (tests/naive/naive_policy.h): what the fold goes by is what the text says.
#include "engine/core/evaluate.h"
#include "policies/shipped.h"
#include "tests/scenarios/shipped_stories.h"
#include "tests/scenarios/text_judgement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace trueup::testing {
namespace {

struct Beside {
    std::size_t judged = 0;
    std::size_t kept = 0;  ///< objects whose answers were not worked out for this judgement
    std::map<std::string, std::size_t> disagreed;
};
Beside beside;

/// Are the answers that stand with the object those that its bytes give?
bool holds_true(const core::Judgement& on, const core::Seen& seen) {
    Facet bare = *seen.facet;
    bare.answers = {};
    const core::Seen afresh = core::look_at(on.plan, bare, on.settings, seen.ledger);
    const Answers& anew = *afresh.answers;
    const Answers& kept = *seen.answers;
    if (seen.facet->answers.plan == on.plan.number) ++beside.kept;
    return anew.can == kept.can && anew.is == kept.is && anew.may == kept.may &&
           anew.sure == kept.sure && anew.said == kept.said && anew.vetoed == kept.vetoed &&
           anew.deleting == kept.deleting && anew.out_of_scope == kept.out_of_scope;
}

Verdict judge_both(const core::Judgement& on) {
    const Verdict verdict = core::judge(on);
    const policy::Policy& text = *on.settings.text;
    const auto rule =
        std::find_if(text.rules.begin(), text.rules.end(),
                     [&](const policy::Rule& each) { return each.name == on.rule().name; });
    if (rule == text.rules.end()) return verdict;
    ++beside.judged;
    naive::Moment moment = moment_of(text, on.subject, on.references, on.settings, on.self, on.now);
    for (std::size_t i = 0; i < on.plan.tallies.size(); ++i) {
        moment.counts[on.plan.tallies[i].name] = on.references.tallies[i];
    }
    for (const core::Seen& seen : on.facts.seen) {
        if (holds_true(on, seen)) continue;
        ++beside.disagreed[text.name + ": what is kept of an object of " +
                           on.plan.roles[seen.role].name + " is not what it says"];
    }
    const naive::Judged does = as_decided(core::decide(on));
    const naive::Judged meant = naive::judge(text, *rule, on.subject, moment);
    if (does != meant) {
        ++beside.disagreed[text.name + " " + rule->name + ": evaluated `" + naive::told(does) +
                           "`, naively `" + naive::told(meant) + "`"];
    }
    return verdict;
}

TEST(SideBySide, WhatIsInForceSaysWhatTheTextSays) {
    for (const std::string& name : policies::shipped_names()) {
        for (const stories::Story& story : stories::read_stories(name)) {
            const auto telling = play(story, policies::shipped(name), {.judge = judge_both});
            EXPECT_EQ(telling.flaws(story.path), "");
        }
    }
    for (const auto& [what, times] : beside.disagreed) {
        ADD_FAILURE() << times << " times " << what;
    }
    EXPECT_GT(beside.judged, 1'000U);
    EXPECT_GT(beside.kept, 1'000U);
    RecordProperty("judged", static_cast<int>(beside.judged));
}

}  // namespace
}  // namespace trueup::testing
