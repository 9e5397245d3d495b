#include "apps/ask.h"

#include "apps/json_text.h"
#include "engine/base/time.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>
#include <utility>

namespace trueup::apps {

namespace {

using Json = EngineClient::Json;

constexpr Millis kTimeout{15'000};
constexpr Millis kSaySo{2'000};
constexpr Millis kPoll{100};  // HTTP has no news to wait for
constexpr int kWrong = 2;

/// How many findings waited for what was asked; empty: the engine does not say.
std::string waited_text(const Json& answer) {
    if (text(answer, "state") != "granted" || !answer.contains("waiting")) return {};
    const auto count = answer.value("waiting", std::uint64_t{0});
    if (count == 0) return "; no finding waited";
    return fmt::format("; {} {} waited", count, count == 1 ? "finding" : "findings");
}

/// Of several policies, what each of them said.
void print_answer(const Json& answer) {
    const Json answers = answer.value("answers", Json::array());
    if (answers.size() < 2) {
        fmt::print("{}: {}{}\n", text(answer, "state"), text(answer, "sentence"),
                   waited_text(answer));
        return;
    }
    for (const Json& one : answers) {
        fmt::print("{}: {}: {}\n", text(one, "policy"), text(one, "state"), text(one, "sentence"));
    }
}

}  // namespace

int complain(const std::string& sentence) {
    fmt::print(stderr, "trueup: {}\n", sentence);
    return kWrong;
}

int ask_engine(const EngineClient& engine, const Json& body, OutputFormat format) {
    const Result<Json> taken = engine.post("/v1/requests", body);
    if (!taken) return complain(taken.error().what);
    const std::string id = text(*taken, "request");
    // A brake that some policy was not told of is none there.
    const Json left = taken->value("not_asked", Json::array());
    for (const Json& policy : left) {
        fmt::print(stderr, "trueup: policy {} was not asked: {}\n", text(policy, "policy"),
                   text(policy, "sentence"));
    }
    const auto start = std::chrono::steady_clock::now();
    bool said = false;
    for (;;) {
        Result<Json> answer = engine.get("/v1/requests/" + id);
        if (!answer) return complain(answer.error().what);
        if (taken->contains("waiting")) (*answer)["waiting"] = (*taken)["waiting"];
        const std::string state = text(*answer, "state");
        if (state != "pending") {
            if (format == OutputFormat::kJson) {
                fmt::print("{}\n", answer->dump());
            } else {
                print_answer(*answer);
            }
            return state == "granted" && left.empty() ? 0 : 1;
        }
        const auto waited = std::chrono::steady_clock::now() - start;
        if (waited > kTimeout) {
            return complain(
                fmt::format("request {0} is in the log, but the engine has not processed it yet; "
                            "check it later with GET /v1/requests/{0}",
                            id));
        }
        if (waited > kSaySo && !std::exchange(said, true)) {
            fmt::print(stderr, "waiting for the engine ...\n");
        }
        std::this_thread::sleep_for(kPoll);
    }
}

bool confirmed(bool already, const std::string& question) {
    if (already) return true;
    fmt::print("{} Type yes or no: ", question);
    std::fflush(stdout);
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "yes";
}

}  // namespace trueup::apps
