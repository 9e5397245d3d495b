#include "connectors/kubernetes/decode.h"

#include "connectors/kubernetes/line_reader.h"
#include "engine/base/guard.h"
#include "engine/model/object_builder.h"
#include "engine/world/field_at.h"
#include "engine/world/kube.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace trueup::connectors {

namespace {

using world::at;
using world::KubeView;
using world::Node;
using world::text;
using world::text_or_empty;
using world::value;

constexpr std::size_t kMaxName = 253;  // of the key grammar and of Kubernetes

/// resourceVersions are decimal numbers that may be ordered within one resource. Anything else is
/// not a version.
std::optional<std::uint64_t> version_of(std::string_view said) {
    std::uint64_t version = 0;
    const char* end = said.data() + said.size();
    // To its end: read up to the first odd character it would be a smaller one, and look like a
    // server that went back.
    const auto [stopped, flaw] = std::from_chars(said.data(), end, version);
    if (flaw != std::errc() || stopped != end || version == 0) return std::nullopt;
    return version;
}

bool usable_name(std::string_view name) {
    // A slash would put the object under another policy's keys.
    return !name.empty() && name.size() <= kMaxName && name.find('/') == std::string_view::npos;
}

/// Writes the fields, which come to it in ascending order of name, and those of paths between them.
class Fields {
  public:
    Fields(const Node& object, const Mapping& mapping) : object_(object), mapping_(mapping) {}

    void add(std::string_view name, std::string_view value) {
        if (comes_to(name)) written_.add(name, value);
    }
    void add_unchanged(std::string_view name) {
        if (comes_to(name)) written_.add_unchanged(name);
    }
    /// What may be published of it.
    void publish(std::string_view name, std::string_view value) {
        if (comes_to(name)) choose(name, value);
    }
    std::string take() {
        while (next_ < mapping_.paths.size()) add_path();
        return written_.take();
    }

  private:
    /// Adds the paths before it. False: one of them has its name.
    bool comes_to(std::string_view name) {
        while (next_ < mapping_.paths.size() && mapping_.paths[next_].name < name) add_path();
        return next_ == mapping_.paths.size() || mapping_.paths[next_].name != name;
    }
    void add_path() {
        const policy::FieldPath& path = mapping_.paths[next_++];
        const world::FieldAt said = world::field_at(object_, path);
        if (said.kind == world::FieldAt::Kind::kText) choose(path.name, said.text);
        if (said.kind == world::FieldAt::Kind::kUnreadable) written_.add_unchanged(path.name);
    }
    void choose(std::string_view name, std::string_view value) {
        mapping_.fields.add(written_, name, mapping_.fields.of(name), value);
    }

    const Node& object_;
    const Mapping& mapping_;
    ObjectBuilder written_;
    std::size_t next_ = 0;  ///< of the paths
};

/// managedFields and all the rest are never looked at.
std::string encode(const Node& object, const KubeView& seen, const Mapping& mapping,
                   bool in_scope) {
    Fields fields(object, mapping);
    if (!seen.created().empty()) fields.publish("created", seen.created());
    if (seen.deleting()) fields.add("deleting", "true");
    if (seen.held(mapping.veto_label)) {
        fields.add("hold", "true");
    } else if (!mapping.selector.empty() && !seen.has_labels()) {
        fields.add_unchanged("hold");  // nobody can say that there is none (S23)
    }
    if (!in_scope) fields.add("in_scope", "false");
    for (const std::string& label : mapping.labels) {
        const std::optional<std::string_view> value = seen.label(label);
        if (value) fields.publish("label." + label, *value);
    }
    fields.add("name", seen.name());
    if (!seen.name_space().empty()) fields.add("namespace", seen.name_space());
    if (!seen.node().empty()) fields.publish("node", seen.node());
    if (!seen.phase().empty()) fields.add("phase", seen.phase());
    return fields.take();
}

Result<KubeObject> read_object(const Node& object, const Mapping& mapping, bool in_scope) {
    const KubeView seen(object);
    if (seen.uid().empty() || !usable_name(seen.name())) {
        return Error{Next::kSkip, Code::kInvalid,
                     "an object without a usable uid or name ('" +
                         std::string(seen.name().substr(0, kMaxName)) + "')"};
    }
    KubeObject found;
    found.uid = seen.uid();
    found.name = seen.name();
    found.name_space = seen.name_space();
    const std::optional<std::uint64_t> version = version_of(seen.resource_version());
    if (!version) {
        return Error{Next::kSkip, Code::kInvalid,
                     "the resourceVersion of " + found.name + " is not a number"};
    }
    found.version = *version;
    found.ending = seen.ending();
    found.selected = seen.selected_by(mapping.selector);
    if (mapping.key_label.empty()) {
        found.key = found.name;
    } else if (const auto key = seen.label(mapping.key_label); key && usable_name(*key)) {
        found.key = std::string(*key);
    }
    found.encoded = encode(object, seen, mapping, in_scope);
    return found;
}

/// Of an object that the server says its selector takes: it has to carry the labels that say so. If
/// they are missing, then so may be a hold, or the one that is its key (S23).
Status as_selected(const KubeObject& object) {
    if (object.selected || !TRUEUP_GUARD("kubernetes_labels_as_selected")) return Done{};
    return Error{Next::kSkip, Code::kInvalid,
                 object.name + " is shown without the labels it is selected by"};
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

Decoder::Decoder(Mapping mapping) : mapping_(std::move(mapping)) {
    std::sort(mapping_.labels.begin(), mapping_.labels.end());
    const auto last = std::unique(mapping_.labels.begin(), mapping_.labels.end());
    mapping_.labels.erase(last, mapping_.labels.end());
    std::sort(mapping_.paths.begin(), mapping_.paths.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    // Written down for each field, so that no name is looked at again with each object.
    std::vector<std::string> names{"created", "node"};
    for (const std::string& label : mapping_.labels) names.push_back("label." + label);
    for (const policy::FieldPath& path : mapping_.paths) names.push_back(path.name);
    for (const std::string& name : names) {
        mapping_.fields.named.try_emplace(name, mapping_.fields.of(name));
    }
}

struct Decoder::List {
    std::uint64_t version = 0;
    std::string_view continue_token;
    simdjson::dom::array items;
};

Result<Decoder::List> Decoder::list(std::string_view body) {
    const Node list = json_.read(body);
    if (!list) return Error{Next::kRetry, Code::kCorrupt, "the list is not JSON, or was truncated"};
    const std::string_view kind = text_or_empty(list, "kind");
    // A proxy or a login page may answer 200 with JSON as well.
    if (kind.size() <= 4 || !kind.ends_with("List")) {
        return Error{Next::kRetry, Code::kInvalid,
                     "expected a list, got the kind '" + std::string(kind) + "'"};
    }
    const Node metadata = at(list, "metadata");
    const std::optional<std::uint64_t> version =
        version_of(text_or_empty(metadata, "resourceVersion"));
    if (!version) {
        return Error{Next::kRetry, Code::kInvalid, "the list's resourceVersion is not a number"};
    }
    const auto items = value<simdjson::dom::array>(list, "items");
    if (!items) return Error{Next::kRetry, Code::kInvalid, "the list has no items"};
    return List{*version, text_or_empty(metadata, "continue"), *items};
}

Result<std::uint64_t> Decoder::list_version(std::string_view body) {
    const Result<List> read = list(body);
    if (!read) return read.error();
    return read->version;
}

Result<KubePage> Decoder::page(std::string_view body) {
    const Result<List> read = list(body);
    if (!read) return read.error();
    KubePage found;
    found.version = read->version;
    found.continue_token = read->continue_token;
    for (const simdjson::dom::element item : read->items) {
        // One item that is left out would be absent, and proven so.
        Result<KubeObject> object = read_object(item, mapping_, true);
        if (!object) {
            return Error{Next::kRetry, object.error().code, "in the list: " + object.error().what};
        }
        const Status whole = as_selected(*object);
        if (!whole) {
            return Error{Next::kRetry, whole.error().code, "in the list: " + whole.error().what};
        }
        found.items.push_back(std::move(*object));
    }
    return found;
}

Result<WatchEvent> Decoder::event(std::string_view line) {
    const Node body = json_.read(line);
    if (!body) return Error{Next::kRetry, Code::kCorrupt, "a line of the watch is not JSON"};
    // JSON that is no event of ours may come from a newer server: the stream goes on, but what the
    // line told is not known. What is not JSON shows that the stream itself is broken.
    const std::optional<WatchEvent::Type> type = type_of(text_or_empty(body, "type"));
    const Node object = at(body, "object");
    if (!type || !object) {
        return Error{Next::kSkip, Code::kInvalid, "a line of the watch is not an event"};
    }
    WatchEvent found;
    found.type = *type;
    if (*type == WatchEvent::Type::kError) {
        found.status = world::read_status(object).value_or(KubeStatus{});
        return found;
    }
    if (*type == WatchEvent::Type::kBookmark) {
        const std::optional<std::uint64_t> version =
            version_of(KubeView(object).resource_version());
        if (!version) {
            return Error{Next::kSkip, Code::kInvalid,
                         "a bookmark's resourceVersion is not a number"};
        }
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

Result<KubeObject> Decoder::out_of_scope(std::string_view body) {
    const Node object = json_.read(body);
    if (!object)
        return Error{Next::kRetry, Code::kCorrupt, "the object is not JSON, or was truncated"};
    // A Status that came as 200 names no object and must not be taken for one.
    if (text(object, "kind") == "Status") {
        return Error{Next::kRetry, Code::kInvalid, "expected an object, got a Status"};
    }
    return read_object(object, mapping_, false);
}

std::optional<KubeStatus> Decoder::status(std::string_view body) {
    const Node found = json_.read(body);
    return world::read_status(found);
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
