// An optional value on the heap, with a value's semantics: what is rarely there takes one pointer
// where it is not.
//
// A copy copies the value. Not thread-safe.
#pragma once

#include <memory>
#include <utility>

namespace trueup {

template <typename T>
class Boxed {
  public:
    Boxed() = default;
    Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: as optional
    Boxed(const Boxed& other) : value_(other.value_ ? std::make_unique<T>(*other) : nullptr) {}
    Boxed(Boxed&&) noexcept = default;
    Boxed& operator=(Boxed other) noexcept {
        value_ = std::move(other.value_);
        return *this;
    }
    ~Boxed() = default;

    explicit operator bool() const { return value_ != nullptr; }
    bool has_value() const { return value_ != nullptr; }
    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }
    T* operator->() { return value_.get(); }
    const T* operator->() const { return value_.get(); }
    void reset() { value_.reset(); }

    bool operator==(const Boxed& other) const {
        if (!value_ || !other.value_) return value_ == other.value_;
        return *value_ == *other.value_;
    }

  private:
    std::unique_ptr<T> value_;
};

}  // namespace trueup
