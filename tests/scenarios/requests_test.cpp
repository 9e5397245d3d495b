// Proves what comes of what somebody asks for by name (`requested: NAME`): it is done once, one
// thing at a time, and nothing that was granted is forgotten.
#include "tests/scenarios/story_of.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::stories {
namespace {

constexpr const char* kMachines = R"(
policy: machines
language: 1
roles:
  pods: {kind: pod, key: name, fields: {phase: text}}
  rows:
    kind: row
    key: pod
    live: {state: [UP, RESTARTING]}
    fields: {state: [UP, RESTARTING, DOWN], pod: text, owner: text, restarted_at: timestamp}
requests: {restart: {owner: rows.owner}, stop: {owner: rows.owner}, evict: {owner: rows.owner}}
rules:
  restart_requested:
    finds: its owner wants it restarted
    requested: restart
    grace: 0s
    acknowledge: [no_grace]
    when: {rows: {one: {state: [UP, RESTARTING]}}, pods: one}
    do: {update: rows, set: {state: RESTARTING, restarted_at: "{now}"}}
  evict_requested:
    finds: its owner wants another pod
    requested: evict
    grace: 0s
    acknowledge: [no_grace]
    when: {rows: {one: {state: [UP, RESTARTING]}}, pods: one}
    do: {delete: pods}
  stop_requested:
    finds: its owner wants it stopped
    requested: stop
    grace: 0s
    acknowledge: [no_grace]
    when: {rows: {one: {state: [UP, RESTARTING]}}, pods: one}
    do: &end [{delete: pods}, {update: rows, set: {state: DOWN}}]
  worn_out:
    finds: it has run for an hour
    when: {rows: {one: {state: [UP, RESTARTING]}}, pods: one}
    past: rows.restarted_at + 1h
    do: *end
)";

constexpr const char* kUp =
    "0s rule restart_requested enforce\n0s rule evict_requested enforce\n0s rule stop_requested "
    "enforce\n0s known all\n100s quiet\n"
    "100s pod w-1 uid=a\n100s row w-1 pk=1 state=UP owner=ann\n110s quiet\n";

std::string flaws(const std::string& rest) { return flaws_of(kUp + rest, kMachines); }

constexpr const char* kRestarts =
    "120s request restart w-1 by=ann\n"
    "125s quiet\n"
    "=> 120s commanded restart_requested w-1 public.rows/1\n"
    "=> 120s update_row w-1 public.rows/1 set restarted_at={now} state=RESTARTING\n"
    "126s outcome w-1 done\n"
    "127s row w-1 pk=1 state=RESTARTING owner=ann restarted_at=1s\n"
    "200s quiet\n"
    "=> 126s resolved restart_requested w-1 public.rows/1: done\n";

constexpr const char* kStops =
    "219s quiet\n"
    "=> nothing\n"
    "220s request stop w-1 by=ann\n"
    "225s quiet\n"
    "=> 220s commanded stop_requested w-1 public.rows/1\n"
    "=> 220s delete_pod w-1 a\n";

TEST(NamedRequest, IsCarriedOutOnceAlsoWhereTheRuleStillMatches) {
    EXPECT_EQ(flaws(kRestarts), "");
}

TEST(NamedRequest, IsOnlyForTheRuleThatWaitsForThatName) { EXPECT_EQ(flaws(kStops), ""); }

TEST(NamedRequest, CanBeFollowedByAnotherOnceItWasDone) {
    EXPECT_EQ(flaws(std::string(kRestarts) + kStops), "");
}

TEST(NamedRequest, IsNotPushedOutByAnotherBeforeItWasDone) {
    EXPECT_EQ(
        flaws("120s request restart w-1 by=ann\n"
              "121s request stop w-1 by=ann refused\n"
              "121s request stop w-1 role=admin refused\n"
              "125s quiet\n"
              "=> 120s commanded restart_requested w-1 public.rows/1\n"
              "=> 120s update_row w-1 public.rows/1 set restarted_at={now} state=RESTARTING\n"),
        "");
}

TEST(NamedRequest, ThatIsDismissedMakesRoomForAnother) {
    EXPECT_EQ(
        flaws(std::string("119s hold w-1\n"
                          "120s request restart w-1 by=ann\n"
                          "121s request stop w-1 by=ann refused\n"
                          "130s dismiss w-1\n"
                          "131s release w-1\n"
                          "200s quiet\n"
                          "=> 120s confirmed restart_requested w-1 public.rows/1: hold\n"
                          "=> 130s resolved restart_requested w-1 public.rows/1: dismissed\n") +
              kStops),
        "");
}

// Symptom: a request that was refused took the one away that had been granted before it, and only
// in memory: after a restart that one was there again.
TEST(NamedRequest, ThatIsRefusedLeavesTheStandingOneAsItWas) {
    EXPECT_EQ(
        flaws("112s row w-1 pk=1 state=UP owner=bob\n"
              "112s row w-1 pk=2 state=DOWN owner=ann\n"
              "119s quiet\n"
              "=> nothing\n"
              "119s hold w-1\n"
              "120s request restart w-1 role=ops\n"
              "121s request restart w-1 by=ann refused\n"
              "122s request restart w-1 by=bob\n"
              "123s row w-1 pk=1 state=UP owner=carl\n"
              "130s release w-1\n"
              "136s quiet\n"
              "=> 120s confirmed restart_requested w-1 public.rows/1: hold\n"
              "=> 123s suspected restart_requested w-1 public.rows/1: awaiting_progress\n"
              "=> 135s commanded restart_requested w-1 public.rows/1\n"
              "=> 135s update_row w-1 public.rows/1 set restarted_at={now} state=RESTARTING\n"),
        "");
}

// Symptom: the pod that a controller made in the place of the one that was restarted was deleted,
// too, and so on for a day.
TEST(NamedRequest, IsNotCarriedOutOnWhatComesInThePlaceOfWhatItWasAskedOf) {
    EXPECT_EQ(flaws("120s request evict w-1 by=ann\n"
                    "125s quiet\n"
                    "=> 120s commanded evict_requested w-1 a\n"
                    "=> 120s delete_pod w-1 a\n"
                    "126s outcome w-1 done\n"
                    "127s pod-gone w-1 uid=a\n"
                    "130s pod w-1 uid=b\n"
                    "300s quiet\n"
                    "=> 126s resolved evict_requested w-1 a: done\n"),
              "");
}

// Symptom: as long as nobody had reported that the first pod was deleted, its successor was, too.
TEST(NamedRequest, IsNotCarriedOutOnASuccessorThatIsSeenBeforeTheOutcome) {
    for (const char* outcome : {"done", "refused"}) {
        const bool done = std::string(outcome) == "done";
        EXPECT_EQ(flaws("120s request evict w-1 by=ann\n"
                        "122s quiet\n"
                        "=> 120s commanded evict_requested w-1 a\n"
                        "=> 120s delete_pod w-1 a\n"
                        "123s pod-gone w-1 uid=a\n"
                        "124s pod w-1 uid=b\n"
                        "128s quiet\n"
                        "=> nothing\n"
                        "129s outcome w-1 " +
                        std::string(outcome) +
                        "\n"
                        "300s quiet\n"
                        "=> 129s resolved evict_requested w-1 a: " +
                        (done ? "done\n"
                              // Refused is refused; that nothing more will come of it is told, too.
                              : "refused\n"
                                "=> 129s resolved evict_requested w-1 a: retracted\n")),
                  "")
            << outcome;
    }
}

// Symptom: what was asked for while an ending was under way deleted the pod that came in its place.
TEST(NamedRequest, ThatJoinedAnEndingIsOverWithIt) {
    EXPECT_EQ(flaws("112s row w-1 pk=1 state=UP owner=ann restarted_at=-58m\n"
                    "136s quiet\n"
                    "=> 132s commanded worn_out w-1 public.rows/1\n"
                    "=> 132s delete_pod w-1 a\n"
                    "137s outcome w-1 done\n"
                    "138s request stop w-1 by=ann\n"
                    "139s pod-gone w-1 uid=a\n"
                    "141s pod w-1 uid=b\n"
                    "142s row w-1 pk=1 state=UP owner=ann restarted_at=140s\n"
                    "143s outcome w-1 refused\n"
                    "300s quiet\n"
                    "=> 137s confirmed worn_out w-1 public.rows/1: next_step\n"
                    "=> 137s commanded worn_out w-1 public.rows/1\n"
                    "=> 137s update_row w-1 public.rows/1 set state=DOWN\n"
                    "=> 143s confirmed worn_out w-1 public.rows/1: refused\n"
                    "=> 143s resolved worn_out w-1 public.rows/1: superseded\n"),
              "");
}

TEST(NamedRequest, OfOneOwnerDoesNotPushOutThatOfAnother) {
    EXPECT_EQ(flaws("112s row w-1 pk=1 state=UP owner=bob\n"
                    "112s row w-1 pk=2 state=DOWN owner=ann\n"
                    "119s hold w-1\n"
                    "120s request restart w-1 by=bob\n"
                    "121s request restart w-1 by=ann refused\n"
                    "122s quiet\n"
                    "=> 120s suspected restart_requested w-1 public.rows/1: awaiting_progress\n"
                    "=> 122s confirmed restart_requested w-1 public.rows/1: hold\n"),
              "");
}

TEST(NamedRequest, IsUnderWayOnceItsCommandIs) {
    EXPECT_EQ(flaws("120s request restart w-1 by=ann\n"
                    "121s request restart w-1 by=ann\n" +
                    std::string(kRestarts).substr(std::string(kRestarts).find('\n') + 1)),
              "");
}

TEST(NamedRequest, OfSomethingElseIsRefusedWhileTheSubjectIsBeingEnded) {
    EXPECT_EQ(flaws(std::string(kStops) +
                    "226s outcome w-1 done\n"
                    "227s request restart w-1 by=ann refused\n"
                    "227s request stop w-1 by=ann\n"
                    "228s quiet\n"
                    "=> 226s confirmed stop_requested w-1 public.rows/1: next_step\n"
                    "=> 226s commanded stop_requested w-1 public.rows/1\n"
                    "=> 226s update_row w-1 public.rows/1 set state=DOWN\n"),
              "");
}

}  // namespace
}  // namespace trueup::stories
