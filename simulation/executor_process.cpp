#include "executors/executor_loop.h"
#include "sandbox/wiring/sandbox_wiring.h"
#include "simulation/instances.h"
#include "simulation/links.h"
#include "simulation/process.h"

#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kExecutorNap{5'000};
constexpr Millis kBusyNap{20};

class ExecutorProcess final : public Process {
  public:
    using Process::Process;

  private:
    void start() override {
        connect({Topic::kCommands, Topic::kRequests, Topic::kOutcomes});
        const auto woken = [this] { wake(); };
        const std::string me =
            name() + " since " + std::to_string(around_.scheduler.since().count());
        const auto mind = std::make_shared<Mind>(Mind{around_.oracles, {}, me});
        cluster_ = std::make_unique<ClusterLink>(around_.world.cluster(), around_.network, life_,
                                                 woken, mind);
        database_ = std::make_unique<DatabaseLink>(*around_.asked.rows, around_.network, life_,
                                                   woken, mind);
        executors::DispatcherSettings settings;
        settings.executor = name();
        settings.partitions.clear();
        for (std::int32_t p = 0; p < around_.settings.shards; ++p) {
            settings.partitions.emplace_back(p);
        }
        settings.command_keys = settings.request_keys = around_.keys;
        settings.heartbeat_every = Millis{10'000};
        settings.heartbeat_fresh = Millis{25'000};
        // What it looks back for is there still.
        if (around_.settings.forgets > Millis{0}) {
            settings.longest_expiry = around_.settings.forgets / 2;
        }
        settings.steady_now = [this] { return around_.scheduler.steady_now(); };
        settings.before_write = [this, me](const Command& command) {
            if (life_.alive()) around_.oracles.ordered(command, me);
            return true;
        };
        executors::Sources reach =
            sandbox::sandbox_reach(*cluster_, *database_, around_.asked.selector);
        const bool former = around_.asked.former_executors;
        executors::RowSource& rows = reach.rows.at("rows");
        if (former) rows.key_expression = kFormerColumn;
        rows.mapping = reach.pods.at("pods").mapping = former ? kFormerMapping : kMapping;
        executors::PodSource& pods = reach.pods.at("pods");
        pods.paths = {*policy::FieldPath::parse("phase", "status.phase"),
                      *policy::FieldPath::parse("note", std::string("annotation.") + kNote)};
        if (around_.settings.clusters) {
            executors::PodSource west = pods;
            west.resource.name_space = kWestSpace;
            reach.pods.emplace(kWest, west);
        }
        rows.veto_column = around_.settings.veto_column;
        dispatcher_ = std::make_unique<executors::Dispatcher>(*log_, std::move(reach), settings);
        loop_ = std::make_unique<executors::ExecutorLoop>(*dispatcher_,
                                                          executors::ExecutorLoopSettings{});
    }

    void end() override {
        loop_.reset();
        dispatcher_.reset();
        cluster_.reset();
        database_.reset();
    }

    Millis step() override {
        loop_->step(around_.scheduler.steady_now(), Millis{0});
        const executors::DispatcherStats stats = dispatcher_->stats();
        const bool idle = stats.running == 0 && stats.pending == 0 && stats.ended_known;
        return idle ? kExecutorNap : kBusyNap;
    }

    std::unique_ptr<ClusterLink> cluster_;
    std::unique_ptr<DatabaseLink> database_;
    std::unique_ptr<executors::Dispatcher> dispatcher_;
    std::unique_ptr<executors::ExecutorLoop> loop_;
};

}  // namespace

std::unique_ptr<Process> make_executor(std::string name, Environment& around) {
    return std::make_unique<ExecutorProcess>(std::move(name), around);
}

}  // namespace trueup::simulation
