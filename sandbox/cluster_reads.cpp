// Lists and watches of ClusterPort: pages under one version, and streams from a version on.
#include "sandbox/cluster_port.h"

#include <algorithm>
#include <charconv>

namespace trueup::sandbox {

using ports::CallId;

namespace {

/// A real apiserver sends its last bookmark this long before a watch times out, and none to a watch
/// that does not live that long.
constexpr Millis kBookmarkBeforeEnd{2'000};
/// What a list from a version of the future waits before it gives up.
constexpr Millis kFutureVersionWait{3'000};

std::optional<std::uint64_t> parse_version(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// `v1:<resourceVersion or -1>:<namespace>/<name>`: go on behind that object.
struct ContinueToken {
    std::optional<std::uint64_t> version;  ///< nullopt: the newest ("inconsistent" continuation)
    ApiServer::Key after;

    std::string text() const {
        return "v1:" + (version ? std::to_string(*version) : "-1") + ":" + after.first + "/" +
               after.second;
    }
    static std::optional<ContinueToken> parse(std::string_view text) {
        if (text.substr(0, 3) != "v1:") return std::nullopt;
        text.remove_prefix(3);
        const std::size_t colon = text.find(':');
        const std::size_t slash = text.find('/');
        if (colon == std::string_view::npos || slash == std::string_view::npos) return std::nullopt;
        ContinueToken token;
        token.version = parse_version(text.substr(0, colon));
        if (!token.version && text.substr(0, colon) != "-1") return std::nullopt;
        token.after = {std::string(text.substr(colon + 1, slash - colon - 1)),
                       std::string(text.substr(slash + 1))};
        return token;
    }
};

StatusObject bad_request(std::string message) { return {400, "BadRequest", std::move(message)}; }

StatusObject expired_list(ContinueToken token) {
    token.version.reset();
    StatusObject status{410, "Expired",
                        "The provided continue parameter is too old to display a consistent list "
                        "result. You can start a new list without the continue parameter, or use "
                        "the continue token in this response to retrieve the remainder of the "
                        "results."};
    status.continue_token = token.text();
    return status;
}

StatusObject too_old(const std::string& asked, std::uint64_t oldest) {
    StatusObject status = status_of(410);
    status.message = "too old resource version: " + asked + " (" + std::to_string(oldest) + ")";
    return status;
}

StatusObject too_large(std::uint64_t asked, std::uint64_t newest) {
    StatusObject status{504, "Timeout",
                        "Too large resource version: " + std::to_string(asked) +
                            ", current: " + std::to_string(newest)};
    status.retry_after_seconds = 1;
    status.cause = "ResourceVersionTooLarge";
    return status;
}

bool in_scope(const Pod& pod, const std::string& name_space, const ports::Selector& selector) {
    return (name_space.empty() || pod.name_space == name_space) && selector.matches(pod.labels);
}

struct Page {
    std::vector<PodPtr> pods;
    std::size_t remaining = 0;  ///< behind it
};

/// Of all pods, those of one page; a limit of 0 is none.
Page page_of(std::vector<PodPtr> all, const ContinueToken& from, std::size_t limit,
             const ports::ListPage& request, const ports::Selector& selector) {
    Page page;
    for (PodPtr& pod : all) {
        const bool behind = ApiServer::Key{pod->name_space, pod->name} > from.after;
        if (!behind || !in_scope(*pod, request.resource.name_space, selector)) continue;
        if (limit != 0 && page.pods.size() == limit) {
            ++page.remaining;
        } else {
            page.pods.push_back(std::move(pod));
        }
    }
    return page;
}

}  // namespace

void ClusterPort::list_page(CallId call, const ports::ListPage& request) {
    const Act act(*realm_);
    now_ = act.now();
    open_[call] = false;
    bool lose_reply = false;
    std::optional<Failure::Kind> flaw;
    if (fails(call, Op::kList, lose_reply, &flaw) || !served(call, request.resource)) return;
    const std::optional<ports::Selector> selector = ports::Selector::parse(request.label_selector);
    if (lose_reply) {
        fail(call, "operation timed out");
    } else if (!selector) {
        answer(call, bad_request("unable to parse requirement: " + request.label_selector));
    } else {
        list_snapshot(call, request, *selector, flaw);
    }
}

void ClusterPort::list_snapshot(CallId call, const ports::ListPage& request,
                                const ports::Selector& selector,
                                std::optional<Failure::Kind> flaw) {
    ContinueToken from{newest(), {}};
    if (!request.continue_token.empty()) {
        const std::optional<ContinueToken> token = ContinueToken::parse(request.continue_token);
        if (!token || token->version.value_or(0) > newest()) {
            return answer(call, bad_request("continue key is not valid"));
        }
        if (token->version && *token->version < realm_->api.oldest()) {
            return answer(call, expired_list(*token));
        }
        from = *token;
    } else if (!request.resource_version.empty()) {
        const std::optional<std::uint64_t> version = parse_version(request.resource_version);
        if (!version) return answer(call, bad_request("resourceVersion: Invalid value"));
        if (*version > newest()) {
            return answer(call, too_large(*version, newest()), kFutureVersionWait);
        }
    }
    const std::uint64_t version = from.version.value_or(newest());
    // With resourceVersion=0 a server answers from its cache and knows no limit.
    const std::size_t limit = request.resource_version == "0" ? 0 : request.limit;
    auto [page, remaining] = page_of(realm_->api.as_of(version), from, limit, request, selector);
    std::string token;
    if (remaining > 0) {
        token = ContinueToken{version, {page.back()->name_space, page.back()->name}}.text();
    }
    if (flaw == Failure::Kind::kShortPage) page.resize(page.size() - page.size() / 3);
    const bool counted = request.label_selector.empty();
    answer(
        call, 200,
        pod_list_json(page, version, token, counted ? remaining : 0, flaw != Failure::Kind::kBare));
}

void ClusterPort::watch(CallId call, const ports::WatchFrom& request) {
    const Act act(*realm_);
    now_ = act.now();
    open_[call] = true;
    bool lose_reply = false;
    std::optional<Failure::Kind> flaw;
    if (fails(call, Op::kWatch, lose_reply, &flaw) || !served(call, request.resource)) return;
    const std::optional<ports::Selector> selector = ports::Selector::parse(request.label_selector);
    const bool anywhere = request.resource_version.empty() || request.resource_version == "0";
    const std::optional<std::uint64_t> version =
        anywhere ? newest() : parse_version(request.resource_version);
    if (lose_reply) return fail(call, "operation timed out");
    if (!selector || !version) return answer(call, bad_request("selector or resourceVersion"));
    if (*version < realm_->api.oldest()) {
        const StatusObject status = too_old(request.resource_version, realm_->api.oldest());
        return answer(call, 200, watch_line("ERROR", status_json(status)));
    }
    Watch watch;
    watch.call = call;
    watch.name_space = request.resource.name_space;
    watch.selector = *selector;
    watch.bookmarks = request.bookmarks;
    watch.position = *version;
    watch.cuts = realm_->watch_cuts;
    watch.bare = flaw == Failure::Kind::kBare;
    const Millis lifetime = std::chrono::seconds(request.timeout_seconds);
    watch.deadline = now_ + lifetime;
    watch.next_bookmark = now_ + realm_->settings.bookmark_interval;
    if (request.bookmarks && lifetime > kBookmarkBeforeEnd) {
        watch.last_bookmark = watch.deadline - kBookmarkBeforeEnd;
    }
    head(call, 200);
    if (anywhere) {
        for (const PodPtr& pod : realm_->api.as_of(newest())) {
            if (!in_scope(*pod, watch.name_space, watch.selector)) continue;
            body(call, watch_line("ADDED", pod_json(*pod, true, !watch.bare)));
        }
    }
    watches_.push_back(std::move(watch));
}

namespace {

/// What a selector watch makes of one write; empty: nothing.
std::string line_for(const PodEvent& event, const std::string& name_space,
                     const ports::Selector& selector, bool with_labels) {
    const bool was = event.before && in_scope(*event.before, name_space, selector);
    const bool is = event.after && in_scope(*event.after, name_space, selector);
    if (is) {
        return watch_line(was ? "MODIFIED" : "ADDED", pod_json(*event.after, true, with_labels));
    }
    if (!was) return {};
    // The last state that the selector saw, old labels and all, under the version of this write.
    Pod last = *event.before;
    last.resource_version = event.resource_version;
    return watch_line("DELETED", pod_json(last, true, with_labels));
}

}  // namespace

void ClusterPort::feed_bookmarks(Watch& watch, SteadyTime now) {
    const bool nothing_to_say = !watch.bookmarks || watch.position > newest();
    if (nothing_to_say) return;
    const bool last = watch.last_bookmark && now >= *watch.last_bookmark;
    if (!last && now < watch.next_bookmark) return;
    if (last) watch.last_bookmark.reset();
    while (watch.next_bookmark <= now) {
        watch.next_bookmark += std::max(Millis(1), realm_->settings.bookmark_interval);
    }
    body(watch.call, bookmark_line(watch.position));
}

bool ClusterPort::feed(Watch& watch, const Act& act) {
    if (realm_->watches_stalled) return true;
    const std::deque<PodEvent>& history = realm_->api.history();
    const bool fell_behind = watch.position < realm_->api.oldest();
    if (watch.cuts != realm_->watch_cuts || fell_behind) {
        end(watch.call);
        return false;
    }
    auto event = std::upper_bound(
        history.begin(), history.end(), watch.position,
        [](std::uint64_t at, const PodEvent& one) { return at < one.resource_version; });
    std::string lines;
    for (; event != history.end() && event->resource_version <= newest(); ++event) {
        lines += line_for(*event, watch.name_space, watch.selector, !watch.bare);
    }
    watch.position = std::max(watch.position, newest());
    body(watch.call, lines);
    feed_bookmarks(watch, act.now());
    if (act.now() < watch.deadline) return true;
    end(watch.call);
    return false;
}

}  // namespace trueup::sandbox
