// A server over loopback whose engine is played by the test.
#pragma once

#include "api/server.h"
#include "tests/support/raw_http.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace trueup::api {

inline constexpr const char* kTestTokens =
    "olga ops oooooooooooooooooooo\n"
    "alice user aaaaaaaaaaaaaaaaaaaa\n"
    "vera viewer vvvvvvvvvvvvvvvvvvvv\n"
    "old admin xxxxxxxxxxxxxxxxxxxx 2020-01-01T00:00:00Z\n";

class Served : public ::testing::Test {
  protected:
    void serve(ServerSettings settings = {}) {
        if (settings.socket.empty()) settings.listen = "127.0.0.1:0";
        settings.limits.look = look;
        auto started = Server::start(settings, backends());
        ASSERT_TRUE(started.ok()) << started.error().what;
        server = std::move(*started);
    }
    Backend backend() {
        Backend backend;
        backend.policy = "graph-instances";
        backend.snapshot = [this] {
            on_look();
            return snapshot;
        };
        backend.findings = [this](const projections::FindingsFilter& filter) {
            return findings.list(filter);
        };
        backend.finding = [](const std::string& id) {
            return Error{Next::kSkip, Code::kNotFound, "no open finding begins with " + id};
        };
        backend.why = [this](const std::string& subject,
                             const std::string& rule) -> Result<WhyView> {
            if (subject != why.subject) {
                return Error{Next::kSkip, Code::kNotFound, "no source has an object of " + subject};
            }
            WhyView shown = why;
            std::erase_if(shown.rules, [&](const RuleWhyView& each) {
                return !rule.empty() && each.trace.rule != rule;
            });
            return shown;
        };
        backend.settings = [] { return std::string(R"({"policy": "graph-instances"})"); };
        backend.too_much = [this](const Request& request) -> std::optional<std::string> {
            if (request.issued_by != busy) return std::nullopt;
            return "'" + busy + "' has asked too much: wait";
        };
        backend.ask = [this](Request request) -> Result<RequestId> {
            const std::lock_guard lock(mutex);
            asked.push_back(std::move(request));
            return RequestId({0, asked.size()});
        };
        backend.answer = [](const RequestId& id) {
            Answers answers;
            if (id.value().lo == 1) {
                answers.word = AnswerView{RequestKind::kPause, true, "olga", "paused"};
            }
            return answers;
        };
        return backend;
    }
    /// One policy, unless the test has others.
    Backends backends() {
        Backends backends;
        backends.policies = others;
        backends.policies.insert(backends.policies.begin(), backend());
        backends.warn = [this](const std::string& sentence) {
            const std::lock_guard lock(mutex);
            warnings.push_back(sentence);
            if (warnings.size() <= throwing_warnings) throw std::runtime_error("no memory left");
        };
        backends.tokens = Tokens::parse(kTestTokens).value();
        return backends;
    }
    std::vector<std::string> warned() {
        const std::lock_guard lock(mutex);
        return warnings;
    }
    const std::string& address() const { return server->address(); }
    /// The token of olga ('o'), alice, vera or old.
    static std::string token(char letter) { return std::string(20, letter); }
    test_support::RawAnswer ask(const std::string& method, const std::string& path,
                                const std::string& secret = {}, const std::string& body = {}) {
        return test_support::call(address(), method, path, secret, body);
    }
    static bool has(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }

    std::vector<Backend> others;  ///< further policies
    projections::FindingsView findings;
    Snapshot snapshot;
    WhyView why;                            ///< of the one subject that there is
    Millis look{0};                         ///< how old one may be
    std::function<void()> on_look = [] {};  ///< before one is made
    std::size_t throwing_warnings = 0;      ///< so many of the first
    std::mutex mutex;
    std::vector<Request> asked;
    std::vector<std::string> warnings;
    std::string busy;  ///< who has asked too much
    std::unique_ptr<Server> server;
};

}  // namespace trueup::api
