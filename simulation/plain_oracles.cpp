#include "simulation/plain_oracles.h"

#include <algorithm>
#include <iterator>

namespace trueup::simulation {

void PlainOracles::judge_folded(PartitionNumber shard, std::uint64_t folded, std::uint64_t reached,
                                std::uint64_t settled) {
    const std::string who = "shard " + std::to_string(shard.value());
    if (folded != reached) {
        violations_.violate("lost", who + " folded " + std::to_string(folded) + " of the first " +
                                        std::to_string(reached) + " records");
    }
    if (reached < settled) {
        violations_.violate("lost", who + " reached only " + std::to_string(reached) + " of " +
                                        std::to_string(settled) + " records");
    }
}

void PlainOracles::judge_projection(const std::set<std::string>& believed) {
    std::set<std::string> there;
    const Moment now = history_.moment();
    for (const sandbox::PodPtr& pod : history_.pods(now)) there.insert(pod->uid);
    for (const History::Row& row : history_.rows(now)) {
        there.insert("public.instances/" + row.pk);
    }
    for (const std::string& id : there) {
        if (believed.count(id) == 0) violations_.violate("lost", id + " is not in the projection");
    }
    for (const std::string& id : believed) {
        if (there.count(id) == 0) violations_.violate("lost", id + " is in the projection only");
    }
}

void PlainOracles::judge_replay(const std::string& engine, const Disk::Rows& held,
                                const Disk::Rows& made) {
    const auto [ours, theirs] = std::mismatch(held.begin(), held.end(), made.begin(), made.end());
    if (ours == held.end() && theirs == made.end()) return;
    const bool more = theirs == made.end() || (ours != held.end() && ours->first < theirs->first);
    const bool same = ours != held.end() && theirs != made.end() && ours->first == theirs->first;
    violations_.violate("replay", engine +
                                      (same   ? " has another row than its journal makes, the "
                                       : more ? " has a row that its journal does not make, the "
                                              : " lacks a row that its journal makes, the ") +
                                      std::to_string(std::distance(held.begin(), ours) + 1) +
                                      ". of " + std::to_string(held.size()));
}

void PlainOracles::judge_refused(std::uint64_t refusals, const std::string& why) {
    if (refusals > 0) violations_.violate("refused", "an engine gave up: " + why);
}

void PlainOracles::judge_silence(const std::vector<Command>& since) {
    if (since.empty()) return;
    violations_.violate("silence", "commands are given though nothing is wrong: " +
                                       since.front().rule + " about " + since.front().subject);
}

void PlainOracles::judge_configured(const std::vector<std::string>& others) {
    if (others.empty()) return;
    violations_.violate("configured", others.front() + " goes by other settings than it was given");
}

void PlainOracles::judge_passes(const std::vector<std::string>& open) {
    if (!open.empty()) violations_.violate("pass", "a pass does not end: " + open.front());
}

void PlainOracles::judge_forgotten(std::string_view topic, SteadyTime stored, Millis after) {
    const Millis kept = scheduler_.steady_now() - stored;
    if (kept >= after) return;
    violations_.violate("kept", std::string(topic) + " was forgotten after " +
                                    std::to_string(kept.count()) + " of " +
                                    std::to_string(after.count()) + " ms");
}

}  // namespace trueup::simulation
