// Proves what docs/policies/testing.md says of the language of stories: what is refused, with its
// line and what to write, and what a story tells when it went otherwise.
#include "apps/config/policy_file.h"
#include "policies/shipped.h"
#include "stories/player.h"

#include <gtest/gtest.h>

#include <sstream>

namespace trueup::stories {
namespace {

Telling told(const std::string& text, const Shared<policy::Policy>& policy) {
    std::istringstream in(text);
    const Result<Story> story = Story::read(in, "a.scn");
    if (story) return play(*story, policy);
    Telling telling;
    telling.unusable = story.error().what;
    return telling;
}

/// What is said of a story about graph-instances.
std::string refusal(const std::string& text) {
    const Telling telling = told(text, policies::shipped("graph-instances"));
    return telling.unusable.empty() ? "it was understood" : telling.unusable;
}

Shared<policy::Policy> workers() {
    auto file = config::load_policy(std::string(TRUEUP_POLICIES) + "/examples/workers.yaml");
    EXPECT_TRUE(file) << file.error().what;
    return file->policy;
}

TEST(StoryFile, WhatCannotBeUnderstoodIsRefusedWithItsLine) {
    EXPECT_EQ(refusal("0s known all\n"), "a.scn:1: what comes of it? end with a line of `=>`");
    EXPECT_EQ(refusal("# x\npod wrapper-7\n=> nothing\n"),
              "a.scn:2: a statement begins with its time, as in `100s pod wrapper-7 uid=a`");
    EXPECT_EQ(refusal("5s known all\n4s tick\n=> nothing\n"), "a.scn:2: time runs backwards");
    EXPECT_EQ(refusal("5s known all\n6s pod wrapper-7\n=> nothing\n"),
              "a.scn:2: `pod` needs `uid=`");
    EXPECT_EQ(refusal("5s known all\n6s row wrapper-7\n=> nothing\n"),
              "a.scn:2: `row` needs `pk=`, as in `pk=7`");
    EXPECT_EQ(refusal("5s known all\n6s pod wrapper-7 uid=a phse=Failed\n=> nothing\n"),
              "a.scn:2: `pods` has no field `phse`; did you mean 'phase'?; what no rule reads is "
              "written `other.phse=`");
    EXPECT_EQ(refusal("5s known all\n6s pod wrapper-7 uid=a dead\n=> nothing\n"),
              "a.scn:2: `pod` cannot be followed by `dead`");
    EXPECT_EQ(refusal("5s known all\n6s quit\n=> nothing\n"),
              "a.scn:2: `quit` is no verb of a story; did you mean 'quiet'?");
    EXPECT_EQ(refusal("0s expect rows\n=> nothing\n"), "a.scn:1: `expect` needs how many objects");
    EXPECT_EQ(refusal("0s expect rows few\n=> nothing\n"),
              "a.scn:1: `expect rows` is followed by a number");
    EXPECT_EQ(refusal("0s known row\n=> nothing\n"),
              "a.scn:1: there is no source `row`; did you mean 'rows'?");
    EXPECT_EQ(refusal("0s rule orphan_pod off\n=> nothing\n"),
              "a.scn:1: there is no rule `orphan_pod`; did you mean 'orphaned_pod'?");
    EXPECT_EQ(refusal("5s known all\n6s pause drop\n=> nothing\n"),
              "a.scn:2: `pause` cannot be followed by `drop`");
    EXPECT_EQ(refusal("5s service w\n=> nothing\n"),
              "a.scn:1: no source plays `services`; begin the story with `with services`");
    EXPECT_EQ(refusal("5s known all\n=> 5s something\n"), "it was understood");
}

TEST(StoryFile, ASettingThatCannotBeUnderstoodIsRefusedWithItsLine) {
    const std::string rest = "0s known all\n=> nothing\n";
    EXPECT_EQ(refusal("shards none\n" + rest), "a.scn:1: `shards` is followed by 1 to 64");
    EXPECT_EQ(refusal("0s known all\nshards 4\n=> nothing\n"),
              "a.scn:2: `shards` without a time comes before everything that has one");
    EXPECT_EQ(refusal("use workers\n" + rest),
              "a.scn:1: this story is about the policy `workers`, and `graph-instances` is tested");
    EXPECT_EQ(refusal("with servces\n" + rest),
              "a.scn:1: the policy has no role `servces`; did you mean 'services'?");
    EXPECT_EQ(refusal("with pods\n" + rest),
              "a.scn:1: `pods` has a source anyway; `with` adds optional roles");
    EXPECT_EQ(refusal("rules on\n" + rest), "a.scn:1: `rules` is followed by `off`");
}

TEST(Story, NewsThatDifferAreShownAsTheyWereAndByWhichLine) {
    const std::string text =
        "rule missing_pod off\n0s known all\n100s quiet\n110s pod w uid=a\n=> nothing\n";
    EXPECT_EQ(told(text, policies::shipped("graph-instances")).flaws("a.scn"),
              "a.scn:5: expected\n    => nothing\n  but there was\n"
              "    => 110s suspected orphaned_pod w a: grace  # by line 4\n");
}

TEST(Story, AStatementThatDoesNotFitWhatWasFailsItAndMakesItNotUnusable) {
    const Telling telling =
        told("0s known all\n5s outcome w done\n=> nothing\n", policies::shipped("graph-instances"));
    EXPECT_EQ(telling.unusable, "");
    EXPECT_EQ(telling.flaws("a.scn"), "a.scn:2: there was no command about w\n");
}

TEST(Story, WhatACommandSetsMayBeSaidAndMustThenBeSo) {
    const std::string begin =
        "0s known all\n0s rule dead_worker grace=0s window=0s\n1s row w-1 pk=1 state=ACTIVE\n"
        "10s quiet\n=> 1s suspected dead_worker w-1 public.rows/1: awaiting_progress\n"
        "=> 6s commanded dead_worker w-1 public.rows/1\n";
    EXPECT_EQ(told(begin + "=> 6s update_row w-1 public.rows/1\n", workers()).flaws("a"), "");
    EXPECT_EQ(told(begin + "=> 6s update_row w-1 public.rows/1 set state=DEAD updated_at={now}\n",
                   workers())
                  .flaws("a"),
              "");
    EXPECT_NE(
        told(begin + "=> 6s update_row w-1 public.rows/1 set state=GONE\n", workers()).flaws("a"),
        "");
}

TEST(Story, OfARowWhoseKeyCannotBeToldHasADashForItsName) {
    EXPECT_EQ(told("0s known all\n1s row - pk=1 state=ACTIVE\n1s count nameless_rows 1\n2s tick\n"
                   "=> nothing\n",
                   workers())
                  .flaws("a"),
              "");
    EXPECT_EQ(
        told("0s known all\n1s tick\n1s count nameless_rows 1\n=> nothing\n", workers()).flaws("a"),
        "a.scn:3: nameless_rows is 0, not 1\n");
}

TEST(Story, TimesOfItsFieldsAreCountedFromItsStart) {
    const std::string stuck =
        "rule dead_worker off\n0s known all\n1s row w-1 pk=1 state=DRAINING updated_at=-59m\n"
        "1s pod w-1 uid=a\n";
    EXPECT_EQ(told(stuck + "50s quiet\n=> nothing\n", workers()).flaws("a"), "");
    EXPECT_NE(told(stuck + "90s quiet\n=> nothing\n", workers()).flaws("a"), "");
}

}  // namespace
}  // namespace trueup::stories
