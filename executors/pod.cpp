#include "executors/pod.h"

#include "engine/world/kube.h"
#include "engine/world/kube_status.h"

#include <algorithm>

namespace trueup::executors {
namespace {

constexpr std::size_t kMaxMessage = 300;
constexpr std::string_view kLabelPrefix = "label.";

std::optional<std::string> or_null(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

std::string one_line(std::string_view text) {
    std::string line(text.substr(0, kMaxMessage));
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    if (text.size() > kMaxMessage) line += "...";
    return line;
}

}  // namespace

std::optional<std::optional<std::string>> Pod::field(std::string_view which) const {
    if (const auto said = at.find(which); said != at.end()) {
        if (said->second.kind == world::FieldAt::Kind::kUnreadable) return std::nullopt;
        const bool there = said->second.kind == world::FieldAt::Kind::kText;
        return there ? std::optional<std::string>(said->second.text) : std::nullopt;
    }
    if (which == "name") return or_null(name);
    if (which == "namespace") return or_null(name_space);
    if (which == "phase") return or_null(phase);
    if (which == "node") return or_null(node);
    if (which == "deleting") return deleting ? std::optional<std::string>("true") : std::nullopt;
    if (which.substr(0, kLabelPrefix.size()) != kLabelPrefix) return std::nullopt;
    const auto label = labels.find(which.substr(kLabelPrefix.size()));
    return label == labels.end() ? std::nullopt : std::optional<std::string>(label->second);
}

Result<Pod> decode_pod(std::string_view body, std::string_view veto_label,
                       const std::vector<policy::FieldPath>& paths) {
    world::Json json;
    const world::Node root = json.read(body);
    if (!root) {
        return Error{Next::kSkip, Code::kCorrupt, "the answer is not JSON: " + one_line(body)};
    }
    const world::KubeView seen(root);
    Pod pod;
    pod.kind = seen.kind();
    pod.uid = seen.uid();
    pod.resource_version = seen.resource_version();
    pod.name = seen.name();
    pod.name_space = seen.name_space();
    pod.phase = seen.phase();
    pod.node = seen.node();
    pod.deleting = seen.deleting();
    pod.finalizers = seen.has_finalizers();
    pod.held = seen.held(veto_label);
    seen.each_label(
        [&pod](std::string_view key, std::string_view value) { pod.labels.emplace(key, value); });
    for (const policy::FieldPath& path : paths) {
        pod.at.emplace(path.name, world::field_at(root, path));
    }
    // What says why there is no object is none.
    if (pod.kind == "Status" || pod.uid.empty() || pod.resource_version.empty() ||
        pod.name.empty()) {
        return Error{Next::kSkip, Code::kInvalid,
                     "the answer is not a JSON object: " + one_line(body)};
    }
    return pod;
}

Result<std::vector<std::string>> decode_holders(std::string_view body, std::string_view label,
                                                std::string_view value) {
    world::Json json;
    const world::Node root = json.read(body);
    const world::Node metadata = world::at(root, "metadata");
    const auto items = world::value<simdjson::dom::array>(root, "items");
    const bool list = items && world::text_or_empty(root, "kind").ends_with("List") &&
                      !world::text_or_empty(metadata, "resourceVersion").empty();
    if (!list)
        return Error{Next::kRetry, Code::kInvalid, "the answer is no list: " + one_line(body)};
    if (!world::text_or_empty(metadata, "continue").empty()) {
        return Error{Next::kSkip, Code::kTooLarge, "more have that label than one page lists"};
    }
    std::vector<std::string> holders;
    for (const simdjson::dom::element item : *items) {
        const world::KubeView seen{world::Node(item)};
        if (seen.uid().empty() || seen.label(label) != value) {
            return Error{Next::kRetry, Code::kInvalid,
                         "the list has objects that do not show that label"};
        }
        holders.emplace_back(seen.uid());
    }
    return holders;
}

bool says_not_found(std::string_view body, std::string_view name, std::string_view plural) {
    world::Json json;
    const std::optional<world::KubeStatus> status = world::read_status(json.read(body));
    return status && status->not_found(name, plural);
}

bool says_deleted(std::string_view body) {
    if (decode_pod(body).ok()) return true;
    world::Json json;
    const std::optional<world::KubeStatus> status = world::read_status(json.read(body));
    return status && status->success;
}

std::string message_of(std::string_view body) {
    world::Json json;
    const std::string_view message = world::text_or_empty(json.read(body), "message");
    return one_line(message.empty() ? body : message);
}

}  // namespace trueup::executors
