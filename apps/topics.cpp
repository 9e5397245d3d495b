#include "apps/topics.h"

#include "apps/bus.h"
#include "apps/keys.h"
#include "connectors/kafka/kafka_log.h"
#include "connectors/kafka/topics.h"
#include "engine/codec/journal_codec.h"
#include "engine/ports/clock.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

namespace kafka = connectors::kafka;

constexpr Millis kKnown{10'000};
constexpr Millis kLookAgain{50};

struct Findings {
    kafka::TopicFlaws flaws;
    std::vector<std::string> made;
};

std::vector<kafka::TopicPlan> plan_of(const config::Config& config,
                                      const kafka::Settings& settings) {
    const config::KafkaBus& bus = *config.kafka;
    return kafka::plan_topics(settings, {static_cast<std::int32_t>(bus.partitions),
                                         static_cast<std::int32_t>(bus.replicas),
                                         static_cast<std::int32_t>(bus.min_in_sync)});
}

/// The end of a partition; a topic that was just made becomes known within moments.
Result<ports::Extent> extent_of(ports::Log& log, ports::Partition partition) {
    ports::Clock& clock = ports::system_clock();
    const SteadyTime limit = clock.steady_now() + kKnown;
    for (;;) {
        auto extent = log.describe(partition);
        if (extent || clock.steady_now() >= limit) return extent;
        log.wait(log.changes_seen(), kLookAgain);
    }
}

/// Some journals have begun and some not: `create` was interrupted, or somebody added partitions
/// and wrote their number, which is not the number of shards then. The first record of one tells.
Status same_partitions(ports::Log& log, PartitionNumber shard, std::int32_t partitions) {
    const ports::Partition journal{Topic::kJournal, shard};
    const auto extent = extent_of(log, journal);
    if (!extent) return extent.error();
    const auto start = log.read(journal, extent->first_offset, 1);
    if (!start) return start.error();
    JournalView view;
    if (start->records.empty()) {
        return Error{Next::kRetry, Code::kUnavailable, "a journal cannot be read yet"};
    }
    const ports::Record& first = start->records[0];
    Status read = codec::decode_journal(first.value, first.offset, first.append_time, view);
    if (!read) return read;
    if (view.genesis && view.genesis->partitions == partitions) return Done{};
    const std::string whole = view.genesis ? std::to_string(view.genesis->partitions) : "unknown";
    return Error{Next::kStop, Code::kConfiguration,
                 "the journal of shard " + std::to_string(shard.value()) + " is one of " + whole +
                     ", and the configuration has " + std::to_string(partitions) +
                     "; write the number that it began with, or use another prefix"};
}

/// The first record of each journal that has none: nothing starts without it.
Status begin_journals(const config::Config& config, const kafka::Settings& settings,
                      std::vector<std::string>& made) {
    auto log = kafka::KafkaLog::open(settings);
    if (!log) return log.error();
    const auto partitions = static_cast<std::int32_t>(config.kafka->partitions);
    std::vector<PartitionNumber> begun;
    std::vector<PartitionNumber> empty;
    for (std::int32_t i = 0; i < partitions; ++i) {
        const PartitionNumber shard(i);
        const auto extent = extent_of(**log, {Topic::kJournal, shard});
        if (!extent) return extent.error();
        (extent->next_offset > kFirstOffset ? begun : empty).push_back(shard);
    }
    if (!begun.empty() && !empty.empty()) {
        Status same = same_partitions(**log, begun.front(), partitions);
        if (!same) return same;
    }
    for (const PartitionNumber shard : empty) {
        const ports::Partition journal{Topic::kJournal, shard};
        codec::JournalRecordBuilder record;
        record.set_genesis({JournalId(hash128(random_hex(16))), partitions, shard});
        std::vector<ports::Entry> entries;
        entries.push_back({{}, record.take()});
        const auto appended = ports::append_now(**log, journal, entries);
        if (!appended) return appended.error();
        made.push_back("the journal of shard " + std::to_string(shard.value()));
    }
    return Done{};
}

/// What keeps everything from running, one sentence each.
std::vector<std::string> sentences_of(const kafka::TopicFlaws& flaws) {
    std::vector<std::string> sentences;
    sentences.reserve(flaws.missing.size() + flaws.wrong.size());
    for (const std::string& name : flaws.missing) {
        sentences.push_back("topic " + name + " is missing; `trueup topics create` makes it");
    }
    sentences.insert(sentences.end(), flaws.wrong.begin(), flaws.wrong.end());
    return sentences;
}

Status make_keys(const config::Config& config) {
    for (const char* role : {"requests", "commands", "fields"}) {
        const auto keys = load_keys(config.keys, role);
        if (!keys) return keys.error();
    }
    const auto tokens = load_tokens(config.keys);
    if (!tokens) return tokens.error();
    return Done{};
}

/// Of one policy.
Result<Findings> look(const config::Config& config, bool make) {
    const kafka::Settings settings = kafka_settings(config, "topics");
    auto admin = kafka::Admin::connect(settings);
    if (!admin) return admin.error();
    const std::vector<kafka::TopicPlan> plan = plan_of(config, settings);
    Findings found;
    auto flaws = kafka::check_topics(**admin, plan, !make);
    if (!flaws) return flaws.error();
    found.flaws = std::move(*flaws);
    if (!make || !found.flaws.wrong.empty()) return found;
    for (const kafka::TopicPlan& wanted : plan) {
        const auto& missing = found.flaws.missing;
        if (std::find(missing.begin(), missing.end(), wanted.name) == missing.end()) continue;
        if (Status created = (*admin)->create(wanted); !created) return created.error();
        found.made.push_back("topic " + wanted.name);
    }
    found.flaws.missing.clear();
    if (Status begun = begin_journals(config, settings, found.made); !begun) return begun.error();
    if (Status keys = make_keys(config); !keys) return keys.error();
    return found;
}

/// Of all policies, each of which has topics of its own.
Result<Findings> look_at_all(const config::Config& config, bool make) {
    Findings all;
    const auto append = [](std::vector<std::string>& into, const std::vector<std::string>& from) {
        into.insert(into.end(), from.begin(), from.end());
    };
    for (const config::Config& policy : config::of_each_policy(config)) {
        const Result<Findings> one = look(policy, make);
        if (!one) return one.error();
        append(all.made, one->made);
        append(all.flaws.missing, one->flaws.missing);
        append(all.flaws.wrong, one->flaws.wrong);
        append(all.flaws.warnings, one->flaws.warnings);
    }
    return all;
}

int run(const TopicsOptions& options, bool make) {
    const auto refuse = [](const std::string& what) {
        fmt::print(stderr, "{}\n", what);
        return 2;
    };
    const Result<config::Config> config = config::load_config(options.config);
    if (!config) return refuse(config.error().what);
    if (!config->kafka) {
        return refuse(options.config +
                      ": the bus is embedded, which creates its topics itself; write bus: {kafka: "
                      "{bootstrap: HOST:PORT}}");
    }
    const Result<Findings> found = look_at_all(*config, make);
    if (!found) {
        refuse("trueup topics: " + found.error().what);
        return found.error().next == Next::kRetry ? 1 : 2;
    }
    const kafka::TopicFlaws& flaws = found.value().flaws;
    const std::vector<std::string> sentences = sentences_of(flaws);
    const bool well = sentences.empty();
    if (options.format == OutputFormat::kJson) {
        const nlohmann::json object{{"made", found.value().made},
                                    {"missing", flaws.missing},
                                    {"errors", flaws.wrong},
                                    {"warnings", flaws.warnings}};
        fmt::print("{}\n", object.dump(2));
        return well ? 0 : 2;
    }
    for (const std::string& made : found.value().made) fmt::print("made {}\n", made);
    for (const std::string& sentence : sentences) fmt::print(stderr, "{}\n", sentence);
    for (const std::string& sentence : flaws.warnings) fmt::print("warning: {}\n", sentence);
    if (well) {
        fmt::print("{}: every topic of {}.* matches the configuration\n", options.config,
                   config->kafka->prefix);
    }
    return well ? 0 : 2;
}

}  // namespace

int run_topics_create(const TopicsOptions& options) { return run(options, true); }

int run_topics_check(const TopicsOptions& options) { return run(options, false); }

Status require_topics(const config::Config& config) {
    if (!config.kafka) return Done{};
    const Result<Findings> found = look(config, false);
    if (!found) return found.error();
    const kafka::TopicFlaws& flaws = found.value().flaws;
    for (const std::string& sentence : flaws.warnings) spdlog::warn("{}", sentence);
    const std::vector<std::string> sentences = sentences_of(flaws);
    if (sentences.empty()) return Done{};
    return Error{Next::kStop, Code::kConfiguration, fmt::format("{}", fmt::join(sentences, "\n"))};
}

}  // namespace trueup::apps
