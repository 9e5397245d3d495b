// Oracles of what must come to be and to an end: endings, promises, passes, what is refused again
// and again, and what nobody may order at all.
#include "simulation/instances.h"
#include "simulation/oracles.h"

#include <algorithm>

namespace trueup::simulation {

namespace {

constexpr Millis kLongAgo{10'000};  // a pod that lives for so long was there to be seen
constexpr std::size_t kMostRefusals = 2;

std::string name_in(const std::string& subject) { return subject.substr(subject.find('/') + 1); }

}  // namespace

void Oracles::begin_ending(const std::string& name, const std::string& pk, const std::string& uid) {
    endings_[name] = {pk, uid, history_.moment(), scheduler_.steady_now(), false};
}

/// Did we begin to end the instance of this row, and did nobody do anything else about it since: it
/// is this very row, still live, and no other pod came under its name?
bool Oracles::ends_still(const std::string& name, const std::string& pk, Moment until) const {
    const auto found = endings_.find(name);
    if (tail_lost || found == endings_.end() || found->second.pk != pk) return false;
    const auto again = reinserted_.find(pk);
    if (again != reinserted_.end() && again->second.at >= found->second.at) return false;
    for (Moment moment = found->second.begun; moment <= until; ++moment) {
        const auto row = history_.row(pk, moment);
        if (!row || row->key() != name || !wants_pod(*row)) return false;
        const sandbox::PodPtr pod = history_.pod(name, moment);
        if (pod && (pod->uid != found->second.uid || !pod->deletion_ms)) return false;
    }
    return true;
}

bool Oracles::closed_by_us(const std::string& name, const std::string& pk) const {
    if (closed_.count({name, pk}) != 0) return true;
    // Its owner may have said so in our place, once its pod was on its way.
    const auto ending = endings_.find(name);
    if (ending == endings_.end() || ending->second.pk != pk) return false;
    for (Moment moment = ending->second.begun; moment <= history_.moment(); ++moment) {
        const sandbox::PodPtr pod = history_.pod(name, moment);
        if (pod && pod->uid != ending->second.uid) return false;
    }
    return true;
}

/// Is another pod than the one that we ended there, and was it to be seen when its executor looked,
/// or, if it did not, for long?
bool Oracles::lives_again(const std::string& name, Moment looked) const {
    const auto found = endings_.find(name);
    const Moment before = history_.moment_at(scheduler_.steady_now() - kLongAgo);
    const sandbox::PodPtr pod = history_.pod(name, looked != 0 ? looked : before);
    if (!pod || !selected(*pod) || pod->deletion_ms) return false;
    if (found != endings_.end() && pod->uid == found->second.uid) return false;
    const sandbox::PodPtr now = history_.pod(name, history_.moment());
    return now && now->uid == pod->uid && !now->deletion_ms;
}

void Oracles::ended(const Outcome& outcome) {
    const bool first = ended_commands_.emplace(outcome.command_id, scheduler_.steady_now()).second;
    // Both executors may say of one command how it ended.
    if (!first || outcome.kind != OutcomeKind::kRefused) return;
    // An operator's word may come again and again.
    const bool operators =
        outcome.retryable || outcome.detail.find("operator") != std::string::npos;
    for (const auto& [object, command] : last_) {
        if (command.id == outcome.command_id && !operators) return judge_loop(command);
    }
}

void Oracles::told_gone(const std::string& pk) {
    const auto found = reinserted_.find(pk);
    if (found == reinserted_.end() || found->second.listed) return;
    if (!found->second.told) found->second.told = scheduler_.steady_now();
}

/// Two lists in a row do not show that a row was deleted and inserted again, as it was, in between.
void Oracles::list_begins() {
    for (auto& [pk, row] : reinserted_) row.listed = row.listed || !row.told;
}

void Oracles::judge_loop(const Command& command) {
    if (law != nullptr && later_step(command)) return;  // it waits for what its source shows
    const std::string& object = command.draft.target.object_id;
    std::vector<SteadyTime>& times = refused_[command.rule + " " + object];
    times.push_back(scheduler_.steady_now());
    if (times.size() <= kMostRefusals) return;
    // What an engine learns late is news as well.
    const SteadyTime news =
        history_.news(name_in(command.subject), object.substr(object.rfind('/') + 1)) +
        evidence_age;
    std::erase_if(times, [&](SteadyTime at) { return at <= news; });
    if (times.size() <= kMostRefusals) return;
    violate("loop", command.rule + " about " + command.subject + " was refused " +
                        std::to_string(times.size()) + " times, and there was no news of it");
    times.clear();
}

void Oracles::promised(const Request& request, Moment asked) {
    promised_.emplace_back(request, asked);
}

/// Has the instance ended since, does it belong to somebody else by now, or was it told what came
/// of the promise?
bool Oracles::kept(const Request& request, Moment asked) const {
    const std::string& subject = request.scope.subject;
    if (told_.count(subject) != 0 || approvals_.dismissed(subject)) return true;
    const bool may = request.role == "ops" || request.role == "admin";
    for (Moment moment = asked; moment <= history_.moment(); ++moment) {
        const auto named = history_.rows_of(name_in(subject), moment);
        const auto his = [&](const History::Row& row) {
            return wants_pod(row.view) &&
                   (may || row.view.text("owner_username") == request.issued_by);
        };
        // Of two claims none is acted on, and whose pod it is may change.
        if (named.size() != 1 || !his(named.front())) return true;
    }
    return false;
}

void Oracles::asks_wrongly(bool wrong) {
    asks_wrongly_ = wrong;
    wrong_until_ = scheduler_.steady_now();
}

void Oracles::wrote_elsewhere(const sandbox::Effect& effect) {
    if (effect.accepted) violate("first", "a write on row " + effect.pk + " of somebody else");
}

void Oracles::judge_duties(const std::function<bool(const std::string&, SteadyTime)>& served) {
    if (tail_lost) return;
    for (const auto& [name, ending] : endings_) {
        const std::string what = "the end of " + name + " was begun, and ";
        if (ends_still(name, ending.pk, history_.moment())) {
            violate("ending", what + "row " + ending.pk + " is live still");
        }
        const bool again = history_.pod(name, history_.moment()) != nullptr;
        if (ending.all_known && !again && served(name, ending.at))
            violate("ending", what + "something serves it still");
    }
    for (const auto& [request, asked] : promised_) {
        if (kept(request, asked)) continue;
        violate("granted", request.scope.subject + " was to be ended, and nothing came of it");
    }
}

void Oracles::judge_passes(const std::vector<std::string>& open) {
    if (!open.empty()) violate("pass", "a pass does not end: " + open.front());
}

}  // namespace trueup::simulation
