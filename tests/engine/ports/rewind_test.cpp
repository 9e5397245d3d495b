// Proves engine/ports/rewind.h: no epoch that is cut, and none that is not published, uses the word
// up.
#include "engine/ports/rewind.h"

#include <gtest/gtest.h>

namespace trueup::ports {
namespace {

using Kind = Fact::Kind;

/// Hands out these facts in one step; what their begins say, in order.
std::vector<bool> said(Rewind& rewind, const std::vector<Kind>& kinds) {
    std::vector<Fact> facts(1);  // of a step before: not to be touched
    facts.front().kind = Kind::kSnapshotBegin;
    for (const Kind kind : kinds) facts.emplace_back().kind = kind;
    rewind.tell(facts, 1);
    EXPECT_FALSE(facts.front().rewound);
    std::vector<bool> words;
    for (std::size_t i = 1; i < facts.size(); ++i) {
        if (facts[i].kind == Kind::kSnapshotBegin) words.push_back(facts[i].rewound);
    }
    return words;
}

const std::vector<bool> kSaid{true};
const std::vector<bool> kNotSaid{false};

TEST(Rewind, IsSaidUntilAnEpochThatSaidItIsPublished) {
    Rewind rewind;
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin, Kind::kSnapshotEnd, Kind::kMarker}), kNotSaid);
    rewind.happened();
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin}), kSaid);
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin}), kSaid) << "the one before was cut";
    EXPECT_EQ(said(rewind, {Kind::kSnapshotEnd, Kind::kMarker}), std::vector<bool>{});
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin}), kSaid) << "the log has not answered";
    rewind.marker_appended();
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin}), kNotSaid);
}

TEST(Rewind, AMarkerFromBeforeTheEndSaysNothingOfIt) {
    Rewind rewind;
    rewind.happened();
    EXPECT_EQ(said(rewind, {Kind::kMarker, Kind::kSnapshotBegin, Kind::kSnapshotEnd}), kSaid);
    rewind.marker_appended();
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin}), kSaid);
}

TEST(Rewind, WhatTheLogLostIsSaidAgainByTheNextIncarnation) {
    Rewind rewind;
    rewind.happened();
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin, Kind::kSnapshotEnd, Kind::kMarker}), kSaid);
    rewind.restart();
    rewind.marker_appended();
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin}), kSaid);
}

TEST(Rewind, AnEpochFromBeforeItDoesNotUseItUp) {
    Rewind rewind;
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin}), kNotSaid);
    rewind.happened();
    EXPECT_EQ(said(rewind, {Kind::kSnapshotEnd, Kind::kMarker}), std::vector<bool>{});
    rewind.marker_appended();
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin}), kSaid);
}

TEST(Rewind, ASecondOneIsSaidAnew) {
    Rewind rewind;
    rewind.happened();
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin, Kind::kSnapshotEnd, Kind::kMarker}), kSaid);
    rewind.happened();
    rewind.marker_appended();
    EXPECT_EQ(said(rewind, {Kind::kSnapshotBegin}), kSaid);
}

}  // namespace
}  // namespace trueup::ports
