// Proves apps/source_checks.h and apps/retry.h: who does not answer is waited for, and nothing
// is in order with a source before it has said so itself.
#include "apps/source_checks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

namespace trueup::apps {
namespace {

using Answer = Result<std::vector<std::string>>;

const Error kAway{Next::kRetry, Code::kUnavailable, "source rows: connection refused"};
const Error kNoTable{Next::kStop, Code::kNotFound, "table public.instances does not exist"};

/// A server that answers what it was told to.
class Server {
  public:
    SourceCheck check() {
        return {"rows", "trueup.yaml:7", [this]() -> Answer {
                    ++asked_;
                    const std::lock_guard lock(mutex_);
                    return answer_;
                }};
    }
    void says(Answer answer) {
        const std::lock_guard lock(mutex_);
        answer_ = std::move(answer);
    }
    int asked() const { return asked_; }

  private:
    std::atomic<int> asked_{0};
    std::mutex mutex_;
    Answer answer_ = kAway;
};

struct Checks {
    Server server;
    SourceChecks checks{{server.check()}, Pauses(Millis{1}, Millis{1})};
    std::vector<std::string> first() {
        return checks.first_answers([this](Millis pause) {
            checks.wait(pause);
            return false;
        });
    }
    std::string doubt() const { return checks.look("rows").doubt; }
    void until(const std::function<bool()>& done) {
        while (!done()) checks.wait(Millis{5});
    }
};

// Symptom: a start beside an API server that was being upgraded ended with 2 within 5 s, and was
// not tried again by a supervisor that takes 2 for a wrong configuration.
TEST(SourceChecks, WhoDoesNotAnswerIsNoFlawAndIsAskedUntilItDoes) {
    Checks all;
    EXPECT_TRUE(all.first().empty());
    EXPECT_EQ(all.doubt(), "nothing is read or written there until it answers: connection refused");
    EXPECT_EQ(all.checks.doubts().size(), 1U);
    all.until([&] { return all.server.asked() >= 3; });
    all.server.says(std::vector<std::string>{"id"});
    all.until([&] { return all.doubt().empty(); });
    EXPECT_EQ(all.checks.look("rows").pk_columns, std::vector<std::string>{"id"});
    EXPECT_TRUE(all.checks.doubts().empty());
}

TEST(SourceChecks, WhatAServerSaysIsWrongIsAFlawWithItsPlace) {
    Server server;
    server.says(kNoTable);
    SourceChecks checks({server.check()});
    EXPECT_EQ(checks.first_answers([&](Millis pause) {
        checks.wait(pause);
        return false;
    }),
              std::vector<std::string>{
                  "trueup.yaml:7: source rows: table public.instances does not exist"});
    EXPECT_FALSE(checks.look("rows").doubt.empty());
}

// A configuration that turns out to be wrong late ends nothing, and is believed in nothing.
TEST(SourceChecks, AFlawThatIsFoundLaterIsADoubtUntilItIsMended) {
    Checks all;
    EXPECT_TRUE(all.first().empty());
    all.server.says(kNoTable);
    all.until([&] { return all.doubt().find("does not exist") != std::string::npos; });
    EXPECT_EQ(all.doubt(),
              "nothing is read or written there until this is fixed: table public.instances does "
              "not exist");
    all.server.says(std::vector<std::string>{"id"});
    all.until([&] { return all.doubt().empty(); });
}

TEST(SourceChecks, BeforeTheFirstAnswerEverythingIsInDoubt) {
    std::promise<void> open;
    auto opened = open.get_future().share();
    SourceChecks checks({{"pods", "trueup.yaml:3", [opened]() -> Answer {
                              opened.wait();
                              return std::vector<std::string>{};
                          }}});
    EXPECT_TRUE(checks.first_answers([](Millis) { return true; }).empty()) << "asked to stop";
    EXPECT_EQ(checks.look("pods").doubt, "it has not answered yet");
    EXPECT_EQ(checks.look("rows").doubt, "it is not checked whether it can be read as configured");
    open.set_value();
}

TEST(SourceChecks, StoppedItAsksNobodyAnyMoreAndWaitsForNothing) {
    Server server;
    {
        SourceChecks checks({server.check()}, Pauses(std::chrono::hours(1), std::chrono::hours(1)));
        checks.first_answers([&](Millis pause) {
            checks.wait(pause);
            return false;
        });
        checks.stop();
        checks.wait(std::chrono::hours(1));
    }
    EXPECT_EQ(server.asked(), 1);
}

TEST(Attempts, WhoDoesNotAnswerIsAskedForAsLongAsItTakes) {
    int left = 500;
    std::vector<std::string> told;
    Millis waited{0};
    const Waiting waiting{[&](Millis pause) {
                              waited += pause;
                              return false;
                          },
                          [&](const std::string& what) { told.push_back(what); }};
    const auto done = attempt_until_answered(
        [&]() -> Result<int> {
            if (left-- > 0) {
                return Error{Next::kRetry, Code::kUnavailable, "no answer from the brokers"};
            }
            return 7;
        },
        waiting);
    ASSERT_TRUE(done.ok()) << "given up after " << waited.count() << " ms";
    EXPECT_EQ(done.value(), 7);
    EXPECT_GT(waited, Millis(std::chrono::hours(1)));
    EXPECT_EQ(told.front(), "no answer from the brokers");
    EXPECT_EQ(told.back(), "") << "nothing is waited for any more";
}

TEST(Attempts, WhatIsWrongIsSaidAtOnceAndWhoIsAskedToStopGivesUp) {
    int pauses = 0;
    const Waiting waiting{[&](Millis) { return ++pauses == 2; }, [](const std::string&) {}};
    const auto run = [&](Next next) {
        return attempt_until_answered(
            [next]() -> Status {
                return Error{next, Code::kUnavailable, "no"};
            },
            waiting);
    };
    EXPECT_EQ(run(Next::kStop).error().next, Next::kStop);
    EXPECT_EQ(pauses, 0);
    EXPECT_EQ(run(Next::kRetry).error().next, Next::kRetry);
    EXPECT_EQ(pauses, 2);
}

TEST(WaitNews, IsSaidOnceAndAgainAfterTenMinutes) {
    WaitNews news;
    const SteadyTime start = from_millis<SteadyTime>(1'000);
    EXPECT_FALSE(news.take_said());
    EXPECT_TRUE(news.due("a", start));
    EXPECT_FALSE(news.due("a", start + std::chrono::minutes(9)));
    EXPECT_TRUE(news.due("b", start + std::chrono::minutes(9)));
    EXPECT_FALSE(news.due("b", start + std::chrono::minutes(18)));
    EXPECT_TRUE(news.due("b", start + std::chrono::minutes(19)));
    EXPECT_TRUE(news.take_said());
    EXPECT_FALSE(news.take_said());
}

}  // namespace
}  // namespace trueup::apps
