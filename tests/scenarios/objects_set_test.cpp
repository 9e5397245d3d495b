// Proves docs/adr/0050 in the fold: what is set in an object, where, and what it waits for.
#include "tests/scenarios/story_of.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::stories {
namespace {

constexpr const char* kLab = R"(
policy: lab
language: 1
roles:
  pods: {kind: pod, key: name, fields: {phase: text}}
  boxes:
    kind: object
    key: name
    fields: {off: {boolean: spec.off}, note: {text: annotation.lab.example/note}, told: {words: [busy, paused], text: status.told}}
  rows:
    kind: row
    key: box
    live: {state: [UP, PAUSED]}
    fields: {state: [UP, PAUSED, DOWN], box: text}
rules:
  running:
    finds: row is paused, its box is not
    when: {rows: {one: {state: PAUSED}}, boxes: {one: {off: {not: true}}}}
    do: {update: boxes, set: {off: true, note: "of {rows.box}"}}
  untold:
    finds: box is off, and its status does not say so
    when: {rows: {one: {state: PAUSED}}, boxes: {one: {off: true, told: {not: paused}}}}
    do: {update: boxes, subresource: status, set: {told: paused}}
  failed:
    finds: pod has failed, its box is told
    when: {pods: {one: {phase: Failed}}, boxes: one}
    do: [{delete: pods}, {update: boxes, set: {note: failed}}]
)";

/// Whatever the other rows of the name are.
constexpr const char* kSome = R"(
policy: lab
language: 1
roles:
  boxes: {kind: object, key: name, fields: {note: {text: annotation.lab.example/note}}}
  rows:
    kind: row
    key: box
    live: {state: [UP, PAUSED]}
    fields: {state: [UP, PAUSED, DOWN], box: text}
rules:
  paused_note:
    finds: some row is paused, and its box has no note
    acknowledge: [some_hides, open_words]
    when: {rows: {some: {state: PAUSED}}, boxes: {one: {note: null}}}
    do: {update: boxes, set: {note: paused}}
)";

std::string flaws(const std::string& story) {
    return flaws_of("0s known all\n100s quiet\n" + story, kLab);
}

TEST(ObjectsSet, ByTheirPlacesAndOfThatVersion) {
    EXPECT_EQ(flaws("100s row w-1 pk=1 state=PAUSED\n"
                    "100s boxes w-1 id=b\n"
                    "110s quiet\n"
                    "=> 100s suspected running w-1 b: awaiting_progress\n"
                    "=> 105s commanded running w-1 b\n"
                    "=> 105s update_object w-1 b set annotation.lab.example/note=of,w-1 "
                    "spec.off=true\n"
                    "111s outcome w-1 done\n"
                    "112s boxes w-1 id=b off=true note=of,w-1\n"
                    "120s quiet\n"
                    "=> 111s resolved running w-1 b: done\n"
                    "=> 117s commanded untold w-1 b\n"
                    "=> 117s update_status w-1 b set status.told=paused\n"),
              "");
}

// Symptom (had it been taken): a second row needed the box that the first one wanted off.
TEST(ObjectsSet, NotBesideAnotherRowThatMayBeLive) {
    const auto beside = [](const std::string& state, const std::string& news) {
        return flaws_of(
            "0s known all\n100s quiet\n"
            "100s row w-1 pk=1 state=PAUSED\n"
            "100s row w-1 pk=2 state=" +
                state +
                "\n100s boxes w-1 id=b\n"
                "109s quiet\n=> " +
                news,
            kSome);
    };
    EXPECT_EQ(beside("UP", "nothing\n"), "");
    EXPECT_EQ(beside("unsent", "nothing\n"), "");
    EXPECT_EQ(beside("DOWN",
                     "100s suspected paused_note w-1 b: awaiting_progress\n"
                     "=> 105s commanded paused_note w-1 b\n"
                     "=> 105s update_object w-1 b set annotation.lab.example/note=paused\n"),
              "");
}

TEST(ObjectsSet, AtTheEndOfAList) {
    const std::string begun =
        "100s pod w-1 uid=a phase=Failed\n"
        "100s boxes w-1 id=b\n"
        "140s quiet\n"
        "=> 100s suspected failed w-1 b: grace\n"
        "=> 130s commanded failed w-1 b\n"
        "=> 130s delete_pod w-1 a\n"
        "=> 140s delete_pod w-1 a again 2\n"
        "141s outcome w-1 done\n"
        "142s pod-gone w-1 uid=a\n";
    const std::string ordered =
        "=> 141s confirmed failed w-1 b: next_step\n"
        "=> 141s commanded failed w-1 b\n"
        "=> 141s update_object w-1 b set annotation.lab.example/note=failed\n";
    EXPECT_EQ(flaws(begun + "150s quiet\n" + ordered +
                    "151s outcome w-1 done\n"
                    "=> 151s resolved failed w-1 b: done\n"),
              "");
    // Symptom (had it been taken): an executor refused what is out of scope, again and again.
    EXPECT_EQ(flaws(begun + "143s boxes w-1 id=b out-of-scope\n" + ordered +
                    "144s outcome w-1 refused\n"
                    "300s quiet\n"
                    "=> 144s confirmed failed w-1 b: refused\n"
                    "=> 149s resolved failed w-1 b: done\n"),
              "");
}

}  // namespace
}  // namespace trueup::stories
