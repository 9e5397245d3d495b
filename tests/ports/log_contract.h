// Proves the promises of engine/ports/log.h, for whatever adapter instantiates the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Embedded, LogContract, ::testing::Values(LogMaker(make_embedded)));
#pragma once

#include "engine/ports/log.h"
#include "tests/ports/log_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace trueup::ports {

/// A log with its storage. `reopen` closes the log and opens it again on what is stored.
class LogUnderTest {
  public:
    virtual ~LogUnderTest() = default;
    virtual Log& log() = 0;
    virtual void reopen() = 0;
    /// The headers of one record; kSkip when there is no such record.
    virtual Result<Headers> headers(Partition partition, Offset offset) = 0;
};
using LogMaker = std::function<std::unique_ptr<LogUnderTest>()>;

class LogContract : public ::testing::TestWithParam<LogMaker> {
  protected:
    void SetUp() override { subject_ = GetParam()(); }

    Log& log() { return subject_->log(); }
    void reopen() { subject_->reopen(); }
    Result<Headers> headers(Partition partition, Offset offset) {
        return subject_->headers(partition, offset);
    }

    Appended append(Partition partition, std::vector<Entry> entries) {
        const Result<Appended> appended = append_now(log(), partition, std::move(entries));
        if (appended.ok()) return *appended;
        ADD_FAILURE() << appended.error().what;
        return {};
    }
    Extent extent(Partition partition) {
        const Result<Extent> described = log().describe(partition);
        if (described.ok()) return *described;
        ADD_FAILURE() << described.error().what;
        return {};
    }

  private:
    std::unique_ptr<LogUnderTest> subject_;
};

TEST_P(LogContract, EveryReaderSeesOneOrder_L1) {
    append(kJournal0, unit_of("a", 2));
    append(kJournal0, unit_of("b", 1));
    append(kJournal0, unit_of("c", 3));
    const std::vector<Seen> seen = read_all(log(), kJournal0);
    EXPECT_EQ(values_of(seen),
              (std::vector<std::string>{"a.0", "a.1", "b.0", "c.0", "c.1", "c.2"}));
    EXPECT_EQ(read_all(log(), kJournal0), seen);
    EXPECT_EQ(read_all(log(), kJournal0, kFirstOffset, 1), seen);  // record by record
}

TEST_P(LogContract, PartitionsAreApart_L1) {
    append(kJournal0, unit_of("a", 1));
    append(kJournal1, unit_of("b", 1));
    append(kPods0, unit_of("c", 1));
    EXPECT_EQ(values_of(read_all(log(), kJournal0)), std::vector<std::string>{"a.0"});
    EXPECT_EQ(values_of(read_all(log(), kJournal1)), std::vector<std::string>{"b.0"});
    EXPECT_EQ(values_of(read_all(log(), kPods0)), std::vector<std::string>{"c.0"});
}

TEST_P(LogContract, OffsetsAscendAndTimesNeverDescend_L2) {
    for (int i = 0; i < 50; ++i) append(kJournal0, unit_of(std::to_string(i), 3));
    const std::vector<Seen> seen = read_all(log(), kJournal0);
    ASSERT_EQ(seen.size(), 150U);
    for (std::size_t i = 1; i < seen.size(); ++i) {
        EXPECT_LT(seen[i - 1].offset, seen[i].offset);
        EXPECT_LE(seen[i - 1].time, seen[i].time);
    }
}

TEST_P(LogContract, TheAnswerNamesTheUnitsPlace_L2) {
    append(kJournal0, unit_of("a", 2));
    const Appended b = append(kJournal0, unit_of("b", 3));
    const std::vector<Seen> seen = read_all(log(), kJournal0, b.first_offset);
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen.front(), (Seen{b.first_offset, seen.front().time, "b", "b.0"}));
    EXPECT_EQ(seen.back(), (Seen{b.last_offset, b.append_time, "b", "b.2"}));
}

TEST_P(LogContract, AppendsInFlightAreAnsweredInOrder_L1) {
    std::vector<std::unique_ptr<PendingAppend>> pending;
    for (int i = 0; i < 40; ++i) {
        pending.push_back(log().append(kJournal0, unit_of(std::to_string(i), 2)));
    }
    EXPECT_TRUE(pending.back()->take().ok());
    Offset last = kNoOffset;
    for (std::size_t i = 0; i + 1 < pending.size(); ++i) {
        EXPECT_TRUE(pending[i]->ready()) << i;  // the last one was answered before
        const Result<Appended> appended = pending[i]->take();
        ASSERT_TRUE(appended.ok());
        EXPECT_GT(appended->first_offset, last);
        last = appended->last_offset;
    }
}

TEST_P(LogContract, AppendsOfManyAppendersAreWholeAndInTheirOwnOrder_L4) {
    constexpr int kThreads = 4;
    constexpr int kUnits = 60;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([this, t] {
            std::vector<std::unique_ptr<PendingAppend>> pending;
            for (int u = 0; u < kUnits; ++u) {
                const std::string name = std::to_string(t) + "-" + std::to_string(u);
                pending.push_back(log().append(kJournal0, unit_of(name, 1 + u % 5)));
            }
            for (const auto& one : pending) EXPECT_TRUE(one->take().ok());
        });
    }
    for (std::thread& thread : threads) thread.join();

    std::vector<std::vector<std::string>> seen(kThreads);
    for (const Seen& s : read_all(log(), kJournal0)) {
        seen[static_cast<std::size_t>(s.key[0] - '0')].push_back(s.value);
    }
    for (int t = 0; t < kThreads; ++t) {
        std::vector<std::string> written;
        for (int u = 0; u < kUnits; ++u) {
            const std::string name = std::to_string(t) + "-" + std::to_string(u);
            for (const Entry& entry : unit_of(name, 1 + u % 5)) written.push_back(entry.value);
        }
        EXPECT_EQ(seen[static_cast<std::size_t>(t)], written);
    }
}

TEST_P(LogContract, ReadingStartsAnywhere) {
    append(kJournal0, unit_of("a", 4));
    append(kJournal0, unit_of("b", 4));
    const std::vector<Seen> all = read_all(log(), kJournal0);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(i);
        EXPECT_EQ(read_all(log(), kJournal0, middle->offset), std::vector(middle, all.end()));
    }
}

TEST_P(LogContract, TheLimitCutsAReadButLeavesAtLeastOneRecord) {
    append(kJournal0, {{"k", std::string(1000, 'x')}, {"k", std::string(1000, 'y')}});
    append(kJournal0, {{"k", std::string(1000, 'z')}});
    const auto count = [&](std::size_t max_bytes) {
        return log().read(kJournal0, kFirstOffset, max_bytes).value().records.size();
    };
    EXPECT_EQ(count(0), 1U);
    EXPECT_EQ(count(1), 1U);
    EXPECT_LT(count(1500), 3U);
    EXPECT_EQ(read_all(log(), kJournal0).size(), 3U);
}

TEST_P(LogContract, ViewsLiveAsLongAsTheirStorage) {
    append(kJournal0, unit_of("first", 1));
    Fetched kept = std::move(log().read(kJournal0, kFirstOffset, kPlenty)).value();
    for (int i = 0; i < 20; ++i) append(kJournal0, {{"k", std::string(100000, 'x')}});
    EXPECT_EQ(kept.records.front().value, "first.0");
}

TEST_P(LogContract, TheEndIsEmptyAndNoError) {
    const Fetched nothing = std::move(log().read(kJournal0, kFirstOffset, kPlenty)).value();
    EXPECT_TRUE(nothing.records.empty());
    EXPECT_EQ(nothing.next_offset, kFirstOffset);
    const Appended a = append(kJournal0, unit_of("a", 1));
    const Fetched end = std::move(log().read(kJournal0, next(a.last_offset), kPlenty)).value();
    EXPECT_TRUE(end.records.empty());
    EXPECT_EQ(end.next_offset, next(a.last_offset));
}

TEST_P(LogContract, DescribeNamesBothEnds) {
    EXPECT_EQ(extent(kJournal0).first_offset, kFirstOffset);
    EXPECT_EQ(extent(kJournal0).next_offset, kFirstOffset);
    append(kJournal0, unit_of("a", 2));
    const Appended b = append(kJournal0, unit_of("b", 2));
    EXPECT_EQ(extent(kJournal0).first_offset, kFirstOffset);
    EXPECT_GT(extent(kJournal0).next_offset, b.last_offset);
}

TEST_P(LogContract, HeadersComeBack) {
    append(kJournal0, unit_of("a", 1));
    const Headers written{{"ce_id", "1"}, {"ce_type", "x"}, {"empty", ""}, {"ce_id", "again"}};
    const Appended b = append(kJournal0, {{"k", "v", written}, {"k", "w"}});
    EXPECT_EQ(headers(kJournal0, b.first_offset).value(), written);
    EXPECT_EQ(headers(kJournal0, b.last_offset).value(), Headers{});
    reopen();
    EXPECT_EQ(headers(kJournal0, b.first_offset).value(), written);
    const Result<Headers> none = headers(kJournal0, next(b.last_offset));
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().next, Next::kSkip);
}

TEST_P(LogContract, TruncatedOffsetsAreAnErrorAndNotEmpty_L6) {
    append(kJournal0, unit_of("a", 3));
    const Appended b = append(kJournal0, unit_of("b", 3));
    append(kJournal0, unit_of("c", 3));
    const Offset first = next(b.first_offset);  // inside an append
    ASSERT_TRUE(log().truncate(kJournal0, first).ok());
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(extent(kJournal0).first_offset, first);
        for (const Offset gone : {kFirstOffset, b.first_offset}) {
            const Result<Fetched> read = log().read(kJournal0, gone, kPlenty);
            ASSERT_FALSE(read.ok());
            EXPECT_EQ(read.error().next, Next::kStop);
            EXPECT_EQ(read.error().code, Code::kLost);
            EXPECT_NE(read.error().what.find(std::to_string(first.value())), std::string::npos);
        }
        EXPECT_EQ(values_of(read_all(log(), kJournal0, first)),
                  (std::vector<std::string>{"b.1", "b.2", "c.0", "c.1", "c.2"}));
        reopen();
    }
    ASSERT_TRUE(log().truncate(kJournal0, kFirstOffset).ok());  // nothing more to forget
}

TEST_P(LogContract, OffsetsGoOnAfterEverythingWasTruncated_L2) {
    const Appended a = append(kJournal0, unit_of("a", 3));
    const Offset next = extent(kJournal0).next_offset;
    ASSERT_TRUE(log().truncate(kJournal0, next).ok());
    reopen();
    EXPECT_EQ(extent(kJournal0).first_offset, next);
    EXPECT_EQ(extent(kJournal0).next_offset, next);
    EXPECT_TRUE(read_all(log(), kJournal0, next).empty());
    const Appended b = append(kJournal0, unit_of("b", 1));
    EXPECT_GT(b.first_offset, a.last_offset);
    EXPECT_GE(b.append_time, a.append_time);
}

TEST_P(LogContract, AMomentIsFoundByItsTime_L2) {
    std::vector<Appended> units;
    for (int i = 0; i < 40; ++i) units.push_back(append(kJournal0, unit_of(std::to_string(i), 2)));
    const auto place = [&](BrokerTime time) {
        const Result<Offset> found = log().offset_at(kJournal0, time);
        return found.ok() ? *found : kNoOffset;
    };
    EXPECT_EQ(place(BrokerTime{}), kFirstOffset);
    EXPECT_EQ(place(units.back().append_time + Millis{1}), extent(kJournal0).next_offset);
    // Several records may have one time: the first of them counts.
    const std::vector<Seen> all = read_all(log(), kJournal0);
    for (const Seen& one : all) {
        const auto first = std::find_if(all.begin(), all.end(),
                                        [&](const Seen& other) { return other.time >= one.time; });
        EXPECT_EQ(place(one.time), first->offset);
    }
    ASSERT_TRUE(log().truncate(kJournal0, units[9].first_offset).ok());
    EXPECT_EQ(place(BrokerTime{}), units[9].first_offset) << "from what is left on";
    EXPECT_EQ(log().offset_at({Topic::kJournal, PartitionNumber(1)}, BrokerTime{}).value(),
              kFirstOffset);
}

TEST_P(LogContract, ReopeningKeepsEverything_L3) {
    for (int i = 0; i < 20; ++i) append(kJournal0, unit_of("j" + std::to_string(i), 3));
    append(kPods0, unit_of("p", 2));
    const std::vector<Seen> journal = read_all(log(), kJournal0);
    const std::vector<Seen> pods = read_all(log(), kPods0);
    reopen();
    EXPECT_EQ(read_all(log(), kJournal0), journal);
    EXPECT_EQ(read_all(log(), kPods0), pods);
    const Appended next = append(kJournal0, unit_of("next", 1));
    EXPECT_GT(next.first_offset, journal.back().offset);
    EXPECT_GE(next.append_time, journal.back().time);
}

TEST_P(LogContract, RecordsOfFourMebibytesFit) {
    const std::string big(std::size_t{4} << 20U, 'b');
    append(kJournal0, {{"k", big}, {"k", "small"}});
    append(kJournal0, {{"k", big + "2"}});
    for (int round = 0; round < 2; ++round) {
        const std::vector<Seen> seen =
            read_all(log(), kJournal0, kFirstOffset, std::size_t{1} << 20U);
        ASSERT_EQ(seen.size(), 3U);
        EXPECT_TRUE(seen[0].value == big);
        EXPECT_EQ(seen[1].value, "small");
        EXPECT_TRUE(seen[2].value == big + "2");
        reopen();
    }
}

TEST_P(LogContract, AnyBytesAreKept) {
    std::string all(256, '\0');
    std::iota(all.begin(), all.end(), '\0');
    append(kJournal0, {{all, all}, {"", ""}, {all, ""}});
    const std::vector<Seen> seen = read_all(log(), kJournal0);
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0].key, all);
    EXPECT_EQ(seen[0].value, all);
    EXPECT_EQ(seen[1].key + seen[1].value, "");
    EXPECT_EQ(seen[2].key, all);
}

TEST_P(LogContract, WaitEndsWithAnAppend) {
    const std::uint64_t seen = log().changes_seen();
    std::thread appender([&] { append(kJournal0, unit_of("a", 1)); });
    log().wait(seen, kForEver);
    EXPECT_GT(log().changes_seen(), seen);
    EXPECT_EQ(read_all(log(), kJournal0).size(), 1U);
    appender.join();
    log().wait(seen, kForEver);  // what was seen is old: no wait
    log().wait(log().changes_seen(), Millis(0));
}

TEST_P(LogContract, WakeEndsAWait) {
    const std::uint64_t seen = log().changes_seen();
    std::thread waiter([&] { log().wait(seen, kForEver); });
    log().wake();  // once: also where it comes before the wait
    waiter.join();
}

TEST_P(LogContract, AWaitIsEndedByTheAnswerOfAnAppendThatItsCallerAwaits) {
    std::uint64_t seen = log().changes_seen();
    const auto pending = log().append(kJournal0, unit_of("a", 1));
    while (!pending->ready()) {
        log().wait(seen, kForEver);
        seen = log().changes_seen();
        // Nothing else happens in this log: a change that is not the answer is followed by it.
    }
    EXPECT_TRUE(pending->take().ok());
}

TEST_P(LogContract, AnAppendTellsWhoAskedOnceItIsReady) {
    std::promise<void> told;
    const auto pending = log().append(kJournal0, unit_of("a", 1));
    pending->tell([&] { told.set_value(); });
    told.get_future().wait();
    EXPECT_TRUE(pending->ready());
    bool at_once = false;
    pending->tell([&] { at_once = true; });
    EXPECT_TRUE(at_once);
}

TEST_P(LogContract, WhoListensHearsOfAnAppendAndOfAWakeUntilItStops) {
    std::atomic<int> heard = 0;
    auto listener = log().listen([&] { ++heard; });
    ASSERT_NE(listener, nullptr);
    const std::uint64_t seen = log().changes_seen();
    append(kJournal0, unit_of("a", 1));
    log().wait(seen, kForEver);
    log().wake();
    EXPECT_GE(heard, 1);
    listener.reset();
    const int before = heard;
    log().wake();
    EXPECT_EQ(heard, before);
}

TEST_P(LogContract, WhereNothingIsNewAReaderNeedNotLook) {
    append(kJournal0, unit_of("a", 2));
    EXPECT_TRUE(log().may_have(kJournal0, kFirstOffset));
    const std::vector<Seen> all = read_all(log(), kJournal0);
    ASSERT_EQ(all.size(), 2U);
    const Offset end = next(all.back().offset);
    while (log().may_have(kJournal0, end)) ASSERT_TRUE(log().read(kJournal0, end, 1).ok());
    append(kJournal0, unit_of("b", 1));
    EXPECT_TRUE(log().may_have(kJournal0, end));
}

}  // namespace trueup::ports
