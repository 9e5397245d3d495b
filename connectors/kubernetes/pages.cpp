#include "connectors/kubernetes/pages.h"

#include "engine/base/guard.h"

#include <utility>

namespace trueup::connectors {

void PagedList::begin(SteadyTime now) {
    page_.cancel();
    version_ = 0;
    ask("", now);
}

void PagedList::ask(std::string continue_token, SteadyTime now) {
    ports::ListPage request;
    request.resource = settings_.resource;
    request.label_selector = settings_.label_selector;
    request.limit = settings_.page_limit;
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

PagedList::Part PagedList::take(const Answer& answer, SteadyTime now) {
    Part part;
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
    if (!part.last) ask(page->continue_token, now);
    part.page = std::move(*page);
    return part;
}

}  // namespace trueup::connectors
