#include "engine/ports/log.h"

namespace trueup::ports {

Result<Offset> Log::offset_at(Partition partition, BrokerTime time) {
    const Result<Extent> extent = describe(partition);
    if (!extent) return extent.error();
    Offset low = extent->first_offset;
    Offset high = extent->next_offset;
    while (low < high) {
        const Offset middle = further(low, distance(low, high) / 2);
        const Result<Fetched> fetched = read(partition, middle, 1);
        // Retention may have taken it meanwhile.
        if (!fetched) return Error{Next::kRetry, fetched.error().code, fetched.error().what};
        // Offsets may skip: what is read lies at `middle` or above it.
        if (fetched->records.empty() || fetched->records.front().append_time >= time) {
            high = middle;
        } else {
            low = next(fetched->records.front().offset);
        }
    }
    return low;
}

}  // namespace trueup::ports
