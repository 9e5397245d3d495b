// The passes of a shard in the process's own log (events.h). Not thread-safe.
#pragma once

#include "engine/core/meta.h"
#include "engine/model/exports.h"

#include <cstdint>
#include <vector>

namespace trueup::apps {

/// `reconciliation_pass_completed`, once for each pass, with the fields that the policy asks for.
class PassLog {
  public:
    void look(const core::Meta& meta, const std::vector<policy::Event>& events);

  private:
    std::uint64_t completed_ = 0;
    std::uint64_t millis_ = 0;
    std::vector<std::uint64_t> mended_;
    bool started_ = false;
};

}  // namespace trueup::apps
