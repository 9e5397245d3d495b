#include "engine/ports/log.h"

namespace trueup::ports {

Result<std::int64_t> Log::offset_at(Partition partition, BrokerTime time) {
    const Result<Extent> extent = describe(partition);
    if (!extent) return extent.error();
    std::int64_t low = extent->first_offset;
    std::int64_t high = extent->next_offset;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        const Result<Fetched> fetched = read(partition, middle, 1);
        // Retention may have taken it meanwhile.
        if (!fetched) return Error{Next::kRetry, fetched.error().code, fetched.error().what};
        // Offsets may skip: what is read lies at `middle` or above it.
        if (fetched->records.empty() || fetched->records.front().append_time >= time) {
            high = middle;
        } else {
            low = fetched->records.front().offset + 1;
        }
    }
    return low;
}

}  // namespace trueup::ports
