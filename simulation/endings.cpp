#include "simulation/endings.h"

#include "simulation/instances.h"

namespace trueup::simulation {

namespace {

constexpr Millis kLongAgo{10'000};  // a pod that lives for so long was there to be seen
constexpr Millis kGivenUp{75'000};  // a command has expired by then, for everybody

}  // namespace

void Endings::refused(const std::string& uid) {
    const auto found = ordered_at_.find(uid);
    if (found != ordered_at_.end()) found->second.refused = true;
}

std::optional<SteadyTime> Endings::ordered_at(const std::string& uid) const {
    const auto found = ordered_at_.find(uid);
    if (found == ordered_at_.end()) return std::nullopt;
    const Order& order = found->second;
    const sandbox::PodPtr pod = history_.pod(order.name, history_.moment_at(order.at + kGivenUp));
    const bool stayed = pod && pod->uid == uid && !pod->deletion_ms;
    return order.refused && stayed ? std::nullopt : std::optional(order.at);
}

void Endings::began(const std::string& name, const std::string& pk, const std::string& uid) {
    begun_[name] = {pk, uid, history_.moment(), scheduler_.steady_now(), false};
}

void Endings::closed(const std::string& name, const std::string& pk) {
    closed_.emplace(name, pk);
    const auto ending = begun_.find(name);
    if (ending != begun_.end() && ending->second.pk == pk) {
        ending->second.all_known = services_known_;
    }
}

bool Endings::ends_still(const std::string& name, const std::string& pk, Moment until) const {
    const auto found = begun_.find(name);
    if (allowed_.tail_lost || found == begun_.end() || found->second.pk != pk) return false;
    const Reinsertions::Reinserted* again = reinsertions_.find(pk);
    if (again != nullptr && again->at >= found->second.at) return false;
    for (Moment moment = found->second.begun; moment <= until; ++moment) {
        const auto row = history_.row(pk, moment);
        if (!row || row->key() != name || !wants_pod(*row)) return false;
        const sandbox::PodPtr pod = history_.pod(name, moment);
        if (pod && (pod->uid != found->second.uid || !pod->deletion_ms)) return false;
    }
    return true;
}

bool Endings::closed_by_us(const std::string& name, const std::string& pk) const {
    if (closed_.count({name, pk}) != 0) return true;
    // Its owner may have said so in our place, once its pod was on its way.
    const auto ending = begun_.find(name);
    if (ending == begun_.end() || ending->second.pk != pk) return false;
    for (Moment moment = ending->second.begun; moment <= history_.moment(); ++moment) {
        const sandbox::PodPtr pod = history_.pod(name, moment);
        if (pod && pod->uid != ending->second.uid) return false;
    }
    return true;
}

bool Endings::lives_again(const std::string& name, Moment looked) const {
    const auto found = begun_.find(name);
    const Moment before = history_.moment_at(scheduler_.steady_now() - kLongAgo);
    const sandbox::PodPtr pod = history_.pod(name, looked != 0 ? looked : before);
    if (!pod || !selected(*pod) || pod->deletion_ms) return false;
    if (found != begun_.end() && pod->uid == found->second.uid) return false;
    const sandbox::PodPtr now = history_.pod(name, history_.moment());
    return now && now->uid == pod->uid && !now->deletion_ms;
}

}  // namespace trueup::simulation
