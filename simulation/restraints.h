// What keeps rules from acting, as everybody can know it: pauses and holds, rules that an engine
// said do not act, rules that nobody has enabled. Read off the topics, as everything that oracles
// know. Not thread-safe.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/model/command.h"
#include "engine/model/request.h"
#include "simulation/scheduler.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace trueup::simulation {

class Restraints {
  public:
    explicit Restraints(Scheduler& scheduler) : scheduler_(scheduler) {}

    /// From now on everybody can see it.
    void braked(const std::string& bound) { brakes_[bound] = scheduler_.steady_now(); }
    /// From now on nobody is bound by it any more.
    void released(const std::string& bound) { brakes_.erase(bound); }
    /// What a pause or a hold binds: `rule NAME`, a subject, or (empty) everything.
    static std::string bound_by(const RequestScope& scope);
    /// Was there a pause or a hold against it by then?
    bool bound(const Command& command, SteadyTime now) const;

    /// An engine said that the rule does not act from now on.
    void silenced(const std::string& rule) { silenced_[rule] = scheduler_.steady_now(); }
    /// When one last said so; nullopt: never.
    std::optional<SteadyTime> silenced_at(const std::string& rule) const;

    /// Settings by which the rule does not act are in a shard's journal, and no engine of that
    /// shard has others.
    void off(PartitionNumber shard, const std::string& rule) {
        off_.try_emplace({shard, rule}, scheduler_.steady_now());
    }
    /// One was given others.
    void may_act(PartitionNumber shard, const std::string& rule) { off_.erase({shard, rule}); }
    /// Can nobody have wanted by then that the rule acts?
    bool was_off(PartitionNumber shard, const std::string& rule, SteadyTime issued) const;

    /// Nobody has enabled any rule when it begins.
    void nobody_enabled() { begun_enabled_ = false; }
    /// Somebody asked that the rule be enabled: from now on it may be.
    void may_be_enabled(const std::string& rule);
    /// How often somebody asked for that.
    std::uint64_t enablings(const std::string& rule) const;
    /// It is not any more, and everybody can know that.
    void disabled(const std::string& rule) { disabled_[rule] = scheduler_.steady_now(); }
    /// Settings enable whatever they say.
    void all_enabled() {
        disabled_.clear();
        ++enabled_at_once_;
    }
    /// Can nobody have enabled it by then?
    bool not_enabled(const std::string& rule, SteadyTime issued) const;

  private:
    Scheduler& scheduler_;
    std::map<std::string, SteadyTime> brakes_;    ///< since when; by what they bind
    std::map<std::string, SteadyTime> silenced_;  ///< rules, since when
    std::map<std::pair<PartitionNumber, std::string>, SteadyTime> off_;  ///< likewise
    bool begun_enabled_ = true;
    std::map<std::string, std::uint64_t> enablings_;  ///< by rule
    std::uint64_t enabled_at_once_ = 0;               ///< how often all of them were
    std::map<std::string, SteadyTime> disabled_;      ///< rules, since when
};

}  // namespace trueup::simulation
