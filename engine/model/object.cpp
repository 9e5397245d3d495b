#include "engine/model/object.h"

#include "engine/base/varint.h"
#include "engine/model/object_builder.h"

#include <cstddef>
#include <cstdint>

namespace trueup {

namespace {

// Protobuf tags: (field number << 3) | wire type; 2 = length-delimited, 0 = varint.
constexpr char kFieldTag = 0x0a;
constexpr char kNameTag = 0x0a;
constexpr char kValueTag = 0x12;
constexpr char kUnchangedTag = 0x18;

constexpr std::ptrdiff_t kMaxLength = 5;  // bytes of a length; the generated code reads no more

void put_bytes(std::string& out, char tag, std::string_view bytes) {
    out += tag;
    append_varint(out, bytes.size());
    out += bytes;
}

std::optional<std::string_view> take_bytes(std::string_view& rest) {
    const std::size_t first = rest.empty() ? 0x80 : static_cast<unsigned char>(rest.front());
    if (first < 0x80 && first < rest.size()) {  // nearly all of them
        const std::string_view taken = rest.substr(1, first);
        rest.remove_prefix(1 + first);
        return taken;
    }
    const char* at = rest.data();
    std::uint64_t length = 0;
    if (!read_varint(at, rest.data() + rest.size(), length)) return std::nullopt;
    if (at - rest.data() > kMaxLength) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
    if (length > rest.size()) return std::nullopt;
    const std::string_view taken = rest.substr(0, length);
    rest.remove_prefix(length);
    return taken;
}

/// A look at the bytes that saves taking most other fields apart. Names of 128 bytes and more are
/// led by a longer length.
bool may_have_name(std::string_view body, std::string_view name) {
    if (name.size() >= 0x80) return true;
    return body.size() >= 2 + name.size() && body[1] == static_cast<char>(name.size()) &&
           body.substr(2, name.size()) == name;
}

}  // namespace

bool ObjectView::next_long(std::string_view& rest, Field& out) {
    if (rest.empty() || rest.front() != kFieldTag) return false;
    std::string_view tail = rest.substr(1);
    std::optional<std::string_view> body = take_bytes(tail);
    if (!body || body->empty() || body->front() != kNameTag) return false;
    body->remove_prefix(1);
    const std::optional<std::string_view> name = take_bytes(*body);
    if (!name) return false;
    out = {*name, std::nullopt, false};
    if (!body->empty() && body->front() == kValueTag) {
        body->remove_prefix(1);
        out.value = take_bytes(*body);
        if (!out.value) return false;
    } else if (body->size() == 2 && (*body)[0] == kUnchangedTag && (*body)[1] == 1) {
        out.unchanged = true;
        body->remove_prefix(2);
    }
    if (!body->empty()) return false;
    rest = tail;
    return true;
}

std::optional<Field> ObjectView::find(std::string_view name) const {
    std::string_view rest = bytes_;
    while (!rest.empty() && rest.front() == kFieldTag) {
        std::string_view tail = rest.substr(1);
        const std::optional<std::string_view> body = take_bytes(tail);
        if (!body) break;
        if (may_have_name(*body, name)) {
            Field field;
            if (!next(rest, field)) return std::nullopt;
            if (field.name == name) return field;
        }
        rest = tail;
    }
    return std::nullopt;
}

std::optional<std::string_view> ObjectView::text(std::string_view name) const {
    const std::optional<Field> field = find(name);
    return field ? field->value : std::nullopt;
}

bool ObjectView::is(std::string_view name, std::string_view value) const {
    const std::optional<std::string_view> found = text(name);
    return found && *found == value;
}

bool ObjectView::has_unchanged() const {
    // Whoever says "unchanged" writes this tag; its byte may also be part of a text or a length.
    if (bytes_.find(kUnchangedTag) == std::string_view::npos) return false;
    bool any = false;
    each([&](const Field& field) { any = any || field.unchanged; });
    return any;
}

ObjectBuilder& ObjectBuilder::add(const Field& field) {
    std::string body;
    put_bytes(body, kNameTag, field.name);
    if (field.unchanged) {
        body += kUnchangedTag;
        body += '\1';
    } else if (field.value) {
        put_bytes(body, kValueTag, *field.value);
    }
    put_bytes(bytes_, kFieldTag, body);
    return *this;
}

ObjectBuilder& ObjectBuilder::add(std::string_view name, std::string_view value) {
    return add(Field{name, value, false});
}

ObjectBuilder& ObjectBuilder::add_null(std::string_view name) {
    return add(Field{name, std::nullopt, false});
}

ObjectBuilder& ObjectBuilder::add_unchanged(std::string_view name) {
    return add(Field{name, std::nullopt, true});
}

std::string fill_unchanged(ObjectView now, ObjectView before) {
    if (!now.has_unchanged()) return std::string(now.bytes());
    ObjectBuilder filled;
    now.each([&](const Field& field) {
        const std::optional<Field> known = field.unchanged ? before.find(field.name) : std::nullopt;
        filled.add(known ? *known : field);
    });
    return filled.take();
}

}  // namespace trueup
