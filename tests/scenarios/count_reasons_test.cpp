// Proves that what waits for a count is named, told of and approved by that count's own reason.
#include "tests/scenarios/story_of.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::stories {
namespace {

constexpr const char* kFleet = R"(
policy: fleet
language: 1
roles:
  pods: {kind: pod, key: name, fields: {phase: text}}
  rows:
    kind: row
    key: pod
    live: {state: [UP, WORN]}
    fields: {state: [UP, WORN, DOWN], pod: text, site: text}
counts:
  nameless_rows: {subjects: {rows: {some: {pod: null}}}}
  closed_sites: {subjects: {rows: {some: {site: closed}}}, reason: site_closed}
rules:
  orphan:
    finds: pod without a row
    when: {pods: one, rows: none}
    since: first_seen
    grace: 30s
    ask_while: [nameless_rows, closed_sites]
    do: {delete: pods}
  worn:
    finds: row is worn out
    when: {rows: {one: {state: WORN}}}
    ask_while: closed_sites
    acknowledge: [deletes_all]
    do: {update: rows, set: {state: DOWN}}
)";

std::string flaws(const std::string& story) {
    return flaws_of("0s known all\n100s quiet\n" + story, kFleet);
}

constexpr const char* kBoth =
    "100s pod w-1 uid=a\n"
    "100s row - pk=1 state=UP\n"
    "100s row w-2 pk=2 state=WORN site=closed\n"
    "200s quiet\n"
    "=> 100s suspected orphan w-1 a: grace\n"
    "=> 100s confirmed worn w-2 public.rows/2: site_closed\n"
    "=> 130s suspected orphan w-1 a: awaiting_progress\n"
    "=> 135s confirmed orphan w-1 a: nameless_rows\n";

TEST(CountReason, IsThatOfTheFirstCountThatIsNotNothing) { EXPECT_EQ(flaws(kBoth), ""); }

TEST(CountReason, ApprovesWhatWaitsForItAndNothingElse) {
    EXPECT_EQ(flaws(std::string(kBoth) + "201s approve all reason=site_closed\n"
                                         "210s quiet\n"
                                         "=> 201s commanded worn w-2 public.rows/2\n"
                                         "=> 201s update_row w-2 public.rows/2 set state=DOWN\n"),
              "");
    EXPECT_EQ(flaws(std::string(kBoth) + "201s approve all reason=nameless_rows\n"
                                         "210s quiet\n"
                                         "=> 201s commanded orphan w-1 a\n"
                                         "=> 201s delete_pod w-1 a\n"),
              "");
}

TEST(CountReason, OfAnotherPolicyIsRefusedWithTheWordsOfThisOne) {
    const std::string said =
        flaws(std::string(kBoth) + "201s approve all reason=uncorrelated_rows\n=> nothing\n");
    EXPECT_NE(said.find("nothing waits for an approval with the reason 'uncorrelated_rows'; write "
                        "approval, not_enabled, recurring, nameless_rows or site_closed"),
              std::string::npos)
        << said;
}

TEST(CountReason, IsTheLaterOneOnceTheFirstCountIsNothing) {
    EXPECT_EQ(flaws(std::string(kBoth) + "201s row-gone - pk=1\n"
                                         "206s quiet\n"
                                         "=> 201s confirmed orphan w-1 a: site_closed\n"
                                         "207s approve all reason=nameless_rows\n"
                                         "210s quiet\n"
                                         "=> nothing\n"
                                         "211s approve all reason=site_closed rule=orphan\n"
                                         "215s quiet\n"
                                         "=> 211s commanded orphan w-1 a\n"
                                         "=> 211s delete_pod w-1 a\n"),
              "");
}

}  // namespace
}  // namespace trueup::stories
