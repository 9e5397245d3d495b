#include "connectors/kubernetes/pages.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors {

namespace {

/// Fewer hardly come sooner, and make of a long list one that outlives its continue token.
constexpr std::uint32_t kLeastForTime = 50;
constexpr std::uint32_t kListsToGrow = 3;

}  // namespace

void PagedList::begin(SteadyTime now) {
    page_.cancel();
    version_ = 0;
    ask("", now);
}

void PagedList::ask(std::string continue_token, SteadyTime now) {
    ports::ListPage request;
    request.resource = settings_.resource;
    request.label_selector = settings_.label_selector;
    request.limit = limit_;
    request.continue_token = std::move(continue_token);
    const ports::CallId call = ids_.next();
    page_.begin(call, now + settings_.call_timeout);
    cluster_.list_page(call, request);
}

std::optional<PagedList::Part> PagedList::feed(const ports::ClusterEvent& event, SteadyTime now) {
    const std::optional<Answer> answer = page_.feed(event);
    if (!answer) return std::nullopt;
    return take(*answer, now);
}

std::optional<PagedList::Part> PagedList::expire(SteadyTime now) {
    const std::optional<Answer> answer = page_.expire(now);
    if (!answer) return std::nullopt;
    return take(*answer, now);
}

void PagedList::adapt(const Answer& answer) {
    const bool expired = version_ != 0 && !answer.failure && answer.status == 410;
    if (answer.failed(Code::kTooLarge)) resize(limit_ / 2);
    if (answer.failed(Code::kTimeout)) {
        resize(std::max(limit_ / 2, std::min(limit_, kLeastForTime)));
    }
    // Fewer, larger pages come to the end of the list before the token expires.
    if (expired) resize(limit_ * 2);
}

void PagedList::resize(std::uint32_t limit) {
    limit_ = std::clamp(limit, 1U, settings_.page_limit);
    whole_ = 0;
}

void PagedList::grow() {
    if (++whole_ >= kListsToGrow) resize(limit_ * 2);
}

PagedList::Part PagedList::take(const Answer& answer, SteadyTime now) {
    Part part;
    adapt(answer);
    if (!answer.good()) {
        part.flaw = Flaw{explain(answer, decoder_), asked_wait(answer, decoder_)};
        return part;
    }
    Result<KubePage> page = decoder_.page(answer.body);
    if (!page) {
        part.flaw = Flaw{page.error().what, Millis(0)};
        return part;
    }
    // A 410's fresh token would go on at another version: two moments make no list.
    part.first = version_ == 0;
    if (!part.first && page->version != version_ && TRUEUP_GUARD("kubernetes_one_list")) {
        part.flaw = Flaw{"the pages of one list show different versions", Millis(0)};
        return part;
    }
    version_ = page->version;
    part.last = page->continue_token.empty();
    if (part.last) grow();
    if (!part.last) ask(page->continue_token, now);
    part.page = std::move(*page);
    return part;
}

}  // namespace trueup::connectors
