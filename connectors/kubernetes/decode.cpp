#include "connectors/kubernetes/decode.h"

#include "engine/base/guard.h"
#include "engine/model/object.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace trueup::connectors {

namespace {

using simdjson::dom::element;

constexpr std::size_t kMaxName = 253;  // of the key grammar and of Kubernetes

/// A value that may not be there; so a path can be walked without asking at each step.
using Node = std::optional<element>;

Node at(const Node& parent, std::string_view name) {
    element found;
    if (!parent || (*parent)[name].get(found) != simdjson::SUCCESS) return std::nullopt;
    return found;
}

/// The string, number or array under `name`; nullopt when there is none of that type.
template <typename T>
std::optional<T> value(const Node& parent, std::string_view name) {
    const Node node = at(parent, name);
    T found{};
    if (!node || node->get(found) != simdjson::SUCCESS) return std::nullopt;
    return found;
}

std::optional<std::string_view> text(const Node& parent, std::string_view name) {
    return value<std::string_view>(parent, name);
}

std::string text_or_empty(const Node& parent, std::string_view name) {
    return std::string(text(parent, name).value_or(std::string_view()));
}

/// resourceVersions are decimal numbers that may be ordered within one resource. Anything else is
/// not a version.
std::optional<std::uint64_t> version_of(const Node& metadata) {
    const std::optional<std::string_view> said = text(metadata, "resourceVersion");
    if (!said || said->empty()) return std::nullopt;
    std::uint64_t version = 0;
    const char* end = said->data() + said->size();
    const auto [stopped, flaw] = std::from_chars(said->data(), end, version);
    if (flaw != std::errc() || stopped != end || version == 0) return std::nullopt;
    return version;
}

bool usable_name(std::string_view name) {
    return !name.empty() && name.size() <= kMaxName && name.find('/') == std::string_view::npos;
}

/// A veto counts unless it says "false": better held than sorry.
bool is_held(const Node& metadata, std::string_view key) {
    if (key.empty()) return false;
    for (const char* where : {"labels", "annotations"}) {
        const std::optional<std::string_view> said = text(at(metadata, where), key);
        if (said && *said != "false") return true;
    }
    return false;
}

bool has_labels(const Node& metadata) {
    const auto labels = value<simdjson::dom::object>(metadata, "labels");
    return labels && labels->size() > 0;
}

bool is_selected(const Node& metadata, const ports::Selector& selector) {
    const Node labels = at(metadata, "labels");
    return selector.matches([&labels](std::string_view key) { return text(labels, key); });
}

bool is_ending(const Node& metadata) {
    if (!text(metadata, "deletionTimestamp")) return false;
    if (value<std::int64_t>(metadata, "deletionGracePeriodSeconds").value_or(0) != 0) return false;
    const auto finalizers = value<simdjson::dom::array>(metadata, "finalizers");
    return !finalizers || finalizers->size() == 0;
}

/// The fields in ascending order of name. managedFields and all the rest are never looked at.
std::string encode(const Node& object, const Mapping& mapping, const KubeObject& known,
                   bool in_scope) {
    const Node metadata = at(object, "metadata");
    ObjectBuilder fields;
    const auto add = [&](std::string_view name, const std::optional<std::string_view>& value) {
        if (value && !value->empty()) fields.add(name, *value);
    };
    const auto publish = [&](std::string_view name, std::string_view value) {
        mapping.fields.add(fields, name, mapping.fields.of(name), value);
    };
    const std::optional<std::string_view> created = text(metadata, "creationTimestamp");
    const std::optional<std::string_view> node = text(at(object, "spec"), "nodeName");
    if (created && !created->empty()) publish("created", *created);
    if (text(metadata, "deletionTimestamp")) fields.add("deleting", "true");
    const bool whole = mapping.selector.empty() || has_labels(metadata);
    if (is_held(metadata, mapping.hold_key)) {
        fields.add("hold", "true");
    } else if (!whole) {
        fields.add_unchanged("hold");  // nobody can say that there is none (S23)
    }
    if (!in_scope) fields.add("in_scope", "false");
    for (const std::string& label : mapping.labels) {
        const std::optional<std::string_view> value = text(at(metadata, "labels"), label);
        if (value) publish("label." + label, *value);
    }
    fields.add("name", known.name);
    add("namespace", std::string_view(known.name_space));
    if (node && !node->empty()) publish("node", *node);
    add("phase", text(at(object, "status"), "phase"));
    return fields.take();
}

Result<KubeObject> read_object(const Node& object, const Mapping& mapping, bool in_scope) {
    const Node metadata = at(object, "metadata");
    KubeObject found;
    found.uid = text_or_empty(metadata, "uid");
    found.name = text_or_empty(metadata, "name");
    found.name_space = text_or_empty(metadata, "namespace");
    if (found.uid.empty() || !usable_name(found.name)) {
        return Error{Next::kSkip, "an object without a usable uid or name ('" +
                                      found.name.substr(0, kMaxName) + "')"};
    }
    const std::optional<std::uint64_t> version = version_of(metadata);
    if (!version) {
        return Error{Next::kSkip, "the resourceVersion of " + found.name + " is not a number"};
    }
    found.version = *version;
    found.ending = is_ending(metadata);
    found.selected = is_selected(metadata, mapping.selector);
    found.key = found.name;
    if (!mapping.key_label.empty()) {
        const std::optional<std::string_view> key = text(at(metadata, "labels"), mapping.key_label);
        if (key && usable_name(*key)) found.key = std::string(*key);
    }
    found.encoded = encode(object, mapping, found, in_scope);
    return found;
}

/// Of an object that the server says its selector takes: it has to carry the labels that say so. If
/// they are missing, then so may be a hold, or the one that is its key (S23).
Status as_selected(const KubeObject& object) {
    if (object.selected || !TRUEUP_GUARD("kubernetes_labels_as_selected")) return Done{};
    return Error{Next::kSkip, object.name + " is shown without the labels it is selected by"};
}

std::optional<KubeStatus> read_status(const Node& body) {
    if (text(body, "kind") != "Status") return std::nullopt;
    KubeStatus found;
    const std::int64_t code = value<std::int64_t>(body, "code").value_or(0);
    found.code = static_cast<int>(std::clamp<std::int64_t>(code, 0, 999));
    found.reason = text_or_empty(body, "reason");
    found.message = text_or_empty(body, "message").substr(0, 500);
    const Node details = at(body, "details");
    found.name = text_or_empty(details, "name");
    const std::int64_t seconds = value<std::int64_t>(details, "retryAfterSeconds").value_or(0);
    found.retry_after = Millis(1000 * std::clamp<std::int64_t>(seconds, 0, 3600));
    return found;
}

std::optional<WatchEvent::Type> type_of(std::string_view said) {
    if (said == "ADDED") return WatchEvent::Type::kAdded;
    if (said == "MODIFIED") return WatchEvent::Type::kModified;
    if (said == "DELETED") return WatchEvent::Type::kDeleted;
    if (said == "BOOKMARK") return WatchEvent::Type::kBookmark;
    if (said == "ERROR") return WatchEvent::Type::kError;
    return std::nullopt;
}

}  // namespace

struct Decoder::Parser {
    simdjson::dom::parser json;

    Node read(std::string_view body) {
        element found;
        if (json.parse(body.data(), body.size()).get(found) != simdjson::SUCCESS) {
            return std::nullopt;
        }
        return found;
    }
};

Decoder::Decoder(Mapping mapping)
    : mapping_(std::move(mapping)), parser_(std::make_unique<Parser>()) {
    std::sort(mapping_.labels.begin(), mapping_.labels.end());
    const auto last = std::unique(mapping_.labels.begin(), mapping_.labels.end());
    mapping_.labels.erase(last, mapping_.labels.end());
    // Written down for each field, so that no name is looked at again with each object.
    std::vector<std::string> names{"created", "node"};
    for (const std::string& label : mapping_.labels) names.push_back("label." + label);
    for (const std::string& name : names) {
        mapping_.fields.named.try_emplace(name, mapping_.fields.of(name));
    }
}

Decoder::~Decoder() = default;

Result<KubePage> Decoder::page(std::string_view body) {
    const Node list = parser_->read(body);
    if (!list) return Error{Next::kRetry, "the list is not JSON, or was cut"};
    const std::string_view kind = text(list, "kind").value_or(std::string_view());
    if (kind.size() <= 4 || !kind.ends_with("List")) {
        return Error{Next::kRetry, "expected a list, got the kind '" + std::string(kind) + "'"};
    }
    const Node metadata = at(list, "metadata");
    const std::optional<std::uint64_t> version = version_of(metadata);
    if (!version) return Error{Next::kRetry, "the list's resourceVersion is not a number"};
    const auto items = value<simdjson::dom::array>(list, "items");
    if (!items) return Error{Next::kRetry, "the list has no items"};
    KubePage found;
    found.version = *version;
    found.continue_token = text_or_empty(metadata, "continue");
    for (const element item : *items) {
        Result<KubeObject> object = read_object(item, mapping_, true);
        if (!object) return Error{Next::kRetry, "in the list: " + object.error().what};
        const Status whole = as_selected(*object);
        if (!whole) return Error{Next::kRetry, "in the list: " + whole.error().what};
        found.items.push_back(std::move(*object));
    }
    return found;
}

Result<WatchEvent> Decoder::event(std::string_view line) {
    const Node body = parser_->read(line);
    if (!body) return Error{Next::kRetry, "a line of the watch is not JSON"};
    const std::optional<WatchEvent::Type> type =
        type_of(text(body, "type").value_or(std::string_view()));
    const Node object = at(body, "object");
    if (!type || !object) {
        return Error{Next::kSkip, "a line of the watch is not an event"};
    }
    WatchEvent found;
    found.type = *type;
    if (*type == WatchEvent::Type::kError) {
        found.status = read_status(object).value_or(KubeStatus{});
        return found;
    }
    if (*type == WatchEvent::Type::kBookmark) {
        const std::optional<std::uint64_t> version = version_of(at(object, "metadata"));
        if (!version) return Error{Next::kSkip, "a bookmark's resourceVersion is not a number"};
        found.version = *version;
        return found;
    }
    Result<KubeObject> read = read_object(object, mapping_, true);
    if (!read) return read.error();
    // What leaves the selector is DELETED as it was, or as it has become.
    const Status whole = *type == WatchEvent::Type::kDeleted ? Status(Done{}) : as_selected(*read);
    if (!whole) return whole.error();
    found.object = std::move(*read);
    found.version = found.object.version;
    return found;
}

Result<KubeObject> Decoder::stray(std::string_view body) {
    const Node object = parser_->read(body);
    if (!object) return Error{Next::kRetry, "the object is not JSON, or was cut"};
    if (text(object, "kind") == "Status") {
        return Error{Next::kRetry, "expected an object, got a Status"};
    }
    return read_object(object, mapping_, false);
}

std::optional<KubeStatus> Decoder::status(std::string_view body) {
    const Node found = parser_->read(body);
    return found ? read_status(*found) : std::nullopt;
}

void LineReader::feed(std::string_view chunk) {
    if (begin_ == buffer_.size()) clear();
    if (begin_ > kMaxLine) {  // give the handed-out part back, seldom enough to cost nothing
        buffer_.erase(0, begin_);
        scanned_ -= begin_;
        begin_ = 0;
    }
    buffer_ += chunk;
}

std::optional<std::string_view> LineReader::next() {
    if (too_long_) return std::nullopt;
    const std::size_t end = buffer_.find('\n', scanned_);
    const std::size_t length = (end == std::string::npos ? buffer_.size() : end) - begin_;
    if (length > kMaxLine) {
        too_long_ = true;
        return std::nullopt;
    }
    if (end == std::string::npos) {
        scanned_ = buffer_.size();
        return std::nullopt;
    }
    const std::string_view line(buffer_.data() + begin_, length);
    begin_ = end + 1;
    scanned_ = begin_;
    return line;
}

void LineReader::clear() {
    buffer_.clear();
    begin_ = 0;
    scanned_ = 0;
    too_long_ = false;
}

}  // namespace trueup::connectors
