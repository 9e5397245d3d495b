#include "tests/support/virtual_host.h"

#include "connectors/kubernetes/connector.h"
#include "connectors/postgres/connector.h"
#include "engine/base/check.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/finding_codec.h"
#include "engine/codec/outcome_codec.h"
#include "sandbox/wiring/sandbox_wiring.h"
#include "tests/support/keys.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace trueup::testing {

namespace {

namespace postgres = connectors::postgres;

constexpr const char* kSelector = "app=ryugraph-wrapper";
constexpr Millis kStaysSettled{3'000};

sandbox::WorldSettings world_settings() {
    sandbox::WorldSettings settings;
    settings.block_in_poll = false;
    settings.evaluate_key = sandbox::evaluate_key;
    return settings;
}

std::unique_ptr<ports::Connector> pods_connector(ports::Cluster& cluster, std::uint64_t seed) {
    connectors::KubernetesSettings settings = sandbox::sandbox_pods(kSelector);
    settings.page_limit = 5;  // so that epochs have several pages
    settings.call_timeout = Millis{5'000};
    settings.watch_slack = Millis{5'000};
    settings.watch_seconds = 60;
    settings.jitter_seed = seed;
    return std::make_unique<connectors::KubernetesConnector>(cluster, settings);
}

std::unique_ptr<ports::Connector> rows_connector(ports::Database& database, std::uint64_t seed) {
    postgres::Settings settings = sandbox::sandbox_rows();
    settings.jitter_seed = seed;
    auto connector = postgres::PostgresConnector::open(settings, database);
    TRUEUP_CHECK(connector.ok());
    return std::move(*connector);
}

}  // namespace

/// One connector with its port and its loop. The port goes last.
struct VirtualHost::Source {
    std::string name;
    std::unique_ptr<ports::Cluster> cluster;
    std::unique_ptr<ports::Database> database;
    std::unique_ptr<ports::Connector> connector;
    std::unique_ptr<runtime::SourceLoop> loop;
};

VirtualHost::VirtualHost(std::uint64_t seed, Settings settings)
    : settings_(std::move(settings)),
      random_(seed),
      log_(clock_.wall_millis()),
      world_(seed, clock_, world_settings()) {
    start();
}

VirtualHost::~VirtualHost() = default;

void VirtualHost::start() {
    ++starts_;
    if (settings_.open_log) own_log_ = settings_.open_log(clock_);
    if (settings_.open_store) own_store_ = settings_.open_store();
    const std::uint64_t nonce = random_();
    open_shard(nonce);
    executor_cluster_ = world_.cluster();
    executor_database_ = world_.database();
    executors::DispatcherSettings dispatcher;
    dispatcher.executor = "virtual";
    dispatcher.command_keys = dispatcher.request_keys = test_keys();
    dispatcher_ = std::make_unique<executors::Dispatcher>(
        log_in_use(), sandbox::sandbox_reach(*executor_cluster_, *executor_database_, kSelector),
        dispatcher);
    executor_loop_ =
        std::make_unique<executors::ExecutorLoop>(*dispatcher_, executors::ExecutorLoopSettings{});
    for (const bool is_pods : {true, false}) add_source(is_pods, nonce);
}

void VirtualHost::open_shard(std::uint64_t nonce) {
    runtime::ShardSettings shard;
    shard.jobs = std::launch::deferred;  // one thread, one order
    shard.policy = settings_.policy;
    shard.new_journal_id = {nonce, 1};
    shard.request_keys = shard.command_keys = test_keys();
    auto opened = runtime::Shard::open(shard, log_in_use(), rows_in_use(), clock_);
    if (!opened) throw std::runtime_error(opened.error().what);
    shard_ = std::move(*opened);
    runtime::ShardLoopSettings loop;
    loop.on_quiet = [this](const auto&, const std::vector<std::string>& wanted) {
        for (const auto& source : sources_) {
            const bool meant =
                std::find(wanted.begin(), wanted.end(), source->name) != wanted.end();
            if (meant) source->loop->want_epoch();
        }
    };
    shard_loop_ = std::make_unique<runtime::ShardLoop>(*shard_, log_in_use(), std::move(loop));
}

void VirtualHost::add_source(bool is_pods, std::uint64_t nonce) {
    auto source = std::make_unique<Source>();
    source->name = is_pods ? "pods" : "rows";
    if (is_pods) {
        source->cluster = world_.cluster();
        source->connector = pods_connector(*source->cluster, nonce);
    } else {
        source->database = world_.database();
        source->connector = rows_connector(*source->database, nonce);
    }
    runtime::SourceLoopSettings loop;
    loop.task.source = source->name;
    loop.task.topic = is_pods ? Topic::kChangesPods : Topic::kChangesRows;
    loop.task.nonce_seed = nonce;
    loop.pace_idle = settings_.pace_idle;
    loop.pace_waiting = settings_.pace_waiting;
    loop.relist_every = settings_.relist_every;
    loop.heal_every = settings_.heal_every;
    source->loop = std::make_unique<runtime::SourceLoop>(loop, log_in_use(), *source->connector);
    sources_.push_back(std::move(source));
}

void VirtualHost::crash() {
    sources_.clear();
    executor_loop_.reset();
    dispatcher_.reset();
    executor_cluster_.reset();
    executor_database_.reset();
    shard_loop_.reset();
    shard_.reset();
    own_store_.reset();
    own_log_.reset();
    start();
}

std::string VirtualHost::insert_row(const std::string& pod_name, const std::string& status) {
    const std::size_t dash = pod_name.find('-');
    return world_.insert_row({{"name", "graph " + pod_name},
                              {"url_slug", pod_name.substr(dash + 1)},
                              {"status", status},
                              {"pod_name", pod_name}});
}

/// Every part once, in an order that the seed chooses.
void VirtualHost::round() {
    const Millis passed(1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(
                                                                      2 * settings_.tick.count())));
    clock_.advance(passed);
    log_.advance(passed);
    std::array<int, 4> parts{0, 1, 2, 3};
    std::shuffle(parts.begin(), parts.end(), random_);
    for (const int part : parts) {
        if (part < 2) {
            sources_[static_cast<std::size_t>(part)]->loop->step(
                clock_.steady_now(), shard_->status().proof_awaited, Millis{0});
        } else if (part == 2) {
            shard_loop_->step(Millis{0});
        } else {
            executor_loop_->step(clock_.steady_now(), Millis{0});
        }
    }
}

void VirtualHost::run(Millis time) {
    const Millis end = clock_.since() + time;
    while (clock_.since() < end) round();
}

bool VirtualHost::run_until(const std::function<bool()>& done, Millis at_most) {
    const Millis end = clock_.since() + at_most;
    while (!done()) {
        if (clock_.since() >= end) return false;
        round();
    }
    return true;
}

bool VirtualHost::settle(Millis at_most) {
    Millis since = clock_.since();
    const auto settled = [&] {
        const core::Meta& meta = shard_->state().meta;
        const bool proven =
            meta.sources.size() == sources_.size() &&
            std::all_of(meta.sources.begin(), meta.sources.end(), [](const core::SourceState& s) {
                return s.known && s.complete_as_of != BrokerTime{};
            });
        if (!proven || meta.open_findings > 0 || meta.outbox > 0) since = clock_.since();
        return clock_.since() - since >= kStaysSettled;
    };
    return run_until(settled, at_most);
}

const core::SourceState& VirtualHost::source(const std::string& name) {
    looked_at_ = {};
    for (const core::SourceState& known : shard_->state().meta.sources) {
        if (known.name == name) looked_at_ = known;
    }
    return looked_at_;
}

ports::SourceHealth VirtualHost::health(const std::string& source) const {
    for (const auto& known : sources_) {
        if (known->name == source) return known->connector->health();
    }
    return {};
}

namespace {

template <typename Value, typename Decode>
std::vector<Value> all_in(const MemoryLog& log, Topic topic, Decode decode) {
    std::vector<Value> values;
    for (const StoredRecord& record : log.records({topic, 0})) {
        if (record.value.empty()) continue;  // a heartbeat
        auto value = decode(record.value);
        TRUEUP_CHECK(value.ok());
        values.push_back(std::move(*value));
    }
    return values;
}

}  // namespace

std::vector<Command> VirtualHost::commands() const {
    return all_in<Command>(log_, Topic::kCommands, codec::decode_command);
}
std::vector<Outcome> VirtualHost::outcomes() const {
    return all_in<Outcome>(log_, Topic::kOutcomes, codec::decode_outcome);
}
std::vector<FindingEdge> VirtualHost::findings() const {
    return all_in<FindingEdge>(log_, Topic::kFindings, codec::decode_finding);
}

std::vector<sandbox::Effect> VirtualHost::accepted_effects() const {
    std::vector<sandbox::Effect> effects = world_.effects();
    effects.erase(std::remove_if(effects.begin(), effects.end(),
                                 [](const sandbox::Effect& e) { return !e.accepted; }),
                  effects.end());
    return effects;
}

}  // namespace trueup::testing
