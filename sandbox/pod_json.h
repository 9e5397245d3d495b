// The API server's answers as JSON text: pods, lists, watch events and Status objects.
#pragma once

#include "sandbox/types.h"

#include <memory>
#include <string>
#include <string_view>

namespace trueup::sandbox {

/// With `kind` and `apiVersion`, as a GET and a watch have them; the items of a list lack both.
std::string pod_json(const Pod& pod, bool with_kind, bool with_labels = true);

/// One line of a watch, newline included.
std::string watch_line(std::string_view type, std::string_view object_json);
std::string bookmark_line(std::uint64_t resource_version);

std::string pod_list_json(const std::vector<std::shared_ptr<const Pod>>& pods,
                          std::uint64_t resource_version, std::string_view continue_token,
                          std::size_t remaining, bool with_labels = true);

struct StatusObject {
    int code = 500;
    std::string reason;
    std::string message;
    std::string name = {};            ///< in details; empty: none
    std::string continue_token = {};  ///< in metadata: of an expired list
    std::int64_t retry_after_seconds = 0;
    std::string cause = {};
};
std::string status_json(const StatusObject& status);

/// The Status that the server sends with a bare HTTP status.
StatusObject status_of(int http_status);

StatusObject not_found(std::string_view name);
StatusObject already_exists(std::string_view name);
StatusObject conflict(std::string_view name, std::string_view field, std::string_view wanted,
                      std::string_view actual);

}  // namespace trueup::sandbox
