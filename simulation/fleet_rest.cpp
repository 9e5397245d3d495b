// Whether a fleet has come to rest, and what keeps it from that.
#include "simulation/fleet_parts.h"

#include <algorithm>
#include <set>

namespace trueup::simulation {

namespace {

/// Findings that somebody has to do something about: what is left to an owner may stay.
std::uint64_t open_in(const runtime::Shard& shard) {
    std::uint64_t open = shard.state().meta.open_findings;
    if (open == 0) return 0;
    shard.state().subjects.each([&](const Subject& subject) {
        for (const Finding& finding : subject.findings) {
            if (!finding.dismissed && finding.reason == Reason::kReportOnly) --open;
        }
    });
    return open;
}

}  // namespace

void Fleet::begin_rest() {
    parts_->rest_begins = parts_->around.broker.now();
    for (const auto& engine : parts_->engines) {
        if (engine->shard() == nullptr) continue;
        for (const core::SourceState& source : engine->shard()->state().meta.sources) {
            std::uint64_t& epochs = parts_->epochs[{engine->index(), source.name}];
            epochs = std::max(epochs, source.epochs);
        }
    }
}

bool Fleet::settled() const {
    return quiet() &&
           std::all_of(parts_->engines.begin(), parts_->engines.end(),
                       [](const auto& engine) { return open_in(*engine->shard()) == 0; });
}

bool Fleet::quiet() const {
    return std::all_of(parts_->engines.begin(), parts_->engines.end(), [&](const auto& engine) {
        const runtime::Shard* shard = engine->shard();
        if (shard == nullptr) return false;
        const core::Meta& meta = shard->state().meta;
        const auto proven = [&](const core::SourceState& source) {
            // One that left the configuration plays no role.
            const auto id = static_cast<std::size_t>(&source - meta.sources.data());
            if (meta.settings.sources[id].role == kNoRole) return true;
            return source.known && source.complete_as_of > parts_->rest_begins &&
                   source.epochs >= parts_->epochs[{engine->index(), source.name}] + 2;
        };
        return !meta.sources.empty() && meta.outbox == 0 &&
               std::all_of(meta.sources.begin(), meta.sources.end(), proven);
    });
}

std::vector<std::string> Fleet::quarantined(bool drops_too) const {
    std::set<std::string> names;
    for (const runtime::Shard* shard : parts_->shards()) {
        for (const core::SourceState& source : shard->state().meta.sources) {
            if (source.quarantine == core::Quarantine::kNone) continue;
            if (drops_too || source.quarantine != core::Quarantine::kDrop)
                names.insert(source.name);
        }
    }
    return {names.begin(), names.end()};
}

Incarnation Fleet::owner(std::string_view source) const {
    Incarnation owner = kBeyondOffsets;
    std::size_t shards_heard = 0;
    for (const runtime::Shard* shard : parts_->shards()) {
        for (const core::SourceState& state : shard->state().meta.sources) {
            if (state.name != source) continue;
            owner = std::min(owner, state.incarnation);
            ++shards_heard;
        }
    }
    return shards_heard == static_cast<std::size_t>(shards()) ? owner : kNoOffset;
}

std::vector<std::string> Fleet::passes_since(BrokerTime then) const {
    std::vector<std::string> open;
    for (const runtime::Shard* shard : parts_->shards()) {
        const core::Pass& pass = shard->state().meta.pass;
        if (!pass.running || pass.started > then) continue;
        open.push_back(
            "on shard " + std::to_string(shard->status().meta.shard.value()) + " one runs for " +
            std::to_string((parts_->around.broker.now() - pass.started).count() / 1000) + " s");
    }
    return open;
}

bool Fleet::acts_on(PartitionNumber shard, const std::string& rule) const {
    return std::any_of(parts_->engines.begin(), parts_->engines.end(), [&](const auto& engine) {
        const auto& rules = engine->policy().rules;
        return engine->index() == shard &&
               std::any_of(rules.begin(), rules.end(), [&](const RuleSettings& each) {
                   return each.rule == rule && acts(each.mode);
               });
    });
}

std::vector<std::string> Fleet::otherwise_configured() const {
    std::vector<std::string> others;
    for (const auto& engine : parts_->engines) {
        if (engine->shard() == nullptr) continue;
        const Settings& given = engine->policy();
        const Settings& in_force = engine->shard()->state().meta.settings;
        // Rules and sources that left keep their numbers there.
        const auto has_all = [](const auto& there, const auto& wanted) {
            return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
                return std::count(there.begin(), there.end(), one) == 1;
            });
        };
        const auto plays = [](const SourceSettings& source) { return source.role != kNoRole; };
        const auto playing = [&](const Settings& all) {
            return std::count_if(all.sources.begin(), all.sources.end(), plays);
        };
        Settings same = in_force;
        same.rules = given.rules;
        same.sources = given.sources;
        const bool ours = same == given && has_all(in_force.rules, given.rules) &&
                          has_all(in_force.sources, given.sources) &&
                          playing(in_force) == playing(given);
        if (!ours) others.push_back(engine->name());
    }
    return others;
}

std::string Fleet::trouble() const {
    std::string said;
    for (const auto& engine : parts_->engines) {
        const runtime::Shard* shard = engine->shard();
        said += engine->name() + ": ";
        if (shard == nullptr) {
            said += "does not run; ";
            continue;
        }
        const core::Meta& meta = shard->state().meta;
        said += std::to_string(meta.open_findings) + " findings, " + std::to_string(meta.outbox) +
                " commands";
        for (const core::SourceState& source : meta.sources) {
            const Millis ago = parts_->around.broker.now() - source.complete_as_of;
            said += ", " + source.name + (source.known ? " known" : " unknown") + " by " +
                    std::to_string(source.incarnation.value()) + ", " +
                    std::to_string(source.epochs) + " epochs, " +
                    (source.complete_as_of == BrokerTime{}
                         ? "not proven"
                         : "proven " + std::to_string(ago.count() / 1000) + " s ago") +
                    (source.quarantine != core::Quarantine::kNone ? ", in quarantine" : "");
        }
        shard->state().subjects.each([&](const Subject& subject) {
            for (const Finding& finding : subject.findings) {
                said += ", " + subject.key + " rule " + std::to_string(finding.rule.value()) + " " +
                        std::string(name_of(finding.reason));
            }
        });
        said += "; ";
    }
    for (const auto& process : parts_->others) {
        const std::string state = process->state();
        if (!state.empty()) said += process->name() + ": " + state + "; ";
    }
    return said;
}

}  // namespace trueup::simulation
