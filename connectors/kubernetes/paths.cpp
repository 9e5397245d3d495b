#include "connectors/kubernetes/paths.h"

#include "engine/base/json_string.h"

#include <cstddef>
#include <map>
#include <vector>

namespace trueup::connectors {

namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

/// Appends `&name=value`, or nothing for an empty value.
void add(std::string& path, std::string_view name, std::string_view value) {
    if (value.empty()) return;
    path += path.find('?') == std::string::npos ? '?' : '&';
    path += name;
    path += '=';
    path += url_encode(value);
}

/// `Background` of `background`.
std::string capitalized(std::string word) {
    if (!word.empty() && word.front() >= 'a' && word.front() <= 'z') word.front() -= 'a' - 'A';
    return word;
}

/// What is set, by where: those of one name above stand next to each other.
using Places = std::map<std::vector<std::string>, std::string>;

/// The object whose fields are these, `depth` names below the top.
std::string object_of(Places::const_iterator from, Places::const_iterator to, std::size_t depth) {
    std::string body = "{";
    while (from != to) {
        const std::string& name = from->first[depth];
        auto next = from;
        while (next != to && next->first[depth] == name) ++next;
        if (body.size() > 1) body += ',';
        body += json_string(name) + ':';
        const bool leaf = from->first.size() == depth + 1;
        body += leaf ? from->second : object_of(from, next, depth + 1);
        from = next;
    }
    return body + '}';
}

}  // namespace

std::string url_encode(std::string_view text) {
    std::string encoded;
    for (const char c : text) {
        if (is_plain(c)) {
            encoded += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded += '%';
        encoded += kHex[byte >> 4U];
        encoded += kHex[byte & 15U];
    }
    return encoded;
}

std::string collection_path(const ports::Resource& resource) {
    std::string path = resource.api_path;
    if (!resource.name_space.empty()) path += "/namespaces/" + url_encode(resource.name_space);
    return path + "/" + url_encode(resource.plural);
}

std::string object_path(const ports::Resource& resource, std::string_view name) {
    return collection_path(resource) + "/" + url_encode(name);
}

std::string list_path(const ports::ListPage& request) {
    std::string path = collection_path(request.resource);
    add(path, "labelSelector", request.label_selector);
    if (request.limit != 0) add(path, "limit", std::to_string(request.limit));
    add(path, "continue", request.continue_token);
    add(path, "resourceVersion", request.resource_version);
    return path;
}

std::string watch_path(const ports::WatchFrom& request) {
    std::string path = collection_path(request.resource);
    add(path, "watch", "1");
    add(path, "labelSelector", request.label_selector);
    add(path, "resourceVersion", request.resource_version);
    add(path, "timeoutSeconds", std::to_string(request.timeout_seconds));
    if (request.bookmarks) add(path, "allowWatchBookmarks", "true");
    return path;
}

std::string delete_body(const ports::DeleteObject& request) {
    // What an object owns goes with it: batch/v1 leaves pods behind unless it is told.
    std::string body = R"({"kind":"DeleteOptions","apiVersion":"v1",)";
    body += R"("propagationPolicy":)" + json_string(capitalized(request.propagation)) + ',';
    if (request.grace_period_seconds) {  // without it the object's own holds
        body += R"("gracePeriodSeconds":)" + std::to_string(*request.grace_period_seconds) + ",";
    }
    return body + R"("preconditions":{"uid":)" + json_string(request.uid) +
           R"(,"resourceVersion":)" + json_string(request.resource_version) + "}}";
}

std::string create_path(const ports::CreateObject& request) {
    std::string path = collection_path(request.resource);
    add(path, "fieldManager", "trueup");
    // Else a field that the schema does not have is dropped without a word.
    add(path, "fieldValidation", "Strict");
    return path;
}

std::string patch_path(const ports::PatchObject& request) {
    std::string path = object_path(request.resource, request.name);
    if (!request.subresource.empty()) path += "/" + url_encode(request.subresource);
    add(path, "fieldManager", "trueup");
    return path;
}

std::string patch_body(const ports::PatchObject& request) {
    Places places{{{"metadata", "uid"}, json_string(request.uid)},
                  {{"metadata", "resourceVersion"}, json_string(request.resource_version)}};
    for (const ports::PatchObject::Set& set : request.sets) {
        const std::string text = !set.value ? "null"
                                 : set.bare ? *set.value
                                            : json_string(*set.value);
        places.emplace(set.path, text);
    }
    return object_of(places.begin(), places.end(), 0);
}

}  // namespace trueup::connectors
