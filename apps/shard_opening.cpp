#include "apps/shard_opening.h"

#include "engine/runtime/continuity.h"
#include "engine/runtime/projection.h"
#include "projections/rocksdb_store.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace trueup::apps {

namespace {

using projections::RocksdbStore;
using runtime::Checkpoint;

class Opening {
  public:
    Opening(const RowsPlace& place, const runtime::ShardSettings& settings, ports::Log& log,
            ports::Clock& clock)
        : place_(place), settings_(settings), log_(log), clock_(clock) {}

    /// The rows that are there; nullopt: there are none.
    Result<std::optional<OpenedShard>> as_it_is() {
        auto store = RocksdbStore::open({place_.path, place_.memory_bytes});
        if (!store) return store.error();
        const auto any = (*store)->scan({}, {}, 1);
        if (!any) return any.error();
        if (any->empty()) return std::optional<OpenedShard>();
        auto opened = over(std::move(*store));
        if (!opened) return opened.error();
        return std::optional(std::move(*opened));
    }

    /// kStop: this checkpoint would do, and nothing else would do better. kRetry: the journal
    /// cannot be asked just now.
    Result<OpenedShard> from(const Checkpoint& checkpoint) {
        if (Status cleared = clear(); !cleared) return cleared.error();
        const std::string path = place_.checkpoints.path_of(checkpoint);
        if (Status placed = RocksdbStore::put_in_place(path, place_.path); !placed) {
            return cannot_be_used(placed.error());
        }
        auto store = RocksdbStore::open({place_.path, place_.memory_bytes});
        if (!store) return cannot_be_used(store.error());
        const auto meta = runtime::Projection(**store, settings_.shard).meta();
        if (!meta) return cannot_be_used(meta.error());
        if (!*meta || Checkpoint::of(**meta) != checkpoint) {
            return Error{Next::kSkip, Code::kCorrupt, "its content does not match its name"};
        }
        const Status fits = runtime::check_continuity(log_, settings_.shard, **meta);
        if (!fits && fits.error().next == Next::kRetry) return fits.error();
        if (!fits) return Error{Next::kSkip, fits.error().code, fits.error().what};
        return over(std::move(*store));
    }

    /// Nothing but the journal.
    Result<OpenedShard> from_the_start() {
        if (Status cleared = clear(); !cleared) return cleared.error();
        auto store = RocksdbStore::open({place_.path, place_.memory_bytes});
        if (!store) return store.error();
        return over(std::move(*store));
    }

  private:
    /// Another one may do.
    static Error cannot_be_used(const Error& why) {
        return {why.next == Next::kRetry ? Next::kSkip : why.next, why.code, why.what};
    }

    Result<OpenedShard> over(std::unique_ptr<ports::Store> store) {
        auto shard = runtime::Shard::open(settings_, log_, *store, clock_);
        if (!shard) return shard.error();
        return OpenedShard{std::move(store), std::move(*shard)};
    }

    /// Removes a database without rows, or the copy of a checkpoint that did not do.
    Status clear() const {
        std::error_code error;
        std::filesystem::remove_all(place_.path, error);
        if (!error) return Done{};
        return Error{Next::kStop, Code::kUnavailable,
                     "cannot remove " + place_.path + ": " + error.message()};
    }

    const RowsPlace& place_;
    const runtime::ShardSettings& settings_;
    ports::Log& log_;
    ports::Clock& clock_;
};

}  // namespace

Result<OpenedShard> open_shard(const RowsPlace& place, const runtime::ShardSettings& settings,
                               ports::Log& log, ports::Clock& clock,
                               const std::function<void(const std::string&)>& say) {
    Opening opening(place, settings, log, clock);
    auto there = opening.as_it_is();
    if (there && there->has_value()) return std::move(**there);
    if (!there) {
        if (there.error().next != Next::kSkip) return there.error();
        say(there.error().what + "; it is set aside and rebuilt");
        if (Status moved = RocksdbStore::set_aside(place.path); !moved) return moved.error();
    }
    for (const Checkpoint& checkpoint : place.checkpoints.list()) {
        auto opened = opening.from(checkpoint);
        if (opened) {
            say("the projection was rebuilt from checkpoint " + checkpoint.name() +
                "; the journal is folded again from there");
            return opened;
        }
        if (opened.error().next != Next::kSkip) return opened;
        say("checkpoint " + checkpoint.name() + " is skipped: " + opened.error().what);
    }
    return opening.from_the_start();
}

}  // namespace trueup::apps
