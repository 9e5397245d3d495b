#include "simulation/fleet.h"

#include "simulation/engine_process.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

struct Fleet::Parts {
    Environment& around;
    std::vector<std::unique_ptr<EngineProcess>> engines;
    std::vector<std::unique_ptr<Process>> others;
    std::vector<std::unique_ptr<Process>> retired;  ///< events may still name them
    std::uint64_t seconds = 0;
    std::uint64_t configured = 0;  ///< how often
    BrokerTime rest_begins{};
    /// Complete ones by then, by shard and source.
    std::map<std::pair<PartitionNumber, std::string>, std::uint64_t> epochs{};

    /// The first engine of each shard that runs.
    std::vector<const runtime::Shard*> shards() const {
        std::vector<const runtime::Shard*> all;
        std::set<PartitionNumber> seen;
        for (const auto& engine : engines) {
            if (engine->shard() != nullptr && seen.insert(engine->index()).second) {
                all.push_back(engine->shard());
            }
        }
        return all;
    }
};

Fleet::Fleet(Environment& around) : parts_(new Parts{around, {}, {}, {}, 0, 0, {}, {}}) {
    for (std::int32_t engine = 0; engine < kEnginesOfAShard * around.settings.shards; ++engine) {
        parts_->engines.push_back(
            std::make_unique<EngineProcess>("engine-" + std::to_string(engine + 1),
                                            PartitionNumber(engine / kEnginesOfAShard), around));
    }
    parts_->others.push_back(make_source("pods", Kind::kPods, around));
    parts_->others.push_back(make_source("rows", Kind::kRows, around));
    parts_->others.push_back(make_executor("executor-1", around));
    parts_->others.push_back(make_executor("executor-2", around));
    if (around.settings.services) {
        parts_->others.push_back(make_source("services", Kind::kServices, around));
        parts_->others.push_back(make_service_executor("services-executor", around));
    }
    for (Process* process : processes()) process->wake();
}

Fleet::~Fleet() = default;

std::vector<Process*> Fleet::processes() {
    std::vector<Process*> all;
    for (const auto& engine : parts_->engines) all.push_back(engine.get());
    for (const auto& process : parts_->others) all.push_back(process.get());
    return all;
}

Process& Fleet::pick(Random& random) {
    const std::vector<Process*> all = processes();
    return *all[random.below(all.size())];
}

void Fleet::restart(std::string_view name) {
    for (Process* process : processes()) {
        if (process->name() == name) process->crash_at(1, kBeginAgain);
    }
}

void Fleet::ask_elsewhere(std::string_view source) {
    for (Process* process : processes()) {
        if (process->name().starts_with(source) || process->name().starts_with("executor")) {
            process->kill();
        }
    }
}

void Fleet::configure(const Settings& settings, Millis apart) {
    Millis after{0};
    ++parts_->configured;
    const auto& sources = settings.sources;
    parts_->around.serves = std::any_of(sources.begin(), sources.end(), [](const auto& source) {
        return source.name == "services";
    });
    for (const auto& engine : parts_->engines) {
        parts_->around.scheduler.after(
            after, [this, engine = engine.get(), settings, asked = parts_->configured] {
                if (parts_->configured != asked) return;
                engine->configure(settings);
                engine->crash_at(1, Millis{1'000});
            });
        after += apart;
    }
}

const Settings& Fleet::settings() const { return parts_->around.settings.policy; }

void Fleet::delay_executors(Millis time) {
    for (Process* process : processes()) {
        if (process->name().starts_with("executor")) process->sleep(time);
    }
}

void Fleet::list_again() { ++parts_->around.relists; }

void Fleet::second_connector(Random& random, Millis time) {
    const bool pods = random.chance(500);
    const std::string name =
        std::string(pods ? "pods" : "rows") + "-" + std::to_string(++parts_->seconds);
    parts_->others.push_back(make_source(name, pods ? Kind::kPods : Kind::kRows, parts_->around));
    Process* second = parts_->others.back().get();
    second->wake();
    parts_->around.scheduler.after(time, [this, second] { retire(*second); });
}

void Fleet::retire(Process& process) {
    const auto found = std::find_if(parts_->others.begin(), parts_->others.end(),
                                    [&](const auto& other) { return other.get() == &process; });
    if (found == parts_->others.end()) return;
    process.crash_at(1, Millis{std::chrono::hours(1'000)});
    process.kill();
    parts_->retired.push_back(std::move(*found));
    parts_->others.erase(found);
}

void Fleet::lose_disk(Random& random) {
    EngineProcess& engine = *parts_->engines[random.below(parts_->engines.size())];
    engine.kill();
    engine.disk().wipe();
}

void Fleet::fill_disk(Random& random, Millis time) {
    EngineProcess& engine = *parts_->engines[random.below(parts_->engines.size())];
    engine.disk().fill_up(true);
    parts_->around.scheduler.after(time, [&engine] { engine.disk().fill_up(false); });
}

void Fleet::heal() {
    for (const auto& engine : parts_->engines) engine->disk().fill_up(false);
    for (Process* process : processes()) process->heal();
}

void Fleet::world_changed() {
    for (const auto& process : parts_->others) process->wake();
}

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

namespace {

/// Findings that somebody has to do something about: what is left to an owner may stay.
std::uint64_t open_in(const runtime::Shard& shard) {
    std::uint64_t open = shard.state().meta.open_findings;
    if (open == 0) return 0;
    shard.state().subjects.each_cached([&](const Subject& subject) {
        for (const Finding& finding : subject.findings) {
            if (!finding.dismissed && finding.reason == Reason::kReportOnly) --open;
        }
    });
    return open;
}

}  // namespace

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

std::vector<std::string> Fleet::found() const {
    std::set<std::string> subjects;  // a cache has no order of its own
    for (const runtime::Shard* shard : parts_->shards()) {
        shard->state().subjects.each_cached([&](const Subject& subject) {
            if (!subject.findings.empty()) subjects.insert(subject.key);
        });
    }
    return {subjects.begin(), subjects.end()};
}

std::vector<OpenFinding> Fleet::open_findings() const {
    std::set<OpenFinding> open;
    for (const runtime::Shard* shard : parts_->shards()) {
        const std::vector<RuleSettings>& rules = shard->state().meta.settings.rules;
        shard->state().subjects.each_cached([&](const Subject& subject) {
            for (const Finding& finding : subject.findings) {
                const bool halted =
                    subject.ending && subject.ending->stage == Ending::Stage::kHalted;
                open.insert(
                    {subject.key, rules[finding.rule.value()].rule, finding.object_id, halted});
            }
        });
    }
    return {open.begin(), open.end()};
}

Offset Fleet::applied() const {
    const runtime::Shard* shard = parts_->engines.front()->shard();
    return shard == nullptr ? kNoOffset : shard->state().meta.applied;
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
        shard->state().subjects.each_cached([&](const Subject& subject) {
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

std::string Fleet::view_of(const std::string& subject) const {
    std::string said = "the engine sees";
    for (const runtime::Shard* shard : parts_->shards()) {
        shard->state().subjects.each_cached([&](const Subject& seen) {
            if (seen.key == subject) said += view_of_one(seen);
        });
    }
    return said;
}

std::vector<Fleet::Image> Fleet::stop_engines() {
    std::vector<Image> images;
    for (const auto& engine : parts_->engines) {
        if (engine->shard() == nullptr || !engine->shard()->status().refused.empty()) continue;
        const Disk::Rows& rows = engine->stop_in_order();
        images.push_back(
            {engine->name(), engine->index(), engine->shard()->state().meta.applied, &rows});
    }
    return images;
}

}  // namespace trueup::simulation
