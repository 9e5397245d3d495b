// The fields of one observed object: a flat, ordered list of name → text, null or "unchanged".
//
// The bytes are kept as they came off the wire, in the encoding of the protobuf message
// trueup.v1.Object (schemas/trueup/v1/change.proto): a facet that nobody asks about is never
// parsed. A test in tests/engine/codec holds this reader and the generated code against each other.
//
// Well-known names of a Kubernetes object, whatever its kind: `name`, `namespace`, `phase`, `node`,
// `deleting` ("true" once metadata.deletionTimestamp is set), `in_scope` ("false" when the object
// left the source's selector), `hold` (a veto on the object), `label.<key>` for each mapped label.
// Rows carry their mapped columns under the columns' own names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace trueup {

/// One field. `unchanged` says that the source did not send the value because it did not change
/// (an unchanged TOAST column); it is not null, it is simply not here.
struct Field {
    std::string_view name;
    std::optional<std::string_view> value;  ///< empty means null
    bool unchanged = false;
};

/// Reads encoded fields. Does not own the bytes; copying is free. Thread-safe.
class ObjectView {
  public:
    ObjectView() = default;
    explicit ObjectView(std::string_view bytes) : bytes_(bytes) {}

    /// Is this a well-formed list of fields? Everything below asks for `valid()` bytes; on other
    /// bytes a walk ends at the first flaw, it never reads outside.
    bool valid() const {
        return each([](const Field&) {});
    }

    /// The field of that name, or nullopt when it is not listed. O(size).
    std::optional<Field> find(std::string_view name) const;

    /// The text of a field; nullopt when it is missing, null or unchanged.
    std::optional<std::string_view> text(std::string_view name) const;

    /// True when the field is there, was sent, and equals `value`.
    bool is(std::string_view name, std::string_view value) const;

    /// Is any field `unchanged`? One look for a single byte says no for most objects.
    bool has_unchanged() const;

    /// Calls `visit(Field)` for each field in order. True: the bytes are valid.
    template <typename Visitor>
    bool each(Visitor&& visit) const {
        std::string_view rest = bytes_;
        for (Field field; next(rest, field);) visit(std::as_const(field));
        return rest.empty();
    }

    std::string_view bytes() const { return bytes_; }

  private:
    /// Takes the first field off `rest`; false at the end or at a flaw (then `rest` is not empty).
    static bool next(std::string_view& rest, Field& out) {
        return next_short(rest, out) || next_long(rest, out);
    }
    static bool next_short(std::string_view& rest, Field& out);
    static bool next_long(std::string_view& rest, Field& out);
    std::string_view bytes_;
};

// Protobuf's, of the message Field within Object: nearly all lengths take one byte, and then where
// everything lies follows from three of them. They are read at once: whoever looks at an object
// comes here for each of its fields.
inline bool ObjectView::next_short(std::string_view& rest, Field& out) {
    constexpr unsigned kText = 0x0a;
    constexpr unsigned kValue = 0x12;
    const auto byte = [&rest](std::size_t at) -> unsigned {
        return static_cast<unsigned char>(rest[at]);
    };
    if (rest.size() < 4) return false;
    const unsigned head = byte(0) | byte(1) << 8U | byte(2) << 16U | byte(3) << 24U;
    if ((head & 0x00ff00ffU) != (kText | kText << 16U)) return false;
    const std::size_t body = head >> 8U & 0xffU;
    const std::size_t name = head >> 24U;
    if (body >= 0x80 || body + 2 > rest.size() || name + 2 > body) return false;
    out.name = std::string_view(rest.data() + 4, name);
    out.unchanged = false;
    if (name + 2 == body) {
        out.value.reset();
    } else {
        const std::size_t at = name + 4;
        if (at > body) return false;
        const std::size_t value = body - at;
        if ((byte(at) | byte(at + 1) << 8U) != (kValue | value << 8U)) return false;
        out.value = std::string_view(rest.data() + at + 2, value);
    }
    rest.remove_prefix(body + 2);
    return true;
}

/// `now` with each unchanged field filled in from `before`; fields that `before` lacks stay
/// unchanged. Returns `now` as it is when nothing is unchanged.
std::string fill_unchanged(ObjectView now, ObjectView before);

}  // namespace trueup
