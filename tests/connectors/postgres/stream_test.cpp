// Proves connectors/postgres/stream.h and rows.h: what each kind of change becomes (S16, S17).
#include "connectors/postgres/stream.h"

#include "engine/model/object.h"
#include "tests/support/pgoutput_bytes.h"

#include <gtest/gtest.h>

namespace trueup::connectors::postgres {
namespace {

using namespace test_support;
using Kind = Fact::Kind;

Settings instances(std::string_view correlate = "coalesce(pod_name, 'wrapper-' || url_slug)") {
    return {.table = {"public", "instances"},
            .slot = "trueup",
            .publication = "trueup",
            .columns = {"pod_name", "status", "url_slug"},
            .correlate = *Correlation::parse(correlate),
            .source_name = "rows"};
}

const std::vector<PgColumn> kColumns = {{"id", true}, {"url_slug"}, {"pod_name"}, {"status"}};

PgTuple row(const std::string& id, const std::string& slug, const std::string& status) {
    return {pg_text(id), pg_text(slug), pg_null(), pg_text(status)};
}

class Feed {
  public:
    explicit Feed(Settings settings = instances(), std::vector<std::string> pk = {"id"})
        : settings_(std::move(settings)), stream(settings_) {
        stream.reconnect(std::move(pk));
    }
    bool take(const std::string& bytes) {
        const auto payload = decode_payload(bytes);
        if (!payload) return false;
        const Result<StreamNote> taken = stream.take(*payload, facts);
        if (taken) note = *taken;
        return taken.ok();
    }
    void describe(char identity = 'f', const std::vector<PgColumn>& columns = kColumns) {
        ASSERT_TRUE(take(pg_relation(9, "public", "instances", identity, columns)));
    }
    void begin(Lsn lsn = 0x500, char identity = 'f') {
        ASSERT_TRUE(take(pg_begin(lsn)));
        describe(identity);
    }

  private:
    Settings settings_;

  public:
    Stream stream;
    std::vector<Fact> facts;
    StreamNote note;
};

TEST(PostgresStream, AnInsertIsAnUpsertOfTheMappedColumns) {
    Feed feed;
    feed.begin(0x100000500);
    ASSERT_TRUE(feed.take(pg_insert(9, row("4", "ab", "running"))));
    ASSERT_TRUE(feed.take(pg_commit(0x100000500, 0x100000530)));
    ASSERT_EQ(feed.facts.size(), 2U);
    const Fact& fact = feed.facts[0];
    EXPECT_EQ(fact.kind, Kind::kUpsert);
    EXPECT_EQ(fact.object_id, "public.instances/4");
    EXPECT_EQ(fact.subject_key, "graph-instances/wrapper-ab");
    EXPECT_EQ(fact.event_id, "1/500:1");
    EXPECT_EQ(fact.version, (Version{0x100000500, 1}));
    EXPECT_FALSE(fact.in_epoch);
    EXPECT_EQ(to_millis(fact.source_time), 946684800000);
    std::string fields;
    ObjectView(fact.object).each([&](const Field& field) {
        fields += std::string(field.name) + "=" + std::string(field.value.value_or("null")) + ";";
    });
    EXPECT_EQ(fields, "pod_name=null;status=running;url_slug=ab;");
    EXPECT_EQ(feed.facts[1].kind, Kind::kConfirm);
    EXPECT_EQ(feed.facts[1].confirm, 0x100000530U);
    EXPECT_EQ(feed.note.commit_end, 0x100000530U);
}

TEST(PostgresStream, AnUnchangedValueIsTakenFromTheOldRow_S16) {
    Feed feed;
    feed.begin();
    const PgTuple now = {pg_text("4"), pg_unchanged(), pg_null(), pg_text("failed")};
    ASSERT_TRUE(feed.take(pg_update(9, 'O', row("4", "ab", "running"), now)));
    ASSERT_EQ(feed.facts.size(), 1U);
    EXPECT_EQ(feed.facts[0].subject_key, "graph-instances/wrapper-ab");
    EXPECT_TRUE(ObjectView(feed.facts[0].object).is("url_slug", "ab"));
}

TEST(PostgresStream, AnUnchangedValueIsNeverNull_S16) {
    Feed feed(instances("id"));
    feed.begin(0x500, 'd');
    const PgTuple now = {pg_text("4"), pg_unchanged(), pg_null(), pg_text("failed")};
    ASSERT_TRUE(feed.take(pg_update(9, 0, {}, now)));
    ASSERT_EQ(feed.facts.size(), 1U);
    const auto slug = ObjectView(feed.facts[0].object).find("url_slug");
    ASSERT_TRUE(slug.has_value());
    EXPECT_TRUE(slug->unchanged);
    EXPECT_EQ(feed.stream.hole(), 0U);
}

// Symptom (simulator, plan publication, seed 700019): a table was out of its publication while a
// row was deleted. After a restart the copy did not list the row, the stream, which came behind it,
// told how it had been before, and progress was proven over a row that was not there.
TEST(PostgresStream, OfWhatWasBeforeACopyTheCopyHasTheLastWord_S11) {
    Feed feed;
    EXPECT_TRUE(feed.stream.covered_by(0x501));
    feed.begin(0x500);
    ASSERT_TRUE(feed.take(pg_insert(9, row("4", "ab", "running"))));
    EXPECT_TRUE(feed.facts.empty()) << "it is in the copy, or it is gone";
    ASSERT_TRUE(feed.take(pg_delete(9, 'O', row("5", "ab", "running"))));
    EXPECT_EQ(feed.facts.size(), 1U) << "that a row is gone is never wrong";
    ASSERT_TRUE(feed.take(pg_commit(0x500, 0x510)));
    feed.facts.clear();
    feed.begin(0x501);
    ASSERT_TRUE(feed.take(pg_insert(9, row("4", "ab", "running"))));
    ASSERT_EQ(feed.facts.size(), 1U) << "committed behind the copy's snapshot";
    EXPECT_EQ(feed.facts[0].version, (Version{0x501, 1}));
}

TEST(PostgresStream, AnUnknownNameIsAHoleNotADrop_S16) {
    Feed feed;
    feed.begin(0x500, 'd');  // FULL was taken away under our feet.
    EXPECT_NE(feed.stream.trouble().find("REPLICA IDENTITY FULL"), std::string::npos);
    const PgTuple key = {pg_text("4"), pg_null(), pg_null(), pg_null()};
    ASSERT_TRUE(feed.take(pg_delete(9, 'K', key)));
    EXPECT_TRUE(feed.facts.empty()) << "the nulls of a key tuple are not values";
    EXPECT_EQ(feed.stream.hole(), 0x500U);
    EXPECT_FALSE(feed.stream.covered_by(0x500));
    EXPECT_TRUE(feed.stream.covered_by(0x501));
    EXPECT_EQ(feed.stream.hole(), 0U);
}

// Symptom: a partition with replica identity DEFAULT under a root with FULL sends "full" old rows
// that hold only the key; the removal went to a subject of a row that claims nothing.
TEST(PostgresStream, AnOldRowOfAPartitionThatHoldsOnlyItsKeyIsAHole_S16) {
    Feed feed;
    feed.stream.reconnect({"id"}, true);
    feed.begin();
    const PgTuple key = {pg_text("4"), pg_null(), pg_null(), pg_null()};
    ASSERT_TRUE(feed.take(pg_delete(9, 'O', key)));
    EXPECT_TRUE(feed.facts.empty()) << "its nulls are not values";
    EXPECT_EQ(feed.stream.hole(), 0x500U);
    EXPECT_TRUE(feed.note.doubtful);
    EXPECT_TRUE(feed.stream.covered_by(0x501));
    ASSERT_TRUE(feed.take(pg_delete(9, 'O', row("5", "ab", "running"))));
    EXPECT_EQ(feed.facts.size(), 1U) << "a whole one of another partition is taken";
    EXPECT_EQ(feed.stream.hole(), 0U);
}

TEST(PostgresStream, AnUpdateWithoutItsOldRowUnderFullIsAHole_S16) {
    Feed feed;
    feed.begin();
    ASSERT_TRUE(feed.take(pg_update(9, 0, {}, row("4", "moved", "running"))));
    ASSERT_EQ(feed.facts.size(), 1U);
    EXPECT_EQ(feed.facts[0].subject_key, "graph-instances/wrapper-moved");
    EXPECT_EQ(feed.stream.hole(), 0x500U) << "which name it claimed before is not to be known";
}

TEST(PostgresStream, WhereTheKeyIsTheNameAPartitionsKeyIsEnough) {
    Feed feed(instances("id"));
    feed.stream.reconnect({"id"}, true);
    feed.begin();
    ASSERT_TRUE(feed.take(pg_update(9, 0, {}, row("4", "ab", "failed"))));
    ASSERT_TRUE(feed.take(pg_delete(9, 'O', {pg_text("4"), pg_null(), pg_null(), pg_null()})));
    ASSERT_EQ(feed.facts.size(), 2U);
    EXPECT_EQ(feed.facts[1].subject_key, "graph-instances/4");
    EXPECT_EQ(feed.stream.hole(), 0U);
}

// The partition says its own identity right after the root: an index may hold more than the key.
TEST(PostgresStream, APartitionsOwnDescriptionTellsThatItSendsLess_S16) {
    Feed feed;
    feed.stream.reconnect({"id"}, true);
    feed.begin();
    ASSERT_TRUE(feed.take(pg_relation(10, "public", "instances_1", 'i', kColumns)));
    EXPECT_EQ(feed.stream.hole(), 0x500U);
    const PgTuple indexed = {pg_text("4"), pg_text("ab"), pg_null(), pg_null()};
    ASSERT_TRUE(feed.take(pg_delete(9, 'O', indexed)));
    EXPECT_TRUE(feed.facts.empty()) << "whether it had a pod_name is not known";
    feed.describe();
    ASSERT_TRUE(feed.take(pg_relation(10, "public", "instances_1", 'f', kColumns)));
    ASSERT_TRUE(feed.take(pg_delete(9, 'O', row("5", "ab", "running"))));
    EXPECT_EQ(feed.facts.size(), 1U);
}

// A column of a type of the table's own hid that a partition sends less than its root: what it left
// out was taken for null.
TEST(PostgresStream, ATypeBetweenThemDoesNotHideAPartition_S16) {
    Feed feed;
    feed.stream.reconnect({"id"}, true);
    feed.begin();
    feed.describe();
    ASSERT_TRUE(feed.take(pg_type(77, "public", "instance_status")));
    ASSERT_TRUE(feed.take(pg_relation(10, "public", "instances_1", 'i', kColumns)));
    const PgTuple indexed = {pg_text("4"), pg_text("ab"), pg_null(), pg_null()};
    ASSERT_TRUE(feed.take(pg_delete(9, 'O', indexed)));
    EXPECT_TRUE(feed.facts.empty()) << "whether it had a pod_name is not known";
    feed.stream.replace_pk({"id"}, true);
    ASSERT_TRUE(feed.take(pg_delete(9, 'O', row("5", "ab", "running"))));
    EXPECT_EQ(feed.facts.size(), 1U) << "that partition is gone, and the others suffice";
}

TEST(PostgresStream, AValueThatAPartitionLeftOutIsNeverNull_S16) {
    Feed feed;
    feed.stream.reconnect({"id"}, true);
    feed.begin();
    const PgTuple key = {pg_text("4"), pg_null(), pg_text("p"), pg_null()};
    const PgTuple now = {pg_text("4"), pg_unchanged(), pg_text("p"), pg_text("failed")};
    ASSERT_TRUE(feed.take(pg_update(9, 'O', key, now)));
    ASSERT_EQ(feed.facts.size(), 1U);
    const auto slug = ObjectView(feed.facts[0].object).find("url_slug");
    ASSERT_TRUE(slug.has_value());
    EXPECT_TRUE(slug->unchanged);
}

TEST(PostgresStream, ADeleteWithItsKeyOnlyIsARemove_S16) {
    Feed feed(instances("id"));
    feed.begin(0x500, 'd');
    ASSERT_TRUE(feed.take(pg_delete(9, 'K', {pg_text("4"), pg_null(), pg_null(), pg_null()})));
    ASSERT_EQ(feed.facts.size(), 1U);
    EXPECT_EQ(feed.facts[0].kind, Kind::kRemove);
    EXPECT_EQ(feed.facts[0].object_id, "public.instances/4");
    EXPECT_EQ(feed.facts[0].subject_key, "graph-instances/4");
}

TEST(PostgresStream, AChangedPrimaryKeyIsADeleteAndAnInsert_S17) {
    Feed feed;
    feed.begin();
    ASSERT_TRUE(feed.take(pg_update(9, 'O', row("4", "ab", "running"), row("5", "ab", "running"))));
    ASSERT_EQ(feed.facts.size(), 2U);
    EXPECT_EQ(feed.facts[0].kind, Kind::kRemove);
    EXPECT_EQ(feed.facts[0].object_id, "public.instances/4");
    EXPECT_EQ(feed.facts[1].kind, Kind::kUpsert);
    EXPECT_EQ(feed.facts[1].object_id, "public.instances/5");
    EXPECT_NE(feed.facts[0].event_id, feed.facts[1].event_id);
}

TEST(PostgresStream, AKeyUsedAgainIsNewerThanItsDelete_S17) {
    Feed feed;
    feed.begin();
    ASSERT_TRUE(feed.take(pg_delete(9, 'O', row("4", "ab", "stopping"))));
    ASSERT_TRUE(feed.take(pg_insert(9, row("4", "cd", "starting"))));
    ASSERT_EQ(feed.facts.size(), 2U);
    EXPECT_EQ(feed.facts[0].kind, Kind::kRemove);
    EXPECT_EQ(feed.facts[0].subject_key, "graph-instances/wrapper-ab");
    EXPECT_EQ(feed.facts[1].subject_key, "graph-instances/wrapper-cd");
    EXPECT_LT(feed.facts[0].version, feed.facts[1].version);
}

TEST(PostgresStream, AMovedNameLeavesItsOldSubject) {
    Feed feed;
    feed.begin();
    PgTuple now = row("4", "ab", "running");
    now[2] = pg_text("wrapper-zz");
    ASSERT_TRUE(feed.take(pg_update(9, 'O', row("4", "ab", "running"), now)));
    ASSERT_EQ(feed.facts.size(), 2U);
    EXPECT_EQ(feed.facts[0].kind, Kind::kRemove);
    EXPECT_EQ(feed.facts[0].subject_key, "graph-instances/wrapper-ab");
    EXPECT_EQ(feed.facts[1].subject_key, "graph-instances/wrapper-zz");
    EXPECT_EQ(feed.facts[0].object_id, feed.facts[1].object_id);
    EXPECT_EQ(feed.facts[0].version, feed.facts[1].version);
}

TEST(PostgresStream, ATruncateIsAnEmptyEpoch_S16) {
    Feed feed;
    feed.begin();
    ASSERT_TRUE(feed.take(pg_insert(9, row("4", "ab", "running"))));
    ASSERT_TRUE(feed.take(pg_relation(8, "public", "others", 'd', {{"id", true}})));
    ASSERT_TRUE(feed.take(pg_truncate({8})));
    EXPECT_EQ(feed.facts.size(), 1U);
    ASSERT_TRUE(feed.take(pg_truncate({8, 9})));
    ASSERT_EQ(feed.facts.size(), 3U);
    EXPECT_EQ(feed.facts[1].kind, Kind::kSnapshotBegin);
    EXPECT_EQ(feed.facts[1].version, (Version{0x500, 2})) << "newer than the insert before it";
    EXPECT_EQ(feed.facts[2].kind, Kind::kSnapshotEnd);
    EXPECT_TRUE(feed.note.truncated);
}

TEST(PostgresStream, RowsWithoutAUsableNameAreReferences_G25) {
    Feed feed;
    feed.begin();
    ASSERT_TRUE(feed.take(pg_insert(9, {pg_text("1"), pg_null(), pg_null(), pg_null()})));
    ASSERT_TRUE(feed.take(pg_insert(9, {pg_text("2"), pg_null(), pg_text(""), pg_null()})));
    ASSERT_TRUE(feed.take(pg_insert(9, {pg_text("3"), pg_null(), pg_text("a/b"), pg_null()})));
    const std::string fits(253 - std::string("graph-instances/").size(), 'x');
    ASSERT_TRUE(feed.take(pg_insert(9, {pg_text("4"), pg_null(), pg_text(fits), pg_null()})));
    ASSERT_TRUE(feed.take(pg_insert(9, {pg_text("5"), pg_null(), pg_text(fits + "x"), pg_null()})));
    ASSERT_EQ(feed.facts.size(), 5U);
    EXPECT_EQ(feed.facts[0].subject_key, "!rows/1");
    EXPECT_EQ(feed.facts[1].subject_key, "!rows/2");
    EXPECT_EQ(feed.facts[2].subject_key, "!rows/3");
    EXPECT_EQ(feed.facts[3].subject_key, "graph-instances/" + fits);
    EXPECT_EQ(feed.facts[4].subject_key, "!rows/5");
}

// A row that is looked up by its name stands under it; one without a usable one where no name is,
// whatever its primary key is spelled like.
TEST(PostgresStream, RowsThatAreLookedUpStandUnderTheirName) {
    Settings settings = instances("pod_name");
    settings.subject_prefix = "!rows/";
    Feed feed(settings);
    feed.begin();
    const auto insert = [&](const char* pk, test_support::PgValue name) {
        ASSERT_TRUE(feed.take(pg_insert(9, {pg_text(pk), pg_null(), std::move(name), pg_null()})));
    };
    insert("1", pg_text("jobs"));
    insert("jobs", pg_null());
    insert("3", pg_text(" jobs"));
    insert("4", pg_text("a/jobs"));
    insert("5", pg_text(std::string(253, 'x')));
    ASSERT_EQ(feed.facts.size(), 5U);
    EXPECT_EQ(feed.facts[0].subject_key, "!rows/jobs");
    EXPECT_EQ(feed.facts[1].subject_key, "!rows//jobs");
    EXPECT_EQ(feed.facts[2].subject_key, "!rows//3");
    EXPECT_EQ(feed.facts[3].subject_key, "!rows//4");
    EXPECT_EQ(feed.facts[4].subject_key, "!rows//5");
}

// Symptom: a live row with such a name was a subject of its own: the pod that it meant had no row,
// and was deleted.
TEST(PostgresStream, ANameThatNoPodCanHaveIsAReference_G25) {
    for (const std::string name :
         {" wrapper-a", "wrapper-a ", "\twrapper-a", "wrapper-a\n", "wrapper\v-a", "wrapper-a\x7f",
          "wrapper\x01-a", "graph/wrapper-a", "wrapper-a/"}) {
        Feed feed;
        feed.begin();
        ASSERT_TRUE(
            feed.take(pg_insert(9, {pg_text("1"), pg_text("a"), pg_text(name), pg_null()})));
        EXPECT_EQ(feed.facts.at(0).subject_key, "!rows/1") << name;
    }
}

// Symptom: the same with an empty pod_name, which is what a form or an ORM writes for none.
TEST(PostgresStream, ABlankNameFallsToTheSlug_G25) {
    for (const std::string name : {"", " ", "\t\n"}) {
        Feed feed;
        feed.begin();
        ASSERT_TRUE(
            feed.take(pg_insert(9, {pg_text("1"), pg_text("a"), pg_text(name), pg_null()})));
        EXPECT_EQ(feed.facts.at(0).subject_key, "graph-instances/wrapper-a") << name;
    }
}

TEST(PostgresStream, ACompositeKeyIsJoinedAndAnOddOneIsHashedInReferences) {
    Feed feed(instances("pod_name"), {"url_slug", "id"});
    feed.begin();
    ASSERT_TRUE(feed.take(pg_insert(9, row("4", "a/b", "running"))));
    ASSERT_EQ(feed.facts.size(), 1U);
    EXPECT_EQ(feed.facts[0].object_id,
              "public.instances/a/b\x1f"
              "4");
    EXPECT_EQ(feed.facts[0].subject_key.substr(0, 6), "!rows/");
    EXPECT_EQ(feed.facts[0].subject_key.size(), 6U + 32U);
}

TEST(PostgresStream, OtherTablesAreNotOurs) {
    Feed feed;
    ASSERT_TRUE(feed.take(pg_begin(0x500)));
    ASSERT_TRUE(feed.take(pg_relation(8, "other", "instances", 'f', kColumns)));
    ASSERT_TRUE(feed.take(pg_insert(8, row("4", "ab", "running"))));
    EXPECT_TRUE(feed.facts.empty());
}

TEST(PostgresStream, ATransactionThatComesAgainIsTheSameFacts) {
    Feed feed;
    const auto send = [&feed] {
        feed.begin();
        ASSERT_TRUE(feed.take(pg_insert(9, row("4", "ab", "running"))));
        ASSERT_TRUE(feed.take(pg_delete(9, 'O', row("3", "cd", "failed"))));
    };
    send();
    feed.stream.reconnect({"id"});
    EXPECT_FALSE(feed.stream.in_transaction());
    send();
    ASSERT_EQ(feed.facts.size(), 4U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(feed.facts[i].event_id, feed.facts[i + 2].event_id);
        EXPECT_EQ(feed.facts[i].version, feed.facts[i + 2].version);
        EXPECT_EQ(feed.facts[i].object, feed.facts[i + 2].object);
    }
    EXPECT_EQ(feed.stream.hole(), 0U) << "the same description is no change of it";
}

TEST(PostgresStream, ADroppedColumnIsTroubleThatNamesIt) {
    Feed feed;
    feed.begin();
    feed.describe('f', {{"id", true}, {"url_slug"}, {"pod_name"}});
    EXPECT_NE(feed.stream.trouble().find("no column status"), std::string::npos);
    EXPECT_TRUE(feed.note.relation_changed);
    ASSERT_TRUE(feed.take(pg_insert(9, {pg_text("1"), pg_null(), pg_null()})));
    EXPECT_TRUE(feed.facts.empty());
    EXPECT_EQ(feed.stream.hole(), 0x500U);
    feed.describe();
    EXPECT_EQ(feed.stream.trouble(), "");
}

TEST(PostgresStream, AColumnThatNeverWasThereIsAHoleToo) {
    Feed feed;
    ASSERT_TRUE(feed.take(pg_begin(0x500)));
    feed.describe('f', {{"id", true}, {"url_slug"}, {"pod_name"}});
    EXPECT_FALSE(feed.note.relation_changed);
    ASSERT_TRUE(feed.take(pg_delete(9, 'O', {pg_text("1"), pg_text("a"), pg_null()})));
    EXPECT_TRUE(feed.facts.empty());
    EXPECT_EQ(feed.stream.hole(), 0x500U);
}

TEST(PostgresStream, ARenamedTableIsTrouble) {
    Feed feed;
    feed.begin();
    ASSERT_TRUE(feed.take(pg_relation(9, "public", "instances_old", 'f', kColumns)));
    EXPECT_NE(feed.stream.trouble().find("renamed to public.instances_old"), std::string::npos);
    ASSERT_TRUE(feed.take(pg_insert(9, row("1", "a", "b"))));
    EXPECT_TRUE(feed.facts.empty());
    EXPECT_EQ(feed.stream.hole(), 0x500U);
}

TEST(PostgresStream, AnotherTableOfTheNameIsAHole) {
    Feed feed;
    feed.begin();
    ASSERT_TRUE(feed.take(pg_relation(10, "public", "instances", 'f', kColumns)));
    ASSERT_TRUE(feed.take(pg_insert(10, row("1", "a", "b"))));
    EXPECT_EQ(feed.facts.size(), 1U);
    EXPECT_EQ(feed.stream.hole(), 0x500U);
}

TEST(PostgresStream, WhatBreaksTheProtocolEndsTheStream) {
    EXPECT_FALSE(Feed().take(pg_commit(1, 2)));
    EXPECT_FALSE(Feed().take(pg_insert(9, row("4", "ab", "running"))));
    Feed feed;
    feed.begin();
    EXPECT_FALSE(feed.take(pg_begin(0x600)));
    EXPECT_FALSE(feed.take(pg_insert(9, {pg_text("4")})));
    EXPECT_FALSE(feed.take(pg_insert(10, row("4", "ab", "running"))));
}

TEST(PostgresStream, AHoldColumnIsAVeto) {
    Settings settings = instances();
    settings.veto_column = "status";
    Feed feed(settings);
    feed.begin();
    ASSERT_TRUE(feed.take(pg_insert(9, row("1", "a", "t"))));
    ASSERT_TRUE(feed.take(pg_insert(9, row("2", "a", "f"))));
    EXPECT_TRUE(ObjectView(feed.facts[0].object).is("hold", "true"));
    EXPECT_TRUE(ObjectView(feed.facts[1].object).is("hold", "false"));
}

TEST(PostgresStream, AHashedColumnIsPublishedAsItsHashAndNullAsNull_Design_4_15) {
    Settings settings = instances();
    settings.fields.named = {{"status", ports::Treatment::kHash},
                             {"pod_name", ports::Treatment::kHash}};
    settings.fields.hash = [](std::string_view text) { return "#" + std::string(text, 0, 1); };
    Feed feed(settings);
    feed.begin();
    ASSERT_TRUE(feed.take(pg_insert(9, row("4", "ab", "running"))));
    const ObjectView object(feed.facts.at(0).object);
    EXPECT_TRUE(object.is("status", "#r"));
    EXPECT_TRUE(object.find("pod_name").has_value() && !object.find("pod_name")->value);
    EXPECT_TRUE(object.is("url_slug", "ab"));
    EXPECT_EQ(feed.facts[0].object.find("running"), std::string::npos);
}

TEST(PostgresStream, AHashedValueThatWasNotSentIsUnchanged_S16) {
    Settings settings = instances("id");
    settings.fields.named = {{"url_slug", ports::Treatment::kHash}};
    settings.fields.hash = [](std::string_view text) { return std::string(text); };
    Feed feed(settings);
    feed.begin(0x500, 'd');
    ASSERT_TRUE(feed.take(
        pg_update(9, 0, {}, {pg_text("4"), pg_unchanged(), pg_null(), pg_text("failed")})));
    EXPECT_TRUE(ObjectView(feed.facts.at(0).object).find("url_slug")->unchanged);
}

TEST(PostgresStream, ASecretThatNobodyNamedIsNeverInTheClear_Design_4_15) {
    Settings settings = instances();
    settings.columns.emplace_back("api_token");
    const std::vector<std::string> names{"id", "url_slug", "pod_name", "status", "api_token"};
    const Tuple cells{{Cell::Kind::kText, "4"},
                      {Cell::Kind::kText, "ab"},
                      {Cell::Kind::kNull, ""},
                      {Cell::Kind::kText, "running"},
                      {Cell::Kind::kText, "hunter2"}};
    EXPECT_EQ(RowMap::make(settings, {"id"}, names)->object(cells).find("hunter2"),
              std::string::npos)
        << "no key, no hash, nothing";
    settings.fields.hash = [](std::string_view) { return "#"; };
    EXPECT_TRUE(
        ObjectView(RowMap::make(settings, {"id"}, names)->object(cells)).is("api_token", "#"));
}

}  // namespace
}  // namespace trueup::connectors::postgres
