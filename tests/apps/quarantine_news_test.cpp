// Proves apps/quarantine_news.h, and the sentences of api/source_view.h about quarantines: each
// names the source, the figure and the command that ends it, wherever it is said.
#include "apps/quarantine_news.h"

#include "api/snapshot.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trueup::apps {
namespace {

using api::Quarantine;
using api::sentence_of;

const std::string kEnd = "; if the world is like that, `trueup unquarantine pods -c …` says so";

api::SourceView pods(Quarantine kind) {
    api::SourceView view;
    view.name = "pods";
    view.known = view.fresh = view.answering = true;
    view.quarantine = {kind, 120, 0, 0};
    return view;
}

TEST(Quarantine, EachKindNamesTheSourceTheFigureAndTheCommand) {
    EXPECT_EQ(sentence_of("pods", {}), "");
    EXPECT_EQ(sentence_of("pods", {Quarantine::kDrop, 120, 0, 0}),
              "source pods lost suspiciously many objects at once, of 120 objects: nothing "
              "destructive is done because of it until it lists them again" +
                  kEnd);
    EXPECT_EQ(sentence_of("pods", {Quarantine::kEmpty, 0, 1, 0}),
              "source pods has shown 0 objects, but at least 1 are expected (expect.at_least): "
              "nothing destructive is done because of it until it shows that many" +
                  kEnd);
    EXPECT_EQ(sentence_of("pods", {Quarantine::kWrong, 31, 0, 40}),
              "source pods would make 31 of 40 subjects wrong with its first list: nothing "
              "destructive is done because of it" +
                  kEnd);
    EXPECT_EQ(sentence_of("pods", {Quarantine::kRewound, 120, 0, 0}),
              "source pods went back in time, from 120 objects: nothing destructive is done "
              "because of it" +
                  kEnd);
}

// /readyz said that a source had lost much, and neither how much nor what to do about it.
TEST(Quarantine, IsWhyTheEngineIsNotReady) {
    api::Snapshot snapshot;
    snapshot.caught_up = true;
    snapshot.sources = {pods(Quarantine::kNone)};
    EXPECT_EQ(snapshot.not_ready(), "");
    snapshot.sources = {pods(Quarantine::kDrop)};
    EXPECT_EQ(snapshot.not_ready(), sentence_of("pods", {Quarantine::kDrop, 120, 0, 0}));
}

TEST(QuarantineNews, EachIsToldOnceWhenItComesAndWhenItGoes) {
    QuarantineNews news;
    EXPECT_TRUE(news.look({pods(Quarantine::kNone)}).empty());
    const auto begun = news.look({pods(Quarantine::kDrop)});
    ASSERT_EQ(begun.size(), 1U);
    EXPECT_TRUE(begun[0].wrong);
    EXPECT_EQ(begun[0].sentence, sentence_of("pods", {Quarantine::kDrop, 120, 0, 0}));
    EXPECT_TRUE(news.look({pods(Quarantine::kDrop)}).empty());
    const auto over = news.look({pods(Quarantine::kNone)});
    ASSERT_EQ(over.size(), 1U);
    EXPECT_FALSE(over[0].wrong);
    EXPECT_EQ(over[0].sentence, "source pods is believed again");
}

}  // namespace
}  // namespace trueup::apps
