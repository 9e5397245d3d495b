#include "engine/world/kube.h"

#include "engine/base/json_string.h"
#include "engine/world/hold.h"
#include "engine/world/kube_status.h"

#include <algorithm>

namespace trueup::world {

namespace {

constexpr std::size_t kMaxMessage = 500;
constexpr std::int64_t kMaxWait = 3600;

/// The members of an object, each behind a comma, but for those that are said otherwise.
template <typename Said>
std::string members(const simdjson::dom::object& object, Said&& said) {
    std::string text;
    for (const auto& [key, value] : object) {
        if (said(key)) continue;
        text += ',' + json_string(key) + ':' + simdjson::minify(value);
    }
    return text;
}

}  // namespace

std::string made_as(std::string_view name_space, std::string_view name) {
    std::string as(name_space);
    if (!as.empty()) as += '/';
    return as.append(name);
}

std::optional<std::string> metadata_of_new(std::string_view written, std::string_view name,
                                           std::string_view name_space, std::string_view made_by) {
    Json json;
    const Node read = json.read(written.empty() ? "{}" : written);
    simdjson::dom::object metadata;
    if (!read || read->get(metadata) != simdjson::SUCCESS) return std::nullopt;
    std::string text = "{\"name\":" + json_string(name);
    if (!name_space.empty()) text += ",\"namespace\":" + json_string(name_space);
    text += ",\"annotations\":{" + json_string(kMadeBy) + ':' + json_string(made_by) + ',' +
            json_string(kMadeAs) + ':' + json_string(made_as(name_space, name));
    if (const auto marks = value<simdjson::dom::object>(read, "annotations")) {
        text +=
            members(*marks, [](std::string_view key) { return key == kMadeBy || key == kMadeAs; });
    }
    return text + '}' +
           members(metadata,
                   [](std::string_view key) {
                       return key == "name" || key == "namespace" || key == "annotations";
                   }) +
           '}';
}

bool KubeView::has_labels() const {
    const auto labels = value<simdjson::dom::object>(metadata_, "labels");
    return labels && labels->size() > 0;
}

bool KubeView::selected_by(const ports::Selector& selector) const {
    return selector.matches([this](std::string_view key) { return label(key); });
}

bool KubeView::has_finalizers() const {
    const auto finalizers = value<simdjson::dom::array>(metadata_, "finalizers");
    return finalizers && finalizers->size() > 0;
}

bool KubeView::ending() const {
    const std::int64_t grace =
        value<std::int64_t>(metadata_, "deletionGracePeriodSeconds").value_or(0);
    return deleting() && grace == 0 && !has_finalizers();
}

bool KubeView::held(std::string_view veto_label) const {
    if (veto_label.empty()) return false;
    for (const Node* marks : {&labels_, &annotations_}) {
        const std::optional<std::string_view> said = text(*marks, veto_label);
        if (said && mark_holds(*said)) return true;
    }
    return false;
}

std::optional<KubeStatus> read_status(const Node& body) {
    if (text(body, "kind") != "Status") return std::nullopt;
    KubeStatus found;
    const std::int64_t code = value<std::int64_t>(body, "code").value_or(0);
    found.code = static_cast<int>(std::clamp<std::int64_t>(code, 0, 999));
    found.success = text(body, "status") == "Success";
    found.reason = text_or_empty(body, "reason");
    found.message = text_or_empty(body, "message").substr(0, kMaxMessage);
    const Node details = at(body, "details");
    found.name = text_or_empty(details, "name");
    found.plural = text_or_empty(details, "kind");  // which is called so, and is none
    const std::int64_t seconds = value<std::int64_t>(details, "retryAfterSeconds").value_or(0);
    found.retry_after = Millis(1000 * std::clamp<std::int64_t>(seconds, 0, kMaxWait));
    return found;
}

}  // namespace trueup::world
