#include "simulation/oracles.h"

#include "simulation/instances.h"

#include <algorithm>

namespace trueup::simulation {

void Oracles::violate(const std::string& oracle, std::string what) {
    violations_.push_back(
        {oracle, "at " + std::to_string(scheduler_.since().count()) + " ms: " + std::move(what)});
}

void Oracles::found(const FindingEdge& edge) {
    judge_name(edge.id.value(),
               "finding of " + edge.rule + " about " + edge.subject + ": " + edge.object_id);
    if (edge.state == FindingState::kResolved && edge.rule == "termination_requested") {
        told_[edge.subject] = scheduler_.steady_now();
    }
}

void Oracles::judge_name(const Hash128& id, const std::string& what) {
    const std::string& first = named_.try_emplace(id, what).first->second;
    if (first != what) violate("once", to_hex(id) + " is a " + first + ", and a " + what);
}

void Oracles::act(const std::vector<sandbox::Record>& records) {
    const Moment before = history_.moment();
    history_.take(records, scheduler_.steady_now());
    for (const sandbox::Record& record : records) {
        const auto* pod = std::get_if<sandbox::PodEvent>(&record);
        if (pod != nullptr && (!pod->after || pod->after->deletion_ms)) {
            ended_.insert(pod->subject().name);
        }
        const auto* effect = std::get_if<sandbox::Effect>(&record);
        if (effect != nullptr && effect->accepted) judge(*effect, before);
    }
}

void Oracles::judge_folded(PartitionNumber shard, std::uint64_t folded, std::uint64_t reached,
                           std::uint64_t settled) {
    const std::string who = "shard " + std::to_string(shard.value());
    if (folded != reached) {
        violate("lost", who + " folded " + std::to_string(folded) + " of the first " +
                            std::to_string(reached) + " records");
    }
    if (reached < settled) {
        violate("lost", who + " reached only " + std::to_string(reached) + " of " +
                            std::to_string(settled) + " records");
    }
}

void Oracles::judge_rewind(const std::string& source) {
    if (went_back_.count(source) != 0 || proofs_may_lie) return;
    went_back_.insert(source);  // said once
    violate("rewind", source + " is taken for one that went back in time, and did not");
}

void Oracles::judge_forgotten(std::string_view topic, SteadyTime stored, Millis after) {
    const Millis kept = scheduler_.steady_now() - stored;
    if (kept >= after) return;
    violate("kept", std::string(topic) + " was forgotten after " + std::to_string(kept.count()) +
                        " of " + std::to_string(after.count()) + " ms");
}

bool Oracles::judge_proof(const core::State& state, const Proof& proof) {
    // Who asks in the wrong place proves nothing about this one.
    if (proofs_may_lie || asks_wrongly_ || proof.as_of < wrong_until_) return true;
    const std::string against = against_proof(state, proof, history_);
    if (!against.empty()) violate("proof", against);
    return against.empty();
}

void Oracles::judge_projection(const std::set<std::string>& believed) {
    std::set<std::string> there;
    const Moment now = history_.moment();
    for (const sandbox::PodPtr& pod : history_.pods(now)) there.insert(pod->uid);
    for (const History::Row& row : history_.rows(now)) {
        there.insert("public.instances/" + row.pk);
    }
    for (const std::string& id : there) {
        if (believed.count(id) == 0) violate("lost", id + " is not in the projection");
    }
    for (const std::string& id : believed) {
        if (there.count(id) == 0) violate("lost", id + " is in the projection only");
    }
}

void Oracles::judge_replay(const std::string& engine, const Disk::Rows& held,
                           const Disk::Rows& made) {
    const auto [ours, theirs] = std::mismatch(held.begin(), held.end(), made.begin(), made.end());
    if (ours == held.end() && theirs == made.end()) return;
    const bool more = theirs == made.end() || (ours != held.end() && ours->first < theirs->first);
    const bool same = ours != held.end() && theirs != made.end() && ours->first == theirs->first;
    violate("replay", engine +
                          (same   ? " has another row than its journal makes, the "
                           : more ? " has a row that its journal does not make, the "
                                  : " lacks a row that its journal makes, the ") +
                          std::to_string(std::distance(held.begin(), ours) + 1) + ". of " +
                          std::to_string(held.size()));
}

void Oracles::judge_refused(std::uint64_t refusals, const std::string& why) {
    if (refusals > 0) violate("refused", "an engine gave up: " + why);
}

void Oracles::judge_world(const std::function<std::string(const std::string&)>& explain) {
    const Moment now = history_.moment();
    const auto wrong = [&](const std::string& name, const std::string& what) {
        if (approvals_.dismissed("graph-instances/" + name)) return;
        violate("repaired", what + "; " + explain("graph-instances/" + name));
    };
    for (const sandbox::PodPtr& pod : history_.pods(now)) {
        if (!selected(*pod) || held(*pod) || pod->deletion_ms) continue;
        if (history_.rows_of(pod->name, now).empty()) {
            wrong(pod->name, "pod " + pod->name + " has no row");
        }
    }
    for (const History::Row& row : history_.rows(now)) judge_row(row, wrong);
}

void Oracles::judge_open(const std::vector<OpenFinding>& open) {
    for (std::string& what : law->wrong(open, history_, scheduler_.steady_now())) {
        violate("repaired", std::move(what));
    }
}

void Oracles::judge_row(
    const History::Row& row,
    const std::function<void(const std::string&, const std::string&)>& wrong) const {
    const std::string name = row.view.key();
    const std::string what = "row " + row.pk + " (" + name + ")";
    const sandbox::PodPtr pod = history_.pod(name, history_.moment());
    const bool touchable = pod && selected(*pod) && !held(*pod);
    if (every_rule && !pod && row.view.text("status") == "stopping") {
        // What we ended ourselves is no failure: its owner puts it away. Whether a deletion that
        // was ordered and failed was done all the same nobody knows.
        if (closed_by_us(name, row.pk) || end_ordered_.count(name) != 0) return;
        return wrong(name, what + " has been stopping for long");
    }
    if (!wants_pod(row.view) || held(row.view)) return;
    if (!pod) return wrong(name, what + " has no pod");
    if (!touchable) return;
    if (pod->phase == "Failed") wrong(name, what + " does not know that its pod has failed");
    if (!every_rule) return;
    if (row.view.untracked()) wrong(name, what + " does not name its pod");
    if (approvals_.overdue(row.view)) wrong(name, what + " outlived its deadline");
}

}  // namespace trueup::simulation
