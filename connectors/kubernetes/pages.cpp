#include "connectors/kubernetes/pages.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors {

namespace {

constexpr std::uint32_t kLeastForSilence = 50;
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

void PagedList::shrink(const Answer& answer) {
    // A server that says nothing at all may be down: there its pages need not be the reason.
    const std::uint32_t least = answer.body.empty() ? std::min(limit_, kLeastForSilence) : 1;
    limit_ = std::max(limit_ / 2, least);
    whole_ = 0;
}

void PagedList::grow() {
    if (++whole_ < kListsToGrow) return;
    limit_ = std::min(settings_.page_limit, limit_ * 2);
    whole_ = 0;
}

PagedList::Part PagedList::take(const Answer& answer, SteadyTime now) {
    Part part;
    if (answer.too_much) shrink(answer);
    if (!answer.good()) {
        part.flaw = Flaw{explain(answer, decoder_), asked_wait(answer, decoder_)};
        return part;
    }
    Result<KubePage> page = decoder_.page(answer.body);
    if (!page) {
        part.flaw = Flaw{page.error().what, Millis(0)};
        return part;
    }
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
