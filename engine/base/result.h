// Failures of the world as values. Three kinds of error are never mixed: a programmer's error is a
// TRUEUP_CHECK, an expected answer is an enumerator of the return type, and a failure of the world
// is a `Result` whose error names the caller's next move and, for programs, what went wrong.
#pragma once

#include "engine/base/check.h"
#include "engine/base/error.h"

#include <utility>
#include <variant>

namespace trueup {

/// A value or an Error. Reading the side that is not there stops the process.
template <typename T>
class [[nodiscard]] Result {
  public:
    // Both are implicit on purpose: a function returns its value or its error.
    Result(T value)  // NOLINT(google-explicit-constructor)
        : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error)  // NOLINT(google-explicit-constructor)
        : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return checked(), std::get<0>(state_); }
    const T& value() const& { return checked(), std::get<0>(state_); }
    T&& value() && { return checked(), std::get<0>(std::move(state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const {
        TRUEUP_CHECK(!ok());
        return std::get<1>(state_);
    }

  private:
    void checked() const { TRUEUP_CHECK(ok()); }
    std::variant<T, Error> state_;
};

/// The Result of an action that yields nothing.
struct Done {};
using Status = Result<Done>;

}  // namespace trueup
