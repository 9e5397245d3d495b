// A list of which there are few as a rule: up to N lie where the list itself does, without a
// block of memory.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace trueup {

/// Grows only. Pointers and iterators are void behind the next `push_back`. Not thread-safe.
template <typename T, std::size_t N>
class Few {
  public:
    static_assert(std::is_trivially_copyable_v<T>);

    Few() = default;
    explicit Few(std::span<const T> all) {
        for (const T& each : all) push_back(each);
    }

    void push_back(const T& each) {
        if (size_ < N) {
            own_[size_] = each;
        } else {
            if (size_ == N) more_.assign(own_.begin(), own_.end());
            more_.push_back(each);
        }
        ++size_;
    }

    const T* data() const { return size_ <= N ? own_.data() : more_.data(); }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    const T& front() const { return *data(); }

  private:
    std::array<T, N> own_{};  ///< all of them, while they are N at most
    std::vector<T> more_;     ///< all of them, once they are more
    std::size_t size_ = 0;
};

}  // namespace trueup
