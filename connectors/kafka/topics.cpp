#include "connectors/kafka/topics.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace trueup::connectors::kafka {

namespace {

constexpr const char* kForEver = "-1";
constexpr const char* kWeek = "604800000";
constexpr std::int64_t kDayMs = 86'400'000;

std::int64_t number_of(const TopicState& state, const std::string& name) {
    const auto found = state.settings.find(name);
    return found == state.settings.end() ? 0 : std::strtoll(found->second.c_str(), nullptr, 10);
}

std::string text_of(const TopicState& state, const std::string& name) {
    const auto found = state.settings.find(name);
    return found == state.settings.end() ? std::string() : found->second;
}

/// Retention as a count, where a negative one means for ever.
bool shorter(std::int64_t is, std::int64_t than) {
    if (is < 0) return false;
    return than < 0 || is < than;
}

class Check {
  public:
    /// `shards`: as many journals have begun.
    Check(const TopicPlan& plan, const TopicState& state, std::int32_t shards, TopicFlaws& flaws)
        : plan_(plan), state_(state), shards_(shards), flaws_(flaws) {}

    void run() {
        partitions();
        // Compaction forgets what was; append times of clients may say anything.
        must_be("cleanup.policy");
        must_be("message.timestamp.type");
        must_be("unclean.leader.election.enable");
        at_least("max.message.bytes");
        at_least("min.insync.replicas");
        if (state_.replicas < plan_.replicas) {
            wrong("has " + std::to_string(state_.replicas) + " replicas and not " +
                  std::to_string(plan_.replicas) +
                  "; reassign its partitions, or write bus.kafka.replicas: " +
                  std::to_string(state_.replicas));
        }
        retention();
    }

  private:
    void partitions() {
        const std::string has = "has " + std::to_string(state_.partitions) +
                                " partitions and not " + std::to_string(plan_.partitions);
        if (state_.partitions > plan_.partitions && shards_ == plan_.partitions) {
            flaws_.warnings.push_back("topic " + plan_.name + " " + has +
                                      ": the additional ones are never used");
        } else if (state_.partitions != plan_.partitions) {
            const std::int32_t right = shards_ > 0 ? shards_ : state_.partitions;
            wrong(has + "; their number can never change: write bus.kafka.partitions: " +
                  std::to_string(right) + ", or use another prefix");
        }
    }

    void wrong(const std::string& sentence) {
        flaws_.wrong.push_back("topic " + plan_.name + " " + sentence);
    }

    void set_to(const std::string& name, const std::string& is) {
        wrong("has " + name + "=" + is + "; set " + name + "=" + plan_.settings.at(name));
    }

    void must_be(const std::string& name) {
        if (text_of(state_, name) != plan_.settings.at(name)) set_to(name, text_of(state_, name));
    }

    void at_least(const std::string& name) {
        const std::int64_t least = std::strtoll(plan_.settings.at(name).c_str(), nullptr, 10);
        if (number_of(state_, name) < least) set_to(name, text_of(state_, name));
    }

    void retention() {
        const bool journal = plan_.settings.at("retention.ms") == kForEver;
        const std::int64_t least = journal ? -1 : kDayMs;
        for (const char* name : {"retention.ms", "retention.bytes"}) {
            const std::int64_t is = number_of(state_, name);
            if (!shorter(is, name == std::string("retention.ms") ? least : -1)) continue;
            flaws_.warnings.push_back(
                "topic " + plan_.name + " has " + name + "=" + std::to_string(is) +
                (journal ? ": what it deletes cannot be replayed, and a shard whose rows and "
                           "checkpoints are older cannot start; set "
                         : ": an engine that is down for longer loses what it has not read; set ") +
                name + "=" + plan_.settings.at(name));
        }
    }

    const TopicPlan& plan_;
    const TopicState& state_;
    const std::int32_t shards_;
    TopicFlaws& flaws_;
};

/// How many shards have a journal with a record in it, or had one.
Result<std::int32_t> shards_begun(Admin& admin, std::int32_t partitions) {
    for (std::int32_t i = partitions; i > 0; --i) {
        const Result<ports::Extent> extent =
            admin.extent({Topic::kJournal, PartitionNumber(i - 1)});
        if (!extent) return extent.error();
        if (extent->next_offset > kFirstOffset) return i;
    }
    return 0;
}

}  // namespace

std::vector<TopicPlan> plan_topics(const Settings& settings, const TopicOptions& options) {
    std::vector<TopicPlan> plans;
    for (std::size_t i = 1; i < kTopics; ++i) {
        const auto topic = static_cast<Topic>(i);
        TopicPlan plan{
            topic, topic_name(settings, topic), options.partitions, options.replicas, {}};
        plan.settings = {{"cleanup.policy", "delete"},
                         {"message.timestamp.type", "LogAppendTime"},
                         {"unclean.leader.election.enable", "false"},
                         {"max.message.bytes", "9437184"},
                         {"min.insync.replicas", std::to_string(options.min_in_sync)},
                         {"retention.ms", topic == Topic::kJournal ? kForEver : kWeek},
                         {"retention.bytes", kForEver}};
        plans.push_back(std::move(plan));
    }
    return plans;
}

TopicFlaws flaws_of(const std::vector<TopicPlan>& plan, const TopicsState& state, bool begun) {
    TopicFlaws flaws;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        if (!state.topics[i].exists) {
            flaws.missing.push_back(plan[i].name);
            continue;
        }
        Check(plan[i], state.topics[i], state.shards, flaws).run();
        const bool short_of = begun && state.shards > 0 && state.shards < plan[i].partitions;
        if (plan[i].topic != Topic::kJournal || !short_of) continue;
        flaws.wrong.push_back("topic " + plan[i].name + " has " + std::to_string(state.shards) +
                              " journals that have begun and not " +
                              std::to_string(plan[i].partitions) +
                              "; write bus.kafka.partitions: " + std::to_string(state.shards) +
                              ", or run `trueup topics create` again if it was interrupted");
    }
    return flaws;
}

Result<TopicFlaws> check_topics(Admin& admin, const std::vector<TopicPlan>& plan, bool begun) {
    TopicsState found;
    for (const TopicPlan& wanted : plan) {
        Result<TopicState> state = admin.topic(wanted.name);
        if (!state) return state.error();
        found.topics.push_back(std::move(*state));
        if (!found.topics.back().exists || wanted.topic != Topic::kJournal) continue;
        const auto shards = shards_begun(admin, found.topics.back().partitions);
        if (!shards) return shards.error();
        found.shards = *shards;
    }
    return flaws_of(plan, found, begun);
}

}  // namespace trueup::connectors::kafka
