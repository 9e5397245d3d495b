#include "executors/pod.h"

#include <simdjson.h>

#include <algorithm>

namespace trueup::executors {
namespace {

constexpr std::size_t kMaxMessage = 300;
constexpr std::string_view kLabelPrefix = "label.";

using simdjson::dom::element;

std::string text_at(const element& root, std::string_view pointer) {
    std::string_view text;
    if (root.at_pointer(pointer).get(text) != simdjson::SUCCESS) return {};
    return std::string(text);
}

void read_map(const element& root, std::string_view pointer,
              std::map<std::string, std::string, std::less<>>& out) {
    simdjson::dom::object object;
    if (root.at_pointer(pointer).get(object) != simdjson::SUCCESS) return;
    for (const auto& [key, value] : object) {
        std::string_view text;
        if (value.get(text) == simdjson::SUCCESS) out.emplace(key, text);
    }
}

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

bool Pod::held(std::string_view hold_key) const {
    return labels.find(hold_key) != labels.end() || annotations.find(hold_key) != annotations.end();
}

std::optional<std::optional<std::string>> Pod::field(std::string_view which) const {
    if (which == "name") return or_null(name);
    if (which == "namespace") return or_null(name_space);
    if (which == "phase") return or_null(phase);
    if (which == "node") return or_null(node);
    if (which == "deleting") return deleting ? std::optional<std::string>("true") : std::nullopt;
    if (which.substr(0, kLabelPrefix.size()) != kLabelPrefix) return std::nullopt;
    const auto label = labels.find(which.substr(kLabelPrefix.size()));
    return label == labels.end() ? std::nullopt : std::optional<std::string>(label->second);
}

Result<Pod> decode_pod(std::string_view body) {
    simdjson::dom::parser parser;
    element root;
    if (parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS) {
        return Error{Next::kSkip, "the answer is not JSON: " + one_line(body)};
    }
    Pod pod;
    pod.kind = text_at(root, "/kind");
    pod.uid = text_at(root, "/metadata/uid");
    pod.resource_version = text_at(root, "/metadata/resourceVersion");
    pod.name = text_at(root, "/metadata/name");
    pod.name_space = text_at(root, "/metadata/namespace");
    pod.phase = text_at(root, "/status/phase");
    pod.node = text_at(root, "/spec/nodeName");
    pod.deleting = !text_at(root, "/metadata/deletionTimestamp").empty();
    simdjson::dom::array finalizers;
    pod.finalizers = root.at_pointer("/metadata/finalizers").get(finalizers) == simdjson::SUCCESS &&
                     finalizers.size() > 0;
    read_map(root, "/metadata/labels", pod.labels);
    read_map(root, "/metadata/annotations", pod.annotations);
    // What says why there is no object is none.
    if (pod.kind == "Status" || pod.uid.empty() || pod.resource_version.empty() ||
        pod.name.empty()) {
        return Error{Next::kSkip, "the answer is no object: " + one_line(body)};
    }
    return pod;
}

bool says_not_found(std::string_view body, std::string_view name) {
    simdjson::dom::parser parser;
    element root;
    if (parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS) return false;
    if (text_at(root, "/kind") != "Status" || text_at(root, "/reason") != "NotFound") return false;
    const std::string quoted = '"' + std::string(name) + '"';
    return text_at(root, "/details/name") == name ||
           text_at(root, "/message").find(quoted) != std::string::npos;
}

bool says_deleted(std::string_view body) {
    if (decode_pod(body).ok()) return true;
    simdjson::dom::parser parser;
    element root;
    if (parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS) return false;
    return text_at(root, "/kind") == "Status" && text_at(root, "/status") == "Success";
}

std::string message_of(std::string_view body) {
    simdjson::dom::parser parser;
    element root;
    if (parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS) {
        return one_line(body);
    }
    const std::string message = text_at(root, "/message");
    return message.empty() ? one_line(body) : one_line(message);
}

}  // namespace trueup::executors
