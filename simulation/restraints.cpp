#include "simulation/restraints.h"

namespace trueup::simulation {

std::string Restraints::bound_by(const RequestScope& scope) {
    return scope.rule.empty() ? scope.subject : "rule " + scope.rule;
}

bool Restraints::bound(const Command& command, SteadyTime now) const {
    const auto by = [&](const std::string& key) {
        const auto found = brakes_.find(key);
        return found != brakes_.end() && found->second < now;
    };
    return by("") || by(command.subject) || by("rule " + command.rule);
}

std::optional<SteadyTime> Restraints::silenced_at(const std::string& rule) const {
    const auto found = silenced_.find(rule);
    return found == silenced_.end() ? std::nullopt : std::optional(found->second);
}

bool Restraints::was_off(PartitionNumber shard, const std::string& rule, SteadyTime issued) const {
    const auto found = off_.find({shard, rule});
    return found != off_.end() && found->second < issued;
}

void Restraints::may_be_enabled(const std::string& rule) {
    ++enablings_[rule];
    disabled_.erase(rule);
}

std::uint64_t Restraints::enablings(const std::string& rule) const {
    const auto found = enablings_.find(rule);
    return enabled_at_once_ + (found == enablings_.end() ? 0 : found->second);
}

bool Restraints::not_enabled(const std::string& rule, SteadyTime issued) const {
    const auto off = disabled_.find(rule);
    if (off != disabled_.end()) return off->second < issued;
    return !begun_enabled_ && enablings(rule) == 0;
}

}  // namespace trueup::simulation
