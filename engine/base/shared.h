// An immutable value that many hold: a copy takes one pointer, and equal values are equal.
//
// Thread-safe, as a `std::shared_ptr` is: each holder's own copy is for one thread at a time.
#pragma once

#include <memory>
#include <utility>

namespace trueup {

template <typename T>
class Shared {
  public:
    Shared() = default;
    Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}  // NOLINT: as optional

    explicit operator bool() const { return value_ != nullptr; }
    const T& operator*() const { return *value_; }
    const T* operator->() const { return value_.get(); }

    bool operator==(const Shared& other) const {
        if (value_ == other.value_) return true;
        return value_ && other.value_ && *value_ == *other.value_;
    }

  private:
    std::shared_ptr<const T> value_;
};

}  // namespace trueup
