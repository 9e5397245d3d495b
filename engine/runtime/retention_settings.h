// How long a log is kept (retention.h), and how large it may be. A plain value.
#pragma once

#include "engine/base/time.h"

#include <cstdint>
#include <optional>

namespace trueup::runtime {

struct RetentionSettings {
    /// Of every topic but the journal; none: the log's own matter (a broker's).
    std::optional<Millis> topics = std::nullopt;
    /// Of the journal; none: for ever, as far as `log_bytes` does not say otherwise.
    std::optional<Millis> journal = std::nullopt;
    /// How large the whole log may be before the journal is shortened; none: as large as it gets.
    /// What is as young as the topics are kept stays: it shares its files with them, so that no
    /// room would be made.
    std::optional<std::uint64_t> log_bytes = std::nullopt;
};

}  // namespace trueup::runtime
