// Reading: streams of records, each of one partition from one offset on, fetched ahead.
//
// A stream belongs to whoever reads on where it ends; two readers of one partition at different
// offsets get a stream each, on clients of their own, since a client has a partition once. A stream
// that nobody reads any more is closed after a while. One that is not read fast enough is paused,
// so that memory stays bounded.
//
// Thread-safe.
#pragma once

#include "connectors/kafka/client.h"
#include "engine/base/id.h"
#include "engine/base/mutex.h"
#include "engine/ports/records.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace trueup::connectors::kafka {

class Streams {
  public:
    /// Where a partition begins and ends, asked by a client that fetches nothing: behind a fetch
    /// the answer would be late.
    using Describe = std::function<Result<ports::Extent>(ports::Partition)>;

    /// `arrived` is called, by threads of this class, when something came in. `settings` outlive
    /// it.
    Streams(const Settings& settings, std::function<void()> arrived, Describe describe);
    ~Streams();
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    /// What `Log::read` promises; `at_least` is an offset below which the end cannot be. Waits
    /// until something is there or the end was seen. kRefresh: the offset is outside the partition.
    Result<ports::Fetched> read(ports::Partition partition, Offset offset, std::size_t max_bytes,
                                Offset at_least) TRUEUP_EXCLUDES(mutex_, opening_);

    /// False: `read` would answer at once that there is nothing. Keeps the stream, for it tells of
    /// what comes.
    bool may_have(ports::Partition partition, Offset offset, Offset at_least)
        TRUEUP_EXCLUDES(mutex_);

    /// Ends the waits of `read` that are under way with kRetry.
    void wake() TRUEUP_EXCLUDES(mutex_);

    /// How many there are; for tests.
    std::size_t open() const TRUEUP_EXCLUDES(mutex_);

  private:
    /// Under `mutex_` once others know of it.
    struct Stream {
        ports::Partition partition;
        Offset position;  ///< what the next read begins with
        Offset expected;  ///< records below are stale; behind the newest one here
        std::deque<rd_kafka_message_t*> waiting;
        std::size_t bytes = 0;
        bool at_end = false;  ///< nothing follows `expected`, as of the last answer
        Offset end;           ///< the partition's end then; above `expected` where offsets skip
        bool moved = false;   ///< records came in since the end was looked for
        bool paused = false;
        std::optional<Error> error;
        std::size_t readers = 0;  ///< that wait for it in `read`
        SteadyTime used{};
        ~Stream();
    };
    class Lane;
    using StreamRef = std::shared_ptr<Stream>;

    Result<StreamRef> find(ports::Partition partition, Offset offset)
        TRUEUP_EXCLUDES(mutex_, opening_);
    /// One that is known to go on there; null: none is.
    StreamRef known(ports::Partition partition, Offset offset) TRUEUP_EXCLUDES(mutex_);
    /// A lane that is free for the partition.
    Result<Lane*> make_room(ports::Partition partition) TRUEUP_REQUIRES(opening_)
        TRUEUP_EXCLUDES(mutex_);
    static bool goes_on_at(const Stream& stream, Offset offset);
    void take(Stream& stream, std::size_t max_bytes, ports::Fetched& out) TRUEUP_REQUIRES(mutex_);

    const Settings& settings_;
    const std::function<void()> arrived_;
    const Describe describe_;
    mutable Mutex mutex_;
    CondVar news_;
    std::uint64_t wakes_ TRUEUP_GUARDED_BY(mutex_) = 0;
    Mutex opening_;  ///< one at a time opens streams, outside `mutex_`: it takes a moment
    std::vector<std::unique_ptr<Lane>> lanes_ TRUEUP_GUARDED_BY(mutex_);
};

}  // namespace trueup::connectors::kafka
