// A value that may be exchanged while others use it: copies of a `Current` share it, so that all
// see the new one at once. Who looked before keeps what it saw.
//
// Thread-safe.
#pragma once

#include "engine/base/mutex.h"

#include <memory>
#include <utility>

namespace trueup {

template <typename T>
class Current {
  public:
    explicit Current(T value = {})
        : cell_(std::make_shared<Cell>(std::make_shared<const T>(std::move(value)))) {}

    /// Never nullptr.
    std::shared_ptr<const T> get() const {
        const MutexLock lock(cell_->mutex);
        return cell_->value;
    }
    void set(std::shared_ptr<const T> value) const {
        const MutexLock lock(cell_->mutex);
        cell_->value.swap(value);  // what is let go ends outside the lock
    }

  private:
    struct Cell {
        explicit Cell(std::shared_ptr<const T> first) : value(std::move(first)) {}
        Mutex mutex;
        std::shared_ptr<const T> value TRUEUP_GUARDED_BY(mutex);
    };
    std::shared_ptr<Cell> cell_;
};

}  // namespace trueup
