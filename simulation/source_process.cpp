#include "connectors/kubernetes/connector.h"
#include "connectors/postgres/connector.h"
#include "engine/base/check.h"
#include "engine/runtime/source_hints.h"
#include "engine/runtime/source_loop.h"
#include "sandbox/wiring/sandbox_wiring.h"
#include "simulation/instances.h"
#include "simulation/links.h"
#include "simulation/process.h"

#include <optional>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kConnectorNap{1'000};
constexpr Millis kBusyNap{20};
constexpr const char* kSources[] = {"pods", "rows", "services", kWest};
constexpr Topic kTopicsOf[] = {Topic::kChangesPods, Topic::kChangesRows, Topic::kChangesResources,
                               Topic::kChangesPods};

connectors::KubernetesSettings pods_settings(const std::string& selector, std::uint64_t seed) {
    connectors::KubernetesSettings settings = sandbox::sandbox_pods(selector);
    settings.paths = {*policy::FieldPath::parse("note", std::string("annotation.") + kNote)};
    // The same field, read as one of a stranger's resource: nobody can tell.
    if (seed % 2 == 0) settings.paths.push_back(*policy::FieldPath::parse("phase", "status.phase"));
    settings.page_limit = 5;  // so that epochs have several pages
    settings.call_timeout = Millis{5'000};
    settings.watch_slack = Millis{5'000};
    settings.watch_seconds = 60;
    settings.jitter_seed = seed;
    return settings;
}

class SourceProcess final : public Process {
  public:
    SourceProcess(std::string name, Kind kind, Environment& around)
        : Process(std::move(name), around), kind_(kind) {}

  private:
    void start() override {
        const std::uint64_t nonce = around_.random.next();
        connect({Topic::kRequests});
        hints_.emplace(*log_, around_.settings.shards, around_.keys);
        const auto woken = [this] { wake(); };
        if (kind_ == Kind::kServices) {
            connectors::KubernetesSettings settings = pods_settings({}, nonce);
            settings.source_name = kSources[index()];
            cluster_ = std::make_unique<ClusterLink>(around_.asked.services->cluster(),
                                                     around_.network, life_, woken);
            connector_ = std::make_unique<connectors::KubernetesConnector>(*cluster_, settings);
        } else if (kind_ != Kind::kRows) {
            const bool second = around_.settings.second_server && around_.random.chance(500);
            cluster_ = std::make_unique<ClusterLink>(around_.world.cluster(second), around_.network,
                                                     life_, woken);
            connectors::KubernetesSettings settings = pods_settings(around_.asked.selector, nonce);
            settings.source_name = kSources[index()];
            if (former()) settings.key_label = kFormerLabel;
            if (kind_ == Kind::kMorePods) settings.resource.name_space = kWestSpace;
            connector_ = std::make_unique<connectors::KubernetesConnector>(*cluster_, settings);
        } else {
            database_ =
                std::make_unique<DatabaseLink>(*around_.asked.rows, around_.network, life_, woken);
            connectors::postgres::Settings settings = sandbox::sandbox_rows();
            settings.jitter_seed = nonce;
            if (former())
                settings.correlate = *connectors::postgres::Correlation::parse(kFormerColumn);
            const std::vector<std::string>& more = around_.settings.columns;
            settings.columns.insert(settings.columns.end(), more.begin(), more.end());
            settings.veto_column = around_.settings.veto_column;
            auto opened = connectors::postgres::PostgresConnector::open(settings, *database_);
            TRUEUP_CHECK(opened.ok());
            connector_ = std::move(*opened);
        }
        loop_ = std::make_unique<runtime::SourceLoop>(loop_settings(nonce), *log_, *connector_);
        relists_ = around_.relists;
    }

    runtime::SourceLoopSettings loop_settings(std::uint64_t nonce) const {
        const FleetSettings& fleet = around_.settings;
        runtime::SourceLoopSettings settings;
        settings.task.source = kSources[index()];
        settings.task.topic = kTopicsOf[index()];
        settings.task.partitions = fleet.shards;
        settings.task.nonce_seed = nonce;
        settings.task.mapping = former() ? kFormerMapping : kMapping;
        settings.task.timeout = 3 * fleet.pace_idle;
        settings.pace_idle = fleet.pace_idle;
        settings.pace_waiting = fleet.pace_waiting;
        settings.relist_every = fleet.relist_every;
        settings.heal_every = fleet.heal_every;
        return settings;
    }

    void end() override {
        loop_.reset();
        hints_.reset();
        connector_.reset();
        cluster_.reset();
        database_.reset();
    }

    Millis step() override {
        if (kind_ == Kind::kServices && !around_.serves) return kConnectorNap;
        const SteadyTime now = around_.scheduler.steady_now();
        // What is not read now is read by the next step.
        (void)hints_->step(now, [this](const std::string& source) {
            if (source == kSources[index()]) loop_->want_epoch();
        });
        if (std::exchange(relists_, around_.relists) != around_.relists) loop_->want_epoch();
        const std::uint64_t before = loop_->task().published();
        loop_->step(now, hints_->hurry(now), Millis{0});
        return loop_->task().published() != before ? kBusyNap : kConnectorNap;
    }

    std::string state() const override {
        if (!loop_) return "does not run";
        const ports::SourceHealth health = connector_->health();
        const runtime::SourceTask& task = loop_->task();
        return (task.stands_by() ? "stands by"
                                 : "token " + std::to_string(task.incarnation().value())) +
               (health.trouble.empty() ? "" : ", " + health.trouble);
    }

    std::size_t index() const { return static_cast<std::size_t>(kind_); }

    bool former() const {
        if (kind_ == Kind::kServices) return false;
        return kind_ == Kind::kRows ? around_.asked.former_rows : around_.asked.former_pods;
    }

    const Kind kind_;
    std::unique_ptr<ClusterLink> cluster_;
    std::unique_ptr<DatabaseLink> database_;
    std::unique_ptr<ports::Connector> connector_;
    std::unique_ptr<runtime::SourceLoop> loop_;
    std::optional<runtime::SourceHintReader> hints_;
    std::uint64_t relists_ = 0;
};

}  // namespace

std::unique_ptr<Process> make_source(std::string name, Kind kind, Environment& around) {
    return std::make_unique<SourceProcess>(std::move(name), kind, around);
}

}  // namespace trueup::simulation
