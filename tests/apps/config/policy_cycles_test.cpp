// Proves apps/config/policy_cycles.h for values that steps make: a rule is refused that would find
// again what it wrote, whatever the text is made of, and no other is.
#include "apps/config/policy_cycles.h"

#include "apps/config/policy_file.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace trueup::config {
namespace {

/// Is a policy refused that has nothing but this rule?
bool goes_round(const std::string& when, const std::string& what) {
    const std::string text = R"(policy: p
language: 1
subject: x
roles:
  boxes:
    kind: object
    key: name
    fields: {plan: {text: spec.plan}, note: {text: spec.note}, phase: {words: [a, b], text: status.phase}}
  rows:
    kind: row
    key: pod_name
    live: {status: [active, draining]}
    fields: {status: [active, draining, dead], pod_name: text, note: text, wanted: text, best: text,
             host: [h1, h2, h3], flag: boolean, error: text}
rules:
  r:
    finds: x
    acknowledge: [open_words, deletes_all, some_hides]
    when: )" + when +
                             "\n    do: " + what + '\n';
    const auto file = parse_policy(text, "p.yaml");
    if (file) return false;
    const bool said = file.error().what.find("matches the same object again") != std::string::npos;
    EXPECT_TRUE(said) << file.error().what << '\n' << text;
    return said;
}

using Rule = std::pair<std::string, std::string>;

TEST(PolicyCycles, OfATextThatIsNeverWhatWasAskedFor) {
    const std::string boxes = "boxes: {one: {note: {not: [odd]}}}}";
    const std::string any = "{rows: one, " + boxes;
    const std::vector<Rule> rules{
        {any, "{update: boxes, set: {note: 'seen by {subject}'}}"},
        {any, "{update: boxes, set: {note: '{subject}'}}"},
        {any, "{update: boxes, set: {note: '{rows.note}'}}"},
        {any, "{update: boxes, set: {note: '{rows.status}'}}"},
        {any, "{update: boxes, set: {note: '{boxes.phase}'}}"},
        {any, "{update: boxes, set: {note: '{rows.flag}'}}"},
        {any, "{update: boxes, set: {note: 'o{rows.status}'}}"},
        {"{rows: {one: {host: [h2, h3]}}, " + boxes, "{update: boxes, set: {note: '{rows.host}'}}"},
        {"{rows: {one: {status: active}}, " + boxes,
         "{update: boxes, set: {note: '{rows.status}{subject}'}}"},
    };
    for (const auto& [when, what] : rules) EXPECT_TRUE(goes_round(when, what)) << when << what;
}

/// The same of a rule with several cases.
bool goes_round(const std::vector<Rule>& cases) {
    std::string text = R"(policy: p
language: 1
subject: x
roles:
  pods: {kind: pod, key: name}
  rows: {kind: row, key: pod_name, fields: {status: [active, dead], pod_name: text, seen: timestamp, node: text}}
  nodes: {kind: object, key: name, reference: true, fields: {ready: {boolean: status.ready}}}
rules:
  r:
    finds: x
    grace: 60s
    acknowledge: [deletes_all]
    cases:
)";
    for (const auto& [when, what] : cases) {
        text += "      - {when: " + when + ", do: " + what + "}\n";
    }
    const auto file = parse_policy(text, "p.yaml");
    if (file) return false;
    EXPECT_NE(file.error().what.find("matches the same object again"), std::string::npos)
        << file.error().what << '\n'
        << text;
    return true;
}

// A rule wrote a row again and again: beside a pod of which only the case before it says something,
// and where that case was about nothing that is there, which finds nothing.
TEST(PolicyCycles, ACaseBeforeStandsInTheWayOnlyWhereItFindsSomething) {
    const std::string mark = "{update: rows, set: {status: dead}}";
    const std::string gone = "{pods: {none: {deleting: false}}}";
    EXPECT_TRUE(goes_round({{gone, "report"}, {"{rows: one}", mark}}));
    EXPECT_TRUE(goes_round({{"{pods: one}", "report"}, {"{rows: one}", mark}}));
    EXPECT_TRUE(goes_round({{"{pods: none}", "report"}, {"{rows: one, pods: none}", mark}}));
    EXPECT_FALSE(goes_round({{"{rows: {one: {status: dead}}}", "report"}, {"{rows: one}", mark}}));
    EXPECT_TRUE(goes_round(
        {{"{rows: {surplus: {}, keep: [{latest: seen}]}}", "report"}, {"{rows: one}", mark}}))
        << "one row alone is no surplus";
    const std::string node = ", nodes: {one: {ready: true}, named: rows.node}}";
    EXPECT_TRUE(
        goes_round({{"{rows: {one: {status: dead}}" + node, "report"}, {"{rows: one}", mark}}))
        << "its node may not be ready";
    EXPECT_FALSE(goes_round({{"{rows: {one: {status: dead}}" + node, "report"},
                             {"{rows: {one: {status: [active, dead]}}" + node, mark}}))
        << "both want the same of it";
    EXPECT_TRUE(goes_round({{"{rows: {one: {status: dead}}}", "{delete: pods}"},
                            {"{rows: {one: {status: [active, dead]}}}", mark}}))
        << "a pod that is not there is deleted at once";
    EXPECT_FALSE(goes_round({{"{rows: {one: {status: dead}}, pods: one}", "{delete: pods}"},
                             {"{rows: {one: {status: [active, dead]}}, pods: one}", mark}}));
}

TEST(PolicyCycles, NotOfATextThatIsWhatWasAskedFor) {
    const std::vector<Rule> rules{
        {"{boxes: {one: {name: {starts: 'w-'}, note: {not: {starts: 'w-'}}}}, rows: one}",
         "{update: boxes, set: {note: '{subject}'}}"},
        {"{boxes: {one: {note: {not: {starts: 'box-'}}}}, rows: one}",
         "{update: boxes, set: {note: '{subject}'}}"},
        {"{rows: {one: {pod_name: special}}, boxes: {one: {plan: {not: [special]}}}}",
         "{update: boxes, set: {plan: '{subject}'}}"},
        {"{rows: {one: {wanted: {same_as: rows.best}, best: gold}}, boxes: {one: {plan: {not: "
         "[gold]}}}}",
         "{update: boxes, set: {plan: '{rows.wanted}'}}"},
        {"{boxes: {one: {plan: {not: {same_as: rows.note}}}}, rows: one}",
         "{update: boxes, set: {plan: '{rows.note}'}}"},
        {"{rows: {one: {status: active}}, boxes: {one: {note: {not: [active]}}}}",
         "{update: boxes, set: {note: '{rows.status}'}}"},
        {"{rows: {one: {note: odd}}, boxes: {one: {plan: {not: [odd]}}}}",
         "{update: boxes, set: {plan: '{rows.note}'}}"},
    };
    for (const auto& [when, what] : rules) EXPECT_FALSE(goes_round(when, what)) << when << what;
}

// Symptom: `policy check` took gigabytes for a text that is made of itself, and came to no end.
TEST(PolicyCycles, ATextThatGrowsIsFollowedOnce) {
    EXPECT_TRUE(goes_round("{rows: {one: {note: {starts: 'a'}}}, boxes: none}",
                           "{update: rows, set: {note: 'a{rows.note}x'}}"));
    EXPECT_FALSE(goes_round("{rows: {one: {note: {like: '*x*'}}}, boxes: none}",
                            "{update: rows, set: {note: 'a{rows.note}{rows.note}'}}"))
        << "it may be so; but it ends";
    EXPECT_TRUE(
        goes_round("{rows: {one: {wanted: {not: [q]}, best: {not: [q]}}}, boxes: none}",
                   "{update: rows, set: {wanted: '{rows.best}x', best: '{rows.wanted}y'}}"));
}

// Symptom: `policy check` of a rule that sets '' ended with a segmentation fault.
TEST(PolicyCycles, AnEmptyTextInARowIsNull) {
    EXPECT_FALSE(goes_round("{rows: {one: {status: active, error: {not: [fatal]}}}, boxes: none}",
                            "{update: rows, set: {status: dead, error: ''}}"));
    EXPECT_FALSE(goes_round("{rows: {one: {error: {not: [fatal]}}}, boxes: none}",
                            "{update: rows, set: {error: ''}}"));
    EXPECT_TRUE(goes_round("{rows: {one: {error: null}}, boxes: none}",
                           "{update: rows, set: {error: ''}}"));
}

}  // namespace
}  // namespace trueup::config
