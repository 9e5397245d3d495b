// What the engines of a fleet have read, found and believe.
#include "simulation/fleet_parts.h"

#include <algorithm>
#include <map>
#include <set>

namespace trueup::simulation {

namespace {

std::string view_of_one(const Subject& seen) {
    std::string said;
    for (const Facet& facet : seen.facets) {
        said += " " + facet.object_id + "@" + std::to_string(facet.version.hi) +
                (facet.absence == Absence::kPresent ? "" : " (absent)");
        for (const char* field : {"phase", "status", "in_scope", "deleting", "hold"}) {
            const auto value = facet.fields().text(field);
            if (value) said += " " + std::string(field) + "=" + std::string(*value);
        }
        said += ";";
    }
    return seen.held ? said + " held;" : said;
}

}  // namespace

std::vector<std::string> Fleet::found() const {
    std::set<std::string> subjects;  // a cache has no order of its own
    for (const runtime::Shard* shard : parts_->shards()) {
        shard->state().subjects.each_cached([&](const Subject& subject) {
            if (!subject.findings.empty()) subjects.insert(subject.key);
        });
    }
    return {subjects.begin(), subjects.end()};
}

bool Fleet::waits_for(Reason reason) const {
    bool waits = false;
    for (const runtime::Shard* shard : parts_->shards()) {
        shard->state().subjects.each([&](const Subject& subject) {
            for (const Finding& finding : subject.findings) {
                waits = waits || finding.reason == reason;
            }
        });
    }
    return waits;
}

std::vector<OpenFinding> Fleet::open_findings() const {
    std::set<OpenFinding> open;
    for (const runtime::Shard* shard : parts_->shards()) {
        const std::vector<RuleSettings>& rules = shard->state().meta.settings.rules;
        shard->state().subjects.each([&](const Subject& subject) {
            for (const Finding& finding : subject.findings) {
                OpenFinding each{subject.key, rules[finding.rule.value()].rule, finding.object_id};
                if (const auto& ending = subject.ending) {
                    each.halted = ending->stage == Ending::Stage::kHalted;
                    each.writes = ending->target;
                }
                open.insert(std::move(each));
            }
        });
    }
    return {open.begin(), open.end()};
}

std::vector<Offset> Fleet::seen() const {
    std::vector<Offset> offsets(static_cast<std::size_t>(shards()), kNoOffset);
    for (const auto& engine : parts_->engines) {
        if (engine->shard() == nullptr) continue;
        Offset& offset = offsets[static_cast<std::size_t>(engine->index().value())];
        offset = std::max(offset, engine->shard()->state().meta.applied);
    }
    return offsets;
}

std::vector<NamedRule> Fleet::not_enabled() const {
    std::map<std::string, Hash128> rules;
    for (const runtime::Shard* shard : parts_->shards()) {
        const core::State& state = shard->state();
        const std::vector<RuleSettings>& settings = state.meta.settings.rules;
        for (std::size_t i = 0; state.plan != nullptr && i < settings.size(); ++i) {
            const core::PlanRule& rule = state.plan->rules[i];
            const bool acts = settings[i].mode == Mode::kEnforce;
            if (acts && !state.meta.enabling[i].has(rule.text)) rules[rule.name] = rule.text;
        }
    }
    std::vector<NamedRule> named;
    named.reserve(rules.size());
    for (const auto& [rule, text] : rules) named.push_back({rule, text});
    return named;
}

std::int32_t Fleet::shards() const { return parts_->around.settings.shards; }

bool Fleet::granted(const RequestId& request, const RequestScope& scope) const {
    std::set<PartitionNumber> by;
    for (const auto& engine : parts_->engines) {
        if (engine->shard() == nullptr) continue;
        for (const core::Answered& answer : engine->shard()->state().meta.answered) {
            if (answer.id == request && answer.granted) by.insert(engine->index());
        }
    }
    if (!scope.subject.empty()) return by.count(partition_of(scope.subject, shards())) != 0;
    return by.size() == static_cast<std::size_t>(shards());
}

bool Fleet::has_read(PartitionNumber shard, Offset offset) const {
    constexpr auto kRequests = static_cast<std::size_t>(Topic::kRequests);
    return std::any_of(parts_->engines.begin(), parts_->engines.end(), [&](const auto& engine) {
        return engine->index() == shard && engine->shard() != nullptr &&
               engine->shard()->state().meta.last[kRequests] >= offset;
    });
}

std::string Fleet::view_of(const std::string& subject) const {
    std::string said = "the engine sees";
    for (const runtime::Shard* shard : parts_->shards()) {
        shard->state().subjects.each([&](const Subject& seen) {
            if (seen.key == subject) said += view_of_one(seen);
        });
    }
    return said;
}

}  // namespace trueup::simulation
