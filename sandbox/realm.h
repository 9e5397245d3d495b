// What a World and its ports share: the two servers, the faults to come, the record of effects, and
// the one mutex over all of it. Internal to sandbox/.
#pragma once

#include "engine/base/mutex.h"
#include "engine/ports/clock.h"
#include "sandbox/api_server.h"
#include "sandbox/faults.h"
#include "sandbox/table_server.h"
#include "sandbox/world_file.h"

#include <deque>
#include <functional>
#include <map>
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
    std::optional<Failure> take_failure(Op op) TRUEUP_REQUIRES(mutex);
    void add_effect(Effect effect) TRUEUP_REQUIRES(mutex);
    /// Ends the wait of the port that has `woken`, or the next one.
    void wake(bool& woken) TRUEUP_EXCLUDES(mutex);

    Mutex mutex;
    CondVar changed;
    const std::uint64_t seed;
    ports::Clock& clock;
    const WorldSettings settings;
    std::vector<Record> records TRUEUP_GUARDED_BY(mutex);  ///< of the act under way
    ApiServer api TRUEUP_GUARDED_BY(mutex);
    TableServer table TRUEUP_GUARDED_BY(mutex);
    std::map<Op, std::deque<Failure>> failures TRUEUP_GUARDED_BY(mutex);
    /// When one was last served.
    std::optional<SteadyTime> short_page_at TRUEUP_GUARDED_BY(mutex);
    std::vector<Effect> effects TRUEUP_GUARDED_BY(mutex);
    /// Sees each act's records.
    std::function<void(const std::vector<Record>&)> observer TRUEUP_GUARDED_BY(mutex);
    std::optional<WorldFile> file TRUEUP_GUARDED_BY(mutex);
    Status file_status TRUEUP_GUARDED_BY(mutex) = Done{};

    // A port notices these by comparing them with what it saw last.
    std::uint64_t watch_cuts TRUEUP_GUARDED_BY(mutex) = 0;
    std::uint64_t cluster_restarts TRUEUP_GUARDED_BY(mutex) = 0;
    std::uint64_t database_restarts TRUEUP_GUARDED_BY(mutex) = 0;
    std::uint64_t walsender_kills TRUEUP_GUARDED_BY(mutex) = 0;
    std::uint64_t timeline TRUEUP_GUARDED_BY(mutex) = 1;  ///< of the database
    Millis database_ahead TRUEUP_GUARDED_BY(mutex){0};  ///< what its clock shows beyond the world's
    bool watches_stalled TRUEUP_GUARDED_BY(mutex) = false;
    /// The last version that the second API server knows; none: it knows all.
    std::optional<std::uint64_t> second_knows TRUEUP_GUARDED_BY(mutex);

    /// Numbers of the god's own.
    std::set<std::uint64_t> open_transactions TRUEUP_GUARDED_BY(mutex);
    std::uint64_t next_transaction TRUEUP_GUARDED_BY(mutex) = 1;
    /// Active slots and the streams that hold them.
    std::map<std::string, std::uint64_t> slot_users TRUEUP_GUARDED_BY(mutex);
    std::uint64_t next_stream TRUEUP_GUARDED_BY(mutex) = 1;
};

/// Holds the mutex for one act on the world. First everything that was due happens; at the end the
/// act's records go to the file and whoever waits is woken.
class TRUEUP_SCOPED_CAPABILITY Act {
  public:
    explicit Act(Realm& realm) TRUEUP_ACQUIRE(realm.mutex);
    ~Act() TRUEUP_RELEASE();
    Act(const Act&) = delete;
    Act& operator=(const Act&) = delete;

    SteadyTime now() const { return now_; }
    std::int64_t wall_ms() const { return wall_ms_; }
    /// The same by the database's own clock.
    std::int64_t database_ms() const {
        realm_.mutex.assert_held();
        return wall_ms_ + realm_.database_ahead.count();
    }
    /// Lets others act until something changed, `wake_at` came, `max_wait` is over or `woken` is
    /// true; it is false then.
    void wait(Millis max_wait, std::optional<SteadyTime> wake_at, bool& woken);

  private:
    void settle() TRUEUP_REQUIRES(realm_.mutex);
    void save() TRUEUP_REQUIRES(realm_.mutex);

    Realm& realm_;
    SteadyTime now_;
    std::int64_t wall_ms_;
};

}  // namespace trueup::sandbox
