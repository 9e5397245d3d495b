#include "benchmarks/engine.h"

#include "benchmarks/report.h"
#include "engine/ports/clock.h"
#include "engine/runtime/memory.h"
#include "projections/rocksdb_store.h"

#include <utility>

namespace trueup::bench {

void Engine::reopen() {
    shard_.reset();
    store_.reset();
    open();
}

Engine::Engine(const EngineSettings& settings) : settings_(settings) {
    connectors::EmbeddedLog::Settings log;
    log.path = settings_.folder + "/log";
    log.fsync = settings_.fsync;
    log.memory_bytes = runtime::memory_shares(settings_.memory).log;
    auto opened = connectors::EmbeddedLog::open(log);
    if (!opened) fail(opened.error().what);
    log_ = std::move(*opened);
}

Engine::Engine(const EngineSettings& settings, std::unique_ptr<ports::Log> log)
    : settings_(settings), log_(std::move(log)) {}

void Engine::open() {
    const runtime::MemoryShares memory = runtime::memory_shares(settings_.memory);
    auto store = projections::RocksdbStore::open({settings_.folder + "/projection", memory.store});
    if (!store) fail(store.error().what);
    store_ = std::move(*store);
    runtime::ShardSettings shard;
    shard.policy = load_settings(settings_.mode);
    shard.cache_bytes = memory.subjects;
    shard.write_behind_bytes = memory.write_behind;
    shard.new_journal_id = JournalId({1, 2});
    auto ready = runtime::Shard::open(shard, *log_, *store_, ports::system_clock());
    if (!ready) fail(ready.error().what);
    shard_ = std::move(*ready);
}

void Engine::step() {
    const std::uint64_t seen = log_->changes_seen();
    const Result<bool> busy = shard_->step();
    if (!busy) fail(busy.error().what);
    if (!*busy) log_->wait(seen, shard_->idle_time());
}

void Engine::stop() {
    if (Status stopped = shard_->stop(); !stopped) fail(stopped.error().what);
}

void Feeder::add(Input input) {
    std::vector<ports::Entry>& entries = waiting_[static_cast<std::size_t>(input.topic)];
    entries.push_back({Load::key_of(input.subject), std::move(input.bytes)});
    if (entries.size() == kUnit) send(input.topic);
}

void Feeder::send(Topic topic) {
    settle(8);
    auto entries = std::exchange(waiting_[static_cast<std::size_t>(topic)], {});
    pending_.push_back(log_.append({topic, PartitionNumber(0)}, std::move(entries)));
}

void Feeder::settle(std::size_t most) {
    while (pending_.size() > most) {
        if (const auto done = pending_.front()->take(); !done) fail(done.error().what);
        pending_.erase(pending_.begin());
    }
}

void Feeder::finish() {
    for (const Topic topic : kInputTopics) {
        if (!waiting_[static_cast<std::size_t>(topic)].empty()) send(topic);
    }
    settle(0);
}

}  // namespace trueup::bench
