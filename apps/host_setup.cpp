// What a Host sets its shards, connectors and executors to.
#include "apps/events.h"
#include "apps/host.h"
#include "apps/retry.h"
#include "engine/base/hash.h"
#include "engine/model/loosened.h"
#include "engine/ports/clock.h"
#include "engine/runtime/memory.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

namespace trueup::apps {

namespace {

constexpr int kSilentBeats = 3;  // of a connector, until another one takes its source

/// Says once what this configuration lets rules do that the one before did not.
std::function<void(const Settings&)> say_loosened(Settings now) {
    return [now = std::move(now)](const Settings& before) {
        for (const std::string& what : loosened(before, now)) {
            spdlog::warn("policy {}: the configuration is looser than the one before: {}",
                         now.policy, what);
        }
    };
}

std::uint64_t fresh_number() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace

void Host::add_sources(std::vector<SourceSpec> specs) {
    const std::uint64_t nonce = fresh_number();
    for (SourceSpec& spec : specs) {
        auto source = std::make_unique<Source>();
        runtime::SourceLoopSettings loop;
        loop.task.source = spec.name;
        loop.task.topic = spec.topic;
        loop.task.mapping = spec.mapping;
        if (spec.mapping != 0) {
            spdlog::info("source {} is read by configuration {}", spec.name, to_hex(spec.mapping));
        }
        loop.task.partitions = settings_.partitions;
        loop.task.nonce_seed = nonce;
        // Another connector of the source must have been silent for so long before this one takes
        // it over, or two that are merely slow would take it from each other for ever.
        loop.task.timeout = kSilentBeats * spec.pace_idle;
        loop.pace_idle = spec.pace_idle;
        loop.pace_waiting = spec.pace_waiting;
        loop.relist_every = spec.relist_every;
        loop.on_news = [name = spec.name](const std::string& sentence, bool wrong) {
            spdlog::log(wrong ? spdlog::level::warn : spdlog::level::info, "source {}: {}", name,
                        sentence);
        };
        source->spec = std::move(spec);
        source->loop =
            std::make_unique<runtime::SourceLoop>(std::move(loop), *log_, *source->spec.connector);
        sources_.push_back(std::move(source));
    }
    if (!sources_.empty() && !settings_.alone) {
        hint_reader_.emplace(*log_, settings_.partitions, request_keys_);
    }
}

void Host::add_executors(ExecutorSpec spec) {
    executors_ = std::move(spec);
    if (executors_.sources.empty()) return;
    executors::DispatcherSettings& settings = executors_.settings;
    // All of them: which ones this process takes at the moment, its assignment says.
    settings.partitions.clear();
    for (std::int32_t p = 0; p < settings_.partitions; ++p) {
        settings.partitions.emplace_back(p);
    }
    settings.command_keys = command_keys_;
    settings.request_keys = request_keys_;
    settings.steady_now = [] { return ports::system_clock().steady_now(); };
    settings.on_parked = [this](const executors::ParkedCommand& parked) {
        spdlog::warn("command {}@{} is parked (a dead letter): {}", called(parked.partition),
                     parked.offset.value(), parked.reason);
    };
    settings.on_outcome = [this](const Command& command, const Outcome& outcome) {
        log_outcome(settings_.exports.events, command, outcome,
                    ports::system_clock().wall_millis());
    };
    dispatcher_ = std::make_unique<executors::Dispatcher>(*log_, executors_.sources, settings);
}

ShardHostSettings Host::shard_settings(PartitionNumber index) {
    const std::size_t count = std::max<std::size_t>(1, settings_.shards.size());
    const runtime::MemoryShares memory = runtime::memory_shares(settings_.memory_bytes / count);
    const std::string own = own_folder(index);
    ShardHostSettings host;
    host.rows = settings_.state_dir + own + "/projection";
    host.checkpoints = settings_.checkpoints + own;
    host.store_bytes = memory.store;
    host.checkpoint_every = settings_.checkpoint_every;
    host.checkpoints_kept = settings_.checkpoints_kept;
    host.retention = settings_.retention;
    host.on_quiet = [this, slot = shards_.size()](const runtime::ShardStatus& status,
                                                  const std::vector<std::string>& wanted) {
        heed(slot, status, wanted);
    };
    host.on_settings = [this, index](const Settings& before, const Settings& now) {
        return say_in_force(index, before, now);
    };
    runtime::ShardSettings& shard = host.shard;
    shard.shard = index;
    shard.partitions = settings_.partitions;
    shard.lead = settings_.lead;
    shard.finding_headers = settings_.finding_headers;
    shard.policy = settings_.policy;
    shard.cache_bytes = memory.subjects;
    shard.write_behind_bytes = memory.write_behind;
    // Over Kafka `topics create` has begun the journals: an empty one there is a lost one.
    if (settings_.alone) shard.new_journal_id = JournalId({fresh_number(), fresh_number()});
    shard.request_keys = request_keys_;
    shard.command_keys = command_keys_;
    host.called = called(index);
    host.events = settings_.exports.events;
    shard.on_finding = [this](const FindingEdge& edge, const Subject* subject) {
        findings_.take(edge);
        // Told once more at a start, of a finding that was found by an earlier process.
        if (subject == nullptr) return;
        log_finding(settings_.exports.events, edge, subject, ports::system_clock().wall_millis());
    };
    if (shards_.empty()) shard.on_settings = say_loosened(settings_.policy);  // of all shards
    return host;
}

Status Host::open_shards() {
    for (const PartitionNumber index : settings_.shards) {
        proof_awaited_.push_back(std::make_unique<std::atomic<bool>>(false));
        if (!settings_.alone) {
            hints_.push_back(std::make_unique<runtime::SourceHintSender>(
                *log_, index, request_keys_, ports::system_clock(), fresh_number()));
        }
        const ShardHostSettings host = shard_settings(index);
        std::error_code made;
        std::filesystem::create_directories(settings_.state_dir + own_folder(index), made);
        auto opened =
            attempt_until_answered([&] { return ShardHost::open(host, *log_); }, waiting());
        if (!opened) return opened.error();
        shards_.push_back(std::move(*opened));
    }
    return Done{};
}

}  // namespace trueup::apps
