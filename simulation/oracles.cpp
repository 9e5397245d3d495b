#include "simulation/oracles.h"

#include "simulation/instances.h"

#include <algorithm>

namespace trueup::simulation {

void Oracles::found(const FindingEdge& edge) {
    judge_name(edge.id.value(),
               "finding of " + edge.rule + " about " + edge.subject + ": " + edge.object_id);
    if (edge.state == FindingState::kResolved && edge.rule == "termination_requested") {
        promises_.told(edge.subject);
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
            endings_.pod_ended(pod->subject().name);
        }
        const auto* effect = std::get_if<sandbox::Effect>(&record);
        if (effect != nullptr && effect->accepted) judge(*effect, before);
    }
}

void Oracles::judge_rewind(const std::string& source) {
    if (went_back_.count(source) != 0 || proofs_may_lie) return;
    went_back_.insert(source);  // said once
    violate("rewind", source + " is taken for one that went back in time, and did not");
}

bool Oracles::judge_proof(const core::State& state, const Proof& proof) {
    // Who asks in the wrong place proves nothing about this one.
    if (proofs_may_lie || asks_wrongly_ || proof.as_of < wrong_until_) return true;
    const std::string against = against_proof(state, proof, history_);
    if (!against.empty()) violate("proof", against);
    return against.empty();
}

}  // namespace trueup::simulation
