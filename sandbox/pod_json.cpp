#include "sandbox/pod_json.h"

#include "sandbox/json.h"

#include <utility>

namespace trueup::sandbox {

namespace {

/// Shaped like what a real server sends; a reader has to pass over it.
constexpr std::string_view kManagedFields =
    R"([{"manager":"controller","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",)"
    R"("fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:nodeName":{}},)"
    R"("f:status":{"f:phase":{}}}}])";

constexpr std::size_t kUsualBytes = 700;  // of a pod

void put_metadata(JsonWriter& json, const Pod& pod, bool with_labels) {
    json.key("metadata").open_object();
    json.member("name", pod.name);
    json.member("namespace", pod.name_space);
    json.member("uid", pod.uid);
    json.member("resourceVersion", std::to_string(pod.resource_version));
    json.member("creationTimestamp", rfc3339(pod.created_ms));
    if (pod.deletion_ms) {
        json.member("deletionTimestamp", rfc3339(*pod.deletion_ms));
        json.member("deletionGracePeriodSeconds", pod.grace_seconds);
    }
    if (with_labels && !pod.labels.empty()) json.member("labels", pod.labels);
    if (!pod.annotations.empty()) json.member("annotations", pod.annotations);
    if (!pod.finalizers.empty()) json.member("finalizers", pod.finalizers);
    json.key("managedFields").raw(kManagedFields);
    json.close_object();
}

}  // namespace

std::string pod_json(const Pod& pod, bool with_kind, bool with_labels) {
    JsonWriter json(kUsualBytes);
    json.open_object();
    if (with_kind) {
        json.member("kind", "Pod").member("apiVersion", "v1");
    }
    put_metadata(json, pod, with_labels);
    json.key("spec").open_object();
    json.key("containers").raw(R"([{"name":"wrapper","image":"wrapper:1","resources":{}}])");
    json.member("restartPolicy", "Never");
    if (!pod.node.empty()) json.member("nodeName", pod.node);
    json.close_object();
    json.key("status").open_object().member("phase", pod.phase).close_object();
    json.close_object();
    return json.take();
}

std::string watch_line(std::string_view type, std::string_view object_json) {
    JsonWriter json;
    json.open_object().member("type", type).key("object").raw(object_json).close_object();
    return json.take() + "\n";
}

std::string bookmark_line(std::uint64_t resource_version) {
    return watch_line("BOOKMARK",
                      R"({"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":")" +
                          std::to_string(resource_version) +
                          R"(","creationTimestamp":null},"spec":{"containers":null},"status":{}})");
}

std::string pod_list_json(const std::vector<std::shared_ptr<const Pod>>& pods,
                          std::uint64_t resource_version, std::string_view continue_token,
                          std::size_t remaining, bool with_labels) {
    JsonWriter json(kUsualBytes * (pods.size() + 1));
    json.open_object().member("kind", "PodList");
    json.member("apiVersion", "v1");
    json.key("metadata").open_object();
    json.member("resourceVersion", std::to_string(resource_version));
    if (!continue_token.empty()) json.member("continue", continue_token);
    if (remaining > 0) json.member("remainingItemCount", std::uint64_t{remaining});
    json.close_object();
    json.key("items").open_array();
    for (const auto& pod : pods) json.raw(pod_json(*pod, false, with_labels));
    json.close_array().close_object();
    return json.take();
}

std::string status_json(const StatusObject& status) {
    JsonWriter json;
    json.open_object().member("kind", "Status");
    json.member("apiVersion", "v1").key("metadata").open_object();
    if (!status.continue_token.empty()) {
        json.member("continue", status.continue_token);
    }
    json.close_object().member("status", "Failure");
    json.member("message", status.message);
    json.member("reason", status.reason);
    if (!status.name.empty() || status.retry_after_seconds > 0 || !status.cause.empty()) {
        json.key("details").open_object();
        if (!status.name.empty()) {
            json.member("name", status.name);
            json.member("kind", "pods");
        }
        if (!status.cause.empty()) {
            json.key("causes").open_array().open_object();
            json.member("reason", status.cause);
            json.member("message", "Too large resource version");
            json.close_object().close_array();
        }
        if (status.retry_after_seconds > 0) {
            json.member("retryAfterSeconds", status.retry_after_seconds);
        }
        json.close_object();
    }
    json.member("code", std::int64_t{status.code}).close_object();
    return json.take();
}

StatusObject status_of(int http_status) {
    switch (http_status) {
        case 400:
            return {400, "BadRequest", "the server rejected our request"};
        case 401:
            return {401, "Unauthorized", "Unauthorized"};
        case 403:
            return {403, "Forbidden",
                    R"(pods is forbidden: User "nobody" cannot do that to resource "pods")"};
        case 404:
            return {404, "NotFound", "the server could not find the requested resource"};
        case 409:
            return {409, "Conflict", "Operation cannot be fulfilled on pods: try again"};
        case 410:
            return {410, "Expired", "too old resource version: 1 (2)"};
        case 429:
            return {429, "TooManyRequests",
                    "the server has received too many requests, please try again later"};
        case 503:
            return {503, "ServiceUnavailable", "the server is currently unable to handle it"};
        case 504:
            return {504, "Timeout", "Timeout: request did not complete within the allotted time"};
        default:
            return {http_status, "InternalError",
                    "Internal error occurred: etcdserver: request timed out"};
    }
}

StatusObject not_found(std::string_view name) {
    return {404, "NotFound", "pods \"" + std::string(name) + "\" not found", std::string(name)};
}

StatusObject already_exists(std::string_view name) {
    return {409, "AlreadyExists", "pods \"" + std::string(name) + "\" already exists",
            std::string(name)};
}

StatusObject conflict(std::string_view name, std::string_view field, std::string_view wanted,
                      std::string_view actual) {
    std::string message = "Operation cannot be fulfilled on pods \"" + std::string(name) +
                          "\": Precondition failed: ";
    message.append(field).append(" in precondition: ").append(wanted);
    message.append(", ").append(field).append(" in object meta: ").append(actual);
    return {409, "Conflict", std::move(message), std::string(name)};
}

}  // namespace trueup::sandbox
