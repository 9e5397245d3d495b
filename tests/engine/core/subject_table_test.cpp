// Proves the write-back cache over the rows (design §6; invariant R1 of
// engine/core/subject_table.h).
#include "engine/core/subject_table.h"

#include "engine/base/hash.h"
#include "engine/core/row.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

namespace trueup::core {
namespace {

class MapRows final : public Rows {
  public:
    std::optional<std::string> load(std::string_view key) override {
        ++loads;
        const auto row = rows.find(key);
        if (row == rows.end()) return std::nullopt;
        return row->second;
    }
    void each_after(std::string_view after, std::size_t limit, const Visit& visit) override {
        for (auto row = rows.upper_bound(after); row != rows.end() && limit > 0; ++row, --limit) {
            visit(row->first, row->second);
        }
    }
    void store(SubjectTable& table, Hash128& digest) {
        table.take_dirty(digest, [&](std::string_view key, std::optional<std::string_view> row) {
            if (row) {
                rows[std::string(key)] = *row;
            } else {
                EXPECT_EQ(rows.erase(std::string(key)), 1U) << "only what has a row is removed";
            }
        });
    }
    Hash128 sum() const {
        Hash128 digest;
        for (const auto& [key, bytes] : rows) digest += row_hash(key, bytes);
        return digest;
    }

    std::map<std::string, std::string, std::less<>> rows;
    int loads = 0;
};

struct Fixture {
    MapRows rows;
    SubjectTable table{rows};
    Hash128 digest;

    void put(const std::string& key, std::uint64_t version) {
        SubjectTable::Entry& entry = table.at(key);
        entry.subject.facets.resize(1);
        entry.subject.facets[0].object_id = "o";
        entry.subject.facets[0].version = {version, 0};
        table.mark_dirty(entry);
    }
    std::uint64_t get(const std::string& key) {
        const SubjectTable::Entry* entry = table.find(key);
        return entry == nullptr ? 0 : entry->subject.facets.at(0).version.hi;
    }
    void store() { rows.store(table, digest); }
    std::vector<std::string> keys_after(std::string_view after, std::size_t limit) {
        std::vector<std::string> keys;
        for (const auto* entry : table.after(after, limit)) keys.push_back(entry->subject.key);
        return keys;
    }
};

TEST(SubjectTable, FindsNothingInAnEmptyOne) {
    Fixture f;
    EXPECT_EQ(f.table.find("a"), nullptr);
    EXPECT_FALSE(f.table.cached("a"));
    EXPECT_TRUE(f.keys_after("", 10).empty());
    f.table.evict(0);
    f.table.take_dirty(f.digest, [](auto, auto) { FAIL() << "nothing is dirty"; });
}

TEST(SubjectTable, ColdRowsComeBackAsTheyWere) {
    Fixture f;
    f.put("a", 7);
    f.store();
    f.table.evict(0);
    EXPECT_FALSE(f.table.cached("a"));
    EXPECT_EQ(f.table.bytes(), 0U);
    EXPECT_EQ(f.get("a"), 7U);
    EXPECT_TRUE(f.table.cached("a"));
    const int loads = f.rows.loads;
    EXPECT_EQ(f.get("a"), 7U);
    EXPECT_EQ(f.rows.loads, loads) << "the second time without a read";
}

TEST(SubjectTable, AWholeOneAsksNoRowWhoIsNotThere) {
    Fixture f;
    f.table.now_whole();
    f.put("a", 7);
    f.store();
    const int loads = f.rows.loads;
    EXPECT_EQ(f.get("a"), 7U);
    EXPECT_EQ(f.get("b"), 0U);
    f.table.read_ahead({"b", "c"});
    EXPECT_EQ(f.rows.loads, loads);
    f.table.preload("d", std::nullopt);
    f.table.evict(f.table.bytes() - 1);  // it is somebody who is nobody that goes first
    EXPECT_TRUE(f.table.whole());
}

TEST(SubjectTable, OneThatDroppedASubjectIsWholeNoMore) {
    Fixture f;
    f.table.now_whole();
    f.put("a", 7);
    f.put("b", 8);
    f.store();
    f.put("b", 9);
    f.table.evict(0);
    EXPECT_FALSE(f.table.whole());
    EXPECT_EQ(f.get("a"), 7U) << "it was dropped, and is there";
    EXPECT_EQ(f.get("b"), 9U);
    f.store();
    f.table.evict(0);
    EXPECT_EQ(f.keys_after("", 10), (std::vector<std::string>{"a", "b"}));
}

TEST(SubjectTable, DirtySubjectsAreNeverEvicted) {
    Fixture f;
    f.put("a", 7);
    f.table.evict(0);
    EXPECT_TRUE(f.table.cached("a"));
    EXPECT_GT(f.table.dirty_bytes(), 0U);
}

TEST(SubjectTable, EvictionSparesWhatWasJustUsed) {
    Fixture f;
    for (int i = 0; i < 100; ++i) f.put("k" + std::to_string(i), 1);
    f.store();
    f.table.evict(f.table.bytes() / 2);  // one round takes the marks of use away
    const std::size_t left = f.table.size();
    EXPECT_LT(left, 100U);
    EXPECT_GT(left, 0U);
    ASSERT_EQ(f.get("k5"), 1U);
    f.table.evict(f.table.bytes() / 2);
    EXPECT_TRUE(f.table.cached("k5"));
}

TEST(SubjectTable, ErasedBeforeItWasWrittenLeavesNoRow) {
    Fixture f;
    f.put("a", 7);
    f.table.erase(*f.table.find("a"));
    EXPECT_EQ(f.table.find("a"), nullptr);
    f.table.take_dirty(f.digest, [](auto, auto) { FAIL() << "nothing is dirty"; });
    EXPECT_TRUE(f.digest.none());
    EXPECT_EQ(f.table.size(), 0U);
}

TEST(SubjectTable, ErasedAndMadeAgainBeforeTheWriteIsAnUpdate) {
    Fixture f;
    f.put("a", 7);
    f.store();
    f.table.erase(*f.table.find("a"));
    EXPECT_TRUE(f.keys_after("", 10).empty());
    f.put("a", 8);
    EXPECT_EQ(f.keys_after("", 10), std::vector<std::string>{"a"});
    f.store();
    EXPECT_EQ(f.digest, f.rows.sum());
    f.table.evict(0);
    EXPECT_EQ(f.get("a"), 8U);
}

TEST(SubjectTable, AnErasedRowIsRemovedAndLeavesTheDigest) {
    Fixture f;
    f.put("a", 7);
    f.put("b", 8);
    f.store();
    f.table.erase(*f.table.find("a"));
    f.store();
    EXPECT_EQ(f.rows.rows.size(), 1U);
    EXPECT_EQ(f.digest, f.rows.sum());
    EXPECT_EQ(f.table.find("a"), nullptr);
}

TEST(SubjectTable, DirtyRowsAscendByKey) {
    Fixture f;
    for (const char* key : {"c", "a", "b"}) f.put(key, 1);
    std::string order;
    f.table.take_dirty(f.digest, [&](std::string_view key, auto) { order += key; });
    EXPECT_EQ(order, "abc");
}

TEST(SubjectTable, PreloadedRowsCostNoReadAndDoNotOverwrite) {
    Fixture f;
    f.put("a", 7);
    f.store();
    const std::string old_row = f.rows.rows["a"];
    f.put("a", 8);
    f.table.preload("a", old_row);
    EXPECT_EQ(f.get("a"), 8U);
    f.store();
    f.table.evict(0);
    f.table.preload("a", f.rows.rows["a"]);
    f.table.preload("b", std::nullopt);
    EXPECT_FALSE(f.table.cached("b"));
    const int loads = f.rows.loads;
    EXPECT_EQ(f.get("a"), 8U);
    EXPECT_EQ(f.rows.loads, loads);
}

TEST(SubjectTable, VisitsWhatIsCachedButNotTheErased) {
    Fixture f;
    f.put("a", 1);
    f.put("b", 2);
    f.table.erase(*f.table.find("a"));
    std::string seen;
    f.table.each_cached([&](const Subject& subject) { seen += subject.key; });
    EXPECT_EQ(seen, "b");
}

// A finding of a subject whose row was on disk only was open for nobody.
TEST(SubjectTable, VisitsAllOfThemWhereTheyMayBe) {
    Fixture f;
    f.put("a", 1);
    f.put("b", 2);
    f.put("c", 3);
    f.store();
    f.table.evict(0);
    EXPECT_EQ(f.get("b"), 2U);
    f.table.erase(*f.table.find("c"));
    f.put("d", 4);
    std::set<std::string> seen;
    f.table.each([&](const Subject& subject) { seen.insert(subject.key); });
    EXPECT_EQ(seen, (std::set<std::string>{"a", "b", "d"}));
    EXPECT_FALSE(f.table.cached("a"));
}

TEST(SubjectTableDeathTest, ARowThatCannotBeReadStopsTheProcess) {
    Fixture f;
    f.rows.rows["a"] = "rubbish";
    EXPECT_DEATH(f.table.find("a"), "subject.has_value");
}

TEST(SubjectTable, AfterPagesOverRowsUnsavedAndErased) {
    Fixture f;
    for (const char* key : {"a", "c", "e", "g"}) f.put(key, 1);
    f.store();
    f.table.evict(0);
    for (const char* key : {"b", "f", "z"}) f.put(key, 1);
    f.table.erase(*f.table.find("c"));
    f.table.erase(*f.table.find("f"));
    EXPECT_EQ(f.keys_after("", 3), (std::vector<std::string>{"a", "b", "e"}));
    EXPECT_EQ(f.keys_after("e", 3), (std::vector<std::string>{"g", "z"}));
    EXPECT_EQ(f.keys_after("", 99).size(), 5U);
    EXPECT_TRUE(f.keys_after("z", 3).empty());
}

TEST(SubjectTable, AfterBringsRowsAlong) {
    Fixture f;
    for (const char* key : {"a", "b", "c"}) f.put(key, 1);
    f.store();
    f.table.evict(0);
    f.put("b", 2);
    const int loads = f.rows.loads;
    EXPECT_EQ(f.keys_after("a", 9), (std::vector<std::string>{"b", "c"}));
    EXPECT_EQ(f.get("b"), 2U) << "what is newer than its row stays";
    EXPECT_EQ(f.get("c"), 1U);
    EXPECT_EQ(f.rows.loads, loads) << "none is read one by one";
}

// Of two names that look alike in the table one is cached, and the other one's row is on disk.
TEST(SubjectTable, AfterTellsApartWhatSeemsCached) {
    const std::string one = "s/pod-68446";
    const std::string other = "s/pod-293124";
    const auto seen_of = [](const std::string& key) {  // tag, and the place in a small table
        return std::pair(hash64(key) >> 32U, hash64(key) & 63U);
    };
    ASSERT_EQ(seen_of(one), seen_of(other));
    Fixture fixture;
    fixture.put(one, 1);
    fixture.put(other, 2);
    fixture.store();
    SubjectTable table(fixture.rows);
    ASSERT_NE(table.find(one), nullptr);
    ASSERT_TRUE(table.seems_cached(other));
    const auto entries = table.after("", 10);
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0]->subject.key, other);
    EXPECT_EQ(entries[0]->subject.facets.at(0).version.hi, 2U);
    EXPECT_EQ(entries[1]->subject.key, one);
}

TEST(SubjectTable, AfterMergesTheRunsOfManyUnsaved) {
    Fixture f;
    std::set<std::string> expected;
    std::mt19937_64 random(5);
    for (std::uint64_t i = 1; i <= 12'000; ++i) {
        const std::string key = std::to_string(random());
        f.put(key, i);
        expected.insert(key);
        if (i == 3'000) f.store();
    }
    std::vector<std::string> found;
    for (std::size_t before = 1; found.size() != before;) {
        before = found.size();
        const auto page = f.keys_after(found.empty() ? "" : found.back(), 777);
        found.insert(found.end(), page.begin(), page.end());
    }
    EXPECT_EQ(found, std::vector<std::string>(expected.begin(), expected.end()));
}

/// `whole`: it holds all there is for the first half of the steps, and drops none.
void expect_a_map_over_20000_random_steps(bool whole) {
    const char* const given = std::getenv("TRUEUP_SEED");
    const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10)
                                                : std::uint64_t{std::random_device{}()};
    SCOPED_TRACE("TRUEUP_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    Fixture f;
    if (whole) f.table.now_whole();
    std::map<std::string, std::uint64_t> model;
    for (std::uint64_t step = 1; step <= 20'000; ++step) {
        const std::string key = "k" + std::to_string(random() % 300);
        switch (random() % 8) {
            case 0:
            case 1:
            case 2:
                f.put(key, step);
                model[key] = step;
                break;
            case 3:
                if (SubjectTable::Entry* entry = f.table.find(key)) f.table.erase(*entry);
                model.erase(key);
                break;
            case 4: {
                const std::size_t limit = 1 + random() % 40;
                std::vector<std::string> expected;
                for (auto at = model.upper_bound(key); at != model.end() && expected.size() < limit;
                     ++at) {
                    expected.push_back(at->first);
                }
                ASSERT_EQ(f.keys_after(key, limit), expected) << "step " << step;
                break;
            }
            case 5:
                if (random() % 8 == 0) f.store();
                break;
            case 6:
                if (!whole || step > 10'000) f.table.evict(random() % 30'000);
                break;
            default: {
                const auto expected = model.find(key);
                ASSERT_EQ(f.get(key), expected == model.end() ? 0 : expected->second);
            }
        }
    }
    f.store();
    EXPECT_EQ(f.rows.rows.size(), model.size());
    EXPECT_EQ(f.digest, f.rows.sum());
    f.table.evict(0);
    EXPECT_EQ(f.table.size(), 0U);
    EXPECT_EQ(f.table.bytes(), 0U);
    EXPECT_EQ(f.table.dirty_bytes(), 0U);
    EXPECT_FALSE(f.table.whole());
}

TEST(SubjectTable, BehavesAsAMapOver20000RandomSteps) {
    expect_a_map_over_20000_random_steps(false);
}

TEST(SubjectTable, BehavesAsAMapWhileItIsWholeAndAfterwards) {
    expect_a_map_over_20000_random_steps(true);
}

}  // namespace
}  // namespace trueup::core
