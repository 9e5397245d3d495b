// A list that is filled and cleared over and over: elements keep their memory for the next round.
//
// `add` hands out an element with whatever an earlier round left in it: the caller sets every
// member. References stay valid until the next `add`. Not thread-safe.
#pragma once

#include <cstddef>
#include <vector>

namespace trueup {

template <typename T>
class Recycled {
  public:
    T& add() {
        if (size_ == items_.size()) items_.emplace_back();
        return items_[size_++];
    }
    void clear() { size_ = 0; }
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    const T& operator[](std::size_t i) const { return items_[i]; }
    const T* begin() const { return items_.data(); }
    const T* end() const { return items_.data() + size_; }

  private:
    std::vector<T> items_;
    std::size_t size_ = 0;
};

}  // namespace trueup
