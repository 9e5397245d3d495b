#include "api/attempts.h"

#include <algorithm>
#include <utility>

namespace trueup::api {

namespace {
constexpr std::int64_t kMinute = 60;  // s
}

bool Attempts::may_log(std::int64_t now) {
    if (now - logged_.since >= kMinute) logged_ = {now, 0};
    return ++logged_.failures <= kLogAMinute;
}

Attempts::Verdict Attempts::failed(const std::string& address, std::int64_t now) {
    auto found = since_.find(address);
    if (found == since_.end()) {
        if (since_.size() >= kAddresses) {
            since_.erase(std::min_element(since_.begin(), since_.end(), [](auto& a, auto& b) {
                return a.second.since < b.second.since;
            }));
        }
        found = since_.emplace(address, Window{now, 0}).first;
    }
    Window& window = found->second;
    if (now - window.since >= kMinute) window = {now, 0};
    ++window.failures;
    Verdict verdict;
    if (window.failures > kAMinute)
        verdict.wait = std::max<std::int64_t>(1, window.since + kMinute - now);
    // The first one beyond is the last of it that is told.
    verdict.log = window.failures <= kAMinute + 1 && may_log(now);
    if (verdict.log) {
        verdict.unlogged = std::exchange(unlogged_, 0);
    } else {
        ++unlogged_;
    }
    return verdict;
}

}  // namespace trueup::api
