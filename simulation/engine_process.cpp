// An engine's life: it tells executors what they must know, opens its shard, folds, and forgets.
#include "simulation/engine_process.h"

#include "engine/codec/request_codec.h"
#include "engine/core/rule_text.h"

#include <future>
#include <utility>
#include <vector>

namespace trueup::simulation {

namespace {

constexpr Millis kBusyNap{20};
constexpr Millis kEngineNap{2'000};
constexpr Millis kForgetEvery{30'000};

}  // namespace

const Disk::Rows& EngineProcess::stop_in_order() {
    (void)shard_->stop();
    return disk_.rows();
}

void EngineProcess::start() {
    std::vector<Topic> news{Topic::kJournal, Topic::kChangesPods, Topic::kChangesRows,
                            Topic::kOutcomes, Topic::kRequests};
    if (around_.settings.services) news.push_back(Topic::kChangesResources);
    connect(news);
    store_ = std::make_unique<DiskStore>(disk_, life_);
    told_ = !around_.settings.tells_modes;
    const Millis kept = around_.settings.forgets;
    if (kept > Millis{0})
        retention_.emplace(runtime::RetentionSettings{.topics = kept}, *log_, around_.scheduler);
}

void EngineProcess::end() {
    retention_.reset();
    loop_.reset();
    hints_.reset();
    shard_.reset();  // what is still to be applied fails: the process is dead
    store_.reset();
    disk_.crash(around_.random);
}

/// A shard that cannot be opened now is tried again; one that contradicts its journal waits for
/// an operator, who takes its rows away.
bool EngineProcess::open() {
    runtime::ShardSettings settings;
    settings.shard = index_;
    settings.partitions = around_.settings.shards;
    settings.policy = policy_;
    settings.jobs = std::launch::deferred;  // one thread, one order
    settings.in_flight = 2;  // so few that what comes in has to wait in these small worlds, too
    settings.timeout = Millis{2'000};
    settings.write_behind_every = Millis{5'000};
    settings.cache_bytes = 64U << 10U;
    settings.new_journal_id = JournalId({around_.random.next() | 1U, 1});
    settings.request_keys = settings.command_keys = around_.keys;
    auto opened = runtime::Shard::open(settings, *log_, *store_, around_.scheduler);
    if (opened) {
        shard_ = std::move(*opened);
        add_loop();
        return true;
    }
    if (opened.error().next == Next::kRetry) return false;
    note(opened.error().what);
    disk_.wipe();
    return false;
}

void EngineProcess::add_loop() {
    runtime::ShardLoopSettings settings;
    hints_ = std::make_unique<runtime::SourceHintSender>(*log_, index_, around_.keys,
                                                         around_.scheduler, around_.random.next());
    settings.on_quiet = [this](const auto& status, const auto& wanted) {
        hints_->say(status.proof_awaited, wanted);
    };
    if (around_.settings.tells_modes) {
        settings.on_settings = [this](const Settings& before, const Settings& now) {
            return tell_stopped(before, now);
        };
    }
    settings.on_failure = [this](const Error& error) {
        if (error.next == Next::kStop) note(error.what);
    };
    loop_ = std::make_unique<runtime::ShardLoop>(*shard_, *log_, std::move(settings));
}

void EngineProcess::note(const std::string& why) {
    if (!life_.alive() || disk_.full()) return;
    ++around_.refusals;
    around_.refused = why;
}

/// As the product does at its start, before the shard puts its settings into the journal, and where
/// others come in force: executors are told which rules do not act, or mean something else. False:
/// not yet.
bool EngineProcess::tell_stopped(const Settings& before, const Settings& now) {
    std::vector<ports::Entry> entries;
    for (const std::string& rule : core::stopped_rules(before, now)) {
        Request request;
        request.id = RequestId({around_.random.next() | 1U, 3});
        request.kind = RequestKind::kActivation;
        request.scope.policy = policy_.policy;
        request.scope.rule = rule;
        request.issued_ms = to_millis(around_.broker.now());
        request.issued_by = name();
        std::string bytes = codec::encode_request(request);
        around_.keys.sign(codec::kRequestSignature, bytes);
        entries.push_back({{}, std::move(bytes)});
    }
    if (entries.empty()) return true;
    return ports::append_now(*log_, {Topic::kRequests, index_}, entries).ok();
}

Millis EngineProcess::step() {
    if (!shard_ && !open()) return kBeginAgain / 10;
    if (!told_ && around_.scheduler.steady_now() < tell_again_) return kBeginAgain / 10;
    told_ = told_ || tell_stopped(shard_->state().meta.settings, policy_);
    if (!told_) {  // its own words wake it, if they are there
        tell_again_ = around_.scheduler.steady_now() + kBeginAgain / 10;
        return kBeginAgain / 10;
    }
    loop_->step(Millis{0});
    if (!loop_->fatal().empty()) {
        crash_at(1, kBeginAgain);
        (void)life_.call();
        return kBusyNap;
    }
    forget();
    const Millis idle = shard_->idle_time();
    return idle < Millis{500} ? idle : kEngineNap;
}

void EngineProcess::forget() {
    if (!retention_ || around_.scheduler.steady_now() < forget_again_) return;
    forget_again_ = around_.scheduler.steady_now() + kForgetEvery;
    const runtime::ShardStatus status = shard_->status();
    if (!status.active || !status.caught_up) return;
    (void)retention_->tend(status.meta, {}, [this] { return !life_.alive(); });
}

}  // namespace trueup::simulation
