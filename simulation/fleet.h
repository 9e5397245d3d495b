// The processes of a simulation: two engines on each shard, two executors, a connector for each
// source and now and then a second one beside it. All of it is the shipped code; only what lies
// below its ports is simulated. Processes meet in the log and in the world, as they do over Kafka,
// and nowhere else.
#pragma once

#include "engine/model/request.h"
#include "simulation/disk.h"
#include "simulation/process.h"

#include <memory>
#include <string>
#include <vector>

namespace trueup::simulation {

constexpr std::int32_t kEnginesOfAShard = 2;
/// For Fleet::configure_formerly.
constexpr const char* kMayBeFormer[] = {"pods", "rows", "executor"};

class Fleet {
  public:
    explicit Fleet(Environment& around);
    ~Fleet();

    std::vector<Process*> processes();
    Process& pick(Random& random);
    /// The process of that name dies, and begins anew soon.
    void restart(std::string_view name);
    /// Connectors of `pods` or `rows`, or `executor`s, that start from now on have the
    /// configuration of before the key changed, or that in force again. They start now; of
    /// executors one goes on.
    void configure_formerly(std::string_view of, bool formerly);
    /// All connectors of that source, and all executors, likewise: what they ask is another one.
    void ask_elsewhere(std::string_view source);
    /// Engines start anew with other settings, one after the other, unless they are to
    /// have others again by then.
    void configure(const Settings& settings, Millis apart);
    /// What engines have but for that.
    const Settings& settings() const;
    /// Both executors stand still for so long.
    void delay_executors(Millis time);
    /// All connectors list everything soon.
    void list_again();
    /// A second connector of a source for so long.
    void second_connector(Random& random, Millis time);
    /// The projection of an engine is lost, and its process dies.
    void lose_disk(Random& random);
    void fill_disk(Random& random, Millis time);
    void heal();
    /// The world changed: streams have news.
    void world_changed();

    /// From now on nothing goes wrong any more.
    void begin_rest();
    /// Has every source proven itself since then, and listed everything twice (of which the first
    /// list may have begun before), and is nothing open?
    bool settled() const;
    /// The same, whatever is open.
    bool quiet() const;
    /// Does a finding somewhere have this reason?
    bool waits_for(Reason reason) const;
    std::vector<OpenFinding> open_findings() const;
    /// The sources whose last list nobody believes.
    std::vector<std::string> quarantined(bool drops_too) const;
    /// The last connector whose word every shard takes for that source; -1: none yet.
    Incarnation owner(std::string_view source) const;
    /// The shards on which a pass runs that began by then.
    std::vector<std::string> passes_since(BrokerTime then) const;
    /// Subjects that an engine has findings about, of those that it has in memory.
    std::vector<std::string> found() const;
    std::int32_t shards() const;
    /// Of each shard, the last journal record that an engine has folded; -1: none.
    std::vector<Offset> seen() const;
    /// Rules that act and that some shard does not know to be enabled, with what they mean.
    std::vector<NamedRule> not_enabled() const;
    /// Was this request taken, and granted, by each shard that it concerns?
    bool granted(const RequestId& request, const RequestScope& scope) const;
    /// Has an engine of this shard come past that record of its requests?
    bool has_read(PartitionNumber shard, Offset offset) const;
    /// Has an engine of that shard been given settings by which this rule acts?
    bool acts_on(PartitionNumber shard, const std::string& rule) const;
    /// The engines in whose journal other settings are in force than they were given last.
    std::vector<std::string> otherwise_configured() const;
    /// What is not settled, in one sentence.
    std::string trouble() const;
    /// What an engine believes of a subject, in one sentence.
    std::string view_of(const std::string& subject) const;
    /// What an engine's disk holds once it was stopped in good order, and up to which record.
    struct Image {
        std::string engine;
        PartitionNumber shard;
        Offset applied = kNoOffset;
        const Disk::Rows* rows = nullptr;
    };
    /// Of those that run.
    std::vector<Image> stop_engines();

  private:
    void retire(Process& process);

    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace trueup::simulation
