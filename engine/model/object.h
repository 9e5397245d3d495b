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
    bool valid() const;

    /// The field of that name, or nullopt when it is not listed. O(size).
    std::optional<Field> find(std::string_view name) const;

    /// The text of a field; nullopt when it is missing, null or unchanged.
    std::optional<std::string_view> text(std::string_view name) const;

    /// True when the field is there, was sent, and equals `value`.
    bool is(std::string_view name, std::string_view value) const;

    /// Is any field `unchanged`? One look for a single byte says no for most objects.
    bool has_unchanged() const;

    /// Calls `visit(Field)` for each field in order.
    template <typename Visitor>
    void each(Visitor&& visit) const {
        std::string_view rest = bytes_;
        while (const std::optional<Field> field = next(rest)) visit(*field);
    }

    std::string_view bytes() const { return bytes_; }

  private:
    /// Takes the first field off `rest`; nullopt at the end or at a flaw (then `rest` is not
    /// empty).
    static std::optional<Field> next(std::string_view& rest);
    std::string_view bytes_;
};

/// Writes encoded fields. Add them in ascending order of name, so that equal objects are equal
/// bytes.
class ObjectBuilder {
  public:
    ObjectBuilder& add(std::string_view name, std::string_view value);
    ObjectBuilder& add_null(std::string_view name);
    ObjectBuilder& add_unchanged(std::string_view name);
    ObjectBuilder& add(const Field& field);
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

/// `now` with each unchanged field filled in from `before`; fields that `before` lacks stay
/// unchanged. Returns `now` as it is when nothing is unchanged.
std::string fill_unchanged(ObjectView now, ObjectView before);

}  // namespace trueup
