// A type of its own for a value that is like many others: an id of a command and an id of a
// finding are both 128 bits, and no call may take the one for the other.
//
//     CommandId: Named<Hash128, struct CommandIdTag> (engine/model/ids.h)
//
// It is made from its value and gives it back only where that is written; it compares and prints as
// its value does, and costs nothing: the same bytes, everything inline. No arithmetic: what a type
// may do beyond this is a free function beside its name.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <type_traits>

namespace trueup {

/// `Tag` is never defined; it only tells the types apart. Made without a value it holds Value{}.
template <typename Value, typename Tag>
class Named {
    static_assert(std::is_trivially_copyable_v<Value>, "it is passed and stored as its value is");

  public:
    using value_type = Value;

    constexpr Named() = default;
    constexpr explicit Named(Value value) : value_(value) {}

    constexpr const Value& value() const { return value_; }
    constexpr auto operator<=>(const Named&) const = default;

    /// As the value says it: this names nothing.
    constexpr bool none() const requires requires(const Value& value) { value.none(); }
    { return value_.none(); }

  private:
    Value value_{};
};

}  // namespace trueup

template <typename Value, typename Tag>
requires requires(const Value& value) { std::hash<Value>{}(value); }
struct std::hash<trueup::Named<Value, Tag>> {
    std::size_t operator()(const trueup::Named<Value, Tag>& named) const {
        return std::hash<Value>{}(named.value());
    }
};
