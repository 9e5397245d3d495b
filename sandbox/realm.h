// What a World and its ports share: the two servers, the faults to come, the record of effects, and
// the one mutex over all of it. Internal to sandbox/.
#pragma once

#include "engine/ports/clock.h"
#include "sandbox/api_server.h"
#include "sandbox/faults.h"
#include "sandbox/table_server.h"
#include "sandbox/world_file.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace trueup::sandbox {

struct Realm {
    Realm(std::uint64_t world_seed, ports::Clock& world_clock, WorldSettings world_settings)
        : seed(world_seed),
          clock(world_clock),
          settings(std::move(world_settings)),
          api(seed, settings, records),
          table(settings, records) {}
    Realm(const Realm&) = delete;
    Realm& operator=(const Realm&) = delete;

    /// The failure that the next call of this kind meets, if any; used up.
    std::optional<Failure> take_failure(Op op);
    void add_effect(Effect effect);

    std::mutex mutex;
    std::condition_variable changed;
    const std::uint64_t seed;
    ports::Clock& clock;
    const WorldSettings settings;
    std::vector<Record> records;  ///< of the act under way
    ApiServer api;
    TableServer table;
    std::map<Op, std::deque<Failure>> failures;
    std::optional<SteadyTime> short_page_at;  ///< when one was last served
    std::vector<Effect> effects;
    std::function<void(const std::vector<Record>&)> observer;  ///< sees each act's records
    std::optional<WorldFile> file;
    Status file_status = Done{};

    // A port notices these by comparing them with what it saw last.
    std::uint64_t watch_cuts = 0;
    std::uint64_t cluster_restarts = 0;
    std::uint64_t database_restarts = 0;
    std::uint64_t walsender_kills = 0;
    std::uint64_t timeline = 1;  ///< of the database
    Millis database_ahead{0};    ///< what its clock shows beyond the world's
    bool watches_stalled = false;
    /// The last version that the second API server knows; none: it knows all.
    std::optional<std::uint64_t> second_knows;

    std::set<std::uint64_t> open_transactions;  ///< numbers of the god's own
    std::uint64_t next_transaction = 1;
    std::map<std::string, std::uint64_t>
        slot_users;  ///< active slots and the streams that hold them
    std::uint64_t next_stream = 1;
};

/// Holds the mutex for one act on the world. First everything that was due happens; at the end the
/// act's records go to the file and whoever waits is woken.
class Act {
  public:
    explicit Act(Realm& realm);
    ~Act();
    Act(const Act&) = delete;
    Act& operator=(const Act&) = delete;

    SteadyTime now() const { return now_; }
    std::int64_t wall_ms() const { return wall_ms_; }
    /// The same by the database's own clock.
    std::int64_t database_ms() const { return wall_ms_ + realm_.database_ahead.count(); }
    /// Lets others act until something changed, `wake_at` came or `max_wait` is over.
    void wait(Millis max_wait, std::optional<SteadyTime> wake_at);

  private:
    void settle();
    void save();

    Realm& realm_;
    std::unique_lock<std::mutex> lock_;
    SteadyTime now_;
    std::int64_t wall_ms_;
};

}  // namespace trueup::sandbox
