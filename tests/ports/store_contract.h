// Proves the promises of engine/ports/store.h, for whatever adapter instantiates the suite. What a
// crash leaves (T1, T2) is proved by rocksdb_store_kill_test.cpp.
#pragma once

#include "engine/ports/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace trueup::ports {

/// A store with its storage. `reopen` closes it and opens it again, where it has a life of its own.
class StoreUnderTest {
  public:
    virtual ~StoreUnderTest() = default;
    virtual Store& store() = 0;
    virtual void reopen() = 0;
};
using StoreMaker = std::function<std::unique_ptr<StoreUnderTest>()>;
using Pairs = std::vector<std::pair<std::string, std::string>>;
using Values = std::vector<std::optional<std::string>>;

class StoreContract : public ::testing::TestWithParam<StoreMaker> {
  protected:
    void SetUp() override { subject_ = GetParam()(); }

    Store& store() { return subject_->store(); }
    void reopen() { subject_->reopen(); }

    void apply(Pairs puts, std::vector<std::string> erases = {}) {
        StoreBatch batch;
        for (const std::string& key : erases) batch.erase(key);
        for (const auto& [key, value] : puts) batch.put(key, value);
        const Status applied = store().apply(batch);
        EXPECT_TRUE(applied.ok()) << applied.error().what;
    }
    std::optional<std::string> get(std::string_view key) { return store().get(key).value(); }
    Pairs scan(std::string_view prefix, std::string_view after = "", std::size_t limit = 1000) {
        return store().scan(prefix, after, limit).value();
    }

  private:
    std::unique_ptr<StoreUnderTest> subject_;
};

TEST_P(StoreContract, ReadsSeeEveryBatchApplied_T3) {
    apply({{"a", "1"}, {"b", "2"}});
    EXPECT_EQ(get("a"), "1");
    apply({{"a", "3"}}, {"b"});
    EXPECT_EQ(get("a"), "3");
    EXPECT_EQ(get("b"), std::nullopt);
    EXPECT_EQ(get("c"), std::nullopt);
    EXPECT_EQ(scan(""), (Pairs{{"a", "3"}}));
}

TEST_P(StoreContract, AKeyErasedAndPutInOneBatchIsThere) {
    apply({{"a", "old"}});
    apply({{"a", "new"}, {"b", "first"}, {"b", "last"}}, {"a", "b", "never there"});
    EXPECT_EQ(scan(""), (Pairs{{"a", "new"}, {"b", "last"}}));
}

TEST_P(StoreContract, AnEmptyBatchChangesNothing) {
    apply({});
    EXPECT_EQ(scan(""), Pairs{});
}

TEST_P(StoreContract, AnyBytesAreKept) {
    const std::string key("\0\xff/k\0", 5);
    const std::string value("\0v\xff\0", 4);
    apply({{key, value}, {"empty", ""}});
    EXPECT_EQ(get(key), value);
    EXPECT_EQ(get("empty"), "");
}

TEST_P(StoreContract, GetManyAnswersInTheOrderAsked) {
    apply({{"a", "1"}, {"b", "2"}, {"d", "4"}});
    EXPECT_EQ(store().get_many({"a", "b", "c", "d"}).value(),
              (Values{"1", "2", std::nullopt, "4"}));
    EXPECT_EQ(store().get_many({"d", "x", "a", "a"}).value(),
              (Values{"4", std::nullopt, "1", "1"}));
    EXPECT_EQ(store().get_many({}).value(), Values{});
}

TEST_P(StoreContract, ScanStaysInThePrefixAndGoesOnAfterAKey) {
    apply({{"a", "0"}, {"p", "1"}, {"p/1", "2"}, {"p/2", "3"}, {"p/3", "4"}, {"q", "5"}});
    EXPECT_EQ(scan("p"), (Pairs{{"p", "1"}, {"p/1", "2"}, {"p/2", "3"}, {"p/3", "4"}}));
    EXPECT_EQ(scan("p/", "", 2), (Pairs{{"p/1", "2"}, {"p/2", "3"}}));
    EXPECT_EQ(scan("p/", "p/2", 2), (Pairs{{"p/3", "4"}}));
    EXPECT_EQ(scan("p/", "p/3"), Pairs{});
    EXPECT_EQ(scan("p", "p"), (Pairs{{"p/1", "2"}, {"p/2", "3"}, {"p/3", "4"}}));
    EXPECT_EQ(scan("p/", "p/25"), (Pairs{{"p/3", "4"}}));  // a key that is not there
    EXPECT_EQ(scan("p/", "a"), scan("p/"));
    EXPECT_EQ(scan("p/", "q"), Pairs{});
    EXPECT_EQ(scan("p/", "", 0), Pairs{});
    EXPECT_EQ(scan("r"), Pairs{});
}

TEST_P(StoreContract, ScanOrdersKeysAsUnsignedBytes) {
    apply({{"t\xff", "4"}, {"t\x7f", "2"}, {"t\x80", "3"}, {"t", "1"}, {"\xff", "6"}, {"u", "5"}});
    EXPECT_EQ(scan("t"), (Pairs{{"t", "1"}, {"t\x7f", "2"}, {"t\x80", "3"}, {"t\xff", "4"}}));
    EXPECT_EQ(scan("t\xff"), (Pairs{{"t\xff", "4"}}));
    EXPECT_EQ(scan("\xff"), (Pairs{{"\xff", "6"}}));
    EXPECT_EQ(scan("").size(), 6U);
}

TEST_P(StoreContract, WhatWasFlushedIsThereAfterReopening) {
    apply({{"a", "1"}, {"b", "2"}});
    ASSERT_TRUE(store().flush().ok());
    apply({{"c", "3"}}, {"a"});
    ASSERT_TRUE(store().flush().ok());
    reopen();
    EXPECT_EQ(scan(""), (Pairs{{"b", "2"}, {"c", "3"}}));
}

/// A store beside a map that gets the same batches.
class StoreModel {
  public:
    StoreModel(Store& store, std::uint64_t seed) : store_(store), random_(seed) {}

    void apply_some() {
        StoreBatch batch;
        for (std::uint64_t n = pick(8); n > 0; --n) batch.erase(key());
        for (std::uint64_t n = pick(8); n > 0; --n) {
            batch.put(key(), std::string(pick(300), 'v') + std::to_string(pick(100)));
        }
        for (std::uint64_t n = pick(3); n > 0; --n) batch.erase(key());
        ASSERT_TRUE(store_.apply(batch).ok());
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const auto [key, value] = batch[i];
            if (value) {
                rows_[std::string(key)] = *value;
            } else {
                rows_.erase(std::string(key));
            }
        }
    }

    void compare_some() {
        const std::vector<std::string> keys{key(), key(), key()};
        Values expected;
        for (const std::string& one : keys) {
            const auto row = rows_.find(one);
            expected.push_back(row == rows_.end() ? std::nullopt : std::optional(row->second));
        }
        EXPECT_EQ(store_.get_many({keys[0], keys[1], keys[2]}).value(), expected);
        EXPECT_EQ(store_.get(keys[0]).value(), expected[0]);
        compare_scan(key().substr(0, pick(3)), pick(2) == 0 ? "" : key(), pick(20));
    }

    void compare_scan(const std::string& prefix, const std::string& after, std::size_t limit) {
        Pairs expected;
        for (const auto& row : rows_) {
            const bool wanted =
                row.first.starts_with(prefix) && (after.empty() || row.first > after);
            if (wanted && expected.size() < limit) expected.emplace_back(row);
        }
        EXPECT_EQ(store_.scan(prefix, after, limit).value(), expected);
    }

    std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  private:
    std::string key() {
        std::string text;
        for (std::uint64_t n = 1 + pick(3); n > 0; --n) text += "ab\xff"[pick(3)];
        return text;
    }

    Store& store_;
    std::mt19937_64 random_;
    std::map<std::string, std::string> rows_;
};

TEST_P(StoreContract, AnswersAsAMapDoes_T3) {
    const char* given = std::getenv("TRUEUP_SEED");
    const std::uint64_t seed = given != nullptr ? std::stoull(given) : std::random_device()();
    SCOPED_TRACE("again with TRUEUP_SEED=" + std::to_string(seed));
    StoreModel model(store(), seed);
    for (int step = 0; step < 600 && !HasFailure(); ++step) {
        model.apply_some();
        model.compare_some();
        if (model.pick(40) == 0) {
            ASSERT_TRUE(store().flush().ok());
        }
    }
    model.compare_scan("", "", SIZE_MAX);
}

}  // namespace trueup::ports
