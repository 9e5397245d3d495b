// A value for each partition of a simulated log. Not thread-safe.
#pragma once

#include "engine/ports/records.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace trueup::simulation {

/// Each is made when it is asked for, and stays where it is.
template <typename Value>
class ByPartition {
  public:
    Value& operator[](ports::Partition partition) {
        const std::size_t place = static_cast<std::size_t>(partition.index.value()) * kTopics +
                                  static_cast<std::size_t>(partition.topic);
        if (place < values_.size() && values_[place]) return *values_[place];
        return make(place);
    }

  private:
    [[gnu::noinline]] Value& make(std::size_t place) {
        if (values_.size() <= place) values_.resize(place + 1);
        values_[place] = std::make_unique<Value>();
        return *values_[place];
    }

    std::vector<std::unique_ptr<Value>> values_;
};

}  // namespace trueup::simulation
