#include "apps/source_checks.h"

#include "engine/ports/clock.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace trueup::apps {

namespace {

/// A question is given up after 5 s; one that hangs in looking a name up is not waited for.
constexpr Millis kFirstAnswers{6'000};
constexpr Millis kLookEvery{20};  // at the start only, which Ctrl-C can end meanwhile

/// Without the source's name, which whoever shows it says.
std::string bare(const std::string& name, const std::string& what) {
    const std::string prefix = "source " + name + ": ";
    return what.starts_with(prefix) ? what.substr(prefix.size()) : what;
}

}  // namespace

std::string sentence_of(const SourceCheck& check, const Error& error) {
    return check.place + ": source " + check.name + ": " + bare(check.name, error.what);
}

SourceChecks::SourceChecks(std::vector<SourceCheck> checks, Pauses pauses) : pauses_(pauses) {
    for (SourceCheck& check : checks) {
        One& one = all_[check.name];
        one.check = std::move(check);
        one.admission.doubt = "it has not answered yet";
    }
    for (auto& entry : all_) threads_.emplace_back([this, one = &entry.second] { run(*one); });
}

SourceChecks::~SourceChecks() {
    stop();
    for (std::thread& thread : threads_) thread.join();
}

void SourceChecks::tell(std::function<void()> heard) {
    const MutexLock lock(mutex_);
    heard_ = std::move(heard);
}

void SourceChecks::stop() {
    const MutexLock lock(mutex_);
    stopping_ = true;
    news_.notify_all();
}

void SourceChecks::run(One& one) {
    Pauses pauses = pauses_;
    MutexLock lock(mutex_);
    while (!stopping_) {
        lock.unlock();
        const auto answer = one.check.ask();
        lock.lock();
        const bool admitted = take(one, answer);
        news_.notify_all();
        if (heard_) heard_();
        if (admitted) return;
        const CondVar::Deadline until = CondVar::in(pauses.next());
        while (!stopping_ && news_.wait_until(mutex_, until)) {
        }
    }
}

bool SourceChecks::take(One& one, const Result<std::vector<std::string>>& answer) {
    one.asked = true;
    one.flaw.clear();
    if (answer) {
        one.admission = {"", *answer};
    } else if (unanswered(answer.error())) {
        one.admission.doubt = "nothing is read or written there until it answers: " +
                              bare(one.check.name, answer.error().what);
    } else {
        one.flaw = sentence_of(one.check, answer.error());
        one.admission.doubt = "nothing is read or written there until this is fixed: " +
                              bare(one.check.name, answer.error().what);
    }
    if (talks_) log(one);
    return answer.ok();
}

void SourceChecks::log(One& one) {
    const std::string& doubt = one.admission.doubt;
    if (doubt.empty()) {
        if (!one.news.take_said()) return;
        spdlog::info("source {}: it answers, and matches the configuration", one.check.name);
    } else if (one.news.due(doubt, ports::system_clock().steady_now())) {
        spdlog::log(one.flaw.empty() ? spdlog::level::warn : spdlog::level::err, "source {}: {}",
                    one.check.name, doubt);
    }
}

std::vector<std::string> SourceChecks::first_answers(const std::function<bool(Millis)>& pause) {
    ports::Clock& clock = ports::system_clock();
    const SteadyTime limit = clock.steady_now() + kFirstAnswers;
    for (;;) {
        {
            const MutexLock lock(mutex_);
            const bool all = std::all_of(all_.begin(), all_.end(),
                                         [](const auto& entry) { return entry.second.asked; });
            if (all || clock.steady_now() >= limit) break;
        }
        if (pause(kLookEvery)) break;
    }
    const MutexLock lock(mutex_);
    std::vector<std::string> flaws;
    for (const auto& [name, one] : all_) {
        if (!one.flaw.empty()) flaws.push_back(one.flaw);
    }
    talks_ = flaws.empty();
    for (auto& entry : all_) {
        if (talks_) log(entry.second);
    }
    return flaws;
}

Admission SourceChecks::look(const std::string& name) const {
    const MutexLock lock(mutex_);
    const auto one = all_.find(name);
    if (one == all_.end()) return {"it is not checked whether it can be read as configured", {}};
    return one->second.admission;
}

std::vector<std::pair<std::string, std::string>> SourceChecks::doubts() const {
    const MutexLock lock(mutex_);
    std::vector<std::pair<std::string, std::string>> doubts;
    for (const auto& [name, one] : all_) {
        if (!one.admission.doubt.empty()) doubts.emplace_back(name, one.admission.doubt);
    }
    return doubts;
}

void SourceChecks::wait(Millis at_most) const {
    const MutexLock lock(mutex_);
    if (!stopping_) news_.wait_until(mutex_, CondVar::in(at_most));
}

}  // namespace trueup::apps
